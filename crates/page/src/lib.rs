//! A report as one HTML page: verdicts, charts and tables.
//!
//! The page is a single file without scripts, and loads nothing. It is light or dark as the reader
//! prefers, and made for telephones, for the colour-blind and for screen readers too: each figure
//! has a description, and its data as a table. All texts are plain; only what stands between
//! backticks becomes code.
//!
//! ```
//! use psijoin_page::{Block, Outcome, Page, Section, Verdict};
//!
//! let verdict = Verdict {
//!     outcome: Outcome::Holds,
//!     claim: "`spot-fast` is the fastest at 10 Mbit/s".into(),
//!     reason: "66 s beside 120 s of `kkrt`".into(),
//! };
//! let page = Page {
//!     title: "Laboratory".into(),
//!     introduction: vec!["Two cores & one network.".into()],
//!     sections: vec![Section {
//!         heading: "Slow networks".into(),
//!         blocks: vec![Block::Verdicts(vec![verdict])],
//!         sections: vec![],
//!     }],
//! };
//! let html = page.html();
//! assert!(html.contains("<p>Two cores &amp; one network.</p>"));
//! assert!(html.contains("<code>spot-fast</code> is the fastest"));
//! ```

#![forbid(unsafe_code)]

mod blocks;
mod outline;
mod page;
mod text;

use psijoin_chart::Chart;

/// A page.
#[derive(Debug)]
pub struct Page {
    /// The subject of the page.
    pub title: String,
    /// Paragraphs before the first section.
    pub introduction: Vec<String>,
    /// The sections.
    pub sections: Vec<Section>,
}

/// A part of a page under a heading.
#[derive(Debug)]
pub struct Section {
    /// Its heading, which stands in the table of contents, too.
    pub heading: String,
    /// The content of the section.
    pub blocks: Vec<Block>,
    /// Its parts. They come after the blocks.
    pub sections: Vec<Section>,
}

/// Something in a section.
#[derive(Debug)]
pub enum Block {
    /// A paragraph.
    Paragraph(String),
    /// The verdicts on claims.
    Verdicts(Vec<Verdict>),
    /// Figures, beside each other where there is room.
    Figures(Vec<Figure>),
    /// A table.
    Table(Table),
}

/// The verdict on a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The outcome: whether the claim holds.
    pub outcome: Outcome,
    /// The claim.
    pub claim: String,
    /// The reason. It may be empty.
    pub reason: String,
}

/// The outcome of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It does.
    Holds,
    /// Less is less and more is more, but by another factor than was claimed.
    OtherFactor,
    /// It does not.
    DoesNotHold,
    /// It would hold or not, by where in their scatter the measured numbers lie.
    TooClose,
    /// Nobody knows yet.
    NotRun,
    /// Nobody can know.
    NotTestable,
}

/// A chart with a caption, and its data as a table to unfold.
#[derive(Debug)]
pub struct Figure {
    /// The text above it.
    pub caption: String,
    /// The chart.
    pub chart: Box<dyn Chart>,
}

/// A table. One that is too wide for the page scrolls by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The subject of its cells.
    pub caption: String,
    /// The names of its columns; the first one names the rows.
    pub columns: Vec<String>,
    /// Each has a cell per column. Columns of numbers are aligned to the right.
    pub rows: Vec<Vec<String>>,
}
