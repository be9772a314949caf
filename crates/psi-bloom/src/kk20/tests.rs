use psijoin_block::{Block, Prg};
use psijoin_channel::memory;
use psijoin_encode::garbled_bloom::GarbledBloomFilter;
use psijoin_params::{Security, Sizes, bloom::Shape};

use super::*;
use crate::{
    Input, Items, Output,
    garbled::{Bands, Strings},
    masks::MaskLength,
    psm_co::Tests,
    registry,
    testing::{assert_all_is_uniform, assert_uniform, items, output, run},
};

fn plan<O: Variant>(sender: u64, receiver: u64, output: OutputKind) -> Box<dyn Plan> {
    let request = Request {
        sizes: Sizes::new(sender, receiver).unwrap(),
        security: Security::default(),
        output,
        min_intersection: 0,
    };
    registry::plan(&Kk20::<O>::ENTRY, &request).unwrap()
}

/// 30 of 100 and of 70 items are shared.
fn computed<O: Variant>(kind: OutputKind) -> Output {
    let plan = plan::<O>(100, 70, kind);
    let sets: [Items; 2] = [items(0..100, 16), items(70..140, 16)];
    output(&*plan, &sets[0], &sets[1]).unwrap()
}

#[test]
fn each_output_of_the_same_sets() {
    fn check<O: Variant>() {
        let rows = Output::Rows((0..30).collect());
        assert_eq!(computed::<O>(OutputKind::Rows), rows);
        assert_eq!(computed::<O>(OutputKind::Count), Output::Count(30));
        for (least, reached) in [(0, true), (30, true), (31, false)] {
            let output = computed::<O>(OutputKind::Threshold(least));
            assert_eq!(output, Output::Reached(reached), "{least}");
        }
    }
    check::<Iknp>();
    check::<Silent>();
}

/// KK20 Table 3, ℓ = 32: MB (10^6 bytes) for sets of n items each.
const TABLE_3: [(u32, f64); 5] = [(8, 2.4), (10, 9.4), (12, 36.9), (14, 147.4), (16, 589.0)];

fn megabytes<O: Variant>(log2: u32) -> f64 {
    let plan = plan::<O>(1 << log2, 1 << log2, OutputKind::Count);
    plan.cost().total().total_bytes() as f64 / 1e6
}

/// Though numbers are long enough here; and half of that, and less, where ciphertexts are slim.
#[test]
fn sends_no_more_than_published() {
    assert!(megabytes::<Iknp>(12) <= 36.9, "{}", megabytes::<Iknp>(12));
    for (log2, published) in TABLE_3 {
        let silent = megabytes::<Silent>(log2);
        assert!(silent <= published / 2.0, "{silent} at 2^{log2}");
        // Longer numbers, by a bit for each factor of two.
        let ratio = megabytes::<Iknp>(log2) / published;
        assert!((0.8..1.2).contains(&ratio), "{ratio} at 2^{log2}");
    }
}

/// What is sent with the paper's parameters: k = η = 40, m = 1.44·k·3n, 1.27n bins, ciphertexts of κ + η
/// bits. It is m·(κ + η) + 1.27n·η·(κ + 4·(κ + η)) bits, and not the formula of §6.1, whose second
/// term lacks an η.
#[test]
fn reproduces_the_published_table() {
    const ETA: u32 = 40;
    for (log2, published) in TABLE_3 {
        let n = 2_f64.powi(log2 as i32);
        let bands = Bands(Shape {
            slices: ETA,
            slice_cells: (1.44 * 3.0 * n) as u32,
        });
        let strings = Strings(MaskLength { bits: ETA });
        let tests = Tests {
            form: Tagged { tag_bits: ETA },
            bits: ETA as usize,
            opened_bits: 128,
            key: [0; 32],
        };
        let lanes = (1.27 * n) as usize;
        let filter = bands.bytes(|cells| strings.bytes(cells) + Iknp::chosen_receiver_bytes(cells));
        let ours = filter + tests.sender_bytes::<Iknp>(lanes) + tests.receiver_bytes::<Iknp>(lanes);
        let (kappa, eta) = (128.0, f64::from(ETA));
        let formula =
            1.44 * 3.0 * n * eta * (kappa + eta) + 1.27 * n * eta * (kappa + 4.0 * (kappa + eta));
        // The first bit takes no ciphertexts.
        let expected = formula - 1.27 * n * 4.0 * (kappa + eta);
        let ratio = 8.0 * ours as f64 / expected;
        assert!((0.99..1.01).contains(&ratio), "{ratio} at 2^{log2}");
        let ratio = formula / 8e6 / published;
        assert!((0.92..1.0).contains(&ratio), "{ratio} at 2^{log2}");
    }
}

/// The number of cells follows from what the receiver sees, and is a third of the paper's for as many
/// slices.
#[test]
fn numbers_and_filter_are_as_large_as_the_budget_demands() {
    for (log2, slices, bits) in [(8, 54, 50), (12, 58, 54), (16, 62, 58), (20, 66, 62)] {
        let request = Request::rows(1 << log2, 1 << log2).unwrap();
        let params = Params::<Iknp>::new(&request).unwrap();
        assert_eq!(params.number_bits, bits, "at 2^{log2}");
        assert_eq!(params.filter.slices, slices, "at 2^{log2}");
        let ratio = params.filter.cells() as f64 / f64::from(slices) / f64::from(1 << log2);
        assert!((1.40..1.45).contains(&ratio), "{ratio}");
    }
}

#[test]
fn all_that_is_sent_is_uniform() {
    assert_all_is_uniform(&*plan::<Iknp>(600, 500, OutputKind::Rows));
}

/// What the receiver sees of the filter, and the numbers that it takes from it: uniform, whether all its
/// items are shared or none are. The targets of a bin are what shared items sum up to.
#[test]
fn what_the_receiver_sees_is_the_same_for_shared_items_and_others() {
    let request = Request::rows(600, 600).unwrap();
    let params = Params::<Iknp>::new(&request).unwrap();
    let receivers = items(0..600, 16);
    let input = Input {
        items: &receivers,
        columns: &[],
        joint_seed: &[7; 32],
    };
    let Items::Short(receivers) = &receivers else {
        panic!("short digests")
    };
    for first in [0, 600, 300] {
        let Items::Short(senders) = items(first..first + 600, 16) else {
            panic!("short digests")
        };
        let (keys, cells) = (params.keys(&input), params.cells(&input));
        let bins = keys.bins(&senders).concat();
        let mut targets = vec![Block::ZERO; params.lanes()];
        Prg::from_os().fill(&mut targets);
        let values = bins.iter().map(|bin| targets[*bin as usize]).collect();
        let (all, rng) = (0..params.filter.cells() as usize, &mut Prg::from_os());
        let (bands, of_senders) = (params.bands().ranges(), keys.of_all(&senders));
        let filter = GarbledBloomFilter::new(&cells, &of_senders, values, bands, rng);
        let mut strings = vec![Block::ZERO; all.len()];
        filter.unwrap().add(&all, &mut strings);

        let table = crate::bins::Table::build(&keys.bins(receivers), params.bins, 40).unwrap();
        let own = keys.of_placed(receivers, &table);
        let mut numbers = vec![Block::ZERO; own.len()];
        cells.add(&all, &own, &strings, &mut numbers);
        let mut chosen = vec![Block::ZERO; all.len().div_ceil(128)];
        cells.mark(&all, &own, &mut chosen);
        let seen = all.filter(|cell| chosen[cell / 128].bit(cell % 128));
        let seen: Vec<Block> = seen.map(|cell| strings[cell]).collect();
        for bit in [0, 17, 41, 49] {
            let nibbles = |blocks: &[Block]| -> Vec<usize> {
                let nibbles = blocks.iter().map(|block| (block.0 >> bit) as usize & 15);
                nibbles.collect()
            };
            assert_uniform(nibbles(&seen).into_iter());
            // Four lists, to have enough of them.
            let sums = [0, 4, 8, 12].map(|shift| {
                let shifted: Vec<_> = numbers.iter().map(|sum| Block(sum.0 >> shift)).collect();
                nibbles(&shifted)
            });
            assert_uniform(sums.concat().into_iter());
        }
        for (placed, number) in table.placed.iter().zip(numbers) {
            let is_shared = (first..first + 600).contains(&placed.item);
            assert_eq!(targets[placed.bin as usize] == number, is_shared);
        }
    }
}

#[test]
fn a_filter_that_is_too_small_is_bad_luck_and_not_a_wrong_result() {
    let mut params = Params::<Iknp>::new(&Request::rows(30, 30).unwrap()).unwrap();
    params.filter.slice_cells = 2;
    let (sending, receiving) = memory::pair();
    let items = items(0..30, 16);
    let [sent, received] = run(&params, (&items, sending), (&items, receiving));
    assert!(matches!(sent, Err(Error::BadLuck(_, 40))), "{sent:?}");
    assert_eq!(received.unwrap_err().kind(), crate::ErrorKind::Channel);
}
