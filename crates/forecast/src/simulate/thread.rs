//! A thread of a party, as it goes through its script.

use std::slice::Iter;

use super::line::Load;
use crate::{
    Script,
    script::{Messages, Stretch},
};

/// A thread of a party.
pub(super) struct Thread<'a> {
    stretches: Iter<'a, Stretch>,
    /// The next work once it has computed, and the number of times that it then does both.
    then: Doing,
    seconds: f64,
    times: usize,
    pub(super) doing: Doing,
}

/// The present work of a thread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Doing {
    /// It begins the next stretch, or does what it did once more.
    Next,
    /// It computes for this many seconds more.
    Compute(f64),
    Send(Load),
    Receive(Load),
    /// It waits for messages that its other half receives.
    Take(f64),
    /// All is done.
    Nothing,
}

impl<'a> Thread<'a> {
    pub(super) fn new(script: &'a Script) -> Self {
        Self {
            stretches: script.0.iter(),
            then: Doing::Next,
            seconds: 0.0,
            times: 0,
            doing: Doing::Next,
        }
    }

    pub(super) fn computes(&self) -> bool {
        matches!(self.doing, Doing::Compute(_))
    }

    /// Ends the present work.
    pub(super) fn go_on(&mut self) {
        self.doing = match self.doing {
            Doing::Compute(_) => self.then,
            _ => Doing::Next,
        };
    }

    /// Begins what comes next. The halves of an exchange, if that is what comes.
    pub(super) fn begin(&mut self) -> Option<[Self; 2]> {
        if self.times == 0 {
            match self.stretches.next() {
                Some(Stretch::Exchange { sending, receiving }) => {
                    return Some([sending, receiving].map(Self::new));
                }
                Some(stretch) => self.prepare(stretch),
                None => {
                    self.doing = Doing::Nothing;
                    return None;
                }
            }
        }
        self.times -= 1;
        self.doing = Doing::Compute(self.seconds);
        None
    }

    fn prepare(&mut self, stretch: &Stretch) {
        let (seconds, times, then) = match stretch {
            Stretch::Work(seconds) => (*seconds, 1, Doing::Next),
            Stretch::Send(all) => (all.seconds, times(all), Doing::Send(load(all))),
            Stretch::Receive(all) => (all.seconds, times(all), Doing::Receive(load(all))),
            Stretch::Take(all) => (all.seconds, times(all), Doing::Take(load(all).messages)),
            Stretch::Exchange { .. } => unreachable!("an exchange has threads of its own"),
        };
        (self.seconds, self.times, self.then) = (seconds / times as f64, times, then);
    }
}

/// Returns the number of pieces of equal length that messages, the last of them perhaps a fraction,
/// are cut into.
fn times(all: &Messages) -> usize {
    (all.messages - super::ROUNDING).ceil().max(1.0) as usize
}

fn load(all: &Messages) -> Load {
    let times = times(all) as f64;
    Load {
        bytes: all.bytes / times,
        messages: all.messages / times,
    }
}
