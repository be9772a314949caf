//! The facts about a portion of a table, and about all of it.

use psijoin_key::{
    BadKeys, KeyColumns, KeySpec, Kind, Look, Meaning, Observed, Places, Seen, Suspicion,
};
use psijoin_source::Doubt;

use super::{
    bytes::{Unread, write_text},
    fault::PortionFault,
    labels::ColumnLabels,
    offered::Offered,
};
use crate::{
    Beside, Counts, Error, LabelColumn, Labels, Numbers, TableKeys,
    keys::{Position, doubts_about_keys},
    numbers::Totals,
};

/// The layout of facts as bytes.
const LAYOUT: u32 = 3;

/// The facts about a portion of a table, or about several together. Nothing in it is a key or a
/// number of a row; sums of the columns of numbers are, and the values of the columns of labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortionFacts {
    /// The way in which the key is read, in words.
    key: String,
    rows: u64,
    left_out: u64,
    /// Rows with a cell of the key that cannot be read.
    bad: u64,
    positions: Vec<Position>,
    numbers: Vec<(String, Totals)>,
    /// Of each column of labels.
    labels: Vec<ColumnLabels>,
    /// The columns that it can give.
    pub(super) offered: Option<Offered>,
}

/// The facts about a whole table that was read in portions.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Whole {
    /// The number of rows of each sort.
    pub counts: Counts,
    /// The meanings of the key's columns.
    pub meanings: Vec<Meaning>,
    /// The looks of the key's columns, of those that are known.
    pub looks: Vec<Look>,
    /// The number of rows with a cell of the key that cannot be read, and counts as null.
    pub bad_rows: u64,
    /// The doubts about the table, without places of rows.
    pub doubts: Vec<Doubt>,
    /// The columns of numbers, by name.
    pub numbers: Vec<(String, Numbers)>,
    /// The columns of labels, and their labels.
    pub labels: Vec<(LabelColumn, Labels)>,
    /// The columns that it can give.
    pub offered: Option<Offered>,
}

impl PortionFacts {
    /// Returns the facts about a portion, given its keys, how they are to be read, and the columns
    /// beside them.
    pub(super) fn of(keys: &TableKeys, key: &KeySpec, beside: Beside<'_>) -> Self {
        let counts = keys.counts();
        let named = beside.numbers.iter().cloned();
        let has_keys = counts.distinct > 0;
        let labels = beside.labels.iter().zip(keys.labels());
        Self {
            key: key.normalization(),
            rows: counts.rows,
            left_out: counts.left_out,
            bad: keys.bad_cells().rows,
            positions: keys.positions().to_vec(),
            numbers: named.zip(keys.totals().iter().cloned()).collect(),
            labels: labels
                .map(|(column, labels)| ColumnLabels::of(column, labels, has_keys))
                .collect(),
            offered: None,
        }
    }

    /// Adds the facts about other rows of the table.
    ///
    /// # Errors
    /// If the key was read in another way, or the columns of numbers, of labels or those to give
    /// are others; if the sum of a column's positive numbers overflows, or that of its negative
    /// ones. These facts are of no use then.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.check_key(&other.key)?;
        let names = |facts: &Self| {
            facts
                .numbers
                .iter()
                .map(|(name, _)| name.clone())
                .collect::<Vec<_>>()
        };
        if self.positions.len() != other.positions.len() || names(self) != names(other) {
            return Err(PortionFault::OtherNumbers.into());
        }
        if self.labels.len() != other.labels.len() {
            return Err(PortionFault::OtherLabels.into());
        }
        for (own, other) in self.labels.iter_mut().zip(&other.labels) {
            own.merge(other)?;
        }
        match (&mut self.offered, &other.offered) {
            (Some(own), Some(other)) => own.merge(other)?,
            (None, None) => {}
            _ => return Err(PortionFault::OtherGiven.into()),
        }
        self.rows += other.rows;
        self.left_out += other.left_out;
        self.bad += other.bad;
        for (own, other) in self.positions.iter_mut().zip(&other.positions) {
            own.kind = one_kind(&own.name, own.kind, other.kind)?;
            own.seen.merge(other.seen);
            for (own, other) in own.suspected.iter_mut().zip(other.suspected) {
                *own += other;
            }
        }
        for ((name, own), (_, other)) in self.numbers.iter_mut().zip(&other.numbers) {
            own.merge(other).map_err(|fault| PortionFault::Overflow {
                column: name.clone(),
                fault,
            })?;
        }
        Ok(())
    }

    /// Returns the facts about all of these portions, which are a table together.
    ///
    /// # Errors
    /// As [`Self::merge`], and if there is none.
    pub fn of_all(portions: impl IntoIterator<Item = Self>) -> Result<Self, Error> {
        let mut portions = portions.into_iter();
        let mut all = portions.next().ok_or(PortionFault::None)?;
        portions.try_for_each(|portion| all.merge(&portion))?;
        Ok(all)
    }

    /// Returns the facts about the whole table, once those of all portions are here, if its key is
    /// this one, and it has this number of distinct keys.
    ///
    /// # Errors
    /// If the key was read in another way; if too many cells of it cannot be read; if there cannot
    /// be so many distinct keys; if columns are to be given, and rows repeat a key and may not.
    pub fn whole(&self, key: &KeySpec, distinct: u64) -> Result<Whole, Error> {
        self.check_key(&key.normalization())?;
        self.check_bad_keys(key.bad_keys())?;
        let with_key = self.rows - self.left_out;
        let duplicates = with_key.checked_sub(distinct);
        let duplicates = duplicates.filter(|_| (distinct == 0) == (with_key == 0));
        let duplicates = duplicates.ok_or(PortionFault::Distinct { distinct, with_key })?;
        let offered = self.offered.as_ref();
        offered.map_or(Ok(()), |offered| offered.check_repeats(duplicates))?;
        let named = self.positions.iter().map(|at| (at.name.clone(), at.kind));
        let mut observed = KeyColumns::new(key, named).observed();
        for (observed, position) in observed.iter_mut().zip(&self.positions) {
            observed.add(position.seen);
        }
        let looks = observed.iter().filter_map(Observed::look).collect();
        let suspected = self.suspected(&observed);
        let meanings: Vec<Meaning> = observed.into_iter().map(Observed::finish).collect();
        let numbers = self.numbers.iter();
        Ok(Whole {
            counts: Counts {
                rows: self.rows,
                left_out: self.left_out,
                duplicates,
                distinct,
            },
            doubts: doubts_about_keys(&meanings, self.rows > 0 && with_key == 0)
                .chain(suspected)
                .collect(),
            meanings,
            looks,
            bad_rows: self.bad,
            numbers: numbers
                .map(|(name, totals)| (name.clone(), totals.known()))
                .collect(),
            labels: self.labels.iter().map(ColumnLabels::known).collect(),
            offered: self.offered.clone(),
        })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the number of rows with a key.
    pub fn rows_with_key(&self) -> u64 {
        self.rows - self.left_out
    }

    /// Returns the doubts about fields of the key. Nobody knows in which rows of the table they
    /// are.
    fn suspected(&self, observed: &[Observed]) -> Vec<Doubt> {
        let mut doubts = Vec::new();
        for (position, observed) in self.positions.iter().zip(observed) {
            for (suspicion, count) in Suspicion::ALL.into_iter().zip(position.suspected) {
                let is_told = suspicion != Suspicion::ZeroLed || observed.are_filled_up_in_part();
                if count > 0 && is_told {
                    doubts.push(Doubt::Fields {
                        column: position.name.clone(),
                        suspicion,
                        places: Places::unnamed(count),
                    });
                }
            }
        }
        doubts
    }

    fn check_key(&self, here: &str) -> Result<(), PortionFault> {
        match self.key == here {
            true => Ok(()),
            false => Err(PortionFault::OtherKey {
                here: here.to_owned(),
                there: self.key.clone(),
            }),
        }
    }

    fn check_bad_keys(&self, bad_keys: BadKeys) -> Result<(), PortionFault> {
        let (bad, rows) = (self.bad, self.rows);
        match bad_keys {
            BadKeys::Null { at_most_percent }
                if bad as f64 * 100.0 > at_most_percent * rows as f64 =>
            {
                Err(PortionFault::TooManyBadKeys {
                    bad,
                    rows,
                    at_most_percent,
                })
            }
            _ => Ok(()),
        }
    }

    /// Returns them as bytes, for the process that merges them.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self {
            key,
            rows,
            left_out,
            bad,
            positions,
            numbers,
            labels,
            offered,
        } = self;
        let mut bytes = LAYOUT.to_le_bytes().to_vec();
        write_text(&mut bytes, key);
        bytes.extend(
            [rows, left_out, bad]
                .into_iter()
                .flat_map(|count| count.to_le_bytes()),
        );
        bytes.extend((positions.len() as u32).to_le_bytes());
        for position in positions {
            position.write(&mut bytes);
        }
        bytes.extend((numbers.len() as u32).to_le_bytes());
        for (name, totals) in numbers {
            write_text(&mut bytes, name);
            bytes.extend(totals.to_bytes());
        }
        bytes.extend((labels.len() as u32).to_le_bytes());
        labels.iter().for_each(|column| column.write(&mut bytes));
        bytes.push(offered.is_some().into());
        offered.iter().for_each(|offered| offered.write(&mut bytes));
        bytes
    }

    /// Reads what [`Self::to_bytes`] has written.
    ///
    /// # Errors
    /// [`PortionFault::Facts`] if it is something else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut unread = Unread(bytes);
        let facts = Self::read(&mut unread).filter(|_| unread.0.is_empty());
        Ok(facts.ok_or(PortionFault::Facts)?)
    }

    fn read(unread: &mut Unread<'_>) -> Option<Self> {
        if unread.u32()? != LAYOUT {
            return None;
        }
        let facts = Self {
            key: unread.text()?,
            rows: unread.u64()?,
            left_out: unread.u64()?,
            bad: unread.u64()?,
            positions: unread.several(Position::read)?,
            numbers: unread
                .several(|unread| Some((unread.text()?, Totals::from_bytes(&unread.chunk()?)?)))?,
            labels: unread.several(ColumnLabels::read)?,
            offered: match unread.chunk()? {
                [0] => None,
                [1] => Some(Offered::read(unread)?),
                _ => return None,
            },
        };
        (facts.left_out <= facts.rows).then_some(facts)
    }
}

impl Position {
    fn write(&self, bytes: &mut Vec<u8>) {
        write_text(bytes, &self.name);
        let kind = Kind::ALL.iter().position(|kind| *kind == self.kind);
        bytes.push(kind.expect("one of all kinds") as u8);
        bytes.extend(self.seen.to_bytes());
        bytes.extend(self.suspected.iter().flat_map(|count| count.to_le_bytes()));
    }

    fn read(unread: &mut Unread<'_>) -> Option<Self> {
        let name = unread.text()?;
        let [kind] = unread.chunk()?;
        let mut position = Self {
            name,
            kind: *Kind::ALL.get(usize::from(kind))?,
            seen: unread.by(Seen::split_off)?,
            suspected: Default::default(),
        };
        for count in &mut position.suspected {
            *count = unread.u64()?;
        }
        Some(position)
    }
}

/// Returns the kind of a column that has these in two portions. A portion without any value may not
/// know.
fn one_kind(column: &str, one: Kind, other: Kind) -> Result<Kind, PortionFault> {
    match (one, other) {
        (Kind::Null, kind) | (kind, Kind::Null) => Ok(kind),
        (one, other) if one == other => Ok(one),
        (one, other) => Err(PortionFault::OtherKind {
            column: column.to_owned(),
            one,
            other,
        }),
    }
}
