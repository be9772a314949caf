//! The results, in one of several forms.

mod charts;
mod csv;
mod maps;
mod markdown;
mod page;
mod pictures;
mod text;

use serde::Serialize;

pub use pictures::Picture;

use text::OUTCOMES;

use crate::{
    BreakEven, Ours,
    break_even::break_evens,
    experiments::{Cell, Experiment, Show},
    measurements::{Measured, Session},
    published,
    verdicts::{self, Outcome, Verdict},
};

/// Experiments on one machine with one version: what was printed beside what is ours, and verdicts.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Report<'a> {
    /// The place of runs, and the time of the last one.
    pub session: &'a Session,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// The comparisons.
    pub experiments: Vec<Section>,
    #[serde(skip)]
    ours: Ours<'a>,
}

/// An experiment in a report.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Section {
    /// Its name.
    pub name: &'static str,
    /// Its subject.
    pub title: &'static str,
    /// The paper's short name.
    pub paper: &'static str,
    /// Notes on its tables.
    pub notes: Vec<&'static str>,
    /// The verdicts on the paper's conclusions.
    pub verdicts: Vec<Judged>,
    /// Rates at which two protocols take the same time, if the experiment is about rates.
    pub break_evens: Vec<BreakEven>,
    /// The figures.
    pub cells: Vec<Cell>,
    #[serde(skip)]
    experiment: &'static Experiment,
}

/// A conclusion: on our figures, and on the paper's own.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Judged {
    /// On ours.
    #[serde(flatten)]
    pub ours: Verdict,
    /// On what the paper printed.
    pub on_printed: Outcome,
}

impl<'a> Report<'a> {
    /// Makes a report of some experiments.
    pub fn new(
        measured: &'a Measured,
        experiments: impl IntoIterator<Item = &'static Experiment>,
    ) -> Self {
        let ours = Ours::new(measured);
        let sections = experiments.into_iter();
        Self {
            session: &measured.session,
            notes: notes(&measured.session),
            experiments: sections.map(|one| Section::new(one, &ours)).collect(),
            ours,
        }
    }

    /// As JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and names are JSON") + "\n"
    }
}

/// Returns how many claims of some sections have each outcome.
fn counted<'a>(sections: impl IntoIterator<Item = &'a Section>) -> [usize; OUTCOMES.len()] {
    let sections = sections.into_iter();
    let verdicts = sections.flat_map(|section| &section.verdicts);
    let outcomes = Vec::from_iter(verdicts.map(|judged| judged.ours.outcome));
    OUTCOMES.map(|wanted| outcomes.iter().filter(|one| **one == wanted).count())
}

impl Section {
    fn new(experiment: &'static Experiment, ours: &Ours) -> Self {
        let tables = experiment.tables().filter_map(published::find);
        let judged = verdicts::of(experiment.name).map(|claim| Judged {
            ours: claim.on_ours(ours),
            on_printed: claim.on_printed().outcome,
        });
        let cells = experiment.cells(ours);
        Self {
            break_evens: over_rates(experiment, &cells, ours),
            name: experiment.name,
            title: experiment.title,
            paper: experiment.paper.name(),
            notes: tables
                .flat_map(|table| table.notes.iter().copied())
                .collect(),
            verdicts: judged.collect(),
            cells,
            experiment,
        }
    }
}

/// Returns the break-even points of an experiment, for sets as large as its chart shows.
fn over_rates(experiment: &Experiment, cells: &[Cell], ours: &Ours) -> Vec<BreakEven> {
    let sizes = experiment.shows.iter().filter_map(|show| match show {
        Show::OverBandwidth(log2) => Some(1 << log2),
        _ => None,
    });
    let protocols = Vec::from_iter(cells.iter().map(|cell| &*cell.protocol));
    let found = sizes.flat_map(|items| break_evens(ours, &protocols, items));
    found.collect()
}

fn notes(session: &Session) -> Vec<String> {
    let instructions = session.machine.instructions.join(", ");
    vec![
        format!("{session}. Instruction sets: {instructions}."),
        "Each party was measured alone. Times on networks are predicted from that: `measured` if runs were as large, \
         `extrapolated` if only smaller ones were measured, or ones with fewer threads. Bytes are exact."
            .into(),
        "Ratios are ours over what was published: below 1, ours takes less. Papers measured on machines of their time."
            .into(),
        "Our protocols digest items first, so the length of items makes no difference to them; where a paper has several, \
         each is compared with the same figure of ours. A MB is 2^20 bytes."
            .into(),
        "A dash stands for what was not measured, and for protocols that we do not have.".into(),
        "SpOT19 gives no round trips between sites: 80 ms are assumed, and 0.2 ms within a site.".into(),
    ]
}
