//! The measurements that are needed.

use psijoin::OutputKind;

use crate::variants::Variant;

/// The measurements that are needed of a protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// The protocol's name.
    pub protocol: String,
    /// The output.
    pub output: OutputKind,
    /// The traits in which the runs differ from the usual ones.
    pub variant: Variant,
    /// Threads per party.
    pub threads: usize,
    /// Items of the larger set of the largest run that somebody asks for.
    pub most_items: u64,
}

impl Need {
    /// Returns the output, and the variant: what a line of the results file has as its output.
    pub(crate) fn described(&self) -> String {
        self.variant.described(&self.output)
    }
}
