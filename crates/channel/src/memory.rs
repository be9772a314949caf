//! Two parties in one process.
//!
//! ```
//! let (mut alice, mut bob) = psijoin_channel::memory::pair();
//! alice.send(b"hello")?;
//! assert_eq!(bob.recv_array()?, *b"hello");
//! # Ok::<(), psijoin_channel::Error>(())
//! ```

use std::{sync::Arc, time::Duration};

pub use crate::queue::Window;
use crate::{
    AbortCode, Channel, Error, Inbound, Outbound,
    queue::{Ending, Popped, Queue},
};

/// Two channels joined to each other, with the default window and idle time-out.
pub fn pair() -> (Channel, Channel) {
    Builder::new().pair()
}

/// Settings for a pair of channels joined in memory.
#[derive(Debug, Clone)]
pub struct Builder {
    window: Window,
    idle_timeout: Duration,
}

impl Builder {
    /// The defaults: [`Window::default`] each way, and ten minutes of idleness, since a silent peer
    /// in the same process is more likely computing than dead.
    pub fn new() -> Self {
        Self {
            window: Window::default(),
            idle_timeout: Duration::from_secs(600),
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

    /// Makes the two channels.
    pub fn pair(&self) -> (Channel, Channel) {
        let forth = Arc::new(Queue::new(self.window));
        let back = Arc::new(Queue::new(self.window));
        (self.end(&forth, &back), self.end(&back, &forth))
    }

    fn end(&self, to_peer: &Arc<Queue<()>>, from_peer: &Arc<Queue<()>>) -> Channel {
        let idle_timeout = self.idle_timeout;
        Channel::new(
            MemoryOutbound {
                to_peer: to_peer.clone(),
                from_peer: from_peer.clone(),
                idle_timeout,
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

struct MemoryOutbound {
    to_peer: Arc<Queue<()>>,
    from_peer: Arc<Queue<()>>,
    idle_timeout: Duration,
}

impl Outbound for MemoryOutbound {
    fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        self.to_peer.push(message, self.idle_timeout, || ())
    }

    fn abort(&mut self, code: AbortCode) {
        self.to_peer.end(Ending::Aborted(code), ());
        // The peer may be waiting for room instead of for a message.
        self.from_peer.refuse(Error::PeerAborted(code));
    }
}

impl Drop for MemoryOutbound {
    fn drop(&mut self) {
        self.to_peer.end(Ending::Closed, ());
    }
}

struct MemoryInbound {
    from_peer: Arc<Queue<()>>,
    idle_timeout: Duration,
}

impl Inbound for MemoryInbound {
    fn recv(&mut self, message: &mut [u8]) -> Result<(), Error> {
        let popped = self.from_peer.pop(self.idle_timeout, |front, back, ()| {
            let received = front.len() + back.len();
            if received != message.len() {
                return Err(Error::MessageLength {
                    expected: message.len(),
                    received,
                });
            }
            message[..front.len()].copy_from_slice(front);
            message[front.len()..].copy_from_slice(back);
            Ok(())
        });
        match popped {
            Popped::Message(copied) => copied,
            Popped::Ended(Ending::Closed, ()) => Err(Error::Closed),
            Popped::Ended(Ending::Aborted(code), ()) => Err(Error::PeerAborted(code)),
            Popped::TimedOut => Err(Error::TimedOut(self.idle_timeout)),
        }
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
