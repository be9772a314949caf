//! A report as one HTML page.

use psijoin_page::{self as page, Block, Figure, Page};

use super::{
    Judged, Report, Section, charts, counted, maps,
    text::{self, BREAK_EVEN, BREAK_EVEN_COLUMNS, OUTCOME_COLUMNS, beside, break_even_row},
};
use crate::{
    Ours,
    experiments::{NOT_COMPARED, Show},
    published::Metric,
    quantity::distinct,
    verdicts::Outcome,
};

impl Report<'_> {
    /// As a page: first how many conclusions hold, and ours over what was published, by paper; then
    /// each experiment.
    pub fn page(&self) -> Page {
        let papers = distinct(self.experiments.iter().map(|one| one.paper), |paper| *paper);
        let mut sections = vec![self.outcomes(&papers), self.ratios(&papers)];
        sections.extend(papers.iter().map(|paper| self.paper(paper)));
        sections.push(not_compared());
        Page {
            title: "The papers' comparisons, made again".into(),
            introduction: self.notes.clone(),
            sections,
        }
    }

    fn of<'a>(&'a self, paper: &'a str) -> impl Iterator<Item = &'a Section> {
        self.experiments
            .iter()
            .filter(move |section| section.paper == paper)
    }

    fn outcomes(&self, papers: &[&str]) -> page::Section {
        let row = |paper: &&str| {
            let counts = counted(self.of(paper)).map(|count| count.to_string());
            [(*paper).to_owned()].into_iter().chain(counts).collect()
        };
        let caption = "Conclusions of each paper, on our protocols";
        let table = table(caption, &OUTCOME_COLUMNS, papers.iter().map(row));
        let meaning = "Where a conclusion holds by another factor, the same protocol takes less, but by more or less than the \
                       paper says. Beside each that does not hold, ours over published says whose figures differ.";
        let blocks = vec![Block::Paragraph(meaning.into()), table];
        section("Whether the papers' conclusions hold", blocks)
    }

    fn ratios(&self, papers: &[&str]) -> page::Section {
        let figures = papers.iter().flat_map(|paper| {
            let cells = self.of(paper).flat_map(|section| &section.cells);
            // A reader wants to know first what has to be paid, and not how.
            let paid = cells.filter(|cell| PAID.iter().any(|metric| metric.name() == cell.metric));
            charts::ratios(paper, &Vec::from_iter(paid))
        });
        let figures = Vec::from_iter(figures);
        let blocks = match figures.is_empty() {
            true => vec![Block::Paragraph(
                "Nothing was measured that a paper has.".into(),
            )],
            false => vec![Block::Figures(figures)],
        };
        section("Ours over what was published", blocks)
    }

    fn paper(&self, paper: &str) -> page::Section {
        let sections = self.of(paper).map(|section| section.section(&self.ours));
        page::Section {
            sections: sections.collect(),
            ..section(paper, vec![])
        }
    }
}

impl Section {
    fn section(&self, ours: &Ours) -> page::Section {
        let told = self.circumstances.iter().cloned();
        let mut blocks = Vec::from_iter(told.map(Block::Paragraph));
        if !self.verdicts.is_empty() {
            blocks.push(Block::Verdicts(self.verdicts.iter().map(verdict).collect()));
        }
        let figures = self.figures(ours);
        if !figures.is_empty() {
            blocks.push(Block::Figures(figures));
        }
        if !self.break_evens.is_empty() {
            let rows = self.break_evens.iter().map(break_even_row);
            blocks.push(table(BREAK_EVEN, &BREAK_EVEN_COLUMNS, rows));
        }
        if !self.cells.is_empty() {
            let (columns, rows) = text::table(&self.cells);
            blocks.push(table(self.title, &columns, rows.into_iter()));
        }
        section(&format!("{} ({})", self.title, self.name), blocks)
    }

    /// Returns its charts.
    pub(super) fn figures(&self, ours: &Ours) -> Vec<Figure> {
        let shows = self.experiment.shows.iter();
        shows.flat_map(|show| self.shown(*show, ours)).collect()
    }

    fn shown(&self, show: Show, ours: &Ours) -> Vec<Figure> {
        let cells = Vec::from_iter(&self.cells);
        let paper = self.experiment.paper;
        match show {
            Show::Ratios => charts::ratios(self.name, &cells),
            Show::OverItems(metric) => charts::over_items(&cells, metric, paper),
            Show::OverBandwidth(log2) => charts::over_bandwidth(&cells, log2, paper),
            Show::Money => charts::money(&cells),
            Show::SecondsOverBytes => charts::seconds_over_bytes(&cells, ours),
            Show::CheapestByPrice => maps::cheapest_by_price(self.experiment.figures(ours)),
            Show::FastestByItems => maps::fastest_by_items(self.experiment.figures(ours)),
            Show::CostByPrice(log2) => charts::cost_by_price(self.experiment.figures(ours), log2),
        }
    }
}

/// The prices that a join has to be paid with.
const PAID: [Metric; 3] = [Metric::Seconds, Metric::Bytes, Metric::UsdPer1000Runs];

fn verdict(judged: &Judged) -> page::Verdict {
    let verdict = &judged.ours;
    let beside = beside(verdict.outcome, judged.on_printed);
    let reason = verdict.reason.trim_end_matches('.');
    let reason = format!("{reason}.");
    page::Verdict {
        outcome: match verdict.outcome {
            Outcome::Holds => page::Outcome::Holds,
            Outcome::DoesNotHold => page::Outcome::DoesNotHold,
            Outcome::OtherFactor => page::Outcome::OtherFactor,
            Outcome::TooClose => page::Outcome::TooClose,
            Outcome::NotMeasured => page::Outcome::NotRun,
            Outcome::NotTestable => page::Outcome::NotTestable,
        },
        claim: format!("{}: {}", verdict.id, verdict.says),
        reason: Vec::from_iter([reason].into_iter().chain(beside)).join(" "),
    }
}

fn table(caption: &str, columns: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Block {
    Block::Table(page::Table {
        caption: caption.into(),
        columns: columns.iter().copied().map(String::from).collect(),
        rows: rows.collect(),
    })
}

fn not_compared() -> page::Section {
    let row = |(table, reason): &(&str, &str)| vec![format!("`{table}`"), (*reason).to_owned()];
    let caption = "Published tables that are in no experiment";
    let rows = NOT_COMPARED.iter().map(row);
    section(
        "What is not compared",
        vec![table(caption, &["table", "why not"], rows)],
    )
}

fn section(heading: &str, blocks: Vec<Block>) -> page::Section {
    page::Section {
        heading: heading.into(),
        blocks,
        sections: Vec::new(),
    }
}
