//! Channels between the two parties of a protocol.
//!
//! A [`Channel`] carries *messages*: byte strings whose length both parties know
//! beforehand. It has two independent halves, [`Outbound`] and [`Inbound`], so that
//! a party can send while it receives; [`Channel::exchange`] is the one place where
//! a protocol that needs both at once gets it.
//!
//! Everything that is not transport is a decorator of a half: counting bytes and
//! rounds ([`count`]), injecting faults ([`fault`]), hashing the transcript
//! ([`transcript`]), emulating a link ([`link`]). [`memory`] joins two parties of one
//! process.

use std::thread;

pub mod count;
pub mod fault;
pub mod link;
pub mod memory;
pub mod transcript;

mod error;

pub use error::{AbortCode, Error};

/// The longest message a channel carries, in bytes (1 MiB). A protocol sends longer
/// data in chunks, each computed while the one before it is on its way.
pub const MAX_MESSAGE_BYTES: usize = 1 << 20;

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
}

impl Channel {
    /// Joins two halves.
    pub fn new(outbound: impl Outbound + 'static, inbound: impl Inbound + 'static) -> Self {
        Self { outbound: Box::new(outbound), inbound: Box::new(inbound) }
    }

    /// Takes the halves apart, for example to decorate them.
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

    /// Runs `send` and `receive` at the same time, so that two parties that both have
    /// much to say never wait for each other with full queues.
    ///
    /// `receive` runs on a thread of its own, `send` on the caller's. If both fail, the
    /// receiving side's error is returned, since it says what the peer did.
    pub fn exchange<S, R, E>(
        &mut self,
        send: impl FnOnce(&mut dyn Outbound) -> Result<S, E>,
        receive: impl FnOnce(&mut dyn Inbound) -> Result<R, E> + Send,
    ) -> Result<(S, R), E>
    where
        R: Send,
        E: Send,
    {
        let (outbound, inbound) = self.halves();
        thread::scope(|scope| {
            let receiving = scope.spawn(move || receive(inbound));
            let sent = send(outbound);
            let received = match receiving.join() {
                Ok(received) => received,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            let received = received?;
            Ok((sent?, received))
        })
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
