//! Parts of a session side by side in lanes, over one network.
//!
//! In a cluster, each side runs a task for each lane, and a lane runs its parts one after the other
//! (`docs/spark.md`). So the computing of lanes does not disturb each other, while the network is
//! for all of them. This is too much for a simulation [message by message](fn@crate::simulate), and
//! lanes are alike: here their bytes flow.
//!
//! - *A part is its flights* ([`Part`]), with the time that each takes where the network takes
//!   none, from such a simulation of one part.
//! - *Within a flight*, a lane computes and its bytes flow at the same time, as parties send what
//!   they have computed so far. It lasts for the longer of both, and then for half a round trip.
//! - *The network* is shared evenly by the lanes that have bytes to send in a direction, and is
//!   never idle while any lane has.
//! - *Mishaps* ([`Mishaps`]): tasks that are slow, and tasks that fail, by a seed. After a failure,
//!   all lanes run again.

mod flow;
mod mishaps;
mod part;

pub use flow::{LanesRun, run};
pub use mishaps::{Attempt, Course, MOST_ATTEMPTS, Mishaps, play};
pub use part::{Flight, Part};

#[cfg(test)]
mod tests;

/// The parts of a session, and the lanes that run them.
#[derive(Debug, Clone, PartialEq)]
pub struct Lanes {
    /// Every part, as all of them are alike.
    pub part: Part,
    /// The number of parts.
    pub parts: u32,
    /// The number of lanes. Lane `j` of `l` runs the parts `j`, `j + l`, and so on.
    pub lanes: u32,
    /// Seconds that a lane's tasks take for each part beside the protocol, before it.
    pub beside: f64,
}

impl Lanes {
    /// Returns the number of parts of this lane.
    pub fn parts_of(&self, lane: u32) -> u32 {
        self.parts.saturating_sub(lane).div_ceil(self.lanes)
    }

    /// Returns the bytes of the sender and of the receiver in all lanes.
    pub fn bytes(&self) -> [f64; 2] {
        self.part.bytes().map(|bytes| bytes * f64::from(self.parts))
    }

    /// Returns the seconds that a lane of this many parts takes if it has the network to itself,
    /// and each byte of it takes no time.
    pub fn seconds_alone(&self, parts: u32) -> f64 {
        f64::from(parts) * (self.beside + self.part.seconds())
    }
}
