//! What is known of a table that lies elsewhere.

use psijoin::Role;
use psijoin_table::{
    Counts, Doubt, LabelColumn, Labels, Look, Meaning, Numbers, ShareError,
    portions::{LabelPlaces, Offered, PortionFault, Whole, hashes_of},
    share::{GivenColumns, RepeatedKeys},
};

use super::TABLE;
use crate::{
    ElsewhereFault, Error,
    columns::OwnColumns,
    own_table::{Facts, OwnTable},
    party::Party,
    trade::{Give, Given},
};

/// The facts about a table that lies elsewhere, as far as the other party is told of it.
#[derive(Debug, Clone, Default)]
pub struct TableFacts {
    /// Its rows, and its distinct keys: the items of the set.
    pub counts: Counts,
    /// The meaning of each column of the key.
    pub meanings: Vec<Meaning>,
    /// The looks of the key's columns, of those that are known.
    pub looks: Vec<Look>,
    /// The rows without a key that have a cell of it that cannot be read.
    pub bad_rows: u64,
    /// The doubts about it. They are told before anybody is met.
    pub doubts: Vec<Doubt>,
    /// The columns of numbers, by name, without their values.
    pub numbers: Vec<(String, Numbers)>,
    /// The columns of labels, and their labels.
    pub labels: Vec<(LabelColumn, Labels)>,
    /// The columns that it can give.
    pub offered: Option<Offered>,
}

/// Those about a table that was read in portions.
impl From<Whole> for TableFacts {
    fn from(whole: Whole) -> Self {
        Self {
            counts: whole.counts,
            meanings: whole.meanings,
            looks: whole.looks,
            bad_rows: whole.bad_rows,
            doubts: whole.doubts,
            numbers: whole.numbers,
            labels: whole.labels,
            offered: whole.offered,
        }
    }
}

impl TableFacts {
    /// Returns the labels of these columns, in their order.
    pub(super) fn of_labels(&self, own: &OwnColumns) -> Result<Vec<Labels>, Error> {
        let of = |column: LabelColumn| {
            let found = self.labels.iter().find(|(known, _)| *known == column);
            let Some((_, labels)) = found else {
                return Err(ElsewhereFault::Labels(column.name).into());
            };
            match LabelPlaces::new(&[hashes_of(&labels.texts)]) {
                Some(_) => Ok(labels.clone()),
                None => Err(ElsewhereFault::EqualHashes(column.name).into()),
            }
        };
        own.labels_to_read().into_iter().map(of).collect()
    }

    /// Returns the numbers of these columns, in their order.
    pub(super) fn of_columns(&self, own: &OwnColumns) -> Result<Vec<Numbers>, Error> {
        let of = |name: String| {
            let found = self.numbers.iter().find(|(known, _)| *known == name);
            let found = found.map(|(_, numbers)| numbers.clone());
            found.ok_or_else(|| ElsewhereFault::Numbers(name).into())
        };
        own.to_read().into_iter().map(of).collect()
    }

    /// Returns what is known of the columns that can be given, and those that this party gives.
    pub(super) fn offer(&self, give: &Give) -> Result<(&Offered, GivenColumns), Error> {
        let known = |offered: &&Offered| {
            let columns = offered.columns();
            let is_known = |wanted: &String| columns.names().any(|name| name == wanted);
            offered.repeated() == give.repeated && give.columns.iter().all(is_known)
        };
        let offered = self.offered.as_ref().filter(known);
        let offered =
            offered.ok_or_else(|| psijoin_table::Error::from(PortionFault::OtherGiven))?;
        Ok((offered, offered.columns().take(&give.columns)?))
    }
}

/// A table that lies elsewhere.
pub(super) struct Unseen<'a> {
    pub(super) facts: &'a TableFacts,
    pub(super) numbers: &'a [Numbers],
    pub(super) labels: &'a [Labels],
}

impl OwnTable for Unseen<'_> {
    fn facts(&self) -> Facts<'_> {
        Facts {
            counts: self.facts.counts,
            meanings: &self.facts.meanings,
            numbers: self.numbers,
            labels: self.labels,
        }
    }

    fn check_alignable(&self, _: RepeatedKeys) -> Result<(), Error> {
        Err(ElsewhereFault::JobOrOrder.into())
    }

    fn offer(&mut self, give: &Give) -> Result<GivenColumns, Error> {
        Ok(self.facts.offer(give)?.1)
    }

    fn row_bytes(
        &mut self,
        _: &Party<'_>,
        give: &Give,
        columns: &GivenColumns,
    ) -> Result<usize, Error> {
        let bytes = self.facts.offer(give)?.0.row_bytes(columns);
        match give.row_bytes {
            Some(most_bytes) if bytes > most_bytes => {
                let row = ShareError::LongRow {
                    file: TABLE.to_owned(),
                    row: None,
                    most_bytes,
                };
                Err(psijoin_table::Error::from(row).into())
            }
            Some(most_bytes) => Ok(most_bytes),
            None => Ok(bytes),
        }
    }

    fn take(&mut self, _: Role, _: &Given) -> Result<(), Error> {
        Ok(())
    }
}
