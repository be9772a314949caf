//! The reading of key columns.

use std::borrow::Cow;

use psijoin_block::blake3_rows::ContextKey;

use crate::{
    KeySpec,
    fingerprint::{CONTEXT, fingerprint_of, fingerprint_of_number},
    meaning::Kind,
    observed::Observed,
    rules::Rule,
    suspicion::{Glance, Suspicion},
};

/// The rules by which the columns of a key are read: shared by all threads.
pub struct KeyColumns<'a> {
    pub(crate) columns: Vec<KeyColumn<'a>>,
    /// `true` if the columns' names precede the rows.
    has_header: bool,
    /// `true` if the key is one column of numbers of few bits.
    pub(crate) is_number: bool,
    pub(crate) context: ContextKey,
}

/// A column at a position of the key.
pub struct KeyColumn<'a> {
    /// Its name in errors.
    pub name: String,
    kind: Kind,
    /// The rules that are applied.
    pub rules: Cow<'a, [Rule]>,
    /// `true` if they make a hash of it in the end.
    is_hashed: bool,
    /// Passes most of its texts, if they are compared as they are.
    pub(crate) glance: Option<Glance>,
}

impl KeyColumn<'_> {
    /// Returns the kind of its values before any rule.
    pub fn kind(&self) -> Kind {
        self.kind
    }
}

impl<'a> KeyColumns<'a> {
    /// Makes the columns of a key: those at each position have these names and kinds.
    pub fn new(key: &'a KeySpec, columns: impl IntoIterator<Item = (String, Kind)>) -> Self {
        let columns = key.rules_by_position().into_iter().zip(columns);
        Self {
            columns: columns
                .map(|(asked, (name, kind))| KeyColumn {
                    name,
                    kind,
                    rules: meant_for(kind, asked),
                    is_hashed: asked.last() == Some(&Rule::Hash),
                    glance: (kind == Kind::Text && asked.is_empty()).then(Glance::new),
                })
                .collect(),
            has_header: false,
            is_number: key.item_bits().is_some(),
            context: ContextKey::new(CONTEXT),
        }
    }

    /// Expects the header of a text within its rows once more.
    pub fn below_header(mut self, has_header: bool) -> Self {
        for column in self.columns.iter_mut().filter(|_| has_header) {
            if let Some(glance) = &mut column.glance {
                glance.below_header(&column.name);
            }
        }
        Self { has_header, ..self }
    }

    /// Returns whether the columns' names stand before the rows.
    pub fn has_header(&self) -> bool {
        self.has_header
    }

    /// Returns the suspicion about a text, if the column holds texts.
    pub(crate) fn suspicion(&self, position: usize, text: &str) -> Option<Suspicion> {
        let column = &self.columns[position];
        let of_text = || {
            let name = self.has_header.then_some(&*column.name);
            let hidden = || column.is_hashed && Suspicion::is_unseen(text.trim());
            Suspicion::of_field(text, name).or_else(|| hidden().then_some(Suspicion::Unseen))
        };
        (column.kind == Kind::Text).then(of_text).flatten()
    }

    /// Returns the columns in the key's order.
    pub fn columns(&self) -> &[KeyColumn<'a>] {
        &self.columns
    }

    /// Returns the fingerprint of a row with these canonical fields, none of which is empty.
    pub fn fingerprint(&self, fields: &[String]) -> [u8; 32] {
        match self.is_number {
            true => fingerprint_of_number(&fields[0]),
            false => fingerprint_of(fields),
        }
    }

    /// Returns for each position the observer of its fields' meaning.
    pub fn observed(&self) -> Vec<Observed> {
        let columns = self.columns.iter();
        columns
            .map(|column| Observed::new(column.kind, &column.rules))
            .collect()
    }
}

/// Returns the rules as they are meant for fields of this kind. No format and no unit is meant for
/// typed dates, and bytes are in no other column: such rules are there because one command may read
/// tables of both sorts.
fn meant_for(kind: Kind, rules: &[Rule]) -> Cow<'_, [Rule]> {
    let is_moment = kind.is_of_dates() || kind == Kind::UniversalTimestamp;
    let meant = |rule: &Rule| match rule {
        Rule::Date(_) if kind.is_of_dates() => Some(Rule::Date(None)),
        Rule::ExcelDate if is_moment => Some(Rule::Date(None)),
        Rule::UnixTime(_) if is_moment => Some(Rule::Timestamp),
        Rule::Text if kind != Kind::Binary => None,
        other => Some(other.clone()),
    };
    rules.iter().filter_map(meant).collect()
}
