use psijoin_channel::joint_seed::JointSeed;
use psijoin_encode::DigestVec;
use psijoin_psi::{Items, Plan, Request};
use psijoin_psi_testing::uniform::assert_nothing_shows;

use super::*;

fn params(extension: Extension, sender: u64, receiver: u64) -> Params {
    Params::new(&Request::rows(sender, receiver).unwrap(), extension).unwrap()
}

fn plan(extension: Extension, n: u64) -> Plan {
    params(extension, n, n).plan()
}

fn bits_per_item(extension: Extension, n: u64) -> f64 {
    plan(extension, n).cost().total.total_bytes() as f64 * 8.0 / n as f64
}

/// Returns the bits of PSZ14's Table 6: 1.44·n·κ² + n·(σ + 2·log2 n).
fn paper(log_n: u32) -> f64 {
    1.44 * 128.0 * 128.0 + 40.0 + 2.0 * f64::from(log_n)
}

#[test]
fn sends_what_the_paper_says() {
    // The table has the MB of 2^10, 2^12, …, where an MB is 2^20 bytes.
    for (log_n, published) in [(10, 2.9), (12, 11.6), (14, 46.2), (16, 184.9), (18, 739.7)] {
        let megabytes = paper(log_n) * f64::from(1 << log_n) / 8.0 / f64::from(1 << 20);
        assert!((megabytes - published).abs() < 0.06, "{megabytes}");
        let ratio = bits_per_item(Extension::IKNP, 1 << log_n) / paper(log_n);
        assert!((0.99..1.01).contains(&ratio), "{ratio} at 2^{log_n}");
    }
}

#[test]
fn silent_ot_takes_a_twentieth_of_it() {
    for log_n in [14, 16, 18, 20, 22, 24] {
        let ratio = bits_per_item(Extension::SILENT, 1 << log_n) / paper(log_n);
        assert!(ratio < 0.05, "{ratio} at 2^{log_n}");
    }
    let ratio = bits_per_item(Extension::SILENT, 1 << 20) / paper(20);
    assert!(ratio < 0.0125, "{ratio}");
}

/// The size of the filter depends on the receiver's set alone.
#[test]
fn a_large_sender_costs_no_cells() {
    let shape = |sender| params(Extension::IKNP, sender, 1000).filter.shape;
    assert_eq!(shape(10), shape(1 << 20));
}

#[test]
fn masks_and_transfers_show_nothing_of_items_that_are_not_shared() {
    let params = params(Extension::IKNP, 1 << 14, 1 << 14);
    let masks = params.masks;
    assert_nothing_shows(&params.plan(), masks);
}

/// A sender with more items than the receiver's filter has cells: sums of its items are related,
/// whatever the strings, and the receiver could guess for which.
#[test]
fn masks_of_items_whose_sums_are_related_are_not() {
    const ITEMS: usize = 500;
    let filter = params(Extension::IKNP, ITEMS as u64, 1).filter;
    let items = (0..ITEMS as u128).map(u128::to_le_bytes).collect();
    let items = Items::from(DigestVec::Short(items));
    let input = Input {
        items: &items,
        columns: &[],
        payloads: &[],
        joint_seed: &JointSeed::insecure_fixed([5; 32]),
    };
    let digests = items.digests();
    let band = 0..filter.shape.cells() as usize;
    assert!(band.len() < ITEMS, "more items than cells");
    let cells = filter.cells(CELLS, &input);

    // The cells of each item, and then the item; in rows of echelon form, until no cell is left.
    const CELL_BLOCKS: usize = 3;
    let mut rows: Vec<[Block; 7]> = Vec::new();
    let mut related = (0..ITEMS).filter_map(|item| {
        let mut row = [Block::ZERO; 7];
        cells.mark(
            &band,
            digests.slice(item..item + 1),
            &mut row[..CELL_BLOCKS],
        );
        row[CELL_BLOCKS + item / 128] = Block(1 << (item % 128));
        let first = |row: &[Block; 7]| (0..band.len()).find(|i| row[i / 128].bit(i % 128));
        for other in &rows {
            let pivot = first(other).expect("rows that are kept have cells");
            if row[pivot / 128].bit(pivot % 128) {
                row.iter_mut().zip(other).for_each(|(a, b)| *a ^= *b);
            }
        }
        if first(&row).is_none() {
            return Some(row);
        }
        rows.push(row);
        None
    });
    let related = related.next().expect("more items than cells");
    let members = (0..ITEMS).filter(|item| related[CELL_BLOCKS + item / 128].bit(item % 128));
    let members: Vec<usize> = members.collect();

    let mut strings = vec![Block::ZERO; band.len()];
    psijoin_block::Prg::from_seed(Block(1)).fill(&mut strings);
    let mut sums = vec![Block::ZERO; digests.len()];
    cells.add(&band, digests, &strings, &mut sums);
    let masks = outputs(digests, &sums, &input);
    assert_eq!(members.iter().fold(0, |sum, i| sum ^ sums[*i].0), 0);
    assert_ne!(members.iter().fold(0, |sum, i| sum ^ masks[*i]), 0);
}
