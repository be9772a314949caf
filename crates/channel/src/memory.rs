//! Two parties in one process.
//!
//! ```
//! let (mut alice, mut bob) = psijoin_channel::memory::pair();
//! alice.send(b"hello")?;
//! assert_eq!(bob.recv_array()?, *b"hello");
//! # Ok::<(), psijoin_channel::Error>(())
//! ```

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

pub use crate::queue::Window;
use crate::{
    AbortCode, Channel, Error, Inbound, Outbound,
    link::{Link, Pacer, wait_until},
    queue::{Ending, Popped, Queue},
};

/// Returns two channels joined to each other, with the default window and idle time-out.
pub fn pair() -> (Channel, Channel) {
    Builder::new().pair()
}

/// Settings for a pair of channels joined in memory.
#[derive(Debug, Clone)]
pub struct Builder {
    window: Window,
    idle_timeout: Duration,
    link: Option<Link>,
}

impl Builder {
    /// Returns the defaults: [`Window::default`] each way, and ten minutes of idleness, since a
    /// silent peer in the same process is more likely computing than dead.
    pub fn new() -> Self {
        Self {
            window: Window::default(),
            idle_timeout: Duration::from_secs(600),
            link: None,
        }
    }

    /// Sets how much may be under way in each direction.
    pub fn window(mut self, window: Window) -> Self {
        self.window = window;
        self
    }

    /// Sets how long a send may wait for room, and a receive for a message.
    pub fn idle_timeout(mut self, idle_timeout: Duration) -> Self {
        self.idle_timeout = idle_timeout;
        self
    }

    /// Emulates a network: what a party receives has arrived when it would have over `link`. As
    /// much as [`Link::window`] may be under way besides what may wait to be received. Hanging up
    /// takes no time.
    pub fn link(mut self, link: Link) -> Self {
        let window = link.window();
        self.window = Window {
            bytes: window.bytes.saturating_add(self.window.bytes),
            messages: window.messages.saturating_add(self.window.messages),
        };
        self.link = Some(link);
        self
    }

    /// Makes the two channels.
    pub fn pair(&self) -> (Channel, Channel) {
        self.pair_over(&self.wires())
    }

    /// Makes several pairs: streams between the same parties, which share the link.
    pub fn pairs(&self, count: usize) -> Vec<(Channel, Channel)> {
        let wires = self.wires();
        (0..count).map(|_| self.pair_over(&wires)).collect()
    }

    /// Returns what paces either party.
    fn wires(&self) -> [Option<Pacer>; 2] {
        [self.link.map(Pacer::new), self.link.map(Pacer::new)]
    }

    fn pair_over(&self, [first, second]: &[Option<Pacer>; 2]) -> (Channel, Channel) {
        let forth = Arc::new(Queue::new(self.window));
        let back = Arc::new(Queue::new(self.window));
        (
            self.end(&forth, &back, first.clone()),
            self.end(&back, &forth, second.clone()),
        )
    }

    fn end(&self, to_peer: &Arc<Wire>, from_peer: &Arc<Wire>, pacer: Option<Pacer>) -> Channel {
        let idle_timeout = self.idle_timeout;
        Channel::new(
            MemoryOutbound {
                to_peer: to_peer.clone(),
                from_peer: from_peer.clone(),
                idle_timeout,
                pacer,
            },
            MemoryInbound {
                from_peer: from_peer.clone(),
                idle_timeout,
            },
        )
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

/// Messages, with when they have arrived if that takes time.
type Wire = Queue<Option<Instant>>;

struct MemoryOutbound {
    to_peer: Arc<Wire>,
    from_peer: Arc<Wire>,
    idle_timeout: Duration,
    pacer: Option<Pacer>,
}

impl MemoryOutbound {
    fn end(&mut self, ending: Ending) {
        let due = due(self.pacer.as_ref(), 0);
        self.to_peer.end(ending, due);
    }
}

/// Returns when a message that is sent now has arrived.
fn due(pacer: Option<&Pacer>, bytes: usize) -> Option<Instant> {
    pacer.map(|pacer| pacer.due(bytes, Instant::now()))
}

impl Outbound for MemoryOutbound {
    fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        let Self { to_peer, pacer, .. } = self;
        to_peer.push(message, self.idle_timeout, || {
            due(pacer.as_ref(), message.len())
        })
    }

    fn abort(&mut self, code: AbortCode) {
        self.end(Ending::Aborted(code));
        // The peer may be waiting for room instead of for a message.
        self.from_peer.refuse(Error::PeerAborted(code));
    }
}

impl Drop for MemoryOutbound {
    fn drop(&mut self) {
        self.end(Ending::Closed);
    }
}

struct MemoryInbound {
    from_peer: Arc<Wire>,
    idle_timeout: Duration,
}

impl Inbound for MemoryInbound {
    fn recv(&mut self, message: &mut [u8]) -> Result<(), Error> {
        let popped = self.from_peer.pop(self.idle_timeout, |front, back, due| {
            let received = front.len() + back.len();
            if received != message.len() {
                let error = Error::MessageLength {
                    expected: message.len(),
                    received,
                };
                return (Err(error), due);
            }
            message[..front.len()].copy_from_slice(front);
            message[front.len()..].copy_from_slice(back);
            (Ok(()), due)
        });
        let (result, due) = match popped {
            Popped::Message(received) => received,
            Popped::Ended(Ending::Closed, due) => (Err(Error::Closed), due),
            Popped::Ended(Ending::Aborted(code), due) => (Err(Error::PeerAborted(code)), due),
            Popped::TimedOut => return Err(Error::TimedOut(self.idle_timeout)),
        };
        if let Some(due) = due {
            wait_until(due, self.from_peer.is_empty());
        }
        result
    }
}

impl Drop for MemoryInbound {
    fn drop(&mut self) {
        self.from_peer.refuse(Error::Closed);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn narrow() -> Builder {
        Builder::new()
            .window(Window::ONE_MESSAGE)
            .idle_timeout(Duration::from_secs(20))
    }

    #[test]
    fn carries_messages_both_ways_in_order() {
        let (mut alice, mut bob) = pair();
        for i in 0..100u8 {
            alice.send(&[i; 3]).unwrap();
            bob.send(&[i, !i]).unwrap();
        }
        alice.send(&[]).unwrap();
        for i in 0..100u8 {
            assert_eq!(bob.recv_array().unwrap(), [i; 3]);
            assert_eq!(alice.recv_array().unwrap(), [i, !i]);
        }
        assert_eq!(bob.recv_array().unwrap(), []);
    }

    #[test]
    fn every_message_crosses_a_one_message_window() {
        let (mut alice, mut bob) = narrow().pair();
        thread::scope(|scope| {
            scope.spawn(move || (0..2000u32).for_each(|i| alice.send(&i.to_le_bytes()).unwrap()));
            for i in 0..2000u32 {
                assert_eq!(bob.recv_array().unwrap(), i.to_le_bytes());
            }
            assert!(matches!(bob.recv_array::<1>(), Err(Error::Closed)));
        });
    }

    #[test]
    fn second_message_does_not_fit_a_one_message_window() {
        let (mut alice, _bob) = narrow().idle_timeout(Duration::from_millis(5)).pair();
        alice.send(&[]).unwrap();
        assert!(matches!(alice.send(&[]), Err(Error::TimedOut(_))));
    }

    #[test]
    fn silence_times_out() {
        let timeout = Duration::from_millis(5);
        let (mut alice, _bob) = Builder::new().idle_timeout(timeout).pair();
        assert!(matches!(alice.recv(&mut []), Err(Error::TimedOut(t)) if t == timeout));
    }

    #[test]
    fn another_length_is_an_error_that_names_both() {
        let (mut alice, mut bob) = pair();
        alice.send(&[0; 5]).unwrap();
        assert!(matches!(
            bob.recv(&mut [0; 6]),
            Err(Error::MessageLength {
                expected: 6,
                received: 5
            })
        ));
    }

    #[test]
    fn closing_delivers_what_was_sent_and_refuses_what_comes() {
        let (mut alice, mut bob) = pair();
        alice.send(b"bye").unwrap();
        drop(alice);
        assert!(matches!(bob.send(b"wait"), Err(Error::Closed)));
        assert_eq!(bob.recv_array().unwrap(), *b"bye");
        assert!(matches!(bob.recv_array::<3>(), Err(Error::Closed)));
    }

    #[test]
    fn abort_comes_after_what_was_sent_and_stays() {
        let (mut alice, mut bob) = pair();
        alice.send(b"bye").unwrap();
        alice.abort(AbortCode::BadLuck);
        assert!(matches!(alice.send(b"more"), Err(Error::Closed)));
        drop(alice);
        assert_eq!(bob.recv_array().unwrap(), *b"bye");
        assert!(matches!(
            bob.recv_array::<3>(),
            Err(Error::PeerAborted(AbortCode::BadLuck))
        ));
        assert!(matches!(
            bob.send(b"why"),
            Err(Error::PeerAborted(AbortCode::BadLuck))
        ));
    }

    /// Lets `bob` run into a wait, then does `hang_up` to the other side.
    fn while_waiting<T: Send>(
        wait: impl FnOnce(Channel) -> T + Send,
        hang_up: impl FnOnce(Channel),
    ) -> T {
        let (alice, bob) = narrow().pair();
        thread::scope(|scope| {
            let waiting = scope.spawn(move || wait(bob));
            thread::sleep(Duration::from_millis(10));
            hang_up(alice);
            waiting.join().unwrap()
        })
    }

    fn send_two(mut channel: Channel) -> Result<(), Error> {
        channel.send(&[1])?;
        channel.send(&[2])
    }

    #[test]
    fn hanging_up_wakes_a_peer_that_waits() {
        let abort = |mut channel: Channel| channel.abort(AbortCode::Refused);
        let refused = |result| matches!(result, Err(Error::PeerAborted(AbortCode::Refused)));
        let receive = |mut channel: Channel| channel.recv(&mut [0]);
        assert!(matches!(while_waiting(receive, drop), Err(Error::Closed)));
        assert!(matches!(while_waiting(send_two, drop), Err(Error::Closed)));
        assert!(refused(while_waiting(receive, abort)));
        assert!(refused(while_waiting(send_two, abort)));
    }
}
