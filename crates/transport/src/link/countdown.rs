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
}

impl Countdown {
    pub(crate) fn new(links: Vec<Arc<Link>>, sent_bytes: u64, received_bytes: u64) -> Arc<Self> {
        let left = Left {
            to_send: sent_bytes,
            to_receive: received_bytes,
        };
        let countdown = Arc::new(Self {
            links,
            left: Mutex::new(left),
        });
        countdown.pass(|_| ());
        countdown
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

    fn pass(&self, count: impl FnOnce(&mut Left)) {
        let mut left = self.left.lock().expect(UNPOISONED);
        count(&mut left);
        if left.to_send == 0 && left.to_receive == 0 {
            self.links.iter().for_each(|link| link.say_bye());
        }
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
            .pass(|left| left.to_send = left.to_send.saturating_sub(bytes));
        Ok(())
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
            .pass(|left| left.to_receive = left.to_receive.saturating_sub(bytes));
        Ok(())
    }
}
