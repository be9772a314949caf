//! The names of files in a mailbox.

use std::{fmt, str::FromStr};

use ring::rand::{SecureRandom, SystemRandom};

use crate::rendezvous::Side;

/// A run of a party: a random number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Run(u64);

impl Run {
    /// Returns a new one, if the operating system gives randomness.
    pub(super) fn fresh() -> Option<Self> {
        let mut bytes = [0; 8];
        SystemRandom::new().fill(&mut bytes).ok()?;
        Some(Self(u64::from_le_bytes(bytes)))
    }

    fn read(text: &str) -> Option<Self> {
        let is_written_so = text.len() == 16
            && text
                .bytes()
                .all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
        let number = u64::from_str_radix(text, 16).ok()?;
        is_written_so.then_some(Self(number))
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// See the [module of mailboxes](super).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Name {
    First(Run),
    Letter {
        from: Side,
        client: Run,
        server: Run,
        number: u64,
    },
    Here(Run),
}

impl Name {
    /// Returns the run of the client that it belongs to, if it belongs to one.
    pub(super) fn client(&self) -> Option<Run> {
        match *self {
            Self::First(client) | Self::Letter { client, .. } => Some(client),
            Self::Here(_) => None,
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::First(client) => write!(f, "first-{client}"),
            Self::Here(server) => write!(f, "here-{server}"),
            Self::Letter {
                from,
                client,
                server,
                number,
            } => {
                let from = match from {
                    Side::Server => "server",
                    Side::Client => "client",
                };
                write!(f, "{from}-{client}-{server}-{number}")
            }
        }
    }
}

/// The text is no such name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoName;

impl FromStr for Name {
    type Err = NoName;

    fn from_str(text: &str) -> Result<Self, NoName> {
        let run = |text: &str| Run::read(text).ok_or(NoName);
        let parts: Vec<&str> = text.split('-').collect();
        let name = match parts[..] {
            ["first", client] => Self::First(run(client)?),
            ["here", server] => Self::Here(run(server)?),
            [from @ ("server" | "client"), client, server, number] => Self::Letter {
                from: match from {
                    "server" => Side::Server,
                    _ => Side::Client,
                },
                client: run(client)?,
                server: run(server)?,
                number: number.parse().map_err(|_| NoName)?,
            },
            _ => return Err(NoName),
        };
        // A number can be written in several ways, and a name in one.
        (name.to_string() == text).then_some(name).ok_or(NoName)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_is_read_as_it_is_written() {
        let [client, server] = [Run(0xabc), Run(u64::MAX)];
        for (name, text) in [
            (Name::First(client), "first-0000000000000abc"),
            (Name::Here(server), "here-ffffffffffffffff"),
            (
                Name::Letter {
                    from: Side::Server,
                    client,
                    server,
                    number: 17,
                },
                "server-0000000000000abc-ffffffffffffffff-17",
            ),
        ] {
            assert_eq!(name.to_string(), text);
            assert_eq!(text.parse(), Ok(name));
        }
    }

    #[test]
    fn anything_else_is_none() {
        for text in [
            "",
            "first",
            "first-",
            "first-abc",
            "First-0000000000000abc",
            "first-0000000000000ABC",
            "first-0000000000000abc (conflicted copy)",
            ".part-first-0000000000000abc",
            "server-0000000000000abc-0000000000000abc-017",
            "server-0000000000000abc-0000000000000abc-+1",
            "server-0000000000000abc-0000000000000abc",
        ] {
            assert_eq!(text.parse::<Name>(), Err(NoName), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_a_name_or_not(text in "\\PC*") {
            if let Ok(name) = text.parse::<Name>() {
                prop_assert_eq!(name.to_string(), text);
            }
        }
    }
}
