//! A join in Apache Spark, by lanes: the phases around them, and all of it on a larger cluster.
//!
//! What Spark takes for each row was measured on one small machine ([`SparkCosts`]). Here it is
//! taken to grow with the rows, and to be shared by all cores of a side. So disks and the network
//! within a cluster are taken to keep up with its cores, and no key to have many more rows than
//! others. The lanes themselves are [simulated](crate::lanes).

use std::sync::LazyLock;

use psijoin_psi::{Plan, Role};
use serde::Deserialize;

use crate::{
    Calibration, Mismatch, Network,
    lanes::{Lanes, Mishaps, Part, play, run},
};

/// What a join in Spark takes beside the protocol, as it was measured on one machine.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SparkCosts {
    /// The machine.
    pub machine: String,
    /// The runs that were measured.
    pub source: String,
    /// Rows of the side that was measured, each with a key of its own.
    pub rows: f64,
    /// Core-seconds of that side, for its rows.
    pub core_seconds: CoreSeconds,
    /// Seconds that do not depend on rows.
    pub seconds: FixedSeconds,
    /// Bytes of `work` for each key.
    pub work_bytes: f64,
}

/// Core-seconds of a side, by phase.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoreSeconds {
    /// Reading keys, bringing equal ones together, and writing them to `work`.
    pub read: f64,
    /// Running lanes, beside the protocol: reading `work`, finding the part of each key, bringing
    /// those of a lane together, and writing what was found.
    pub beside: f64,
    /// Joining what was found with the table.
    pub join_back: f64,
}

/// Seconds that do not depend on rows.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FixedSeconds {
    /// To plan and start the stages of a phase, and to end them.
    pub phase: f64,
    /// To meet the other party, and to agree with it.
    pub meet: f64,
}

impl SparkCosts {
    /// Returns those that come with psijoin.
    pub fn shipped() -> &'static Self {
        static SHIPPED: LazyLock<SparkCosts> = LazyLock::new(|| {
            toml::from_str(include_str!("../spark.toml")).expect("a test reads it")
        });
        &SHIPPED
    }
}

/// The cluster of each side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cluster {
    /// Tasks that it runs at the same time.
    pub cores: u32,
    /// Lanes: at most as many as it has cores.
    pub lanes: u32,
}

/// A phase of a join. Both sides are in it at the same time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Phase {
    /// Its name.
    pub name: &'static str,
    /// Seconds.
    pub seconds: f64,
    /// Seconds of computing, of the sender's cores and of the receiver's.
    pub core_seconds: [f64; 2],
}

/// The predicted cost of a join in Spark, without mishaps.
#[derive(Debug, Clone, PartialEq)]
pub struct SparkJoin {
    /// In their order.
    pub phases: Vec<Phase>,
    /// The lanes: not more than there are parts.
    pub lanes: Lanes,
    /// Bytes that the sender and the receiver send each other.
    pub wire_bytes: [u64; 2],
    /// Bytes of keys in the folder `work` of the sender and of the receiver.
    pub work_bytes: [f64; 2],
    /// The most memory that the protocol takes in a task of either side, if it is known.
    pub task_bytes: Option<f64>,
    /// Seconds that the lanes take.
    pub lanes_seconds: f64,
    /// Seconds between an attempt that has failed and the next one: to meet again, and to start.
    pub between_seconds: f64,
    network: Network,
}

impl SparkJoin {
    /// Predicts the session of this plan, of which both sides have such a cluster; nothing if its
    /// protocol and output were not measured.
    ///
    /// # Errors
    /// If the calibration has runs whose parties do not fit each other.
    ///
    /// # Panics
    /// If there are no cores or no lanes.
    pub fn of(
        plan: &Plan,
        calibration: &Calibration,
        costs: &SparkCosts,
        cluster: Cluster,
        network: &Network,
    ) -> Result<Option<Self>, Mismatch> {
        assert!(
            cluster.cores > 0 && cluster.lanes > 0,
            "a cluster runs something"
        );
        let parts = plan.parts().map_or(1, |parts| parts.shape.parts);
        let of_a_part = plan.parts().map_or(plan, |parts| &parts.plan);
        let Some(prediction) = calibration.predict(of_a_part, 1) else {
            return Ok(None);
        };
        let rows =
            [Role::Sender, Role::Receiver].map(|role| role.items(plan.request().sizes) as f64);
        let phases = Phases {
            costs,
            cluster,
            rows,
        };
        let larger = rows[0].max(rows[1]);
        let lanes = Lanes {
            part: Part::of(&prediction)?,
            parts,
            lanes: cluster.lanes.min(parts),
            beside: costs.core_seconds.beside * larger / costs.rows / f64::from(parts),
        };
        let lanes_seconds = run(&lanes, network, |_| 1.0).seconds();
        let computing = |party| {
            let protocol = prediction.computing_of(party) * f64::from(parts);
            protocol + phases.core_seconds(costs.core_seconds.beside, party)
        };
        let memory = prediction.memory_bytes;
        let memory = memory[0].zip(memory[1]).map(|(one, other)| one.max(other));
        let cost = plan.cost().total;
        Ok(Some(Self {
            phases: vec![
                phases.of_both("read keys", costs.core_seconds.read),
                Phase {
                    name: "meet",
                    seconds: costs.seconds.meet,
                    core_seconds: [0.0; 2],
                },
                Phase {
                    name: "run lanes",
                    seconds: costs.seconds.phase + lanes_seconds,
                    core_seconds: [0, 1].map(computing),
                },
                phases.of_receiver("join back", costs.core_seconds.join_back),
            ],
            wire_bytes: [cost.sender_bytes, cost.receiver_bytes],
            work_bytes: rows.map(|rows| rows * costs.work_bytes),
            task_bytes: memory,
            lanes,
            lanes_seconds,
            between_seconds: costs.seconds.meet + costs.seconds.phase,
            network: *network,
        }))
    }

    /// Returns the seconds of all phases.
    pub fn seconds(&self) -> f64 {
        self.phases.iter().map(|phase| phase.seconds).sum()
    }

    /// Returns the seconds of computing of all phases, on both sides.
    pub fn core_seconds(&self) -> f64 {
        let phases = self.phases.iter();
        phases
            .map(|phase| phase.core_seconds[0] + phase.core_seconds[1])
            .sum()
    }

    /// Returns the seconds that the join takes with mishaps, drawn by this seed, in its lanes;
    /// nothing if it gives up. Spark itself repeats what fails in other phases.
    pub fn with_mishaps(&self, mishaps: &Mishaps, seed: u64) -> Option<f64> {
        let course = play(&self.lanes, &self.network, mishaps, seed);
        // Keys stay in `work`.
        let others = self.seconds() - self.lanes_seconds;
        course
            .is_done()
            .then(|| others + course.seconds(self.between_seconds))
    }
}

/// What phases take in proportion to rows.
struct Phases<'a> {
    costs: &'a SparkCosts,
    cluster: Cluster,
    /// Of the sender and of the receiver.
    rows: [f64; 2],
}

impl Phases<'_> {
    fn core_seconds(&self, measured: f64, party: usize) -> f64 {
        measured * self.rows[party] / self.costs.rows
    }

    fn of_both(&self, name: &'static str, measured: f64) -> Phase {
        self.phase(name, [0, 1].map(|party| self.core_seconds(measured, party)))
    }

    fn of_receiver(&self, name: &'static str, measured: f64) -> Phase {
        self.phase(name, [0.0, self.core_seconds(measured, 1)])
    }

    fn phase(&self, name: &'static str, core_seconds: [f64; 2]) -> Phase {
        let longer = core_seconds[0].max(core_seconds[1]);
        Phase {
            name,
            seconds: self.costs.seconds.phase + longer / f64::from(self.cluster.cores),
            core_seconds,
        }
    }
}

#[cfg(test)]
mod tests;
