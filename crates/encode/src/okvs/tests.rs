use std::sync::LazyLock;

use proptest::prelude::*;
use psijoin_block::{
    Block, Prg,
    aes::Aes128,
    tower::{Element, Gf64, Subspace, Tower},
};
use psijoin_params::{
    Log2Prob,
    okvs::{Shape, failure, smallest},
};
use psijoin_runtime::parallel;

use super::{
    Decoder, Encoder, Partition, Row, RowHasher, Store, bin_of,
    decode::{BATCH, Columns},
    equations::{Equations, Work},
    peeling::Peeling,
};
use crate::{DigestVec, Digests, Error, testing::assert_fails_as_bounded};

fn prg(seed: u64) -> Prg {
    Prg::from_seed(Block(seed.into()))
}

fn digests(digest_bytes: usize, seed: u64, count: usize) -> DigestVec {
    let mut prg = prg(seed);
    match digest_bytes {
        16 => DigestVec::Short((0..count).map(|_| prg.bytes()).collect()),
        _ => DigestVec::Long((0..count).map(|_| prg.bytes()).collect()),
    }
}

/// Returns a store of one start.
fn uniform(items: usize, segment_slots: u32, dense: u32) -> Shape {
    Shape {
        starts: 1,
        weight: 3,
        segment_slots,
        segment_items: items as u32,
        dense,
    }
}

/// Returns a store of many starts, in which any number of items may have a slot in a segment.
fn coupled(starts: u32, segment_slots: u32, dense: u32) -> Shape {
    Shape {
        starts,
        weight: 4,
        segment_slots,
        segment_items: u32::MAX,
        dense,
    }
}

/// Returns a shape that should never fail in a test.
fn safe(items: usize) -> Shape {
    smallest(items as u64, Log2Prob::from_log2(-43.0)).unwrap()
}

/// Returns rows and values of digests one by one.
fn hash<V: Element>(key: u8, shape: Shape, digests: Digests<'_>) -> (Vec<Row>, Vec<V>) {
    let mut rows = vec![Row::default(); digests.len()];
    let mut values = vec![V::default(); digests.len()];
    RowHasher::pseudorandom([key; 32], shape).hash(digests, &mut rows, &mut values);
    (rows, values)
}

/// The rows of a set, in the order of their starts, and values in the same order.
struct Rows<V> {
    by_start: Vec<Vec<Row>>,
    values: Vec<V>,
}

impl<V: Element> Rows<V> {
    fn of(key: u8, shape: Shape, digests: Digests<'_>) -> Self {
        let items = Partition::new(digests, shape.starts);
        let (rows, values) = hash(key, shape, items.digests());
        let by_start = (0..items.bins()).map(|start| rows[items.range(start)].to_vec());
        Self {
            by_start: by_start.collect(),
            values,
        }
    }

    fn of_one_start(rows: &[Row], values: &[V]) -> Self {
        Self {
            by_start: vec![rows.to_vec()],
            values: values.to_vec(),
        }
    }
}

impl<V: Element> Equations<V> for Rows<V> {
    fn len(&self) -> usize {
        self.values.len()
    }

    fn each(&self, start: usize, work: &mut Work<'_, V>) {
        let mut place = self.by_start[..start].iter().map(Vec::len).sum();
        for rows in self.by_start[start].chunks(BATCH) {
            let places = place..place + rows.len();
            work(places.clone(), rows, &self.values[places.clone()]);
            place = places.end;
        }
    }
}

/// Row and value are words of three ciphertexts, or of a hash of BLAKE3.
#[test]
fn rows_follow_their_functions() {
    let shape = safe(1000);
    let digest = [7; 16];
    let mut keys = [Block::ZERO; 3];
    Prg::from_seed(Block::from_bytes([5; 16])).fill(&mut keys);
    let mut ciphertexts = [Block::from_bytes(digest); 3];
    for (block, key) in ciphertexts.iter_mut().zip(keys) {
        Aes128::new(key).encrypt(std::slice::from_mut(block));
    }
    let words = ciphertexts.map(|block| [block.0 as u64, (block.0 >> 64) as u64]);
    let (rows, values) = hash::<Tower>(5, shape, Digests::Short(&[digest]));
    check(shape, &rows[0], values[0], words.as_flattened());

    let oracle = RowHasher::oracle([5; 32], shape);
    let long = RowHasher::pseudorandom([5; 32], shape);
    let hashed = |bytes: &[u8]| {
        let mut words = [0; 5];
        let output = bytemuck::cast_slice_mut(&mut words);
        blake3::Hasher::new_keyed(&[5; 32])
            .update(bytes)
            .finalize_xof()
            .fill(output);
        words
    };
    let (mut row, mut value) = ([Row::default()], [Tower::default()]);
    oracle.hash(Digests::Short(&[digest]), &mut row, &mut value);
    check(shape, &row[0], value[0], &hashed(&digest));
    long.hash(Digests::Long(&[[7; 32]]), &mut row, &mut value);
    check(shape, &row[0], value[0], &hashed(&[7; 32]));
}

fn check(shape: Shape, row: &Row, value: Tower, words: &[u64]) {
    assert_eq!(shape.dense, 42);
    let bytes: &[u8] = bytemuck::cast_slice(words);
    for (slot, fraction) in row.slots.iter().zip(bytes.chunks(4)).take(3) {
        let fraction = u32::from_le_bytes(fraction.try_into().unwrap());
        let expected = f64::from(fraction) / 32f64.exp2() * f64::from(shape.segment_slots);
        assert_eq!(*slot, expected as u16);
    }
    assert_eq!(row.slots[3], 0);
    assert_eq!(row.dense[..5], bytes[12..17]);
    assert_eq!(row.dense[5], bytes[17] & 0b11);
    assert_eq!(row.dense[6..], [0; 6]);
    assert_eq!(bytemuck::bytes_of(&value), &bytes[18..34]);
}

fn encode<V: Element>(shape: Shape, rows: &Rows<V>, seed: u64) -> Result<Vec<V>, Error> {
    let encoder = Encoder::of(shape, rows, &mut prg(seed))?;
    Ok(encoder.into_elements().to_vec())
}

fn decode<V: Element>(shape: Shape, elements: &[V], rows: &Rows<V>) -> Vec<V> {
    let (columns, slots) = elements.split_at(shape.dense as usize);
    let decoder = Decoder::new(shape, columns);
    let of_start = |(start, rows): (usize, &Vec<Row>)| {
        let mut values = vec![V::default(); rows.len()];
        decoder.decode(start, slots, rows, &mut values);
        values
    };
    rows.by_start
        .iter()
        .enumerate()
        .flat_map(of_start)
        .collect()
}

fn random<V: Element>(seed: u64, count: usize) -> Vec<V> {
    let mut elements = vec![V::default(); count];
    V::fill(&mut elements, &mut prg(seed));
    elements
}

/// Encodes and decodes random digests; whether that was possible.
fn round_trip<V: Element>(digest_bytes: usize, shape: Shape, items: usize, seed: u64) -> bool {
    let digests = digests(digest_bytes, seed, items);
    let rows = Rows::<V>::of(seed as u8, shape, digests.as_digests());
    match encode(shape, &rows, seed) {
        Ok(elements) => {
            assert!(decode(shape, &elements, &rows) == rows.values);
            true
        }
        Err(error) => {
            assert_eq!(error, Error::DependentRows);
            false
        }
    }
}

/// Few items, more, and more at the highest level; and stores of many starts.
static SHAPES: LazyLock<[(usize, Shape); 6]> = LazyLock::new(|| {
    let high = Log2Prob::from_log2(-83.0);
    [
        (3, safe(3)),
        (60, safe(60)),
        (400, safe(400)),
        (400, smallest(400, high).unwrap()),
        (700, coupled(30, 30, 90)),
        (700, coupled(2, 200, 40)),
    ]
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn every_item_decodes_to_its_value(fill in 0.0..1.0f64, seed: u64) {
        for (most, shape) in SHAPES.iter() {
            let items = (fill * (most + 1) as f64) as usize;
            prop_assert!(round_trip::<Gf64>(16, *shape, items, seed));
            prop_assert!(round_trip::<Subspace<Tower, 72>>(16, *shape, items, seed));
            prop_assert!(round_trip::<Tower>(32, *shape, items, seed));
        }
    }

    #[test]
    fn decoding_is_linear(items in 1usize..300, dense in 0..=96u32, seed: u64) {
        for shape in [uniform(items, 170, dense), coupled(9, 50, dense)] {
            let rows = Rows::<Tower>::of(1, shape, digests(16, seed, items).as_digests());
            let a: Vec<Tower> = random(seed ^ 1, shape.len());
            let b: Vec<Tower> = random(seed ^ 2, shape.len());
            let combine = |a: &[Tower], b: &[Tower]| -> Vec<Tower> {
                a.iter().zip(b).map(|(a, b)| *a ^ *b).collect()
            };
            let (of_a, of_b) = (decode(shape, &a, &rows), decode(shape, &b, &rows));
            prop_assert!(decode(shape, &combine(&a, &b), &rows) == combine(&of_a, &of_b));
        }
    }
}

/// A slot in each segment from the start on, and the dense columns whose bits are set.
#[test]
fn decoding_adds_up_what_the_row_says() {
    for dense in [0, 1, 8, 9, 40, 95, 96] {
        for shape in [uniform(50, 25, dense), coupled(6, 10, dense)] {
            let rows = Rows::<Tower>::of(1, shape, digests(16, 1, 50).as_digests());
            let elements: Vec<Tower> = random(2, shape.len());
            let slowly = |start: usize, row: &Row| {
                let slots = row.slots.iter().take(shape.weight as usize).enumerate();
                let len = shape.segment_slots as usize;
                let slots = slots.map(|(i, slot)| (start + i) * len + usize::from(*slot));
                let slots = slots.map(|slot| dense as usize + slot);
                let set = |i: &usize| row.dense[i / 8] >> (i % 8) & 1 == 1;
                let columns = (0..dense as usize).filter(set);
                (slots.chain(columns)).fold(Tower::default(), |sum, i| sum ^ elements[i])
            };
            let expected: Vec<Tower> = (rows.by_start.iter().enumerate())
                .flat_map(|(start, rows)| rows.iter().map(move |row| slowly(start, row)))
                .collect();
            assert!(decode(shape, &elements, &rows) == expected, "{shape:?}");
        }
    }
}

#[test]
fn stores_of_every_fill() {
    let shape = safe(200);
    for items in 0..=200 {
        assert!(round_trip::<Gf64>(16, shape, items, 3), "{items} items");
    }
    let shape = safe(128);
    for items in (0..=128).step_by(8) {
        assert!(round_trip::<Tower>(16, shape, items, 4), "{items} items");
    }
}

/// As large as the first store that is coupled, and larger: all is peeled.
#[test]
fn large_stores_are_coupled() {
    for items in [70_000, 200_000] {
        let shape = safe(items);
        assert!(shape.starts > 40 && shape.weight == 4, "{shape:?}");
        let rows = Rows::<Gf64>::of(5, shape, digests(16, 9, items).as_digests());
        let peeling = Peeling::new(shape, &rows, &Columns::new(&[]));
        assert_eq!(peeling.unwrap().peeled(), items);
        let elements = encode(shape, &rows, 1).unwrap();
        assert!(decode(shape, &elements, &rows) == rows.values);
    }
}

/// A segment is what it stays when it is asked for, and depends on no later one.
#[test]
fn segments_come_one_by_one() {
    let shape = safe(70_000);
    let rows = Rows::<Gf64>::of(5, shape, digests(16, 9, 60_000).as_digests());
    let whole = encode(shape, &rows, 1).unwrap();
    let mut encoder = Encoder::of(shape, &rows, &mut prg(1)).unwrap();
    let mut pieces = encoder.columns().to_vec();
    for _ in 0..shape.segments() {
        pieces.extend_from_slice(encoder.next_segment());
    }
    assert!(pieces == whole);
}

/// Far below the peeling threshold (1.222 slots per row for three slots), and just above the
/// threshold of independence (1.089, and 1.024 for four slots), elimination does most of the work.
#[test]
fn what_peeling_leaves_is_eliminated() {
    for (items, shape) in [
        (300, uniform(300, 115, 40)),
        (2000, uniform(2000, 750, 40)),
        (5000, uniform(5000, 1900, 40)),
        (2000, coupled(1, 520, 40)),
        (2000, coupled(5, 300, 60)),
        (4000, coupled(20, 205, 60)),
    ] {
        for seed in 0..5 {
            assert!(round_trip::<Gf64>(16, shape, items, seed), "{items} items");
        }
        assert!(round_trip::<Tower>(16, shape, items, 6), "{items} items");
    }
}

fn row(slots: [u16; 3], dense: u8) -> Row {
    let mut row = Row::default();
    row.slots[..3].copy_from_slice(&slots);
    row.dense[0] = dense;
    row
}

/// Structures that peeling cannot take apart, one by one: whether rows are independent over GF(2)
/// decides.
#[test]
fn small_cores_are_solved_by_the_dense_columns() {
    let pair = |a, b| vec![row([0, 1, 2], a), row([0, 1, 2], b)];
    let triple = |a, b, c| [pair(a, b), vec![row([0, 1, 2], c)]].concat();
    // Each of six slots twice.
    let cycle = |dense: [u8; 4]| {
        let slots = [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]];
        let rows = slots.into_iter().zip(dense);
        rows.map(|(slots, dense)| row(slots, dense))
            .collect::<Vec<_>>()
    };
    for (rows, needed) in [
        (pair(1, 0), Some(1)),
        (pair(5, 1), Some(3)),
        (pair(5, 5), None),
        (triple(0, 1, 2), Some(2)),
        (triple(0, 1, 3), Some(2)),
        (triple(0, 1, 1), None),
        (triple(1, 2, 4), Some(2)),
        (cycle([1, 1, 1, 0]), Some(1)),
        (cycle([8, 4, 2, 2]), Some(3)),
        (cycle([3, 5, 2, 4]), None),
    ] {
        let values: Vec<Gf64> = random(1, rows.len());
        for dense in 0..=8 {
            // Bits for columns that there are not do not count.
            let shape = uniform(10, 3, dense);
            let rows = Rows::of_one_start(&masked(&rows, dense), &values);
            let encoded = encode(shape, &rows, 2);
            match needed.is_some_and(|needed| dense >= needed) {
                true => assert!(decode(shape, &encoded.unwrap(), &rows) == values),
                false => assert_eq!(encoded, Err(Error::DependentRows), "{dense}"),
            }
        }
    }
}

/// Returns rows for that many dense columns.
fn masked(rows: &[Row], dense: u32) -> Vec<Row> {
    let mask = ((1_u32 << dense) - 1) as u8;
    rows.iter()
        .map(|r| row([r.slots[0], r.slots[1], r.slots[2]], r.dense[0] & mask))
        .collect()
}

#[test]
fn an_item_twice_is_an_error() {
    for (items, share) in [(10, -43.0), (3000, -43.0), (3000, -83.0), (70_000, -43.0)] {
        let shape = smallest(items as u64 + 1, Log2Prob::from_log2(share)).unwrap();
        let mut twice = DigestVec::zeroed(0, 16);
        let once = digests(16, 1, items);
        twice.gather(once.as_digests(), (0..items).chain([items / 2]));
        let rows = Rows::<Gf64>::of(1, shape, twice.as_digests());
        assert_eq!(encode(shape, &rows, 1), Err(Error::DependentRows));
    }
}

/// Two encodings of the same differ in all that is free, and only then can they: the number
/// of free elements is what the equations leave.
#[test]
fn free_elements_are_random() {
    for (items, shape) in [
        (100, safe(200)),
        (200, safe(200)),
        (500, coupled(20, 40, 40)),
    ] {
        let rows = Rows::<Gf64>::of(1, shape, digests(16, 1, items).as_digests());
        let encodings: Vec<_> = (0..8)
            .map(|seed| encode(shape, &rows, seed).unwrap())
            .collect();
        let same = |elements: &Vec<Gf64>| decode(shape, elements, &rows) == rows.values;
        assert!(encodings.iter().all(same));
        assert!(encode(shape, &rows, 0).unwrap() == encodings[0]);
        // An element that is not free is determined by others that are: it differs, too.
        let constant = (0..shape.len()).filter(|&i| {
            let mut others = encodings[1..].iter();
            others.all(|elements| elements[i] == encodings[0][i])
        });
        assert_eq!(constant.count(), 0);
    }
}

/// With random values, whatever the rows, every bit of the vector is a fair coin.
#[test]
fn random_values_give_a_random_vector() {
    let shape = uniform(3, 2, 2);
    let rows = [([0, 0, 0], 0), ([0, 0, 1], 1), ([1, 0, 1], 2)];
    let rows = rows.map(|(slots, dense)| row(slots, dense));
    let runs = 4000u64;
    let mut ones = vec![[0u32; 64]; shape.len()];
    for run in 0..runs {
        let rows = Rows::of_one_start(&rows, &random::<Gf64>(run + (1 << 40), 3));
        let elements = encode(shape, &rows, run).unwrap();
        for (ones, element) in ones.iter_mut().zip(elements) {
            (0..64).for_each(|bit| ones[bit] += (element.0 >> bit & 1) as u32);
        }
    }
    // Standard deviation 32; six of them, for 512 coins.
    let fair = |ones: &u32| ones.abs_diff(runs as u32 / 2) < 190;
    assert!(ones.as_flattened().iter().all(fair));
}

/// The vector sent is the one encoded: none of its bits is beyond those of its elements.
#[test]
fn vectors_stay_in_their_space() {
    let shape = safe(300);
    let keys = digests(16, 1, 250);
    let rows = Rows::<Subspace<Tower, 80>>::of(1, shape, keys.as_digests());
    let elements = encode(shape, &rows, 1).unwrap();
    let mut bytes = Vec::new();
    Subspace::pack(&elements, &mut bytes);
    let mut sent = vec![Subspace::default(); elements.len()];
    Subspace::unpack(&bytes, &mut sent);
    assert!(sent == elements);
}

#[test]
fn others_decode_to_random_looking_values() {
    let shape = safe(1000);
    let all = digests(16, 1, 2000);
    let (rows, values) = hash::<Gf64>(1, shape, all.as_digests());
    let encoded = Rows::of_one_start(&rows[..1000], &values[..1000]);
    let elements = encode(shape, &encoded, 1).unwrap();
    let decoded = decode(shape, &elements, &Rows::of_one_start(&rows, &values));
    assert!(decoded[..1000] == values[..1000]);
    let wrong = decoded[1000..]
        .iter()
        .zip(&values[1000..])
        .map(|(a, b)| *a ^ *b);
    let ones: u32 = wrong
        .clone()
        .map(|difference| difference.0.count_ones())
        .sum();
    // 64,000 coins, standard deviation 126: six of them.
    assert!(ones.abs_diff(32_000) < 760, "{ones}");
    assert!(
        wrong
            .clone()
            .all(|difference| difference != Gf64::default())
    );
}

#[test]
fn another_key_gives_another_store() {
    let shape = safe(500);
    let digests = digests(32, 1, 500);
    let rows = Rows::<Gf64>::of(1, shape, digests.as_digests());
    let other = Rows::<Gf64>::of(2, shape, digests.as_digests());
    let same = (rows.by_start.iter().flatten())
        .zip(other.by_start.iter().flatten())
        .filter(|(a, b)| a.dense == b.dense);
    assert_eq!(same.count(), 0);
    let elements = encode(shape, &rows, 1).unwrap();
    assert!(encode(shape, &other, 1).unwrap() != elements);
    let decoded = decode(shape, &elements, &other);
    let found = |values: &[Gf64]| decoded.iter().zip(values).filter(|(a, b)| a == b).count();
    assert_eq!((found(&rows.values), found(&other.values)), (0, 0));
}

/// Both parties must agree on them for ever.
#[test]
fn known_answers() {
    let digest: [u8; 16] = std::array::from_fn(|i| i as u8);
    let dense = |bytes: [u8; 5]| std::array::from_fn(|i| *bytes.get(i).unwrap_or(&0));
    let tower = |low, high| Tower {
        low: Gf64(low),
        high: Gf64(high),
    };
    for (shape, oracle, slots, dense_bytes, expected_value) in [
        (
            uniform(10, 1000, 40),
            true,
            [933, 948, 774, 0],
            [0xf6, 0x45, 0x78, 0xdf, 0x4b],
            tower(0x990c_ed30_5ec3_4a5c, 0xd549_03a8_5a41_1b31),
        ),
        (
            uniform(10, 1000, 40),
            false,
            [524, 878, 859, 0],
            [0x7e, 0x41, 0x84, 0xe4, 0x2f],
            tower(0x8be2_9742_ec9e_f3e5, 0x0999_611c_0234_1816),
        ),
        (
            coupled(9, 1000, 40),
            true,
            [933, 948, 774, 872],
            [0x4b, 0x5c, 0x4a, 0xc3, 0x5e],
            tower(0x5a41_1b31_990c_ed30, 0x7509_e6b7_d549_03a8),
        ),
        (
            coupled(9, 1000, 40),
            false,
            [524, 878, 859, 892],
            [0x2f, 0xe5, 0xf3, 0x9e, 0xec],
            tower(0x0234_1816_8be2_9742, 0x29a9_0211_0999_611c),
        ),
    ] {
        let hasher = match oracle {
            true => RowHasher::oracle([7; 32], shape),
            false => RowHasher::pseudorandom([7; 32], shape),
        };
        let (mut row, mut value) = ([Row::default()], [Tower::default()]);
        hasher.hash(Digests::Short(&[digest]), &mut row, &mut value);
        assert_eq!((row[0].slots, row[0].dense), (slots, dense(dense_bytes)));
        assert_eq!(value[0], expected_value);
        let mut low = [Gf64::default()];
        hasher.hash(Digests::Short(&[digest]), &mut row, &mut low);
        assert_eq!((row[0].slots, low[0]), (slots, expected_value.low));
    }
    assert_eq!(bin_of(Digests::Short(&[digest]).words(0)[0], 1000), 27);
}

#[test]
fn slots_are_evenly_used() {
    for shape in [uniform(1, 6, 0), coupled(1, 4, 0)] {
        let (rows, _) = hash::<Gf64>(1, shape, digests(16, 1, 60_000).as_digests());
        let slots = shape.segment_slots as usize;
        let choices = slots.pow(shape.weight);
        let mut counts = vec![0u32; choices];
        for row in rows {
            let slots_of = row.slots[..shape.weight as usize].iter();
            counts[slots_of.fold(0, |all, slot| all * slots + usize::from(*slot))] += 1;
        }
        // About 250 expected of each, standard deviation 16.
        let expected = 60_000 / choices as u32;
        assert!(counts.iter().all(|count| count.abs_diff(expected) < 100));
    }
}

/// The bound of `psijoin_params` against stores that were built. It must be above the rate of
/// failure; how far, for stores this small, is the price of a bound for any starts.
#[test]
fn stores_fail_as_often_as_the_bound_says() {
    for (items, shape, trials, factor_log2) in [
        (8, uniform(8, 4, 5), 20_000, 5.0),
        (8, uniform(8, 3, 6), 20_000, 5.0),
        (8, uniform(8, 1, 10), 20_000, 2.0),
        (30, uniform(30, 13, 6), 20_000, 7.0),
        (30, uniform(30, 12, 8), 20_000, 7.0),
        (100, uniform(100, 47, 3), 20_000, 7.0),
        (1000, uniform(1000, 434, 0), 4000, 7.0),
        (30, coupled(3, 9, 2), 20_000, 9.0),
        (100, coupled(8, 12, 4), 20_000, 9.0),
    ] {
        let (rows, values) = hash::<Gf64>(1, shape, digests(16, 2, items * trials).as_digests());
        let starts = shape.starts as usize;
        let failed = (rows.chunks(items).zip(values.chunks(items)))
            .filter(|(rows, values)| {
                // As many rows of each start as there can be, the others of the last one.
                let per_start = items / starts;
                let by_start = (0..starts).map(|start| match start + 1 == starts {
                    true => rows[start * per_start..].to_vec(),
                    false => rows[start * per_start..][..per_start].to_vec(),
                });
                let rows = Rows {
                    by_start: by_start.collect(),
                    values: values.to_vec(),
                };
                encode(shape, &rows, 1).is_err()
            })
            .count() as f64;
        let in_a_segment = items.div_ceil(starts) * starts.min(shape.weight as usize) + starts;
        let shape = Shape {
            segment_items: in_a_segment.min(items) as u32,
            ..shape
        };
        let bound = failure(shape.segment_items.into(), shape).log2();
        let case = format!("{items} items, {shape:?}");
        assert_fails_as_bounded(&case, failed, trials as f64, bound, factor_log2);
    }
}

#[test]
fn a_partition_keeps_every_item_with_its_position() {
    for (items, bins) in [(0, 1), (1, 3), (1000, 7), (100_000, 1), (100_000, 50)] {
        let digests = digests(32, 1, items);
        let digests = digests.as_digests();
        let partition = Partition::new(digests, bins);
        assert_eq!(partition.bins(), bins as usize);
        let mut seen = vec![false; items];
        for bin in 0..bins {
            let (reordered, positions) = partition.bin(bin as usize);
            assert_eq!(reordered.len(), positions.len());
            assert!(positions.is_sorted());
            for (i, &position) in positions.iter().enumerate() {
                let words = reordered.words(i);
                assert_eq!(words, digests.words(position as usize));
                assert_eq!(bin_of(words[0], bins), bin);
                seen[position as usize] = true;
            }
        }
        assert!(seen.into_iter().all(|seen| seen));
    }
}

#[test]
fn a_partition_does_not_depend_on_the_number_of_threads() {
    let digests = digests(16, 1, 100_000);
    let run = |threads| {
        let pool = parallel::Pool::new(threads).unwrap();
        pool.run(|| Partition::new(digests.as_digests(), 9))
    };
    let (one, three) = (run(1), run(3));
    assert!((0..9).all(|bin| one.bin(bin) == three.bin(bin)));
}

/// Of many starts, for either length of digests.
#[test]
fn a_store_gives_keys_their_values_and_no_others() {
    for digest_bytes in [16, 32] {
        let count = 200_000;
        let shape = safe(count);
        assert!(shape.starts > 1);
        let keys = digests(digest_bytes, 1, count);
        let rows = RowHasher::pseudorandom([3; 32], shape);
        let mut values = vec![Gf64::default(); count];
        Gf64::fill(&mut values, &mut prg(4));
        let keys = keys.as_digests();
        let store = Store::encode(shape, &rows, keys, &values, &mut prg(5)).unwrap();
        assert_eq!(store.decode(&rows, keys), values);
        let sent = Store::from_elements(shape, store.elements().to_vec());
        assert_eq!(sent, store);
        let others = digests(digest_bytes, 2, 1000);
        let others = store.decode(&rows, others.as_digests());
        assert!(
            others
                .iter()
                .zip(&values)
                .all(|(other, value)| other != value)
        );
    }
}

#[test]
fn a_store_with_a_key_twice_is_an_error() {
    let shape = safe(3);
    let rows = RowHasher::pseudorandom([3; 32], shape);
    let keys = Digests::Short(&[[1; 16], [2; 16], [1; 16]]);
    let values = [Gf64(1), Gf64(2), Gf64(3)];
    let store = Store::encode(shape, &rows, keys, &values, &mut prg(5));
    assert_eq!(store.unwrap_err(), Error::DependentRows);
}
