//! `psijoin lab`: the comparisons of the papers, made again.

mod report;
mod run;

use std::path::Path;

use psijoin_lab::{
    compare::compare,
    experiments::{self, EXPERIMENTS, Experiment},
    measurements::{Journal, Machine, Measured, Need, Session, grouped, latest},
};
use psijoin_printable::Quoted;

use crate::{
    args::Lab,
    console::Console,
    exit::Failure,
    grid::{Align, Grid},
    output,
};

pub(super) fn run(args: &Lab) -> Result<(), Failure> {
    match args {
        Lab::List => list(),
        Lab::Run(args) => run::run(args),
        Lab::Report(args) => report::run(args),
        Lab::Compare(args) => {
            let [first, second] = [read(&args.first)?, read(&args.second)?];
            output::text(&compare(&first, &second).markdown())
        }
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
                "there is no experiment {}: `psijoin lab list` lists them",
                Quoted(name)
            ))
        })
    };
    match names {
        [] => Ok(EXPERIMENTS.iter().collect()),
        names => names.iter().map(find).collect(),
    }
}

/// What has to be measured for them, on this machine.
fn needs(experiments: &[&'static Experiment]) -> Vec<Need> {
    experiments::all_needs(experiments.iter().copied(), Machine::this().cores)
}

fn session() -> Session {
    Session {
        machine: Machine::this(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        // Only who builds the program knows it.
        commit: option_env!("PSIJOIN_COMMIT").map(str::to_owned),
        date: chrono::Local::now().format("%Y-%m-%d").to_string(),
    }
}

/// What was measured last in a file.
fn read(path: &Path) -> Result<Measured, Failure> {
    let measurements = Journal::read(path)?;
    let latest = latest(&measurements).ok_or_else(|| Failure::NothingMeasured(path.to_owned()))?;
    if grouped(&measurements).len() > 1 {
        Console::wanted(false).warn(format_args!(
            "{} has results of several machines, versions or commits; the latest are taken: {}",
            psijoin_printable::path(path),
            latest.session
        ));
    }
    Ok(latest)
}
