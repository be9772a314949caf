//! Keeping shares in a file.

use psijoin::{
    JointSeed, Role, Shares,
    share_file::{self as file, Column, File},
};
use psijoin_files::AtomicFile;

use crate::table::RowOf;
use crate::{Error, Watcher, event::Event};

/// The facts that are kept with the shares of a run.
pub(super) struct Kept<'a> {
    pub(super) role: Role,
    pub(super) columns: Vec<Column>,
    pub(super) joint_seed: &'a JointSeed,
    /// The row of the receiver's table for each item.
    pub(super) row_of: Option<RowOf<'a>>,
}

impl Kept<'_> {
    /// Writes the file.
    pub(super) fn write(
        self,
        shares: Shares,
        whole: &AtomicFile,
        watcher: &dyn Watcher,
    ) -> Result<(), Error> {
        let rows = self.row_of.map(|row_of| {
            let places = shares.items().into_iter().flatten();
            places
                .map(|item| item.map(|item| row_of.row(item)))
                .collect()
        });
        let content = File {
            session: file::session(self.joint_seed),
            role: self.role,
            columns: self.columns,
            shares,
            rows,
        };
        let cannot = |source| Error::Shares {
            path: whole.path().to_owned(),
            source,
        };
        let staged = whole
            .stage(|output| content.write(output))
            .map_err(cannot)?;
        watcher.hear(Event::HandsOut);
        staged.commit().map_err(cannot)
    }
}
