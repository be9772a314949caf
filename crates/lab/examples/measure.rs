//! Measures what experiments need, and writes a page: `measure RESULTS.jsonl PAGE.html SECONDS NAME…`.

use std::{env, fs, path::Path};

use psijoin_forecast::Effort;
use psijoin_lab::{
    experiments,
    measurements::{self, Journal, Machine, Session, grouped},
    report::Report,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Vec::from_iter(env::args().skip(1));
    let [results, page, seconds, names @ ..] = &arguments[..] else {
        return Err("usage: measure RESULTS.jsonl PAGE.html SECONDS NAME…".into());
    };
    let found = names.iter().map(|name| {
        experiments::find(name).ok_or_else(|| format!("there is no experiment `{name}`"))
    });
    let chosen = found.collect::<Result<Vec<_>, _>>()?;
    let session = Session {
        machine: Machine::this(),
        version: env!("CARGO_PKG_VERSION").into(),
        commit: None,
        date: "unknown".into(),
    };
    let effort = Effort {
        seconds: seconds.parse()?,
        most_items: 1 << 20,
        repeats: 1,
    };
    let mut journal = Journal::open(Path::new(results))?;
    for need in experiments::all_needs(chosen.iter().copied(), session.machine.cores) {
        measurements::measure(&mut journal, &session, &need, effort, |run| {
            eprintln!("{} {:?}", need.protocol, run.items);
        })?;
    }
    let groups = grouped(journal.measurements());
    let report = Report::new(groups.last().ok_or("nothing was measured")?, chosen);
    fs::write(Path::new(page).with_extension("md"), report.markdown())?;
    fs::write(page, report.page().html())?;
    Ok(())
}
