//! The measurements that are needed.

use psijoin::OutputKind;

/// The measurements that are needed of a protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// The protocol's name.
    pub protocol: String,
    /// The output.
    pub output: OutputKind,
    /// Threads per party.
    pub threads: usize,
    /// Items per party of the largest run that somebody asks for.
    pub most_items: u64,
}
