//! The messages of a run: a hash that both parties can compare, and a recorder for tests.
//!
//! The two directions are hashed apart, since the order in which they interleave on the
//! wire is known to nobody and may change from run to run.

use std::sync::{Arc, Mutex, MutexGuard};

use crate::{Channel, observed::Observed};

/// Separates these hashes from any other use of BLAKE3.
const CONTEXT: &str = "psijoin transcript v1";

/// Hashes all that passes through `channel` from now on. The two parties must name
/// themselves differently.
pub fn hashed(channel: Channel, party: Party) -> (Channel, Transcript) {
    let transcript = Transcript::default();
    let sent = transcript.by(party).clone();
    let received = transcript.by(party.other()).clone();
    let channel = channel.decorate(
        |inner| Observed {
            inner,
            show: move |message: &[u8]| sent.add(message),
        },
        |inner| Observed {
            inner,
            show: move |message: &[u8]| received.add(message),
        },
    );
    (channel, transcript)
}

/// One of the two parties. Any assignment on which both agree will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Party {
    /// One of them.
    First,
    /// The other one.
    Second,
}

impl Party {
    /// Returns the peer.
    pub fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}

/// The running hash of a conversation: a handle that can be cloned and read from any thread.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    by_first: DirectionHash,
    by_second: DirectionHash,
}

impl Transcript {
    /// Returns the hash of all that has passed so far: every message with its length, its direction
    /// and its place among those of its direction. When all that was sent has been received,
    /// both parties have the same.
    ///
    /// It is `BLAKE3-derive_key(CONTEXT, d1 ‖ d2)`, where `d1` and `d2` are the BLAKE3
    /// hashes of what the first and the second party said, each message being preceded by
    /// its length in bytes as a little-endian `u64`.
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = blake3::Hasher::new_derive_key(CONTEXT);
        for party in [Party::First, Party::Second] {
            hash.update(self.by(party).lock().finalize().as_bytes());
        }
        hash.finalize().into()
    }

    fn by(&self, party: Party) -> &DirectionHash {
        match party {
            Party::First => &self.by_first,
            Party::Second => &self.by_second,
        }
    }
}

/// The hash of one party's messages.
#[derive(Debug, Clone, Default)]
struct DirectionHash(Arc<Mutex<blake3::Hasher>>);

impl DirectionHash {
    fn add(&self, message: &[u8]) {
        self.lock()
            .update(&(message.len() as u64).to_le_bytes())
            .update(message);
    }

    fn lock(&self) -> MutexGuard<'_, blake3::Hasher> {
        self.0.lock().expect("hashing does not panic")
    }
}

/// Keeps a copy of every message that `channel` sends from now on: for tests, which look
/// for secrets in it.
pub fn recorded(channel: Channel) -> (Channel, Recorder) {
    let recorder = Recorder::default();
    let recording = recorder.clone();
    let channel = channel.decorate(
        |inner| Observed {
            inner,
            show: move |message: &[u8]| recording.lock().push(message.to_vec()),
        },
        |inner| inner,
    );
    (channel, recorder)
}

/// The messages that one party has sent: a handle that can be cloned and read from any
/// thread.
#[derive(Debug, Clone, Default)]
pub struct Recorder {
    messages: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Recorder {
    /// Returns all messages so far, in order.
    pub fn messages(&self) -> Vec<Vec<u8>> {
        self.lock().clone()
    }

    /// Returns whether `needle` occurs anywhere in what was sent, across the borders of messages
    /// too.
    ///
    /// # Panics
    /// If `needle` is empty.
    pub fn contains(&self, needle: &[u8]) -> bool {
        self.lock()
            .concat()
            .windows(needle.len())
            .any(|window| window == needle)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.messages.lock().expect("recording does not panic")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory;

    /// Lets two parties send the messages of `script` and returns the hash of each.
    fn digests(script: &[(Party, &[u8])]) -> [[u8; 32]; 2] {
        let (first, second) = memory::pair();
        let (mut first, by_first) = hashed(first, Party::First);
        let (mut second, by_second) = hashed(second, Party::Second);
        for &(party, message) in script {
            let (from, to) = match party {
                Party::First => (&mut first, &mut second),
                Party::Second => (&mut second, &mut first),
            };
            from.send(message).unwrap();
            to.recv(&mut vec![0; message.len()]).unwrap();
        }
        [by_first.digest(), by_second.digest()]
    }

    #[test]
    fn both_parties_get_the_same_hash_however_directions_interleave() {
        use Party::*;
        let [first, second] = digests(&[(First, b"a"), (Second, b"b"), (First, b"c")]);
        assert_eq!(first, second);
        let [other_order, _] = digests(&[(Second, b"b"), (First, b"a"), (First, b"c")]);
        assert_eq!(first, other_order);
    }

    #[test]
    fn hash_binds_bytes_lengths_direction_and_order() {
        use Party::*;
        let scripts: [&[(Party, &[u8])]; 9] = [
            &[],
            &[(First, b"")],
            &[(First, b"ab")],
            &[(First, b"ba")],
            &[(Second, b"ab")],
            &[(First, b"a"), (First, b"b")],
            &[(First, b"b"), (First, b"a")],
            &[(First, b"a"), (Second, b"b")],
            &[(First, b"ab"), (First, b"")],
        ];
        let mut digests: Vec<_> = scripts.iter().map(|script| digests(script)[0]).collect();
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), scripts.len());
    }

    #[test]
    fn digest_follows_its_documented_formula() {
        let said = |bytes: &[u8]| *blake3::hash(bytes).as_bytes();
        let directions = [said(b"\x02\0\0\0\0\0\0\0hi\0\0\0\0\0\0\0\0"), said(b"")].concat();
        let expected = blake3::derive_key(CONTEXT, &directions);
        assert_eq!(
            digests(&[(Party::First, b"hi"), (Party::First, b"")]),
            [expected; 2]
        );
    }

    #[test]
    fn recorder_keeps_what_was_sent_and_finds_it_across_messages() {
        let (alice, mut bob) = memory::pair();
        let (mut alice, recorder) = recorded(alice);
        alice.send(b"half a sec").unwrap();
        alice.send(b"ret").unwrap();
        bob.send(b"answer").unwrap();
        alice.recv(&mut [0; 6]).unwrap();
        assert_eq!(
            recorder.messages(),
            [b"half a sec".to_vec(), b"ret".to_vec()]
        );
        assert!(recorder.contains(b"secret"));
        assert!(!recorder.contains(b"answer"));
    }
}
