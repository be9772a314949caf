//! Channels between the two parties of a protocol.
//!
//! A [`Channel`] carries *messages*: byte strings whose length both parties know
//! beforehand. It has two independent halves, [`Outbound`] and [`Inbound`], so that
//! a party can send while it receives; [`Channel::exchange`] is the one place where
//! a protocol that needs both at once gets it.
//!
//! Everything that is not transport is a decorator: counting bytes and flights ([`count`]),
//! injecting faults ([`fault`]), hashing the transcript ([`transcript`]), emulating a link
//! ([`link`]), tracing the time of each step ([`trace`]). Each is a function named by what the
//! channel becomes, which takes a [`Channel`] and returns the decorated one, with a handle if there
//! is something to read. They stack in any order. [`memory`] joins two parties of one process;
//! [`playback`] plays a peer whose messages are known. A [`path`] holds what parties know about the
//! network between them.
//!
//! A [`witness`] watches over a channel for the time of a run, so that what was answered once is
//! answered again only to the same words.
//!
//! Work that is done over any channel lives here as well: long data is sent and received in pieces
//! that all threads compute ([`stream`]), or read while something else is computed
//! ([`read_ahead`]); a seed is drawn that neither party controls ([`joint_seed`]); and the network
//! is measured ([`gauge`]). If there are more threads than may compute, they do so in [`turns`].
//!
//! ```
//! use psijoin_channel::{count::counted, link::{Link, linked}, memory};
//!
//! let (alice, bob) = memory::pair();
//! let (mut alice, traffic) = counted(linked(alice, Link::LAN));
//! let mut bob = linked(bob, Link::LAN);
//! alice.send(b"hello")?;
//! assert_eq!(bob.recv_array()?, *b"hello");
//! assert_eq!(traffic.snapshot().sent.bytes, 5);
//! # Ok::<(), psijoin_channel::Error>(())
//! ```

#![forbid(unsafe_code)]

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use psijoin_runtime::memory::exhausted;

use crate::{
    exchange::ExchangeOutbound,
    listener::{Exchange, Half, Listener},
};

pub mod count;
pub mod fault;
pub mod gauge;
pub mod joint_seed;
pub mod link;
pub mod memory;
pub mod path;
pub mod playback;
pub mod read_ahead;
pub mod stream;
pub mod trace;
pub mod transcript;
pub mod turns;
pub mod witness;

mod error;
mod exchange;
mod listener;
mod observed;
mod queue;

pub use error::{AbortCode, Error};

/// The longest message a channel carries, in bytes (1 MiB). A protocol sends longer
/// data in chunks, each computed while the one before it is on its way.
pub const MAX_MESSAGE_BYTES: usize = 1 << 20;

/// The stack of a thread, as the standard library asks for it.
const THREAD_BYTES: usize = 2 << 20;

/// The half of a channel that sends.
pub trait Outbound: Send {
    /// Queues one message for the peer and returns as soon as there is room for it.
    ///
    /// Messages are delivered without a flush: an implementation that gathers small
    /// messages writes them out as soon as its queue is empty.
    ///
    /// # Errors
    /// If the channel is broken, or no room came free within the idle time-out.
    ///
    /// # Panics
    /// If the message is longer than [`MAX_MESSAGE_BYTES`].
    fn send(&mut self, message: &[u8]) -> Result<(), Error>;

    /// Tells the peer that this party gives up, and why. After that the half is closed.
    /// Failure to deliver is not reported: the channel may be what broke.
    fn abort(&mut self, code: AbortCode);
}

/// The half of a channel that receives.
pub trait Inbound: Send {
    /// Receives the next message into `message`, which it must fill exactly.
    ///
    /// # Errors
    /// If the peer's message has another length ([`Error::MessageLength`]), the peer
    /// gave up ([`Error::PeerAborted`]) or went away ([`Error::Closed`]), or nothing came
    /// within the idle time-out ([`Error::TimedOut`]).
    fn recv(&mut self, message: &mut [u8]) -> Result<(), Error>;
}

/// A full-duplex channel to the peer.
pub struct Channel {
    outbound: Box<dyn Outbound>,
    inbound: Box<dyn Inbound>,
    /// Hear about what the halves cannot see: exchanges, and reading ahead.
    listeners: Vec<Arc<dyn Listener>>,
}

impl Channel {
    /// Joins two halves.
    pub fn new(outbound: impl Outbound + 'static, inbound: impl Inbound + 'static) -> Self {
        Self {
            outbound: Box::new(outbound),
            inbound: Box::new(inbound),
            listeners: Vec::new(),
        }
    }

    /// Wraps each half in a decorator.
    pub fn decorate<O, I>(
        self,
        outbound: impl FnOnce(Box<dyn Outbound>) -> O,
        inbound: impl FnOnce(Box<dyn Inbound>) -> I,
    ) -> Self
    where
        O: Outbound + 'static,
        I: Inbound + 'static,
    {
        Self {
            outbound: Box::new(outbound(self.outbound)),
            inbound: Box::new(inbound(self.inbound)),
            listeners: self.listeners,
        }
    }

    /// Takes the halves apart. Counters keep counting, but no longer hear about exchanges:
    /// to wrap the halves, use [`Channel::decorate`].
    pub fn into_halves(self) -> (Box<dyn Outbound>, Box<dyn Inbound>) {
        (self.outbound, self.inbound)
    }

    /// Borrows both halves, for one thread each.
    pub fn halves(&mut self) -> (&mut dyn Outbound, &mut dyn Inbound) {
        (&mut *self.outbound, &mut *self.inbound)
    }

    /// Sends one message: [`Outbound::send`].
    pub fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        self.outbound.send(message)
    }

    /// Receives one message: [`Inbound::recv`].
    pub fn recv(&mut self, message: &mut [u8]) -> Result<(), Error> {
        self.inbound.recv(message)
    }

    /// Receives one message of a length fixed at compile time.
    pub fn recv_array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut message = [0; N];
        self.recv(&mut message)?;
        Ok(message)
    }

    /// Gives up, telling the peer why: [`Outbound::abort`].
    pub fn abort(&mut self, code: AbortCode) {
        self.outbound.abort(code);
    }

    /// Runs `send` and `receive` at the same time, so that two parties that both have much to send
    /// never wait for each other with full queues.
    ///
    /// `receive` runs on a thread of its own (outside any thread pool the caller may be
    /// in), `send` on the caller's. In the count of [flights](count) an exchange is one:
    /// what is sent should not depend on what is received.
    ///
    /// # Errors
    /// The error of the side that failed. If sending fails for a reason other than the channel, the
    /// peer hears about it ([`AbortCode::LocalFailure`], unless `send` has aborted with a better
    /// code), and that error is returned. If receiving fails, sending stops at its next message. If
    /// the channel breaks under both, the receiving side's error is returned, since it tells what
    /// the peer did.
    pub fn exchange<S, R, E>(
        &mut self,
        send: impl FnOnce(&mut dyn Outbound) -> Result<S, E>,
        receive: impl FnOnce(&mut dyn Inbound) -> Result<R, E> + Send,
    ) -> Result<(S, R), E>
    where
        R: Send,
        E: Send,
    {
        let (mut send, mut receive) = (Some(send), Some(receive));
        let (mut sent, mut received) = (None, None);
        let is_broken = self.send_and_receive(
            &mut |outbound| {
                sent = send.take().map(|send| send(outbound));
                matches!(sent, Some(Ok(_)))
            },
            &mut |inbound| {
                received = receive.take().map(|receive| receive(inbound));
                matches!(received, Some(Ok(_)))
            },
        );
        match sent.zip(received).expect("both have run") {
            (Ok(sent), Ok(received)) => Ok((sent, received)),
            (Err(error), _) if !is_broken => Err(error),
            (_, Err(error)) | (Err(error), _) => Err(error),
        }
    }

    /// Does the work of [`exchange`](Self::exchange), compiled once. Both closures return whether
    /// they succeeded; the result is whether the channel broke under `send`.
    fn send_and_receive(
        &mut self,
        send: &mut dyn FnMut(&mut dyn Outbound) -> bool,
        receive: &mut (dyn FnMut(&mut dyn Inbound) -> bool + Send),
    ) -> bool {
        let exchange = &Exchange::begin(&self.listeners);
        let (outbound, inbound) = (&mut *self.outbound, &mut *self.inbound);
        let receiving_failed = &AtomicBool::new(false);
        let mut outbound = ExchangeOutbound {
            inner: outbound,
            receiving_failed,
            is_broken: false,
        };
        thread::scope(|scope| {
            let receiving = thread::Builder::new().spawn_scoped(scope, move || {
                let succeeded = receive(inbound);
                exchange.half_ends(Half::Inbound);
                receiving_failed.store(!succeeded, Ordering::Relaxed);
            });
            // If the system gives no thread, it has no memory for its stack.
            let receiving = receiving.unwrap_or_else(|_| exhausted(THREAD_BYTES));
            if !send(&mut outbound) && !outbound.is_broken {
                // If the peer heard nothing, both sides would wait for the time-out.
                outbound.abort(AbortCode::LocalFailure);
            }
            exchange.half_ends(Half::Outbound);
            let received = turns::while_waiting(|| receiving.join());
            if let Err(panic) = received {
                std::panic::resume_unwind(panic);
            }
        });
        outbound.is_broken
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").finish_non_exhaustive()
    }
}

impl Outbound for Box<dyn Outbound> {
    fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        (**self).send(message)
    }

    fn abort(&mut self, code: AbortCode) {
        (**self).abort(code);
    }
}

impl Inbound for Box<dyn Inbound> {
    fn recv(&mut self, message: &mut [u8]) -> Result<(), Error> {
        (**self).recv(message)
    }
}
