//! The meaning and the look of a key column, as found while it is read.

use crate::{
    byte_words::{self, EACH},
    meaning::{Kind, Meaning},
    rules::Rule,
};

/// Finds out what a column means while it is read. Only its values show whether timestamps have a
/// zone, and telephone numbers the code of a country.
pub struct Observed {
    meaning: Meaning,
    /// `true` if the sorts of values have to be seen.
    needs_sorts: bool,
    seen: Seen,
}

/// What was seen of a column's values, whatever their type and rules. That of several portions of a
/// table can be merged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    sorts: Sorts,
    sample: Sample,
    digits: Digits,
}

/// The look of a column's keys, judged from the first of each stretch of the table: for the owner
/// alone, who may have to declare that they are hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Look {
    /// Hashes, as a rule has read or made them.
    Hashes,
    /// Texts that look like SHA-256 hashes.
    LikeHashes,
    /// Texts that look like mail addresses.
    LikeAddresses,
}

/// The look of some texts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sample {
    seen: u32,
    like_hashes: u32,
    like_addresses: u32,
}

/// The lengths of texts that have digits alone: the bit of this number for a text of this length,
/// below 64.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Digits {
    /// Of those that begin with a zero.
    zero_led: u64,
    others: u64,
}

impl Digits {
    /// Looks at a text; returns whether it has several digits and begins with a zero.
    fn see(&mut self, text: &[u8]) -> bool {
        let lengths = match text {
            [b'0', _, ..] => &mut self.zero_led,
            [b'1'..=b'9', ..] => &mut self.others,
            _ => return false,
        };
        let are_all = text.len() < 64 && are_digits(text);
        *lengths |= u64::from(are_all) << (text.len() & 63);
        are_all && text[0] == b'0' && text.len() > 1
    }

    /// Returns whether all with zeros are of one length, to which they seem to be filled up, and
    /// there are shorter ones without.
    fn are_filled_up_in_part(&self) -> bool {
        self.zero_led.is_power_of_two() && self.others & (self.zero_led - 1) != 0
    }
}

/// Returns whether there are digits alone.
#[inline]
pub(crate) fn are_digits(bytes: &[u8]) -> bool {
    byte_words::all(bytes, |word| {
        // The upper half of a digit is 3, also once 6 is added.
        let upper = |word: u64| (word ^ (EACH * 0x30)) & (EACH * 0xf0);
        upper(word) | upper(word.wrapping_add(EACH * 6))
    })
}

/// As many texts of each stretch are looked at.
const SAMPLE: u32 = 16;

impl Sample {
    fn see(&mut self, text: &str) {
        let is_hash = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        self.seen += u32::from(!text.is_empty());
        self.like_hashes += u32::from(is_hash);
        self.like_addresses += u32::from(text.contains('@'));
    }

    fn look(&self) -> Option<Look> {
        match self.seen {
            0 => None,
            all if all == self.like_hashes => Some(Look::LikeHashes),
            all if all == self.like_addresses => Some(Look::LikeAddresses),
            _ => None,
        }
    }
}

/// The sorts of values that were seen: with a zone or a code of a country, and without.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sorts {
    seen_with: bool,
    seen_without: bool,
}

impl Observed {
    /// Returns a column of this kind that is normalised by these rules.
    pub fn new(kind: Kind, rules: &[Rule]) -> Self {
        let meaning = Meaning::of(kind, rules);
        let is_typed = matches!(
            kind,
            Kind::Timestamp | Kind::Date | Kind::UniversalTimestamp
        );
        let has_to_be_seen = match meaning.kind() {
            Kind::Timestamp => !is_typed,
            kind => kind == Kind::Phone,
        };
        Self {
            meaning,
            needs_sorts: has_to_be_seen,
            seen: Seen::default(),
        }
    }

    /// Returns what was seen so far.
    pub fn seen(&self) -> Seen {
        self.seen
    }

    /// Adds what was seen of other values of the column.
    pub fn add(&mut self, seen: Seen) {
        self.seen.merge(seen);
    }

    /// Returns whether another text that is no number would tell nothing new, in a column of texts.
    #[inline]
    pub fn has_seen_enough(&self) -> bool {
        self.seen.sample.seen >= SAMPLE
    }

    /// Looks at a canonical text; returns whether it may be a number that is filled up with zeros.
    pub fn see(&mut self, text: &str) -> bool {
        if !self.has_seen_enough() {
            self.seen.sample.see(text);
        }
        match self.meaning.kind() {
            Kind::Text | Kind::Digits => self.seen.digits.see(text.as_bytes()),
            _ => {
                self.see_sort(text);
                false
            }
        }
    }

    fn see_sort(&mut self, text: &str) {
        if !self.needs_sorts {
            return;
        }
        let sorts = &mut self.seen.sorts;
        let is_with = match self.meaning.kind() {
            Kind::Phone => text.starts_with('+'),
            _ => text.ends_with(['Z', 'z']),
        };
        sorts.seen_with |= is_with;
        sorts.seen_without |= !is_with && !text.is_empty();
    }

    /// Adds what was seen of other values of the column.
    pub fn merge(&mut self, other: Self) {
        self.add(other.seen);
    }

    /// Returns what the values look like, if that is known.
    pub fn look(&self) -> Option<Look> {
        match self.meaning.kind() {
            Kind::Sha256 => Some(Look::Hashes),
            Kind::Text => self.seen.sample.look(),
            _ => None,
        }
    }

    /// Returns whether numbers seem to be filled up with zeros in some rows and not in others.
    pub fn are_filled_up_in_part(&self) -> bool {
        self.seen.digits.are_filled_up_in_part()
    }

    /// Returns what the column means, as far as its values show it.
    pub fn finish(self) -> Meaning {
        let sorts = self.seen.sorts;
        let kind = match (self.meaning.kind(), sorts.seen_with, sorts.seen_without) {
            (Kind::Timestamp, true, true) => Kind::MixedTimestamp,
            (Kind::Timestamp, true, false) => Kind::UniversalTimestamp,
            (Kind::Phone, true, true) => Kind::MixedPhone,
            (Kind::Phone, false, true) => Kind::NationalPhone,
            (kind, ..) => kind,
        };
        self.meaning.with_kind(kind)
    }
}

/// Bytes of what was seen.
const BYTES: usize = 2 + 3 * size_of::<u32>() + 2 * size_of::<u64>();

impl Seen {
    /// Adds what was seen of other values of the column.
    pub fn merge(&mut self, other: Self) {
        let Self {
            sorts,
            sample,
            digits,
        } = self;
        sorts.seen_with |= other.sorts.seen_with;
        sorts.seen_without |= other.sorts.seen_without;
        for (all, more) in [
            (&mut sample.seen, other.sample.seen),
            (&mut sample.like_hashes, other.sample.like_hashes),
            (&mut sample.like_addresses, other.sample.like_addresses),
        ] {
            *all = all.saturating_add(more);
        }
        digits.zero_led |= other.digits.zero_led;
        digits.others |= other.digits.others;
    }

    /// Returns it as bytes.
    pub fn to_bytes(&self) -> [u8; BYTES] {
        let Self {
            sorts,
            sample,
            digits,
        } = self;
        let mut bytes = Vec::with_capacity(BYTES);
        bytes.extend([sorts.seen_with, sorts.seen_without].map(u8::from));
        for count in [sample.seen, sample.like_hashes, sample.like_addresses] {
            bytes.extend(count.to_le_bytes());
        }
        for lengths in [digits.zero_led, digits.others] {
            bytes.extend(lengths.to_le_bytes());
        }
        bytes.try_into().expect("as many bytes")
    }

    /// Reads what [`Self::to_bytes`] has written at the beginning of these bytes, and returns the
    /// rest, too; `None` if it is something else.
    pub fn split_off(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (own, rest) = bytes.split_first_chunk::<BYTES>()?;
        let is_set = |place: usize| match own[place] {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        };
        let count = |at: usize| {
            let bytes = own[2 + 4 * at..][..4].try_into();
            u32::from_le_bytes(bytes.expect("four bytes"))
        };
        let lengths = |at: usize| {
            let bytes = own[14 + 8 * at..][..8].try_into();
            u64::from_le_bytes(bytes.expect("eight bytes"))
        };
        let seen = Self {
            sorts: Sorts {
                seen_with: is_set(0)?,
                seen_without: is_set(1)?,
            },
            sample: Sample {
                seen: count(0),
                like_hashes: count(1),
                like_addresses: count(2),
            },
            digits: Digits {
                zero_led: lengths(0),
                others: lengths(1),
            },
        };
        Some((seen, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ColumnRules;

    fn observed(kind: Kind, rules: &str, texts: &[&str]) -> String {
        let rules = match rules {
            "" => Vec::new(),
            _ => format!("c={rules}").parse::<ColumnRules>().unwrap().rules,
        };
        let mut observed = Observed::new(kind, &rules);
        texts.iter().for_each(|text| {
            observed.see(text);
        });
        observed.finish().to_string()
    }

    #[test]
    fn zeros_before_numbers_are_doubted_where_shorter_numbers_have_none() {
        let doubted = |texts: &[&str]| {
            let mut observed = Observed::new(Kind::Text, &[]);
            texts.iter().for_each(|text| {
                observed.see(text);
            });
            observed.are_filled_up_in_part()
        };
        assert!(doubted(&["00123", "123"]));
        assert!(doubted(&["000000000123", "99", "12345"]));
        // Postal codes, telephone numbers, and a number of zero.
        for texts in [
            &["01067", "20095"][..],
            &["0301234", "030123456", "1234"],
            &["00123", "0"],
            &["00123", "12a", "a1"],
            &["007", "1234"],
        ] {
            assert!(!doubted(texts), "{texts:?}");
        }
    }

    #[test]
    fn what_was_seen_is_read_as_it_is_written() {
        let texts = ["00123", "99", "ann@x", "2024-02-03 12:34:56Z"];
        let rules = "c=timestamp".parse::<ColumnRules>().unwrap().rules;
        for mut observed in [
            Observed::new(Kind::Text, &[]),
            Observed::new(Kind::Text, &rules),
        ] {
            for text in texts {
                observed.see(text);
                let mut bytes = observed.seen().to_bytes().to_vec();
                bytes.push(7);
                let (seen, rest) = Seen::split_off(&bytes).unwrap();
                assert_eq!((seen, rest), (observed.seen(), &[7][..]));
                bytes[1] = 2;
                assert_eq!(Seen::split_off(&bytes), None);
            }
        }
        assert_eq!(Seen::split_off(&[0; BYTES - 1]), None);
    }

    #[test]
    fn digits_are_found_eight_at_a_time() {
        for byte in 0..=u8::MAX {
            for place in 0..11 {
                let mut text = *b"01234567890";
                text[place] = byte;
                assert_eq!(
                    are_digits(&text),
                    byte.is_ascii_digit(),
                    "{byte} at {place}"
                );
            }
        }
    }

    #[test]
    fn rules_that_read_tell_the_kind_and_others_stay() {
        let (major, minor, micro) = char::UNICODE_VERSION;
        let lowercase = format!("lowercase (Unicode {major}.{minor}.{micro})");
        for (kind, rules, expected) in [
            (Kind::Text, "", "text".to_owned()),
            (Kind::Text, "email", format!("text: trim, {lowercase}")),
            (Kind::Text, "trim+number", "number".to_owned()),
            (Kind::Text, "date:%d.%m.%Y", "date".to_owned()),
            (Kind::Text, "trim+digits", "digits".to_owned()),
            (Kind::Text, "phone+trim", "telephone number".to_owned()),
            (Kind::Text, "time+lowercase", "time of day".to_owned()),
            (
                Kind::Timestamp,
                "timestamp:Europe/Berlin",
                "timestamp in universal time".to_owned(),
            ),
            (Kind::Number, "", "number".to_owned()),
            (Kind::Number, "trim+nfc+lowercase", "number".to_owned()),
            (Kind::Number, "date", "date".to_owned()),
            (
                Kind::Date,
                "timestamp",
                "timestamp without a zone".to_owned(),
            ),
            (
                Kind::UniversalTimestamp,
                "timestamp",
                "timestamp in universal time".to_owned(),
            ),
            (
                Kind::UniversalTimestamp,
                "lowercase",
                format!("timestamp in universal time: {lowercase}"),
            ),
        ] {
            assert_eq!(observed(kind, rules, &[]), expected, "{kind} by {rules}");
        }
    }

    #[test]
    fn what_one_side_alone_has_to_know_is_not_told() {
        for rule in ["phone:DE", "phone:FR"] {
            let told = observed(Kind::Text, rule, &[]);
            assert!(
                told.starts_with("telephone number in E.164: phone (rlibphonenumber "),
                "{told}"
            );
        }
    }

    #[test]
    fn zones_of_timestamps_are_seen() {
        let (with, without) = ("2024-02-03 12:34:56Z", "2024-02-03 12:34:56");
        for (texts, expected) in [
            (&[][..], "timestamp without a zone"),
            (&[without, ""], "timestamp without a zone"),
            (&["", with], "timestamp in universal time"),
            (
                &[with, without],
                "timestamp, some with a zone and some without",
            ),
        ] {
            assert_eq!(observed(Kind::Text, "timestamp", texts), expected);
        }
        assert_eq!(observed(Kind::Text, "", &[with]), "text");
        assert_eq!(
            observed(Kind::Timestamp, "timestamp", &[without]),
            "timestamp without a zone"
        );
    }

    #[test]
    fn codes_of_countries_are_seen() {
        let (with, without) = ("+49301234567", "0301234567");
        for (texts, expected) in [
            (&[][..], "telephone number"),
            (&[with, ""], "telephone number"),
            (&[without, ""], "telephone number without a country code"),
            (
                &[with, without],
                "telephone number, some with a country code and some without",
            ),
        ] {
            assert_eq!(observed(Kind::Text, "phone", texts), expected);
        }
    }
}
