//! An established connection to the peer.
//!
//! **The last message ends the session.** A plan's cost is exact, so a party says goodbye on its
//! own when the last byte is in or out, before it looks at it. The time of what follows (matching,
//! writing, syncing) would show how large the result is. Also, nobody can take a result away by
//! leaving any more. The socket closes when both have said it: many a proxy takes the end of one
//! direction for that of both.
//!
//! **Signatures are last words.** With a record, both swap signatures inside that very call
//! ([`Connection::all_end_with_last_words`]) and close then, so the time does not tell what the
//! party makes of the last message either. The document's content is known by then: the handshake
//! settles it, and bytes are the plan's.

use std::sync::Arc;

use psijoin_channel::{AbortCode, Channel, joint_seed::JointSeed, path::Measured};

use crate::{
    AtRelay, Endpoint, Error, InFolder, KeyExchange, Lanes, LanesAt, Listener, Options, PairSecret,
    PublicKey, Security, Sight, Succeeded, Timeouts, Watch,
    dial::Way,
    endpoint::Address,
    establish::{self, Door, Established, Opening, Streams},
    line::{self, Line},
    link::{Bond, Countdown, Link},
    tls,
};

/// An established connection to the peer, kept alive by two threads of its own. It begins with
/// one stream, and can have [more](Self::open_streams).
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
    bond: Arc<Bond>,
    peer_place: String,
    peer_key: Option<PublicKey>,
    pair_secret: Option<PairSecret>,
    succeeded: Option<Succeeded>,
    is_by_invitation: bool,
    measured: Measured,
    /// The peer that was found is the only one that may open further streams.
    options: Options,
    /// The source of further streams, until they are opened.
    door: Option<Door>,
}

impl Connection {
    /// Meets the other party in the given way.
    ///
    /// # Errors
    /// As [`connect`](Self::connect), [`accept`](Self::accept),
    /// [`meet_at_relay`](Self::meet_at_relay) and [`meet_in_folder`](Self::meet_in_folder), and
    /// [`Error::Listen`].
    pub fn open(endpoint: &Endpoint, options: &Options) -> Result<(Self, Channel), Error> {
        match endpoint {
            Endpoint::Listen(address) => Self::accept(Listener::bind(address)?, options),
            Endpoint::Connect(address) => Self::connect(address, options),
            Endpoint::Relay(at) => Self::meet_at_relay(at, options, &|_| {}),
            Endpoint::Folder(at) => Self::meet_in_folder(at, options, &|_| {}),
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
        let way = options.proxies.way(address);
        let established = establish::connect(&way, options)?;
        let door = match way.proxy {
            Some(_) => way,
            None => Way {
                address: established.socket.peer_addr()?.into(),
                proxy: None,
            },
        };
        Self::start(established, Some(Door::Address(door)), options)
    }

    /// Meets the other party at a relay, which both go to. What is seen there meanwhile is told to
    /// `sees`, on this thread.
    ///
    /// Whoever takes the other party's place at the relay is turned away, as at
    /// [`accept`](Self::accept).
    ///
    /// # Errors
    /// [`Error::NobodyAtRelay`] after the time-out; [`Error::Interrupted`]; [`Error::Refused`] and
    /// others of that kind, if the party with the pinned key has said so; and what no later attempt
    /// could change: [`Error::Proxy`] and [`Error::Relay`] for some reasons.
    pub fn meet_at_relay(
        at: &AtRelay,
        options: &Options,
        sees: &dyn Fn(Sight),
    ) -> Result<(Self, Channel), Error> {
        let established = establish::meet_at_relay(at, options, sees)?;
        let door = Door::Relay(at.clone(), established.side);
        Self::start(established, Some(door), options)
    }

    /// Meets the other party in a folder, where both leave files for each other: a
    /// [mailbox](crate::mailbox). What is seen there meanwhile is told to `sees`, on this thread.
    ///
    /// # Errors
    /// [`Error::NobodyInFolder`] after the time-out; [`Error::Folder`] if files cannot be read,
    /// written or removed there; [`Error::Interrupted`]; and what the other party says.
    pub fn meet_in_folder(
        at: &InFolder,
        options: &Options,
        sees: &dyn Fn(Sight),
    ) -> Result<(Self, Channel), Error> {
        let established = establish::meet_in_folder(at, options, sees)?;
        let door = Door::Folder(at.clone(), established.side);
        Self::start(established, Some(door), options)
    }

    /// Waits for the other party to connect. Whoever else connects is logged and dropped, and
    /// cannot end the wait. Nor can many of them keep the other party out, if it
    /// [knocks](crate::knock): with TLS, an Ed25519 key, and clocks that differ by less than five
    /// minutes.
    ///
    /// # Errors
    /// [`Error::NobodyConnected`] after the time-out, [`Error::Interrupted`], and what the
    /// network may fail with once the other party is found.
    pub fn accept(listener: Listener, options: &Options) -> Result<(Self, Channel), Error> {
        let established = establish::accept(&listener, options)?;
        let door = options.streams.then_some(Door::Listener(listener));
        Self::start(established, door, options)
    }

    /// Opens the only one of these streams.
    pub(crate) fn of_stream(streams: &Streams, door: &Door) -> Result<(Self, Channel), Error> {
        let established = streams.open_alone(door)?;
        Self::start(established, None, streams.options())
    }

    fn start(
        established: Established,
        door: Option<Door>,
        options: &Options,
    ) -> Result<(Self, Channel), Error> {
        let peer_place = established.place.clone();
        let tls = established.tls.as_ref();
        let peer_key = tls.and_then(tls::peer_key);
        let pair_secret = tls.and_then(|tls| tls::exported(tls, PairSecret::LABEL));
        let known = options.security.known();
        let succeeded = tls.and_then(|tls| tls::succeeded(tls, &known));
        let is_by_invitation = matches!(options.security, Security::Invited { .. });
        let found = tls.and_then(tls::peer_fingerprint);
        let options = Options {
            security: options.security.settled(found),
            ..options.clone()
        };
        let measured = established.measured;
        let bond = Arc::new(Bond::default());
        let line = Line::start(established, &options, &bond)?;
        let channel = line.channel();
        Ok((
            Self {
                lines: vec![line],
                bond,
                peer_place,
                peer_key,
                pair_secret: pair_secret.map(PairSecret::from_bytes),
                succeeded,
                is_by_invitation,
                measured,
                options,
                door,
            },
            channel,
        ))
    }

    /// Returns the link of the meeting.
    fn link(&self) -> &Link {
        &self.lines[0].link
    }

    /// Opens `count` further streams to the peer, which calls this too, at the same point of the
    /// conversation and with the same `count` and joint seed. Each is a TCP connection of its own
    /// between the same parties, found in the same way and protected alike. The channels come in
    /// the same order on both sides.
    ///
    /// From then on the connection means all its streams, that of the meeting among them. If one
    /// ends, by an abort, an interrupt, a time-out or the network, all others end at once for the
    /// same reason, on both sides. Streams that wait for their turn are kept alive.
    ///
    /// A *ticket* shows that a stream belongs to the session, and which one it is: a hash of the
    /// joint seed. So streams of other sessions are turned away, and of strangers, as at the
    /// meeting. Under TLS, the peer has proved its identity on each stream before tickets are
    /// shown. Without TLS, the ticket is all that tells the peer from a stranger, and anybody who
    /// can read the session knows it.
    ///
    /// This side no longer listens afterwards, not even if `count` is 0. Each stream takes two
    /// threads, and some 8 MiB for messages in both directions when these move faster than they
    /// are used.
    ///
    /// # Errors
    /// [`Error::TooFewStreams`] if not all are open within
    /// [`Timeouts::setup`](crate::Timeouts::setup); [`Error::Interrupted`]; [`Error::Thread`]; and
    /// [`Error::Channel`] if the session ends meanwhile, also if the peer was the first to see that
    /// there are [too few](AbortCode::TooFewStreams). After an error, the whole connection has
    /// ended, and the peer knows why.
    ///
    /// # Panics
    /// If it is called a second time, or this side listened and [`Options::streams`] was not set.
    ///
    /// ```
    /// # use std::thread;
    /// # use psijoin_channel::joint_seed::JointSeed;
    /// # use psijoin_transport::{Connection, Error, Identity, Listener, Options, Security};
    /// # let (alice, bob) = (Identity::generate()?, Identity::generate()?);
    /// # let [alice_is, bob_is] = [&alice, &bob].map(Identity::fingerprint);
    /// # let mut listening = Options::new(Security::PinnedTls { identity: alice, peer: bob_is });
    /// # let connecting = Options::new(Security::PinnedTls { identity: bob, peer: alice_is });
    /// # let listener = Listener::bind(&"127.0.0.1:0".parse()?)?;
    /// # let address = listener.address().clone();
    /// listening.streams = true;
    /// let listens = thread::spawn(move || {
    ///     let (mut connection, mut channel) = Connection::accept(listener, &listening)?;
    ///     let joint_seed = JointSeed::agree(&mut channel, true)?;
    ///     let mut streams = connection.open_streams(3, &joint_seed)?;
    ///     for (i, stream) in streams.iter_mut().enumerate() {
    ///         stream.send(&[i as u8])?;
    ///     }
    ///     connection.finish()
    /// });
    /// let (mut connection, mut channel) = Connection::connect(&address, &connecting)?;
    /// let joint_seed = JointSeed::agree(&mut channel, false)?;
    /// let mut streams = connection.open_streams(3, &joint_seed)?;
    /// assert_eq!(streams[2].recv_array()?, [2]);
    /// assert_eq!(streams[0].recv_array()?, [0]);
    /// assert_eq!(streams[1].recv_array()?, [1]);
    /// connection.finish()?;
    /// listens.join().unwrap()?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn open_streams(
        &mut self,
        count: u8,
        joint_seed: &JointSeed,
    ) -> Result<Vec<Channel>, Error> {
        let streams = Streams::like_the_meeting(count, joint_seed, &self.options);
        self.open_all(&streams)
    }

    /// Opens [lanes](Lanes) to the peer, which opens as many, in one process or in several. They
    /// differ from [streams](Self::open_streams) as the module of [`Lanes`] says: each ends by
    /// itself ([`lane_ends_after`](Self::lane_ends_after)). If one fails before its end, all others
    /// of this process end for the same reason.
    ///
    /// This side no longer listens afterwards.
    ///
    /// # Errors
    /// As [`open_streams`](Self::open_streams), if not all are open within [`Lanes::wait`].
    ///
    /// # Panics
    /// As [`open_streams`](Self::open_streams).
    pub fn open_lanes(&mut self, lanes: &Lanes) -> Result<Vec<Channel>, Error> {
        let streams = Streams::lanes(lanes, 0..lanes.count, &self.options);
        self.open_all(&streams)
    }

    /// Returns where other processes of this party can open lanes. `None` if the peer comes to this
    /// process, or leaves files for it.
    pub fn lanes_at(&self) -> Option<LanesAt> {
        match self.door.as_ref()? {
            Door::Address(way) => Some(LanesAt::Address(way.address.clone())),
            Door::Relay(at, side) => Some(LanesAt::Relay(at.clone(), *side)),
            Door::Listener(_) | Door::Folder(..) => None,
        }
    }

    fn open_all(&mut self, streams: &Streams) -> Result<Vec<Channel>, Error> {
        let door = self
            .door
            .take()
            .expect("streams are opened once, and the options of a side that listens say so");
        let opening = Opening::new(streams, self.link(), &self.bond);
        let opened = opening.through(door);
        let further = opening.into_lines();
        let channels = further.iter().map(Line::channel).collect();
        // If not all could be opened, those that were are closed as the others are.
        self.lines.extend(further);
        opened.map(|()| channels)
    }

    /// Returns the channel of the meeting once more. What is said over both goes the same way, so
    /// nobody may use one before the other has nothing left to say.
    pub fn channel(&self) -> Channel {
        self.lines[0].channel()
    }

    /// Returns the time-outs of this side.
    pub fn timeouts(&self) -> Timeouts {
        self.options.timeouts
    }

    /// Returns where the peer is, for people: its address as the network sees it, or the proxy, the
    /// relay or the folder between.
    pub fn peer_place(&self) -> &str {
        &self.peer_place
    }

    /// Returns the key by which the peer has proved who it is; `None` without TLS, and if the key
    /// is of another kind than those that [`Identity::generate`](crate::Identity::generate) makes.
    pub fn peer_key(&self) -> Option<PublicKey> {
        self.peer_key
    }

    /// Returns a secret that both parties have from now on and nobody else; `None` without TLS.
    /// Parties that keep it can find each other by it later, without telling anybody who they are.
    pub fn pair_secret(&self) -> Option<&PairSecret> {
        self.pair_secret.as_ref()
    }

    /// Returns whether this side has proved an invitation of the peer's.
    pub fn is_by_invitation(&self) -> bool {
        self.is_by_invitation
    }

    /// Returns the pinned key that the peer has replaced, if it came with a key that follows it.
    pub fn succeeded(&self) -> Option<Succeeded> {
        self.succeeded
    }

    /// Returns how the keys of its streams were exchanged: the first that is not post-quantum, if
    /// there is one. `None` without TLS.
    pub fn key_exchange(&self) -> Option<KeyExchange> {
        let all = || self.lines.iter().filter_map(|line| line.key_exchange);
        all()
            .find(|exchange| !exchange.is_post_quantum())
            .or_else(|| all().next())
    }

    /// Returns what the greeting has shown of the network. It costs no round trip of its own.
    /// Without TLS, nothing is known.
    pub fn measured(&self) -> Measured {
        self.measured
    }

    /// Returns what hears how the session ends, for a thread of its own.
    pub fn watch(&self) -> Watch {
        Watch::new(self.lines[0].link.clone())
    }

    /// Returns how the session has ended: well, if the peer is done, or why it has failed. `None`
    /// while it lasts.
    pub fn ended(&self) -> Option<Result<(), Error>> {
        Some(self.link().ended()?.map_err(Error::Channel))
    }

    /// Gives up on all streams, telling the peer why; as [`Channel::abort`], for a caller that has
    /// handed the channel on.
    pub fn abort(&self, code: AbortCode) {
        self.link().abort(code);
    }

    /// Ends the session by itself when this many payload bytes of messages have passed each way
    /// over `channel`, which is this connection's, from now on; or at once, if this is zero. With
    /// further streams, [`all_end_after`](Self::all_end_after) counts what passes over several.
    ///
    /// The last word of a session then tells nothing about what this party does with the last
    /// message: a peer cannot time how long it works on the result. [`finish`](Self::finish) still
    /// has to be called, and waits for the peer's last word.
    ///
    /// After the last byte, sending fails with [`Closed`](psijoin_channel::Error::Closed), an
    /// empty message included, and an abort is no longer told.
    pub fn ends_after(&self, channel: Channel, sent_bytes: u64, received_bytes: u64) -> Channel {
        Countdown::new(self.links(), sent_bytes, received_bytes).over(channel)
    }

    /// As [`ends_after`](Self::ends_after), for what passes over all `channels` together, however
    /// it is spread over them. All streams of this connection end at that moment, and none before.
    pub fn all_end_after(
        &self,
        channels: Vec<Channel>,
        sent_bytes: u64,
        received_bytes: u64,
    ) -> Vec<Channel> {
        let countdown = Countdown::new(self.links(), sent_bytes, received_bytes);
        let channels = channels.into_iter();
        channels.map(|channel| countdown.over(channel)).collect()
    }

    /// As [`all_end_after`](Self::all_end_after), with last words between the last of these bytes
    /// and the end: `last_words` is called with a channel to the peer, which does the same. That
    /// happens inside the call that sends or receives the last byte, before it returns, so what is
    /// said then does not depend on what this party makes of the last message, nor on how long that
    /// takes. Its error is that of the call, and leaves the session open, so that the peer can
    /// still be told why.
    ///
    /// If no byte is to pass, there are no last words, and the session does not end by itself.
    pub fn all_end_with_last_words(
        &self,
        channels: Vec<Channel>,
        sent_bytes: u64,
        received_bytes: u64,
        last_words: impl FnOnce(&mut Channel) -> Result<(), psijoin_channel::Error> + Send + 'static,
    ) -> Vec<Channel> {
        // By then its other channel has nothing left to say.
        let mut channel = self.channel();
        let countdown = Countdown::with_last_words(
            self.links(),
            sent_bytes,
            received_bytes,
            Box::new(move || last_words(&mut channel)),
        );
        let channels = channels.into_iter();
        channels.map(|channel| countdown.over(channel)).collect()
    }

    /// Ends a lane by itself when this many payload bytes have passed each way over `channel`,
    /// which is that of the lane with this number of those that were opened; or at once, if this is
    /// zero.
    ///
    /// # Panics
    /// If there is no such lane.
    pub fn lane_ends_after(
        &self,
        lane: u32,
        channel: Channel,
        sent_bytes: u64,
        received_bytes: u64,
    ) -> Channel {
        let link = self.lines[1 + lane as usize].link.clone();
        Countdown::new(vec![link], sent_bytes, received_bytes).over(channel)
    }

    fn links(&self) -> Vec<Arc<Link>> {
        self.lines.iter().map(|line| line.link.clone()).collect()
    }

    /// Says that this party is done, if that was not said by itself, and does not wait for the
    /// peer.
    ///
    /// # Errors
    /// If the peer has sent more than was received, or the session has failed.
    pub fn take_leave(&self) -> Result<(), Error> {
        // The peer may have to hear it on all before it answers on one.
        Ok((self.lines.iter()).try_for_each(|line| line.link.take_leave())?)
    }

    /// Ends a session that went well. After `Ok`, the peer has said that it has received all
    /// that it expected, on all streams.
    ///
    /// It waits for a peer that is still computing, for as long as that shows that it works.
    ///
    /// # Errors
    /// If the peer has sent more than was received, gives up, goes away or falls silent, or
    /// this party is interrupted.
    pub fn finish(self) -> Result<(), Error> {
        self.take_leave()?;
        Ok((self.lines.iter()).try_for_each(|line| line.link.finish())?)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        line::hang_up(&mut self.lines);
    }
}
