//! Looks at the fields of the key while a table is read.

use std::{borrow::Cow, collections::HashSet};

use crate::{
    key::{KeyColumn, KeyColumns},
    normalize::Rule,
};

/// What happened to a column of the key.
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

/// What an inspector has seen of a table.
#[derive(Default)]
pub(crate) struct Findings {
    /// The columns of the key, in its order.
    pub(crate) columns: Vec<InspectedColumn>,
    /// The canonical fields of the first distinct keys, in the order of their rows.
    pub(crate) first: Vec<Vec<String>>,
}

/// Looks at the fields of one row after the other.
pub(super) struct Inspector {
    columns: Vec<InspectedColumn>,
    row: Vec<String>,
    first: Vec<Vec<String>>,
    /// What is in `first`.
    known: HashSet<Vec<String>>,
    most: usize,
}

impl Inspector {
    /// An inspector of this key, which keeps the first `most` distinct keys.
    pub(super) fn new(key: &KeyColumns<'_>, most: usize) -> Self {
        let column = |column: &KeyColumn<'_>| InspectedColumn {
            name: column.name.clone(),
            empty: 0,
            longest: 0,
            rules: column.rules.iter().map(|rule| (rule.clone(), 0)).collect(),
        };
        let columns: Vec<_> = key.columns().iter().map(column).collect();
        Self {
            row: vec![String::new(); columns.len()],
            columns,
            first: Vec::new(),
            known: HashSet::new(),
            most,
        }
    }

    /// Looks at the row's field at this position of the key. A field that a rule cannot read is
    /// left to the code that normalises it after this.
    pub(super) fn field(&mut self, position: usize, text: &str) {
        let column = &mut self.columns[position];
        let mut text = text.to_owned();
        for (rule, changed) in &mut column.rules {
            let Ok(normalized) = rule.apply(Cow::Borrowed(&text)) else {
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
        if self.first.len() < self.most && !self.known.contains(&self.row) {
            self.known.insert(self.row.clone());
            self.first.push(self.row.clone());
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
        for row in next.first {
            self.row = row;
            self.finish_row();
        }
    }

    /// What was seen.
    pub(super) fn finish(self) -> Findings {
        Findings {
            columns: self.columns,
            first: self.first,
        }
    }
}
