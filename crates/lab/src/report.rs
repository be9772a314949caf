//! The results, in one of several forms.

mod charts;
mod conclusions;
mod csv;
mod maps;
mod markdown;
mod page;
mod pictures;
mod text;

use psijoin_forecast::Duplex;
use serde::Serialize;

pub use pictures::Picture;

pub(crate) use text::outcome;

use text::OUTCOMES;

use crate::{
    BreakEven, Circumstances, Kind, Ours,
    break_even::break_evens,
    experiments::{Cell, Experiment, Show},
    measurements::{Measured, Session},
    published,
    quantity::distinct,
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
    /// The networks and the prices of it, in words.
    pub circumstances: Vec<String>,
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
    /// Makes a report of some experiments, under the papers' circumstances.
    pub fn new(
        measured: &'a Measured,
        experiments: impl IntoIterator<Item = &'static Experiment>,
    ) -> Self {
        Self::under(Circumstances::default(), measured, experiments)
    }

    /// Makes a report of some experiments.
    pub fn under(
        circumstances: Circumstances,
        measured: &'a Measured,
        experiments: impl IntoIterator<Item = &'static Experiment>,
    ) -> Self {
        let ours = Ours::under(circumstances, measured);
        let sections = experiments.into_iter();
        let sections = Vec::from_iter(sections.map(|one| Section::new(one, &ours)));
        Self {
            session: &measured.session,
            notes: notes(measured, &sections),
            experiments: sections,
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
            circumstances: circumstances(experiment, ours),
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
    let ours = experiment.figures(ours);
    let found = sizes.flat_map(|items| break_evens(ours, &protocols, items));
    found.collect()
}

/// Returns the networks and the prices of an experiment, in words.
fn circumstances(experiment: &Experiment, ours: &Ours) -> Vec<String> {
    let mut told = Vec::new();
    if experiment.has_networks() {
        let (authors, chosen) = (experiment.wire(), experiment.figures(ours).wire());
        let duplex = match (chosen.duplex, authors.duplex) {
            (Duplex::Half, Duplex::Half) => {
                "half duplex, as both parties of the authors ran on one machine"
            }
            (Duplex::Half, Duplex::Full) => "half duplex, unlike the authors' full duplex",
            (Duplex::Full, Duplex::Full) => "full duplex, as between two machines",
            (Duplex::Full, Duplex::Half) => "full duplex, unlike the authors' half duplex",
        };
        let start = match chosen.slow_start {
            true => "with TCP's slow start",
            false => "without TCP's slow start",
        };
        told.push(format!("Networks: {duplex}; {start}."));
    }
    let papers = experiment.quantities().into_iter();
    let papers = papers.filter_map(|one| Some(one.place?.prices));
    for papers in distinct(papers, |name| *name) {
        let Some(prices) = ours.prices(papers) else {
            continue;
        };
        let processor = prices
            .processor
            .as_deref()
            .unwrap_or("an unknown processor");
        told.push(format!(
            "Money: prices `{}` ({}) of {}, which has {processor}. The seconds are those of the machine above, so an amount is what \
             this machine would cost if it were rented for that one's price.",
            prices.name, prices.date, prices.machine
        ));
    }
    told
}

/// The rule by which a verdict is reached, in short.
const RULE: &str = "A conclusion is a set of comparisons, in parts: those of the same quantity with the same bounds. A part holds if \
                    nine in ten of its comparisons do, or all if they are fewer than ten; the worst part decides. A \
                    comparison within the scatter of its times is too close to call, and so is a conclusion that depends on it.";

fn notes(measured: &Measured, sections: &[Section]) -> Vec<String> {
    let session = &measured.session;
    let instructions = session.machine.instructions.join(", ");
    vec![
        format!("Machine: {session}. Instruction sets: {instructions}."),
        runs(measured),
        origins(sections),
        "Each party was measured alone. Times on networks are simulated from that. They are `measured` if runs were as large (of \
         a set that the program runs in parts, runs as large as a part), `extrapolated` if the largest run was smaller, by \
         four times at most: then computing grows as the number of its operations does. What is `extrapolated far`, \
         from smaller runs or fewer threads, decides nothing. Bytes are exact."
            .into(),
        "A time is the median of its runs. It scatters `within` their quartiles, and by 10 % to either side at least, as campaigns \
         on one machine differ by that."
            .into(),
        "Networks are full or half duplex, as the authors of each paper had them, unless somebody asked for another one: each \
         section says it, and whether connections start slowly."
            .into(),
        RULE.into(),
        "Ratios are ours over what was published: below 1, ours takes less. Papers measured on machines of their time."
            .into(),
        "Most of our protocols digest items first, so the length of items makes no difference to them: where a paper has several, \
         each is compared with the same figure of ours. `pssz`, those of `psz` and the circuits take items of 32 and 64 \
         bits as they are, where the paper does. A MB is 2^20 bytes."
            .into(),
        "A dash stands for what was not measured, and for protocols that we do not have.".into(),
        "SpOT19 gives no round trips between sites: 80 ms are assumed, and 0.2 ms within a site.".into(),
    ]
}

/// Returns how many figures were measured, and how many not, in words.
fn origins(sections: &[Section]) -> String {
    let kinds = sections.iter().flat_map(|section| &section.cells);
    let kinds = Vec::from_iter(kinds.filter_map(|cell| cell.kind));
    let count = |wanted: Kind| kinds.iter().filter(|kind| **kind == wanted).count();
    let all = [Kind::Exact, Kind::Measured, Kind::Extrapolated, Kind::Far];
    let counts = all.map(|kind| format!("{} {}", count(kind), kind.name()));
    format!("Our figures in the tables: {}.", counts.join(", "))
}

/// Returns how many runs there are, in words.
fn runs(measured: &Measured) -> String {
    let runs = measured.profiles.iter().flat_map(|profile| &profile.runs);
    let times = Vec::from_iter(runs.map(|run| run.times(0).len()));
    let times_each = match (times.iter().min(), times.iter().max()) {
        (Some(1), Some(1)) => "once each".to_owned(),
        (Some(least), Some(most)) if least == most => format!("{least} times each"),
        (Some(least), Some(most)) => format!("{least} to {most} times each"),
        _ => "none yet".to_owned(),
    };
    let campaigns = match measured.campaigns.len() {
        0 | 1 => "one campaign".to_owned(),
        several => format!("{several} campaigns"),
    };
    format!(
        "Runs: {} of protocols and sizes in {campaigns}, {times_each}.",
        times.len()
    )
}
