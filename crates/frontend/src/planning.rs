//! The predicted cost of a join, before any data moves.

use std::{
    num::NonZeroUsize,
    path::{self, PathBuf},
    thread,
};

use psijoin::{
    Columns, OutputKind, Request, Role,
    planner::{self, Conditions, Estimate, Memory, Order, compare},
    registry::{self, AUTO},
    spill::Budget,
};
use psijoin_channel::{link::Link, path::Path};
use psijoin_forecast::{
    Calibration, Network,
    money::{Prices, Rates, Setting},
};
use psijoin_session::{
    Epsilon, Further, Learners, NoiseFault, Question,
    allowance::{self, Allowance},
};
use psijoin_table::TableKeys;

use crate::{Failure, Listener, calibration, sizes::SetSizes};

mod table;

pub use table::Planned;

/// The network between the parties.
pub struct Between {
    /// As the simulation knows it.
    pub network: Network,
    /// As a session finds it when the parties meet, which is what `auto` goes by.
    pub path: Path,
    /// Its name for people.
    pub shown: String,
}

impl From<Link> for Between {
    fn from(link: Link) -> Self {
        Self {
            network: Network::from(link),
            path: Path::from(link).as_measured(),
            shown: link.to_string(),
        }
    }
}

/// A join that is to be planned.
pub struct PlannedJoin {
    /// The number of items of each party.
    pub items: SetSizes,
    /// The output.
    pub question: Question,
    /// The bytes per key of the sender's columns.
    pub sender_gives: Option<u16>,
    /// The bytes per key of the receiver's columns.
    pub receiver_gives: Option<u16>,
    /// The number of labels of each party's keys, of an output of groups.
    pub labels: Columns,
    /// With how many threads each party computes; one per core if nothing is said.
    pub threads: Option<NonZeroUsize>,
    /// The bytes that each party allows.
    pub memory: Option<u64>,
    /// The prices.
    pub rates: Option<Rates>,
    /// The quantity that the best protocol has least of.
    pub order: Order,
    /// The file with the speed of both machines, if not that of this one.
    pub calibration: Option<PathBuf>,
    /// `true` if all protocols are compared.
    pub all: bool,
}

impl PlannedJoin {
    /// Checks that what is asked for goes together.
    ///
    /// # Errors
    /// If it does not.
    pub fn check(&self) -> Result<(), Failure> {
        let Self { question, .. } = self;
        question.check_minimum()?;
        if let Some(groups) = question.asked.groups()
            && let Some(noise) = &groups.noise
        {
            noise.check(&groups.sums)?;
        }
        if question.learners == Learners::Both {
            question.check_finds_rows(Further::Both)?;
        }
        if self.sender_gives.is_some() || self.receiver_gives.is_some() {
            question.check_finds_rows(Further::Columns)?;
        }
        Ok(())
    }
}

/// Returns what the join will take.
///
/// # Errors
/// If what is asked for does not go together, or a file cannot be used.
pub fn planned(
    join: &PlannedJoin,
    between: Between,
    listener: &dyn Listener,
) -> Result<Planned, Failure> {
    join.check()?;
    let PlannedJoin {
        items,
        ref question,
        order,
        ..
    } = *join;
    let asked = &question.asked;
    let gives = |role| match role {
        Role::Sender => join.sender_gives.unwrap_or(0).into(),
        Role::Receiver => join.receiver_gives.unwrap_or(0).into(),
    };
    let request = question.request(
        items.sender,
        items.receiver,
        (asked.likely_holders(), join.labels),
        gives,
    )?;
    let threads = join.threads.unwrap_or_else(cores);
    let limit = join
        .memory
        .map(|bytes| Limit::new(bytes, threads, &request))
        .transpose()?;
    let request = request.path(between.path);
    let total = total_epsilon(question)?;
    let conditions = Conditions {
        network: between.network,
        calibration: &calibration(join.calibration.as_deref(), listener)?,
        threads,
        memory: limit.as_ref().map(|limit| limit.memory),
        rates: join.rates,
    };
    let (mut estimates, mut others) = compare(&request, &conditions, order);
    let compared = estimates.len() + others.len();
    let is_choice = |estimate: &Estimate| registry::is_choice(estimate.plan.info());
    if !join.all && estimates.iter().any(is_choice) {
        estimates.retain(is_choice);
        others.retain(|(info, _)| registry::is_choice(info));
    }
    Ok(Planned {
        items,
        output: match request.output {
            OutputKind::Payloads(payloads) => payloads.to_string(),
            OutputKind::Groups(groups) => {
                format!("{asked} of {} groups{}", groups.count(), with(total))
            }
            _ => asked.to_string(),
        },
        epsilon: total,
        order,
        auto: AUTO.chosen(&request).info().name,
        network: between.shown,
        threads,
        budget: limit.map(|limit| limit.budget),
        has_money: conditions.rates.is_some(),
        more: compared - estimates.len() - others.len(),
        estimates,
        others,
    })
}

/// Returns the privacy loss of an answer with noise.
fn total_epsilon(question: &Question) -> Result<Option<Epsilon>, Failure> {
    let Some(groups) = question.asked.groups() else {
        return Ok(None);
    };
    let noise = groups.noise.as_ref();
    let total = noise.map(|noise| noise.total(groups.sums.len()).ok_or(NoiseFault::Epsilon));
    Ok(total.transpose()?)
}

/// Returns what the noise of this loss is, in words.
fn with(total: Option<Epsilon>) -> String {
    total.map_or_else(String::new, |total| {
        format!(" with noise, ε = {total} in all")
    })
}

/// The limits that `send` and `receive` derive from the given memory.
struct Limit {
    /// For the stores of a table.
    budget: Budget,
    /// For protocols.
    memory: Memory,
}

impl Limit {
    fn new(bytes: u64, threads: NonZeroUsize, request: &Request) -> Result<Self, Failure> {
        let allowance = Allowance::new(allowance::Said::Memory(bytes), None, threads.get())?;
        let columns = request.output.columns();
        let tables = [Role::Sender, Role::Receiver]
            .map(|role| role.items(request.sizes) * TableKeys::row_bytes(columns.of(role)));
        Ok(Self {
            memory: allowance::of_protocols(bytes, tables, allowance.threads),
            budget: allowance.spill.budget,
        })
    }
}

/// Returns the speed of both machines.
fn calibration(file: Option<&path::Path>, listener: &dyn Listener) -> Result<Calibration, Failure> {
    let own = match file {
        Some(file) => Some(calibration::read(file)?),
        None => calibration::own()?,
    };
    if let Some(own) = own {
        return Ok(own);
    }
    listener.say(
        "Times are those of the machine that psijoin was measured on, scaled to this one: `psijoin calibrate` \
         measures it well.",
    );
    Ok(planner::this_machine()?)
}

fn cores() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// Returns what things cost by this file, or by the prices of this name, in these regions.
///
/// # Errors
/// If the file cannot be used, or has no such region.
pub fn rates(file: Option<&path::Path>, regions: &[String]) -> Result<Option<Rates>, Failure> {
    let Some(file) = file else {
        return Ok(None);
    };
    let usage = |error: psijoin_forecast::money::PriceError| Failure::Usage(error.to_string());
    let shipped = file.to_str().and_then(Prices::shipped);
    let prices = match shipped {
        Some(prices) => prices,
        None => Prices::read(file).map_err(usage)?,
    };
    let setting = match regions {
        [sender, receiver] => Setting::BusinessToBusiness {
            sender: sender.clone(),
            receiver: receiver.clone(),
        },
        regions => Setting::Internet {
            sender: regions.concat(),
        },
    };
    prices.rates(&setting).map(Some).map_err(usage)
}
