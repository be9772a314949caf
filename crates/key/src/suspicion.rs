//! Texts of the key that surely are no keys, or not the keys that were meant.
//!
//! That cannot be known, so they are compared like others, and counted. The checks are cheap: they
//! are done for each field of each row.

use psijoin_printable::is_printable;

use crate::{
    Place, Places,
    byte_words::{self, EACH},
    observed::are_digits,
    spelling::null_words,
};

/// The suspicion about a text of the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Suspicion {
    /// It is a word that programs write for null, as `nan` or `#N/A`.
    NullWord,
    /// It is a number in scientific notation, as `1.58E+18`: of a long id digits are lost.
    Rounded,
    /// It has characters that nobody sees, or spaces at its ends.
    Unseen,
    /// It is a line of dashes, the header once more, or a database's remark about its rows.
    NoData,
    /// It is a number with zeros before it, as `00123`, where shorter numbers have none.
    ZeroLed,
}

impl Suspicion {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::NullWord,
        Self::Rounded,
        Self::Unseen,
        Self::NoData,
        Self::ZeroLed,
    ];

    /// Returns what is suspicious about a field before any rule is applied, in a column of this
    /// name if the table has a header.
    pub(crate) fn of_field(text: &str, column: Option<&str>) -> Option<Self> {
        let is = |found: bool, suspicion| found.then_some(suspicion);
        match text.as_bytes() {
            [] => None,
            // A single letter may well be a key, too.
            [_, _, ..] if column == Some(text) => Some(Self::NoData),
            [b'N' | b'n' | b'#' | b'<' | b'(' | b'[', ..]
            | [b'1', b'.', b'#', ..]
            | [b'-', b'1' | b'n' | b'N', ..]
                if is_null_word(text) =>
            {
                Some(Self::NullWord)
            }
            [b'0'..=b'9', b'.' | b',' | b'e' | b'E', ..] | [b'-', b'0'..=b'9', _, ..] => {
                is(is_scientific(text), Self::Rounded)
            }
            [first @ (b'-' | b'=' | b'_' | b'*' | b'+'), rest @ ..] => is(
                rest.len() > 1 && rest.iter().all(|byte| byte == first || *byte == b'+'),
                Self::NoData,
            ),
            [b'(', ..] => is(is_count_of_rows(text), Self::NoData),
            _ => None,
        }
    }

    /// Returns whether a text has characters that nobody sees, or spaces at its ends.
    #[inline]
    pub(crate) fn is_unseen(text: &str) -> bool {
        let bytes = text.as_bytes();
        let at_ends = bytes.first() == Some(&b' ') || bytes.last() == Some(&b' ');
        at_ends || !is_plain(bytes) && hides_something(text)
    }

    /// Suspicious fields, and what to do.
    pub fn told(self, column: &str, places: &Places) -> String {
        let (one, several, what) = match self {
            Self::NullWord => (
                "is a word that programs write for null",
                "are words that programs write for null",
                "rows without a key would match each other: if they stand for null, say so by a first rule, as \
                 `null:common`",
            ),
            Self::Rounded => (
                "is a number in scientific notation, as 1.58E+18",
                "are numbers in scientific notation, as 1.58E+18",
                "digits of a long id are lost there, and several ids may have become one: export the column as text",
            ),
            Self::Unseen => (
                "has characters that nobody sees, or spaces at its ends",
                "have characters that nobody sees, or spaces at their ends",
                "they match no key without them: the rule `trim` takes spaces off, and other characters have to be \
                 removed where the table comes from",
            ),
            Self::NoData => (
                "seems to be no data, but a line of dashes, a header once more, or a number of rows",
                "seem to be no data, but lines of dashes, headers once more, or numbers of rows",
                "they are compared like others: remove them",
            ),
            Self::ZeroLed => (
                "is a number that begins with zeros, as 00123, where shorter numbers do not",
                "are numbers that begin with zeros, as 00123, where shorter numbers do not",
                "`00123` and `123` are different keys: if they are one, the rule `number` makes them so",
            ),
        };
        let what_is = match places.count {
            1 => format!("1 field of `{column}` {one}"),
            count => format!("{count} fields of `{column}` {several}"),
        };
        match places.first.is_empty() {
            true => format!("{what_is}; {what}"),
            false => format!("{what_is} ({places}); {what}"),
        }
    }
}

/// Passes most texts at a glance: no other test of them finds anything.
pub(crate) struct Glance {
    /// By its first byte, what a text has to be looked at for.
    by_first: [Closer; 256],
}

/// The closer look that a text needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Closer {
    Nothing,
    /// Being a number.
    Number,
    /// Being suspicious.
    All,
}

impl Glance {
    /// Passes texts that are not suspicious before any rule is applied, and are no numbers.
    pub(crate) fn new() -> Self {
        let mut glance = Self {
            by_first: [Closer::Nothing; 256],
        };
        glance.by_first[usize::from(b'0')..=usize::from(b'9')].fill(Closer::Number);
        for first in *b" Nn#<([-=_*+" {
            glance.by_first[usize::from(first)] = Closer::All;
        }
        glance
    }

    /// Does not pass this name of the column any more.
    pub(crate) fn below_header(&mut self, column: &str) {
        if let Some(first) = column.bytes().next() {
            self.by_first[usize::from(first)] = Closer::All;
        }
    }

    /// Returns whether a text passes. One that does not may be as good.
    #[inline]
    pub(crate) fn passes(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
            return false;
        };
        let may_pass = match self.by_first[usize::from(*first)] {
            Closer::Nothing => true,
            Closer::Number => {
                !matches!(bytes.get(1), Some(b'.' | b',' | b'e' | b'E')) && !are_digits(bytes)
            }
            Closer::All => false,
        };
        may_pass && *last != b' ' && is_plain(bytes)
    }
}

/// Returns whether it is a common word for null. `\N` is a matter of escapes in a text.
fn is_null_word(text: &str) -> bool {
    text.len() <= 8 && null_words::COMMON.contains(&text.trim_end())
}

/// As `1.58292E+18`, `1,58E+18` or `1E+18`. A code such as `1E5` is none: programs write a sign, or
/// a point before.
fn is_scientific(text: &str) -> bool {
    let text = text.trim_end();
    let Some((mantissa, exponent)) = text.split_once(['e', 'E']) else {
        return false;
    };
    let mantissa = mantissa.strip_prefix('-').unwrap_or(mantissa);
    let all_digits =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let has_point = mantissa.contains(['.', ',']);
    let has_sign = exponent.starts_with('+') || has_point && exponent.starts_with('-');
    let digits = exponent.trim_start_matches(['+', '-']);
    (has_sign || has_point)
        && all_digits(digits)
        && digits.len() <= 3
        && all_digits(&mantissa.replacen(['.', ','], "", 1))
}

/// As `(3 rows)` and `(1 row affected)`.
fn is_count_of_rows(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('(') else {
        return false;
    };
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() + 1 < text.len()
        && ["row", "Row", "record"]
            .iter()
            .any(|word| rest.trim_start().starts_with(word))
}

/// Returns whether there are only characters of ASCII that can be seen, and spaces.
#[inline]
fn is_plain(bytes: &[u8]) -> bool {
    byte_words::all(bytes, |word| {
        // Of each byte the highest bit: of those that have it, of those below a space, and of the
        // last one.
        let beyond = word | word.wrapping_sub(EACH * 0x20) | word.wrapping_add(EACH);
        beyond & (EACH * 0x80)
    })
}

fn hides_something(text: &str) -> bool {
    let is_seen = |character: char| {
        is_printable(character) && (character == ' ' || !character.is_whitespace())
    };
    let mut before = 'x';
    text.chars().any(|character| {
        // Joiners within words of other scripts are letters there.
        let joins = matches!(character, '\u{200c}' | '\u{200d}') && !before.is_ascii();
        before = character;
        !joins && !is_seen(character)
    })
}

/// The suspicious fields of a table.
#[derive(Debug, Clone, Default)]
pub struct Suspects(Vec<(usize, Suspicion, Places)>);

impl Suspects {
    /// Notes a field at this position of the key, behind all others.
    pub fn see(&mut self, position: usize, suspicion: Suspicion, file: &str, place: Place) {
        self.places(position, suspicion).see(file, place);
    }

    /// Adds those of the rows that follow: see [`Places::extend`].
    pub fn extend(&mut self, next: Self, by: u64) {
        for (position, suspicion, places) in next.0 {
            self.places(position, suspicion).extend(places, by);
        }
    }

    /// Returns the number of fields of each sort at a position of the key.
    pub fn counts(&self, position: usize) -> [u64; Suspicion::ALL.len()] {
        Suspicion::ALL.map(|suspicion| {
            let is_of =
                |(at, of, _): &&(usize, Suspicion, Places)| (*at, *of) == (position, suspicion);
            let found = self.0.iter().find(is_of);
            found.map_or(0, |(_, _, places)| places.count)
        })
    }

    /// Returns each sort at each position of the key.
    pub fn into_sorts(self) -> impl Iterator<Item = (usize, Suspicion, Places)> {
        self.0.into_iter()
    }

    fn places(&mut self, position: usize, suspicion: Suspicion) -> &mut Places {
        let is_same =
            |(at, of, _): &(usize, Suspicion, Places)| (*at, *of) == (position, suspicion);
        let index = self.0.iter().position(is_same).unwrap_or_else(|| {
            self.0.push((position, suspicion, Places::default()));
            self.0.len() - 1
        });
        &mut self.0[index].2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nothing_is_found_in_what_passes_at_a_glance(
            text in "([-a-zA-Z0-9#<(\\[=_*+. ]{0,3}(null|nan|None|e\\+1|row)?)|\\PC{0,20}|[ -~\t\u{7f}\u{a0}]{0,9}",
            name in "[a-z]{1,3}",
        ) {
            let mut glance = Glance::new();
            glance.below_header(&name);
            if glance.passes(&text) {
                prop_assert_eq!(Suspicion::of_field(&text, Some(&name)), None);
                prop_assert!(!Suspicion::is_unseen(&text));
                prop_assert!(!text.bytes().all(|byte| byte.is_ascii_digit()));
            }
            prop_assert!(!glance.passes(&name));
        }
    }

    #[test]
    fn most_texts_pass_at_a_glance() {
        for (text, passes) in [
            ("ada@example.org", true),
            ("DE-1234 x", true),
            ("", false),
            ("x ", false),
            ("Zürich", false),
            ("nan", false),
            ("1234", false),
            ("1.5e+9", false),
            ("12f4-03", true),
        ] {
            assert_eq!(Glance::new().passes(text), passes, "{text}");
        }
    }

    #[test]
    fn what_is_no_key_is_known() {
        use Suspicion::*;
        for (suspicion, texts) in [
            (
                NullWord,
                &[
                    "nan", "NaN", "NULL", "None", "#N/A", "<NA>", "N/A", "-nan", "1.#IND", "nan ",
                ][..],
            ),
            (
                Rounded,
                &[
                    "1.58292E+18",
                    "1,58E+18",
                    "1E+18",
                    "4.90172e+12",
                    "1.5e18",
                    "-1.5E-7",
                    "9e+09",
                ],
            ),
            (
                NoData,
                &[
                    "----",
                    "====",
                    "-----+----",
                    "(3 rows)",
                    "(1 row affected)",
                    "(12 records)",
                ],
            ),
        ] {
            for text in texts {
                assert_eq!(Suspicion::of_field(text, None), Some(suspicion), "{text}");
            }
        }
        for text in [
            "",
            "n",
            "nancy",
            "Null-Island",
            "#1",
            "<x>",
            "(030) 12",
            "1.5",
            "1E5",
            "12E3",
            "1e",
            "1.E",
            "1.5E",
            "-1",
            "-",
            "--",
            "-a-",
            "1.2.3E+4",
            "1E+1234",
            "(rows)",
            "(3)",
            "1-2",
            "e+5",
            "+49301234567",
            "+-*",
        ] {
            assert_eq!(Suspicion::of_field(text, None), None, "{text}");
        }
        assert_eq!(Suspicion::of_field("id", Some("id")), Some(NoData));
        assert_eq!(Suspicion::of_field("id", Some("ids")), None);
        assert_eq!(Suspicion::of_field("a", Some("a")), None);
    }

    #[test]
    fn characters_that_nobody_sees_are_found() {
        for text in [
            " a",
            "a ",
            "a\tb",
            "a\u{a0}b",
            "\u{feff}a",
            "a\u{200b}b",
            "a\u{ad}b",
            "\u{202e}a",
            "12345678\u{1}",
            "1234567\u{7f}",
            "ada\u{200d}b",
            "Zu\u{308}rich\u{2028}",
            "a\u{3000}b",
            "\u{200d}a",
        ] {
            assert!(Suspicion::is_unseen(text), "{text:?}");
        }
        for text in [
            "",
            "a",
            "ada@example.org",
            "last, first",
            "Zürich",
            "Zu\u{308}rich",
            "日本",
            "می\u{200c}خواهم",
            "a b c d e f g h",
        ] {
            assert!(!Suspicion::is_unseen(text), "{text:?}");
        }
    }
}
