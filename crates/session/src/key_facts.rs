//! The facts that each party tells about its key columns, and their consequences for a match.
//!
//! Two parties can be set up alike and share nothing: `1.50` and `1.5`, a date and a text. So each
//! tells what its key columns [mean](Meaning), and both report differences, before any data moves.
//! With two key columns or more each also tells eight bits of a hash of each name: enough to see
//! that columns are in another order, and too little to reveal a name.

use psijoin_handshake::Hello;
use psijoin_table::{Kind, Meaning};

use crate::{Error, settings::key_column};

/// The fact about the names.
const NAMES: &str = "marks of the key columns' names";

/// The reason that equal keys of the two sides may not match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyDifference {
    /// The other side seems to have the same key columns in another order.
    Order,
    /// A column is of another kind there.
    Kind {
        /// The column.
        column: KeyColumn,
        /// Its kind here.
        ours: Kind,
        /// Its kind there.
        theirs: PeerKind,
    },
    /// A column is normalised by other rules there.
    Rules {
        /// The column.
        column: KeyColumn,
        /// The rules here, in words; empty if there is none.
        ours: String,
        /// The rules there, as the other party told them.
        theirs: String,
    },
}

/// A column of the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyColumn {
    /// Its position in the key, from 1.
    pub position: usize,
    /// Its name here; none if the only column is the key.
    pub name: Option<String>,
}

/// The kind of the other party's column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerKind {
    /// One that this version knows.
    Known(Kind),
    /// One that it does not know, in the other party's own words.
    Unknown(String),
}

impl PeerKind {
    fn told(name: &str) -> Self {
        let mut kinds = Kind::ALL.iter().copied();
        match kinds.find(|kind| kind.to_string() == name) {
            Some(known) => Self::Known(known),
            None => Self::Unknown(name.to_owned()),
        }
    }

    /// Returns the kind, if this version knows it.
    pub fn known(&self) -> Option<Kind> {
        match self {
            Self::Known(kind) => Some(*kind),
            Self::Unknown(_) => None,
        }
    }
}

/// A party's own key columns.
pub(super) struct KeyFacts<'a> {
    /// Their names; none if the only column is the key.
    names: &'a [String],
    meanings: &'a [Meaning],
}

impl<'a> KeyFacts<'a> {
    pub(super) fn new(names: &'a [String], meanings: &'a [Meaning]) -> Self {
        Self { names, meanings }
    }

    /// Adds the facts to a hello.
    pub(super) fn tell(&self, hello: Hello) -> Hello {
        let hello = (0..)
            .zip(self.meanings)
            .fold(hello, |hello, (at, meaning)| {
                hello.fact(key_column(at), meaning)
            });
        match self.names.len() {
            0 | 1 => hello,
            _ => hello.fact(NAMES, self.marks().join(" ")),
        }
    }

    /// Returns where the parties' key columns differ so much that equal keys may not match.
    ///
    /// # Errors
    /// If the peer left out a required fact.
    pub(super) fn differences(&self, theirs: &Hello) -> Result<Vec<KeyDifference>, Error> {
        let told = |at| {
            let missing = "it did not tell what its key columns mean";
            let told = theirs.told(&key_column(at));
            told.ok_or_else(|| psijoin_handshake::Error::Malformed(missing).into())
        };
        let theirs_at: Vec<&str> = (0..self.meanings.len())
            .map(told)
            .collect::<Result<_, Error>>()?;
        let columns = (0..).zip(self.meanings).zip(&theirs_at);
        let differ = columns.filter_map(|((at, ours), theirs)| self.difference(at, ours, theirs));
        let order = theirs
            .told(NAMES)
            .filter(|marks| is_other_order(&self.marks(), marks));
        let order = order.map(|_| KeyDifference::Order);
        Ok(differ.chain(order).collect())
    }

    fn difference(&self, at: usize, ours: &Meaning, theirs: &str) -> Option<KeyDifference> {
        let meaning = ours.to_string();
        if meaning == theirs {
            return None;
        }
        let column = KeyColumn {
            position: at + 1,
            name: self.names.get(at).cloned(),
        };
        let (their_kind, their_rules) = theirs.split_once(": ").unwrap_or((theirs, ""));
        if ours.kind().to_string() != their_kind {
            return Some(KeyDifference::Kind {
                column,
                ours: ours.kind(),
                theirs: PeerKind::told(their_kind),
            });
        }
        let our_rules = meaning.split_once(": ").map_or("", |(_, rules)| rules);
        if ours.kind() == Kind::Sha256 && (our_rules.is_empty() || their_rules.is_empty()) {
            // Whoever has hashes does not know how they were made.
            return None;
        }
        Some(KeyDifference::Rules {
            column,
            ours: our_rules.to_owned(),
            theirs: their_rules.to_owned(),
        })
    }

    /// Returns eight bits of a hash of each name, in upper or lower case, as two hexadecimal
    /// digits.
    fn marks(&self) -> Vec<String> {
        let mark = |name: &String| {
            let context = "psijoin 2026-11 mark of a key column's name v1";
            let hash = blake3::derive_key(context, name.trim().to_lowercase().as_bytes());
            format!("{:02x}", hash[0])
        };
        self.names.iter().map(mark).collect()
    }
}

fn is_other_order(ours: &[String], theirs: &str) -> bool {
    let theirs: Vec<&str> = theirs.split(' ').collect();
    let sorted = |mut marks: Vec<_>| {
        marks.sort_unstable();
        marks
    };
    let ours: Vec<&str> = ours.iter().map(String::as_str).collect();
    ours != theirs && sorted(ours) == sorted(theirs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_order_is_seen_and_other_names_are_not() {
        let marks = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            KeyFacts::new(&names, &[]).marks()
        };
        let ours = marks(&["name", "zip", "day"]);
        let is_other = |names: &[&str]| is_other_order(&ours, &marks(names).join(" "));
        assert!(is_other(&["zip", "name", "day"]));
        assert!(is_other(&["Day", " NAME", "zip"]));
        assert!(!is_other(&["name", "zip", "day"]));
        assert!(!is_other(&["vorname", "plz", "tag"]));
        assert!(!is_other(&["zip", "name"]));
        assert!(!is_other_order(&ours, "\u{1b}"));
    }

    #[test]
    fn kinds_are_known_by_what_they_are_told_as() {
        for kind in Kind::ALL {
            assert_eq!(PeerKind::told(&kind.to_string()).known(), Some(*kind));
        }
        let unknown = PeerKind::told("of a later version");
        assert_eq!(unknown, PeerKind::Unknown("of a later version".to_owned()));
    }
}
