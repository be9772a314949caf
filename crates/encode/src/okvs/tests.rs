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

use super::{Decoder, Encoder, Partition, Row, RowHasher, Store, bin_of};
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

fn one_bin(items: usize, slots: u32, dense: u32) -> Shape {
    Shape {
        bins: 1,
        bin_items: items as u32,
        slots,
        dense,
    }
}

/// Returns a shape that should never fail in a test.
fn safe(items: usize) -> Shape {
    smallest(items as u64, Log2Prob::from_log2(-43.0)).unwrap()
}

fn hash<V: Element>(key: u8, shape: Shape, digests: Digests<'_>) -> (Vec<Row>, Vec<V>) {
    let mut rows = vec![Row::default(); digests.len()];
    let mut values = vec![V::default(); digests.len()];
    RowHasher::pseudorandom([key; 32], shape).hash(digests, &mut rows, &mut values);
    (rows, values)
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
    assert_eq!(shape.dense, 34);
    let bytes: &[u8] = bytemuck::cast_slice(words);
    assert_eq!(row.dense[..4], bytes[12..16]);
    assert_eq!(row.dense[4], bytes[16] & 0b11);
    assert_eq!(row.dense[5..], [0; 7]);
    assert_eq!(bytemuck::bytes_of(&value), &bytes[17..33]);
}

fn encode<V: Element>(
    shape: Shape,
    rows: &[Row],
    values: &[V],
    seed: u64,
) -> Result<Vec<V>, Error> {
    let mut bin = vec![V::default(); shape.bin_slots()];
    Encoder::new(shape).encode_bin(rows, values, &mut bin, &mut prg(seed))?;
    Ok(bin)
}

fn decode<V: Element>(shape: Shape, bin: &[V], rows: &[Row]) -> Vec<V> {
    let mut values = vec![V::default(); rows.len()];
    Decoder::new(shape, bin).decode(rows, &mut values);
    values
}

fn random<V: Element>(seed: u64, count: usize) -> Vec<V> {
    let mut elements = vec![V::default(); count];
    V::fill(&mut elements, &mut prg(seed));
    elements
}

/// Encodes and decodes random digests; whether that was possible.
fn round_trip<V: Element>(digest_bytes: usize, shape: Shape, items: usize, seed: u64) -> bool {
    let digests = digests(digest_bytes, seed, items);
    let (rows, values) = hash::<V>(seed as u8, shape, digests.as_digests());
    match encode(shape, &rows, &values, seed) {
        Ok(bin) => {
            assert!(decode(shape, &bin, &rows) == values);
            true
        }
        Err(error) => {
            assert_eq!(error, Error::DependentRows);
            false
        }
    }
}

/// Few items, more, and more at the highest level.
static SHAPES: LazyLock<[Shape; 4]> = LazyLock::new(|| {
    let high = Log2Prob::from_log2(-83.0);
    [safe(3), safe(60), safe(400), smallest(400, high).unwrap()]
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn every_item_decodes_to_its_value(fill in 0.0..1.0f64, seed: u64) {
        for shape in SHAPES.iter() {
            let items = (fill * f64::from(shape.bin_items + 1)) as usize;
            prop_assert!(round_trip::<Gf64>(16, *shape, items, seed));
            prop_assert!(round_trip::<Subspace<Tower, 72>>(16, *shape, items, seed));
            prop_assert!(round_trip::<Tower>(32, *shape, items, seed));
        }
    }

    #[test]
    fn decoding_is_linear(items in 1usize..300, dense in 0..=96u32, seed: u64) {
        let shape = one_bin(items, 500, dense);
        let (rows, _) = hash::<Tower>(1, shape, digests(16, seed, items).as_digests());
        let a: Vec<Tower> = random(seed ^ 1, shape.bin_slots());
        let b: Vec<Tower> = random(seed ^ 2, shape.bin_slots());
        let combine = |a: &[Tower], b: &[Tower]| -> Vec<Tower> {
            a.iter().zip(b).map(|(a, b)| *a ^ *b).collect()
        };
        let (of_a, of_b) = (decode(shape, &a, &rows), decode(shape, &b, &rows));
        prop_assert!(decode(shape, &combine(&a, &b), &rows) == combine(&of_a, &of_b));
    }
}

/// Three slots, and the dense columns whose bits are set.
#[test]
fn decoding_adds_up_what_the_row_says() {
    for dense in [0, 1, 8, 9, 40, 95, 96] {
        let shape = one_bin(50, 70, dense);
        let (rows, _) = hash::<Tower>(1, shape, digests(16, 1, 50).as_digests());
        let bin: Vec<Tower> = random(2, shape.bin_slots());
        let slowly = |row: &Row| {
            let slots = row.slots.iter().map(|slot| *slot as usize);
            let set = |i: &usize| row.dense[i / 8] >> (i % 8) & 1 == 1;
            let columns = (0..dense as usize).filter(set).map(|i| 70 + i);
            (slots.chain(columns)).fold(Tower::default(), |sum, i| sum ^ bin[i])
        };
        let expected: Vec<Tower> = rows.iter().map(slowly).collect();
        assert!(decode(shape, &bin, &rows) == expected, "{dense} columns");
    }
}

#[test]
fn bins_of_every_fill() {
    let shape = safe(200);
    for items in 0..=200 {
        assert!(round_trip::<Gf64>(16, shape, items, 3), "{items} items");
    }
    assert!(shape.slots > 3, "sparse");
    let shape = safe(128);
    for items in (0..=128).step_by(8) {
        assert!(round_trip::<Tower>(16, shape, items, 4), "{items} items");
    }
}

/// One encoder for all bins, as a protocol does it.
#[test]
fn many_bins() {
    let items = 100_000;
    let shape = safe(items);
    assert_eq!(shape.bins, 4);
    let partition = Partition::new(digests(16, 9, items).as_digests(), shape.bins);
    let mut encoder = Encoder::<Gf64>::new(shape);
    for bin in 0..partition.bins() {
        let (rows, values) = hash(5, shape, partition.bin(bin).0);
        let mut vector = vec![Gf64::default(); shape.bin_slots()];
        let prg = &mut prg(bin as u64);
        encoder
            .encode_bin(&rows, &values, &mut vector, prg)
            .unwrap();
        assert!(decode(shape, &vector, &rows) == values);
    }
}

/// Far below the peeling threshold (1.222 slots per row), and just above the threshold of
/// independence (1.089), elimination does most of the work.
#[test]
fn what_peeling_leaves_is_eliminated() {
    for (items, slots) in [(300, 345), (2000, 2250), (5000, 5700)] {
        let shape = one_bin(items, slots, 40);
        for seed in 0..5 {
            assert!(round_trip::<Gf64>(16, shape, items, seed), "{items} items");
        }
        assert!(round_trip::<Tower>(16, shape, items, 6), "{items} items");
    }
}

fn row(slots: [u32; 3], dense: u8) -> Row {
    let mut row = Row {
        slots,
        ..Row::default()
    };
    row.dense[0] = dense;
    row
}

/// Structures that peeling cannot take apart, one by one: whether rows are independent over GF(2)
/// decides.
#[test]
fn small_cores_are_solved_by_the_dense_columns() {
    let pair = |a, b| vec![row([0, 1, 2], a), row([2, 0, 1], b)];
    let triple = |a, b, c| [pair(a, b), vec![row([1, 0, 2], c)]].concat();
    // Each of six slots twice.
    let cycle = |dense: [u8; 4]| {
        let slots = [[0, 1, 2], [0, 3, 4], [1, 3, 5], [2, 4, 5]];
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
            let shape = one_bin(10, 8, dense);
            let encoded = encode(shape, &masked(&rows, dense), &values, 2);
            match needed.is_some_and(|needed| dense >= needed) {
                true => {
                    assert!(decode(shape, &encoded.unwrap(), &masked(&rows, dense)) == values);
                }
                false => assert_eq!(encoded, Err(Error::DependentRows), "{dense}"),
            }
        }
    }
}

/// Returns rows for that many dense columns.
fn masked(rows: &[Row], dense: u32) -> Vec<Row> {
    let mask = ((1_u32 << dense) - 1) as u8;
    rows.iter()
        .map(|r| row(r.slots, r.dense[0] & mask))
        .collect()
}

#[test]
fn an_item_twice_is_an_error() {
    for (items, share) in [(10, -43.0), (3000, -43.0), (3000, -83.0)] {
        let shape = smallest(items as u64 + 1, Log2Prob::from_log2(share)).unwrap();
        let mut twice = DigestVec::zeroed(0, 16);
        let once = digests(16, 1, items);
        twice.gather(once.as_digests(), (0..items).chain([items / 2]));
        let (rows, values) = hash::<Gf64>(1, shape, twice.as_digests());
        assert_eq!(encode(shape, &rows, &values, 1), Err(Error::DependentRows));
    }
}

#[test]
fn too_many_items_are_an_error() {
    let shape = one_bin(10, 30, 3);
    let (rows, values) = hash::<Gf64>(1, shape, digests(16, 1, 11).as_digests());
    assert_eq!(encode(shape, &rows, &values, 1), Err(Error::TooManyItems));
}

/// More than the cells of the peeling count.
#[test]
fn thousands_of_rows_in_a_slot_are_an_error() {
    let shape = one_bin(6000, 100_000, 3);
    let values: Vec<Gf64> = random(1, 6000);
    let rows: Vec<Row> = (0..6000)
        .map(|i| row([0, 2 * i + 1, 2 * i + 2], 0))
        .collect();
    assert_eq!(encode(shape, &rows, &values, 1), Err(Error::DependentRows));
    assert!(encode(shape, &rows[..4000], &values[..4000], 1).is_ok());
}

/// Two encodings of the same differ in all that is free, and only then can they: the number
/// of free elements is what the equations leave.
#[test]
fn free_elements_are_random() {
    for items in [100, 200] {
        let shape = safe(200);
        let (rows, values) = hash::<Gf64>(1, shape, digests(16, 1, items).as_digests());
        let encodings: Vec<_> = (0..8)
            .map(|seed| encode(shape, &rows, &values, seed).unwrap())
            .collect();
        assert!(
            encodings
                .iter()
                .all(|bin| decode(shape, bin, &rows) == values)
        );
        assert!(encode(shape, &rows, &values, 0).unwrap() == encodings[0]);
        let differences: Vec<Vec<Gf64>> = encodings[1..]
            .iter()
            .map(|bin| {
                bin.iter()
                    .zip(&encodings[0])
                    .map(|(a, b)| *a ^ *b)
                    .collect()
            })
            .collect();
        // An element that is not free is determined by others that are: it differs, too.
        let constant = (0..shape.bin_slots())
            .filter(|&i| differences.iter().all(|bin| bin[i] == Gf64::default()));
        assert_eq!(constant.count(), 0);
    }
}

/// With random values, whatever the rows, every bit of the vector is a fair coin.
#[test]
fn random_values_give_a_random_vector() {
    let shape = one_bin(3, 4, 2);
    let rows = [[0, 1, 2], [1, 2, 0], [1, 2, 3]].map(|slots| row(slots, slots[0] as u8));
    let runs = 4000u64;
    let mut ones = vec![[0u32; 64]; shape.bin_slots()];
    for run in 0..runs {
        let bin = encode(shape, &rows, &random::<Gf64>(run + (1 << 40), 3), run).unwrap();
        for (ones, element) in ones.iter_mut().zip(bin) {
            (0..64).for_each(|bit| ones[bit] += (element.0 >> bit & 1) as u32);
        }
    }
    // Standard deviation 32; six of them, for 384 coins.
    let fair = |ones: &u32| ones.abs_diff(runs as u32 / 2) < 190;
    assert!(ones.as_flattened().iter().all(fair));
}

/// The vector sent is the one encoded: none of its bits is beyond those of its elements.
#[test]
fn vectors_stay_in_their_space() {
    let shape = safe(300);
    let (rows, values) = hash::<Subspace<Tower, 80>>(1, shape, digests(16, 1, 250).as_digests());
    let bin = encode(shape, &rows, &values, 1).unwrap();
    let mut bytes = Vec::new();
    Subspace::pack(&bin, &mut bytes);
    let mut sent = vec![Subspace::default(); bin.len()];
    Subspace::unpack(&bytes, &mut sent);
    assert!(sent == bin);
}

#[test]
fn others_decode_to_random_looking_values() {
    let shape = safe(1000);
    let all = digests(16, 1, 2000);
    let (rows, values) = hash::<Gf64>(1, shape, all.as_digests());
    let bin = encode(shape, &rows[..1000], &values[..1000], 1).unwrap();
    let decoded = decode(shape, &bin, &rows);
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
    let (rows, values) = hash::<Gf64>(1, shape, digests.as_digests());
    let (other_rows, other_values) = hash::<Gf64>(2, shape, digests.as_digests());
    let same = rows
        .iter()
        .zip(&other_rows)
        .filter(|(a, b)| a.dense == b.dense);
    assert_eq!(same.count(), 0);
    let bin = encode(shape, &rows, &values, 1).unwrap();
    assert!(encode(shape, &other_rows, &other_values, 1).unwrap() != bin);
    let decoded = decode(shape, &bin, &other_rows);
    let found = |values: &[Gf64]| decoded.iter().zip(values).filter(|(a, b)| a == b).count();
    assert_eq!((found(&values), found(&other_values)), (0, 0));
}

/// Both parties must agree on them for ever.
#[test]
fn known_answers() {
    let shape = one_bin(10, 1000, 40);
    let digest: [u8; 16] = std::array::from_fn(|i| i as u8);
    let dense = |bytes: [u8; 5]| std::array::from_fn(|i| *bytes.get(i).unwrap_or(&0));
    let oracle = Row {
        slots: [933, 948, 772],
        dense: dense([0xf6, 0x45, 0x78, 0xdf, 0x4b]),
    };
    let oracle_value = Tower {
        low: Gf64(0x990c_ed30_5ec3_4a5c),
        high: Gf64(0xd549_03a8_5a41_1b31),
    };
    let pseudorandom = Row {
        slots: [524, 878, 858],
        dense: dense([0x7e, 0x41, 0x84, 0xe4, 0x2f]),
    };
    let pseudorandom_value = Tower {
        low: Gf64(0x8be2_9742_ec9e_f3e5),
        high: Gf64(0x0999_611c_0234_1816),
    };
    for (hasher, expected, expected_value) in [
        (RowHasher::oracle([7; 32], shape), oracle, oracle_value),
        (
            RowHasher::pseudorandom([7; 32], shape),
            pseudorandom,
            pseudorandom_value,
        ),
    ] {
        let (mut row, mut value) = ([Row::default()], [Tower::default()]);
        hasher.hash(Digests::Short(&[digest]), &mut row, &mut value);
        assert!(row[0] == expected && value[0] == expected_value);
        let mut low = [Gf64::default()];
        hasher.hash(Digests::Short(&[digest]), &mut row, &mut low);
        assert!(row[0] == expected && low[0] == expected_value.low);
    }
    assert_eq!(bin_of(Digests::Short(&[digest]).words(0)[0], 1000), 27);
}

#[test]
fn slots_are_distinct_and_evenly_used() {
    let shape = one_bin(1, 5, 0);
    let (rows, _) = hash::<Gf64>(1, shape, digests(16, 1, 60_000).as_digests());
    let mut counts = [0u32; 125];
    for row in rows {
        let [x, y, z] = row.slots;
        counts[(25 * x + 5 * y + z) as usize] += 1;
    }
    let used: Vec<u32> = counts.into_iter().filter(|&count| count > 0).collect();
    assert_eq!(used.len(), 5 * 4 * 3);
    // 1,000 expected of each, standard deviation 32.
    assert!(used.iter().all(|count| count.abs_diff(1000) < 190));
}

/// The bound of `psijoin_params` against bins that were built. It must be above the rate of
/// failure, and for the smallest bins is not far above.
#[test]
fn bins_fail_as_often_as_the_bound_says() {
    for (items, slots, dense, trials, factor_log2) in [
        (8, 12, 0, 20_000, 1.0),
        (8, 8, 1, 20_000, 1.0),
        (8, 3, 10, 20_000, 1.0),
        (30, 40, 0, 20_000, 1.0),
        (30, 40, 1, 20_000, 1.0),
        (30, 36, 3, 20_000, 1.0),
        (100, 140, 0, 20_000, 1.0),
        (100, 140, 1, 20_000, 1.0),
        (1000, 1300, 0, 4000, 1.5),
    ] {
        let shape = one_bin(items, slots, dense);
        let mut encoder = Encoder::<Gf64>::new(shape);
        let mut bin = vec![Gf64::default(); shape.bin_slots()];
        let mut prg = prg(1);
        let (rows, values) = hash::<Gf64>(1, shape, digests(16, 2, items * trials).as_digests());
        let bins = rows.chunks(items).zip(values.chunks(items));
        let failed = bins
            .filter(|(rows, values)| {
                encoder
                    .encode_bin(rows, values, &mut bin, &mut prg)
                    .is_err()
            })
            .count() as f64;
        let bound = failure(items as u64, shape).log2();
        let case = format!("{items} items, {slots} slots, {dense} dense");
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

/// In several bins, of either length of digests.
#[test]
fn a_store_gives_keys_their_values_and_no_others() {
    for digest_bytes in [16, 32] {
        let count = 200_000;
        let shape = safe(count);
        assert!(shape.bins > 1);
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
