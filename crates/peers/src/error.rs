use std::{io, path::PathBuf};

use psijoin_printable::path as shown;
use psijoin_transport::Fingerprint;

use crate::{LinkError, Name, NameError, date};

/// The reason that peers cannot be read, changed or found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read or written.
    #[error("the peers in {} cannot be read or written: {source}", shown(path))]
    File {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },

    /// The file holds something else.
    #[error("{} does not hold peers: {reason}", shown(path))]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The reason, which names no secret.
        reason: String,
    },

    /// The file is that of a later release.
    #[error(
        "{} was written by a later release of psijoin (its version is {version}): use that here, too",
        shown(path)
    )]
    Later {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },

    /// Nobody has the name.
    #[error("you know nobody by the name {name}{}", known(names))]
    Unknown {
        /// The name.
        name: Name,
        /// The names of all peers.
        names: Vec<Name>,
    },

    /// Somebody else has the name.
    #[error(
        "you know somebody else by the name {0} already: take another name, or remove that one"
    )]
    Taken(Name),

    /// The key is known under another name.
    #[error("you know the party with the fingerprint {fingerprint} already, as {name}")]
    Known {
        /// The name.
        name: Name,
        /// The fingerprint of its key.
        fingerprint: Fingerprint,
    },

    /// An invitation is over.
    #[error("this invitation was good until {}: ask for a new one", date(*.0))]
    Over(u64),

    /// The time of an invitation has no room in it.
    #[error("an invitation cannot last that long: choose an end before 2106")]
    TooLong,

    /// An invitation of this party's own.
    #[error("this invitation is your own: send it to the party that you want to meet")]
    OwnInvitation,

    /// There is nothing to confirm.
    #[error(
        "{0} was not invited with a fingerprint to confirm, or has come already: there is nothing to \
         confirm"
    )]
    NothingToConfirm(Name),

    /// The identity cannot be part of an invitation.
    #[error("an invitation needs an identity that is an Ed25519 key: make a new one")]
    NoKey,

    /// The operating system gave no randomness.
    #[error("the operating system gave no random bytes")]
    Randomness,

    /// A text is not a name.
    #[error(transparent)]
    Name(#[from] NameError),

    /// A text is not an invitation.
    #[error(transparent)]
    Link(#[from] LinkError),
}

fn known(names: &[Name]) -> String {
    let names: Vec<_> = names.iter().map(Name::as_str).collect();
    match &*names {
        [] => ": you know nobody by name yet; invite somebody, or accept an invitation".to_owned(),
        names => format!("; those that you know are {}", names.join(", ")),
    }
}
