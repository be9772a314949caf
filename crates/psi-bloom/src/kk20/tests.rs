use psijoin_block::{Block, Prg};
use psijoin_channel::{joint_seed::JointSeed, memory};
use psijoin_ot::extension::Extension;
use psijoin_params::bloom::Shape;
use psijoin_psi::{ErrorKind, Output, Role, masks::MaskLength, ots::Ots};
use psijoin_psi_functions::bins::Table;
use psijoin_psi_testing::{
    items, output, run_items,
    uniform::{assert_all_is_uniform, assert_uniform},
};

use super::*;
use crate::{filter_ot::FilterOt, garbled_transfer::GarbledTransfer, psm_co::Tests};

fn plan(protocol: &Protocol, sender: u64, receiver: u64, output: OutputKind) -> Plan {
    let request = Request::rows(sender, receiver).unwrap().output(output);
    protocol.plan(&request).unwrap()
}

fn tagged(sender: u64, receiver: u64) -> Params<Tagged> {
    Params::new(&Request::rows(sender, receiver).unwrap(), Extension::IKNP).unwrap()
}

/// Runs both parties; 30 of 100 and of 70 items are shared.
fn computed(protocol: &Protocol, kind: OutputKind) -> Output {
    let plan = plan(protocol, 100, 70, kind);
    output(&plan, &items(0..100, &plan), &items(70..140, &plan)).unwrap()
}

#[test]
fn each_output_of_the_same_sets() {
    for protocol in [&KK20, &KK20_SILENT] {
        let rows = Output::Rows((0..30).collect());
        assert_eq!(computed(protocol, OutputKind::Rows), rows);
        assert_eq!(computed(protocol, OutputKind::Count), Output::Count(30));
        for (least, reached) in [(0, true), (30, true), (31, false)] {
            let output = computed(protocol, OutputKind::Threshold(least));
            assert_eq!(output, Output::Reached(reached), "{least}");
        }
    }
}

/// KK20 Table 3, ℓ = 32: MB (10^6 bytes) for sets of n items each.
const TABLE_3: [(u32, f64); 5] = [(8, 2.4), (10, 9.4), (12, 36.9), (14, 147.4), (16, 589.0)];

fn megabytes(protocol: &Protocol, log2: u32) -> f64 {
    let plan = plan(protocol, 1 << log2, 1 << log2, OutputKind::Count);
    plan.cost().total.total_bytes() as f64 / 1e6
}

/// Though numbers are long enough here; and half of that, and less, where ciphertexts are slim.
#[test]
fn sends_no_more_than_published() {
    let ours = megabytes(&KK20, 12);
    assert!(ours <= 36.9, "{ours}");
    for (log2, published) in TABLE_3 {
        let silent = megabytes(&KK20_SILENT, log2);
        assert!(silent <= published / 2.0, "{silent} at 2^{log2}");
        // Longer numbers, by a bit for each factor of two.
        let ratio = megabytes(&KK20, log2) / published;
        assert!((0.8..1.2).contains(&ratio), "{ratio} at 2^{log2}");
    }
}

/// The bits sent with the paper's parameters: k = η = 40, m = 1.44·k·3n, 1.27n bins, ciphertexts of
/// κ + η bits. It is m·(κ + η) + 1.27n·η·(κ + 4·(κ + η)) bits, and not the formula of §6.1, whose
/// second term lacks an η.
#[test]
fn reproduces_the_published_table() {
    const ETA: u32 = 40;
    for (log2, published) in TABLE_3 {
        let n = 2_f64.powi(log2 as i32);
        let shape = Shape {
            slices: ETA,
            slice_cells: (1.44 * 3.0 * n) as u32,
        };
        let transfer = GarbledTransfer {
            filter: FilterOt::new(shape, Extension::IKNP),
            strings: MaskLength { bits: ETA },
        };
        let tests = Tests {
            form: Tagged { tag_bits: ETA },
            bits: ETA as usize,
            opened_bits: 128,
            key: [0; 32],
        };
        let lanes = (1.27 * n) as usize;
        let ots = Ots {
            extension: Extension::IKNP,
            sender: Role::Sender,
        };
        let said = transfer.conversation().then(tests.conversation(ots, lanes));
        let ours = said.traffic().total_bytes();
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

/// The number of cells follows from what the receiver sees, and is a third of the paper's for as
/// many slices.
#[test]
fn numbers_and_filter_are_as_large_as_the_budget_demands() {
    for (log2, slices, bits) in [(8, 54, 50), (12, 58, 54), (16, 62, 58), (20, 66, 62)] {
        let transfer = tagged(1 << log2, 1 << log2).opprf.transfer;
        let shape = transfer.filter.shape;
        assert_eq!(transfer.strings.bits, bits, "at 2^{log2}");
        assert_eq!(shape.slices, slices, "at 2^{log2}");
        let ratio = shape.cells() as f64 / f64::from(slices) / f64::from(1 << log2);
        assert!((1.40..1.45).contains(&ratio), "{ratio}");
    }
}

#[test]
fn all_that_is_sent_is_uniform() {
    assert_all_is_uniform(&plan(&KK20, 600, 500, OutputKind::Rows));
}

/// The receiver's view of the filter, and the numbers that it takes from it, are uniform, whether
/// all its items are shared or none are. Shared items sum up to the targets of their bins.
#[test]
fn what_the_receiver_sees_is_the_same_for_shared_items_and_others() {
    let params = tagged(600, 600);
    let plan = tagged(600, 600).plan();
    let receivers = items(0..600, &plan);
    let joint_seed = &JointSeed::insecure_fixed([7; 32]);
    let receivers = receivers.digests();
    let transfer = params.opprf.transfer;
    for first in [0, 600, 300] {
        let senders = items(first..first + 600, &plan);
        let keys = params.keys(joint_seed);
        let cells = params.opprf.cells(joint_seed.key(CELLS));
        let bins = keys.bins(senders.digests()).concat();
        let mut targets = vec![Block::ZERO; params.lanes()];
        Prg::from_os().fill(&mut targets);
        let values = bins.iter().map(|bin| targets[*bin as usize]).collect();
        let (all, rng) = (
            0..transfer.filter.shape.cells() as usize,
            &mut Prg::from_os(),
        );
        let of_senders = keys.of_all(senders.digests());
        let filter = transfer.garble(&cells, of_senders.as_digests(), values, 40, rng);
        let mut strings = vec![Block::ZERO; all.len()];
        filter.unwrap().add(&all, &mut strings);

        let table = Table::build(&keys.bins(receivers), params.bins, 40).unwrap();
        let own = keys.of_placed(receivers, &table);
        let own = own.as_digests();
        let mut numbers = vec![Block::ZERO; own.len()];
        cells.add(&all, own, &strings, &mut numbers);
        let mut chosen = vec![Block::ZERO; all.len().div_ceil(128)];
        cells.mark(&all, own, &mut chosen);
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
    let mut params = tagged(30, 30);
    params.opprf.transfer.filter.shape.slice_cells = 2;
    let plan = params.plan();
    let (sending, receiving) = memory::pair();
    let items = items(0..30, &plan);
    let (sent, received) = run_items(&plan, (&items, sending), (&items, receiving));
    assert!(matches!(sent, Err(Error::BadLuck(_, 43))), "{sent:?}");
    assert_eq!(received.unwrap_err().kind(), ErrorKind::Channel);
}
