//! The place and the way to meet the other party.

use std::{
    fmt, io,
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    str::FromStr,
    sync::Arc,
    time::Duration,
};

use crate::{
    Error, Fingerprint, Identity, Interrupt, InvitationKey, Pin, Proxies,
    invitation::Host,
    knock::Used,
    rendezvous::{AccessKey, Side, Token},
    tls::{self, Pins},
};

mod relay_address;

pub use relay_address::RelayAddress;
pub(crate) use relay_address::Web;

/// The way this side meets the other. One side must listen and the other connect, or both go to one
/// relay, or to one folder. The order in which the two are started does not matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// This side waits at its address.
    Listen(Address),
    /// This side goes to the other's address.
    Connect(Address),
    /// Both sides go to a relay.
    Relay(AtRelay),
    /// Both sides leave files for each other in a folder.
    Folder(InFolder),
}

impl Endpoint {
    /// Returns whether this side lets the other one in: it is the server of TLS. Of two sides that
    /// meet, one does. With several appointments it is the part of the first.
    pub fn lets_in(&self) -> bool {
        match self {
            Self::Listen(_) => true,
            Self::Connect(_) => false,
            Self::Relay(AtRelay { appointments, .. })
            | Self::Folder(InFolder { appointments, .. }) => {
                let first = appointments.first();
                first.is_some_and(|appointment| appointment.side == Side::Server)
            }
        }
    }

    /// Keeps these appointments from now on, if this side goes where both meet.
    pub fn arrange(&mut self, new: Vec<Appointment>) {
        match self {
            Self::Listen(_) | Self::Connect(_) => {}
            Self::Relay(AtRelay { appointments, .. })
            | Self::Folder(InFolder { appointments, .. }) => *appointments = new,
        }
    }
}

/// The way in which two parties find each other at a place that both go to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appointment {
    /// The name under which they meet.
    pub token: Token,
    /// The part of this side. The other one has the other part.
    pub side: Side,
}

impl Appointment {
    /// Returns that of two parties that know no more of each other than their fingerprints.
    pub fn of_strangers(ours: Fingerprint, theirs: Fingerprint) -> Self {
        Self {
            token: Token::of_first_meeting([ours, theirs]),
            side: Side::between(ours, theirs),
        }
    }
}

/// A meeting at a relay, which both sides go to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtRelay {
    /// Its address.
    pub relay: RelayAddress,
    /// All of them are kept at once, and whoever keeps one of them first is met. The two parties
    /// must not have two of them in common.
    pub appointments: Vec<Appointment>,
    /// The key of a relay that does not serve everybody.
    pub access: Option<AccessKey>,
}

impl AtRelay {
    /// Returns the meeting of two parties that know no more of each other than their fingerprints.
    pub fn first_meeting(relay: RelayAddress, ours: Fingerprint, theirs: Fingerprint) -> Self {
        Self {
            relay,
            appointments: vec![Appointment::of_strangers(ours, theirs)],
            access: None,
        }
    }
}

/// A meeting in a folder that both sides can write to, such as a network drive or a folder that is
/// synchronised: a [mailbox](crate::mailbox).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InFolder {
    /// The folder.
    pub folder: PathBuf,
    /// As [at a relay](AtRelay::appointments).
    pub appointments: Vec<Appointment>,
}

impl InFolder {
    /// Returns the meeting of two parties that know no more of each other than their fingerprints.
    pub fn first_meeting(
        folder: impl Into<PathBuf>,
        ours: Fingerprint,
        theirs: Fingerprint,
    ) -> Self {
        Self {
            folder: folder.into(),
            appointments: vec![Appointment::of_strangers(ours, theirs)],
        }
    }
}

/// What is seen of a meeting, while this side waits for the other one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sight {
    /// This side is where both meet, and the other one is not there.
    Waiting,
    /// The other side is there, or somebody who takes its place.
    Here,
    /// An attempt came to nothing, for this reason. The next one follows.
    Trouble(String),
}

/// The most bytes of an address: its length is to fit into one byte. Names of hosts are shorter.
pub(crate) const MAX_ADDRESS_BYTES: usize = 255;

/// A `HOST:PORT`, where the host is a name, an IPv4 address, or an IPv6 address in brackets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(String);

impl Address {
    /// Returns the address as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the host, without the brackets of an IPv6 address, and the port.
    pub(crate) fn parts(&self) -> (&str, u16) {
        let (host, port) = self.0.rsplit_once(':').expect("an address has a port");
        let unbracketed = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        let port = port.parse().expect("a port is a number");
        (unbracketed.unwrap_or(host), port)
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        Self(address.to_string())
    }
}

impl FromStr for Address {
    type Err = Error;

    /// # Errors
    /// [`Error::Address`] if the text has another form. A host that does not exist is found out
    /// when it is looked up.
    fn from_str(text: &str) -> Result<Self, Error> {
        let is_address = text.parse::<SocketAddr>().is_ok()
            || text.rsplit_once(':').is_some_and(|(host, port)| {
                let is_name = !host.is_empty()
                    && host
                        .chars()
                        .all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_'));
                is_name && port.parse::<u16>().is_ok()
            });
        match is_address && text.len() <= MAX_ADDRESS_BYTES {
            true => Ok(Self(text.to_owned())),
            false => Err(Error::Address(text.to_owned())),
        }
    }
}

/// The number of connections that the system keeps for a listening party that is busy, if it
/// agrees. The 128 of the standard library are few where thousands come at once.
const BACKLOG: i32 = 4096;

/// The number that it keeps while a session runs and nobody is let in: as many as a session has
/// streams, whose other side may be early. Were they more, strangers could fill them, and streams
/// would have to wait until all of these were heard.
const SESSION_BACKLOG: i32 = 256;

/// An address that this side already listens at. After binding to port 0, it has the actual port.
#[derive(Debug)]
pub struct Listener {
    pub(crate) socket: TcpListener,
    pub(crate) address: Address,
}

impl Listener {
    /// Starts to listen.
    ///
    /// # Errors
    /// [`Error::Listen`] if the address is taken, or not one of this machine's.
    pub fn bind(address: &Address) -> Result<Self, Error> {
        TcpListener::bind(address.as_str())
            .and_then(|socket| {
                let address = socket.local_addr()?.into();
                let listener = Self { socket, address };
                listener.open()?;
                Ok(listener)
            })
            .map_err(|source| Error::Listen {
                address: address.as_str().to_owned(),
                source,
            })
    }

    /// Lets somebody in from now on.
    pub(crate) fn open(&self) -> io::Result<()> {
        self.keep(BACKLOG)
    }

    /// Lets nobody in until it is [opened](Self::open) again.
    pub(crate) fn close(&self) -> io::Result<()> {
        self.keep(SESSION_BACKLOG)
    }

    /// Windows keeps the number that the socket began with, the standard library's.
    fn keep(&self, connections: i32) -> io::Result<()> {
        Ok(rustix::net::listen(&self.socket, connections)?)
    }

    /// Returns where it listens, with the port that it got.
    pub fn address(&self) -> &Address {
        &self.address
    }
}

/// The options of a connection. Made by [`new`](Self::new), and changed field by field:
///
/// ```
/// use std::time::Duration;
/// use psijoin_transport::{Options, Security};
///
/// let mut options = Options::new(Security::InsecurePlaintext);
/// options.timeouts.meet = Duration::from_secs(600);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The parties that may be at the other end, and those that may read along.
    pub security: Security,
    /// The time-outs.
    pub timeouts: Timeouts,
    /// Stops all waiting.
    pub interrupt: Interrupt,
    /// Shows whether this party works, so that the peer does not wait for one that hangs.
    /// Without it, a party counts as working for as long as its process lives.
    pub pulse: Option<Pulse>,
    /// `true` if [`Connection::open_streams`](crate::Connection::open_streams) may follow: a side
    /// that listens then keeps listening until it does, or until the session ends.
    pub streams: bool,
    /// The proxies through which this side connects.
    pub proxies: Proxies,
    /// Knocks that were used at any door of these options.
    pub(crate) used_knocks: Used,
}

impl Options {
    /// Returns the given security, the default time-outs, an interrupt of its own, no pulse, no
    /// further streams, and no proxies.
    pub fn new(security: Security) -> Self {
        Self {
            security,
            timeouts: Timeouts::default(),
            interrupt: Interrupt::new(),
            pulse: None,
            streams: false,
            proxies: Proxies::default(),
            used_knocks: Used::default(),
        }
    }
}

/// A number that grows while this party works, in any unit.
///
/// Keep-alives are sent only while it changes at least once in half of [`Timeouts::idle`], or
/// while this party waits for the peer. A party that hangs falls silent after that, and its peer
/// gets [`TimedOut`](psijoin_channel::Error::TimedOut) instead of waiting for good.
#[derive(Clone)]
pub struct Pulse(Arc<dyn Fn() -> u64 + Send + Sync>);

impl Pulse {
    /// Returns a pulse that `read` reads: a quick function that does not block, since it is called
    /// before every keep-alive, on a thread that also sends.
    pub fn new(read: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    pub(crate) fn read(&self) -> u64 {
        (self.0)()
    }
}

impl fmt::Debug for Pulse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pulse").field(&self.read()).finish()
    }
}

/// The parties that may be at the other end, and those that may read along.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Security {
    /// TLS 1.3 with the party whose key has the fingerprint `peer`, and nobody else.
    PinnedTls {
        /// The identity of this side.
        identity: Identity,
        /// The expected fingerprint of the other side.
        peer: Fingerprint,
    },
    /// TLS 1.3 with one of several keys, and nobody else: of several parties, or of one that has
    /// replaced its key. A side that connects knocks at the door of the first.
    AnyOf {
        /// The identity of this side.
        identity: Identity,
        /// The keys of the other side. There is at least one.
        peers: Vec<Pin>,
    },
    /// TLS 1.3 with whoever proves an [invitation](crate::invitation) of this side's, or has done so
    /// before. Until then this side has to listen.
    Inviting {
        /// The identity of this side.
        identity: Identity,
        /// The key of the invitation.
        key: InvitationKey,
        /// The keys of the guest, if it has come before. With these it need not prove anything.
        known: Vec<Pin>,
        /// Judges who comes with the invitation, and keeps that.
        host: Arc<dyn Host>,
    },
    /// TLS 1.3 with the party that has [invited](crate::invitation) this side, which has to connect.
    Invited {
        /// The identity of this side.
        identity: Identity,
        /// The fingerprint of the inviter's key.
        peer: Fingerprint,
        /// The key of the invitation.
        key: InvitationKey,
    },
    /// No encryption, and anybody may be at the other end. Whoever sits between the parties
    /// can read and change everything.
    InsecurePlaintext,
}

impl Security {
    /// Checks that the parties are two. It is also checked before they meet.
    ///
    /// # Errors
    /// [`Error::OwnFingerprint`] if the peer is to have this side's own key: whoever holds it could
    /// be either party, and a signature of one would be the other's.
    pub fn check(&self) -> Result<(), Error> {
        match self.identity() {
            Some(identity) => tls::check_apart(identity, &self.known()),
            None => Ok(()),
        }
    }

    /// Returns who this side is; `None` without TLS.
    pub fn identity(&self) -> Option<&Identity> {
        match self {
            Self::PinnedTls { identity, .. }
            | Self::AnyOf { identity, .. }
            | Self::Inviting { identity, .. }
            | Self::Invited { identity, .. } => Some(identity),
            Self::InsecurePlaintext => None,
        }
    }

    /// Returns the only key that the other side may have, if there is only one.
    pub fn only_peer(&self) -> Option<Fingerprint> {
        match &*self.known() {
            [pin] => Some(pin.fingerprint),
            _ => None,
        }
    }

    /// Returns whether the parties know each other by an invitation only.
    pub(crate) fn is_by_invitation(&self) -> bool {
        match self {
            Self::Invited { .. } => true,
            Self::Inviting { known, .. } => known.is_empty(),
            Self::PinnedTls { .. } | Self::AnyOf { .. } | Self::InsecurePlaintext => false,
        }
    }

    /// Returns the keys by which this side knows the other. The first is that at whose door it
    /// knocks.
    pub(crate) fn known(&self) -> Vec<Pin> {
        match self {
            Self::PinnedTls { peer, .. } | Self::Invited { peer, .. } => vec![(*peer).into()],
            Self::AnyOf { peers: known, .. } | Self::Inviting { known, .. } => known.clone(),
            Self::InsecurePlaintext => Vec::new(),
        }
    }

    /// Returns the keys that TLS takes for the other side's where this one listens.
    pub(crate) fn pins_of_callers(&self) -> Pins {
        match self {
            Self::Inviting { .. } => Pins::Anybody,
            _ => Pins::These(self.known()),
        }
    }

    /// Returns what further connections of a session are made with, once the peer is found: that
    /// one and no other may come.
    pub(crate) fn settled(&self, found: Option<Fingerprint>) -> Self {
        match (self.identity(), found) {
            (Some(identity), Some(peer)) => Self::PinnedTls {
                identity: identity.clone(),
                peer,
            },
            _ => self.clone(),
        }
    }
}

/// The longest waits for each event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For the other party to be there: to connect, or to listen. 60 s by default.
    pub meet: Duration,
    /// For a peer that is there to set up the connection and prove who it is, and for all further
    /// streams to be opened. 10 s by default.
    pub setup: Duration,
    /// For any sign of life on an established connection. 30 s by default. Half of it is how
    /// long a [`Pulse`] of this side may stand still.
    pub idle: Duration,
    /// The longest time for which this side stays silent on an established connection: several
    /// times shorter than the peer's [`idle`](Self::idle). 1 s by default.
    pub keep_alive: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            meet: Duration::from_secs(60),
            setup: Duration::from_secs(10),
            idle: Duration::from_secs(30),
            keep_alive: Duration::from_secs(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_hosts_with_ports() {
        for text in [
            "localhost:7000",
            "127.0.0.1:0",
            "[::1]:7000",
            "join.example.org:65535",
        ] {
            assert_eq!(text.parse::<Address>().unwrap().as_str(), text);
        }
        for text in [
            "",
            "localhost",
            ":7000",
            "host:",
            "host:70000",
            "::1",
            "a b:1",
            "http://h:1",
        ] {
            let error = text.parse::<Address>().unwrap_err();
            assert!(matches!(error, Error::Address(_)), "{text}");
        }
    }

    #[test]
    fn an_address_has_a_host_and_a_port() {
        for (text, host, port) in [
            ("join.example.org:7000", "join.example.org", 7000),
            ("127.0.0.1:0", "127.0.0.1", 0),
            ("[::1]:7000", "::1", 7000),
        ] {
            assert_eq!(text.parse::<Address>().unwrap().parts(), (host, port));
        }
    }

    #[test]
    fn both_parties_of_a_first_meeting_know_its_name_and_their_parts() {
        let [a, b] = [&b"a"[..], b"b"].map(Fingerprint::of_public_key);
        let at = |ours, theirs| {
            let relay = "relay.example.org:7000".parse().unwrap();
            AtRelay::first_meeting(relay, ours, theirs)
        };
        let in_folder = |ours, theirs| InFolder::first_meeting("shared", ours, theirs);
        for (one, other) in [
            (at(a, b).appointments, at(b, a).appointments),
            (in_folder(a, b).appointments, in_folder(b, a).appointments),
        ] {
            let ([one], [other]) = (&*one, &*other) else {
                panic!("each has one");
            };
            assert_eq!(one.token, other.token);
            assert_eq!(one.side, other.side.other());
        }
    }

    #[test]
    fn a_taken_address_is_an_error_that_names_it() {
        let first = Listener::bind(&"127.0.0.1:0".parse().unwrap()).unwrap();
        let error = Listener::bind(first.address()).unwrap_err().to_string();
        assert!(error.contains(first.address().as_str()), "{error}");
    }
}
