//! The names of settings that more than one module mentions. Both sides' values are compared, and
//! people read: "the two sides disagree on ...".

/// The protocol.
pub(crate) const PROTOCOL: &str = "the protocol";

/// Whether both keep what they compute, to go on if the join breaks off.
pub(crate) const JOB: &str = "keeping a job (--job)";

/// What both parties agree to, as a hash of its text.
pub(crate) const TERMS: &str = "the terms (--terms)";

/// Whether both sign a record, and in which format.
pub(crate) const RECORD: &str = "signing a record (--record)";

/// Who learns which of its rows are shared.
pub(crate) const LEARNERS: &str = "who learns (--learn)";

/// Whether both write rows in a common order.
pub(crate) const ALIGNED: &str = "aligned rows (--align)";

/// Whether columns of the sender are given, and taken.
pub(crate) const SENDERS_COLUMNS: &str = "columns of the sender (--give, --take)";

/// The same of the receiver.
pub(crate) const RECEIVERS_COLUMNS: &str = "columns of the receiver (--give, --take)";

/// The output.
pub(crate) const OUTPUT: &str = "the output";
