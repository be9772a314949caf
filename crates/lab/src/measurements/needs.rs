//! The measurements that are needed.

use psijoin::OutputKind;

/// The measurements that are needed of a protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// The protocol's name.
    pub protocol: String,
    /// The output.
    pub output: OutputKind,
    /// Bits per item, if the protocol takes items as they are.
    pub item_bits: Option<u32>,
    /// Threads per party.
    pub threads: usize,
    /// Items per party of the largest run that somebody asks for.
    pub most_items: u64,
}

impl Need {
    /// Returns the output, and the length of items if they are short: what a line of the results
    /// file has as its output.
    pub(crate) fn described(&self) -> String {
        described(&self.output, self.item_bits)
    }
}

/// As [`Need::described`].
pub(crate) fn described(output: &OutputKind, item_bits: Option<u32>) -> String {
    match item_bits {
        None => output.to_string(),
        Some(bits) => format!("{output}, items of {bits} bits"),
    }
}
