//! Looks at the fields of the key while a table is read.

use std::{borrow::Cow, collections::HashSet};

use psijoin_key::{KeyColumn, KeyColumns, Rule};

/// The facts about a column of the key.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InspectedColumn {
    /// The column's name.
    pub name: String,
    /// In how many rows it is null or, once normalised, empty.
    pub empty: u64,
    /// The characters of the longest field, once it is normalised.
    pub longest: usize,
    /// The rules in their order, and how many fields each changed.
    pub rules: Vec<(Rule, u64)>,
}

/// The findings of an inspector about a table.
#[derive(Default)]
pub(crate) struct Findings {
    /// The columns of the key, in its order.
    pub(crate) columns: Vec<InspectedColumn>,
    /// The fingerprints and the canonical fields of the keys that were to be kept, in the order of
    /// their first rows.
    pub(crate) kept: Vec<([u8; 32], Vec<String>)>,
}

/// The distinct keys that are kept.
pub(crate) enum Kept {
    /// The first, this many.
    First(usize),
    /// Those with these fingerprints.
    Known(HashSet<[u8; 32]>),
}

/// Looks at the fields of one row after the other.
pub(super) struct Inspector<'a> {
    key: &'a KeyColumns<'a>,
    which: &'a Kept,
    columns: Vec<InspectedColumn>,
    row: Vec<String>,
    kept: Vec<Vec<String>>,
    /// The keys in `kept`.
    known: HashSet<Vec<String>>,
}

impl<'a> Inspector<'a> {
    /// Returns an inspector of this key, which keeps some.
    pub(super) fn new(key: &'a KeyColumns<'a>, which: &'a Kept) -> Self {
        let column = |column: &KeyColumn<'_>| InspectedColumn {
            name: column.name.clone(),
            empty: 0,
            longest: 0,
            rules: column.rules.iter().map(|rule| (rule.clone(), 0)).collect(),
        };
        let columns: Vec<_> = key.columns().iter().map(column).collect();
        Self {
            key,
            which,
            row: vec![String::new(); columns.len()],
            columns,
            kept: Vec::new(),
            known: HashSet::new(),
        }
    }

    /// Looks at the row's field at this position of the key. A field that a rule cannot read is
    /// left to the code that normalises it after this.
    pub(super) fn field(&mut self, position: usize, text: &str, country: &str) {
        let column = &mut self.columns[position];
        let mut text = text.to_owned();
        for (rule, changed) in &mut column.rules {
            let Ok(normalized) = rule.apply(Cow::Borrowed(&text), country) else {
                return;
            };
            if normalized != text {
                *changed += 1;
                text = normalized.into_owned();
            }
        }
        column.empty += u64::from(text.is_empty());
        column.longest = column.longest.max(text.chars().count());
        self.row[position] = text;
    }

    /// Ends a row that has a key.
    pub(super) fn finish_row(&mut self) {
        let is_wanted = match self.which {
            Kept::First(most) => self.kept.len() < *most,
            Kept::Known(wanted) => wanted.contains(&self.key.fingerprint(&self.row)),
        };
        if is_wanted && !self.known.contains(&self.row) {
            self.known.insert(self.row.clone());
            self.kept.push(self.row.clone());
        }
    }

    /// Adds what another inspector has seen of the rows that follow.
    pub(super) fn merge(&mut self, next: Self) {
        for (column, next) in self.columns.iter_mut().zip(next.columns) {
            column.empty += next.empty;
            column.longest = column.longest.max(next.longest);
            for ((_, changed), (_, more)) in column.rules.iter_mut().zip(next.rules) {
                *changed += more;
            }
        }
        for row in next.kept {
            self.row = row;
            self.finish_row();
        }
    }

    /// Returns what was seen.
    pub(super) fn finish(self) -> Findings {
        Findings {
            columns: self.columns,
            kept: self
                .kept
                .into_iter()
                .map(|fields| (self.key.fingerprint(&fields), fields))
                .collect(),
        }
    }
}
