//! Tables in and out: from a party's file to the set of its keys, and back from the keys that
//! match to the file's rows.
//!
//! ```no_run
//! use psijoin_table::{
//!     Destination, Dialect, Existing, KeySpec, Progress, SharedKeys, Source, TableKeys,
//! };
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
//! # The rooms
//!
//! | room | contents |
//! |---|---|
//! | `source` | a table's files: finding and opening them, their format, compression, encoding and dialect |
//! | `read` | their content: text, Parquet, Arrow files (`ipc`) and tables in memory, as records or batches; the columns of the key in them |
//! | `keys` | the keys of a table: reading them, the distinct ones, their rows |
//! | `numbers` | columns that are added up |
//! | [`share`] | columns that are given to the other party, and taken from it |
//! | `write` | rows out: chosen, widened, aligned, in each format |
//!
//! The crate `psijoin-key` turns the texts of keys into fingerprints.
//!
//! # Keys
//!
//! The key is one column or several. Each field has one canonical text, which depends on its value
//! and not on its type. So the same value in another type or format is the same key:
//!
//! | type | text | rule for text |
//! |---|---|---|
//! | text, and every CSV field | as it is | |
//! | integer | decimal, without leading zeros | `number` |
//! | decimal | exact, without trailing zeros after the point: `1.5`, and `1` for 1.00 | `number` |
//! | floating-point number | as an integer; it must be one, and so small that no other is rounded to it: below 2^53, 2^24 or 2^11 in 64, 32 or 16 bits | `number` |
//! | boolean | `true`, `false` | `bool` |
//! | date | `2024-02-29` | `date`, `date:FORMAT` |
//! | timestamp | `2024-02-29 13:05:00.25`; in universal time with a `Z` behind it, if it has a zone | `timestamp`, `timestamp:ZONE` |
//! | time of day | `13:05:00.25` | `time` |
//! | binary | hexadecimal, in lower case | `lowercase` |
//! | UUID of Parquet or Arrow | `f81d4fae-7dec-11d0-a765-00a0c91e6bf6` | `uuid` |
//!
//! Fractions of a second have no trailing zeros, so the unit does not matter. NaN is a null. Nested
//! types cannot be keys. Rows are written to CSV and TSV with other texts, which keep what a type
//! shows: `1.50`, `0.1`, `2024-02-29T13:05:00`.
//!
//! Normalisation ([`Rule`]) is applied on request only. The rule beside a type brings text that is
//! written otherwise to the form of that type, and leaves the type's own texts as they are. Only
//! `timestamp:ZONE` changes typed values too: it makes universal time of dates and of timestamps
//! without a zone. Text that a rule cannot read is an error with line and column.
//!
//! A row is left out, and counted, if any field of its key is null, or empty after normalisation.
//! The fields are joined with their lengths, so that `("ab", "c")` is not `("a", "bc")`, and hashed
//! with BLAKE3 to 256 bits.
//!
//! # Numbers
//!
//! Besides its keys, a table can give columns of numbers, to be added up: [`Numbers`]. A number is
//! written with digits, with a sign, a decimal point and an exponent where needed, as `-0.50` or
//! `1.5e3`; spaces around it do not count; anything else is an error. Typed columns may be text,
//! integers, decimals of at most 18 places, and floating-point numbers, each of which means the
//! shortest decimal that reads back as that number, with one place at least (`2.0`).
//!
//! - Numbers are exact: whole multiples of 10^-scale, where the scale is the most decimals that
//!   the column shows. An exponent moves the point: `1.50e1` shows one decimal, as `15.0` does.
//! - Several rows with one key count as one row with the sum of their numbers.
//! - An empty cell, or a null, counts as nothing, and is counted. A row without a key is left out
//!   with its numbers.
//! - Neither the sum of a column's positive numbers nor that of its negative ones may overflow an
//!   `i64`, so any sum of some of them fits, too.
//!
//! # Files
//!
//! A table is one file, or several with the same columns in the same order: named one by one, by a
//! pattern such as `export/*.csv` (`*`, `?`, `[ab]`, and `**` for any folders), or by the folder
//! that holds them. The rows are those of the files in the order of their absolute paths, compared
//! byte by byte, so that `part-10` is before `part-2`. Only the first header is part of the output;
//! each row keeps its bytes, and gets a line ending only where it has none and another follows. A
//! file that is there twice, or differs in its columns (in Parquet and Arrow also in their types),
//! is an error.
//!
//! A folder must hold files of Parquet or Arrow, at any depth; names that begin with `_` or `.`
//! do not count. Folders in it may be named as Hive does, like `day=2024-02-03`: then the table has
//! a further text column `day` after those of the files, percent-decoded. The value
//! `__HIVE_DEFAULT_PARTITION__` is a null. All files must be in such folders of the same columns.
//! Outputs have these columns as text.
//!
//! Arrow files (IPC) are also known as Feather (version 2). Streams are read too, if they have an
//! end. Output is a file, not compressed. A dictionary is written as its values, since it would
//! also hold those of other rows. Rows go from Arrow and Parquet to either with their types; a type
//! that the output does not have is an error at the start. Parquet has no timestamps in seconds:
//! they become milliseconds there.
//!
//! The endings of names tell formats: `.csv`, `.tsv`, `.txt` for lines, `.parquet`, and `.arrow`,
//! `.feather` or `.ipc`. Another format can be given instead. A file that begins like Parquet or
//! Arrow under another name, or that has their name and begins otherwise, is an error unless its
//! format is given.
//!
//! The rows that are written are the shared ones, the others, or all with a column that marks the
//! shared ones: [`Destination::choosing`]. They can get columns of the other party: [`share`]. Or
//! both parties write a row for each shared key in one order, so that their outputs belong together
//! line by line: [`AlignedRows`].
//!
//! # Memory
//!
//! A table can be in memory as Arrow data, as data frames are: [`Source::of_batches`]. It is what
//! an Arrow file of the same columns would be, and nothing of it is copied but the texts of keys
//! and the rows that are written. So are the rows that [`Destination::in_memory`] keeps of any
//! table: they have the types of an Arrow file, and are batches of at most 2^16 rows.
//!
//! # Text
//!
//! CSV follows RFC 4180: fields are separated by commas; the first line names the columns; a field
//! that begins with a quote ends at the next single one. TSV is IANA's
//! `text/tab-separated-values`: fields are separated by tabs, and a quote is a character like any
//! other, so no field holds a tab or a line break. A [`Dialect`] changes that: another delimiter,
//! another quote or none, no header, lines before it, or comments. Without a header the columns are
//! called 1, 2 and so on, the
//! first row shows how many there are, and the output has no header either.
//!
//! In a text without quotes a dialect can also have escapes, as PostgreSQL's `COPY` and MySQL write
//! them: `\t`, `\n`, `\r`, `\b`, `\v`, `\f`, `\0` and `\Z` mean control characters, `\\` a
//! backslash; a delimiter or a line feed after a backslash is a character of its field. A field
//! that is `\N` is null: an empty text, and no key. A backslash before anything else is an error.
//!
//! Texts are UTF-8, or UTF-16 if its byte order mark is there. A dialect can have another
//! [`Encoding`]; equal characters are equal keys in all of them. A byte order mark is skipped, and
//! must be that of the given encoding.
//!
//! Lines end in LF or CRLF. Blank lines are not rows, nor are comments and lines before the header,
//! if a dialect has such; they are not copied. Bytes that are not of the encoding, rows with too
//! many or too few fields, and faulty quotes are errors with line and field. Nothing is guessed or
//! repaired.
//!
//! Rows that are written in the source's own format keep its dialect, its encoding, and their
//! bytes. In another format they are written as is usual there, in UTF-8, with the header of the
//! source. A value that TSV cannot hold is an error.
//!
//! A text that is read in another way than it was written can still be a table, but its keys match
//! nothing: one with semicolons, where each line is one field of CSV, or with quotes around the
//! fields of TSV. Then there is a [`Doubt`].
//!
//! In a file of lines every line is a row, and a blank line is a row without a key.
//!
//! A text may be compressed, with gzip or Zstandard, if its name has a second ending for that, as
//! in `customers.csv.gz`. It is decompressed once, to a temporary file without a name; text that is
//! not UTF-8 is decoded in the same way. A stream that is damaged or cut off is an error. Nothing
//! else is taken for compressed: a file that begins like gzip or Zstandard under another name, or
//! on standard input, is an error.
//!
//! # Parquet
//!
//! Columns may be compressed with Snappy, gzip, Zstandard, LZ4 (both kinds) or Brotli; LZO and
//! encryption are errors if the column is needed. So is a row group whose columns disagree about
//! the number of its rows.
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
mod numbers;
mod progress;
mod read;
pub mod share;
mod source;
mod write;

pub use error::{Error, ErrorKind};
pub use inspection::Inspection;
pub use keys::{Counts, InspectedColumn, Items, MatchingRows, SharedKeys, TableKeys};
pub use numbers::{MAX_SCALE, Numbers, check_numbers, decimal::Decimal, fault::NumberFault};
pub use progress::Progress;
pub use psijoin_files::Existing;
pub use psijoin_key::{
    BadCells, BadCellsOfKey, BadKeys, ColumnRules, Country, DateFormat, Error as KeyError,
    KeyFault, KeySpec, Kind, Located, Look, Meaning, NullWords, Place, Places, Rule,
    SPELLING_VERSION, Suspicion, UnixUnit, Zone, is_panic_contained,
};
pub use read::{
    columns::Columns,
    doubt::Doubt,
    error::{Fault, ReadError},
    ipc::fault::ArrowFault,
    parquet::fault::ParquetFault,
    ragged::RaggedRows,
    text::MAX_RECORD_BYTES,
};
pub use share::error::ShareError;
pub use source::{
    Source,
    compression::Compression,
    dialect::Dialect,
    encoding::Encoding,
    error::{Difference, SourceError},
    foreign::Foreign,
    format::{Format, LINE_COLUMN},
    table_log::TableLog,
};
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
