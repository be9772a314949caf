//! The columns of the key, and the rules that normalise them.

use std::borrow::Cow;

use crate::{
    BadKeys, Error, KeyFault,
    fingerprint::{fingerprint_of, fingerprint_of_number},
    meaning::{Kind, Meaning},
    observed::Observed,
    rules::{ColumnRules, Rule, normalize},
};

/// The columns that are the key, and the normalisation of each.
#[derive(Debug, Clone, Default)]
pub struct KeySpec {
    columns: Vec<String>,
    rules: Vec<ColumnRules>,
    bad_keys: BadKeys,
}

impl KeySpec {
    /// Returns a key of these columns, in this order: both parties must give theirs in the same
    /// order, while the names may differ. The second column of a file is also `column:2`, unless
    /// another is called so. Without any column, the key is the table's only column, which for
    /// files of lines is called `value`.
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
                Err(Error::RuleOutsideKey {
                    column: outside.column.clone(),
                    key: columns,
                })
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

    /// Returns the treatment of cells that have no canonical text.
    pub fn bad_keys(&self) -> BadKeys {
        self.bad_keys
    }

    /// Returns the rules, by the names of their columns.
    pub fn rules(&self) -> &[ColumnRules] {
        &self.rules
    }

    /// Returns the columns' names, in their order; none if the only column of the table is the key.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Returns the number of the key's columns.
    pub fn width(&self) -> usize {
        self.columns.len().max(1)
    }

    /// Returns the bits of a key, if it is one column of whole numbers of few bits: the last rule
    /// of the column is `number:BITS`. Such keys have the fingerprints of numbers.
    pub fn item_bits(&self) -> Option<u32> {
        match &self.rules_by_position()[..] {
            [[.., Rule::Unsigned(bits)]] => Some(*bits),
            _ => None,
        }
    }

    /// Returns the meanings of the key's columns if they are text, as far as they are known before
    /// a value is seen.
    pub fn meanings_of_text(&self) -> Vec<Meaning> {
        let rules = self.rules_by_position().into_iter();
        rules
            .map(|rules| Observed::new(Kind::Text, rules).finish())
            .collect()
    }

    /// Describes the normalisation of each column of the key, as in `mail: trim, lowercase (Unicode
    /// 17.0.0); zip: as it is`; and the treatment of cells that have no canonical text, if they are
    /// not refused, as in `bad keys: null`.
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

    /// Returns the rules for each position of the key.
    pub fn rules_by_position(&self) -> Vec<&[Rule]> {
        if self.columns.is_empty() {
            return vec![self.rules.first().map_or(&[][..], |only| &only.rules)];
        }
        let of = |column: &String| self.rules.iter().find(|rules| rules.column == *column);
        self.columns
            .iter()
            .map(|column| of(column).map_or(&[][..], |found| &found.rules))
            .collect()
    }

    /// Returns the fingerprint of the key that has these texts, one for each of its columns; `None`
    /// if one is empty once it is normalised, as then there is no key.
    ///
    /// It is the fingerprint of a row of a table with these texts, and with no country for the
    /// rules that take it from a column.
    ///
    /// # Errors
    /// If a rule cannot read one of them.
    ///
    /// # Panics
    /// If there are more or fewer than the key has columns.
    pub fn fingerprint<T: AsRef<str>>(&self, texts: &[T]) -> Result<Option<[u8; 32]>, KeyFault> {
        let rules = self.rules_by_position();
        assert_eq!(
            texts.len(),
            rules.len(),
            "a text for each column of the key"
        );
        let canonical = rules
            .into_iter()
            .zip(texts)
            .map(|(rules, text)| normalize(rules, text.as_ref().into(), "").map(Cow::into_owned));
        let fields: Vec<String> = canonical.collect::<Result<_, KeyFault>>()?;
        let is_complete = fields.iter().all(|field| !field.is_empty());
        Ok(is_complete.then(|| match self.item_bits() {
            Some(_) => fingerprint_of_number(&fields[0]),
            None => fingerprint_of(&fields),
        }))
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

#[cfg(test)]
mod tests {
    use psijoin_params::numbers;

    use super::*;

    fn spec(columns: &[&str], rules: &[&str]) -> Result<KeySpec, Error> {
        KeySpec::new(
            columns.iter().map(|&column| column.to_owned()).collect(),
            rules.iter().map(|rules| rules.parse().unwrap()).collect(),
        )
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

    #[test]
    fn texts_have_the_fingerprint_of_their_canonical_texts() {
        let key = spec(&["mail", "zip"], &["mail=email", "zip=digits"]).unwrap();
        let made = key.fingerprint(&[" Ann@X.org", "D-01234"]).unwrap();
        let plain = spec(&["mail", "zip"], &[]).unwrap();
        let canonical = ["ann@x.org", "01234"];
        assert_eq!(made, plain.fingerprint(&canonical).unwrap());
        assert_eq!(made, Some(fingerprint_of(&canonical.map(str::to_owned))));
        assert_eq!(key.fingerprint(&["a@x.org", "none"]).unwrap(), None);
        let number = spec(&["n"], &["n=number"]).unwrap();
        assert_eq!(number.fingerprint(&["x"]), Err(KeyFault::NotANumber));
    }

    #[test]
    fn one_column_of_short_numbers_has_their_fingerprints() {
        let short = spec(&["n"], &["n=number:8"]).unwrap();
        let made = |text: &str| short.fingerprint(&[text]);
        assert_eq!(short.item_bits(), Some(8));
        assert_eq!(made(" 2.55e2").unwrap(), Some(numbers::fingerprint(255)));
        for text in ["256", "-1", "1.5", "x", "1e90"] {
            assert!(made(text).is_err(), "{text}");
        }
        assert_eq!(made("256"), Err(KeyFault::NotUnsigned(8)));
        assert_eq!(
            spec(&[], &["n=digits+number:8"]).unwrap().item_bits(),
            Some(8)
        );
        for (columns, rules) in [
            (&["n"][..], "n=number"),
            (&["n"], "n=number:8+sha256"),
            (&["n", "m"], "n=number:8"),
        ] {
            assert_eq!(
                spec(columns, &[rules]).unwrap().item_bits(),
                None,
                "{rules}"
            );
        }
    }
}
