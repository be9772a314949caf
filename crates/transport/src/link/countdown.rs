//! Ending a session by itself, as soon as its last message is through.

use std::sync::{Arc, Mutex};

use psijoin_channel::{AbortCode, Channel, Error, Inbound, Outbound};

use super::{Link, UNPOISONED};

/// Says on `link` that this party is done as soon as this many payload bytes have passed each way
/// over `channel`.
pub(crate) fn ends_after(
    link: &Arc<Link>,
    channel: Channel,
    sent_bytes: u64,
    received_bytes: u64,
) -> Channel {
    let left = Left {
        to_send: sent_bytes,
        to_receive: received_bytes,
    };
    let countdown = Arc::new(Countdown {
        link: link.clone(),
        left: Mutex::new(left),
    });
    countdown.pass(|_| ());
    channel.decorate(
        |inner| CountdownOutbound {
            inner,
            countdown: countdown.clone(),
        },
        |inner| CountdownInbound {
            inner,
            countdown: countdown.clone(),
        },
    )
}

/// What both halves count down together.
struct Countdown {
    link: Arc<Link>,
    left: Mutex<Left>,
}

struct Left {
    to_send: u64,
    to_receive: u64,
}

impl Countdown {
    fn pass(&self, count: impl FnOnce(&mut Left)) {
        let mut left = self.left.lock().expect(UNPOISONED);
        count(&mut left);
        if left.to_send == 0 && left.to_receive == 0 {
            self.link.say_bye();
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
