//! `psijoin plan`: what a join will take, before any data moves.

use std::time::Duration;

use psijoin::{
    Info,
    planner::{Conditions, Estimate, Obstacle, Order, compare},
};
use psijoin_forecast::{
    Calibration, Network,
    money::{Prices, Rates, Setting},
};
use serde::Serialize;

use crate::{
    args::{self, Goal},
    calibration,
    console::Console,
    exit::Failure,
    grid::{Align, Grid},
    humanize, output,
    question::Question,
};

pub(super) fn run(args: &args::Plan) -> Result<(), Failure> {
    let question = Question {
        asked: args.output_kind.clone(),
        min_intersection: args.min_intersection.unwrap_or_default(),
    };
    question.check_minimum()?;
    let holders = args.output_kind.holders();
    let request = question.request(args.items.sender, args.items.receiver, holders)?;
    let own = match &args.calibration {
        Some(file) => Some(calibration::read(file)?),
        None => calibration::own()?,
    };
    let conditions = Conditions {
        network: Network::from(args.network),
        calibration: own.as_ref().unwrap_or_else(|| Calibration::shipped()),
        memory_bytes: args.memory,
        rates: rates(args)?,
    };
    let order = match args.optimise {
        Goal::Time => Order::Time,
        Goal::Bytes => Order::Bytes,
        Goal::Money if conditions.rates.is_none() => {
            return Err(Failure::Usage(
                "--optimise money needs --prices FILE and --regions".into(),
            ));
        }
        Goal::Money => Order::Money,
    };
    let (estimates, others) = compare(&request, &conditions, order);
    if args.json {
        return estimates
            .iter()
            .map(Line::new)
            .try_for_each(|line| output::json(&line));
    }
    output::text(&(table(args, &estimates) + &left_out(&others)))?;
    if own.is_none() {
        Console::wanted(false).say(
            "Times are those of the machine that psijoin was measured on: psijoin calibrate measures this one.",
        );
    }
    Ok(())
}

/// What things cost, if that was asked for.
fn rates(args: &args::Plan) -> Result<Option<Rates>, Failure> {
    let Some(file) = &args.prices else {
        return Ok(None);
    };
    let usage = |error: psijoin_forecast::money::PriceError| Failure::Usage(error.to_string());
    let shipped = file.to_str().and_then(Prices::shipped);
    let prices = match shipped {
        Some(prices) => prices,
        None => Prices::read(file).map_err(usage)?,
    };
    let setting = match &*args.regions {
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

fn table(args: &args::Plan, estimates: &[Estimate]) -> String {
    if estimates.is_empty() {
        return "No protocol can do this.\n".to_owned();
    }
    let has_money = args.prices.is_some();
    let mut columns = vec![
        ("protocol", Align::Left),
        ("time", Align::Right),
        ("sender sends", Align::Right),
        ("receiver sends", Align::Right),
        ("flights", Align::Right),
        ("sender's memory", Align::Right),
        ("receiver's memory", Align::Right),
    ];
    if has_money {
        columns.push(("USD", Align::Right));
    }
    columns.extend([("adversary", Align::Left), ("leaks", Align::Left)]);
    let mut grid = Grid::new(&columns);
    for estimate in estimates {
        let line = Line::new(estimate);
        let memory = |bytes: Option<u64>| bytes.map_or("?".into(), humanize::bytes);
        let mut cells = vec![
            line.protocol.to_owned(),
            humanize::time(Duration::from_secs_f64(line.seconds)),
            humanize::bytes(line.sender_bytes),
            humanize::bytes(line.receiver_bytes),
            line.flights.to_string(),
            memory(line.sender_memory_bytes),
            memory(line.receiver_memory_bytes),
        ];
        cells.extend(has_money.then(|| line.usd.map_or("?".into(), |usd| format!("{usd:.6}"))));
        cells.extend([line.adversary, line.leaks.to_owned()]);
        grid.row(cells);
    }
    format!(
        "{} of the sender and {} of the receiver, over {}, to learn {}; the best first, by {}:\n\n{grid}",
        humanize::counted(args.items.sender, "item"),
        humanize::count(args.items.receiver),
        args.network,
        args.output_kind,
        args.optimise.name(),
    )
}

/// The others, by what is in their way.
fn left_out(others: &[(&'static Info, Obstacle)]) -> String {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for (info, obstacle) in others {
        let why = match obstacle {
            Obstacle::Memory { needed } => {
                format!(
                    "too large for the memory, with {}",
                    humanize::bytes(*needed)
                )
            }
            other => other.to_string(),
        };
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => names.push(info.name.to_owned()),
            None => reasons.push((why, vec![info.name.to_owned()])),
        }
    }
    let lines = reasons
        .iter()
        .map(|(why, names)| format!("  {why}: {}\n", humanize::listed(names)));
    match reasons.is_empty() {
        true => String::new(),
        false => format!("\nNot a choice:\n\n{}", lines.collect::<String>()),
    }
}

/// An estimate, for scripts.
#[derive(Serialize)]
struct Line {
    protocol: &'static str,
    seconds: f64,
    sender_bytes: u64,
    receiver_bytes: u64,
    flights: u64,
    sender_memory_bytes: Option<u64>,
    receiver_memory_bytes: Option<u64>,
    usd: Option<f64>,
    adversary: String,
    leaks: &'static str,
}

impl Line {
    fn new(estimate: &Estimate) -> Self {
        let (info, cost) = (estimate.plan.info(), estimate.plan.cost().total);
        let [sender, receiver] = estimate
            .memory_bytes
            .map(|bytes| bytes.map(|bytes| bytes as u64));
        Self {
            protocol: info.name,
            seconds: estimate.forecast.seconds,
            sender_bytes: cost.sender_bytes,
            receiver_bytes: cost.receiver_bytes,
            flights: cost.flights,
            sender_memory_bytes: sender,
            receiver_memory_bytes: receiver,
            usd: estimate.usd,
            adversary: info.adversary.to_string(),
            leaks: info.leaks,
        }
    }
}
