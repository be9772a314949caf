//! Reproductions of the papers' comparisons.

mod report;
mod run;

use std::path::Path;

use jiff::Zoned;
use psijoin_cli::{console::Console, output};
use psijoin_frontend::grid::{Align, Grid};
use psijoin_lab::{
    compare,
    experiments::{self, EXPERIMENTS, Experiment},
    measurements::{Journal, Machine, Measured, Need, Session, by_campaign, grouped, latest},
};
use psijoin_printable::Quoted;

use crate::{args, exit::Failure};

pub(crate) use report::report;
pub(crate) use run::run;

/// Compares what two machines, two versions or two campaigns measured.
pub(crate) fn compare(args: &args::Compare) -> Result<(), Failure> {
    let [first, second] = match &args.second {
        Some(second) => [read(&args.first)?, read(second)?],
        None => campaigns(&args.first)?,
    };
    Ok(output::text(&compare::compare(&first, &second).markdown())?)
}

/// Lists the experiments.
pub(crate) fn list() -> Result<(), Failure> {
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
    Ok(output::text(&grid.to_string())?)
}

/// Returns the experiments with these names, or all.
fn chosen(names: &[String]) -> Result<Vec<&'static Experiment>, Failure> {
    let find = |name: &String| {
        experiments::find(name).ok_or_else(|| {
            Failure::usage(format!(
                "there is no experiment {}: `psijoin-lab list` lists them",
                Quoted(name)
            ))
        })
    };
    match names {
        [] => Ok(EXPERIMENTS.iter().collect()),
        names => names.iter().map(find).collect(),
    }
}

/// Returns the measurements that they need, on this machine.
fn needs(experiments: &[&'static Experiment]) -> Vec<Need> {
    experiments::all_needs(experiments.iter().copied(), Machine::this().cores)
}

fn session(campaign: u32) -> Session {
    Session {
        machine: Machine::this(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        // Only who builds the program knows it.
        commit: option_env!("PSIJOIN_COMMIT").map(str::to_owned),
        date: Zoned::now().date().to_string(),
        campaign,
    }
}

/// Returns the first and the last campaign of the latest machine, version and commit in a file.
fn campaigns(path: &Path) -> Result<[Measured; 2], Failure> {
    let session = read(path)?.session;
    let mut campaigns = by_campaign(&Journal::read(path)?);
    campaigns.retain(|campaign| campaign.is_of(&session));
    let last = campaigns.pop();
    match (campaigns.into_iter().next(), last) {
        (Some(first), Some(last)) => Ok([first, last]),
        _ => Err(Failure::usage(format!(
            "{} has one campaign: name a second file, or measure more with `psijoin-lab run --campaigns`",
            psijoin_printable::path(path)
        ))),
    }
}

/// Returns the latest measurements in a file.
fn read(path: &Path) -> Result<Measured, Failure> {
    let measurements = Journal::read(path)?;
    let latest = latest(&measurements).ok_or_else(|| Failure::NothingMeasured(path.to_owned()))?;
    if grouped(&measurements).len() > 1 {
        Console::wanted().warn(format_args!(
            "{} has results of several machines, versions or commits; the latest are taken: {}",
            psijoin_printable::path(path),
            latest.session
        ));
    }
    Ok(latest)
}
