//! The key: its columns, their normalisation, and the fingerprint of their values.

pub(crate) mod error;

use std::{borrow::Cow, mem};

use arrow_schema::SchemaRef;
use psijoin_block::blake3_rows::{ContextKey, derive_key};

use crate::{
    BadKeys, Error, KeyError, KeyFault, ReadError, Source,
    arrow::{can_be_key, check_meanings, first_of_unfit_type, unknown_key},
    header::Header,
    meaning::{Kind, Meaning, Observed},
    normalize::{self, ColumnRules, Rule},
    suspicion::{Glance, Suspicion},
};

/// Which columns are the key, and how each is normalised.
#[derive(Debug, Clone, Default)]
pub struct KeySpec {
    columns: Vec<String>,
    rules: Vec<ColumnRules>,
    bad_keys: BadKeys,
}

impl KeySpec {
    /// A key of these columns, in this order: both parties must give theirs in the same order,
    /// while the names may differ. The second column of a file is also `column:2`, unless another
    /// is called so. Without any column, the key is the table's only column,
    /// which for [`Format::Lines`](crate::Format::Lines) is called
    /// [`LINE_COLUMN`](crate::LINE_COLUMN).
    ///
    /// # Errors
    /// If a column is given twice, or rules are given for a column outside the key.
    pub fn new(columns: Vec<String>, rules: Vec<ColumnRules>) -> Result<Self, Error> {
        unique(columns.iter())?;
        unique(rules.iter().map(|rules| &rules.column))?;
        // Without columns the only one's name is not known before the table is.
        let known = if columns.is_empty() { 1 } else { columns.len() };
        let outside = rules.iter().find(|rules| !columns.contains(&rules.column));
        match outside {
            Some(outside) if !columns.is_empty() || rules.len() > known => {
                Err(Error::Key(KeyError::RuleOutsideKey {
                    column: outside.column.clone(),
                    key: columns,
                }))
            }
            _ => Ok(Self {
                columns,
                rules,
                bad_keys: BadKeys::default(),
            }),
        }
    }

    /// Sets what becomes of cells of the key that have no canonical text.
    pub fn with_bad_keys(self, bad_keys: BadKeys) -> Self {
        Self { bad_keys, ..self }
    }

    /// What becomes of cells that have no canonical text.
    pub fn bad_keys(&self) -> BadKeys {
        self.bad_keys
    }

    /// Checks that a table has the key's columns, without reading more than its header.
    ///
    /// # Errors
    /// If the header cannot be read, or a column is missing or not unique; if a Parquet file tells
    /// that the column's values can be no key, or cannot be read.
    pub fn check(&self, source: &Source) -> Result<(), Error> {
        let names = source.columns()?;
        let header = source.header(&names);
        let key = self.resolve(&header)?;
        let countries = self.resolve_countries(&header)?;
        let columns: Vec<_> = key
            .into_iter()
            .chain(countries.into_iter().flatten())
            .collect();
        match source.layout() {
            Some(_) => Ok(()),
            None => check_types(source, &source.schema()?, &columns),
        }
    }

    /// The columns' names, in their order; none if the only column of the table is the key.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// What errors call the columns of the key in a table of these columns: as the user does.
    pub(crate) fn shown_names(&self, header: &Header<'_>) -> Vec<String> {
        match self.columns.is_empty() {
            true => header.names.to_vec(),
            false => self.columns.clone(),
        }
    }

    /// How many columns the key has.
    pub fn width(&self) -> usize {
        self.columns.len().max(1)
    }

    /// What the columns of the key mean if they are text, as far as that is known before a value is
    /// seen.
    pub fn meanings_of_text(&self) -> Vec<Meaning> {
        let rules = self.rules_by_position().into_iter();
        rules
            .map(|rules| Observed::new(Kind::Text, rules).finish())
            .collect()
    }

    /// How each column of the key is normalised, in words, as in
    /// `mail: trim, lowercase (Unicode 17.0.0); zip: as it is`; and what becomes of cells that have
    /// no canonical text, if they are not refused, as in `bad keys: null`.
    pub fn normalization(&self) -> String {
        let only = ["the only column".to_owned()];
        let names = match self.columns.is_empty() {
            true => &only[..],
            false => &self.columns,
        };
        let of = |(name, rules): (&String, &[Rule])| {
            let rules: Vec<_> = rules.iter().map(Rule::to_string).collect();
            match rules.is_empty() {
                true => format!("{name}: as it is"),
                false => format!("{name}: {}", rules.join(", ")),
            }
        };
        let columns = names.iter().zip(self.rules_by_position()).map(of);
        let bad_keys = match self.bad_keys {
            BadKeys::Refuse => None,
            null => Some(format!("bad keys: {null}")),
        };
        let texts: Vec<_> = columns.chain(bad_keys).collect();
        texts.join("; ")
    }

    fn rules_by_position(&self) -> Vec<&[Rule]> {
        if self.columns.is_empty() {
            return vec![self.rules.first().map_or(&[][..], |only| &only.rules)];
        }
        let of = |column: &String| self.rules.iter().find(|rules| rules.column == *column);
        self.columns
            .iter()
            .map(|column| of(column).map_or(&[][..], |found| &found.rules))
            .collect()
    }

    /// Finds, for each position of the key, the column that has the countries of its telephone
    /// numbers.
    pub(crate) fn resolve_countries(
        &self,
        header: &Header<'_>,
    ) -> Result<Vec<Option<usize>>, Error> {
        let column = |rules: &[Rule]| {
            let mut columns = rules.iter().filter_map(Rule::country_column);
            columns.next().map(|column| header.find(column)).transpose()
        };
        self.rules_by_position().into_iter().map(column).collect()
    }

    /// Finds the key's columns in a table of these columns.
    pub(crate) fn resolve(&self, header: &Header<'_>) -> Result<Vec<usize>, Error> {
        if self.columns.is_empty() {
            if header.names.len() != 1 {
                return Err(Error::Read(ReadError::NoKey {
                    file: header.file.to_owned(),
                    columns: header.shown(),
                }));
            }
            // The only rule that may be given must be for this column.
            for rules in &self.rules {
                header.find(&rules.column)?;
            }
            return Ok(vec![0]);
        }
        header.find_all(&self.columns)
    }
}

/// Checks that these typed columns can be read, and be a key, as far as the schema tells.
pub(crate) fn check_types(source: &Source, schema: &SchemaRef, key: &[usize]) -> Result<(), Error> {
    source.check_readable(schema, key)?;
    check_meanings(source.name(), schema, key, unknown_key)?;
    match first_of_unfit_type(schema, key, can_be_key) {
        Some((column, data_type)) => Err(Error::Read(ReadError::KeyType {
            file: source.name().to_owned(),
            column,
            data_type,
        })),
        None => Ok(()),
    }
}

fn unique<'a>(mut names: impl Iterator<Item = &'a String> + Clone) -> Result<(), Error> {
    while let Some(name) = names.next() {
        if names.clone().any(|other| other == name) {
            return Err(Error::Key(KeyError::Repeated(name.clone())));
        }
    }
    Ok(())
}

/// The BLAKE3 context under which fingerprints are derived.
const CONTEXT: &str = "psijoin 2026-01 table key fingerprint v1";

/// How the columns of a key are read: the same for all threads.
pub(crate) struct KeyColumns<'a> {
    columns: Vec<KeyColumn<'a>>,
    /// Whether the columns' names stand before the rows.
    has_header: bool,
    context: ContextKey,
}

/// A column at a position of the key.
pub(crate) struct KeyColumn<'a> {
    /// What errors call it.
    pub(crate) name: String,
    kind: Kind,
    /// The rules that are applied.
    pub(crate) rules: Cow<'a, [Rule]>,
    /// Whether they make a hash of it in the end.
    is_hashed: bool,
    /// Passes most of its texts, if they are compared as they are.
    glance: Option<Glance>,
}

impl<'a> KeyColumns<'a> {
    /// The columns at each position of the key have these names and kinds.
    pub(crate) fn new(key: &'a KeySpec, columns: impl IntoIterator<Item = (String, Kind)>) -> Self {
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
            context: ContextKey::new(CONTEXT),
        }
    }

    /// Expects the header of a text within its rows once more.
    pub(crate) fn below_header(mut self, has_header: bool) -> Self {
        for column in self.columns.iter_mut().filter(|_| has_header) {
            if let Some(glance) = &mut column.glance {
                glance.below_header(&column.name);
            }
        }
        Self { has_header, ..self }
    }

    pub(crate) fn has_header(&self) -> bool {
        self.has_header
    }

    /// What is suspicious about a text, if that is what the column holds.
    fn suspicion(&self, position: usize, text: &str) -> Option<Suspicion> {
        let column = &self.columns[position];
        let of_text = || {
            let name = self.has_header.then_some(&*column.name);
            let hidden = || column.is_hashed && Suspicion::is_unseen(text.trim());
            Suspicion::of_field(text, name).or_else(|| hidden().then_some(Suspicion::Unseen))
        };
        (column.kind == Kind::Text).then(of_text).flatten()
    }

    /// The columns in the key's order.
    pub(crate) fn columns(&self) -> &[KeyColumn<'a>] {
        &self.columns
    }

    /// The fingerprint of a row with these canonical fields, none of which is empty.
    pub(crate) fn fingerprint(&self, fields: &[String]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
        for field in fields {
            hasher.update(&(field.len() as u64).to_le_bytes());
            hasher.update(field.as_bytes());
        }
        hasher.finalize().into()
    }

    /// For each position, what finds out what its fields mean.
    pub(crate) fn observed(&self) -> Vec<Observed> {
        let columns = self.columns.iter();
        columns
            .map(|column| Observed::new(column.kind, &column.rules))
            .collect()
    }
}

/// The rules as they are meant for fields of this kind. No format and no unit is meant for typed
/// dates, and bytes are in no other column: such rules are there because one command may read
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

/// As many joined keys are hashed at once.
const BATCH: usize = 256;

/// The longest joined key that is hashed with others, one in each lane.
const SHORT: usize = 64;

/// Turns the key fields of one row after the other into fingerprints.
pub(crate) struct Fingerprinter<'a> {
    key: &'a KeyColumns<'a>,
    observed: Vec<Observed>,
    /// The fields of the row so far, each after its length, and how many bytes that is.
    block: [u8; SHORT],
    used: usize,
    /// The fields, once they are longer than a block.
    joined: Vec<u8>,
    complete: bool,
    /// The joined keys whose fingerprints are still to be made.
    blocks: Vec<[u8; SHORT]>,
    lengths: Vec<u8>,
    /// The fingerprints of those among them that are longer than a block, and their places.
    long: Vec<(usize, [u8; 32])>,
    hasher: blake3::Hasher,
    fingerprints: Vec<[u8; 32]>,
}

impl<'a> Fingerprinter<'a> {
    pub(crate) fn new(key: &'a KeyColumns<'a>) -> Self {
        Self {
            key,
            observed: key.observed(),
            block: [0; SHORT],
            used: 0,
            joined: Vec::new(),
            complete: true,
            blocks: Vec::with_capacity(BATCH),
            lengths: Vec::with_capacity(BATCH),
            long: Vec::new(),
            hasher: blake3::Hasher::new_derive_key(CONTEXT),
            fingerprints: Vec::new(),
        }
    }

    /// Appends the row's field at this position of the key, and tells what is suspicious about it.
    /// A null is the empty text. So is the `country` that goes with the field, if the key has no
    /// column for it.
    pub(crate) fn field(
        &mut self,
        position: usize,
        text: Cow<'_, str>,
        country: &str,
    ) -> Result<Option<Suspicion>, KeyFault> {
        let suspicion = self.key.suspicion(position, &text);
        let rules = &self.key.columns[position].rules;
        let text = match rules.is_empty() {
            true => text,
            false => normalize::normalize(rules, text, country)?,
        };
        let is_zero_led = self.observed[position].see(&text);
        self.complete &= !text.is_empty();
        self.join(&text);
        if text.is_empty() {
            return Ok(None);
        }
        if is_zero_led {
            return Ok(suspicion.or(Some(Suspicion::ZeroLed)));
        }
        Ok(suspicion.or_else(|| Suspicion::is_unseen(&text).then_some(Suspicion::Unseen)))
    }

    /// Appends the row's field at this position of the key if there is nothing to do for it, and
    /// nothing to tell of it; says whether that is so. Otherwise nothing has happened.
    #[inline]
    pub(crate) fn passing_field(&mut self, position: usize, text: &str) -> bool {
        let glance = self.key.columns[position].glance.as_ref();
        let passes = glance.is_some_and(|glance| glance.passes(text))
            && self.observed[position].has_seen_enough();
        if passes {
            self.join(text);
        }
        passes
    }

    /// Takes a field that cannot be read for a null.
    pub(crate) fn bad_field(&mut self) {
        self.complete = false;
    }

    /// Appends a field. The length before each makes the joined key unambiguous.
    #[inline]
    fn join(&mut self, text: &str) {
        const LENGTH: usize = size_of::<u64>();
        let length = (text.len() as u64).to_le_bytes();
        let before = self.used;
        self.used += LENGTH + text.len();
        if let Some(room) = self.block.get_mut(before..self.used) {
            let (of_length, of_text) = room.split_at_mut(LENGTH);
            of_length.copy_from_slice(&length);
            of_text.copy_from_slice(text.as_bytes());
            return;
        }
        if before <= SHORT {
            self.joined.extend_from_slice(&self.block[..before]);
        }
        self.joined.extend_from_slice(&length);
        self.joined.extend_from_slice(text.as_bytes());
    }

    /// Ends a row, and says whether it has a key: it has none if a field of its key is empty.
    pub(crate) fn finish_row(&mut self) -> bool {
        let complete = mem::replace(&mut self.complete, true);
        if complete {
            self.queue();
        }
        self.block = [0; SHORT];
        self.used = 0;
        self.joined.clear();
        complete
    }

    /// Ends a row with the key that another one has, whose fingerprint this is.
    pub(crate) fn finish_known_row(&mut self, fingerprint: [u8; 32]) {
        if !self.blocks.is_empty() {
            self.hash();
        }
        self.fingerprints.push(fingerprint);
    }

    /// Adds what was seen of fields at each position.
    pub(crate) fn observe(&mut self, seen: Vec<Observed>) {
        for (observed, seen) in self.observed.iter_mut().zip(seen) {
            observed.merge(seen);
        }
    }

    fn queue(&mut self) {
        if self.used <= SHORT {
            self.lengths.push(self.used as u8);
        } else {
            let hash = self.hasher.reset().update(&self.joined).finalize();
            self.long.push((self.blocks.len(), hash.into()));
            self.lengths.push(0);
        }
        // What is not used of it is zero. That of a long key stands in for nothing.
        self.blocks.push(self.block);
        if self.blocks.len() == BATCH {
            self.hash();
        }
    }

    /// Makes the fingerprints of the keys that wait.
    fn hash(&mut self) {
        let before = self.fingerprints.len();
        self.fingerprints
            .resize(before + self.blocks.len(), [0; 32]);
        let made = &mut self.fingerprints[before..];
        derive_key(&self.key.context, &self.blocks, &self.lengths, made);
        for (place, fingerprint) in self.long.drain(..) {
            made[place] = fingerprint;
        }
        self.blocks.clear();
        self.lengths.clear();
    }

    /// The fingerprints of the rows that have a key, in their order, and what was seen of the
    /// fields at each position.
    pub(crate) fn finish(mut self) -> (Vec<[u8; 32]>, Vec<Observed>) {
        self.hash();
        (self.fingerprints, self.observed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{Delimited, Layout};
    use proptest::prelude::*;

    fn spec(columns: &[&str], rules: &[&str]) -> Result<KeySpec, Error> {
        KeySpec::new(
            columns.iter().map(|&column| column.to_owned()).collect(),
            rules.iter().map(|rules| rules.parse().unwrap()).collect(),
        )
    }

    fn header(columns: &[&str]) -> Vec<String> {
        columns.iter().map(|&column| column.to_owned()).collect()
    }

    /// The fingerprints of rows of fields, as many for each row; `None` for a row without a key.
    fn fingerprints(rows: &[Vec<String>]) -> Vec<Option<[u8; 32]>> {
        let width = rows[0].len();
        let columns: Vec<_> = (0..width).map(|index| index.to_string()).collect();
        let key = KeySpec::new(columns.clone(), vec![]).unwrap();
        let columns = columns.into_iter().map(|name| (name, Kind::Text));
        let key = KeyColumns::new(&key, columns);
        let mut fingerprinter = Fingerprinter::new(&key);
        let has_key = |row: &Vec<String>| {
            for (position, field) in row.iter().enumerate() {
                fingerprinter.field(position, field.into(), "").unwrap();
            }
            fingerprinter.finish_row()
        };
        let have_keys: Vec<bool> = rows.iter().map(has_key).collect();
        let mut made = fingerprinter.finish().0.into_iter();
        have_keys
            .into_iter()
            .map(|has_key| has_key.then(|| made.next().unwrap()))
            .collect()
    }

    fn fingerprint(fields: &[String]) -> Option<[u8; 32]> {
        fingerprints(&[fields.to_vec()])[0]
    }

    #[test]
    fn normalization_is_told_in_words() {
        let unicode = |(major, minor, micro): (u8, u8, u8)| format!("{major}.{minor}.{micro}");
        let lower = unicode(char::UNICODE_VERSION);
        let nfc = unicode(unicode_normalization::UNICODE_VERSION);
        let told = |columns: &[&str], rules: &[&str]| spec(columns, rules).unwrap().normalization();
        assert_eq!(
            told(&["mail", "zip"], &["zip=digits", "mail=email"]),
            format!("mail: trim, lowercase (Unicode {lower}); zip: digits")
        );
        assert_eq!(
            told(&["a", "b"], &["a=nfkc+number"]),
            format!("a: nfkc (Unicode {nfc}), number; b: as it is")
        );
        assert_eq!(
            told(&["a"], &["a=date:%d.%m.%Y+timestamp"]),
            "a: date:%d.%m.%Y, timestamp"
        );
        assert_eq!(told(&[], &[]), "the only column: as it is");
        assert_eq!(
            told(&[], &["value=trim+phone"]),
            "the only column: trim, phone"
        );
        let rules = ["a=phone:DE", "b=timestamp:Europe/Berlin", "c=casefold+time"];
        let text = told(&["a", "b", "c"], &rules);
        assert!(text.starts_with("a: phone:DE ("), "{text}");
        assert!(text.contains("; b: timestamp:Europe/Berlin ("), "{text}");
        assert!(text.contains("; c: casefold (Unicode "), "{text}");
        assert!(text.ends_with("), time"), "{text}");
    }

    #[test]
    fn misuse_is_named() {
        let message = |result: Result<KeySpec, Error>| result.unwrap_err().to_string();
        assert_eq!(
            message(spec(&["a", "b", "a"], &[])),
            "the column `a` is given twice"
        );
        assert_eq!(
            message(spec(&["a"], &["a=trim", "a=nfc"])),
            "the column `a` is given twice"
        );
        for columns in [&["a"][..], &[]] {
            assert_eq!(
                message(spec(columns, &["b=trim", "c=trim"])),
                "normalisation is given for `b`, which is not a key column"
            );
        }
    }

    /// Finds a key in the header of `t`, whose columns are names for sure or not.
    fn resolve(key: &KeySpec, names: &[&str], are_names: bool) -> Result<Vec<usize>, String> {
        let header = Header {
            file: "t",
            names: &header(names),
            layout: (!are_names).then_some(Layout::Delimited(Delimited::CSV)),
            has_positions: true,
        };
        key.resolve(&header).map_err(|error| error.to_string())
    }

    #[test]
    fn columns_are_found_by_name() {
        let table = ["id", "name", "name"];
        let of =
            |columns: &[&str], are_names| resolve(&spec(columns, &[]).unwrap(), &table, are_names);
        assert_eq!(of(&["id"], true).unwrap(), [0]);
        assert_eq!(
            of(&["name"], true).unwrap_err(),
            "t has more than one column `name`: the name of a column that is read must be unique (rename one of them)"
        );
        assert_eq!(
            of(&["nam"], true).unwrap_err(),
            "t has no column `nam`; its columns are `id`, `name`, `name`"
        );
        assert_eq!(
            of(&[], true).unwrap_err(),
            "t has 3 columns: its key columns have to be named; its columns are `id`, `name`, `name`"
        );
        assert_eq!(
            of(&["nam"], false).unwrap_err(),
            "t has no column `nam`; it has 3 columns"
        );
        assert_eq!(
            of(&[], false).unwrap_err(),
            "t has 3 columns: its key columns have to be named"
        );
    }

    #[test]
    fn an_only_column_needs_no_name() {
        let only = |rule| resolve(&spec(&[], &[rule]).unwrap(), &["value"], true);
        assert_eq!(only("value=trim").unwrap(), [0]);
        assert_eq!(
            only("line=trim").unwrap_err(),
            "t has no column `line`; its only column is `value`"
        );
        let unsure = resolve(&spec(&["x"], &[]).unwrap(), &["value"], false);
        assert_eq!(unsure.unwrap_err(), "t has no column `x`; it has 1 column");
    }

    #[test]
    fn long_column_lists_are_cut() {
        let wide: Vec<String> = (0..23).map(|index| format!("c{index}")).collect();
        let wide: Vec<&str> = wide.iter().map(String::as_str).collect();
        let error = resolve(&spec(&["x"], &[]).unwrap(), &wide, true).unwrap_err();
        assert!(error.ends_with("`c18`, `c19` and 3 more"));
    }

    #[test]
    fn fingerprint_is_the_documented_one() {
        let expected = blake3::derive_key(
            "psijoin 2026-01 table key fingerprint v1",
            b"\x02\0\0\0\0\0\0\0ab\x01\0\0\0\0\0\0\0c",
        );
        assert_eq!(fingerprint(&header(&["ab", "c"])), Some(expected));
        assert_eq!(fingerprint(&header(&["ab", ""])), None);
    }

    proptest! {
        /// Short keys and long ones, in batches: each as it would be alone.
        #[test]
        fn fingerprints_do_not_depend_on_their_batch(
            lengths in prop::collection::vec(prop_oneof![0..100_usize, 50..60_usize], 1..600),
        ) {
            let rows: Vec<_> = lengths.iter().map(|&length| vec!["x".repeat(length)]).collect();
            for (row, made) in rows.iter().zip(fingerprints(&rows)) {
                let mut joined = (row[0].len() as u64).to_le_bytes().to_vec();
                joined.extend_from_slice(row[0].as_bytes());
                let expected = blake3::derive_key(CONTEXT, &joined);
                prop_assert_eq!(made, (!row[0].is_empty()).then_some(expected));
            }
        }

        #[test]
        fn joined_keys_are_unambiguous(
            a in prop::collection::vec("[ab\0]{1,3}", 1..4),
            b in prop::collection::vec("[ab\0]{1,3}", 1..4),
        ) {
            prop_assert_eq!(fingerprint(&a) == fingerprint(&b), a == b);
        }

        #[test]
        fn moving_a_boundary_changes_the_key(text in "[a-c]{3,8}", at in 1usize..7, to in 1usize..7) {
            let cut = |at: usize| {
                let (left, right) = text.split_at(at.min(text.len() - 1));
                header(&[left, right])
            };
            prop_assert_eq!(fingerprint(&cut(at)) == fingerprint(&cut(to)), cut(at) == cut(to));
        }
    }
}
