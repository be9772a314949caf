//! A party's table, and its key.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use psijoin_session::names;
use psijoin_table::{BadKeys, ColumnRules, Error, KeySpec};

use crate::dialect;

/// The input of a party.
#[derive(ClapArgs)]
#[command(next_help_heading = "Input")]
pub(crate) struct Table {
    /// This party's table: CSV, TSV, Parquet, Arrow or lines.
    ///
    /// The file's name ends in .csv, .tsv, .parquet, .arrow or .txt (one value per line); a text
    /// may also be compressed, as .csv.gz or .csv.zst. - is standard input: CSV if --key is given,
    /// else lines. A file with another ending is read as CSV if --delimiter, --quote, --escapes,
    /// --no-header, --skip-lines or --comment is given. Several files with the same columns are
    /// one table, in the order of their names: give them all, or a pattern in quotes, as
    /// 'export/*.csv', or a folder of Parquet or Arrow files.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    pub(crate) input: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) key: Key,

    #[command(flatten)]
    pub(crate) dialect: dialect::Said,
}

/// The columns that are compared, and their form.
#[derive(ClapArgs)]
pub(crate) struct Key {
    /// The key columns, in the same order on both sides.
    ///
    /// Their names may differ. Not needed if the table has one column only. A name that holds a
    /// comma is put in quotes, as in CSV: '"last, first",zip'. The second column of a file is also
    /// column:2, unless another is called so.
    #[arg(long = "key", value_name = "COL[,COL…]", value_parser = names::parse)]
    columns: Vec<Vec<String>>,

    /// How a key column is normalised before it is compared.
    ///
    /// The rules: trim, lowercase, casefold, digits, nfc, nfkc, email (trim+lowercase),
    /// email:gmail, email:google, phone, null:WORDS (such as null:common), text (bytes in UTF-8),
    /// or a rule that reads a value: number, number:BITS (whole and below 2^BITS, such as
    /// number:32), bool, uuid, phone:COUNTRY (such as phone:DE), phone:column:COLUMN (of
    /// countries), date, date:FORMAT (such as date:%d.%m.%Y), date:excel, timestamp, timestamp:ZONE
    /// (such as timestamp:Europe/Berlin or timestamp:+01:00), timestamp:unix (or unix-ms, unix-us,
    /// unix-ns) or time. sha256 alone reads hashes, and as the last of several makes them:
    /// email+sha256. If the two sides differ, both get a warning. Can be repeated.
    #[arg(long, value_name = "COL=RULE[+RULE…]")]
    normalize: Vec<ColumnRules>,

    /// How to treat key cells that a rule cannot read: refuse, null or null:5%.
    ///
    /// `refuse` is an error that names them. With `null` their rows have no key, as if the cell
    /// were empty. `null:5%` is an error only if more than 5 percent of the rows have one. The
    /// other side is not told.
    #[arg(long, value_name = "HOW", default_value = "refuse")]
    bad_keys: BadKeys,
}

impl Key {
    /// Returns the key that was given.
    ///
    /// # Errors
    /// If a column is named twice, or rules are given for a column outside the key.
    pub(crate) fn spec(&self) -> Result<KeySpec, Error> {
        let key = KeySpec::new(self.columns.concat(), self.normalize.clone())?;
        Ok(key.with_bad_keys(self.bad_keys))
    }

    /// Returns whether any column was given.
    pub(crate) fn is_named(&self) -> bool {
        !self.columns.is_empty()
    }
}
