//! What has to be measured.

use psijoin::OutputKind;

/// What has to be measured of a protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// The protocol's name.
    pub protocol: String,
    /// What is learned.
    pub output: OutputKind,
    /// Threads per party.
    pub threads: usize,
    /// Items per party of the largest run that somebody asks for.
    pub most_items: u64,
}
