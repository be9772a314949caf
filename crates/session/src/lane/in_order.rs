//! A lane whose keys come in the order of their parts, some at a time.

use std::{fmt, mem, ops::Range};

use psijoin::{Fingerprint, parts::Part};
use psijoin_encode::{DigestVec, Digests};
use psijoin_table::portions::Packing;

use super::{Lane, LaneReport};
use crate::{ElsewhereFault, Error};

/// A lane that runs each of its parts as soon as all keys of it have come. It holds the keys of one
/// part, and those that came with its last.
pub struct LaneInOrder {
    lane: Lane,
    /// The parts that are still to run.
    left: Box<dyn Iterator<Item = u32> + Send>,
    current: Option<Coming>,
}

/// The keys of a part, as far as they have come.
struct Coming {
    part: u32,
    fingerprints: Vec<Fingerprint>,
    digests: DigestVec,
    columns: Vec<Vec<i64>>,
    payloads: Vec<u8>,
}

/// The keys of a part that it gave.
#[derive(Clone, PartialEq, Eq)]
pub struct FoundKeys {
    /// The part.
    pub part: u32,
    /// Their fingerprints. Shared ones are in the order in which the keys came.
    pub fingerprints: Vec<Fingerprint>,
    /// If a minimum withholds rows until the end, these are all keys of the part, and this is the
    /// place of each: which are shared is told by [places](psijoin::parts::SharedPlaces) in the
    /// end. Otherwise they are shared.
    pub places: Option<Vec<u32>>,
    /// What the other party gave for each, one after the other. It is to be looked at only once the
    /// session is over: if it is malformed, the other party must not see that.
    pub payloads: Vec<u8>,
}

impl LaneInOrder {
    /// Lets a lane take its keys in this order.
    pub fn new(lane: Lane) -> Self {
        lane.is_waiting(true);
        let mut left = lane.parts();
        Self {
            current: left.next().map(|part| Coming::new(part, &lane)),
            left: Box::new(left),
            lane,
        }
    }

    /// Returns the lane.
    pub fn lane(&self) -> &Lane {
        &self.lane
    }

    /// Returns what makes payloads of rows that were read in portions, if this party gives columns.
    pub fn packing(&mut self) -> Option<&mut Packing> {
        self.lane.packing()
    }

    /// Takes further keys, with the numbers of each of the lane's [columns](Lane::numbers), the
    /// places of their [labels](Lane::labels) behind them, and the payload of each, one after the
    /// other, if this party gives columns. Runs the parts that are whole with that, and returns
    /// what was found, of parts that give keys.
    ///
    /// # Errors
    /// [`ElsewhereFault::Order`], and that of running a part; the other side is told.
    ///
    /// # Panics
    /// If there are more or fewer columns, or numbers in one, or payloads.
    pub fn take(
        &mut self,
        fingerprints: &[Fingerprint],
        columns: &[Vec<i64>],
        payloads: &[u8],
    ) -> Result<Vec<FoundKeys>, Error> {
        self.lane.is_waiting(false);
        let found = self.take_all(fingerprints, columns, payloads);
        self.lane.is_waiting(true);
        found.inspect_err(|error| self.lane.connection.abort(error.abort_code()))
    }

    fn take_all(
        &mut self,
        fingerprints: &[Fingerprint],
        columns: &[Vec<i64>],
        payloads: &[u8],
    ) -> Result<Vec<FoundKeys>, Error> {
        assert_eq!(columns.len(), self.lane.columns(), "as many columns");
        let payload_bytes = self.lane.payload_bytes();
        assert_eq!(
            payloads.len(),
            fingerprints.len() * payload_bytes,
            "as many payloads"
        );
        let items = self.lane.items(fingerprints);
        let (mut found, mut start) = (Vec::new(), 0);
        for of_part in items.parts().chunk_by(|a, b| a == b) {
            let range = start..start + of_part.len();
            start = range.end;
            let part = u32::from(of_part[0]);
            while self
                .current
                .as_ref()
                .is_some_and(|coming| coming.part < part)
            {
                found.extend(self.run_current()?);
            }
            let coming = self.current.as_mut().filter(|coming| coming.part == part);
            let coming = coming.ok_or(ElsewhereFault::Order)?;
            coming
                .fingerprints
                .extend_from_slice(&fingerprints[range.clone()]);
            append(&mut coming.digests, items.digests(), range.clone());
            for (numbers, more) in coming.columns.iter_mut().zip(columns) {
                numbers.extend_from_slice(&more[range.clone()]);
            }
            let given = range.start * payload_bytes..range.end * payload_bytes;
            coming.payloads.extend_from_slice(&payloads[given]);
        }
        Ok(found)
    }

    /// Runs the parts that are left, of which no more keys come, and ends the lane. Returns what
    /// was found, and the report.
    ///
    /// # Errors
    /// That of running a part, and as [`Lane::finish`].
    pub fn finish(mut self) -> Result<(Vec<FoundKeys>, LaneReport), Error> {
        self.lane.is_waiting(false);
        let mut found = Vec::new();
        while self.current.is_some() {
            found.extend(self.run_current()?);
        }
        Ok((found, self.lane.finish()?))
    }

    /// Runs the part whose keys have come, and goes on to the next one.
    fn run_current(&mut self) -> Result<Option<FoundKeys>, Error> {
        let next = self.left.next();
        let next = next.map(|part| Coming::new(part, &self.lane));
        let Some(coming) = mem::replace(&mut self.current, next) else {
            return Ok(None);
        };
        let Coming {
            part,
            fingerprints,
            digests,
            columns,
            payloads,
        } = coming;
        let own = Part {
            positions: (0..fingerprints.len() as u32).collect(),
            items: digests.into(),
            columns,
            payloads,
        };
        let done = self.lane.run_part(own)?;
        let key = |row: u32| fingerprints[row as usize];
        let shared = done.rows().map(|(rows, payloads)| FoundKeys {
            part,
            fingerprints: rows.iter().copied().map(key).collect(),
            places: None,
            payloads: payloads.to_vec(),
        });
        let withheld = || {
            let placed = (0..).zip(done.places()?);
            let placed = placed.filter_map(|(place, row)| Some((place, key((*row)?))));
            let (places, fingerprints) = placed.unzip();
            Some(FoundKeys {
                part,
                fingerprints,
                places: Some(places),
                payloads: Vec::new(),
            })
        };
        Ok(shared.or_else(withheld))
    }
}

/// Without keys.
impl fmt::Debug for FoundKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FoundKeys")
            .field("part", &self.part)
            .field("len", &self.fingerprints.len())
            .finish_non_exhaustive()
    }
}

impl Coming {
    fn new(part: u32, lane: &Lane) -> Self {
        Self {
            part,
            fingerprints: Vec::new(),
            digests: DigestVec::zeroed(0, lane.items(&[]).digest_bytes()),
            columns: vec![Vec::new(); lane.columns()],
            payloads: Vec::new(),
        }
    }
}

/// Adds the digests at these positions, which are as wide.
fn append(digests: &mut DigestVec, more: Digests<'_>, positions: Range<usize>) {
    match (digests, more) {
        (DigestVec::Short(digests), Digests::Short(more)) => {
            digests.extend_from_slice(&more[positions]);
        }
        (DigestVec::Long(digests), Digests::Long(more)) => {
            digests.extend_from_slice(&more[positions]);
        }
        _ => unreachable!("digests of one plan"),
    }
}
