//! Keeping shares in a file.

use psijoin::{
    JointSeed, Role, Shares,
    share_file::{self as file, Column, File},
};
use psijoin_table::{RowItems, atomic_file::AtomicFile};

use crate::{exit::Failure, guard};

/// What is kept with the shares of a run.
pub(super) struct Kept<'a> {
    pub(super) role: Role,
    pub(super) columns: Vec<Column>,
    pub(super) joint_seed: &'a JointSeed,
    /// Which row of the receiver's table holds which item.
    pub(super) rows: Option<RowItems>,
    /// How many items this party has.
    pub(super) items: u64,
}

impl Kept<'_> {
    /// Writes the file.
    pub(super) fn write(self, shares: Shares, whole: &AtomicFile) -> Result<(), Failure> {
        let rows = self.rows.map(|rows| {
            let first = first_rows(&rows, self.items as usize);
            let places = shares.items().into_iter().flatten();
            places
                .map(|item| item.map(|item| first[item as usize]))
                .collect()
        });
        let content = File {
            session: file::session(self.joint_seed),
            role: self.role,
            columns: self.columns,
            shares,
            rows,
        };
        let cannot = |source| Failure::Shares {
            path: whole.path().to_owned(),
            source,
        };
        let staged = whole
            .stage(|output| content.write(output))
            .map_err(cannot)?;
        guard::lift_deadline();
        staged.commit().map_err(cannot)
    }
}

/// The first row of each item.
fn first_rows(rows: &RowItems, items: usize) -> Vec<u64> {
    let mut first = vec![None; items];
    for (row, item) in (0..).zip(rows.iter()) {
        if let Some(item) = item {
            first[item as usize].get_or_insert(row);
        }
    }
    first.into_iter().flatten().collect()
}
