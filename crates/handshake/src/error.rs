use std::fmt;

use psijoin_channel::Error as ChannelError;
use psijoin_printable::{Escaped, Quoted};

use crate::Role;

/// The reason that two parties did not agree on a session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting for the handshake is empty, too long, not printable, or one too many.
    #[error(
        "the setting {} cannot be compared with the other party's: {reason}",
        Quoted(name)
    )]
    Setting {
        /// Its name.
        name: String,
        /// The reason.
        reason: &'static str,
    },

    /// This side's set is larger than any protocol serves.
    #[error("a set of {0} items is too large: at most 2^34 are supported")]
    SetTooLarge(u64),

    /// The other side speaks something else.
    #[error("the other side does not speak psijoin, or speaks another version of it: {0}")]
    NotPsijoin(&'static str),

    /// The other side speaks another version.
    #[error(
        "the two sides speak different versions of the protocol: this side {ours}, the other side \
         {theirs}; update psijoin on {}", older(*ours, *theirs)
    )]
    Version {
        /// This side's version: the newest that it speaks.
        ours: u16,
        /// The other side's version, likewise.
        theirs: u16,
    },

    /// Both sides were started in the same role.
    #[error("both sides were started as the {0}: one must send and the other receive")]
    SameRole(Role),

    /// The two sides were not set up alike.
    #[error("the two sides disagree on {}", listed(.0))]
    Mismatch(Vec<Disagreement>),

    /// The other party sent a handshake that is not well-formed.
    #[error("the other party broke the handshake: {0}")]
    Malformed(&'static str),

    /// The channel broke.
    #[error(transparent)]
    Channel(#[from] ChannelError),
}

/// Returns the side that has the older version.
fn older(ours: u16, theirs: u16) -> &'static str {
    match ours < theirs {
        true => "this side",
        false => "the other side",
    }
}

impl Error {
    /// Returns a disagreement on one thing.
    pub(crate) fn mismatch(
        field: impl Into<String>,
        ours: impl Into<String>,
        theirs: impl Into<String>,
    ) -> Self {
        Self::Mismatch(vec![Disagreement {
            field: field.into(),
            ours: ours.into(),
            theirs: theirs.into(),
        }])
    }
}

/// Something on which the two sides were not set up alike.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Disagreement {
    /// The name of what they disagree on.
    pub field: String,
    /// This side's value.
    pub ours: String,
    /// The other side's value.
    pub theirs: String,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: this side has {}, the other side has {}",
            Escaped(&self.field),
            Quoted(&self.ours),
            Quoted(&self.theirs)
        )
    }
}

fn listed(disagreements: &[Disagreement]) -> String {
    let texts: Vec<_> = disagreements.iter().map(Disagreement::to_string).collect();
    texts.join("; and on ")
}
