//! The introduction of both ends of a fresh connection, inside of whatever protects it.
//!
//! - At a *meeting*, each sends its preamble; inside of TLS, padding follows. Where one side has
//!   [invited](crate::invitation) the other, the padding begins with a note, and the side that
//!   listens is silent until it has heard the other's.
//! - For a *further stream* of a session, the side that connects sends its preamble, the stream's
//!   number (1 byte, or 4 for a lane), and its pass. The side that listens is silent until it has
//!   checked that: who comes for a meeting must not take it for the peer. Then it sends its
//!   preamble and a pass of its own.

use std::{
    io::Read,
    ops::Range,
    sync::{Arc, Mutex},
};

use blake3::Hash;

use super::inviting::{self, Entered, Inviter, Judged};
use crate::{
    Error, Fingerprint, InvitationKey, Options, Security,
    invitation::NOTE_BYTES,
    preamble::{self, NOT_INVITED, Occasion, PADDING_BYTES, PREAMBLE_BYTES},
    ticket::{MOST_NUMBER_BYTES, PASS_BYTES, Side, Ticket},
};

/// The most bytes of the other end that are ever kept.
const LONGEST_BYTES: usize = PREAMBLE_BYTES + MOST_NUMBER_BYTES + PASS_BYTES;

/// The purpose of a connection, at this end.
#[derive(Clone)]
pub(super) enum Purpose {
    /// Meeting the peer.
    Meet,
    /// One more stream of a session, for the side that connects.
    Dial(Ticket, u32),
    /// Further streams of a session, for the side that listens.
    LetIn(Arc<Register>),
    /// Meeting whoever shows an invitation of this side's, which listens.
    Invite(Inviter),
    /// Meeting the party that has invited this side, which connects.
    Accept(InvitationKey),
}

impl Purpose {
    /// Returns the purpose of a side that listens for the first connection of a session.
    pub(super) fn to_accept(options: &Options) -> Self {
        match &options.security {
            Security::Inviting {
                key, known, host, ..
            } => Self::Invite(Inviter {
                key: key.clone(),
                known: known.clone(),
                host: host.clone(),
            }),
            _ => Self::Meet,
        }
    }

    /// Returns the purpose of a side that makes the first connection of a session.
    pub(super) fn to_connect(options: &Options) -> Self {
        match &options.security {
            Security::Invited { key, .. } => Self::Accept(key.clone()),
            _ => Self::Meet,
        }
    }

    fn occasion(&self) -> Occasion {
        match self {
            Self::Meet | Self::Invite(_) | Self::Accept(_) => Occasion::Meeting,
            Self::Dial(..) | Self::LetIn(_) => Occasion::Stream,
        }
    }
}

/// The streams that the side that listens waits for. Each is let in once.
pub(super) struct Register {
    pub(super) ticket: Ticket,
    first: u32,
    is_in: Mutex<Vec<bool>>,
}

impl Register {
    /// Returns the streams of these numbers.
    pub(super) fn new(ticket: Ticket, numbers: Range<u32>) -> Arc<Self> {
        Arc::new(Self {
            ticket,
            first: numbers.start,
            is_in: Mutex::new(vec![false; numbers.len()]),
        })
    }

    /// Lets a stream in, if it is one of the session's that is not in yet. Gives the answer to its
    /// pass.
    fn let_in(&self, stream: u32, pass: [u8; PASS_BYTES]) -> Result<Hash, Error> {
        if self.ticket.pass(Side::Connecting, stream) != pass {
            return Err(Error::OtherSession);
        }
        let mut is_in = self.is_in.lock().expect("nothing panics while it is held");
        let place = stream.checked_sub(self.first);
        match place.and_then(|place| is_in.get_mut(place as usize)) {
            Some(is_in) if !*is_in => {
                *is_in = true;
                Ok(self.ticket.pass(Side::Listening, stream))
            }
            _ => Err(Error::OtherSession),
        }
    }
}

/// The reason that the other end is not the peer.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) error: Error,
    /// The words that it gets.
    pub(super) answer: Vec<u8>,
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self {
            error,
            answer: Vec::new(),
        }
    }
}

/// An introduction under way.
pub(super) struct Introduction {
    purpose: Purpose,
    /// Of a party that is invited or invites, once the TLS handshake is over.
    entered: Option<Entered>,
    /// The bytes of the other end, as far as they have come.
    heard: [u8; LONGEST_BYTES],
    filled: usize,
    /// The padding after that, from each end.
    padding_bytes: usize,
    padding_heard: usize,
    /// The beginning of the other end's padding.
    note: [u8; NOTE_BYTES],
}

impl Introduction {
    pub(super) fn new(purpose: &Purpose) -> Self {
        Self {
            purpose: purpose.clone(),
            entered: None,
            heard: [0; LONGEST_BYTES],
            filled: 0,
            padding_bytes: 0,
            padding_heard: 0,
            note: [0; NOTE_BYTES],
        }
    }

    /// As it goes inside of TLS.
    pub(super) fn in_tls(purpose: &Purpose) -> Self {
        let padding_bytes = match purpose {
            Purpose::Meet | Purpose::Invite(_) | Purpose::Accept(_) => PADDING_BYTES,
            Purpose::Dial(..) | Purpose::LetIn(_) => 0,
        };
        Self {
            padding_bytes,
            ..Self::new(purpose)
        }
    }

    /// Notes that the TLS handshake is over, for the party that `ours` names.
    pub(super) fn enter(
        &mut self,
        tls: &rustls::Connection,
        ours: Fingerprint,
    ) -> Result<(), Error> {
        let known = match &self.purpose {
            Purpose::Invite(inviter) => &*inviter.known,
            Purpose::Accept(_) => &[],
            Purpose::Meet | Purpose::Dial(..) | Purpose::LetIn(_) => return Ok(()),
        };
        self.entered = Some(Entered::of(tls, ours, known)?);
        Ok(())
    }

    /// Returns the bytes that this side sends before it has heard anything.
    pub(super) fn first(&self) -> Vec<u8> {
        let mut words = preamble::ours(self.purpose.occasion()).to_vec();
        match &self.purpose {
            Purpose::Meet => return self.greeting(&[]),
            Purpose::Accept(key) => {
                let note = self
                    .entered
                    .as_ref()
                    .map(|entered| inviting::say(key, entered));
                return self.greeting(&note.unwrap_or_default());
            }
            Purpose::Dial(ticket, stream) => {
                words.extend(ticket.number(*stream));
                words.extend(ticket.pass(Side::Connecting, *stream).as_bytes());
            }
            Purpose::LetIn(_) | Purpose::Invite(_) => words.clear(),
        }
        words
    }

    /// Returns the words of a meeting, with a note in the padding.
    fn greeting(&self, note: &[u8]) -> Vec<u8> {
        let mut words = [&preamble::ours(Occasion::Meeting)[..], note].concat();
        words.resize(PREAMBLE_BYTES + self.padding_bytes, 0);
        words
    }

    /// Returns the number of bytes that the other end has still to send, without padding.
    pub(super) fn due(&self) -> usize {
        let due = match self.purpose {
            Purpose::Meet | Purpose::Invite(_) | Purpose::Accept(_) => PREAMBLE_BYTES,
            Purpose::Dial(..) => PREAMBLE_BYTES + PASS_BYTES,
            Purpose::LetIn(ref register) => {
                PREAMBLE_BYTES + register.ticket.number_bytes() + PASS_BYTES
            }
        };
        due - self.filled
    }

    /// Takes no more from `source` than is due.
    pub(super) fn hear(&mut self, mut source: impl Read) {
        let due = self.due();
        // An error means that there is nothing now.
        self.filled += source
            .read(&mut self.heard[self.filled..][..due])
            .unwrap_or(0);
        if self.due() == 0 && self.padding_heard < self.padding_bytes {
            let padding = &mut [0; PADDING_BYTES][..self.padding_bytes - self.padding_heard];
            let length = source.read(padding).unwrap_or(0);
            let rest_of_note = &mut self.note[self.padding_heard.min(NOTE_BYTES)..];
            let noted = length.min(rest_of_note.len());
            rest_of_note[..noted].copy_from_slice(&padding[..noted]);
            self.padding_heard += length;
        }
    }

    /// Checks what was heard. If that is all, the other end is the peer, as far as it can be known,
    /// and gets this answer.
    pub(super) fn judge(&self) -> Result<Option<Vec<u8>>, Refusal> {
        preamble::check(self.purpose.occasion(), &self.heard[..self.filled])?;
        if self.due() > 0 || self.padding_heard < self.padding_bytes {
            return Ok(None);
        }
        match &self.purpose {
            Purpose::Meet => Ok(Some(Vec::new())),
            Purpose::Accept(key) => {
                inviting::hear(key, &self.note, self.entered()?)?;
                Ok(Some(Vec::new()))
            }
            Purpose::Invite(inviter) => self.judge_guest(inviter).map(Some),
            Purpose::Dial(ticket, stream) => {
                if ticket.pass(Side::Listening, *stream) != self.pass(PREAMBLE_BYTES) {
                    return Err(Error::OtherSession.into());
                }
                Ok(Some(Vec::new()))
            }
            Purpose::LetIn(register) => {
                let pass = self.pass(PREAMBLE_BYTES + register.ticket.number_bytes());
                let answer = register.let_in(self.stream(), pass)?;
                let preamble = preamble::ours(Occasion::Stream);
                Ok(Some([&preamble[..], answer.as_bytes()].concat()))
            }
        }
    }

    /// Judges whoever has come to an inviter, and returns what the guest hears.
    fn judge_guest(&self, inviter: &Inviter) -> Result<Vec<u8>, Refusal> {
        let (fault, answer) = match inviter.judge(&self.note, self.entered()?)? {
            Judged::Guest(note) => return Ok(self.greeting(&note)),
            Judged::TurnedAway(note, fault) => (fault, self.greeting(&note)),
            // A greeting would be a welcome to it.
            Judged::NotShown(fault) => (fault, NOT_INVITED.to_vec()),
        };
        Err(Refusal {
            error: fault.into(),
            answer,
        })
    }

    /// Returns what TLS has shown. Who is invited is not met without it.
    fn entered(&self) -> Result<&Entered, Error> {
        self.entered.as_ref().ok_or(Error::ClosedDuringSetup)
    }

    /// Returns the number of the stream: 0 for that of a meeting.
    pub(super) fn stream(&self) -> u32 {
        match &self.purpose {
            Purpose::Meet | Purpose::Invite(_) | Purpose::Accept(_) => 0,
            Purpose::Dial(_, stream) => *stream,
            Purpose::LetIn(register) => register.ticket.told(&self.heard[PREAMBLE_BYTES..]),
        }
    }

    /// Returns the other end's pass, which begins here.
    fn pass(&self, start: usize) -> [u8; PASS_BYTES] {
        std::array::from_fn(|i| self.heard[start + i])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_end_owes_does_not_depend_on_what_it_has_heard() {
        let mut introduction = Introduction::in_tls(&Purpose::Meet);
        let words = introduction.first();
        introduction.hear(&words[..PREAMBLE_BYTES + 100]);
        assert!(introduction.judge().unwrap().is_none());
        assert_eq!(introduction.first(), words);
        introduction.hear(&words[PREAMBLE_BYTES + 100..]);
        assert!(introduction.judge().unwrap().is_some());
    }
}
