//! `psijoin lab`: the comparisons of the papers, made again.

use std::{fs, path::Path, time::Instant};

use psijoin_forecast::Effort;
use psijoin_lab::{
    compare::compare,
    experiments::{self, EXPERIMENTS, Experiment},
    measurements::{self, Journal, Machine, Measured, Session, grouped},
    report::Report,
};

use crate::{
    args::{Lab, LabCompare, LabForm, LabReport, LabRun},
    console::Console,
    exit::Failure,
    grid::{Align, Grid},
    humanize, output,
};

pub(super) fn run(args: &Lab) -> Result<(), Failure> {
    match args {
        Lab::List => list(),
        Lab::Run(args) => measure(args),
        Lab::Report(args) => report(args),
        Lab::Compare(args) => compared(args),
    }
}

fn list() -> Result<(), Failure> {
    let mut grid = Grid::new(&[
        ("name", Align::Left),
        ("paper", Align::Left),
        ("what it compares", Align::Left),
    ]);
    for experiment in EXPERIMENTS {
        let paper = experiment.paper.name().to_owned();
        grid.row([
            experiment.name.to_owned(),
            paper,
            experiment.title.to_owned(),
        ]);
    }
    output::text(&grid.to_string())
}

/// The experiments with these names, or all.
fn chosen(names: &[String]) -> Result<Vec<&'static Experiment>, Failure> {
    let find = |name: &String| {
        experiments::find(name).ok_or_else(|| {
            Failure::Usage(format!(
                "there is no experiment `{name}`: psijoin lab list has them"
            ))
        })
    };
    match names {
        [] => Ok(EXPERIMENTS.iter().collect()),
        names => names.iter().map(find).collect(),
    }
}

/// The seconds that a profile may take, and the largest sets.
fn effort(is_full: bool, profiles: usize) -> Effort {
    const QUICK: f64 = 480.0;
    const FULL: f64 = 300.0;
    match is_full {
        true => Effort {
            seconds: FULL,
            most_items: 1 << 24,
            repeats: 3,
        },
        false => Effort {
            seconds: QUICK / profiles.max(1) as f64,
            most_items: 1 << 20,
            repeats: 1,
        },
    }
}

fn session() -> Session {
    Session {
        machine: Machine::this(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: None,
        date: chrono::Local::now().format("%Y-%m-%d").to_string(),
    }
}

fn measure(args: &LabRun) -> Result<(), Failure> {
    let session = session();
    let needs = experiments::all_needs(chosen(&args.names)?, session.machine.cores);
    let effort = effort(args.full, needs.len());
    let mut journal = Journal::open(&args.results.results).map_err(usage)?;
    let console = Console::wanted(false);
    if let Some(warning) = journal.warning() {
        console.warn(warning);
    }
    let groups = grouped(journal.measurements());
    let known = groups.iter().find(|group| group.is_of(&session));
    let missing = measurements::missing(&needs, known, effort).map_err(usage)?;
    let started = Instant::now();
    for (number, need) in missing.iter().enumerate() {
        let what = format!(
            "{} of {}: {}, {}",
            number + 1,
            missing.len(),
            need.protocol,
            need.output
        );
        let mut sizes = Vec::new();
        let tell = |run: &psijoin_forecast::Run| sizes.push(run.items[0]);
        let work = || measurements::measure(&mut journal, &session, need, effort, tell);
        console.during(&what, || (0, 0), work).map_err(usage)?;
        let most = sizes.into_iter().max().unwrap_or_default();
        let left = started.elapsed() / (number as u32 + 1) * (missing.len() - number - 1) as u32;
        console.say(format_args!(
            "{what}: up to {}; about {} left",
            humanize::counted(most, "item"),
            humanize::time(left)
        ));
    }
    console.say(format_args!(
        "{}: all is measured; psijoin lab report shows it",
        args.results.results.display()
    ));
    Ok(())
}

fn report(args: &LabReport) -> Result<(), Failure> {
    let measured = read(&args.results.results)?;
    let report = Report::new(&measured, chosen(&args.names)?);
    let text = match args.form {
        LabForm::Html => report.page().html(),
        LabForm::Md => report.markdown(),
        LabForm::Csv => report.csv(),
        LabForm::Json => report.json(),
    };
    match &args.out {
        None => output::text(&text),
        Some(path) => fs::write(path, text)
            .map_err(|error| Failure::Usage(format!("cannot write {}: {error}", path.display()))),
    }
}

fn compared(args: &LabCompare) -> Result<(), Failure> {
    let [first, second] = [read(&args.first)?, read(&args.second)?];
    output::text(&compare(&first, &second).markdown())
}

/// What was measured last in a file.
fn read(path: &Path) -> Result<Measured, Failure> {
    let measurements = Journal::read(path).map_err(usage)?;
    grouped(&measurements).pop().ok_or_else(|| {
        Failure::Usage(format!(
            "nothing was measured in {}: psijoin lab run does",
            path.display()
        ))
    })
}

fn usage(error: impl std::error::Error) -> Failure {
    Failure::Usage(error.to_string())
}
