//! The output, and its destination.

use std::{path::PathBuf, str::FromStr};

use clap::Args as ClapArgs;
use psijoin_session::{
    AtMost, Give, GroupColumn, Learners, RequestedOutput, Taken, Trade as Traded, names,
};
use psijoin_table::{WhichRows, share::RepeatedKeys};

/// The output, and its use.
#[derive(ClapArgs)]
#[command(next_help_heading = "Result")]
pub(crate) struct Asked {
    /// Where to write the rows, as CSV, TSV, Parquet, Arrow or lines.
    ///
    /// The rows are the receiver's or, with --learn both, of either party. The file's name ends in
    /// .csv, .tsv, .txt, .parquet or .arrow; a text may also be compressed, as .csv.gz or
    /// .csv.zst; - is standard output, which is the default. The file appears when all is done. If
    /// anything fails, an existing file stays as it is. Totals of groups are written alike. Shares
    /// go to a file of any name. Other results go to standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// What the receiver learns: rows, count, threshold:K, sum:COL, counts or shares.
    ///
    /// Both sides pass the same. `rows`; `count`, the number of shared keys; `threshold:K`, whether
    /// at least K are shared; or `sum:COL[,COL…]`, the totals of these columns over the shared
    /// keys. `counts[,sum:COL…][,mean:COL…]`: their number, these totals, and means beside totals,
    /// in each group (--group-by). A column is of the table that has it; `sender.COL` and
    /// `receiver.COL` name its owner. Or `shares[:COL[,COL…]]`: each party gets a file with its
    /// shares of which keys are shared, and of their numbers, to compute with.
    #[arg(long, value_name = "KIND", default_value = "rows")]
    pub(crate) output_kind: RequestedOutput,

    /// The columns whose values name the groups of --output-kind counts: one, or two.
    ///
    /// Both sides pass the same, as `receiver.COL` and `sender.COL`. Two columns are crossed: there
    /// is a group for each pair of their values. There can be 256 groups. The other side learns the
    /// values of such a column, and not which key has which, unless both have a list (--groups).
    /// Rows with one key must have one value.
    #[arg(long, value_name = "COL[,COL]")]
    pub(crate) group_by: Option<GroupBy>,

    /// A list of the labels of the --group-by column; of two, COL=FILE for each that has one.
    ///
    /// Both sides pass the same labels, one in each line, or in a CSV, TSV, Parquet or Arrow file
    /// of one column. Then the values of that column are not told. One that is not on the list
    /// counts as `other`; null is a group, too.
    #[arg(long, value_name = "[COL=]FILE")]
    pub(crate) groups: Vec<String>,

    /// Who learns which of its rows are shared: receiver or both.
    ///
    /// Both sides pass the same. If both learn, the sender writes its rows, too.
    #[arg(long, value_name = "WHO", default_value = "receiver")]
    pub(crate) learn: Learners,

    #[command(flatten)]
    pub(crate) trade: Trade,

    #[command(flatten)]
    pub(crate) written: Written,
}

/// The columns whose values name groups.
#[derive(Debug, Clone)]
pub(crate) struct GroupBy(pub(crate) Vec<GroupColumn>);

impl FromStr for GroupBy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        GroupColumn::list(text).map(Self)
    }
}

/// The columns that a party gives, and those that it takes.
#[derive(ClapArgs)]
pub(crate) struct Trade {
    /// Columns to give to the other party, for shared keys only.
    ///
    /// It chooses among them (--take). The sender can give columns, and with --learn both the
    /// receiver, too.
    #[arg(long, value_name = "COL[,COL…]", value_parser = names::parse)]
    give: Vec<Vec<String>>,

    /// Columns of the other party to take: all, or some by name.
    ///
    /// The other party offers them (--give). They stand beside the shared rows, after this table's
    /// own columns, in the other party's order. If this table has such a column, too, the name gets
    /// the prefix `partner_`.
    #[arg(long, value_name = "COL[,COL…]|all")]
    take: Option<Taken>,

    /// What to do when several rows have the same key (with --give or --align).
    ///
    /// `refuse` (an error), or take the `first` of them. Or give all of up to K rows (`list:K`):
    /// then each key takes the room of K rows, and the other party gets a row for each row of it.
    /// [default: refuse]
    #[arg(long, value_name = "HOW")]
    pub(crate) repeated: Option<RepeatedKeys>,

    /// Bytes per row of the columns that are given, the same for all rows.
    ///
    /// The other party learns the number. A longer row is an error before data moves. [default:
    /// what the longest row takes]
    #[arg(long, value_name = "N", requires = "give", value_parser = clap::value_parser!(u16).range(1..))]
    give_bytes: Option<u16>,
}

impl Trade {
    /// Returns what is given and taken, and of that at most so much.
    pub(crate) fn traded(&self, at_most: AtMost) -> Traded {
        let give = || Give {
            columns: self.give.concat(),
            row_bytes: self.give_bytes.map(usize::from),
            repeated: self.repeated(),
        };
        Traded {
            gives: (!self.give.is_empty()).then(give),
            takes: self.take.clone(),
            at_most,
        }
    }

    /// Returns what becomes of rows that repeat a key, where one row per key counts.
    pub(crate) fn repeated(&self) -> RepeatedKeys {
        self.repeated.unwrap_or_default()
    }

    /// Returns whether anything is given.
    pub(crate) fn gives(&self) -> bool {
        !self.give.is_empty()
    }
}

/// The form of written rows.
#[derive(ClapArgs)]
pub(crate) struct Written {
    /// Which rows of this party's table to write: shared, unshared or all.
    ///
    /// `unshared` are all others, also those without a key; `all` has a column `shared` that says
    /// which are. The other party does not learn this, and this party learns which of its keys are
    /// shared in any case. [default: shared]
    #[arg(long, value_name = "WHICH")]
    pub(crate) rows: Option<WhichRows>,

    /// Write rows in the same random order on both sides, one per shared key.
    ///
    /// Line n here then matches line n there. Both sides must say it, with --learn both.
    #[arg(long)]
    pub(crate) align: bool,

    /// Where Parquet or Arrow is written as CSV, write an empty text as "" and a null as nothing.
    ///
    /// PostgreSQL reads them so. Without this, both are nothing.
    #[arg(long)]
    pub(crate) quote_empty: bool,

    /// In .csv and .tsv, write a single quote before each text that a spreadsheet would take for a
    /// formula.
    ///
    /// Such a text is =1+1, whichever side it comes from. Names of columns are treated alike.
    /// Numbers, as -5, stay as they are.
    #[arg(long)]
    pub(crate) quote_formulas: bool,

    /// Refuse at the start if the output exists already.
    ///
    /// Without this, it is replaced when all is done.
    #[arg(long, requires = "output")]
    pub(crate) no_clobber: bool,
}
