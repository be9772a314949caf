//! `psijoin plan`: what a join will take, before any data moves.

use std::{
    num::NonZeroUsize,
    path::{self, PathBuf},
    thread,
};

use psijoin::{
    OutputKind, Request, Role,
    planner::{self, Conditions, Estimate, Memory, Order, compare},
    registry::{self, AUTO},
    spill::Budget,
};
use psijoin_forecast::{
    Calibration,
    money::{Prices, Rates, Setting},
};
use psijoin_session::{
    Further, Learners, Question, Stop,
    allowance::{self, Allowance},
};
use psijoin_table::{KeyPartitions, KeyTable, Progress, Source};

use crate::{
    args::{self, Goal, Part},
    calibration,
    console::Console,
    exit::Failure,
    humanize,
    interrupt::handle_ctrl_c,
    output,
    sizes::SetSizes,
    teller::tell_layout,
};

mod meeting;
mod shown;

pub(crate) use meeting::Between;
pub(crate) use shown::Planned;

pub(super) fn run(args: &args::Plan) -> Result<(), Failure> {
    let console = Console::wanted();
    let stop = Stop::default();
    if args.meeting.is_wanted() {
        handle_ctrl_c(stop.clone(), console.clone())?;
    }
    let planned = of_args(args, &console, &stop)?;
    match args.json {
        true => planned.lines().iter().try_for_each(output::json),
        false => output::text(&planned.text("--all")),
    }
}

/// Returns the predicted cost of the join on the command line.
fn of_args(args: &args::Plan, console: &Console, stop: &Stop) -> Result<Planned, Failure> {
    let question = Question {
        asked: args.result.output_kind.clone(),
        min_intersection: args.result.min_intersection.unwrap_or_default(),
        learners: args.result.learn,
    };
    if args.result.learn == Learners::Receiver && args.result.receiver_gives.is_some() {
        return Err(Failure::Usage(
            "the receiver gives columns only if the sender learns, too: give --learn both, or leave out --receiver-gives"
                .to_owned(),
        ));
    }
    let rates = rates(args.prices.as_deref(), &args.regions)?;
    let mut join = PlannedJoin {
        items: args.items,
        question,
        sender_gives: args.result.sender_gives,
        receiver_gives: args.result.receiver_gives,
        threads: args.threads,
        memory: args.memory,
        order: order(args.optimise, rates.is_some())?,
        rates,
        calibration: args.calibration.clone(),
        all: args.all,
    };
    join.check()?;
    join.items = items(args, stop.progress(), console)?;
    let between = meeting::measure(args, stop, console)?;
    let between = between.unwrap_or_else(|| args.network.into());
    planned(&join, between, console)
}

/// A join that is to be planned.
pub struct PlannedJoin {
    /// The number of items of each party.
    pub items: SetSizes,
    /// The question.
    pub question: Question,
    /// The bytes per key of the sender's columns.
    pub sender_gives: Option<u16>,
    /// The bytes per key of the receiver's columns.
    pub receiver_gives: Option<u16>,
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
    fn check(&self) -> Result<(), Failure> {
        let Self { question, .. } = self;
        question.check_minimum()?;
        if question.learners == Learners::Both {
            question.check_finds_rows(Further::Both)?;
        }
        if self.sender_gives.is_some() || self.receiver_gives.is_some() {
            question.check_finds_rows(Further::Columns)?;
        }
        Ok(())
    }
}

/// Returns the predicted cost of the join.
pub(crate) fn planned(
    join: &PlannedJoin,
    between: Between,
    console: &Console,
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
    let request = question.request(items.sender, items.receiver, asked.holders(), gives)?;
    let threads = join.threads.unwrap_or_else(cores);
    let limit = join
        .memory
        .map(|bytes| Limit::new(bytes, threads, &request))
        .transpose()?;
    let request = request.path(between.path);
    let conditions = Conditions {
        network: between.network,
        calibration: &calibration(join.calibration.as_deref(), console)?,
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
            _ => asked.to_string(),
        },
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
            .map(|role| role.items(request.sizes) * KeyPartitions::row_bytes(columns.of(role)));
        Ok(Self {
            memory: allowance::of_protocols(bytes, tables, allowance.threads),
            budget: allowance.spill.budget,
        })
    }
}

fn order(goal: Goal, has_rates: bool) -> Result<Order, Failure> {
    match goal {
        Goal::Time => Ok(Order::Time),
        Goal::Bytes => Ok(Order::Bytes),
        Goal::Money if has_rates => Ok(Order::Money),
        Goal::Money => Err(Failure::Usage(
            "--optimise money needs --prices FILE and --regions".into(),
        )),
    }
}

/// Returns the number of items of each party: the given ones, but this party's own table is
/// counted, if there is one.
fn items(args: &args::Plan, progress: &Progress, console: &Console) -> Result<SetSizes, Failure> {
    let key = args.key.spec()?;
    if args.input.is_empty() {
        return Ok(args.items);
    }
    let (format, said) = (args.dialect.format, args.dialect.dialect()?);
    let source = Source::open_all(&args.input, format, &said, args.key.is_named(), progress)?;
    tell_layout(&source, console);
    let table = console.during(
        &format!("reading {}", source.name()),
        || progress.bytes(),
        || KeyTable::read(&source, &key, &[], progress),
    )?;
    let own = table.counts.distinct;
    console.say(format_args!(
        "{}: {}",
        source.name(),
        humanize::counted(own, "distinct key")
    ));
    Ok(match args.role {
        Part::Sender => SetSizes {
            sender: own,
            ..args.items
        },
        Part::Receiver => SetSizes {
            receiver: own,
            ..args.items
        },
    })
}

/// Returns the speed of both machines.
fn calibration(file: Option<&path::Path>, console: &Console) -> Result<Calibration, Failure> {
    let own = match file {
        Some(file) => Some(calibration::read(file)?),
        None => calibration::own()?,
    };
    if let Some(own) = own {
        return Ok(own);
    }
    console.say(
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
pub(crate) fn rates(
    file: Option<&path::Path>,
    regions: &[String],
) -> Result<Option<Rates>, Failure> {
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

#[cfg(test)]
mod tests {
    use clap::Parser;
    use psijoin_channel::path::{FAST_BITS_PER_SECOND as FAST, Path};

    use super::*;
    use crate::args::{Args, Command};

    /// Returns the protocol that is marked.
    fn marked(words: &str) -> &'static str {
        // Otherwise, this machine would be measured each time.
        let calibration = concat!(env!("CARGO_MANIFEST_DIR"), "/../forecast/calibration.json");
        let words = format!("psijoin plan --threads 1 --calibration {calibration} {words}");
        let args = Args::try_parse_from(words.split(' ')).unwrap();
        let Command::Plan(args) = args.command else {
            panic!("it plans");
        };
        let console = Console::Silent;
        let planned = of_args(&args, &console, &Stop::default()).unwrap();
        planned.auto
    }

    /// Returns the choice of a session whose parties measure this.
    fn taken(items: u64, output: OutputKind, [there, back]: [u64; 2], micros: u64) -> &'static str {
        let path = Path {
            round_trip_micros: micros,
            bits_per_second: [there, back],
        };
        let request = Request::rows(items, items)
            .unwrap()
            .output(output)
            .path(path);
        AUTO.chosen(&request).info().name
    }

    #[test]
    fn what_is_marked_is_what_a_session_takes() {
        let outputs = [
            ("rows", OutputKind::Rows),
            ("count", OutputKind::Count),
            ("threshold:7", OutputKind::Threshold(7)),
        ];
        let mut names = std::collections::BTreeSet::new();
        for (network, rate, micros) in [
            ("lan", FAST, 200),
            ("10gbps,40ms", FAST, 40_000),
            ("1gbps,1ms", FAST, 1000),
            ("400mbps,10ms", 400_000_000, 10_000),
            ("100mbps,80ms", 100_000_000, 80_000),
            ("50mbps,96ms", 50_000_000, 96_000),
            ("1mbps,80ms", 1_000_000, 80_000),
        ] {
            for items in [1 << 5, 1 << 10, 1 << 12, 1 << 14, 1 << 17] {
                for (said, output) in &outputs {
                    let words = format!("--items {items} --network {network} --output-kind {said}");
                    let marked = marked(&words);
                    names.insert(marked);
                    let taken = taken(items, output.clone(), [rate; 2], micros);
                    assert_eq!(marked, taken, "{words}");
                }
            }
        }
        assert_eq!(names.len(), 4, "{names:?}");
    }

    /// As a session that measured the same: what the network decides, and the sizes alone would
    /// decide otherwise.
    #[test]
    fn counts_over_a_slow_line_are_for_dh() {
        assert_eq!(
            marked("--items 16384 --network 50mbps,96ms --output-kind count"),
            "dh"
        );
        assert_eq!(
            marked("--items 16384 --network lan --output-kind count"),
            "rr22-circuit"
        );
    }
}
