//! w = w_s + w_r of RS21: a value that neither party can choose. The sender commits to its part
//! first, and shows it when the receiver can no longer change anything.

use psijoin_block::{Prg, tower::Tower};
use psijoin_channel::{Channel, Outbound};
use psijoin_psi::Error;

/// The opening of a commitment: w_s, and as much randomness again that hides it.
type Opening = [u8; 32];

/// Bytes that the sender sends first.
pub(super) const COMMITMENT_BYTES: u64 = 32;

/// Bytes that the receiver sends then.
pub(super) const PART_BYTES: u64 = 16;

/// Bytes that the sender sends at last.
pub(super) const OPENING_BYTES: u64 = size_of::<Opening>() as u64;

/// The sender's part.
pub(super) struct Committed {
    opening: Opening,
    joint: Tower,
}

impl Committed {
    /// Commits, and gets the receiver's part.
    pub(super) fn exchange(channel: &mut Channel, rng: &mut Prg) -> Result<Self, Error> {
        // From a generator of its own: what is shown tells nothing about what else is drawn.
        let opening: Opening = rng.fork().bytes();
        channel.send(&commitment(&opening))?;
        let theirs: [u8; 16] = channel.recv_array()?;
        Ok(Self {
            opening,
            joint: part(&opening) ^ bytemuck::cast(theirs),
        })
    }

    /// Returns w.
    pub(super) fn joint(&self) -> Tower {
        self.joint
    }

    /// Shows w_s.
    pub(super) fn open(&self, outbound: &mut dyn Outbound) -> Result<(), Error> {
        Ok(outbound.send(&self.opening)?)
    }
}

/// The receiver's part, once the sender has committed.
pub(super) struct Promised {
    commitment: [u8; 32],
    own: Tower,
}

impl Promised {
    /// Gets the commitment, and sends its own part.
    pub(super) fn exchange(channel: &mut Channel, rng: &mut Prg) -> Result<Self, Error> {
        let commitment = channel.recv_array()?;
        let own: [u8; 16] = rng.fork().bytes();
        channel.send(&own)?;
        Ok(Self {
            commitment,
            own: bytemuck::cast(own),
        })
    }

    /// Gets w.
    ///
    /// # Errors
    /// If the sender opens its commitment to something else.
    pub(super) fn joint(&self, channel: &mut Channel) -> Result<Tower, Error> {
        let opening: Opening = channel.recv_array()?;
        if commitment(&opening) != self.commitment {
            return Err(Error::Peer("it did not open what it had committed to"));
        }
        Ok(part(&opening) ^ self.own)
    }
}

fn part(opening: &Opening) -> Tower {
    let part: [u8; 16] = opening[..16].try_into().expect("16 of 32 bytes");
    bytemuck::cast(part)
}

fn commitment(opening: &Opening) -> [u8; 32] {
    blake3::derive_key("psijoin 2026 rr22 commitment", opening)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use psijoin_channel::memory;
    use psijoin_psi::ErrorKind;

    use super::*;

    /// Returns what the receiver gets from a sender that shows `shown` in place of its opening.
    fn run(shown: impl FnOnce(&mut Opening) + Send) -> (Tower, Result<Tower, Error>) {
        let (mut sender, mut receiver) = memory::pair();
        thread::scope(|scope| {
            let sender = scope.spawn(move || {
                let mut coin = Committed::exchange(&mut sender, &mut Prg::from_os()).unwrap();
                shown(&mut coin.opening);
                coin.open(sender.halves().0).unwrap();
                coin.joint()
            });
            let coin = Promised::exchange(&mut receiver, &mut Prg::from_os()).unwrap();
            let received = coin.joint(&mut receiver);
            (sender.join().unwrap(), received)
        })
    }

    #[test]
    fn both_get_the_same() {
        let (sent, received) = run(|_| ());
        assert!(sent == received.unwrap());
        assert!(sent != run(|_| ()).0, "and something else every time");
    }

    #[test]
    fn a_wrong_opening_is_caught() {
        for byte in [0, 15, 16, 31] {
            let (_, received) = run(|opening| opening[byte] ^= 1);
            let error = received.unwrap_err();
            assert!(matches!(error, Error::Peer(_)), "{error}");
            assert_eq!(error.kind(), ErrorKind::Peer);
        }
    }
}
