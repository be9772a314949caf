//! An established connection to the peer.

use std::{net::SocketAddr, sync::Arc};

use psijoin_channel::{AbortCode, Channel, path::Measured};

use crate::{
    Endpoint, Error, Listener, Options,
    endpoint::Address,
    establish::{self, Established},
    line::{self, Line},
    link::{Bond, Countdown, Link},
};

/// An established connection to the peer, kept alive by two threads of its own.
///
/// The protocol runs over the [`Channel`] that comes with it. It is owned apart from the
/// connection, so that it can be decorated and handed on; it works for as long as the
/// connection lives.
///
/// A session that went well ends with [`finish`](Self::finish), one that did not with
/// [`abort`](Self::abort) (or the channel's own). A connection that is dropped without
/// either still delivers what was sent, but the peer then gets
/// [`Closed`](psijoin_channel::Error::Closed) where it expects more. Dropping takes up to a
/// second if the peer does not close its side.
///
/// ```
/// use std::thread;
/// use psijoin_transport::{Connection, Identity, Listener, Options, Security};
///
/// let (alice, bob) = (Identity::generate()?, Identity::generate()?);
/// let (alice_is, bob_is) = (alice.fingerprint(), bob.fingerprint());
///
/// let listener = Listener::bind(&"127.0.0.1:0".parse()?)?;
/// let address = listener.address().clone();
/// let listening = thread::spawn(move || {
///     let options = Options::new(Security::PinnedTls { identity: alice, peer: bob_is });
///     let (connection, mut channel) = Connection::accept(listener, &options)?;
///     channel.send(b"hello")?;
///     connection.finish()
/// });
/// let options = Options::new(Security::PinnedTls { identity: bob, peer: alice_is });
/// let (connection, mut channel) = Connection::connect(&address, &options)?;
/// assert_eq!(channel.recv_array()?, *b"hello");
/// connection.finish()?;
/// listening.join().unwrap()?;
/// # Ok::<(), psijoin_transport::Error>(())
/// ```
#[derive(Debug)]
pub struct Connection {
    /// That of the meeting first.
    lines: Vec<Line>,
    peer_address: SocketAddr,
    measured: Measured,
}

impl Connection {
    /// Meets the other party in the given way.
    ///
    /// # Errors
    /// As [`connect`](Self::connect) and [`accept`](Self::accept), and [`Error::Listen`].
    pub fn open(endpoint: &Endpoint, options: &Options) -> Result<(Self, Channel), Error> {
        match endpoint {
            Endpoint::Listen(address) => Self::accept(Listener::bind(address)?, options),
            Endpoint::Connect(address) => Self::connect(address, options),
        }
    }

    /// Goes to the other party's address, and tries again for as long as
    /// [`Timeouts::meet`](crate::Timeouts::meet) allows, whoever or whatever is at the address
    /// until then.
    ///
    /// # Errors
    /// [`Error::NobodyListened`] after the time-out, which is of kind
    /// [`Peer`](crate::Kind::Peer) if somebody else listened; at once [`Error::Refused`] and
    /// others of that kind, if the party with the pinned key has said so;
    /// [`Error::Interrupted`]; and what no later attempt could change.
    pub fn connect(address: &Address, options: &Options) -> Result<(Self, Channel), Error> {
        Self::start(establish::connect(address, options)?, options)
    }

    /// Waits for the other party to connect. Whoever else connects is logged and dropped, and
    /// can neither end the wait nor keep the other party out.
    ///
    /// # Errors
    /// [`Error::NobodyConnected`] after the time-out, [`Error::Interrupted`], and what the
    /// network may fail with once the other party is found.
    pub fn accept(listener: Listener, options: &Options) -> Result<(Self, Channel), Error> {
        Self::start(establish::accept(listener, options)?, options)
    }

    fn start(established: Established, options: &Options) -> Result<(Self, Channel), Error> {
        let Established {
            socket,
            tls,
            measured,
        } = established;
        let peer_address = socket.peer_addr()?;
        let line = Line::start(socket, tls, options, &Arc::new(Bond::default()))?;
        let channel = line.channel();
        Ok((
            Self {
                lines: vec![line],
                peer_address,
                measured,
            },
            channel,
        ))
    }

    /// That of the meeting.
    fn link(&self) -> &Link {
        &self.lines[0].link
    }

    /// Where the peer is, as the network sees it.
    pub fn peer_address(&self) -> SocketAddr {
        self.peer_address
    }

    /// What the greeting has shown of the network. It costs no round trip of its own. Without TLS,
    /// nothing is known.
    pub fn measured(&self) -> Measured {
        self.measured
    }

    /// Gives up, telling the peer why; as [`Channel::abort`], for a caller that has handed the
    /// channel on.
    pub fn abort(&self, code: AbortCode) {
        self.link().abort(code);
    }

    /// Ends the session by itself when this many payload bytes of messages have passed each way
    /// over `channel`, which is this connection's, from now on; or at once, if this is zero.
    ///
    /// The last word of a session then says nothing about what this party does with the last
    /// message: a peer cannot time how long it works on the result. [`finish`](Self::finish)
    /// still has to be called, and waits for the peer's last word.
    ///
    /// After the last byte, sending fails with [`Closed`](psijoin_channel::Error::Closed), an
    /// empty message included, and an abort is no longer told.
    pub fn ends_after(&self, channel: Channel, sent_bytes: u64, received_bytes: u64) -> Channel {
        let links = self.lines.iter().map(|line| line.link.clone()).collect();
        Countdown::new(links, sent_bytes, received_bytes).over(channel)
    }

    /// Ends a session that went well. After `Ok`, the peer has said that it has received all
    /// that it expected.
    ///
    /// It waits for a peer that is still computing, for as long as that shows that it works.
    ///
    /// # Errors
    /// If the peer has sent more than was received, gives up, goes away or falls silent, or
    /// this party is interrupted.
    pub fn finish(self) -> Result<(), Error> {
        let links = || self.lines.iter().map(|line| &line.link);
        links().try_for_each(|link| link.take_leave())?;
        Ok(links().try_for_each(|link| link.finish())?)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        line::hang_up(&mut self.lines);
    }
}
