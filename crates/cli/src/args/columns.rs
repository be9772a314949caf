//! Columns that one party gives to the other: what both are told of them.

use std::num::NonZeroU16;

use clap::Args as ClapArgs;
use psijoin_session::{AtMost, Give, Taken, Trade as Traded, names};
use psijoin_table::given::RepeatedKeys;

/// What a party gives, and what it takes.
#[derive(ClapArgs)]
pub(crate) struct Trade {
    /// Columns of this table to give to the other party, for shared keys only. It chooses among
    /// them (--take). The sender can give columns, and with --learn both the receiver, too.
    #[arg(long, value_name = "COL[,COL…]", value_parser = names::parse)]
    give: Vec<Vec<String>>,

    /// Bytes per row of these columns, the same for all rows; the other party learns the number. A
    /// longer row is an error before data moves. [default: what the longest row takes]
    #[arg(long, value_name = "N", requires = "give", value_parser = clap::value_parser!(u16).range(1..))]
    give_bytes: Option<u16>,

    /// What to do when several rows have the same key (with --give or --align): `refuse` (an
    /// error), or take the `first` of them. Or give all of up to K rows (`list:K`): then each key
    /// takes the room of K rows, and the other party gets a row for each row of it. [default:
    /// refuse]
    #[arg(long, value_name = "HOW", value_parser = repeated)]
    pub(crate) repeated: Option<RepeatedKeys>,

    /// Columns of the other party (--give) to take for the shared rows: `all`, or some by name.
    /// They follow this table's own columns, in the other party's order. If this table has such a
    /// column, too, the name gets the prefix `partner_`.
    #[arg(long, value_name = "COL[,COL…]|all")]
    take: Option<Taken>,

    /// The most rows for each key to take: where the other party gives more (`--repeated list:K`
    /// there), both sides end before data moves. [default: as many as there is memory for]
    #[arg(long, value_name = "K", requires = "take", value_parser = clap::value_parser!(u16).range(1..))]
    take_rows: Option<u16>,

    /// The most bytes for each row to take, as --give-bytes counts them. [default: as many as there
    /// is memory for]
    #[arg(long, value_name = "N", requires = "take", value_parser = clap::value_parser!(u16).range(1..))]
    take_bytes: Option<u16>,
}

impl Trade {
    /// Returns what is given and taken.
    pub(crate) fn traded(&self) -> Traded {
        let give = || Give {
            columns: self.give.concat(),
            row_bytes: self.give_bytes.map(usize::from),
            repeated: self.repeated(),
        };
        Traded {
            gives: (!self.give.is_empty()).then(give),
            takes: self.take.clone(),
            at_most: AtMost {
                rows: self.take_rows,
                row_bytes: self.take_bytes.map(usize::from),
            },
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

fn repeated(text: &str) -> Result<RepeatedKeys, String> {
    let list = |most: &str| most.parse::<NonZeroU16>().ok().map(RepeatedKeys::List);
    match (text, text.strip_prefix("list:").and_then(list)) {
        ("refuse", _) => Ok(RepeatedKeys::Refuse),
        ("first", _) => Ok(RepeatedKeys::First),
        (_, Some(list)) => Ok(list),
        _ => Err("say refuse, first or list:K, as in list:3".to_owned()),
    }
}
