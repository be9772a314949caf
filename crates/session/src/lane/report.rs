//! What a lane gave, as its process hands it back.

use std::fmt;

use psijoin::parts;
use zeroize::Zeroizing;

use crate::{ElsewhereFault, Error};

/// What the parts of a lane gave, rows and places aside. It is secret, as it holds this party's
/// shares.
#[derive(Clone, Default)]
pub struct LaneReport {
    pub(super) lane: u32,
    /// That were sent, and received.
    pub(super) bytes: [u64; 2],
    /// The keys that were found to be shared.
    pub(super) shared: u64,
    pub(super) parts: Vec<(u32, Zeroizing<Vec<u8>>)>,
}

impl LaneReport {
    /// Returns it as bytes, for the process that has met the other party.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let parts = self.parts.iter().map(|(_, done)| 12 + done.len());
        let mut bytes = Zeroizing::new(Vec::with_capacity(28 + parts.sum::<usize>()));
        bytes.extend(self.lane.to_le_bytes());
        bytes.extend(self.bytes.iter().flat_map(|bytes| bytes.to_le_bytes()));
        bytes.extend(self.shared.to_le_bytes());
        for (part, done) in &self.parts {
            bytes.extend(part.to_le_bytes());
            bytes.extend((done.len() as u64).to_le_bytes());
            bytes.extend_from_slice(done);
        }
        bytes
    }

    /// Reads what [`Self::to_bytes`] has written.
    ///
    /// # Errors
    /// [`ElsewhereFault::Report`] if it is something else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Ok(Self::read(bytes).ok_or(ElsewhereFault::Report)?)
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (lane, rest) = bytes.split_first_chunk()?;
        let (sent, rest) = rest.split_first_chunk()?;
        let (received, rest) = rest.split_first_chunk()?;
        let (shared, mut rest) = rest.split_first_chunk()?;
        let mut parts = Vec::new();
        while !rest.is_empty() {
            let (part, after) = rest.split_first_chunk()?;
            let (length, after) = after.split_first_chunk()?;
            let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
            let (done, after) = after.split_at_checked(length)?;
            parts.push((u32::from_le_bytes(*part), Zeroizing::new(done.to_vec())));
            rest = after;
        }
        Some(Self {
            lane: u32::from_le_bytes(*lane),
            bytes: [sent, received].map(|bytes| u64::from_le_bytes(*bytes)),
            shared: u64::from_le_bytes(*shared),
            parts,
        })
    }

    /// Returns its lane.
    pub(crate) fn lane(&self) -> u32 {
        self.lane
    }

    /// Returns the number of keys that were found to be shared.
    pub(crate) fn shared(&self) -> u64 {
        self.shared
    }

    /// Returns the bytes that were sent, and received.
    pub(crate) fn bytes(&self) -> [u64; 2] {
        self.bytes
    }

    /// Returns whether it is of all parts that this lane runs, of so many over so many lanes, in
    /// their order.
    pub(crate) fn has_all(&self, parts: u32, lanes: u32) -> bool {
        let of_lane = (self.lane..parts).step_by(lanes as usize);
        (self.parts.iter().map(|(part, _)| *part)).eq(of_lane)
    }

    /// Returns what each part gave.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Result<(u32, parts::Done), Error>> {
        self.parts.iter().map(|(part, done)| {
            let done = parts::Done::from_bytes(done).ok_or(ElsewhereFault::Report)?;
            Ok((*part, done))
        })
    }
}

impl fmt::Debug for LaneReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaneReport")
            .field("lane", &self.lane)
            .field("parts", &self.parts.len())
            .finish_non_exhaustive()
    }
}
