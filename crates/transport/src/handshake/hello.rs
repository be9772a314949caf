//! What each party says about itself, and how it is laid out.

use std::fmt;

use super::DIGEST_BYTES;
use crate::Error;

/// The length of a hello. What is not used is zero.
pub const HELLO_BYTES: usize = 4096;

/// The largest set of any party.
pub const MAX_SET_SIZE: u64 = 1 << 26;

const MAX_SETTINGS: usize = 16;
const MAX_NAME_BYTES: usize = 40;
const MAX_VALUE_BYTES: usize = 200;

/// Role, set size, commitment, number of settings.
const FIXED_BYTES: usize = 1 + 8 + DIGEST_BYTES + 1;

const _: () =
    assert!(FIXED_BYTES + MAX_SETTINGS * (2 + MAX_NAME_BYTES + MAX_VALUE_BYTES) <= HELLO_BYTES);

/// Which part a party plays in a protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Role {
    /// The party that helps.
    Sender = 1,
    /// The party that learns the result.
    Receiver = 2,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        })
    }
}

/// What a party says about itself: its role, the size of its set, and how it was set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    role: Role,
    set_size: u64,
    settings: Vec<(String, String)>,
}

impl Hello {
    /// A party in a role, with a set of so many distinct items.
    pub fn new(role: Role, set_size: u64) -> Self {
        Self {
            role,
            set_size,
            settings: Vec::new(),
        }
    }

    /// Adds a setting that must be the same on both sides, such as `protocol` or
    /// `normalisation`. Its name is read by people: "the two sides disagree on `name`".
    ///
    /// At most 16 settings with distinct names of at most 40 bytes and values of at most 200
    /// bytes, printable; this is checked when the hello is sent.
    #[must_use]
    pub fn setting(mut self, name: impl Into<String>, value: impl fmt::Display) -> Self {
        self.settings.push((name.into(), value.to_string()));
        self
    }

    /// The party's role.
    pub fn role(&self) -> Role {
        self.role
    }

    /// How many distinct items the party's set has.
    pub fn set_size(&self) -> u64 {
        self.set_size
    }

    /// The value of a setting, if the party gave one.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.settings
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }

    /// Checks that the hello can be sent.
    ///
    /// # Errors
    /// [`Error::Setting`] or [`Error::SetTooLarge`].
    pub fn check(&self) -> Result<(), Error> {
        if self.set_size > MAX_SET_SIZE {
            return Err(Error::SetTooLarge(self.set_size));
        }
        for (i, (name, value)) in self.settings.iter().enumerate() {
            check_setting(&self.settings[..i], name, value).map_err(|reason| Error::Setting {
                name: name.clone(),
                reason,
            })?;
        }
        Ok(())
    }

    /// Lays the hello out, with a commitment.
    ///
    /// # Errors
    /// [`Error::Setting`] or [`Error::SetTooLarge`].
    pub fn encode(&self, commitment: &[u8; DIGEST_BYTES]) -> Result<Box<[u8; HELLO_BYTES]>, Error> {
        self.check()?;
        let mut bytes = Vec::with_capacity(HELLO_BYTES);
        bytes.push(self.role as u8);
        bytes.extend(self.set_size.to_le_bytes());
        bytes.extend(commitment);
        bytes.push(self.settings.len() as u8);
        for (name, value) in &self.settings {
            bytes.push(name.len() as u8);
            bytes.extend(name.as_bytes());
            bytes.push(value.len() as u8);
            bytes.extend(value.as_bytes());
        }
        bytes.resize(HELLO_BYTES, 0);
        Ok(bytes
            .into_boxed_slice()
            .try_into()
            .expect("it was made of this length"))
    }

    /// Reads a hello and its commitment.
    ///
    /// # Errors
    /// [`Error::Handshake`] if it is not well-formed.
    pub fn decode(bytes: &[u8; HELLO_BYTES]) -> Result<(Self, [u8; DIGEST_BYTES]), Error> {
        Cursor(bytes).hello().map_err(Error::Handshake)
    }

    /// Compares this party's hello with the peer's.
    pub(super) fn compare(&self, theirs: &Self) -> Result<(), Error> {
        if self.role == theirs.role {
            return Err(Error::SameRole(self.role));
        }
        let names = self
            .settings
            .iter()
            .chain(&theirs.settings)
            .map(|(name, _)| name);
        for name in names {
            let (ours, theirs) = (self.value(name), theirs.value(name));
            if ours != theirs {
                let shown = |value: Option<&str>| value.unwrap_or("(nothing)").to_owned();
                return Err(Error::Mismatch {
                    field: name.clone(),
                    ours: shown(ours),
                    theirs: shown(theirs),
                });
            }
        }
        Ok(())
    }
}

/// What holds for each setting, whichever side it comes from, given those before it.
fn check_setting(before: &[(String, String)], name: &str, value: &str) -> Result<(), &'static str> {
    if before.len() == MAX_SETTINGS {
        return Err("there are more than 16 settings");
    }
    if name.is_empty() || name.len() > MAX_NAME_BYTES {
        return Err("the name of a setting is empty or longer than 40 bytes");
    }
    if value.len() > MAX_VALUE_BYTES {
        return Err("a setting is longer than 200 bytes");
    }
    if name.chars().chain(value.chars()).any(char::is_control) {
        return Err("a setting has unprintable characters");
    }
    if before.iter().any(|(earlier, _)| earlier == name) {
        return Err("a setting is given twice");
    }
    Ok(())
}

/// What is left of a received hello.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn hello(mut self) -> Result<(Hello, [u8; DIGEST_BYTES]), &'static str> {
        let [role] = self.array()?;
        let role = match role {
            1 => Role::Sender,
            2 => Role::Receiver,
            _ => return Err("its role is unknown"),
        };
        let set_size = u64::from_le_bytes(self.array()?);
        if set_size > MAX_SET_SIZE {
            return Err("its set has more than 2^26 items");
        }
        let commitment = self.array()?;
        let [count] = self.array()?;
        let mut settings = Vec::new();
        for _ in 0..count {
            let (name, value) = (self.text()?, self.text()?);
            check_setting(&settings, name, value)?;
            settings.push((name.to_owned(), value.to_owned()));
        }
        if self.0.iter().any(|&byte| byte != 0) {
            return Err("its hello has something after the end");
        }
        Ok((
            Hello {
                role,
                set_size,
                settings,
            },
            commitment,
        ))
    }

    fn text(&mut self) -> Result<&'a str, &'static str> {
        let [length] = self.array()?;
        let bytes = self.take(length.into())?;
        std::str::from_utf8(bytes).map_err(|_| "a setting is not UTF-8")
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

    const COMMITMENT: [u8; DIGEST_BYTES] = [7; DIGEST_BYTES];

    fn fault(hello: &Hello) -> String {
        hello.encode(&COMMITMENT).unwrap_err().to_string()
    }

    #[test]
    fn the_largest_hello_fits() {
        let hello = (0..16).fold(Hello::new(Role::Sender, MAX_SET_SIZE), |hello, i| {
            hello.setting(format!("{i:040}"), "é".repeat(100))
        });
        let bytes = hello.encode(&COMMITMENT).unwrap();
        assert_eq!(Hello::decode(&bytes).unwrap(), (hello.clone(), COMMITMENT));
        assert!(fault(&hello.setting("one", "more")).contains("more than 16"));
    }

    #[test]
    fn what_cannot_be_said_is_refused_before_it_is_sent() {
        let hello = || Hello::new(Role::Receiver, 0);
        assert!(fault(&hello().setting("", "x")).contains("empty"));
        assert!(fault(&hello().setting("n".repeat(41), "x")).contains("longer"));
        assert!(fault(&hello().setting("n", "v".repeat(201))).contains("longer"));
        assert!(fault(&hello().setting("n", "a\x1b[2J")).contains("unprintable"));
        assert!(fault(&hello().setting("n", 1).setting("n", 1)).contains("twice"));
        assert!(fault(&Hello::new(Role::Sender, MAX_SET_SIZE + 1)).contains("2^26"));
    }

    #[test]
    fn a_malformed_hello_is_refused() {
        let good = Hello::new(Role::Sender, 5)
            .setting("n", "v")
            .encode(&COMMITMENT)
            .unwrap();
        let spoilt = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            Hello::decode(&bytes).unwrap_err().to_string()
        };
        assert!(spoilt(0, 3).contains("role"));
        assert!(spoilt(8, 1).contains("2^26"));
        assert!(spoilt(HELLO_BYTES - 1, 1).contains("after the end"));
        assert!(spoilt(FIXED_BYTES - 1, 2).contains("empty"));
        assert!(spoilt(FIXED_BYTES + 1, 0xff).contains("UTF-8"));
        assert!(spoilt(FIXED_BYTES + 1, b'\n').contains("unprintable"));
    }

    proptest! {
        #[test]
        fn round_trips(
            is_sender in any::<bool>(),
            set_size in 0..=MAX_SET_SIZE,
            values in vec("[^\\pC]{0,50}", 0..=MAX_SETTINGS),
        ) {
            let role = if is_sender { Role::Sender } else { Role::Receiver };
            let hello = values.iter().enumerate().fold(Hello::new(role, set_size), |hello, (i, v)| {
                hello.setting(format!("setting {i}"), v)
            });
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
