//! The lanes over which the parts of a session run, and what both sides tell each other of them.
//!
//! From version 5 on, the stream of the meeting carries only what both sides say about the session,
//! and what is opened in the end, as soon as parts run side by side or somewhere else. Each lane is
//! by keys of this session alone, and ends by itself ([`transport`](psijoin_transport::Lanes)). So
//! a process that runs a lane has to know of no other, and the other side cannot tell whether it is
//! a thread or a machine.
//!
//! Two sides that compute in one process each run parts over as many lanes as
//! [`parts::streams`] says, and over the stream of the meeting if that is one. A side whose table
//! lies elsewhere tells how many lanes it runs at once; then there are lanes in any case, as many
//! as both can run, and parts, two at least.
//!
//! In version 4 further streams are made as that of the meeting, which runs parts as well, and all
//! end together.

use std::{num::NonZeroU32, time::Duration};

use psijoin::{Plan, Protocol, parts};
use psijoin_handshake::{self as handshake, Hello, Pending};
use psijoin_transport::{Connection, Fingerprint, Identity, LaneKeys, Timeouts};

use crate::{ElsewhereFault, Error, party::Party};

/// The first version with lanes.
const FIRST_VERSION: u16 = 5;

/// The most streams in earlier versions.
const MOST_STREAMS_BEFORE: usize = 16;

/// The fact that a side computes with this number of threads.
const THREADS: &str = "threads";

/// The fact that a side's table lies elsewhere, and that it runs this number of lanes at once.
const LANES: &str = "lanes";

/// The fact that a side opens lanes by the key of this fingerprint.
const LANE_KEY: &str = "lane key";

/// The fewest parts of a session with a table that lies elsewhere.
const FEWEST_PARTS: u32 = 2;

/// Tells the other side how this one runs parts.
pub(crate) fn tell(
    threads: usize,
    lanes: Option<NonZeroU32>,
    key: Option<Fingerprint>,
    hello: Hello,
) -> Hello {
    let hello = hello.fact(THREADS, threads);
    let hello = match lanes {
        None => hello,
        Some(lanes) => hello.fact(LANES, lanes),
    };
    match key {
        None => hello,
        Some(key) => hello.fact(LANE_KEY, key),
    }
}

/// The lanes of this side, as the other one is told of them.
pub(crate) struct OwnLanes {
    threads: usize,
    lanes: Option<NonZeroU32>,
    /// Made for this session. `None` without TLS.
    key: Option<Identity>,
}

impl OwnLanes {
    /// Returns those of a party that has met its peer.
    pub(crate) fn new(party: &Party<'_>, connection: &Connection) -> Result<Self, Error> {
        let is_encrypted = connection.key_exchange().is_some();
        let key = is_encrypted.then(Identity::generate).transpose()?;
        Ok(Self {
            threads: party.threads,
            lanes: party.lanes,
            key,
        })
    }

    pub(crate) fn tell(&self, hello: Hello) -> Hello {
        let key = self.key.as_ref().map(Identity::fingerprint);
        tell(self.threads, self.lanes, key, hello)
    }

    /// Returns how both sides run parts.
    ///
    /// # Errors
    /// If the other side has told what cannot be, or does not know lanes that this one needs.
    pub(crate) fn agree(self, pending: &Pending) -> Result<LaneTerms, Error> {
        let peer = pending.peer();
        let knows_lanes = pending.version() >= FIRST_VERSION;
        if self.lanes.is_some() && !knows_lanes {
            return Err(ElsewhereFault::OlderPeer.into());
        }
        let theirs = peer.told(LANES).map(str::parse).transpose();
        let theirs = theirs.map_err(|_| malformed("its number of lanes is none"))?;
        let peer_key = peer.told(LANE_KEY).map(str::parse::<Fingerprint>);
        let is_encrypted = self.key.is_some();
        let keys = match (self.key, peer_key) {
            (Some(own), Some(Ok(peer))) => Some(LaneKeys { own, peer }),
            (Some(_), Some(Err(_))) => return Err(malformed("the key of its lanes is none")),
            // It need not tell one if it opens no lanes.
            _ => None,
        };
        Ok(LaneTerms {
            version: pending.version(),
            threads: [self.threads, threads(peer)],
            elsewhere: [self.lanes, theirs],
            is_encrypted,
            keys,
        })
    }
}

fn malformed(what: &'static str) -> Error {
    handshake::Error::Malformed(what).into()
}

/// Returns how many threads the other party computes with: one, unless it tells a number that can
/// be.
fn threads(peer: &Hello) -> usize {
    let told = peer.told(THREADS).and_then(|threads| threads.parse().ok());
    told.unwrap_or(1)
}

/// The facts by which both sides run parts: first this side's, then the other's.
pub(crate) struct LaneTerms {
    version: u16,
    threads: [usize; 2],
    /// The lanes of a side whose table lies elsewhere.
    elsewhere: [Option<NonZeroU32>; 2],
    is_encrypted: bool,
    keys: Option<LaneKeys>,
}

/// The streams over which parts run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ways {
    /// That of the meeting.
    Meeting,
    /// That of the meeting, and so many further ones that end with it.
    Streams(u8),
    /// So many lanes.
    Lanes(u32),
}

impl LaneTerms {
    /// Those of a party that runs nothing with another.
    pub(crate) const ALONE: Self = Self {
        version: FIRST_VERSION,
        threads: [1; 2],
        elsewhere: [None; 2],
        is_encrypted: false,
        keys: None,
    };

    /// Returns over what this number of parts goes.
    pub(crate) fn ways(&self, runs: u32) -> Ways {
        if self.elsewhere == [None; 2] {
            let streams = parts::streams(runs as usize, self.threads);
            return match (streams, self.version >= FIRST_VERSION) {
                (1, _) => Ways::Meeting,
                (several, false) => Ways::Streams(several.min(MOST_STREAMS_BEFORE) as u8 - 1),
                (several, true) => Ways::Lanes(several as u32),
            };
        }
        let sides = self.elsewhere.into_iter().zip(self.threads);
        let at_once = sides.map(|(lanes, threads)| match lanes {
            Some(lanes) => lanes.get(),
            None => parts::streams(runs as usize, [threads; 2]) as u32,
        });
        Ways::Lanes(at_once.min().unwrap_or(1).min(runs).max(1))
    }

    /// Returns the keys by which lanes are opened; `None` without TLS.
    ///
    /// # Errors
    /// If the other side did not tell its own.
    pub(crate) fn keys(&self) -> Result<Option<LaneKeys>, Error> {
        match (self.is_encrypted, &self.keys) {
            (true, None) => Err(malformed("it did not tell the key of its lanes")),
            (_, keys) => Ok(keys.clone()),
        }
    }

    /// Returns how long the lanes of both sides may take until they are open: as long as a meeting
    /// where a cluster has to start them, and otherwise no longer than any further stream.
    pub(crate) fn wait(&self, timeouts: Timeouts) -> Duration {
        match self.elsewhere == [None; 2] {
            true => timeouts.setup,
            false => timeouts.meet.max(timeouts.setup),
        }
    }

    /// Returns whether the lanes of the other side are opened elsewhere.
    pub(crate) fn are_elsewhere(&self) -> bool {
        self.elsewhere[1].is_some()
    }

    /// Puts a plan in parts, if the table of either side lies elsewhere.
    pub(crate) fn in_parts(
        &self,
        protocol: &'static Protocol,
        plan: Plan,
    ) -> Result<Plan, psijoin::Error> {
        match self.elsewhere == [None; 2] || plan.parts().is_some() {
            true => Ok(plan),
            false => parts::in_parts(protocol, plan.request(), FEWEST_PARTS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(version: u16, threads: [usize; 2], elsewhere: [u32; 2]) -> LaneTerms {
        LaneTerms {
            version,
            threads,
            elsewhere: elsewhere.map(NonZeroU32::new),
            is_encrypted: false,
            keys: None,
        }
    }

    #[test]
    fn both_sides_come_to_the_same_ways() {
        for (version, threads, elsewhere, runs, expected) in [
            (4, [2, 2], [0, 0], 9, Ways::Streams(2)),
            (4, [2, 1], [0, 0], 9, Ways::Meeting),
            (5, [2, 2], [0, 0], 9, Ways::Lanes(3)),
            (5, [2, 8], [0, 0], 2, Ways::Lanes(2)),
            (5, [2, 2], [0, 0], 1, Ways::Meeting),
            (5, [2, 1], [0, 0], 9, Ways::Meeting),
            // Many threads.
            (4, [64, 40], [0, 0], 900, Ways::Streams(15)),
            (5, [64, 20], [0, 0], 900, Ways::Lanes(21)),
            (5, [64, 40], [0, 0], 900, Ways::Lanes(32)),
            (5, [1, 64], [300, 0], 900, Ways::Lanes(32)),
            // A cluster, and a laptop of two cores, or of one.
            (5, [1, 2], [24, 0], 70, Ways::Lanes(3)),
            (5, [1, 1], [24, 0], 70, Ways::Lanes(1)),
            // Two clusters, and few parts.
            (5, [1, 1], [24, 300], 700, Ways::Lanes(24)),
            (5, [1, 1], [24, 300], 7, Ways::Lanes(7)),
            // What is left of a job.
            (5, [2, 2], [24, 300], 0, Ways::Lanes(1)),
        ] {
            let [a, b] = threads;
            let [c, d] = elsewhere;
            for terms in [
                terms(version, [a, b], [c, d]),
                terms(version, [b, a], [d, c]),
            ] {
                assert_eq!(terms.ways(runs), expected, "{threads:?} {elsewhere:?}");
            }
        }
    }
}
