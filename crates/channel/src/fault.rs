//! Breaking a channel on purpose, to test how a protocol reacts.
//!
//! ```
//! use psijoin_channel::{Error, fault::{Fault, FaultKind, faulty}, memory};
//!
//! let (alice, mut bob) = memory::pair();
//! let (mut alice, probe) = faulty(alice, Fault { at: 1, kind: FaultKind::Truncate });
//! alice.send(b"intact")?;
//! alice.send(b"broken")?;
//! assert!(probe.reached());
//! assert_eq!(bob.recv_array()?, *b"intact");
//! assert!(matches!(bob.recv_array::<6>(), Err(Error::MessageLength { .. })));
//! # Ok::<(), Error>(())
//! ```

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU8, Ordering},
};

use crate::{AbortCode, Channel, Error, Inbound, Outbound};

/// Lets `channel` run until `fault` strikes one of the messages it sends.
pub fn faulty(channel: Channel, fault: Fault) -> (Channel, FaultProbe) {
    let line = Arc::new(Line::default());
    let channel = channel.decorate(
        |inner| {
            *lock(&line.outbound) = Some(inner);
            FaultyOutbound {
                line: line.clone(),
                fault,
                sent: 0,
                altered: Vec::new(),
            }
        },
        |inner| {
            *lock(&line.inbound) = Some(inner);
            FaultyInbound { line: line.clone() }
        },
    );
    (channel, FaultProbe { line })
}

/// A fault, and its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// The number of the message sent that it strikes, from 0.
    pub at: u64,
    /// The kind of fault.
    pub kind: FaultKind,
}

/// The kinds of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The connection breaks in both directions; the message is lost. This party's own
    /// calls fail with [`Error::Closed`].
    Cut,
    /// The message lacks its last byte. An empty message, which has none, gains one.
    Truncate,
    /// One bit is inverted. An empty message has no bit: the next one that has is struck.
    Flip {
        /// The number of the bit: modulo the bits of the message, least significant bit first.
        bit: usize,
    },
    /// This message and all later ones of this party vanish, even the news that it hangs up. The
    /// peer is heard as before. The connection stays open until the probe is dropped.
    Stall,
}

/// Tells whether a fault has struck.
#[derive(Clone)]
pub struct FaultProbe {
    line: Arc<Line>,
}

impl FaultProbe {
    /// Returns whether the fault has struck. A loop over `at` ends at the first run where it has
    /// not.
    pub fn reached(&self) -> bool {
        self.line.condition() != Condition::Intact
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Condition {
    Intact,
    Altered,
    Cut,
    Stalled,
}

/// The connection that both halves share, since a cut takes both away.
#[derive(Default)]
struct Line {
    condition: AtomicU8,
    outbound: Mutex<Option<Box<dyn Outbound>>>,
    inbound: Mutex<Option<Box<dyn Inbound>>>,
}

impl Line {
    fn condition(&self) -> Condition {
        use Condition::*;
        [Intact, Altered, Cut, Stalled][usize::from(self.condition.load(Ordering::SeqCst))]
    }

    fn set_condition(&self, condition: Condition) {
        self.condition.store(condition as u8, Ordering::SeqCst);
    }

    fn cut(&self) {
        self.set_condition(Condition::Cut);
        lock(&self.outbound).take();
        // A receive under way holds the lock, and hangs up when it returns: it does, since
        // the peer finds the line dead.
        if let Ok(mut inbound) = self.inbound.try_lock() {
            inbound.take();
        }
    }

    fn send(&self, message: &[u8]) -> Result<(), Error> {
        lock(&self.outbound)
            .as_mut()
            .ok_or(Error::Closed)?
            .send(message)
    }
}

/// Returns a half that panicked can still be dropped, which is all that is left to do with it.
fn lock<T>(half: &Mutex<T>) -> MutexGuard<'_, T> {
    half.lock().unwrap_or_else(PoisonError::into_inner)
}

struct FaultyOutbound {
    line: Arc<Line>,
    fault: Fault,
    sent: u64,
    altered: Vec<u8>,
}

impl FaultyOutbound {
    fn strike(&mut self, message: &[u8]) -> Result<(), Error> {
        self.altered.clear();
        self.altered.extend_from_slice(message);
        match self.fault.kind {
            FaultKind::Cut => {
                self.line.cut();
                return Err(Error::Closed);
            }
            FaultKind::Stall => {
                self.line.set_condition(Condition::Stalled);
                return Ok(());
            }
            FaultKind::Truncate => {
                if self.altered.pop().is_none() {
                    self.altered.push(0);
                }
            }
            FaultKind::Flip { bit } => {
                if message.is_empty() {
                    return self.line.send(message);
                }
                let bit = bit % (8 * message.len());
                self.altered[bit / 8] ^= 1 << (bit % 8);
            }
        }
        self.line.set_condition(Condition::Altered);
        self.line.send(&self.altered)
    }
}

impl Outbound for FaultyOutbound {
    fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        let number = self.sent;
        self.sent += 1;
        match self.line.condition() {
            Condition::Intact if number >= self.fault.at => self.strike(message),
            Condition::Stalled => Ok(()),
            _ => self.line.send(message),
        }
    }

    fn abort(&mut self, code: AbortCode) {
        if self.line.condition() != Condition::Stalled
            && let Some(outbound) = lock(&self.line.outbound).as_mut()
        {
            outbound.abort(code);
        }
    }
}

impl Drop for FaultyOutbound {
    fn drop(&mut self) {
        if self.line.condition() != Condition::Stalled {
            lock(&self.line.outbound).take();
        }
    }
}

struct FaultyInbound {
    line: Arc<Line>,
}

impl Inbound for FaultyInbound {
    fn recv(&mut self, message: &mut [u8]) -> Result<(), Error> {
        let received = match lock(&self.line.inbound).as_mut() {
            Some(inbound) => inbound.recv(message),
            None => Err(Error::Closed),
        };
        if self.line.condition() == Condition::Cut {
            lock(&self.line.inbound).take();
            return Err(Error::Closed);
        }
        received
    }
}

impl Drop for FaultyInbound {
    fn drop(&mut self) {
        if self.line.condition() != Condition::Stalled {
            lock(&self.line.inbound).take();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::memory;

    fn faulty_pair(at: u64, kind: FaultKind) -> (Channel, Channel, FaultProbe) {
        let (alice, bob) = memory::Builder::new()
            .idle_timeout(Duration::from_millis(20))
            .pair();
        let (alice, probe) = faulty(alice, Fault { at, kind });
        (alice, bob, probe)
    }

    #[test]
    fn nothing_happens_before_the_struck_message() {
        for kind in [
            FaultKind::Cut,
            FaultKind::Truncate,
            FaultKind::Flip { bit: 0 },
            FaultKind::Stall,
        ] {
            let (mut alice, mut bob, probe) = faulty_pair(2, kind);
            for i in 0..2 {
                alice.send(&[i]).unwrap();
                assert_eq!(bob.recv_array().unwrap(), [i]);
                bob.send(&[i]).unwrap();
                assert_eq!(alice.recv_array().unwrap(), [i]);
            }
            assert!(!probe.reached());
            drop(alice);
            assert!(matches!(bob.recv_array::<1>(), Err(Error::Closed)));
            assert!(matches!(bob.send(&[0]), Err(Error::Closed)));
        }
    }

    #[test]
    fn cut_closes_both_directions_for_both_parties() {
        let (mut alice, mut bob, probe) = faulty_pair(1, FaultKind::Cut);
        alice.send(&[7]).unwrap();
        assert!(matches!(alice.send(&[8]), Err(Error::Closed)));
        assert!(probe.reached());
        assert!(matches!(bob.send(&[0]), Err(Error::Closed)));
        assert_eq!(bob.recv_array().unwrap(), [7]);
        assert!(matches!(bob.recv_array::<1>(), Err(Error::Closed)));
        assert!(matches!(alice.recv(&mut [0]), Err(Error::Closed)));
        assert!(matches!(alice.send(&[9]), Err(Error::Closed)));
    }

    #[test]
    fn cut_during_a_receive_hangs_up_when_it_returns() {
        let (mut alice, mut bob, _probe) = faulty_pair(0, FaultKind::Cut);
        let (outbound, inbound) = alice.halves();
        std::thread::scope(|scope| {
            let receiving = scope.spawn(|| inbound.recv(&mut [0]));
            std::thread::sleep(Duration::from_millis(5));
            outbound.send(&[0]).unwrap_err();
            assert!(matches!(bob.recv_array::<1>(), Err(Error::Closed)));
            // The timing decides whether this one still gets through.
            let _ = bob.send(&[0]);
            assert!(matches!(receiving.join().unwrap(), Err(Error::Closed)));
            assert!(matches!(bob.send(&[0]), Err(Error::Closed)));
        });
    }

    #[test]
    fn truncate_changes_the_length_of_one_message() {
        for (sent, received) in [(0, 1), (1, 0), (9, 8)] {
            let (mut alice, mut bob, probe) = faulty_pair(0, FaultKind::Truncate);
            alice.send(&vec![1; sent]).unwrap();
            alice.send(b"next").unwrap();
            assert!(probe.reached());
            bob.recv(&mut vec![0; received]).unwrap();
            assert_eq!(bob.recv_array().unwrap(), *b"next");
        }
    }

    #[test]
    fn flip_inverts_one_bit_modulo_the_length() {
        for (bit, expected) in [
            (0, [1, 0]),
            (7, [0x80, 0]),
            (8, [0, 1]),
            (15, [0, 0x80]),
            (17, [2, 0]),
        ] {
            let (mut alice, mut bob, probe) = faulty_pair(0, FaultKind::Flip { bit });
            alice.send(&[0, 0]).unwrap();
            alice.send(&[0, 0]).unwrap();
            assert!(probe.reached());
            assert_eq!(bob.recv_array().unwrap(), expected);
            assert_eq!(bob.recv_array().unwrap(), [0, 0]);
        }
    }

    #[test]
    fn flip_passes_over_empty_messages() {
        let (mut alice, mut bob, probe) = faulty_pair(0, FaultKind::Flip { bit: 0 });
        alice.send(&[]).unwrap();
        assert!(!probe.reached());
        alice.send(&[0]).unwrap();
        assert!(probe.reached());
        assert_eq!(bob.recv_array().unwrap(), []);
        assert_eq!(bob.recv_array().unwrap(), [1]);
    }

    #[test]
    fn stall_leaves_the_peer_waiting_even_after_hanging_up() {
        let (mut alice, mut bob, probe) = faulty_pair(1, FaultKind::Stall);
        for i in 0..3 {
            alice.send(&[i]).unwrap();
        }
        bob.send(&[5]).unwrap();
        assert_eq!(alice.recv_array().unwrap(), [5]);
        alice.abort(AbortCode::TimedOut);
        drop(alice);
        assert!(probe.reached());
        assert_eq!(bob.recv_array().unwrap(), [0]);
        assert!(matches!(bob.recv_array::<1>(), Err(Error::TimedOut(_))));
        bob.send(&[6]).unwrap();
        drop(probe);
        assert!(matches!(bob.recv_array::<1>(), Err(Error::Closed)));
    }
}
