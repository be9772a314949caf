//! The time of a run on a network that is not there, or at a size that was never run.
//!
//! A run is traced once ([`measure`](fn@measure)): the computing, the messages and the waits of
//! each party. Such a [`Script`] is replayed over any [`Network`] by a [simulation](fn@simulate),
//! in microseconds. A [`Profile`] has runs of a protocol at some sizes, and predicts those at
//! others. [`Progress`] tells from such a prediction how far a run is. Its cost in money follows
//! from [`money::Prices`].
//!
//! - *A trace* (`channel::trace`) is what a party does between its messages. Waiting is not in it.
//! - *Each party alone.* Two parties on one machine share its caches, its memory and perhaps a
//!   core. So a run is recorded once (`channel::transcript`), and then each party runs again, with
//!   the same randomness, against the messages of the other (`channel::playback`): wall time
//!   without waiting is then the time it computes (`forecast::measure`). Its threads may use all
//!   cores.
//! - *A script* (`forecast::script`) is a trace whose repeating stretches are said once. Its
//!   numbers can be scaled. In files it is a text (`forecast::script::text`), as circuits have
//!   hundreds of flights.
//! - *A simulation* (`forecast::simulate`) replays two scripts over a network: rate each way, round
//!   trip, loss, queue, and what the other side has not read yet. It is deterministic; tests have
//!   scripts that can be worked out on paper.
//! - *A profile* is runs at several sizes, and predicts any other. Bytes are those of the plan;
//!   computing is interpolated (`forecast::curve`). Where sets differ in size, two more runs tell
//!   which of the sizes the time depends on.
//! - *Phases*: where the offline and the online phase of a run do not overlap, a run has each of
//!   them as a run of its own, and a profile predicts either (`forecast::Phase`).
//! - *Progress* (`forecast::Progress`) is the same simulation, asked for the time at which a number
//!   of bytes have moved. The bytes of the true run tell where it is; the clock advances it where
//!   it only computes; and its pace so far corrects the rest.
//! - *A wire* (`forecast::Wire`) is full duplex unless somebody says otherwise: papers that ran
//!   both parties on one machine, with `tc` on its loopback interface, had half of it. TCP's slow
//!   start can be switched on; it is small beside a run of seconds.
//! - *Not in it*: TLS, and the reading of tables. The first is small beside a run of seconds; the
//!   planner adds the second.
//!
//! - *A calibration* is profiles of many protocols on one machine: the one that psijoin ships with
//!   (`crates/forecast/calibration.json`, scaled to a machine by two small runs), or a user's own.
//!   The planner (`psijoin::planner`) plans a request with every protocol and predicts each plan:
//!   bytes and flights are exact, and each protocol that is no choice has a reason. More threads
//!   are by Amdahl's law, from runs with one and with two.
//! - *Memory* is counted in allocated bytes, so that of one machine is that of any. Larger runs
//!   than calibrations have are listed with what they took (`crates/forecast/memory.json`).
//!   Memory far above all these sizes is not predicted, as many protocols work in bands there and
//!   take no more.
//! - *Lanes* ([`lanes`]): parts of a session side by side on a cluster, which share one network,
//!   with tasks that are slow or fail; and [`spark`], the phases of a join in Apache Spark around
//!   them, by what Spark takes for each row (`crates/forecast/spark.toml`).
//! - *The network to a peer* is measured by `channel::gauge` where that is asked for: bursts that
//!   double until one takes half a second, each answered, so that never more than a burst waits on
//!   the way.

#![forbid(unsafe_code)]

mod calibration;
mod campaign;
mod curve;
pub mod lanes;
pub mod machine;
mod measure;
mod memory;
pub mod money;
mod network;
mod profile;
mod progress;
pub mod script;
mod simulate;
pub mod spark;
mod timeline;

pub use calibration::{Calibration, InvalidCalibration, kind, measured_outputs};
pub use campaign::{Effort, FIRST_ITEMS, GROWTH, profile};
pub use measure::{measure, measure_memory};
pub use memory::{ListedRun, listed_runs};
pub use network::{Duplex, Network, Wire};
pub use profile::{Phase, Prediction, Profile, Run};
pub use progress::{Outlook, Progress};
pub use script::Script;
pub use simulate::{Cores, Forecast, LineUse, Mismatch, PartyTime, simulate};
pub use timeline::{Moment, Timeline};
