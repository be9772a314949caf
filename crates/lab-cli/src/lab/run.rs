//! `psijoin-lab run`.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use psijoin_cli::{console::Console, exit::Code, guard};
use psijoin_lab::measurements::{Budget, Campaign, Journal, Left, Need, Step, Variant};
use psijoin_printable::humanize;
use psijoin_session::memory;

use super::{chosen, needs, session};
use crate::{args, exit::Failure};

/// Less than ten minutes, as the last run may take longer than was thought.
const QUICK_SECONDS: f64 = 510.0;
const FULL_SECONDS: f64 = 8.0 * 3600.0;

/// The fewest runs whose quartiles say something.
const FEWEST_RUNS: usize = 5;

/// The time between two messages about its progress.
const SILENCE: Duration = Duration::from_secs(20);

/// Measures what experiments need.
pub(crate) fn run(args: &args::Run) -> Result<(), Failure> {
    let console = Console::wanted();
    let needs = needs(&chosen(&args.names)?);
    if needs.is_empty() {
        console.say("nothing has to be measured for that: `psijoin-lab report` calculates it");
        return Ok(());
    }
    let results = &args.results.results;
    let mut journal = Journal::open(results)?;
    if let Some(warning) = journal.warning() {
        console.warn(warning);
    }
    handle_ctrl_c(results, console)?;
    let mut made = 0;
    for number in 1..=args.campaigns {
        made += run_campaign(&needs, &mut journal, args, number)?;
    }
    console.say(format_args!(
        "{} measured now, {} in all: `psijoin-lab report` shows what came out",
        humanize::counted(made, "run"),
        humanize::count(journal.measurements().len() as u64)
    ));
    Ok(())
}

/// Makes the runs of a campaign that are missing, and returns how many it made.
fn run_campaign(
    needs: &[Need],
    journal: &mut Journal,
    args: &args::Run,
    number: u32,
) -> Result<u64, Failure> {
    let (console, session) = (Console::wanted(), session(number));
    let mut campaign = Campaign::new(needs.to_vec(), journal, &session, budget(args))?;
    let (mut made, mut said) = (0, Instant::now());
    let campaigns = match args.campaigns {
        1 => String::new(),
        all => format!("campaign {number} of {all}: "),
    };
    while let Some(step) = campaign.next() {
        let progress = format!("{campaigns}{}", progress(made, campaign.left()));
        if said.elapsed() >= SILENCE {
            console.say(&progress);
            said = Instant::now();
        }
        let what = format!("{progress}, {}", described(&step));
        let work = || campaign.make(&step, journal, &session);
        console.during(&what, || (0, 0), work)?;
        made += 1;
    }
    Ok(made)
}

/// Returns the limits of a campaign: its share of the time, and enough runs for two campaigns to
/// have five.
fn budget(args: &args::Run) -> Budget {
    let (seconds, repeats) = match (args.seconds, args.full) {
        (Some(seconds), _) => (seconds.into(), 3),
        (None, true) => (FULL_SECONDS, 5),
        (None, false) => (QUICK_SECONDS, 3),
    };
    let repeats = match args.campaigns {
        1 => FEWEST_RUNS,
        _ => repeats,
    };
    Budget {
        seconds: seconds / f64::from(args.campaigns),
        repeats,
        memory_bytes: memory::available_bytes(),
    }
}

fn progress(made: u64, left: Left) -> String {
    format!(
        "{} of about {}, about {} left",
        humanize::count(made),
        humanize::counted(made + left.runs as u64, "run"),
        humanize::time(Duration::from_secs_f64(left.seconds))
    )
}

fn described(step: &Step) -> String {
    let Step { need, items, .. } = step;
    let threads = match need.threads {
        1 => String::new(),
        threads => format!(", {threads} threads"),
    };
    let items = humanize::counted(*items, "item");
    let Variant {
        item_bits,
        one_item,
        ..
    } = need.variant;
    let bits = item_bits.map(|bits| format!(" of {bits} bits"));
    let (bits, one) = (
        bits.unwrap_or_default(),
        if one_item { " and one" } else { "" },
    );
    let (protocol, output) = (&need.protocol, &need.output);
    format!("{protocol}, {output}{threads}, {items}{bits}{one}")
}

/// Ends the program at any time: each run is in the file when it is made.
fn handle_ctrl_c(results: &Path, console: Console) -> Result<(), Failure> {
    let results = psijoin_printable::path(results);
    let handler = ctrlc::set_handler(move || {
        console.say(format_args!(
            "interrupted: {results} has what was measured, and the same command goes on from there"
        ));
        guard::exit(Code::Unexpected as i32);
    });
    handler.map_err(|_| Failure::OUT_OF_MEMORY)
}
