//! Meeting again after a lane was lost, for a table that lies elsewhere.
//!
//! Many machines lose one now and then. If both sides have told that they come again, the side that
//! loses a lane says so in place of giving up, and both meet anew: same sets, which neither reads
//! again, and fresh keys, seeds and lanes. Both compare the number of the attempt and the session
//! of the first one, so neither takes a party that begins anew for one that comes again; and each
//! checks that the other one has as many keys as before.
//!
//! # What that allows
//! Each attempt is a run of the protocol with fresh randomness. Parties that are semi-honest have
//! the set that they had, so they learn what one run tells, and which lanes were lost when. A party
//! that is not can take another set of as many keys each time, and learns what is shared of that,
//! as far as lanes have come: as if the join were run so many times. So there are no further
//! attempts where the protocol protects from such parties, at most [`MOST`] otherwise, and their
//! number is in what both sign, in reports and in statements.
//!
//! Nor are there further attempts if the answer has noise. Each would draw its own, and a receiver
//! that says it has lost a lane once it knows the answer would get several, whose mean has less
//! noise than was promised.

use std::time::Duration;

use psijoin::{Adversary, Plan, Role};
use psijoin_channel::AbortCode;
use psijoin_handshake::Hello;

use crate::{Error, settings::ATTEMPT};

/// The most attempts of a join.
pub(crate) const MOST: u32 = 3;

/// The most time to meet the other party again: it was told, or has said so itself.
const WAIT: Duration = Duration::from_secs(30);

/// The fact that a side comes again if a lane is lost.
const COMES_AGAIN: &str = "comes again";

/// An attempt of a join whose table lies elsewhere, by a side that makes more if lanes are lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// From 1 on.
    number: u32,
    /// The session of the first one, and the keys that the other party has; `None` in that.
    first: Option<(String, u64)>,
}

impl Default for Attempt {
    /// The first one.
    fn default() -> Self {
        Self {
            number: 1,
            first: None,
        }
    }
}

impl Attempt {
    /// Returns its number, from 1 on.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns the most time to meet the other party; `None` in the first attempt, for which people
    /// say it.
    pub(crate) fn most_wait(&self) -> Option<Duration> {
        self.first.as_ref().map(|_| WAIT)
    }

    /// Tells the other party of it.
    pub(crate) fn tell(&self, hello: Hello) -> Hello {
        let hello = hello.fact(COMES_AGAIN, "yes");
        match &self.first {
            None => hello,
            Some((session, _)) => {
                hello.setting(ATTEMPT, format_args!("{} of {session}", self.number))
            }
        }
    }

    /// Checks that the other party has as many keys as in the first attempt.
    pub(crate) fn check(&self, peer: &Hello) -> Result<(), Error> {
        match self.first {
            Some((_, keys)) if keys != peer.set_size() => Err(Error::OtherSet),
            _ => Ok(()),
        }
    }

    /// Returns the attempt after this one, in which both sides meet if a lane of this session is
    /// lost; `None` if they do not.
    pub(crate) fn next(&self, session: &str, peer: &Hello, plan: &Plan) -> Option<Self> {
        let both_come = peer.told(COMES_AGAIN).is_some();
        let protects = plan.info().adversary != Adversary::SemiHonest;
        let has_noise = plan.request().noise(Role::Sender) > 0;
        let comes = both_come && !protects && !has_noise;
        let first = || (session.to_owned(), peer.set_size());
        (comes && self.number < MOST).then(|| Self {
            number: self.number + 1,
            first: Some(self.first.clone().unwrap_or_else(first)),
        })
    }
}

/// Returns what the other party is told of a lane that was lost.
pub(crate) fn code(comes_again: bool) -> AbortCode {
    match comes_again {
        true => AbortCode::LaneLost,
        // Processes of this party have failed, and its table may be as it should.
        false => AbortCode::InternalFailure,
    }
}
