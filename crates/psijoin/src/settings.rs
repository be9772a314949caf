//! The names of what two parties compare before data moves. Each side tells its values, and people
//! read: "the two sides disagree on ...".
//!
//! Whoever joins, [`Join`](crate::Join) or the program, uses these names, so that all can join with
//! each other.

use psijoin_handshake::Hello;
use psijoin_params::Security;

use crate::{Protocol, Role};

/// The protocol.
pub const PROTOCOL: &str = "the protocol";

/// The version of the protocol's messages.
pub const PROTOCOL_VERSION: &str = "the protocol's version";

/// The statistical security level.
pub const STATISTICAL_SECURITY: &str = "the statistical security in bits";

/// The number of columns that make up a key.
pub const KEY_COLUMNS: &str = "the number of key columns";

/// The version of the rules by which values become keys.
pub const SPELLING: &str = "the version of the keys' spelling";

/// The bits of an item, if all items are numbers.
pub const ITEM_BITS: &str = "the bits of an item";

/// The output.
pub const OUTPUT: &str = "the output";

/// The parties that learn the output, if it is rows.
pub const LEARNERS: &str = "who learns";

/// The columns whose values name groups, of an output of groups.
pub const GROUP_BY: &str = "the groups";

/// The least number of shared keys of a group that is shown, of an output of groups.
pub const MIN_GROUP: &str = "the least size of a group";

/// The lists of the labels of these columns. Only sides that have one name them.
pub const GROUP_LISTS: &str = "the lists of groups";

/// The noise that is added to the totals of groups. Only sides that want some name it.
pub const NOISE: &str = "the noise";

/// The least number of shared keys for any output.
pub const MINIMUM: &str = "the least number of shared keys";

/// Columns of the sender that are given, and taken.
pub const SENDERS_COLUMNS: &str = "columns of the sender";

/// Columns of the receiver that are given, and taken.
pub const RECEIVERS_COLUMNS: &str = "columns of the receiver";

/// Keeping what is computed, to go on if the join breaks off.
pub const JOB: &str = "keeping a job";

/// A hash of the text that both agree to.
pub const TERMS: &str = "the terms";

/// The format of the record that both sign.
pub const RECORD: &str = "signing a record";

/// Security against quantum computers. Only a side that wants it names it.
pub const POST_QUANTUM: &str = "post-quantum security";

/// Rows in a common order.
pub const ALIGNED: &str = "aligned rows";

/// Which attempt of which join this is. Only a side that comes again names it.
pub const ATTEMPT: &str = "the attempt";

/// Told by whoever wants to know only whether the join could run. A fact, not compared: it ends
/// after both have agreed.
pub const ONLY_CHECKS: &str = "only a check";

/// A party's keys, as far as every join tells of them.
#[derive(Debug, Clone, Copy)]
pub struct Keys {
    /// The number of distinct keys.
    pub count: u64,
    /// The number of columns that make up a key.
    pub columns: usize,
    /// The version of the rules by which values become keys.
    pub spelling: u32,
}

/// Returns a hello with what every join compares.
pub fn hello(role: Role, keys: Keys, protocol: &Protocol, security: Security) -> Hello {
    let info = protocol.info();
    Hello::new(role, keys.count)
        .setting(PROTOCOL, info.name)
        .setting(PROTOCOL_VERSION, info.version)
        .setting(STATISTICAL_SECURITY, security.statistical_bits())
        .setting(KEY_COLUMNS, keys.columns)
        .setting(SPELLING, keys.spelling)
}

/// Returns the name of the fact about the meaning of the key column at this position, from 0.
pub fn key_column(at: usize) -> String {
    format!("key column {}", at + 1)
}

/// Returns the name of the fact about the number of labels of the column at this position, from 0,
/// of those whose values name groups. Whoever has the column tells it.
pub fn labels(at: usize) -> String {
    format!("labels of group column {}", at + 1)
}

/// Returns the name of the fact about the decimals of the column of numbers at this position, from
/// 0, of those that are asked for. Whoever has the column tells it.
pub fn decimals(at: usize) -> String {
    format!("decimals of column {}", at + 1)
}
