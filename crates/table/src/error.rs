use std::{fmt, io};

use crate::{
    BadCells, Encoding, RaggedRows, WhichRows,
    alike::first_alike,
    bad_keys,
    compression::Compression,
    foreign::Foreign,
    format::{ENDINGS, Format, LINE_COLUMN},
    table_log::TableLog,
};
use arrow_schema::DataType;
use psijoin_printable::{Quoted, Word};

/// Why a table could not be read, or the matching rows could not be written.
///
/// The texts name files, lines and fields, and never hold a value of the table. Nor do they name
/// the columns of a text, except as the user called them, since the first record of a text without
/// a header is a row. `Debug` shows no more.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The normalisation is not written as `COLUMN=RULE+RULE`.
    #[error("{} is not of the form COLUMN=RULE+RULE", Quoted(.0))]
    RuleSyntax(String),

    /// No normalisation rule has this name.
    #[error(
        "there is no normalisation rule {}; \
         the rules are trim, lowercase, casefold, digits, nfc, nfkc, email, email:gmail, email:google, phone, phone:COUNTRY, \
         phone:column:COLUMN, null:WORDS, text, number, bool, uuid, date, date:FORMAT, date:excel, timestamp, timestamp:ZONE, \
         timestamp:unix, time and sha256",
        Quoted(.0)
    )]
    UnknownRule(String),

    /// A rule follows the one that makes hashes.
    #[error(
        "sha256 must be the last rule, as no other can read a hash: say the others before it, as in email+sha256"
    )]
    RuleAfterHash,

    /// A word for null is empty.
    #[error(
        "null: needs words with commas between them, none of them empty, as in null:none,-; or null:common"
    )]
    NoNullWord,

    /// Dates cannot be read by a format.
    #[error(
        "{} is not a format of dates: it must hold day, month and year, as in date:%d.%m.%Y",
        Quoted(.0)
    )]
    DateFormat(String),

    /// No numbering plan is known for a country.
    #[error(
        "{} is not a country with telephone numbers: give its two-letter ISO 3166 code, as in \
         phone:DE",
        Quoted(.0)
    )]
    UnknownCountry(String),

    /// The time zone database has no zone of this name.
    #[error(
        "there is no time zone {}: give a name of the IANA database, as in \
         timestamp:Europe/Berlin or timestamp:UTC, or an offset, as in timestamp:+01:00",
        Quoted(.0)
    )]
    UnknownZone(String),

    /// There is no such choice of rows.
    #[error("there are no rows {}; the rows to write are shared, unshared or all", Quoted(.0))]
    UnknownRows(String),

    /// Normalisation is given for a column that is no key column.
    #[error("normalisation is given for {}, which is not a key column{}", Quoted(.column), differs(key, .column))]
    RuleOutsideKey {
        /// The column as the user named it.
        column: String,
        /// The columns of the key.
        key: Vec<String>,
    },

    /// A column was named twice where each may be named once.
    #[error("the column {} is given twice", Quoted(.0))]
    Repeated(String),

    /// A delimiter or a quote cannot be told from a line's end, or from a part of a character.
    #[error("the {what} must be a single ASCII character, and no line break")]
    DialectByte {
        /// What it was meant to be.
        what: &'static str,
    },

    /// The delimiter is the quote too.
    #[error(
        "the delimiter and the quote are the same character: name another quote, or say that there is none"
    )]
    DelimiterIsQuote,

    /// Escapes and quotes cannot be told apart in every text.
    #[error(
        "escapes are for texts without quotes: leave them out, or say that there are no quotes"
    )]
    EscapesWithQuotes,

    /// The delimiter is a character that escapes are made of.
    #[error("in a text with escapes, the delimiter cannot be a letter, a digit or a backslash")]
    DelimiterOfEscapes,

    /// What is to begin a comment could begin a row as well.
    #[error(
        "a comment cannot begin with the delimiter, the quote, a letter, a digit or, in a text with escapes, a backslash, as \
         rows do (name another character, or remove the comments)"
    )]
    CommentCharacter,

    /// No encoding has this label.
    #[error(
        "there is no encoding {}; the encodings are utf-8, utf-16, utf-16le, utf-16be, and \
         those with a byte per character, as windows-1252, iso-8859-15 and koi8-r (convert the \
         file to UTF-8 first, as with iconv)",
        Quoted(.0)
    )]
    UnknownEncoding(String),

    /// What was decoded from this encoding may be encoded by other bytes.
    #[error(
        "{0} may write a text in several ways, so that rows would not be sure to keep their bytes: \
         convert the file to UTF-8 first, as with iconv"
    )]
    AmbiguousEncoding(&'static str),

    /// A dialect is given for a table that has none.
    #[error(
        "{file} is read as {format}: a delimiter, a quote, escapes, a missing header, lines to skip and comments are for CSV \
         and TSV, an encoding for these and lines"
    )]
    NoDialect {
        /// The file as the user named it.
        file: String,
        /// The table's format.
        format: Format,
    },

    /// Nulls are to be told from empty texts where there are none, or no way to write them.
    #[error(
        "quotes around empty texts tell them from nulls when Parquet or Arrow is written as CSV, but here \
         the table is {from} and the output {to}: leave them out"
    )]
    NoNulls {
        /// The format of the table.
        from: Format,
        /// The format of the output.
        to: Format,
    },

    /// Formulas are to be quoted where no spreadsheet looks for them.
    #[error(
        "quotes around formulas are for .csv and .tsv, in which spreadsheets look for formulas, but here the output is {to}: leave \
         them out"
    )]
    NoFormulas {
        /// The format of the output.
        to: Format,
    },

    /// The name of an input stands for no format.
    #[error(
        "cannot tell the format of {file} from its name: name it; the endings known are {ENDINGS} (a file \
         without an ending is read as text, one value per line, if no key column is given, and as CSV if a delimiter is; what is compressed in another way can be decompressed \
         to standard input)"
    )]
    InputEnding {
        /// The file as the user named it.
        file: String,
    },

    /// The input could not be opened.
    #[error("cannot open {file}: {source}")]
    Open {
        /// The file as the user named it.
        file: String,
        /// What the operating system says.
        source: io::Error,
    },

    /// Standard input was named beside other inputs.
    #[error(
        "standard input cannot be one of several inputs: give it alone, or write it to a file \
         first"
    )]
    StreamAmongFiles,

    /// No file has the name, or matches the pattern.
    #[error("no file matches {}", Word(.pattern))]
    NoMatch {
        /// The pattern as the user gave it.
        pattern: String,
    },

    /// The input is a folder without files.
    #[error(
        "the folder {folder} holds no files (those whose names begin with `_` or `.` do not count)"
    )]
    EmptyFolder {
        /// The folder as the user named it.
        folder: String,
    },

    /// The input is a folder that holds texts.
    #[error(
        "the folder {folder} holds a text, {file}: a folder is for Parquet or Arrow files; name texts by \
         a pattern that ends in /*.csv"
    )]
    TextInFolder {
        /// The folder as the user named it.
        folder: String,
        /// The text.
        file: String,
    },

    /// A folder's name holds a partition column's name or value, and is not UTF-8.
    #[error(
        "the path of {file} names columns as in day=2024-02-03/, and is not UTF-8: rename its \
         folders"
    )]
    PartitionName {
        /// A file in that folder.
        file: String,
    },

    /// A partition column has the name of another column.
    #[error(
        "the partition column {} (from the path of {file}) has the same name as another column: \
         rename one, or name the files by a pattern, so that their folders name no columns",
        Quoted(.column)
    )]
    PartitionColumn {
        /// A file of the table.
        file: String,
        /// The column.
        column: String,
    },

    /// A table's files have several formats.
    #[error(
        "{file} is read as {format}, and {first} as {first_format}: the files of a table must have \
         one format (if they do, name it: then their names do not matter)"
    )]
    MixedFormats {
        /// The file as the user named it.
        file: String,
        /// Its format.
        format: Format,
        /// The table's first file.
        first: String,
        /// That file's format.
        first_format: Format,
    },

    /// A file of a table has other columns than its first one.
    #[error(
        "{difference} {first}: the files of a table must have the same columns in the same order",
        difference = Differing { file, difference }
    )]
    DifferentParts {
        /// The file as the user named it.
        file: String,
        /// The table's first file.
        first: String,
        /// What differs.
        difference: Difference,
    },

    /// A file is there twice.
    #[error("{file} is given twice, the first time as {first}: its rows would count twice")]
    RepeatedFile {
        /// The file as it is named the second time.
        file: String,
        /// The file as it is named the first time.
        first: String,
    },

    /// The input could not be read to its end.
    #[error("cannot read {file}: {source}")]
    Read {
        /// The file as the user named it.
        file: String,
        /// What the operating system says.
        source: io::Error,
    },

    /// Standard input, or a file that is decompressed or decoded, could not be kept in a temporary
    /// file.
    #[error("cannot keep {file} in a temporary file: {source}")]
    Spool {
        /// The stream that was to be kept.
        file: String,
        /// What the operating system says.
        source: io::Error,
    },

    /// The input is something else than a table that can be read.
    #[error("{file} holds {foreign}")]
    Foreign {
        /// The file as the user named it.
        file: String,
        /// What it holds.
        foreign: Foreign,
    },

    /// A log beside the files says which of them are the table.
    #[error(
        "{folder} belongs to a table of {}, whose {} says which of its files count, and which of \
         their rows: write the table as one Parquet file with {}, or name the files of one version \
         one by one",
        .log.name(), .log.place(), .log.way_out()
    )]
    Logged {
        /// The folder as the user named it, or one above or below it.
        folder: String,
        /// What keeps the log.
        log: TableLog,
    },

    /// The input is compressed, and its name does not say so.
    #[error(
        "{file} holds data compressed with {compression}: read it from a file whose name ends in \
         {}, or decompress it first", .compression.ending()
    )]
    Compressed {
        /// The file as the user named it.
        file: String,
        /// How it is compressed.
        compression: Compression,
    },

    /// The input is not compressed as its name says.
    #[error(
        "{file} is not compressed with {compression}, as its name says (if it is a plain text, as after a download that \
         decompressed it, take {} off its name; or else get it again)", .compression.ending()
    )]
    NotCompressed {
        /// The file as the user named it.
        file: String,
        /// How its name says that it is compressed.
        compression: Compression,
    },

    /// The input cannot be decompressed to its end.
    #[error(
        "cannot decompress {file}: it is damaged or cut off, or something else follows what is compressed (`{} -t` checks \
         it; get it again)", .compression.program()
    )]
    Damaged {
        /// The file as the user named it.
        file: String,
        /// How its name says that it is compressed.
        compression: Compression,
    },

    /// The text begins with the byte order mark of another encoding than was said.
    #[error(
        "{file} begins with the byte order mark of {marked}, and its encoding was given as {said}: leave that out"
    )]
    OtherEncoding {
        /// The file as the user named it.
        file: String,
        /// The encoding that was said.
        said: Encoding,
        /// The encoding whose byte order mark is there.
        marked: Encoding,
    },

    /// The text begins as UTF-32 does, with a byte order mark or without.
    #[error("{file} is encoded in UTF-32, as its first bytes show: convert it to UTF-8 first")]
    Utf32 {
        /// The file as the user named it.
        file: String,
    },

    /// The input is not a Parquet file, or is a broken one.
    #[error("cannot read {file} as Parquet: {fault}")]
    Parquet {
        /// The file as the user named it.
        file: String,
        /// What is wrong.
        fault: ParquetFault,
    },

    /// The input is not an Arrow file or stream, or is a broken one.
    #[error("cannot read {file} as Arrow: {fault}")]
    Arrow {
        /// The file as the user named it.
        file: String,
        /// What is wrong.
        fault: ArrowFault,
    },

    /// The table in memory does not fit its schema.
    #[error("cannot read {table}: {reason}")]
    Frame {
        /// The table as the caller named it.
        table: String,
        /// What does not fit.
        reason: String,
    },

    /// The input is something else than its name says, or than an input without a name usually is.
    #[error("{}", Misnamed { file, format: *.format, found: *.found })]
    Misnamed {
        /// The file as the user named it.
        file: String,
        /// What it was taken for.
        format: Format,
        /// What it begins like, if that is known and is not text.
        found: Option<Format>,
    },

    /// The table has no header line.
    #[error("{file} has no header: its first line must name the columns (is it empty?)")]
    NoHeader {
        /// The file as the user named it.
        file: String,
    },

    /// The table has no header, as was said, and no row either.
    #[error("{file} has no rows: without a header, the first row shows how many columns there are")]
    NoRows {
        /// The file as the user named it.
        file: String,
    },

    /// A text breaks the format's rules.
    #[error("{file}, line {line}, field {field}: {fault}")]
    Malformed {
        /// The file as the user named it.
        file: String,
        /// The line on which the fault is, from 1.
        line: u64,
        /// The field in which it is, from 1.
        field: usize,
        /// What is wrong.
        fault: Fault,
    },

    /// A row has more or fewer fields than the header, or the first row.
    #[error(
        "{rows} {} has {expected} (does a field hold the delimiter, \
         without quotes around it? or is the file written in another way than it is read?)",
        match (.rows.found, .has_header) {
            (Some(_), true) => "where the header",
            (Some(_), false) => "where the first row",
            (None, true) => "than the header, which",
            (None, false) => "than the first row, which",
        }
    )]
    Ragged {
        /// The rows.
        rows: RaggedRows,
        /// The number of fields of the header, or of the first row.
        expected: usize,
        /// Whether the table has a header.
        has_header: bool,
    },

    /// The table has several columns, and no key column was named.
    #[error(
        "{file} has {} columns: its key columns have to be named{}",
        .columns.count(), .columns.behind_their_number()
    )]
    NoKey {
        /// The file as the user named it.
        file: String,
        /// The table's columns.
        columns: Columns,
    },

    /// The table has no column of this name.
    #[error("{file} has no column {}; {columns}", Quoted(.column))]
    MissingColumn {
        /// The file as the user named it.
        file: String,
        /// The column asked for.
        column: String,
        /// The table's columns.
        columns: Columns,
    },

    /// The table has more than one column of this name.
    #[error(
        "{file} has more than one column {}: the name of a column that is read must \
         be unique (rename one of them)",
        Quoted(.column)
    )]
    AmbiguousColumn {
        /// The file as the user named it.
        file: String,
        /// The column asked for.
        column: String,
    },

    /// Cells of the key have no canonical text, and may not count as null.
    #[error("{}", bad_keys::listed(.0))]
    Key(Vec<BadCells>),

    /// More cells of the key have no canonical text than may count as null.
    #[error(
        "{bad} of {rows} rows have a cell of the key that cannot be read, which is more than {at_most_percent} %: {}",
        bad_keys::listed(.cells)
    )]
    TooManyBadKeys {
        /// How many rows have such cells.
        bad: u64,
        /// All rows.
        rows: u64,
        /// How many may have some, in percent of all rows.
        at_most_percent: f64,
        /// The cells.
        cells: Vec<BadCells>,
    },

    /// This does not say what becomes of cells of the key that have no canonical text.
    #[error(
        "{} does not say what becomes of keys that cannot be read: say refuse, null, or null with the most rows that may have \
         some, as in null:5%",
        Quoted(.0)
    )]
    UnknownBadKeys(String),

    /// The values of this column have no canonical text.
    #[error(
        "{file}: the column {} holds {data_type}, which cannot be a key \
         (keys are text, numbers, booleans, dates, times or binary data)",
        Quoted(.column)
    )]
    KeyType {
        /// The file as the user named it.
        file: String,
        /// The key column.
        column: String,
        /// Its type.
        data_type: DataType,
    },

    /// The values of this column stand for something that its type does not say.
    #[error(
        "{file}: the column {} holds values of the type {}, for which psijoin knows no one spelling: convert them to text, \
         numbers, booleans, dates or times first",
        Quoted(.column),
        Word(.meant)
    )]
    UnknownMeaning {
        /// The file as the user named it.
        file: String,
        /// The column.
        column: String,
        /// The extension type of Arrow, or the logical type of Parquet.
        meant: String,
    },

    /// Cells of columns of numbers cannot be added up.
    #[error("{}", bad_keys::listed(.0))]
    Number(Vec<BadCells<NumberFault>>),

    /// The values of this column are no numbers.
    #[error(
        "{file}: the column {} holds {data_type}, which cannot be added up \
         (text, integers, decimals with at most 18 places and floating-point numbers can)",
        Quoted(.column)
    )]
    NumberType {
        /// The file as the user named it.
        file: String,
        /// The column of numbers.
        column: String,
        /// Its type.
        data_type: DataType,
    },

    /// The table holds more rows than can be numbered.
    #[error(
        "{file} has more than {} rows, the most that one table can have: divide it and run once for \
         each part",
        crate::MAX_ROWS
    )]
    TooManyRows {
        /// The table as the user named it.
        file: String,
    },

    /// The table holds more distinct keys than the protocols can take.
    #[error(
        "{file} has more than {} distinct keys, the most that one run can take",
        crate::MAX_ITEMS
    )]
    TooManyItems {
        /// The file as the user named it.
        file: String,
    },

    /// What does not fit into memory could not be put on disk, or not be had back from there.
    #[error(transparent)]
    Spill(#[from] psijoin_spill::Error),

    /// The input is not what it was when the keys were read.
    #[error("{file} was changed while it was in use: run again")]
    Changed {
        /// The file as the user named it.
        file: String,
    },

    /// The name of the output stands for no format.
    #[error("cannot tell the format of {file} from its name: the endings known are {ENDINGS}")]
    OutputEnding {
        /// The file as the user named it.
        file: String,
    },

    /// The output is a directory.
    #[error("cannot write {file}: it is a directory")]
    OutputIsDirectory {
        /// The file as the user named it.
        file: String,
    },

    /// The output would replace the input.
    #[error("cannot write {file}: it is the input")]
    OutputIsInput {
        /// The file as the user named it.
        file: String,
    },

    /// The output would be one of the inputs the next time.
    #[error(
        "cannot write {file}: the next run would read it as a part of the input (write it \
         outside of the folder, or with a name that the pattern does not match)"
    )]
    OutputAmongInputs {
        /// The file as the user named it.
        file: String,
    },

    /// The output could not be created.
    #[error("cannot create {file}: {source}")]
    Create {
        /// The file as the user named it.
        file: String,
        /// What the operating system says.
        source: io::Error,
    },

    /// No columns are given or taken, or too many.
    #[error("between 1 and 256 columns can be given")]
    GivenCount,

    /// A column cannot be given.
    #[error("the column {} cannot be shared with the partner: {reason}", Quoted(.column))]
    CannotGive {
        /// The column as the user named it.
        column: String,
        /// Why not, and what to do.
        reason: String,
    },

    /// A column is to be taken that the other party does not offer.
    #[error(
        "the other party does not offer the column {}; it offers {}{}",
        Quoted(.column),
        listed(offered),
        differs(offered, .column)
    )]
    NotOffered {
        /// The column as the user named it.
        column: String,
        /// The columns that it offers.
        offered: Vec<String>,
    },

    /// Several rows have one key, and one of them is to be given.
    #[error(
        "{rows} of the rows repeat a key, the first of them row {first} of the table, and only one row per \
         key can be given: remove the others, or let the first row count, or give a list of rows for each key"
    )]
    RepeatedKeys {
        /// How many rows have the key of an earlier one.
        rows: u64,
        /// The first of them, from 1, the header not counted.
        first: u64,
    },

    /// More rows have one key than are given.
    #[error(
        "row {row} of the table has a key that {most} rows before have, and no more can be given: allow more \
         rows per key, or remove some"
    )]
    TooManyRepeated {
        /// The first row that is too many, from 1, the header not counted.
        row: u64,
        /// How many rows per key may be given.
        most: u16,
    },

    /// Several rows have one key, and one row per key is to be written.
    #[error(
        "{rows} of the rows repeat a key, the first of them row {first} of the table, and aligned rows are one per \
         key: remove the others, or let the first row of each key count"
    )]
    RepeatedAligned {
        /// How many rows have the key of an earlier one.
        rows: u64,
        /// The first of them, from 1, the header not counted.
        first: u64,
    },

    /// Lists of rows with one key are to be aligned.
    #[error(
        "aligned rows are one per key, and no lists: refuse repeated keys, or let the first row of each count"
    )]
    AlignedList,

    /// Other rows than shared ones are to be aligned.
    #[error(
        "only shared rows can be aligned, since the others have no counterpart: write these alone, or do not align them"
    )]
    AlignedOthers(WhichRows),

    /// A row does not fit into the bytes that are given for it.
    #[error(
        "{file}: row {row} of the table takes more than {most_bytes} bytes in the columns that are given: allow \
         more, or give fewer columns"
    )]
    LongRow {
        /// The table as the user named it.
        file: String,
        /// The row, from 1, the header not counted.
        row: u64,
        /// How many bytes a row may take.
        most_bytes: usize,
    },

    /// Payloads would be too long, or rows too short.
    #[error(
        "{rows} rows of {row_bytes} bytes cannot be given for a key: they must take no more than 65,535 bytes, and \
         each row a byte for every eight columns: give fewer columns or rows, or other bytes for each"
    )]
    PayloadBytes {
        /// The bytes of a row.
        row_bytes: usize,
        /// The most rows of a key.
        rows: u16,
    },

    /// What the other party tells of its columns makes no sense.
    #[error("what the other party offers {0}: it is broken, cheats, or is of another version")]
    MalformedOffer(&'static str),

    /// A value that is to be given is none of its type.
    #[error(
        "{file}: row {row} of the table {what} in its column {}: correct it, or leave the column out",
        Quoted(column)
    )]
    InvalidValue {
        /// The table as the user named it.
        file: String,
        /// The row, from 1, the header not counted.
        row: u64,
        /// The column.
        column: String,
        /// What is wrong.
        what: &'static str,
    },

    /// What the other party gives is not what it offered.
    #[error("{}: the other party's program is broken, or cheats", malformed_payload(*row, column.as_deref(), what))]
    MalformedPayload {
        /// The row of this party's table that it is for, from 1, the header not counted. `None` if
        /// that is not known.
        row: Option<u64>,
        /// The other party's column, if it is a value that is wrong.
        column: Option<String>,
        /// What is wrong.
        what: &'static str,
    },

    /// The format of the output cannot hold the table.
    #[error("cannot write {file}: {reason}")]
    Unfit {
        /// The file as the user named it.
        file: String,
        /// Why the format does not fit, and what would.
        reason: String,
    },

    /// The output could not be written. If it was a file, nothing is left of it, unless it has its
    /// name and only a power cut could undo that.
    #[error("cannot write {file}: {source}")]
    Write {
        /// The file as the user named it.
        file: String,
        /// What the operating system says.
        source: io::Error,
    },

    /// [`Progress::interrupt`](crate::Progress::interrupt) was called.
    #[error("interrupted")]
    Interrupted,
}

/// Who has to do something about an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The program was called wrongly, as with a normalisation rule that does not exist.
    Usage,
    /// The input cannot be joined as it is.
    Input,
    /// The output cannot be written.
    Output,
    /// The other party sent what it must not.
    Peer,
    /// Whoever read the output stream went away, as `head` does. Often no failure at all.
    BrokenPipe,
    /// The user stopped the program.
    Interrupted,
}

impl Error {
    /// The error of a row whose place counts from a line, or row, that has this many before it.
    pub(crate) fn later(mut self, by: u64) -> Self {
        match &mut self {
            Self::Malformed { line, .. } => *line += by,
            Self::Ragged { rows, .. } => rows.places.move_on(by),
            Self::Number(sorts) => sorts.iter_mut().for_each(|cells| cells.places.move_on(by)),
            _ => {}
        }
        self
    }

    /// Who has to do something about this error.
    pub fn kind(&self) -> ErrorKind {
        use Error::*;
        match self {
            RuleSyntax(_)
            | UnknownRule(_)
            | RuleAfterHash
            | NoNullWord
            | DateFormat(_)
            | UnknownCountry(_)
            | UnknownZone(_)
            | UnknownBadKeys(_)
            | UnknownRows(_)
            | RuleOutsideKey { .. }
            | Repeated(_)
            | DialectByte { .. }
            | DelimiterIsQuote
            | EscapesWithQuotes
            | DelimiterOfEscapes
            | CommentCharacter
            | UnknownEncoding(_)
            | AmbiguousEncoding(_)
            | StreamAmongFiles
            | NoDialect { .. }
            | GivenCount
            | NotOffered { .. }
            | PayloadBytes { .. }
            | AlignedList
            | AlignedOthers(_)
            | NoNulls { .. }
            | NoFormulas { .. } => ErrorKind::Usage,
            MalformedOffer(_) | MalformedPayload { .. } => ErrorKind::Peer,
            OutputEnding { .. }
            | OutputIsDirectory { .. }
            | OutputIsInput { .. }
            | OutputAmongInputs { .. }
            | Create { .. }
            | Unfit { .. } => ErrorKind::Output,
            Write { source, .. } if source.kind() == io::ErrorKind::BrokenPipe => {
                ErrorKind::BrokenPipe
            }
            Write { .. } | Spill(_) => ErrorKind::Output,
            Interrupted => ErrorKind::Interrupted,
            InputEnding { .. }
            | Open { .. }
            | NoMatch { .. }
            | EmptyFolder { .. }
            | TextInFolder { .. }
            | PartitionName { .. }
            | PartitionColumn { .. }
            | MixedFormats { .. }
            | DifferentParts { .. }
            | RepeatedFile { .. }
            | Read { .. }
            | Spool { .. }
            | Compressed { .. }
            | Foreign { .. }
            | Logged { .. }
            | NotCompressed { .. }
            | Damaged { .. }
            | OtherEncoding { .. }
            | Utf32 { .. }
            | Parquet { .. }
            | Arrow { .. }
            | Frame { .. }
            | Misnamed { .. }
            | NoHeader { .. }
            | NoRows { .. }
            | Malformed { .. }
            | Ragged { .. }
            | NoKey { .. }
            | MissingColumn { .. }
            | AmbiguousColumn { .. }
            | Key(_)
            | TooManyBadKeys { .. }
            | KeyType { .. }
            | UnknownMeaning { .. }
            | Number(_)
            | NumberType { .. }
            | CannotGive { .. }
            | TooManyRows { .. }
            | TooManyItems { .. }
            | RepeatedKeys { .. }
            | TooManyRepeated { .. }
            | RepeatedAligned { .. }
            | LongRow { .. }
            | InvalidValue { .. }
            | Changed { .. } => ErrorKind::Input,
        }
    }
}

fn malformed_payload(row: Option<u64>, column: Option<&str>, what: &str) -> String {
    let row = match row {
        Some(row) => format!("what the other party gives for row {row} of the table"),
        None => "a row that the other party gives".to_owned(),
    };
    match column {
        Some(column) => format!("{row} {what} in its column {}", Quoted(column)),
        None => format!("{row} {what}"),
    }
}

/// How a file's columns differ from those of the first file of its table. Columns have numbers
/// from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// There are more or fewer.
    Count {
        /// The file's number of columns.
        found: usize,
        /// The first file's number of columns.
        expected: usize,
    },
    /// A column has another name.
    Name {
        /// The first such column.
        column: usize,
    },
    /// A column has another type.
    Type {
        /// The first such column.
        column: usize,
        /// Its type in the file.
        found: String,
        /// Its type in the first file.
        expected: String,
    },
    /// The folders' names hold other columns.
    Partition,
    /// The text is encoded in another way.
    Encoding,
}

/// That a file is not what it was taken for.
struct Misnamed<'a> {
    file: &'a str,
    format: Format,
    found: Option<Format>,
}

impl fmt::Display for Misnamed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            format,
            found,
        } = self;
        match found {
            Some(found) => write!(
                f,
                "{file} is read as {format} unless you say otherwise, and seems to hold {found}: \
                 name its format",
            ),
            None => write!(
                f,
                "{file} is named like {format}, and is damaged or something else: name its \
                 format, or get it again"
            ),
        }
    }
}

/// The beginning of a sentence that ends with the first file.
struct Differing<'a> {
    file: &'a str,
    difference: &'a Difference,
}

impl fmt::Display for Differing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file;
        match self.difference {
            Difference::Count { found, expected } => {
                let plural = if *found == 1 { "" } else { "s" };
                write!(f, "{file} has {found} column{plural}, not {expected} as")
            }
            Difference::Name { column } => {
                write!(f, "column {column} of {file} has another name than in")
            }
            Difference::Type {
                column,
                found,
                expected,
            } => write!(
                f,
                "column {column} of {file} holds {found}, not {expected} as in"
            ),
            Difference::Encoding => write!(f, "{file} is encoded in another way than"),
            Difference::Partition => {
                write!(f, "the folders of {file} name other columns than those of")
            }
        }
    }
}

/// What can be wrong with a field of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Bytes that are not UTF-8.
    #[error("not UTF-8 (say how the file is encoded, or save it as UTF-8)")]
    NotUtf8,
    /// Bytes that the encoding does not define, be it given or that of a byte order mark.
    #[error("not {0} (the file is damaged, or encoded in another way)")]
    NotEncoded(Encoding),
    /// A quoted field that never ends.
    #[error(
        "a quote is opened and never closed (if quotes are mere characters in this file, say that \
         it has no quotes)"
    )]
    UnclosedQuote,
    /// Text between a closing quote and the end of the field.
    #[error(
        "text after the closing quote (a quote within quotes is written twice; if quotes are mere \
         characters in this file, say that it has no quotes)"
    )]
    TextAfterQuote,
    /// A backslash that begins no escape, in a text with escapes.
    #[error(
        "an invalid escape sequence (a backslash itself is written twice; if backslashes \
         are mere characters in this file, read it without escapes; delete a last line \\., which is an end mark)"
    )]
    UnknownEscape,
    /// A carriage return that is not part of a line ending.
    #[error("a carriage return without a line feed (lines must end in LF or CRLF)")]
    BareCarriageReturn,
    /// A record longer than [`MAX_RECORD_BYTES`](crate::MAX_RECORD_BYTES).
    #[error(
        "the record is longer than 64 MiB (is a quote left open? if quotes are mere characters in \
         this file, say that it has no quotes)"
    )]
    TooLong,
}

/// Where a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Place {
    /// On this line of a text, from 1.
    Line(u64),
    /// The row of this number, from 1, in a format without lines.
    Row(u64),
}

impl Place {
    /// The place this many lines, or rows, further on.
    pub(crate) fn later(self, by: u64) -> Self {
        match self {
            Self::Line(line) => Self::Line(line + by),
            Self::Row(row) => Self::Row(row + by),
        }
    }

    /// The number of the line, or row.
    pub fn number(self) -> u64 {
        match self {
            Self::Line(number) | Self::Row(number) => number,
        }
    }

    /// What is counted: `line`, or `row`.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Line(_) => "line",
            Self::Row(_) => "row",
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.unit(), self.number())
    }
}

/// What can be wrong with a cell of a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFault {
    /// A floating-point number that may stand for several values.
    #[error(
        "a floating-point number that stands for no single whole number (it must be whole, and \
         below 2^53, 2^24 or 2^11 in 64, 32 or 16 bits; cast the column to decimal, text or \
         integer)"
    )]
    InexactFloat,
    /// The rule `number` cannot read it.
    #[error(
        "not a number (the rule `number` reads digits, with a sign, a decimal point and an \
         exponent where needed, and no thousands separator or unit; correct or empty the cell)"
    )]
    NotANumber,
    /// The rule `number` would need very many digits for it.
    #[error(
        "a number with an exponent beyond 1000 (correct or empty the cell, or compare the column \
         as text)"
    )]
    Exponent,
    /// The rule `bool` cannot read it.
    #[error(
        "not a truth value (the rule `bool` reads true and false, t and f, yes and no, y and n, 1 \
         and 0; correct or empty the cell)"
    )]
    NotABool,
    /// The rule `uuid` cannot read it.
    #[error(
        "not a UUID (the rule `uuid` reads 32 hexadecimal digits, with all hyphens or none, \
         between braces or behind `urn:uuid:`; correct or empty the cell)"
    )]
    NotAUuid,
    /// The rule `date` cannot read it.
    #[error(
        "not a date (the rule `date` reads 2024-02-29, 20240229 and timestamps at midnight; if dates are written \
         otherwise, give their format, as in date:%d.%m.%Y; or correct or empty the cell)"
    )]
    NotADate,
    /// It is not a date of the format that the user gave.
    #[error("not a date of the format {} (give another format, or correct or empty the cell)", Quoted(.0))]
    NotOfFormat(String),
    /// The rule `timestamp` cannot read it.
    #[error(
        "not a timestamp (the rule `timestamp` reads 2024-02-29 13:05:00, with T in place of the \
         space, a fraction of the second, and Z or an offset such as +01:00 where there are any; \
         correct or empty the cell)"
    )]
    NotATimestamp,
    /// The clocks of the zone that the user gave showed this time twice.
    #[error(
        "a local time that {} had twice, as its clocks were set back (give it with its offset, \
         such as +01:00, or in universal time with a Z, or empty the cell)",
        Quoted(.0)
    )]
    RepeatedLocalTime(String),
    /// The clocks of the zone that the user gave never showed this time.
    #[error(
        "a local time that does not exist in {}, as clocks moved forward (is it a time of \
         another zone? if not, correct or empty the cell)",
        Quoted(.0)
    )]
    SkippedLocalTime(String),
    /// The rules of time zones are not known for this year.
    #[error(
        "a local time outside of the years -9999 to 9999 (give it in universal time with a Z, or \
         correct or empty the cell)"
    )]
    FarLocalTime,
    /// The rule `time` cannot read it.
    #[error(
        "not a time of day (the rule `time` reads 13:05 and 13:05:00, with a fraction of the \
         second where there is one, and 1:05 PM, and no zone; correct or empty the cell)"
    )]
    NotATime,
    /// It is not a telephone number of the country that the user gave, nor of another.
    #[error(
        "not a telephone number (the rule `phone:{0}` reads numbers of this country with their \
         area, and international ones with a + or the prefix that is dialled for it; correct or \
         empty the cell)"
    )]
    NotAPhoneNumber(String),
    /// It is not a telephone number of the country in the row, nor of another.
    #[error(
        "not a telephone number of the country in this row's column {} (numbers of it have their area, and others a + or the \
         prefix that is dialled for it; correct or empty the cell)",
        Quoted(.0)
    )]
    NotAPhoneNumberThere(String),
    /// It has no country code, and the row does not name a country.
    #[error(
        "a telephone number without a country code, in a row whose column {} is not the two-letter ISO 3166 code of a country, such \
         as DE (give the code, or the number with a + and its country code, or empty the cell)",
        Quoted(.0)
    )]
    NoCountry(String),
    /// The rule `text` finds bytes that are no text.
    #[error(
        "bytes that are no text in UTF-8 (correct or empty the cell, or leave out the rule `text`)"
    )]
    NotUtf8,
    /// The rule `timestamp:unix` cannot read it.
    #[error(
        "not a time since 1970 (the rule `timestamp:{0}` reads numbers; correct or empty the cell)"
    )]
    NotUnixTime(String),
    /// The rule `date:excel` cannot read it.
    #[error(
        "not the number of a day in Excel (the rule `date:excel` reads whole numbers from 1, for 1900-01-01, to 2958465, for \
         9999-12-31, without 60, which no day has; correct or empty the cell)"
    )]
    NotAnExcelDate,
    /// The rule `sha256` cannot read it.
    #[error(
        "not a SHA-256 hash (the rule `sha256` alone reads 64 hexadecimal digits, or Base64; if the column holds plain values, say \
         how they are normalised before they are hashed, as in email+sha256 or trim+sha256)"
    )]
    NotASha256,
    /// The rule `sha256` would hash what seems to be a hash.
    #[error(
        "it looks like a SHA-256 hash already, and would be hashed again (if the column holds hashes, say sha256 alone; if only \
         some cells do, divide the table)"
    )]
    HashedAlready,
}

/// What can be wrong with a cell of a column of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NumberFault {
    /// It holds something else.
    #[error(
        "not a number (a number is written as 1234, -0.50 or 1.5e3, without a unit; write 1234.5 \
         for 1,234.5 and 1.5 for 1,5; correct or empty the cell)"
    )]
    NotANumber,
    /// It would have very many digits.
    #[error("a number with an exponent beyond 1000 (correct or empty the cell)")]
    Exponent,
    /// It has more than [`MAX_SCALE`](crate::MAX_SCALE) decimals.
    #[error("a number of more than 18 decimals (round it)")]
    TooManyDecimals,
    /// The column's positive numbers, or the negative ones, add up to too much, at this many
    /// decimals.
    #[error(
        "the running total overflows 64 bits, at {} (round to fewer \
         decimals, or give larger units, as thousands for ones)", decimals(*.0)
    )]
    Overflow(u32),
}

fn decimals(count: u32) -> String {
    match count {
        1 => "1 decimal".to_owned(),
        _ => format!("{count} decimals"),
    }
}

/// What an error says about a table's columns.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Columns {
    /// Their names, where they are names for sure.
    Named(Vec<String>),
    /// How many there are, where the first record may be no header but a row:
    /// [`Source::columns`](crate::Source::columns) tells them.
    Counted(usize),
    /// There is one, and a character in its name suggests that it is several: what this character
    /// is called.
    Undivided(&'static str),
    /// One differs from the one asked for in nothing that is easily noticed.
    Alike {
        /// How many there are.
        count: usize,
        /// Which one that is, from 1.
        position: usize,
        /// Its name, if it is a name for sure.
        name: Option<String>,
        /// What differs.
        difference: String,
        /// Whether it can be named by its position.
        has_positions: bool,
    },
    /// The only column of a file of lines.
    Lines,
}

/// At most this many columns are listed in an error.
const LISTED: usize = 20;

impl Columns {
    /// How many there are.
    pub fn count(&self) -> usize {
        match self {
            Self::Named(names) => names.len(),
            Self::Counted(count) | Self::Alike { count, .. } => *count,
            Self::Undivided(_) | Self::Lines => 1,
        }
    }

    /// What follows the part of a sentence that says how many there are.
    fn behind_their_number(&self) -> String {
        match self {
            Self::Named(names) if !names.is_empty() => format!("; {self}"),
            _ => String::new(),
        }
    }
}

impl fmt::Display for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lines => write!(
                f,
                "it is read as lines, and their only column is `{LINE_COLUMN}`: if it has several columns, name its \
                 format"
            ),
            Self::Alike {
                position,
                name,
                difference,
                has_positions,
                ..
            } => {
                write!(f, "its column {position}")?;
                if let Some(name) = name {
                    write!(f, ", {},", Quoted(name))?;
                }
                write!(f, " differs from that in {difference} only")?;
                match has_positions {
                    true => write!(
                        f,
                        ": if it is meant, say column:{position}, or copy its name"
                    ),
                    false => Ok(()),
                }
            }
            Self::Named(names) => match &names[..] {
                [] => f.write_str("it has no columns"),
                [only] => write!(f, "its only column is {}", Quoted(only)),
                _ => write!(f, "its columns are {}", listed(names)),
            },
            Self::Undivided(delimiter) => write!(
                f,
                "it has 1 column, whose name holds a {delimiter}: if that divides columns, name \
                 it as the delimiter"
            ),
            Self::Counted(1) => f.write_str("it has 1 column"),
            Self::Counted(count) => write!(f, "it has {count} columns"),
        }
    }
}

/// What follows a sentence that says that none of these has this name, if one is nearly called so.
fn differs(names: &[String], name: &str) -> String {
    match first_alike(names.iter().map(String::as_str), name) {
        Some((index, difference)) => {
            format!(
                "; {} differs from that in {difference} only",
                Quoted(&names[index])
            )
        }
        None => String::new(),
    }
}

fn listed(names: &[String]) -> String {
    let mut text = names
        .iter()
        .take(LISTED)
        .map(|name| Quoted(name).to_string())
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > LISTED {
        text += &format!(" and {} more", names.len() - LISTED);
    }
    text
}

/// What can be wrong with a Parquet file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParquetFault {
    /// It does not end as Parquet files do.
    #[error("its end is missing: it is cut off, or no Parquet file (get it again)")]
    CutOff,
    /// The description of its columns and rows makes no sense.
    #[error(
        "its footer, which describes its columns and rows, is damaged or written wrongly (get it \
         again, or write it again with another program)"
    )]
    Footer,
    /// It has no columns.
    #[error("it has no columns")]
    NoColumns,
    /// Its rows do not fit their description.
    #[error("its columns hold other types than its footer says (write it again, or get it again)")]
    Types,
    /// It has a part of the format that is not read.
    #[error(
        "it is written in a way that is not supported (write it again with another program, or \
         its default settings)"
    )]
    Unsupported,
    /// A column is compressed with LZO.
    #[error(
        "its column {} is compressed with LZO, which is not supported (compress it with \
         Zstandard, Snappy, gzip, LZ4 or Brotli, or not at all)",
        Quoted(.column)
    )]
    Lzo {
        /// The column, which is one that is needed.
        column: String,
    },
    /// A column has a type that is not known.
    #[error(
        "its column {} holds {kind}, a type that is not known (cast it to a decimal or to text, or leave it out)",
        Quoted(.column)
    )]
    UnknownType {
        /// The column, which is one that is needed.
        column: String,
        /// Its type.
        kind: String,
    },
    /// A column is written in a way that is not known, perhaps by a later version of the format.
    #[error(
        "its column {} is {form} that is not known (write it again with usual settings, or leave it out)",
        Quoted(.column)
    )]
    UnknownForm {
        /// The column, which is one that is needed.
        column: String,
        /// How it is written.
        form: String,
    },
    /// A page is not what was written.
    #[error("the checksum of a page does not fit: the page is damaged (get the file again)")]
    Checksum,
    /// The row groups do not have as many rows as the footer says.
    #[error(
        "its row groups have other rows together than its footer says (write it again, or get it again)"
    )]
    Rows,
    /// A header contradicts another, or the footer.
    #[error("its column {} {contradiction} (write the file again, or get it again)", Quoted(.column))]
    Contradiction {
        /// The column, which is one that is needed.
        column: String,
        /// What does not fit.
        contradiction: &'static str,
    },
    /// A column holds timestamps of 96 bits for which no timestamp of 64 bits has room.
    #[error(
        "its column {} holds INT96 timestamps that no timestamp of 64 bits holds exactly: too far from today in \
         nanoseconds, or too fine for microseconds (write it as text, or in microseconds)",
        Quoted(.column)
    )]
    Int96 {
        /// The column, which is one that is needed.
        column: String,
    },
    /// A column holds intervals, of which a part would be lost.
    #[error(
        "its column {} holds INTERVAL values, of which psijoin would lose the months, or days and milliseconds (write it as \
         text, or as columns of numbers)",
        Quoted(.column)
    )]
    Interval {
        /// The column, which is one that is needed.
        column: String,
    },
    /// Its footer is encrypted, and so the rest is of no use.
    #[error("it is encrypted (write it again without encryption)")]
    Encrypted,
    /// A column is encrypted.
    #[error("its column {} is encrypted (write it again without encryption)", Quoted(.column))]
    EncryptedColumn {
        /// The column, which is one that is needed.
        column: String,
    },
}

/// What can be wrong with an Arrow file or stream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArrowFault {
    /// Its end is missing.
    #[error("it is cut off, or neither an Arrow file nor a stream (get it again)")]
    CutOff,
    /// The description of its columns, or of a block of rows, makes no sense.
    #[error(
        "the description of its columns, or of a block of rows, is damaged, or it is neither an \
         Arrow file nor a stream (get it again)"
    )]
    Description,
    /// A block or buffer is said to be longer than it can be.
    #[error(
        "a block of rows, or a part of it, is said to be longer than it can be: it is damaged or \
         cut off (get it again)"
    )]
    Claims,
    /// It holds an array of several dimensions, and no table.
    #[error("it holds a tensor, and no table (write it as a table of columns first)")]
    Tensor,
    /// Rows cannot be decoded.
    #[error(
        "a block of rows, or a dictionary, cannot be decoded, as it is damaged (get it again, or \
         write it again)"
    )]
    Rows,
    /// Texts are something else.
    #[error("a column of texts holds some that are not UTF-8 (write it again as binary data)")]
    NotUtf8,
    /// Its rows do not fit their description.
    #[error("its columns hold other types than its schema says (write it again, or get it again)")]
    Types,
    /// A stream ends behind a whole message, and without the mark that ends it.
    #[error(
        "it is a stream without an end mark, so rows may be missing that nobody would miss (if it is whole, write it \
         again as an Arrow file or as Parquet, or close its writer, which writes the mark)"
    )]
    NoEndMark,
    /// Something follows the mark that ends a stream.
    #[error(
        "its stream has an end mark, and something follows, perhaps another stream (write each to a file of its own, \
         and name them all)"
    )]
    BehindEnd,
    /// A file's footer does not list the blocks, or the columns, that are in it.
    #[error(
        "its footer lists other columns or blocks of rows than are in it (write it again, or get it again)"
    )]
    Footer,
    /// The buffers of a block do not lie one behind the other.
    #[error(
        "the buffers of a block of rows overlap, or there is something between them (write it again, or get it again)"
    )]
    Buffers,
    /// A column has nulls, and counts none.
    #[error("a column has nulls, and says that it has none (write it again, or get it again)")]
    Nulls,
    /// Its numbers are in the other byte order.
    #[error(
        "its numbers are big-endian, which is not read (write it again on another machine, or as Parquet)"
    )]
    BigEndian,
    /// A column that is needed has a type that is not known.
    #[error(
        "its column {} holds {kind}, a type that is not known (cast it to a decimal or to text, or leave it out)",
        Quoted(.column)
    )]
    UnknownType {
        /// The column.
        column: String,
        /// Its type.
        kind: String,
    },
    /// A column has a type of which it is not even known how it is laid out, so others cannot be
    /// found behind it.
    #[error(
        "its column {} holds {kind}, and the columns behind it cannot be found (write the table again without it, or as \
         Parquet)",
        Quoted(.column)
    )]
    UnknownLayout {
        /// The column.
        column: String,
        /// Its type.
        kind: String,
    },
}

/// An error without what a library has put around it, such as names of temporary files and values
/// of the table.
pub(crate) fn nameless(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(_) => error,
        None => error.kind().into(),
    }
}
