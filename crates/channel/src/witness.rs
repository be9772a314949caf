//! Answering again only what was answered before.
//!
//! A party that runs something again with the randomness of an earlier attempt must send what it
//! sent then. If it answered something else, its randomness would serve two conversations, and the
//! peer could learn from both. So it remembers what it had heard whenever it began to speak, and
//! demands to have heard the same before it sends the same again. Whoever remembers that is a
//! [`Witness`].
//!
//! The messages of a party in an [exchange](Channel::exchange) depend on what it heard before the
//! exchange, and on what was [read ahead](crate::read_ahead) for it since, but not on the other
//! messages that arrive meanwhile. So these count as heard when the exchange is over.

use std::{
    io, mem,
    sync::{Arc, Mutex, MutexGuard},
    time::Instant,
};

use crate::{AbortCode, Channel, Error, Inbound, Outbound, listener::Listener, turns};

/// The traffic of a run so far, each direction by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SoFar {
    /// A hash of what this party has said.
    pub said: [u8; 32],
    /// A hash of what it has heard, and its next words may depend on.
    pub heard: [u8; 32],
}

/// Remembers what a party had heard whenever it began to speak.
pub trait Witness: Send {
    /// Called when the party is about to speak, for the first time since it has heard something.
    /// When this returns, `so_far` is remembered, or equal to what is remembered of this moment.
    ///
    /// # Errors
    /// If it is another, or cannot be remembered. Then nothing is said.
    fn may_speak(&mut self, so_far: &SoFar) -> Result<(), Refusal>;

    /// Called when the party is about to give up, and to send the reason. That is an answer, too.
    ///
    /// # Errors
    /// If it cannot be remembered. Then the peer is told of a local failure.
    fn gives_up(&mut self, code: AbortCode) -> io::Result<()>;
}

/// The reason that a party may not speak.
#[derive(Debug)]
pub enum Refusal {
    /// It has heard something else than before.
    PeerDiffers,
    /// It has said something else than before.
    OwnDiffers,
    /// The received messages cannot be remembered.
    Io(io::Error),
}

impl Refusal {
    /// Returns what the peer is told.
    fn abort_code(&self) -> AbortCode {
        match self {
            Self::PeerDiffers => AbortCode::OtherRun,
            Self::OwnDiffers | Self::Io(_) => AbortCode::LocalFailure,
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::PeerDiffers => Self::PeerDiffers,
            Refusal::OwnDiffers => Self::OwnDiffers,
            Refusal::Io(error) => Self::NotKept(error),
        }
    }
}

impl Channel {
    /// Calls `run` with this channel, watched over by `witness`; what `run` gives, and what has
    /// passed.
    ///
    /// # Panics
    /// If `run` keeps a half of the channel.
    pub fn witnessed<R>(
        &mut self,
        witness: Box<dyn Witness>,
        run: impl FnOnce(&mut Self) -> R,
    ) -> (R, SoFar) {
        let own = mem::replace(self, Self::new(Lent, Lent));
        let passed = Arc::<Passed>::default();
        let (outbound, inbound) = (shared(own.outbound), shared(own.inbound));
        let mut watched = Self::new(
            Speaking {
                inner: outbound.clone(),
                passed: passed.clone(),
                witness,
            },
            Hearing {
                inner: inbound.clone(),
                passed: passed.clone(),
            },
        );
        watched.listeners = own.listeners.clone();
        watched.listeners.push(passed.clone());
        let result = run(&mut watched);
        drop(watched);
        *self = Self {
            outbound: given_back(outbound),
            inbound: given_back(inbound),
            listeners: own.listeners,
        };
        (result, passed.lock().so_far())
    }
}

/// A half while it is watched over.
type Shared<H> = Arc<Mutex<H>>;

fn shared<H>(half: H) -> Shared<H> {
    Arc::new(Mutex::new(half))
}

fn given_back<H>(half: Shared<H>) -> H {
    let half = Arc::into_inner(half).expect("a half is not kept");
    half.into_inner().expect(UNPOISONED)
}

const UNPOISONED: &str = "nobody uses a channel after a panic";

/// Stands in for a half that is lent.
struct Lent;

impl Outbound for Lent {
    fn send(&mut self, _: &[u8]) -> Result<(), Error> {
        Err(Error::Closed)
    }

    fn abort(&mut self, _: AbortCode) {}
}

impl Inbound for Lent {
    fn recv(&mut self, _: &mut [u8]) -> Result<(), Error> {
        Err(Error::Closed)
    }
}

struct Speaking {
    inner: Shared<Box<dyn Outbound>>,
    passed: Arc<Passed>,
    witness: Box<dyn Witness>,
}

impl Outbound for Speaking {
    fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        let news = self.passed.lock().take_news();
        if let Some(so_far) = news
            && let Err(refusal) = turns::while_waiting(|| self.witness.may_speak(&so_far))
        {
            // In an exchange, the other half would wait for a peer that waits for this one.
            self.inner
                .lock()
                .expect(UNPOISONED)
                .abort(refusal.abort_code());
            return Err(refusal.into());
        }
        self.inner.lock().expect(UNPOISONED).send(message)?;
        self.passed.lock().said.add(message);
        Ok(())
    }

    fn abort(&mut self, code: AbortCode) {
        let code = match turns::while_waiting(|| self.witness.gives_up(code)) {
            Ok(()) => code,
            Err(_) => AbortCode::LocalFailure,
        };
        self.inner.lock().expect(UNPOISONED).abort(code);
    }
}

struct Hearing {
    inner: Shared<Box<dyn Inbound>>,
    passed: Arc<Passed>,
}

impl Inbound for Hearing {
    fn recv(&mut self, message: &mut [u8]) -> Result<(), Error> {
        self.inner.lock().expect(UNPOISONED).recv(message)?;
        self.passed.lock().hear(message);
        Ok(())
    }
}

/// The traffic so far, as both halves know it.
#[derive(Default)]
struct Passed(Mutex<Words>);

#[derive(Default)]
struct Words {
    said: Direction,
    heard: Direction,
    /// The received messages, with those of the exchange that is under way.
    arriving: Option<Direction>,
    /// Those of them that were taken ahead.
    taken: Direction,
    /// `true` if something was heard since this party last spoke.
    is_news: bool,
}

impl Words {
    fn hear(&mut self, message: &[u8]) {
        match &mut self.arriving {
            Some(arriving) => arriving.add(message),
            None => {
                self.heard.add(message);
                self.is_news = true;
            }
        }
    }

    /// Returns what has passed, if something was heard since this was asked last.
    fn take_news(&mut self) -> Option<SoFar> {
        mem::take(&mut self.is_news).then(|| self.so_far())
    }

    fn so_far(&self) -> SoFar {
        let heard = match self.taken.messages {
            0 => self.heard.digest(),
            _ => {
                let both = [self.heard.digest(), self.taken.digest()];
                blake3::derive_key("psijoin 2026 heard and taken ahead", both.as_flattened())
            }
        };
        SoFar {
            said: self.said.digest(),
            heard,
        }
    }
}

impl Passed {
    fn lock(&self) -> MutexGuard<'_, Words> {
        self.0.lock().expect("hashing does not panic")
    }
}

impl Listener for Passed {
    fn exchange_begins(&self) {
        let words = &mut *self.lock();
        words.arriving = Some(words.heard.clone());
    }

    fn exchange_ends(&self) {
        let words = &mut *self.lock();
        if let Some(arriving) = words.arriving.take() {
            words.is_news |= arriving.messages > words.heard.messages;
            words.heard = arriving;
            words.taken = Direction::default();
        }
    }

    fn taken_ahead(&self, _: Instant, message: &[u8]) {
        let words = &mut *self.lock();
        words.taken.add(message);
        words.is_news = true;
    }
}

/// The messages of one direction.
#[derive(Clone, Default)]
struct Direction {
    hasher: blake3::Hasher,
    messages: u64,
}

impl Direction {
    fn add(&mut self, message: &[u8]) {
        self.hasher
            .update(&(message.len() as u64).to_le_bytes())
            .update(message);
        self.messages += 1;
    }

    fn digest(&self) -> [u8; 32] {
        self.hasher.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread};

    use super::*;
    use crate::{memory, read_ahead};

    /// Passes on what it is asked.
    struct Asked(mpsc::Sender<SoFar>);

    impl Witness for Asked {
        fn may_speak(&mut self, so_far: &SoFar) -> Result<(), Refusal> {
            self.0.send(*so_far).unwrap();
            Ok(())
        }

        fn gives_up(&mut self, _: AbortCode) -> io::Result<()> {
            Err(io::ErrorKind::StorageFull.into())
        }
    }

    struct Refuses;

    impl Witness for Refuses {
        fn may_speak(&mut self, _: &SoFar) -> Result<(), Refusal> {
            Err(Refusal::PeerDiffers)
        }

        fn gives_up(&mut self, _: AbortCode) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns what a witness is asked while `run` talks to a peer that has said these messages.
    fn asked(heard: &[&[u8]], run: impl FnOnce(&mut Channel)) -> (Vec<SoFar>, SoFar) {
        let (mut channel, mut peer) = memory::pair();
        heard.iter().for_each(|message| peer.send(message).unwrap());
        let (tell, told) = mpsc::channel();
        let ((), passed) = channel.witnessed(Box::new(Asked(tell)), run);
        // The channel is whole again.
        channel.send(b"after").unwrap();
        (told.try_iter().collect(), passed)
    }

    #[test]
    fn a_party_is_asked_when_it_speaks_after_it_has_heard() {
        let talk = |channel: &mut Channel| {
            channel.send(b"1").unwrap();
            channel.recv(&mut [0]).unwrap();
            channel.recv(&mut [0]).unwrap();
            channel.send(b"2").unwrap();
            channel.send(b"3").unwrap();
            channel.recv(&mut [0]).unwrap();
            channel.send(b"4").unwrap();
        };
        let (first, passed) = asked(&[b"a", b"b", b"c"], talk);
        assert_eq!(first.len(), 2);
        assert_eq!(first[1].heard, passed.heard);
        assert_eq!(
            asked(&[b"a", b"b", b"c"], talk),
            (first.clone(), passed),
            "the same again"
        );
        let (other, _) = asked(&[b"a", b"b", b"d"], talk);
        assert_eq!(other[0], first[0]);
        assert_ne!(other[1].heard, first[1].heard);
        assert_eq!(other[1].said, first[1].said);
        let (other, _) = asked(&[b"ab", b"", b"c"], |channel| {
            channel.send(b"1").unwrap();
            channel.recv(&mut [0; 2]).unwrap();
            channel.recv(&mut []).unwrap();
            channel.send(b"2").unwrap();
        });
        assert_ne!(other[0].heard, first[0].heard, "borders of messages count");
    }

    #[test]
    fn what_arrives_in_an_exchange_is_heard_at_its_end() {
        let exchange = |channel: &mut Channel| {
            let swapped = channel.exchange(
                |outbound| (0..9).try_for_each(|i| outbound.send(&[i])),
                |inbound| (0..2).try_for_each(|_| inbound.recv(&mut [0])),
            );
            swapped.unwrap();
            channel.send(b"after it").unwrap();
        };
        let (asked_for, passed) = asked(&[b"a", b"b"], exchange);
        assert_eq!(asked_for.len(), 1);
        assert_eq!(asked_for[0].heard, passed.heard);
    }

    #[test]
    fn what_is_taken_ahead_is_heard_at_once() {
        let run = |channel: &mut Channel| {
            let (reader, mut ahead) = read_ahead::queue(channel);
            let swapped = channel.exchange(
                |outbound| {
                    outbound.send(b"1")?;
                    ahead.recv(&mut [0])?;
                    outbound.send(b"2")
                },
                |inbound| reader.read(inbound, [1, 1].into_iter()),
            );
            swapped.unwrap();
            channel.send(b"3").unwrap();
        };
        let (first, _) = asked(&[b"a", b"b"], run);
        assert_eq!(first.len(), 2, "before 2 and 3");
        assert_ne!(first[0].heard, first[1].heard);
        let (other, _) = asked(&[b"a", b"c"], run);
        assert_eq!(first[0], other[0]);
        assert_ne!(first[1].heard, other[1].heard);
        let (other, _) = asked(&[b"b", b"b"], run);
        assert_ne!(first[0].heard, other[0].heard);
    }

    #[test]
    fn nothing_is_said_that_is_refused() {
        let (mut channel, mut peer) = memory::pair();
        peer.send(b"a").unwrap();
        let (said, _) = channel.witnessed(Box::new(Refuses), |channel| {
            channel.recv(&mut [0])?;
            channel.send(b"b")
        });
        assert!(matches!(said, Err(Error::PeerDiffers)));
        assert_eq!(heard_by(&mut peer), AbortCode::OtherRun);
    }

    #[test]
    fn a_refusal_ends_an_exchange() {
        let (mut channel, mut peer) = memory::pair();
        peer.send(b"a").unwrap();
        let (said, _) = channel.witnessed(Box::new(Refuses), |channel| {
            channel.recv(&mut [0])?;
            thread::scope(|scope| {
                // As a peer does that is told why.
                scope.spawn(|| {
                    assert_eq!(heard_by(&mut peer), AbortCode::OtherRun);
                    drop(peer);
                });
                channel.exchange(
                    |outbound| outbound.send(b"b"),
                    |inbound| inbound.recv(&mut [0]),
                )
            })
        });
        assert!(matches!(said, Err(Error::PeerDiffers)), "{said:?}");
    }

    fn heard_by(peer: &mut Channel) -> AbortCode {
        match peer.recv(&mut [0]) {
            Err(Error::PeerAborted(code)) => code,
            heard => panic!("{heard:?}"),
        }
    }

    #[test]
    fn a_reason_that_cannot_be_remembered_is_not_told() {
        let (mut channel, mut peer) = memory::pair();
        let (tell, _told) = mpsc::channel();
        channel.witnessed(Box::new(Asked(tell)), |channel| {
            channel.abort(AbortCode::ProtocolViolation);
        });
        assert_eq!(heard_by(&mut peer), AbortCode::LocalFailure);
    }
}
