//! An established connection to the peer.

use std::{
    io,
    net::SocketAddr,
    sync::Arc,
    thread::{self, JoinHandle},
};

use psijoin_channel::{AbortCode, Channel, path::Measured};

use crate::{
    Endpoint, Error, Listener, Options,
    endpoint::Address,
    establish::{self, Established},
    link::{self, Link, LinkInbound, LinkOutbound},
    wire::Wire,
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
    link: Arc<Link>,
    threads: Threads,
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
        let link = Arc::new(Link::new(options.timeouts, options.pulse.clone()));
        let threads = Threads::start(&link, Wire::new(socket, tls)?)?;
        options.interrupt.watch(&link);
        let channel = Channel::new(LinkOutbound(link.clone()), LinkInbound(link.clone()));
        Ok((
            Self {
                link,
                threads,
                peer_address,
                measured,
            },
            channel,
        ))
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
        self.link.abort(code);
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
        link::ends_after(&self.link, channel, sent_bytes, received_bytes)
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
        Ok(self.link.finish()?)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.link.close();
        self.threads.join();
    }
}

/// The reading and the writing thread of a connection.
#[derive(Debug)]
struct Threads {
    wire: Arc<Wire>,
    handles: Vec<JoinHandle<()>>,
}

impl Threads {
    fn start(link: &Arc<Link>, wire: Arc<Wire>) -> Result<Self, Error> {
        let mut threads = Self {
            wire,
            handles: Vec::new(),
        };
        let started = threads
            .spawn("psijoin-read", link, link::read_until_the_end)
            .and_then(|()| threads.spawn("psijoin-write", link, link::write_until_the_end));
        if let Err(error) = started {
            link.close();
            threads.join();
            return Err(Error::Thread(error));
        }
        Ok(threads)
    }

    fn spawn(&mut self, name: &str, link: &Arc<Link>, run: fn(&Link, Arc<Wire>)) -> io::Result<()> {
        let (link, wire) = (link.clone(), self.wire.clone());
        let thread = thread::Builder::new()
            .name(name.into())
            .spawn(move || run(&link, wire))?;
        self.handles.push(thread);
        Ok(())
    }

    /// Waits for the threads, which the link has told to end.
    fn join(&mut self) {
        self.wire.shut_down();
        for thread in self.handles.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread of a connection panicked; this is a bug in psijoin");
            }
        }
    }
}
