use psijoin_channel::{Outbound, stream::Chunks};
use psijoin_psi::Error;
use psijoin_runtime::parallel;

use crate::compare;

/// Appends to an empty message the strings that represent some records. It may fail.
pub(super) type Compute<'a> = dyn Fn(&[u8], &mut Vec<u8>) -> Result<(), Error> + Sync + 'a;

/// Sends the strings that represent records which come in pieces of any size, in messages as if all
/// had been there at once.
pub(super) struct Regrouped<'a> {
    outbound: &'a mut dyn Outbound,
    record_bytes: usize,
    per_message: usize,
    compute: &'a Compute<'a>,
    /// Records that were not sent yet.
    pending: Vec<u8>,
}

impl<'a> Regrouped<'a> {
    /// Makes it for records of `record_bytes` bytes, `per_message` per message.
    pub(super) fn new(
        outbound: &'a mut dyn Outbound,
        record_bytes: usize,
        per_message: usize,
        compute: &'a Compute<'a>,
    ) -> Self {
        Self {
            outbound,
            record_bytes,
            per_message,
            compute,
            pending: Vec::new(),
        }
    }

    /// Takes further records, and sends what gives each thread a message to compute.
    ///
    /// # Errors
    /// If the channel breaks, and as `compute`.
    pub(super) fn push(&mut self, records: &[u8]) -> Result<(), Error> {
        self.pending.extend_from_slice(records);
        let for_all_threads = parallel::threads() * self.per_message;
        let pending = self.pending.len() / self.record_bytes;
        self.send(pending - pending % for_all_threads)
    }

    /// Sends the rest.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub(super) fn finish(mut self) -> Result<(), Error> {
        self.send(self.pending.len() / self.record_bytes)
    }

    /// Sends this many records.
    fn send(&mut self, records: usize) -> Result<(), Error> {
        let chunks = Chunks {
            total: records,
            per_message: self.per_message,
        };
        let (pending, bytes) = (&self.pending, self.record_bytes);
        compare::try_send(self.outbound, chunks, &|range, message| {
            (self.compute)(&pending[range.start * bytes..range.end * bytes], message)
        })?;
        self.pending.drain(..records * bytes);
        Ok(())
    }
}
