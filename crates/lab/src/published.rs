//! The tables that the papers printed, as typed rows.
//!
//! The files are in `published/` of this crate; its README tells where the figures come from, which
//! of them were measured, and which inferred. [`tables`] are those that compare protocols,
//! [`parameters`] all others.

mod files;
mod metric;
mod paper;
mod read;

use std::sync::LazyLock;

use psijoin_channel::link::Link;

pub use metric::Metric;
pub use paper::Paper;

/// A table of a paper, or a figure that has numbers.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Table<R = Row> {
    /// The name of its file: `cm20-table-2`.
    pub name: &'static str,
    /// The paper.
    pub paper: Paper,
    /// As the paper counts: `Table 2`, `Figure 9`.
    pub number: &'static str,
    /// The section that discusses it.
    pub section: &'static str,
    /// The paper's caption, with symbols in ASCII.
    pub caption: &'static str,
    /// Notes for a reader of the figures: machines, security, doubts. By us.
    pub notes: Vec<&'static str>,
    /// The rows of the table.
    pub rows: Vec<R>,
}

/// One figure of a table.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Row {
    /// The paper's own name of the protocol.
    pub protocol: String,
    /// The name of the same protocol in the registry of `psijoin`, if it is there.
    pub ours: Option<String>,
    /// Items of the sender.
    pub sender_items: u64,
    /// Items of the receiver, which learns the result.
    pub receiver_items: u64,
    /// The network that the figure was measured on; none for bytes.
    pub network: Option<Link>,
    /// Threads per party; none for bytes.
    pub threads: Option<usize>,
    /// The measured or calculated quantity.
    pub metric: Metric,
    /// The figure in the unit of its metric, as exact as it was printed.
    pub value: f64,
    /// The figure as it was printed, with its unit: `1,229 MB`.
    pub printed: String,
    /// The columns that only some tables have: `site`, `setting`, `item_bits`, ….
    pub more: Cells,
}

/// A line of a table, by the names of its columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cells(Vec<(String, String)>);

impl Cells {
    /// Returns the cell in this column; none if there is no such column, or nothing in it.
    pub fn get(&self, column: &str) -> Option<&str> {
        self.iter()
            .find_map(|(name, text)| (name == column).then_some(text))
    }

    /// Returns columns that are not empty, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let cells = self.0.iter().filter(|(_, text)| !text.is_empty());
        cells.map(|(name, text)| (name.as_str(), text.as_str()))
    }
}

/// Returns all tables that compare protocols: measured, or calculated by their authors.
pub fn tables() -> &'static [Table] {
    static TABLES: LazyLock<Vec<Table>> =
        LazyLock::new(|| read::all(&files::COMPARISONS, read::row));
    &TABLES
}

/// Returns all other tables: parameters, formulas, rates between sites.
pub fn parameters() -> &'static [Table<Cells>] {
    static TABLES: LazyLock<Vec<Table<Cells>>> =
        LazyLock::new(|| read::all(&files::PARAMETERS, Ok));
    &TABLES
}

/// Returns the table of [`tables`] with this name.
pub fn find(name: &str) -> Option<&'static Table> {
    tables().iter().find(|table| table.name == name)
}
