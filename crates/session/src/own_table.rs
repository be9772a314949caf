//! A party's table, as far as the other party is told of it.

use psijoin::Role;
use psijoin_table::{
    Counts, Labels, Meaning, Numbers,
    share::{GivenColumns, RepeatedKeys},
};

use crate::{
    Error,
    party::Party,
    trade::{Give, Given},
};

/// A party's table, as far as the other party is told of it.
pub(crate) trait OwnTable {
    fn facts(&self) -> Facts<'_>;

    /// Checks that rows can be lined up with those of the other party.
    ///
    /// # Errors
    /// If rows repeat a key and may not.
    fn check_alignable(&self, repeated: RepeatedKeys) -> Result<(), Error>;

    /// Returns the columns that are given.
    ///
    /// # Errors
    /// If the table lacks one, or rows repeat a key and may not.
    fn offer(&mut self, give: &Give) -> Result<GivenColumns, Error>;

    /// Returns the bytes that a row of these columns takes, which were [offered](Self::offer) and
    /// taken: the number that the user sets, if all rows fit.
    ///
    /// # Errors
    /// If the table cannot be read, or a row does not fit.
    fn row_bytes(
        &mut self,
        party: &Party<'_>,
        give: &Give,
        columns: &GivenColumns,
    ) -> Result<usize, Error>;

    /// Takes note of the columns that come with the rows of a party in this role.
    ///
    /// # Errors
    /// If they cannot be written.
    fn take(&mut self, role: Role, given: &Given) -> Result<(), Error>;
}

/// The facts about a table that the other party is told.
#[derive(Clone, Copy)]
pub(crate) struct Facts<'a> {
    pub(crate) counts: Counts,
    /// One per column of the key.
    pub(crate) meanings: &'a [Meaning],
    /// One per [column to read](OwnColumns::to_read); their values are not looked at.
    pub(crate) numbers: &'a [Numbers],
    /// One per [column of labels](OwnColumns::labels_to_read).
    pub(crate) labels: &'a [Labels],
}
