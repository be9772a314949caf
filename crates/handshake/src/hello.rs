//! The facts that each party tells about itself, and their layout in bytes.

use std::fmt;

use crate::{
    DIGEST_BYTES, Disagreement, Error, Role,
    entries::{Entries, MAX_ENTRIES_BYTES},
};

/// The length of a hello. Unused bytes are zero.
pub const HELLO_BYTES: usize = 16_384;

/// The largest set of any party.
pub const MAX_SET_SIZE: u64 = 1 << 34;

/// The byte that stands for each role.
const SENDER: u8 = 1;
const RECEIVER: u8 = 2;

/// Role, set size, commitment.
const FIXED_BYTES: usize = 1 + 8 + DIGEST_BYTES;
const _: () = assert!(FIXED_BYTES + 2 * MAX_ENTRIES_BYTES <= HELLO_BYTES);

/// The facts that a party tells about itself: its role, the size of its set, how it was set up, and
/// others that the peer has to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    role: Role,
    set_size: u64,
    settings: Entries,
    facts: Entries,
}

impl Hello {
    /// Returns a party in a role, with a set of this many distinct items.
    pub fn new(role: Role, set_size: u64) -> Self {
        Self {
            role,
            set_size,
            settings: Entries::default(),
            facts: Entries::default(),
        }
    }

    /// Adds a setting that must be the same on both sides, such as `protocol` or
    /// `normalisation`. Its name is read by people: "the two sides disagree on `name`".
    ///
    /// At most 32 settings with distinct names of at most 40 bytes and values of at most 200
    /// bytes, printable; this is checked when the hello is sent.
    #[must_use]
    pub fn setting(mut self, name: impl Into<String>, value: impl fmt::Display) -> Self {
        self.settings.push(name, value);
        self
    }

    /// Adds a fact about this party, which the other one may read, and which may differ from
    /// the other's. It is a claim: nothing shows that it is true.
    ///
    /// At most 32 facts, with the same limits as [settings](Self::setting).
    #[must_use]
    pub fn fact(mut self, name: impl Into<String>, value: impl fmt::Display) -> Self {
        self.facts.push(name, value);
        self
    }

    /// Returns the party's role.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns how many distinct items the party's set has.
    pub fn set_size(&self) -> u64 {
        self.set_size
    }

    /// Returns the value of a setting, if the party gave one.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.settings.value(name)
    }

    /// Returns all settings, by name, with their values.
    pub fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        self.settings.iter()
    }

    /// Returns a fact, if the party told it.
    pub fn told(&self, name: &str) -> Option<&str> {
        self.facts.value(name)
    }

    /// Checks that the hello can be sent.
    ///
    /// # Errors
    /// [`Error::Setting`] or [`Error::SetTooLarge`].
    pub fn check(&self) -> Result<(), Error> {
        if self.set_size > MAX_SET_SIZE {
            return Err(Error::SetTooLarge(self.set_size));
        }
        self.settings.check()?;
        self.facts.check()
    }

    /// Lays the hello out, with a commitment.
    ///
    /// # Errors
    /// [`Error::Setting`] or [`Error::SetTooLarge`].
    pub fn encode(&self, commitment: &[u8; DIGEST_BYTES]) -> Result<Box<[u8; HELLO_BYTES]>, Error> {
        self.check()?;
        let mut bytes = Vec::with_capacity(HELLO_BYTES);
        bytes.push(match self.role {
            Role::Sender => SENDER,
            Role::Receiver => RECEIVER,
        });
        bytes.extend(self.set_size.to_le_bytes());
        bytes.extend(commitment);
        self.settings.encode(&mut bytes);
        self.facts.encode(&mut bytes);
        bytes.resize(HELLO_BYTES, 0);
        Ok(bytes
            .into_boxed_slice()
            .try_into()
            .expect("it was made of this length"))
    }

    /// Reads a hello and its commitment.
    ///
    /// # Errors
    /// [`Error::Malformed`] if it is not well-formed.
    pub fn decode(bytes: &[u8; HELLO_BYTES]) -> Result<(Self, [u8; DIGEST_BYTES]), Error> {
        Cursor(bytes).hello().map_err(Error::Malformed)
    }

    /// Compares this party's settings with the peer's.
    pub(super) fn compare(&self, theirs: &Self) -> Result<(), Error> {
        let own = self.settings.names();
        let missing = theirs.settings.names();
        let missing = missing.filter(|name| self.value(name).is_none());
        let shown = |value: Option<&str>| value.unwrap_or("(nothing)").to_owned();
        let disagreements: Vec<_> = own
            .chain(missing)
            .filter(|name| self.value(name) != theirs.value(name))
            .map(|name| Disagreement {
                field: name.to_owned(),
                ours: shown(self.value(name)),
                theirs: shown(theirs.value(name)),
            })
            .collect();
        match disagreements.is_empty() {
            true => Ok(()),
            false => Err(Error::Mismatch(disagreements)),
        }
    }
}

/// The rest of a received hello.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn hello(mut self) -> Result<(Hello, [u8; DIGEST_BYTES]), &'static str> {
        let [role] = self.array()?;
        let role = match role {
            SENDER => Role::Sender,
            RECEIVER => Role::Receiver,
            _ => return Err("its role is unknown"),
        };
        let set_size = u64::from_le_bytes(self.array()?);
        if set_size > MAX_SET_SIZE {
            return Err("its set has more than 2^34 items");
        }
        let commitment = self.array()?;
        let (settings, facts) = (self.entries()?, self.entries()?);
        if self.0.iter().any(|&byte| byte != 0) {
            return Err("its hello has something after the end");
        }
        Ok((
            Hello {
                role,
                set_size,
                settings,
                facts,
            },
            commitment,
        ))
    }

    fn entries(&mut self) -> Result<Entries, &'static str> {
        let [count] = self.array()?;
        let mut entries = Entries::default();
        for _ in 0..count {
            let (name, value) = (self.text()?, self.text()?);
            entries.push_checked(name, value)?;
        }
        Ok(entries)
    }

    fn text(&mut self) -> Result<&'a str, &'static str> {
        let [length] = self.array()?;
        let bytes = self.take(length.into())?;
        std::str::from_utf8(bytes).map_err(|_| "a setting or fact is not UTF-8")
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], &'static str> {
        self.take(N)
            .map(|bytes| bytes.try_into().expect("N bytes were taken"))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], &'static str> {
        let (taken, rest) = self
            .0
            .split_at_checked(length)
            .ok_or("its hello is cut off")?;
        self.0 = rest;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::MAX_ENTRIES;

    const COMMITMENT: [u8; DIGEST_BYTES] = [7; DIGEST_BYTES];

    fn fault(hello: &Hello) -> String {
        hello.encode(&COMMITMENT).unwrap_err().to_string()
    }

    #[test]
    fn the_largest_hello_fits() {
        let hello = (0..32).fold(Hello::new(Role::Sender, MAX_SET_SIZE), |hello, i| {
            let (name, value) = (format!("{i:040}"), "é".repeat(100));
            hello.setting(&name, &value).fact(name, value)
        });
        let bytes = hello.encode(&COMMITMENT).unwrap();
        assert_eq!(Hello::decode(&bytes).unwrap(), (hello.clone(), COMMITMENT));
        let last = hello.settings().last().unwrap();
        assert_eq!(last, (&*format!("{:040}", 31), &*"é".repeat(100)));
        assert!(fault(&hello.clone().setting("one", "more")).contains("more than 32"));
        assert!(fault(&hello.fact("one", "more")).contains("more than 32"));
    }

    #[test]
    fn what_cannot_be_said_is_refused_before_it_is_sent() {
        let hello = || Hello::new(Role::Receiver, 0);
        assert!(fault(&hello().setting("", "x")).contains("empty"));
        assert!(fault(&hello().setting("n".repeat(41), "x")).contains("longer"));
        assert!(fault(&hello().setting("n", "v".repeat(201))).contains("longer"));
        for text in ["a\x1b[2J", "\u{9b}2J", "\u{202e}", "\u{2028}", "\u{200b}"] {
            assert!(fault(&hello().setting("n", text)).contains("unprintable"));
            assert!(fault(&hello().fact(text, "v")).contains("unprintable"));
        }
        assert!(fault(&hello().setting("n", 1).setting("n", 1)).contains("twice"));
        assert!(fault(&hello().fact("n", 1).fact("n", 2)).contains("twice"));
        assert!(hello().setting("n", 1).fact("n", 2).check().is_ok());
        assert!(fault(&Hello::new(Role::Sender, MAX_SET_SIZE + 1)).contains("2^34"));
    }

    #[test]
    fn a_malformed_hello_is_refused() {
        let good = Hello::new(Role::Sender, 5)
            .setting("n", "v")
            .fact("f", "w")
            .encode(&COMMITMENT)
            .unwrap();
        let spoilt = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            Hello::decode(&bytes).unwrap_err().to_string()
        };
        assert!(spoilt(0, 3).contains("role"));
        assert!(spoilt(8, 1).contains("2^34"));
        assert!(spoilt(HELLO_BYTES - 1, 1).contains("after the end"));
        // The setting and the fact have a count of one byte and four bytes each.
        for count_at in [FIXED_BYTES, FIXED_BYTES + 5] {
            assert!(spoilt(count_at + 2, 0xff).contains("UTF-8"));
            assert!(spoilt(count_at + 2, b'\n').contains("unprintable"));
            assert!(spoilt(count_at + 1, 0).contains("empty"));
            assert!(spoilt(count_at + 1, 41).contains("longer than 40"));
            assert!(spoilt(count_at + 3, 201).contains("longer than 200"));
        }
        assert!(spoilt(FIXED_BYTES + 5, 2).contains("empty"));
        assert!(spoilt(FIXED_BYTES + 5, 0).contains("after the end"));
    }

    /// Returns a hello whose facts are these bytes, from their number on.
    fn with_facts(facts: &[u8]) -> Result<Hello, String> {
        let mut bytes = Hello::new(Role::Sender, 5).encode(&COMMITMENT).unwrap();
        bytes[FIXED_BYTES + 1..][..facts.len()].copy_from_slice(facts);
        let decoded = Hello::decode(&bytes);
        decoded
            .map(|(hello, _)| hello)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn malformed_facts_are_refused() {
        let many = |count: u8| {
            let entry = |i| [1, b'@' + i, 1, b'v'];
            [vec![count], (0..count).flat_map(entry).collect()].concat()
        };
        assert_eq!(with_facts(&many(2)).unwrap().told("A"), Some("v"));
        assert_eq!(with_facts(&many(32)).unwrap().told("_"), Some("v"));
        for (facts, says) in [
            (many(33), "more than 32"),
            (b"\x02\x01f\x01v\x01f\x01w".to_vec(), "twice"),
            (b"\x01\x00\x01v".to_vec(), "empty"),
            (b"\x01\x01f\x01\xff".to_vec(), "UTF-8"),
            (b"\x01\x01f\x01\x1b".to_vec(), "unprintable"),
            ("\x01\x01f\x03\u{202e}".into(), "unprintable"),
            ("\x01\x03\u{2028}\x01v".into(), "unprintable"),
            (vec![0xff; 400], "UTF-8"),
        ] {
            let error = with_facts(&facts).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }

    proptest! {
        #[test]
        fn round_trips(
            is_sender in any::<bool>(),
            set_size in 0..=MAX_SET_SIZE,
            settings in vec("[^\\pC\\p{Zl}\\p{Zp}]{0,50}", 0..=MAX_ENTRIES),
            facts in vec("[^\\pC\\p{Zl}\\p{Zp}]{0,50}", 0..=MAX_ENTRIES),
        ) {
            let role = if is_sender { Role::Sender } else { Role::Receiver };
            let mut hello = Hello::new(role, set_size);
            for (i, value) in settings.iter().enumerate() {
                hello = hello.setting(format!("setting {i}"), value);
            }
            for (i, value) in facts.iter().enumerate() {
                hello = hello.fact(format!("fact {i}"), value);
            }
            let bytes = hello.encode(&COMMITMENT).unwrap();
            prop_assert_eq!(Hello::decode(&bytes).unwrap(), (hello, COMMITMENT));
        }

        #[test]
        fn random_bytes_never_panic(front in vec(any::<u8>(), 0..400), role in 1..=2u8) {
            let mut bytes = [0; HELLO_BYTES];
            bytes[..front.len()].copy_from_slice(&front);
            let _ = Hello::decode(&bytes);
            // Far enough to reach the settings.
            bytes[0] = role;
            bytes[5..9].fill(0);
            let _ = Hello::decode(&bytes);
        }
    }
}
