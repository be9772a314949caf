//! What a run takes on a network that is not there, or at a size that was never run.
//!
//! A run is traced once ([`measure`](fn@measure)): how long each party computes, what it sends, what it waits for. Such
//! a [`Script`] is replayed over any [`Network`] by a [simulation](fn@simulate), in microseconds. A [`Profile`] has runs
//! of a protocol at some sizes, and predicts those at others. [`Progress`] tells from such a prediction how far a run is. What
//! a run costs in money follows from [`money::Prices`].

#![forbid(unsafe_code)]

mod calibration;
mod campaign;
mod curve;
pub mod machine;
mod measure;
pub mod money;
mod network;
mod profile;
mod progress;
pub mod script;
mod simulate;
mod timeline;

pub use calibration::{Calibration, InvalidCalibration, kind, measured_outputs};
pub use campaign::{Effort, FIRST_ITEMS, GROWTH, profile};
pub use measure::measure;
pub use network::Network;
pub use profile::{Prediction, Profile, Run};
pub use progress::{Outlook, Progress};
pub use script::Script;
pub use simulate::{Cores, Forecast, LineUse, Mismatch, PartyTime, simulate};
pub use timeline::{Moment, Timeline};
