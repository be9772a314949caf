//! A table in portions, each of which lies in another process, as a cluster has it.
//!
//! A process that has a portion [reads](read) it: by the rules, and with the errors, of a table
//! that is read as a whole. That gives the portion's distinct [keys](PortionKeys), which go to where
//! those of other portions go that are equal, and small [facts](PortionFacts). Whoever
//! [merges](PortionFacts::merge) the facts of all portions knows of the [whole](Whole) what a
//! single process would know, and refuses what it would refuse; places of rows aside, and how often
//! the most frequent key is there.

pub(crate) mod binary;
mod bytes;
mod facts;
mod fault;
mod keys;
mod labels;
mod offered;
mod packing;
mod rows;

use psijoin_files::spill::Spill;
use psijoin_key::{BadKeys, KeySpec};
use psijoin_source::{Progress, Source};

use crate::{
    Beside, Error, TableKeys,
    keys::{self as reading, Wanted},
    share::RepeatedKeys,
};

pub use facts::{PortionFacts, Whole};
pub use fault::PortionFault;
pub use keys::{KEY, PortionKeys, fingerprints_of_rows};
pub use labels::{LABELS, LabelPlaces, hashes_of};
pub use offered::Offered;
pub use packing::Packing;
pub use rows::{GIVEN, KeyRows};

/// Reads a portion of a table: the distinct keys in it, with what is in the columns beside them,
/// and the facts about it. If columns are to be `given`, the rows of each key are read, too, as far
/// as several rows of one key may be.
///
/// # Errors
/// As [`TableKeys::read_beside`]; that too many cells of the key count as null, or that rows repeat
/// a key and may not, is a matter of the [whole](PortionFacts::whole). As
/// [`GivenColumns::of`](crate::share::GivenColumns::of), and if a row is longer than any payload.
pub fn read(
    source: &Source,
    key: &KeySpec,
    beside: Beside<'_>,
    given: Option<(&[String], RepeatedKeys)>,
    spill: &Spill,
    progress: &Progress,
) -> Result<(PortionKeys, PortionFacts), Error> {
    let keys = TableKeys::read_beside(source, &of_portion(key), beside, spill, progress)?;
    let mut facts = PortionFacts::of(&keys, key, beside);
    let given = given.map(|given| KeyRows::read(source, &keys, given, progress));
    let (rows, offered) = given.transpose()?.unzip();
    facts.offered = offered;
    let mut keys = PortionKeys::taken_from(keys)?;
    keys.rows = rows;
    Ok((keys, facts))
}

/// Returns the fingerprint of each row's key, in the order of rows; `None` if it has none.
///
/// # Errors
/// As [`read`].
pub fn fingerprints(
    source: &Source,
    key: &KeySpec,
    progress: &Progress,
) -> Result<Vec<Option<[u8; 32]>>, Error> {
    let (key, spill) = (of_portion(key), Spill::in_memory());
    let wanted = Wanted::new(&key, Beside::default(), &spill);
    let (collected, _) = reading::read(source, &wanted, progress)?;
    collected.fingerprints()
}

/// Returns a key of which the whole table tells whether too many cells count as null.
fn of_portion(key: &KeySpec) -> KeySpec {
    match key.bad_keys() {
        BadKeys::Refuse => key.clone(),
        _ => key.clone().with_bad_keys(BadKeys::Null {
            at_most_percent: 100.0,
        }),
    }
}
