//! The content of a record.

use std::collections::BTreeMap;

use psijoin_params::Role;
use psijoin_transport::{Fingerprint, PublicKey};
use serde::{Deserialize, Serialize};

use crate::{Error, Terms, as_text, canonical};

/// The version of the format, and of all words that a document is made of: both parties must make
/// the same.
pub const FORMAT: u32 = 2;

/// The facts that two parties agreed on and did, as both know them. It holds no item, no name of a
/// file, no address, and nothing of a result that one of them is not told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// [`FORMAT`].
    pub format: u32,
    /// The name of the session, which the parties drew together.
    pub session: String,
    /// The version of the handshake that they spoke.
    pub handshake: u16,
    /// The parties, and what each told.
    pub parties: PerParty<Party>,
    /// The terms that both gave; `None` if they gave none.
    pub terms: Option<Terms>,
    /// The settings that were compared, and equal on both sides, by name.
    pub settings: BTreeMap<String, String>,
    /// The columns of numbers that were asked for.
    pub columns: Vec<Column>,
    /// The protocol that was run.
    pub protocol: Protocol,
    /// The number of steps that ran more than once, as a job that had broken off was resumed: each
    /// sent the same bytes again.
    pub steps_run_again: u64,
    /// The end of the session.
    pub outcome: Outcome,
}

impl Document {
    /// Checks that it can be signed, before anything is done that it is about.
    ///
    /// # Errors
    /// [`Error::OneParty`], [`Error::Number`] and [`Error::Unprintable`].
    pub fn check(&self) -> Result<(), Error> {
        self.to_sign().map(drop)
    }

    /// Returns the text that both parties sign.
    pub(crate) fn to_sign(&self) -> Result<String, Error> {
        let PerParty { receiver, sender } = &self.parties;
        if receiver.key == sender.key {
            return Err(Error::OneParty(sender.fingerprint));
        }
        canonical::text(self)
    }
}

/// One for each party.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerParty<T> {
    /// The receiver's.
    pub receiver: T,
    /// The sender's.
    pub sender: T,
}

impl<T> PerParty<T> {
    /// Returns the value of this party.
    pub fn of(&self, role: Role) -> &T {
        match role {
            Role::Receiver => &self.receiver,
            Role::Sender => &self.sender,
        }
    }

    /// As [`of`](Self::of), to be changed.
    pub fn of_mut(&mut self, role: Role) -> &mut T {
        match role {
            Role::Receiver => &mut self.receiver,
            Role::Sender => &mut self.sender,
        }
    }
}

/// A party: its key, what it told about itself, and what follows for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Party {
    /// The name of its key.
    #[serde(with = "as_text")]
    pub fingerprint: Fingerprint,
    /// Its key.
    #[serde(with = "as_text")]
    pub key: PublicKey,
    /// Its version of psijoin, as it told.
    pub psijoin: String,
    /// The time of its clock at the start, as it told (RFC 3339, universal time).
    pub clock: String,
    /// The number of distinct keys of its table, as it told.
    pub keys: u64,
    /// The meaning of each of its key columns, as it told.
    pub key_columns: Vec<String>,
    /// The output it was to learn.
    pub learns: Vec<String>,
    /// The bytes of messages that it sent for the protocol.
    pub sent_bytes: u64,
}

/// A column of numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// As it was asked for.
    pub name: String,
    /// The party that has the column.
    #[serde(with = "role")]
    pub holder: Role,
    /// The number of decimals of its numbers, as its holder told.
    pub decimals: u32,
}

/// A role, as a record shows it.
mod role {
    use psijoin_params::Role;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
    pub(super) fn serialize<S: Serializer>(role: &Role, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(role)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Role, D::Error> {
        let shown = String::deserialize(from)?;
        let mut roles = Role::BOTH.into_iter();
        let role = roles.find(|role| role.to_string() == shown);
        role.ok_or_else(|| D::Error::custom("a role is sender or receiver"))
    }
}

/// The protocol that was run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: u32,
    /// Whom it protects against.
    pub adversary: String,
    /// Its parameters, in decimal digits: some are larger than JSON's numbers may be.
    pub parameters: BTreeMap<String, String>,
    /// The bits of computational security.
    pub computational_bits: u32,
    /// A statistical failure of any kind has a probability of at most 2^-σ: this is σ.
    pub statistical_bits: u32,
    /// The bits for each kind of failure, in [whole bits](failure_bits).
    pub failure_bits: BTreeMap<String, u64>,
}

/// The end of a session, as far as both parties know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// All messages of the protocol were exchanged.
    Done,
    /// Fewer keys were shared than the parties had agreed on as a minimum, so neither learned more.
    TooFew,
}

/// Returns a bound on a probability, given as its logarithm to base 2, as bits that both parties
/// derive alike: logarithms may differ in their last digits from machine to machine. `None` for
/// what cannot happen.
pub fn failure_bits(log2: f64) -> Option<u64> {
    /// Far more than rounding, and far less than anybody cares about.
    const SLACK: f64 = 1e-6;
    (log2 > f64::NEG_INFINITY).then(|| (SLACK - log2).floor() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_do_not_depend_on_the_last_digits() {
        for (log2, bits) in [
            (-41.0, Some(41)),
            (-41.0 + 1e-12, Some(41)),
            (-41.0 - 1e-12, Some(41)),
            (-40.5, Some(40)),
            (0.0, Some(0)),
            (f64::NEG_INFINITY, None),
        ] {
            assert_eq!(failure_bits(log2), bits, "{log2}");
        }
    }
}
