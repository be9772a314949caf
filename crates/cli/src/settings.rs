//! The names of settings that more than one module mentions. Both sides' values are compared, and
//! people read: "the two sides disagree on ...".

/// The protocol.
pub(crate) const PROTOCOL: &str = "the protocol";

/// The output.
pub(crate) const OUTPUT: &str = "the output";
