//! The files of a table, of any format: found, opened, checked, and read as records of text or as
//! batches of typed columns.
//!
//! ```no_run
//! use psijoin_source::{Dialect, Progress, Source};
//!
//! let input = "customers.csv".as_ref();
//! let source = Source::open(input, None, &Dialect::default(), true, &Progress::default())?;
//! println!("{} columns of {}", source.columns()?.len(), source.description());
//! # Ok::<(), psijoin_source::Error>(())
//! ```
//!
//! The crate `psijoin-table` reads the keys of such a table, and writes rows of it. This one knows
//! which columns a key names and the texts of their values, and nothing of distinct keys, of the
//! other party or of outputs.
//!
//! # The rooms
//!
//! | room | contents |
//! |---|---|
//! | `source` | a table's files: finding and opening them, their format, compression, encoding and dialect |
//! | `read` | their content: text, Parquet, Arrow files (`ipc`) and tables in memory, as records or batches; the columns of the key in them |
//! | `numbers` | the cells of columns that are added up |
//!
//! # For readers of keys and rows
//!
//! | asked for | of a text ([`text`]) | of typed columns ([`typed`]) |
//! |---|---|---|
//! | columns by name | [`Source::header`], [`Header`](text::Header) | and [`Source::schema`], [`Source::check_key_types`], [`Source::check_number_types`] |
//! | rows, which threads read in parallel | [`Source::blocks`], [`Block::each_record`](text::Block::each_record) | [`Selection`](typed::Selection), [`Pieces`](typed::Pieces), [`TablePiece::read`](typed::TablePiece::read) |
//! | a cell | [`Record::field`](text::Record::field) | [`KeyColumn`](typed::KeyColumn), [`NumberColumn`](typed::NumberColumn), [`Column`](typed::Column) |
//! | rows again, where it is known where they begin | [`Source::text`], [`Block::new`](text::Block::new) | as before; a piece that is not read costs nothing |
//! | whether a file was changed meanwhile | [`Source::check_unchanged`] | as of a text |
//! | the form of the table, for another one | [`Layout`](text::Layout), [`Encoding`] | [`typed::without_claims`], [`typed::owned`] |
//!
//! # Keys
//!
//! A field of a key has one canonical text, which depends on its value and not on its type. So the
//! same value in another type or format is the same key:
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
//! types cannot be keys. [`typed::Column`] has other texts, which keep what a type shows: `1.50`,
//! `0.1`, `2024-02-29T13:05:00`.
//!
//! # Numbers
//!
//! A number is written with digits, with a sign, a decimal point and an exponent where needed, as
//! `-0.50` or `1.5e3`; spaces around it do not count; anything else is an error. Typed columns may
//! be text, integers, decimals of at most 18 places, and floating-point numbers, each of which
//! means the shortest decimal that reads back as that number, with one place at least (`2.0`). An
//! exponent moves the point: `1.50e1` shows one decimal, as `15.0` does.
//!
//! # Files
//!
//! A table is one file, or several with the same columns in the same order: named one by one, by a
//! pattern such as `export/*.csv` (`*`, `?`, `[ab]`, and `**` for any folders), or by the folder
//! that holds them. The rows are those of the files in the order of their absolute paths, compared
//! byte by byte, so that `part-10` is before `part-2`. A file that is there twice, or differs in
//! its columns (in Parquet and Arrow also in their types), is an error.
//!
//! A folder must hold files of Parquet or Arrow, at any depth; names that begin with `_` or `.`
//! do not count. Folders in it may be named as Hive does, like `day=2024-02-03`: then the table has
//! a further text column `day` after those of the files, percent-decoded. The value
//! `__HIVE_DEFAULT_PARTITION__` is a null. All files must be in such folders of the same columns.
//!
//! Arrow files (IPC) are also known as Feather (version 2). Streams are read too, if they have an
//! end.
//!
//! The endings of names tell formats: `.csv`, `.tsv`, `.txt` for lines, `.parquet`, and `.arrow`,
//! `.feather` or `.ipc`. Another format can be given instead. A file that begins like Parquet or
//! Arrow under another name, or that has their name and begins otherwise, is an error unless its
//! format is given.
//!
//! # Memory
//!
//! A table can be in memory as Arrow data, as data frames are: [`Source::of_batches`]. It is what
//! an Arrow file of the same columns would be, and nothing of it is copied.
//!
//! # Text
//!
//! CSV follows RFC 4180: fields are separated by commas; the first line names the columns; a field
//! that begins with a quote ends at the next single one. TSV is IANA's
//! `text/tab-separated-values`: fields are separated by tabs, and a quote is a character like any
//! other, so no field holds a tab or a line break. A [`Dialect`] changes that: another delimiter,
//! another quote or none, no header, lines before it, or comments. Without a header the columns are
//! called 1, 2 and so on, and the first row shows how many there are.
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
//! if a dialect has such. Bytes that are not of the encoding, rows with too many or too few fields,
//! and faulty quotes are errors with line and field. Nothing is guessed or repaired.
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

#![forbid(unsafe_code)]

mod error;
mod labels;
mod numbers;
mod progress;
mod read;
mod source;

pub use error::{Error, ErrorKind};
pub use labels::{LabelFault, MAX_LABEL_BYTES, check_labels};
pub use numbers::{MAX_SCALE, Number, check_numbers, decimal::Decimal, fault::NumberFault};
pub use progress::Progress;
pub use read::{
    columns::Columns,
    doubt::Doubt,
    error::{Fault, ReadError},
    ipc::fault::ArrowFault,
    parquet::fault::ParquetFault,
    ragged::RaggedRows,
    text::MAX_RECORD_BYTES,
};
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

pub mod text {
    //! Tables that are text, record by record.

    pub use crate::{
        read::{
            header::Header,
            text::{Block, Blocks, Extent, Needed, Record, Start, Text},
        },
        source::dialect::{Delimited, Layout},
    };
}

pub mod typed {
    //! Tables of typed columns, piece by piece, and the meaning of their columns.

    pub use crate::{
        numbers::NumberColumn,
        read::{
            arrow::{
                Column, ENUM, Full, Group, GroupRows, KeyColumn, PIECE_BYTES, PIECE_ROWS, Stored,
                batch_of, can_own, dictionary, has_text, is_universal_time, may_share, owned,
                parquet_type, per_second, universal_time, unknown_meaning, value_type,
                without_shared_texts,
            },
            row_claims::without_claims,
        },
        source::{Batch, Pieces, Selection, TableBatches, TablePiece},
    };
}
