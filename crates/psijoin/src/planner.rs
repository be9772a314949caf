//! The cost of a join, before any data moves.
//!
//! [`compare`] plans a request with every protocol and predicts each plan on a network, from
//! [profiles](Calibration) of a machine. Bytes and flights are exact; time and memory are
//! predictions, and leave out reading tables and writing results.

use std::num::NonZeroUsize;

use psijoin_forecast::{Calibration, Cores, Forecast, Network, Script, measure, money::Rates};
use psijoin_psi_pk::dh::DH;
use psijoin_psi_vole::rr22::RR22;

use crate::{
    Adversary, BaseOts, Error, Info, Plan, Protocol, Request,
    parts::{self, Remaining},
    registry,
};

/// The circumstances of the parties.
#[derive(Debug, Clone)]
pub struct Conditions<'a> {
    /// The network between them.
    pub network: Network,
    /// The speed of both machines.
    pub calibration: &'a Calibration,
    /// Threads of each party.
    pub threads: NonZeroUsize,
    /// The memory of each party, if that is limited.
    pub memory: Option<Memory>,
    /// The prices of machines and traffic, if the cost is to be known.
    pub rates: Option<Rates>,
}

/// The memory that protocols have, beyond the tables.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// The bytes of the sender and of the receiver in one run, for which all of a table is in
    /// memory.
    pub at_once_bytes: [u64; 2],
    /// The bytes of each party in a session in parts, or one that takes its items batch by batch.
    pub in_parts_bytes: u64,
    /// The number of threads that each party tells the other, which the number of streams follows
    /// from: fewer than it has, if more streams would take too much.
    pub told_threads: usize,
}

/// The cost of a run of one protocol.
#[non_exhaustive]
pub struct Estimate {
    /// The plan, with its exact bytes and flights.
    pub plan: Plan,
    /// Its time, and where it goes.
    pub forecast: Forecast,
    /// The most memory of the sender and of the receiver beyond their tables, in bytes, if it was
    /// measured.
    pub memory_bytes: [Option<f64>; 2],
    /// `true` if the sizes are above all that were measured, so that time and memory are less
    /// certain.
    pub is_extrapolated: bool,
    /// US dollars.
    pub usd: Option<f64>,
}

/// The reason that a protocol is not a choice.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Obstacle {
    /// It is a baseline to measure against.
    #[error("protects nothing")]
    Insecure,
    /// It computes other outputs.
    #[error("for other outputs")]
    Output,
    /// The receiver finds the intersection itself.
    #[error("without a way to withhold a small intersection")]
    Withholding,
    /// It has public-key cryptography that a quantum computer breaks.
    #[error("not post-quantum")]
    Classical,
    /// There are no parameters for this request, or a run would take longer than anyone waits.
    #[error("{0}")]
    Refused(String),
    /// A party has too little memory.
    #[error("too large for the memory, with {needed} bytes beside the table")]
    Memory {
        /// The bytes that the party needs beyond its table.
        needed: u64,
    },
    /// The calibration does not have it.
    #[error("not measured on this machine")]
    NotMeasured,
}

/// The order of choices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Less time.
    #[default]
    Time,
    /// Fewer bytes, both ways.
    Bytes,
    /// Less money; without rates, less time.
    Money,
}

/// Returns the [shipped](Calibration::shipped) calibration, made as fast as this machine by two
/// small runs, which take about a second: of `dh` for the protocols that compute with points and
/// large numbers, of `rr22` for the others.
///
/// # Errors
/// As [`psijoin_forecast::measure`].
pub fn this_machine() -> Result<Calibration, Error> {
    /// Their computing is in groups whose elements are large.
    const PUBLIC_KEY: [&str; 3] = ["dh", "dh-ffdhe3072", "rsa"];
    let shipped = Calibration::shipped();
    let public_key = slowness(shipped, &DH, 1 << 11)?;
    let others = slowness(shipped, &RR22, 1 << 16)?;
    Ok(
        shipped.scaled(|profile| match PUBLIC_KEY.contains(&&*profile.protocol) {
            true => public_key,
            false => others,
        }),
    )
}

/// Returns how many times as long this machine computes as the calibration's in a run of this size.
fn slowness(calibration: &Calibration, protocol: &Protocol, items: u64) -> Result<f64, Error> {
    let plan = protocol.plan(&Request::rows(items, items)?)?;
    let Some(prediction) = calibration.predict(&plan, 1) else {
        return Ok(1.0);
    };
    let measured = measure(&plan, 1, 3)?;
    let measured: f64 = measured.scripts.iter().map(Script::computing).sum();
    Ok(measured / prediction.computing())
}

/// Returns every protocol: the estimates, the best first, and the others with what is in their way.
pub fn compare(
    request: &Request,
    conditions: &Conditions<'_>,
    order: Order,
) -> (Vec<Estimate>, Vec<(&'static Info, Obstacle)>) {
    let (mut estimates, mut others) = (Vec::new(), Vec::new());
    for protocol in registry::PROTOCOLS {
        match estimate(protocol, request, conditions) {
            Ok(estimate) => estimates.push(estimate),
            Err(obstacle) => others.push((protocol.info(), obstacle)),
        }
    }
    estimates.sort_by(|one: &Estimate, other| order.key(one).total_cmp(&order.key(other)));
    (estimates, others)
}

/// Returns what a run of this protocol would take.
///
/// # Errors
/// If there can be none: the reason.
pub fn estimate(
    protocol: &'static Protocol,
    request: &Request,
    conditions: &Conditions<'_>,
) -> Result<Estimate, Obstacle> {
    let plan = planned(protocol, request)?;
    let bytes = plan.cost().total;
    let (forecast, memory_bytes, is_extrapolated) = match bytes.total_bytes() {
        // The result follows from the sizes.
        0 => (Forecast::default(), [None; 2], false),
        _ => predicted(&plan, conditions)?,
    };
    let needed = needed(&plan, memory_bytes, conditions.calibration);
    let memory_bytes = match conditions.memory.filter(|_| plan.takes_batches()) {
        // The excess goes to disk.
        Some(memory) => {
            let there = memory.in_parts_bytes;
            needed.map(|bytes| (bytes > 0).then_some(bytes.min(there) as f64))
        }
        None => {
            check_memory(&plan, needed, conditions.memory)?;
            memory_bytes
        }
    };
    let usd = conditions.rates.as_ref();
    let usd =
        usd.map(|rates| rates.usd(forecast.seconds, bytes.sender_bytes, bytes.receiver_bytes));
    Ok(Estimate {
        plan,
        forecast,
        memory_bytes,
        is_extrapolated,
        usd,
    })
}

fn planned(protocol: &'static Protocol, request: &Request) -> Result<Plan, Obstacle> {
    if protocol.info().adversary == Adversary::Insecure {
        return Err(Obstacle::Insecure);
    }
    if !protocol.computes(&request.output) {
        return Err(Obstacle::Output);
    }
    if request.min_intersection > 0 && !protocol.withholds() {
        return Err(Obstacle::Withholding);
    }
    if request.base_ots == BaseOts::MlKem && !protocol.is_post_quantum() {
        return Err(Obstacle::Classical);
    }
    let refused = |error: crate::Error| Obstacle::Refused(error.to_string());
    let plan = parts::plan(protocol, request).map_err(refused)?;
    plan.feasible().map_err(refused)?;
    Ok(plan)
}

/// Returns the memory that the parties need. Where it is not predicted, as one run is far larger
/// than all that were measured, it is in proportion to the largest of these.
fn needed(plan: &Plan, predicted: [Option<f64>; 2], calibration: &Calibration) -> [u64; 2] {
    let request = plan.request();
    let profile = calibration.profile(plan.info().name, &request.output);
    // A part takes no more in a larger session.
    let profile = profile.filter(|_| plan.parts().is_none() && !request.is_decided());
    [0, 1].map(|party| {
        let of_one_run = || {
            let bytes = profile?.bytes_per_item(party)?;
            Some(bytes * request.sizes.larger() as f64)
        };
        predicted[party].or_else(of_one_run).unwrap_or_default() as u64
    })
}

/// Checks that the parties have the memory that they need.
fn check_memory(plan: &Plan, needed: [u64; 2], memory: Option<Memory>) -> Result<(), Obstacle> {
    let there = match (memory, plan.parts()) {
        (None, _) => return Ok(()),
        (Some(memory), None) => memory.at_once_bytes,
        (Some(memory), Some(_)) => [memory.in_parts_bytes; 2],
    };
    let lacks = |party: &usize| needed[*party] > there[*party];
    match [0, 1]
        .into_iter()
        .filter(lacks)
        .map(|party| needed[party])
        .max()
    {
        Some(needed) => Err(Obstacle::Memory { needed }),
        None => Ok(()),
    }
}

fn predicted(
    plan: &Plan,
    conditions: &Conditions<'_>,
) -> Result<(Forecast, [Option<f64>; 2], bool), Obstacle> {
    let threads = conditions.threads.get();
    let prediction = conditions.calibration.predict(plan, threads);
    let told = (conditions.memory).map_or(threads, |memory| memory.told_threads);
    let prediction = prediction
        .ok_or(Obstacle::NotMeasured)?
        .on_streams(Remaining::all(plan).streams([told; 2]));
    let forecast = prediction.on(&conditions.network, Cores::Own);
    let forecast = forecast.map_err(|error| Obstacle::Refused(error.to_string()))?;
    Ok((
        forecast,
        prediction.memory_bytes,
        prediction.is_extrapolated,
    ))
}

impl Order {
    /// Returns what there is to have less of: seconds, bytes or US dollars.
    pub fn key(self, estimate: &Estimate) -> f64 {
        match self {
            Self::Time => estimate.forecast.seconds,
            Self::Bytes => estimate.plan.cost().total.total_bytes() as f64,
            Self::Money => estimate.usd.unwrap_or(estimate.forecast.seconds),
        }
    }
}

#[cfg(test)]
mod tests {
    use psijoin_forecast::{kind, listed_runs, measured_outputs};

    use super::*;

    /// Of a session in parts, that is what its streams take; of one run, what is left beside the
    /// tables.
    #[test]
    fn what_needs_more_memory_than_there_is_is_no_choice() {
        let estimated = |items, memory| {
            let conditions = Conditions {
                network: Network::from(psijoin_channel::link::Link::LAN),
                calibration: Calibration::shipped(),
                threads: NonZeroUsize::new(8).unwrap(),
                memory,
                rates: None,
            };
            let request = Request::rows(items, items).unwrap();
            estimate(&RR22, &request, &conditions).map(|estimate| estimate.memory_bytes)
        };
        let memory = Memory {
            at_once_bytes: [1 << 30; 2],
            in_parts_bytes: 1 << 30,
            told_threads: 1,
        };
        let [sender, receiver] = estimated(20_000_000, Some(memory))
            .unwrap()
            .map(Option::unwrap);
        let all = estimated(20_000_000, None).unwrap().map(Option::unwrap);
        assert_eq!(all, [9.0 * sender, 9.0 * receiver]);
        let less = Memory {
            in_parts_bytes: 1 << 20,
            ..memory
        };
        let needed = sender.max(receiver) as u64;
        assert_eq!(
            estimated(20_000_000, Some(less)),
            Err(Obstacle::Memory { needed })
        );
        assert!(estimated(100_000, Some(less)).is_ok());
        let less = Memory {
            at_once_bytes: [1 << 30, 1 << 20],
            ..memory
        };
        let refused = estimated(100_000, Some(less));
        assert!(
            matches!(refused, Err(Obstacle::Memory { .. })),
            "{refused:?}"
        );
        assert!(estimated(20_000_000, Some(less)).is_ok());
    }

    /// Also where no run of that size was measured, nor of any that is near.
    #[test]
    fn a_count_that_goes_batch_by_batch_takes_the_memory_that_there_is() {
        let estimated = |items, memory| {
            let conditions = Conditions {
                network: Network::from(psijoin_channel::link::Link::LAN),
                calibration: Calibration::shipped(),
                threads: NonZeroUsize::MIN,
                memory,
                rates: None,
            };
            let request = Request::rows(items, items).unwrap();
            let request = request.output(crate::OutputKind::Count);
            let estimate = estimate(&DH, &request, &conditions).unwrap();
            estimate
                .memory_bytes
                .map(|bytes| bytes.map(|bytes| bytes as u64))
        };
        let there = 250_000_000;
        let memory = Memory {
            at_once_bytes: [1 << 20; 2],
            in_parts_bytes: there,
            told_threads: 1,
        };
        assert_eq!(estimated(1 << 23, Some(memory)), [Some(there); 2]);
        let few = estimated(1 << 14, Some(memory));
        assert_eq!(few, estimated(1 << 14, None));
    }

    #[test]
    fn the_memory_of_runs_that_are_listed_is_predicted() {
        for run in listed_runs() {
            let [senders, receivers] = run.items;
            let mut outputs = measured_outputs().into_iter();
            let output = outputs.find(|output| kind(output) == run.output).unwrap();
            let request = Request::rows(senders, receivers).unwrap().output(output);
            let protocol = registry::find(&run.protocol).unwrap();
            let prediction = Calibration::shipped().predict(&protocol.plan(&request).unwrap(), 1);
            let found = prediction.unwrap().memory_bytes;
            for (found, bytes) in found.into_iter().zip(run.memory_bytes) {
                let ratio = found.unwrap() / bytes as f64;
                assert!((ratio - 1.0).abs() < 1e-6, "{ratio} of {run:?}");
            }
        }
    }

    /// Every protocol, with every kind of output that it computes. Two are for one item against a
    /// set, of which runs with sets of equal size tell nothing.
    #[test]
    fn the_shipped_calibration_knows_all_there_is() {
        const FOR_ONE_ITEM: [&str; 2] = ["kk20-psm", "co18-psm"];
        let all = registry::PROTOCOLS.iter();
        for protocol in all.filter(|one| !FOR_ONE_ITEM.contains(&one.info().name)) {
            for output in measured_outputs() {
                if protocol.computes(&output) {
                    let request = Request::rows(300, 300).unwrap().output(output.clone());
                    let plan = protocol.plan(&request).unwrap();
                    let known = Calibration::shipped().predict(&plan, 2);
                    assert!(known.is_some(), "{}, {output}", plan.info().name);
                }
            }
        }
    }
}
