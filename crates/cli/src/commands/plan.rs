//! `psijoin plan`: what a join will take, before any data moves.

use psijoin::{planner::Order, spill::Spill};
use psijoin_frontend::{
    planning::{Planned, PlannedJoin, planned, rates},
    sizes::SetSizes,
    tell_layout,
};
use psijoin_session::{Learners, Question, RequestedOutput, Stop};
use psijoin_source::{Progress, Source};
use psijoin_table::TableKeys;

use crate::{
    args::{self, Goal, Part},
    console::Console,
    exit::Failure,
    humanize,
    interrupt::handle_ctrl_c,
    output,
};

mod network;

pub(super) fn run(args: &args::Plan) -> Result<(), Failure> {
    let console = Console::wanted();
    let stop = Stop::default();
    if args.meeting.is_wanted() {
        handle_ctrl_c(stop.clone(), console)?;
    }
    let planned = of_args(args, &console, &stop)?;
    match args.json {
        true => planned.json_lines().iter().try_for_each(output::line),
        false => output::text(&planned.text("--all")),
    }
}

/// Returns the predicted cost of the join on the command line.
fn of_args(args: &args::Plan, console: &Console, stop: &Stop) -> Result<Planned, Failure> {
    let mut asked = args.result.output_kind.clone();
    if let RequestedOutput::Groups(groups) = &mut asked {
        groups.least = args.result.min_group.unwrap_or(0);
        groups.noise = args.result.noise.clone().map(Box::new);
    } else if args.result.noise.is_some() {
        return Err(Failure::Usage(
            "--noise is for counts and sums of groups: give --output-kind counts, or counts,sum:COL, or leave --noise out"
                .to_owned(),
        ));
    }
    let question = Question {
        asked,
        min_intersection: args.result.min_intersection.unwrap_or_default(),
        learners: args.result.learn,
        post_quantum: args.result.post_quantum,
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
        labels: args.result.labels,
        threads: args.threads,
        memory: args.memory,
        order: order(args.optimise, rates.is_some())?,
        rates,
        calibration: args.calibration.clone(),
        all: args.all,
    };
    join.check()?;
    join.items = items(args, stop.progress(), console)?;
    let between = network::measure(args, stop, console)?;
    let between = between.unwrap_or_else(|| args.network.into());
    planned(&join, between, console)
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
        || TableKeys::read(&source, &key, &[], &Spill::in_memory(), progress),
    )?;
    let own = table.counts().distinct;
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

#[cfg(test)]
mod tests {
    use clap::Parser;
    use psijoin::{OutputKind, Request, registry::AUTO};
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
        planned.auto()
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
