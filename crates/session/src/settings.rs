//! The names of settings that more than one module mentions. Both sides' values are compared, and
//! people read: "the two sides disagree on ...".

/// The protocol.
pub const PROTOCOL: &str = "the protocol";

/// Whether both keep what they compute, to go on if the join breaks off.
pub const JOB: &str = "keeping a job";

/// What both parties agree to, as a hash of its text.
pub const TERMS: &str = "the terms";

/// Whether both sign a record, and in which format.
pub const RECORD: &str = "signing a record";

/// Who learns which of its rows are shared.
pub const LEARNERS: &str = "who learns";

/// Whether both write rows in a common order.
pub const ALIGNED: &str = "aligned rows";

/// Whether columns of the sender are given, and taken.
pub const SENDERS_COLUMNS: &str = "columns of the sender";

/// The same of the receiver.
pub const RECEIVERS_COLUMNS: &str = "columns of the receiver";

/// The output.
pub const OUTPUT: &str = "the output";

/// The fewest shared keys of which more is told.
pub const MINIMUM: &str = "the least number of shared keys";

/// How many columns a key has.
pub const KEY_COLUMNS: &str = "the number of key columns";

/// How the protocol was built.
pub const PROTOCOL_VERSION: &str = "the protocol's version";

/// How unlikely a wrong result is.
pub const STATISTICAL_SECURITY: &str = "the statistical security in bits";

/// How values become keys.
pub const SPELLING: &str = "the version of the keys' spelling";
