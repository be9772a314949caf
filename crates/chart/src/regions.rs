//! Cells of a grid that belong together.

use std::{collections::BTreeSet, ops::Range};

/// Cells that hang together and have the same winner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) winner: usize,
    /// Rows and columns.
    pub(crate) cells: BTreeSet<(usize, usize)>,
}

/// Returns the regions of a grid: each cell is in one.
pub(crate) fn regions(cells: &[Vec<usize>]) -> Vec<Region> {
    let all = cells.iter().enumerate();
    let mut left: BTreeSet<(usize, usize)> = all
        .flat_map(|(row, cells)| (0..cells.len()).map(move |column| (row, column)))
        .collect();
    let mut regions = Vec::new();
    while let Some(first) = left.pop_first() {
        let winner = cells[first.0][first.1];
        let mut region = BTreeSet::from([first]);
        let mut ends = vec![first];
        while let Some((row, column)) = ends.pop() {
            let neighbours = [
                (row + 1, column),
                (row.wrapping_sub(1), column),
                (row, column + 1),
                (row, column.wrapping_sub(1)),
            ];
            for next in neighbours {
                let same = |next: &(usize, usize)| cells[next.0][next.1] == winner;
                if left.contains(&next) && same(&next) {
                    left.remove(&next);
                    region.insert(next);
                    ends.push(next);
                }
            }
        }
        regions.push(Region {
            winner,
            cells: region,
        });
    }
    regions
}

/// A rectangle of cells with the same winner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) winner: usize,
    pub(crate) rows: Range<usize>,
    pub(crate) columns: Range<usize>,
}

/// Returns a grid as few rectangles: stretches of rows, put together if the same ones follow each
/// other.
pub(crate) fn blocks(cells: &[Vec<usize>]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for (row, cells) in cells.iter().enumerate() {
        let mut start = 0;
        for stretch in cells.chunk_by(|a, b| a == b) {
            let (winner, columns) = (stretch[0], start..start + stretch.len());
            start = columns.end;
            let before = blocks.iter_mut().find(|block| {
                block.winner == winner && block.columns == columns && block.rows.end == row
            });
            match before {
                Some(block) => block.rows.end += 1,
                None => blocks.push(Block {
                    winner,
                    rows: row..row + 1,
                    columns,
                }),
            }
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_goes_around_corners_but_not_across_them() {
        let regions = regions(&[vec![0, 0, 1], vec![1, 0, 1], vec![0, 1, 1]]);
        let found: Vec<_> = regions.iter().map(|r| (r.winner, r.cells.len())).collect();
        assert_eq!(found, [(0, 3), (1, 4), (1, 1), (0, 1)]);
    }

    #[test]
    fn equal_stretches_above_each_other_are_one_block() {
        let found = blocks(&[vec![0, 0, 1], vec![0, 0, 1], vec![1, 1, 1]]);
        let block = |winner, rows, columns| Block {
            winner,
            rows,
            columns,
        };
        assert_eq!(
            found,
            [
                block(0, 0..2, 0..2),
                block(1, 0..2, 2..3),
                block(1, 2..3, 0..3)
            ]
        );
    }
}
