//! Ending a session by itself, as soon as its last message is through.

use std::sync::{Arc, Mutex};

use psijoin_channel::{AbortCode, Channel, Error, Inbound, Outbound};

use super::{Link, UNPOISONED};

/// Says on all links that this party is done as soon as this many payload bytes have passed each
/// way over the channels that [`over`](Countdown::over) gives, all together.
pub(crate) struct Countdown {
    links: Vec<Arc<Link>>,
    left: Mutex<Left>,
}

struct Left {
    to_send: u64,
    to_receive: u64,
    last_words: Option<LastWords>,
}

/// The parties' messages between the last byte and the end, on channels that are not counted.
pub(crate) type LastWords = Box<dyn FnOnce() -> Result<(), Error> + Send>;

impl Countdown {
    /// Ends the session at once if nothing is to pass.
    pub(crate) fn new(links: Vec<Arc<Link>>, sent_bytes: u64, received_bytes: u64) -> Arc<Self> {
        let countdown = Self::of(links, sent_bytes, received_bytes, None);
        if sent_bytes == 0 && received_bytes == 0 {
            countdown.say_bye();
        }
        countdown
    }

    /// Makes a countdown with last words, which begin when the last byte has passed.
    pub(crate) fn with_last_words(
        links: Vec<Arc<Link>>,
        sent_bytes: u64,
        received_bytes: u64,
        last_words: LastWords,
    ) -> Arc<Self> {
        Self::of(links, sent_bytes, received_bytes, Some(last_words))
    }

    fn of(
        links: Vec<Arc<Link>>,
        to_send: u64,
        to_receive: u64,
        last_words: Option<LastWords>,
    ) -> Arc<Self> {
        let left = Mutex::new(Left {
            to_send,
            to_receive,
            last_words,
        });
        Arc::new(Self { links, left })
    }

    /// Counts what passes over `channel`.
    pub(crate) fn over(self: &Arc<Self>, channel: Channel) -> Channel {
        channel.decorate(
            |inner| CountdownOutbound {
                inner,
                countdown: self.clone(),
            },
            |inner| CountdownInbound {
                inner,
                countdown: self.clone(),
            },
        )
    }

    fn pass(&self, count: impl FnOnce(&mut Left)) -> Result<(), Error> {
        let mut left = self.left.lock().expect(UNPOISONED);
        count(&mut left);
        if left.to_send > 0 || left.to_receive > 0 {
            return Ok(());
        }
        // The lock is held meanwhile: nobody says goodbye before them.
        left.last_words.take().map_or(Ok(()), |say| say())?;
        self.say_bye();
        Ok(())
    }

    fn say_bye(&self) {
        self.links.iter().for_each(|link| link.say_bye());
    }
}

struct CountdownOutbound {
    inner: Box<dyn Outbound>,
    countdown: Arc<Countdown>,
}

impl Outbound for CountdownOutbound {
    fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        self.inner.send(message)?;
        let bytes = message.len() as u64;
        self.countdown
            .pass(|left| left.to_send = left.to_send.saturating_sub(bytes))
    }

    fn abort(&mut self, code: AbortCode) {
        self.inner.abort(code);
    }
}

struct CountdownInbound {
    inner: Box<dyn Inbound>,
    countdown: Arc<Countdown>,
}

impl Inbound for CountdownInbound {
    fn recv(&mut self, message: &mut [u8]) -> Result<(), Error> {
        self.inner.recv(message)?;
        let bytes = message.len() as u64;
        self.countdown
            .pass(|left| left.to_receive = left.to_receive.saturating_sub(bytes))
    }
}
