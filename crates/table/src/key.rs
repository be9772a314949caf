//! The key: which columns, how they are normalised, and the fingerprint of their values.

use std::{borrow::Cow, fmt::Write};

use crate::{
    Error, KeyFault, Source,
    header::Header,
    normalize::{self, ColumnRules, Rule, Shown},
};

/// Which columns are the key, and how each is normalised.
#[derive(Debug, Clone, Default)]
pub struct KeySpec {
    columns: Vec<String>,
    rules: Vec<ColumnRules>,
}

impl KeySpec {
    /// A key of these columns, in this order: both parties must give theirs in the same order,
    /// while the names may differ. Without any column, the key is the table's only column,
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
                Err(Error::RuleOutsideKey(outside.column.clone()))
            }
            _ => Ok(Self { columns, rules }),
        }
    }

    /// Checks that a table has the key's columns, without reading more than its header.
    ///
    /// # Errors
    /// If the header cannot be read, or a column is missing or not unique.
    pub fn check(&self, source: &Source) -> Result<(), Error> {
        self.resolve(&source.header(&source.columns()?)).map(drop)
    }

    /// How many columns the key has.
    pub fn width(&self) -> usize {
        self.columns.len().max(1)
    }

    /// What both parties must agree on, as a text to be compared: the number of key columns and
    /// the rules of each, with the version of Unicode where a rule rests on it, as in
    /// `v3;1=trim+lowercase[Unicode 17.0.0];2=`. It holds no column names.
    ///
    /// A format of dates stands there in quotes. Five columns of `email`, or three of
    /// `trim+lowercase+nfc+digits+phone`, are described in 200 bytes; so are five of
    /// `trim+date:%d.%m.%Y`.
    pub fn normalization(&self) -> String {
        let mut text = normalize::VERSION.to_owned();
        for (index, rules) in self.rules_by_position().iter().enumerate() {
            write!(text, ";{}={}", index + 1, Shown(rules)).expect("a String takes all text");
        }
        text
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

    /// Finds the key's columns in a table of these columns.
    pub(crate) fn resolve(&self, header: &Header<'_>) -> Result<Vec<usize>, Error> {
        if self.columns.is_empty() {
            if header.names.len() != 1 {
                return Err(Error::NoKey {
                    file: header.file.to_owned(),
                    columns: header.shown(),
                });
            }
            // The one rule there may be must be meant for this column.
            for rules in &self.rules {
                header.find(&rules.column)?;
            }
            return Ok(vec![0]);
        }
        header.find_all(&self.columns)
    }
}

fn unique<'a>(mut names: impl Iterator<Item = &'a String> + Clone) -> Result<(), Error> {
    while let Some(name) = names.next() {
        if names.clone().any(|other| other == name) {
            return Err(Error::Repeated(name.clone()));
        }
    }
    Ok(())
}

/// The BLAKE3 context under which fingerprints are derived.
const CONTEXT: &str = "psijoin 2026-01 table key fingerprint v1";

/// Turns the key fields of one row after the other into fingerprints.
pub(crate) struct Fingerprinter<'a> {
    rules: Vec<Cow<'a, [Rule]>>,
    joined: Vec<u8>,
    complete: bool,
    hasher: blake3::Hasher,
}

impl<'a> Fingerprinter<'a> {
    pub(crate) fn new(key: &'a KeySpec) -> Self {
        Self {
            rules: key.rules_by_position().into_iter().map(Cow::from).collect(),
            joined: Vec::new(),
            complete: true,
            hasher: blake3::Hasher::new_derive_key(CONTEXT),
        }
    }

    /// Says that the fields at this position are typed dates or timestamps, so that no format is
    /// meant for them: it is there as the other party, whose dates are text, must give the same
    /// rules.
    pub(crate) fn set_typed_dates(&mut self, position: usize) {
        for rule in self.rules[position].to_mut() {
            if let Rule::Date(format) = rule {
                *format = None;
            }
        }
    }

    /// Appends the row's field at this position of the key. A null is the empty text.
    pub(crate) fn field(&mut self, position: usize, text: Cow<'_, str>) -> Result<(), KeyFault> {
        let text = normalize::normalize(&self.rules[position], text)?;
        self.complete &= !text.is_empty();
        // The length before each field makes the joined key unambiguous.
        self.joined
            .extend_from_slice(&(text.len() as u64).to_le_bytes());
        self.joined.extend_from_slice(text.as_bytes());
        Ok(())
    }

    /// The row's fingerprint, or `None` if a field of its key is empty. The next row begins.
    pub(crate) fn finish_row(&mut self) -> Option<[u8; 32]> {
        let complete = std::mem::replace(&mut self.complete, true);
        let fingerprint = complete.then(|| {
            self.hasher.reset();
            *self.hasher.update(&self.joined).finalize().as_bytes()
        });
        self.joined.clear();
        fingerprint
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

    fn fingerprint(fields: &[String]) -> Option<[u8; 32]> {
        let columns = (0..fields.len()).map(|index| index.to_string()).collect();
        let key = KeySpec::new(columns, vec![]).unwrap();
        let mut fingerprinter = Fingerprinter::new(&key);
        for (position, field) in fields.iter().enumerate() {
            fingerprinter.field(position, field.into()).unwrap();
        }
        fingerprinter.finish_row()
    }

    /// A version of Unicode as texts show it.
    fn unicode((major, minor, micro): (u8, u8, u8)) -> String {
        format!("[Unicode {major}.{minor}.{micro}]")
    }

    #[test]
    fn normalization_text_is_by_position() {
        let lower = unicode(char::UNICODE_VERSION);
        let nfc = unicode(unicode_normalization::UNICODE_VERSION);
        let key = spec(&["mail", "zip"], &["zip=digits", "mail=email"]).unwrap();
        assert_eq!(
            key.normalization(),
            format!("v3;1=trim+lowercase{lower};2=digits")
        );
        assert_eq!(
            spec(&["a", "b"], &["a=lowercase+nfc"])
                .unwrap()
                .normalization(),
            format!("v3;1=lowercase{lower}+nfc{nfc};2=")
        );
        assert_eq!(
            spec(&["a"], &["a=nfkc+number"]).unwrap().normalization(),
            format!("v3;1=nfkc{nfc}+number")
        );
        let dates = spec(&["a", "b"], &["a=date:%d.%m.%Y+timestamp", "b=date"]);
        assert_eq!(
            dates.unwrap().normalization(),
            "v3;1=date+timestamp;2=date",
            "formats are each side's own"
        );
        assert_eq!(spec(&[], &[]).unwrap().normalization(), "v3;1=");
        assert_eq!(
            spec(&[], &["value=trim+phone"]).unwrap().normalization(),
            "v3;1=trim+phone"
        );
    }

    #[test]
    fn normalization_text_of_usual_keys_is_short() {
        let emails = ["a=email", "b=email", "c=email", "d=email", "e=email"];
        let names = ["a", "b", "c", "d", "e"];
        let text = |rules: &[&str]| {
            let key = spec(&names[..rules.len()], rules).unwrap();
            key.normalization()
        };
        assert!(text(&emails).len() <= 200, "{}", text(&emails));
        let heavy = ["a=", "b=", "c="].map(|name| format!("{name}trim+lowercase+nfc+digits+phone"));
        let heavy = text(&heavy.each_ref().map(String::as_str));
        assert!(heavy.len() <= 200, "{heavy}");
        let dates = names.map(|name| format!("{name}=trim+date:%d.%m.%Y"));
        let dates = text(&dates.each_ref().map(String::as_str));
        assert!(dates.len() <= 200, "{dates}");
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
            "t has more than one column `name`: the name of a column that is read must be unique"
        );
        assert_eq!(
            of(&["nam"], true).unwrap_err(),
            "t has no column `nam`; its columns are `id`, `name`, `name`"
        );
        assert_eq!(
            of(&[], true).unwrap_err(),
            "t has 3 columns: say which of them are the key; its columns are `id`, `name`, `name`"
        );
        assert_eq!(
            of(&["nam"], false).unwrap_err(),
            "t has no column `nam`; it has 3 columns (`psijoin columns FILE` lists them)"
        );
        assert_eq!(
            of(&[], false).unwrap_err(),
            "t has 3 columns: say which of them are the key (`psijoin columns FILE` lists them)"
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
        assert_eq!(
            unsure.unwrap_err(),
            "t has no column `x`; it has 1 column (`psijoin columns FILE` lists it)"
        );
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
