//! Tables in and out: from a party's file to the set of its keys, and back from the keys that
//! match to the file's rows.
//!
//! ```no_run
//! use psijoin_source::{Dialect, Progress, Source};
//! use psijoin_table::{Destination, Existing, KeySpec, SharedKeys, TableKeys};
//! # use psijoin_files::spill::Spill;
//! # fn run_protocol(_: &[[u8; 32]]) -> Vec<u32> { vec![] }
//!
//! let progress = Progress::default();
//! let key = KeySpec::new(vec!["email".into()], vec!["email=email".parse()?])?;
//! let source = Source::open("customers.csv".as_ref(), None, &Dialect::default(), true, &progress)?;
//! let output = "shared.csv".as_ref();
//! let destination = Destination::prepare(Some(output), &source, Existing::Replace)?;
//!
//! let mut keys = TableKeys::read(&source, &key, &[], &Spill::in_memory(), &progress)?;
//! let items = keys.gather()?;
//! let shared: Vec<u32> = run_protocol(&items.fingerprints);
//! let first_rows = shared.into_iter().map(|item| items.first_rows[item as usize]).collect();
//! let rows = keys.matching(SharedKeys::InMemory { first_rows, payloads: vec![] })?;
//! let count = destination.stage_rows(&source, &rows, &progress)?.commit()?;
//! # Ok::<(), psijoin_table::Error>(())
//! ```
//!
//! The crate `psijoin-source` opens and reads the files: its documentation describes
//! [them](psijoin_source#files), what is a [text](psijoin_source#text), and the values of
//! [typed columns](psijoin_source#keys). The crate `psijoin-key` turns the texts of keys into
//! fingerprints.
//!
//! # The rooms
//!
//! | room | contents |
//! |---|---|
//! | `keys` | the keys of a table: reading them, the distinct ones, their rows |
//! | `numbers` | the sums of columns of numbers |
//! | `labels` | the values of columns by which keys are grouped |
//! | [`portions`] | a table that several processes have, some of its rows each |
//! | [`share`] | columns that are given to the other party, and taken from it |
//! | `write` | rows out: chosen, widened, aligned, in each format |
//!
//! # Keys
//!
//! The key is one column or several. Each field has one [canonical text](psijoin_source#keys), which
//! depends on its value and not on its type.
//!
//! Normalisation ([`Rule`]) is applied on request only. The rule beside a type there brings text
//! that is written otherwise to the form of that type, and leaves the type's own texts as they are.
//! Only `timestamp:ZONE` changes typed values too: it makes universal time of dates and of
//! timestamps without a zone. Text that a rule cannot read is an error with line and column.
//!
//! A row is left out, and counted, if any field of its key is null, or empty after normalisation.
//! The fields are joined with their lengths, so that `("ab", "c")` is not `("a", "bc")`, and hashed
//! with BLAKE3 to 256 bits.
//!
//! # Numbers
//!
//! Besides its keys, a table can give columns of numbers, to be added up: [`Numbers`]. A cell
//! holds a [number](psijoin_source#numbers) or nothing.
//!
//! - Numbers are exact: whole multiples of 10^-scale, where the scale is the most decimals that
//!   the column shows.
//! - Several rows with one key count as one row with the sum of their numbers.
//! - An empty cell, or a null, counts as nothing, and is counted. A row without a key is left out
//!   with its numbers.
//! - Neither the sum of a column's positive numbers nor that of its negative ones may overflow an
//!   `i64`, so any sum of some of them fits, too.
//!
//! # Labels
//!
//! Keys can be grouped by the values of one column, or of two: [`Labels`]. A cell's label is its
//! canonical text, as that of a key without rules, or null, if it is empty. Rows with one key must
//! have one label. If a list of labels is given, all other texts have the label [`OTHER`].
//!
//! # Rows
//!
//! The rows that are written are the shared ones, the others, or all with a column that marks the
//! shared ones: [`Destination::choosing`]. They can get columns of the other party: [`share`]. Or
//! both parties write a row for each shared key in one order, so that their outputs belong together
//! line by line: [`AlignedRows`].
//!
//! Of a table of several files, only the first header is part of the output; each row keeps its
//! bytes, and gets a line ending only where it has none and another follows. The columns that
//! folders' names tell are text. Blank lines and comments are not copied, nor are lines before the
//! header.
//!
//! Rows that are written in the source's own format keep its dialect, its encoding, and their
//! bytes. In another format they are written as is usual there, in UTF-8, with the header of the
//! source. A value that TSV cannot hold is an error.
//!
//! Rows that [`Destination::in_memory`] keeps, of any table, have the types of an Arrow file, and
//! are batches of at most 2^16 rows. Nothing of a data frame is copied but the texts of keys and
//! the rows that are written.
//!
//! Rows go from Arrow and Parquet to either with their types; a type that the output does not have
//! is an error at the start. Parquet has no timestamps in seconds: they become milliseconds there.
//! An Arrow file is not compressed. A dictionary is written to it as its values, since it would
//! also hold those of other rows.
//!
//! Parquet is written with Snappy. Row groups without a matching row, or long stretches of larger
//! ones, are not decoded for that. When Parquet is written as CSV, nulls and empty texts are both
//! written as nothing, unless they are to be told apart: [`Destination::quoting_empty`].
//!
//! # Spreadsheets
//!
//! A spreadsheet computes a text that begins as a formula, whoever wrote it. Where such texts are
//! to be texts, a single quote is written before them: [`Destination::quoting_formulas`].

#![forbid(unsafe_code)]

mod error;
mod in_order;
mod inspection;
mod keys;
mod labels;
mod numbers;
mod pass;
pub mod portions;
pub mod share;
mod write;

pub use error::Error;
pub use inspection::Inspection;
pub use keys::{Beside, Counts, InspectedColumn, Items, MatchingRows, SharedKeys, TableKeys};
pub use labels::{LabelColumn, Labels, MAX_LABELS, OTHER};
pub use numbers::Numbers;
pub use psijoin_files::Existing;
pub use psijoin_key::{
    BadCells, BadCellsOfKey, BadKeys, ColumnRules, Country, DateFormat, Error as KeyError,
    KeyFault, KeySpec, Kind, Located, Look, Meaning, NullWords, Place, Places, Rule,
    SPELLING_VERSION, Suspicion, UnixUnit, Zone, is_panic_contained,
};
pub use psijoin_source::{
    Dialect, Doubt, ErrorKind, Format, Progress, ReadError, Source, SourceError,
};
pub use share::error::ShareError;
pub use write::{
    alignment::AlignedRows,
    destination::{Destination, StagedRows},
    error::WriteError,
    row_choice::WhichRows,
};

/// The most rows that a table can have: each has a number of 32 bits.
pub const MAX_ROWS: u64 = (1 << 32) - 2;

/// The most distinct keys that are [gathered](TableKeys::gather), for one run. In partitions there
/// can be more.
pub const MAX_ITEMS: usize = 1 << 26;
