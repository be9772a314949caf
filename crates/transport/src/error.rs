use std::{fmt, io, net::SocketAddr, path::PathBuf, time::Duration};

use psijoin_channel::{AbortCode, Error as ChannelError};
use psijoin_printable::{Escaped, Quoted, Word};

use crate::{
    ProxyFault,
    fingerprint::{Fingerprint, ParseError},
    invitation::{InvitationFault, date},
    rendezvous,
};

/// The reason that two parties did not get a session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An address is not of the form `HOST:PORT`.
    #[error(
        "{} is not an address: write HOST:PORT, for example 0.0.0.0:7000, [::1]:7000 or \
         join.example.org:7000",
        Quoted(.0)
    )]
    Address(String),

    /// A text is no relay's address.
    #[error(
        "{} is not the address of a relay: write HOST:PORT, or wss://HOST/PATH if the relay stands behind a web server",
        Quoted(.0)
    )]
    RelayAddress(String),

    /// A text is no proxy's address. It is not shown, as it may hold a password.
    #[error(
        "this is not the address of a proxy: {0}; write http://HOST:PORT or http://USER:PASSWORD@HOST:PORT"
    )]
    ProxyAddress(&'static str),

    /// A text is not a fingerprint.
    #[error(transparent)]
    Fingerprint(#[from] ParseError),

    /// The other party is to have the key of this one.
    #[error(
        "the other party's fingerprint was given as {0}, which is this side's own: each side needs an identity of its \
         own, and names the other's"
    )]
    OwnFingerprint(Fingerprint),

    /// This side waits for whom it has invited, whose key it does not know yet, and was to connect.
    #[error(
        "this side does not know the other party's key yet, as that has not come with its invitation: \
         until then this side has to listen, and the other to connect"
    )]
    NobodyToMeet,

    /// There is a file already where an identity was to be written.
    #[error("{} exists already; an identity is never overwritten", psijoin_printable::path(.0))]
    IdentityExists(PathBuf),

    /// An identity file could not be read or written.
    #[error(
        "the identity file {} cannot be read or written: {source}",
        psijoin_printable::path(path)
    )]
    IdentityFile {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },

    /// A file is not an identity.
    #[error("{} is not an identity: {reason}", psijoin_printable::path(path))]
    IdentityMalformed {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: &'static str,
    },

    /// The private key of an identity is encrypted, and no passphrase was given for it.
    #[error("the identity {} has a passphrase", psijoin_printable::path(path))]
    IdentityLocked {
        /// The file.
        path: PathBuf,
        /// The name of the identity, which needs no passphrase.
        fingerprint: Fingerprint,
    },

    /// The private key of an identity is encrypted under another passphrase.
    #[error(
        "wrong passphrase for the identity {}, or its private key is damaged",
        psijoin_printable::path(.0)
    )]
    WrongPassphrase(PathBuf),

    /// A passphrase was given for an identity that has none.
    #[error(
        "the identity {} has no passphrase: its private key is not encrypted",
        psijoin_printable::path(.0)
    )]
    IdentityNotLocked(PathBuf),

    /// A passphrase could not be read from its file.
    #[error(
        "the file {} with the passphrase cannot be used: {source}",
        psijoin_printable::path(path)
    )]
    PassphraseFile {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },

    /// The private key of an identity cannot be encrypted.
    #[error(
        "the private key of this identity cannot be encrypted, as it does not have the form of \
         PKCS#8: `openssl pkcs8 -topk8 -scrypt` brings it into that"
    )]
    NotLockable,

    /// An identity that cannot sign which one follows it was to be replaced.
    #[error(
        "this identity is not an Ed25519 key, so it cannot sign which key follows it: make a new \
         one, and tell the other party its fingerprint"
    )]
    NotReplaceable,

    /// The operating system gave no randomness.
    #[error("the operating system gave no random bytes")]
    Randomness,

    /// This side cannot listen at the address.
    #[error("cannot listen at {}: {source}", Word(.address))]
    Listen {
        /// The address.
        address: String,
        /// The operating system's error.
        source: io::Error,
    },

    /// The address's host is not known.
    #[error("the host of {} cannot be found: {source}", Word(.address))]
    Resolve {
        /// The address.
        address: String,
        /// The operating system's error.
        source: io::Error,
    },

    /// The address cannot be reached.
    #[error("cannot connect to {}: {source}", Word(.address))]
    Connect {
        /// The address.
        address: String,
        /// The operating system's error.
        source: io::Error,
    },

    /// Nothing answers at the address, not even that nobody listens.
    #[error(
        "nothing answered at {} within {} s: a firewall may drop such connections, or the \
         machine is off; allow the port on the way to the side that listens",
        Word(.address), tenths(*waited)
    )]
    NoAnswer {
        /// The address.
        address: String,
        /// The time for which this side tried.
        waited: Duration,
    },

    /// A proxy does not lead to the address.
    #[error("the proxy {}, on the way to {}, {why}", Word(.proxy), Word(.address))]
    Proxy {
        /// The proxy.
        proxy: String,
        /// The address.
        address: String,
        /// The reason.
        why: ProxyFault,
    },

    /// Behind a proxy is somebody else than the other party.
    #[error(
        "through the proxy {}, {} identified itself as {found}, but {expected} was expected: such a \
         proxy may replace certificates to read along; ask those who run it to let {} pass as it \
         is, or meet at a relay whose address begins with wss://, where only the outer encryption \
         is replaced",
        Word(.proxy), Word(.address), Word(.address)
    )]
    Intercepted {
        /// The proxy.
        proxy: Box<str>,
        /// The address.
        address: Box<str>,
        /// The identity that was found there.
        found: Fingerprint,
        /// The identity that was expected.
        expected: Fingerprint,
    },

    /// A relay does not join this side with the other.
    #[error("the relay {} {why}", Word(.relay))]
    Relay {
        /// The relay.
        relay: String,
        /// The reason.
        why: RelayFault,
    },

    /// The other party was not met at the relay.
    #[error(
        "the other party did not come to the relay {} within {} s; both sides name the same relay and each other{}{}{}",
        Word(.relay), waited.as_secs_f32(), told(attempt), told(strangers), found(*by_invitation)
    )]
    NobodyAtRelay {
        /// The relay.
        relay: String,
        /// The time for which this side was there, or tried to be.
        waited: Duration,
        /// The most telling attempt of this side that failed, if any did.
        attempt: Option<Attempt>,
        /// The strangers that came in the other party's place, if there were any.
        strangers: Option<Box<Strangers>>,
        /// The parties would have found each other by an invitation.
        by_invitation: bool,
    },

    /// A folder cannot be used as a mailbox.
    #[error(
        "the folder {} cannot be used to meet in: {source}; this side has to read, write and remove files there",
        psijoin_printable::path(folder)
    )]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },

    /// The other party was not met in the folder.
    #[error(
        "the other party left nothing in the folder {} within {} s; both sides name one folder and each other{}{}{}",
        psijoin_printable::path(folder), waited.as_secs_f32(), told(attempt), told(strangers), found(*by_invitation)
    )]
    NobodyInFolder {
        /// The folder.
        folder: PathBuf,
        /// The time for which this side looked there.
        waited: Duration,
        /// The most telling attempt of this side that failed, if any did.
        attempt: Option<Attempt>,
        /// The strangers that left something in the other party's place, if there were any.
        strangers: Option<Box<Strangers>>,
        /// The parties would have found each other by an invitation.
        by_invitation: bool,
    },

    /// Nobody that could be the other party listened.
    #[error(
        "{} {} within {} s; one side must listen and the other connect{}",
        outcome(attempt), Word(.address), waited.as_secs_f32(), told(attempt)
    )]
    NobodyListened {
        /// The address.
        address: String,
        /// The time for which this side tried.
        waited: Duration,
        /// The most telling attempt, unless none came to an end.
        attempt: Option<Attempt>,
    },

    /// Nobody that could be the other party connected.
    #[error(
        "the other party did not connect to {} within {} s; one side must listen and the \
         other connect{}",
        Word(.address), waited.as_secs_f32(), told(strangers)
    )]
    NobodyConnected {
        /// The address.
        address: String,
        /// The time for which this side listened.
        waited: Duration,
        /// The strangers that connected instead, if any.
        strangers: Option<Strangers>,
    },

    /// A connection was made, but then nothing came.
    #[error("the other party did not set up the connection within {} s", tenths(*.0))]
    SetupTimedOut(Duration),

    /// The other party closed the connection before a session was set up.
    #[error("the other party closed the connection while it was being set up")]
    ClosedDuringSetup,

    /// The network failed while the connection was set up.
    #[error("the connection failed while it was being set up: {0}")]
    Io(#[from] io::Error),

    /// The operating system gives no thread: there is no memory for it, or there are too many.
    #[error("there is not enough memory, or the system gives no more threads: {0}")]
    Thread(#[source] io::Error),

    /// This party was told to stop, for example by Ctrl-C.
    #[error("interrupted")]
    Interrupted,

    /// The other party has another key than the pinned one.
    #[error("the other party identified itself as {found}, but {expected} was expected")]
    WrongPeer {
        /// The identity that it claims.
        found: Fingerprint,
        /// The identity that was expected.
        expected: Fingerprint,
    },

    /// The other party has none of the pinned keys.
    #[error(
        "the other party identified itself as {found}, but one of these was expected: {}",
        listed(expected)
    )]
    NoneOfThese {
        /// The identity that it claims.
        found: Fingerprint,
        /// The identities that were expected.
        expected: Vec<Fingerprint>,
    },

    /// The other party has replaced its key, and this side did not learn of it in time; or it came
    /// with the old one after that time.
    #[error("{}", of_replaced(*found, *old, *until))]
    ReplacedKey {
        /// The identity that it claims.
        found: Fingerprint,
        /// The key that was replaced.
        old: Fingerprint,
        /// The end of the time for which that counted, in seconds since 1970.
        until: u64,
    },

    /// An invitation did not bring the parties together.
    #[error(transparent)]
    Invitation(#[from] InvitationFault),

    /// The other party pins another key than this side's.
    #[error(
        "the other party refused this side's identity (fingerprint {ours}): it expects another"
    )]
    Refused {
        /// The fingerprint of this side.
        ours: Fingerprint,
    },

    /// The TLS handshake failed for another reason than a key.
    #[error("the TLS handshake failed: {}", Escaped(.0))]
    Tls(String),

    /// The other side speaks something else.
    #[error("the other side does not speak psijoin, or speaks another version of it: {0}")]
    NotPsijoin(&'static str),

    /// The other side speaks another version.
    #[error(
        "the two sides speak different versions of the {layer}: this side {ours}, the other side \
         {theirs}; update psijoin on {}", older(*ours, *theirs)
    )]
    Version {
        /// The layer whose versions differ.
        layer: &'static str,
        /// This side's version.
        ours: u16,
        /// The other side's version.
        theirs: u16,
    },

    /// A connection is not what it was to be: one to begin a session, or one of a session's
    /// streams.
    #[error("the connection does not belong to this session")]
    OtherSession,

    /// The further streams of a session could not all be opened.
    #[error(
        "only {opened} of {agreed} further connections between the two sides could be opened \
         within {} s: a firewall or forwarder may let only one pass; start both sides with \
         one thread, which needs no other{}{}",
        tenths(*waited), told(attempt), told(strangers)
    )]
    TooFewStreams {
        /// The number that could be opened, as far as this side knows.
        opened: u32,
        /// The number that both parties had agreed on.
        agreed: u32,
        /// The time for which this side tried.
        waited: Duration,
        /// The most telling attempt of this side, if it connects.
        attempt: Option<Box<Attempt>>,
        /// The strangers that connected instead, if this side listens and there were any.
        strangers: Option<Strangers>,
    },

    /// Not all lanes of a session have come that processes of the other party open.
    #[error(
        "{} not started on the other side within {} s: it may have fewer free slots than the lanes          it announced, or they fail there; let it run fewer lanes, or let both sides wait longer{}{}",
        have(missing, *lanes), tenths(*waited), told(attempt), told(strangers)
    )]
    LanesMissing {
        /// Their numbers, in ascending order.
        missing: Vec<u32>,
        /// The number of all lanes.
        lanes: u32,
        /// The time for which this side waited.
        waited: Duration,
        /// The most telling attempt of this side, if it goes to the other party.
        attempt: Option<Box<Attempt>>,
        /// The strangers that connected instead, if this side listens and there were any.
        strangers: Option<Box<Strangers>>,
    },

    /// A process of this party has not met the one that runs its lane on the other side.
    #[error(
        "lane {lane} (of {}) met nobody within {} s: the other side has not started it, or the          session is over; start all lanes of a session at the same time, on both sides, in as many          free slots{}{}",
        all(*lanes), tenths(*waited), told(attempt), told(strangers)
    )]
    LaneAlone {
        /// Its number.
        lane: u32,
        /// The number of all lanes.
        lanes: u32,
        /// The time for which this side tried.
        waited: Duration,
        /// The most telling attempt of this side, if it goes to the other party.
        attempt: Option<Box<Attempt>>,
        /// The strangers that came instead, if this side waits and there were any.
        strangers: Option<Box<Strangers>>,
    },

    /// One side encrypts and the other does not.
    #[error(
        "the two sides disagree on encryption: this side has `{ours}`, the other side has `{theirs}`"
    )]
    Encryption {
        /// The action of this side.
        ours: &'static str,
        /// The action of the other side.
        theirs: &'static str,
    },

    /// The connection broke while further streams were opened, or while it was closed.
    #[error(transparent)]
    Channel(#[from] ChannelError),
}

/// The reason that a relay does not join two parties, as the end of a sentence.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RelayFault {
    /// It says so.
    #[error("refuses that: {0}")]
    Refused(rendezvous::Text),

    /// It says so, and will say so again.
    #[error("refuses that for good: {0}")]
    Forbidden(rendezvous::Text),

    /// It serves only those who have a key, and this side has none.
    #[error("serves only those who have an access key: ask those who run it for one")]
    NeedsKey,

    /// It is about to stop.
    #[error("is about to stop, and takes nobody any more; it may soon be back")]
    Draining,

    /// It hung up.
    #[error("ended the connection while this side waited there")]
    Closed,

    /// It keeps silent.
    #[error("said nothing for {} s", tenths(*.0))]
    Silent(Duration),

    /// It is something else.
    #[error(
        "is none, or one of another release: {0}; behind an HTTPS server, its address begins with wss://"
    )]
    NotARelay(rendezvous::Fault),

    /// The web server before it does not encrypt as it should.
    #[error("cannot be spoken to in TLS: {}", Escaped(.0))]
    Tls(String),

    /// The web server before it does not lead to it.
    #[error("is not behind the web server at this address and path: {}", Escaped(.0))]
    Upgrade(String),
}

/// One of many attempts to connect, all of which failed. It is shown after the text of an error.
#[derive(Debug)]
#[non_exhaustive]
pub struct Attempt {
    /// The reason that it failed.
    pub why: Box<Error>,
    /// `true` if all attempts after it failed for the same reason.
    pub is_last: bool,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let which = if self.is_last {
            "the last attempt"
        } else {
            "an earlier attempt"
        };
        write!(f, "; {which}: {}", self.why)
    }
}

/// Those who connected and were not the other party. They are shown as what follows the text of
/// an error.
///
/// Any of them may be anybody. The reason is the one that points most to a mistake, and proves
/// nothing.
#[derive(Debug)]
#[non_exhaustive]
pub struct Strangers {
    /// The number of them.
    pub count: u64,
    /// The address of the one with the most telling reason.
    pub from: SocketAddr,
    /// The reason that this one was turned away.
    pub why: Box<Error>,
}

impl fmt::Display for Strangers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, from, why } = self;
        let place = |preposition| match from.ip().is_unspecified() {
            // Whoever comes by files has no address.
            true => String::new(),
            false => format!(" {preposition} {from}"),
        };
        match count {
            1 => write!(f, "; somebody{} was turned away: {why}", place("at")),
            _ => write!(
                f,
                "; {count} connections were turned away, the most telling one{}: {why}",
                place("from")
            ),
        }
    }
}

/// Returns the numbers of all lanes.
fn all(lanes: u32) -> String {
    match lanes {
        0 | 1 => "one".to_owned(),
        lanes => format!("0 to {}", lanes - 1),
    }
}

/// Returns the beginning of a sentence: that these lanes, in ascending order, have done something.
fn have(missing: &[u32], lanes: u32) -> String {
    let follow = |one: &u32, next: &u32| one + 1 == *next;
    let runs = missing.chunk_by(follow).map(|run| match run {
        [first, .., last] => format!("{first} to {last}"),
        [only] => only.to_string(),
        [] => String::new(),
    });
    let runs: Vec<String> = runs.collect();
    let listed = match &runs[..] {
        [.., _, _, _] if runs.len() > MOST_RUNS => format!("{}, …", runs[..MOST_RUNS].join(", ")),
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => runs.concat(),
    };
    match missing {
        [_] => format!("lane {listed} (of {}) has", all(lanes)),
        _ => format!("lanes {listed} (of {}) have", all(lanes)),
    }
}

/// The most runs of lanes that an error lists.
const MOST_RUNS: usize = 12;

fn listed(fingerprints: &[Fingerprint]) -> String {
    let texts: Vec<_> = fingerprints.iter().map(ToString::to_string).collect();
    texts.join(", ")
}

fn of_replaced(found: Fingerprint, old: Fingerprint, until: u64) -> String {
    let until = date(until);
    match found == old {
        true => format!(
            "the other party came with {old}, a key that it has replaced, and that counted until \
             {until}: it has to use its new identity"
        ),
        false => format!(
            "the other party has replaced its key {old} by {found}, and signed that; but the time in \
             which this side could take the new one over ended on {until}: ask the other party for its \
             fingerprint, by telephone or signed mail"
        ),
    }
}

/// Returns the side that has the older version.
fn older(ours: u16, theirs: u16) -> &'static str {
    match ours < theirs {
        true => "this side",
        false => "the other side",
    }
}

/// Returns how attempts to connect ended.
fn outcome(attempt: &Option<Attempt>) -> &'static str {
    match attempt.as_ref().map(|attempt| &*attempt.why) {
        None
        | Some(
            Error::Connect { .. }
            | Error::Resolve { .. }
            | Error::NoAnswer { .. }
            | Error::Proxy { .. },
        ) => "nobody listened at",
        Some(_) => "the other party was not met at",
    }
}

/// Returns the seconds, without the digits of a measured time that nobody reads.
fn tenths(time: Duration) -> f32 {
    (time.as_secs_f32() * 10.0).round() / 10.0
}

fn told(details: &Option<impl ToString>) -> String {
    details
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default()
}

/// Returns the part of a text about parties that have not met yet, and know each other by an
/// invitation only.
fn found(by_invitation: bool) -> &'static str {
    match by_invitation {
        true => {
            "; they find each other by the invitation: if it was withdrawn, replaced or changed on its way, make a new one"
        }
        false => "",
    }
}

/// The party that has to act on an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// The caller: it asked for something impossible.
    Usage,
    /// The caller: one of its files is missing or invalid.
    LocalFile,
    /// The network, or the peer is gone.
    Network,
    /// The peer: it broke the protocol, is not the expected one, or was set up otherwise.
    Peer,
    /// The peer: it cannot go on, for a reason of its own that only its own message tells.
    PeerFailed,
    /// The peer's policy forbids the result.
    Policy,
    /// This machine: it has no memory or threads left.
    Exhausted,
    /// Nobody: this party was told to stop.
    Interrupted,
}

impl Error {
    /// Returns who has to act on this error.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Address(_)
            | Self::RelayAddress(_)
            | Self::ProxyAddress(_)
            | Self::Fingerprint(_)
            | Self::OwnFingerprint(_)
            | Self::NobodyToMeet
            | Self::NotReplaceable
            | Self::IdentityLocked { .. }
            | Self::IdentityNotLocked(_)
            | Self::NotLockable
            | Self::Relay {
                why: RelayFault::NeedsKey | RelayFault::Forbidden(_),
                ..
            }
            | Self::Proxy {
                why: ProxyFault::NeedsPassword | ProxyFault::WrongPassword | ProxyFault::Scheme(_),
                ..
            } => Kind::Usage,
            Self::IdentityExists(_)
            | Self::IdentityFile { .. }
            | Self::IdentityMalformed { .. }
            | Self::WrongPassphrase(_)
            | Self::PassphraseFile { .. }
            | Self::Folder { .. } => Kind::LocalFile,
            Self::Randomness
            | Self::Listen { .. }
            | Self::Resolve { .. }
            | Self::Connect { .. }
            | Self::NoAnswer { .. }
            | Self::Proxy { .. }
            | Self::Relay { .. }
            | Self::NobodyConnected { .. }
            | Self::SetupTimedOut(_)
            | Self::ClosedDuringSetup
            | Self::TooFewStreams { .. }
            | Self::LanesMissing { .. }
            | Self::Io(_) => Kind::Network,
            Self::WrongPeer { .. }
            | Self::Intercepted { .. }
            | Self::NoneOfThese { .. }
            | Self::ReplacedKey { .. }
            | Self::Refused { .. }
            | Self::Tls(_)
            | Self::NotPsijoin(_)
            | Self::Version { .. }
            | Self::OtherSession
            | Self::Encryption { .. } => Kind::Peer,
            Self::Invitation(InvitationFault::NotKept) => Kind::PeerFailed,
            Self::Invitation(_) => Kind::Peer,
            Self::NobodyListened { attempt, .. }
            | Self::NobodyAtRelay { attempt, .. }
            | Self::NobodyInFolder { attempt, .. } => match attempt {
                Some(attempt) if attempt.why.kind() == Kind::Peer => Kind::Peer,
                _ => Kind::Network,
            },
            Self::LaneAlone { attempt, .. } => match attempt {
                Some(attempt) if attempt.why.kind() == Kind::Peer => Kind::Peer,
                _ => Kind::Network,
            },
            Self::Thread(_) => Kind::Exhausted,
            Self::Interrupted => Kind::Interrupted,
            Self::Channel(error) => error.into(),
        }
    }
}

impl From<&ChannelError> for Kind {
    fn from(error: &ChannelError) -> Self {
        match error {
            ChannelError::MessageLength { .. }
            | ChannelError::Malformed(_)
            | ChannelError::PeerDiffers => Self::Peer,
            ChannelError::OwnDiffers | ChannelError::NotKept(_) => Self::LocalFile,
            ChannelError::PeerAborted(code) => match code {
                AbortCode::ProtocolViolation
                | AbortCode::Incompatible
                | AbortCode::TooManyItems
                | AbortCode::TooMuchGiven
                | AbortCode::ReceiverSums
                | AbortCode::ReceiverGroups
                | AbortCode::UnlikeItems
                | AbortCode::NotOffered
                | AbortCode::OtherRun => Self::Peer,
                AbortCode::LocalFailure | AbortCode::InternalFailure => Self::PeerFailed,
                AbortCode::Refused | AbortCode::BudgetSpent => Self::Policy,
                // Everything that may be different the next time.
                _ => Self::Network,
            },
            ChannelError::Interrupted => Self::Interrupted,
            _ => Self::Network,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measured_time_is_rounded() {
        for (milliseconds, shown) in [(10_000, "10 s"), (1_004, "1 s"), (349, "0.3 s")] {
            let error = Error::SetupTimedOut(Duration::from_millis(milliseconds));
            let text = error.to_string();
            assert!(text.ends_with(&format!(" within {shown}")), "{text}");
        }
    }

    #[test]
    fn lanes_are_named_in_runs() {
        for (missing, lanes, said) in [
            (&[2, 5, 6, 7][..], 8, "lanes 2 and 5 to 7 (of 0 to 7) have"),
            (&[0, 1, 2], 3, "lanes 0 to 2 (of 0 to 2) have"),
            (&[1, 3, 5, 6], 9, "lanes 1, 3 and 5 to 6 (of 0 to 8) have"),
            (&[4], 8, "lane 4 (of 0 to 7) has"),
            (&[0], 1, "lane 0 (of one) has"),
        ] {
            assert_eq!(have(missing, lanes), said);
        }
        let odd: Vec<u32> = (0..100).map(|lane| 2 * lane + 1).collect();
        let said = have(&odd, 200);
        assert!(said.contains("21, 23, … (of"), "{said}");
    }

    #[test]
    fn the_reason_of_a_peer_that_gave_up_says_who_has_to_act() {
        for (code, kind) in [
            (AbortCode::LocalFailure, Kind::PeerFailed),
            (AbortCode::InternalFailure, Kind::PeerFailed),
            (AbortCode::ProtocolViolation, Kind::Peer),
            (AbortCode::Incompatible, Kind::Peer),
            (AbortCode::TooManyItems, Kind::Peer),
            (AbortCode::TooMuchGiven, Kind::Peer),
            (AbortCode::ReceiverSums, Kind::Peer),
            (AbortCode::ReceiverGroups, Kind::Peer),
            (AbortCode::UnlikeItems, Kind::Peer),
            (AbortCode::NotOffered, Kind::Peer),
            (AbortCode::OtherRun, Kind::Peer),
            (AbortCode::Refused, Kind::Policy),
            (AbortCode::BudgetSpent, Kind::Policy),
            (AbortCode::Interrupted, Kind::Network),
            (AbortCode::BadLuck, Kind::Network),
            (AbortCode::TimedOut, Kind::Network),
            (AbortCode::OutOfMemory, Kind::Network),
            (AbortCode::DeadlinePassed, Kind::Network),
            (AbortCode::Unknown, Kind::Network),
        ] {
            assert_eq!(
                Kind::from(&ChannelError::PeerAborted(code)),
                kind,
                "{code:?}"
            );
        }
    }
}
