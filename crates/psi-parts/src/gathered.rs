//! What the parts gave, in one place.

use psijoin_circuit::{Bits, Lanes};
use psijoin_psi::{ColumnSum, Error, Output, OutputKind, Shares, TotalShares};

use crate::{Done, Session, SharedPlaces};

/// The party's results of the parts that are done, rows and payloads aside.
pub struct Gathered {
    pub(crate) items: u64,
    columns: Vec<ColumnSum>,
    totals: TotalShares,
    shares: Vec<Option<Shares>>,
    /// `true` if a payload could not be opened.
    pub(crate) has_wrong_payloads: bool,
}

impl Gathered {
    /// Makes an empty state, for a party of this session.
    pub fn new(session: &Session<'_>) -> Self {
        let output = &session.request().output;
        let columns = output.columns();
        let totals = output
            .groups()
            .map_or(columns.total(), |groups| groups.totals() * groups.count());
        Self {
            items: 0,
            columns: vec![ColumnSum::default(); columns.of(session.role())],
            totals: TotalShares::zero(totals),
            shares: Vec::new(),
            has_wrong_payloads: false,
        }
    }

    /// Takes what a part gave, once for each part, in any order. Its [rows](Done::rows) and
    /// [places](Done::places) stay where they are.
    ///
    /// # Errors
    /// If the sum of some numbers of a column could exceed 64 bits.
    pub fn take(&mut self, part: u32, done: Done) -> Result<(), Error> {
        self.count(done.items, &done.columns)?;
        match done.output {
            Some(output) => self.keep(part, output, done.count),
            None => self.has_wrong_payloads = true,
        }
        Ok(())
    }

    /// Counts the items of a part, and the bounds of its columns' sums.
    pub(crate) fn count(&mut self, items: u64, columns: &[ColumnSum]) -> Result<(), Error> {
        self.items += items;
        let mut sums = self.columns.iter_mut().zip(columns);
        sums.try_for_each(|(sum, column)| sum.merge(column))
    }

    /// Keeps what a part gave, and its share of the number of shared items.
    pub(crate) fn keep(&mut self, part: u32, output: Output, count: u64) {
        self.totals.count = self.totals.count.wrapping_add(count);
        match output {
            Output::Totals(totals) => self.totals.add(&totals),
            Output::Shares(shares) => {
                let part = part as usize;
                if self.shares.len() <= part {
                    self.shares.resize_with(part + 1, || None);
                }
                self.shares[part] = Some(shares);
            }
            // The sender learns nothing of rows.
            _ => {}
        }
    }

    /// Returns shares of the totals of all parts.
    pub(crate) fn totals(&self) -> &TotalShares {
        &self.totals
    }

    /// Returns shares of the bits of all parts.
    pub(crate) fn bits(&self) -> Vec<Bits> {
        let parts = self.shares.iter().flatten();
        parts.map(|part| part.membership().clone()).collect()
    }

    /// Returns the rows at the shared places of all parts, in order.
    pub(crate) fn rows(&self, shared: &[SharedPlaces]) -> Vec<u32> {
        let parts = self.shares.iter().flatten().map(Shares::items);
        let rows = (parts.zip(shared))
            .filter_map(|(places, shared)| shared.rows(places.unwrap_or_default()));
        let mut rows: Vec<u32> = rows.flatten().collect();
        rows.sort_unstable();
        rows
    }

    /// Returns the output that needs no opening.
    pub(crate) fn output(&self, kind: &OutputKind) -> Output {
        match kind {
            OutputKind::Totals(_) | OutputKind::GroupTotals(_) => {
                Output::Totals(self.totals.clone())
            }
            OutputKind::Shares(columns) => Output::Shares(self.all_shares(columns.total())),
            _ => Output::Nothing,
        }
    }

    /// Returns the shares of all parts, one part after the other.
    fn all_shares(&self, columns: usize) -> Shares {
        let (mut bits, mut sums) = (Bits::default(), vec![Vec::new(); columns]);
        let mut items: Option<Vec<Option<u32>>> = None;
        for part in self.shares.iter().flatten() {
            bits.append(part.membership());
            for (all, column) in sums.iter_mut().zip(part.columns()) {
                all.extend_from_slice(column);
            }
            if let Some(of_part) = part.items() {
                items.get_or_insert_default().extend_from_slice(of_part);
            }
        }
        Shares::new(bits, sums, items)
    }
}
