//! Long data as a sequence of messages, computed in parallel and sent in order.
//!
//! While a channel carries one message the next ones are computed; how many threads do
//! that changes nothing on the wire. What is too long for a message takes several.

use std::ops::Range;

use psijoin_channel::{Error, Inbound, MAX_MESSAGE_BYTES, Outbound};
use rayon::prelude::*;

/// Data of `total` units (rows, items) that travels `per_message` at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chunks {
    pub(crate) total: usize,
    pub(crate) per_message: usize,
}

impl Chunks {
    pub(crate) fn count(self) -> usize {
        self.total.div_ceil(self.per_message)
    }

    fn range(self, chunk: usize) -> Range<usize> {
        let start = chunk * self.per_message;
        start..self.total.min(start + self.per_message)
    }

    /// The units of each message.
    pub(crate) fn ranges(self) -> impl Iterator<Item = Range<usize>> + Clone {
        (0..self.count()).map(move |chunk| self.range(chunk))
    }

    /// The lengths of the messages that really go over the channel, given the bytes of a chunk of
    /// so many units.
    pub(crate) fn message_lengths(
        self,
        of: impl Fn(usize) -> usize,
    ) -> impl Iterator<Item = usize> {
        self.ranges().flat_map(move |range| {
            let bytes = of(range.len());
            let starts = (0..bytes).step_by(MAX_MESSAGE_BYTES);
            starts.map(move |start| MAX_MESSAGE_BYTES.min(bytes - start))
        })
    }

    /// The bytes of all messages, given those of a message of so many units.
    pub(crate) fn bytes(self, of: impl Fn(usize) -> usize) -> u64 {
        let whole = self.total / self.per_message;
        let rest = self.total % self.per_message;
        (whole * of(self.per_message)) as u64 + if rest > 0 { of(rest) as u64 } else { 0 }
    }
}

/// Sends each chunk, which `compute` appends to an empty message given the range of its units.
pub(crate) fn send<E: From<Error> + Send>(
    outbound: &mut dyn Outbound,
    chunks: Chunks,
    compute: impl Fn(Range<usize>, &mut Vec<u8>) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let mut no_state = vec![(); chunks.total];
    send_with(
        outbound,
        chunks,
        &mut no_state,
        || (),
        |range, _, (), message| compute(range, message),
    )
}

/// As [`send`], where computing a chunk also fills its part of `state` (one element a unit),
/// and uses buffers that `scratch` makes, once for each thread.
pub(crate) fn send_with<T: Send, S: Send, E: From<Error> + Send>(
    outbound: &mut dyn Outbound,
    chunks: Chunks,
    state: &mut [T],
    scratch: impl Fn() -> S,
    compute: impl Fn(Range<usize>, &mut [T], &mut S, &mut Vec<u8>) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let mut pieces: Vec<_> = state.chunks_mut(chunks.per_message).collect();
    let mut workers: Vec<(S, Vec<u8>)> = groups(chunks)
        .next()
        .into_iter()
        .flatten()
        .map(|_| (scratch(), Vec::new()))
        .collect();
    for group in groups(chunks) {
        pieces[group.clone()]
            .par_iter_mut()
            .zip(group.clone())
            .zip(&mut workers)
            .try_for_each(|((piece, chunk), (scratch, message))| {
                message.clear();
                compute(chunks.range(chunk), piece, scratch, message)
            })?;
        for (_, message) in &workers[..group.len()] {
            for part in message.chunks(MAX_MESSAGE_BYTES) {
                outbound.send(part)?;
            }
        }
    }
    Ok(())
}

/// Receives messages of `length` bytes each (given the units in it), and hands each to
/// `consume` with the range of its units, their piece of `state` (one element a unit), and
/// buffers that `scratch` makes, once for each thread.
pub(crate) fn receive_into<T: Send, S: Send>(
    inbound: &mut dyn Inbound,
    chunks: Chunks,
    length: impl Fn(usize) -> usize,
    state: &mut [T],
    scratch: impl Fn() -> S,
    consume: impl Fn(Range<usize>, &[u8], &mut [T], &mut S) + Sync,
) -> Result<(), Error> {
    let mut pieces: Vec<_> = state.chunks_mut(chunks.per_message).collect();
    let mut messages = Vec::new();
    let mut scratches: Vec<S> = groups(chunks)
        .next()
        .into_iter()
        .flatten()
        .map(|_| scratch())
        .collect();
    for group in groups(chunks) {
        receive_group(inbound, chunks, group.clone(), &length, &mut messages)?;
        pieces[group.clone()]
            .par_iter_mut()
            .zip(group)
            .zip(&messages)
            .zip(&mut scratches)
            .for_each(|(((piece, chunk), message), scratch)| {
                consume(chunks.range(chunk), message, piece, scratch);
            });
    }
    Ok(())
}

/// As [`receive_into`], and collects what `inspect` makes of each message, in order.
pub(crate) fn receive_each<T: Send>(
    inbound: &mut dyn Inbound,
    chunks: Chunks,
    length: impl Fn(usize) -> usize,
    inspect: impl Fn(Range<usize>, &[u8]) -> T + Sync,
) -> Result<Vec<T>, Error> {
    let mut results = Vec::with_capacity(chunks.count());
    let mut messages = Vec::new();
    for group in groups(chunks) {
        receive_group(inbound, chunks, group.clone(), &length, &mut messages)?;
        results.par_extend(
            group
                .into_par_iter()
                .zip(&messages)
                .map(|(chunk, message)| inspect(chunks.range(chunk), message)),
        );
    }
    Ok(results)
}

/// Receives the messages of a group of chunks into buffers that are used again.
fn receive_group(
    inbound: &mut dyn Inbound,
    chunks: Chunks,
    group: Range<usize>,
    length: &impl Fn(usize) -> usize,
    messages: &mut Vec<Vec<u8>>,
) -> Result<(), Error> {
    messages.resize(group.len(), Vec::new());
    for (message, chunk) in messages.iter_mut().zip(group) {
        message.resize(length(chunks.range(chunk).len()), 0);
        for part in message.chunks_mut(MAX_MESSAGE_BYTES) {
            inbound.recv(part)?;
        }
    }
    Ok(())
}

/// Chunks that are computed at the same time: one for each thread.
fn groups(chunks: Chunks) -> impl Iterator<Item = Range<usize>> {
    let count = chunks.count();
    let threads = rayon::current_num_threads();
    (0..count)
        .step_by(threads)
        .map(move |first| first..count.min(first + threads))
}
