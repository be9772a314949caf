//! Long data as a sequence of messages, computed in parallel and sent in order.
//!
//! While a channel carries one message, the next ones are computed. The number of threads that
//! compute them changes nothing on the wire. Data that is too long for one message takes several.

use std::{convert::Infallible, ops::Range, slice::ChunksMut};

use psijoin_runtime::parallel;

use crate::{Error, Inbound, MAX_MESSAGE_BYTES, Outbound};

/// Data of `total` units (rows, items) that travels `per_message` at a time.
#[derive(Debug, Clone, Copy)]
pub struct Chunks {
    /// All units.
    pub total: usize,
    /// Units of a message; the last may have fewer.
    pub per_message: usize,
}

impl Chunks {
    /// Returns the number of messages.
    pub fn count(self) -> usize {
        self.total.div_ceil(self.per_message)
    }

    fn range(self, chunk: usize) -> Range<usize> {
        let start = chunk * self.per_message;
        start..self.total.min(start + self.per_message)
    }

    /// Returns the units of each message.
    pub fn ranges(self) -> impl Iterator<Item = Range<usize>> + Clone {
        (0..self.count()).map(move |chunk| self.range(chunk))
    }

    /// Returns the lengths of the messages that really go over the channel, given how many bytes a
    /// number of units takes.
    pub fn message_lengths(self, of: impl Fn(usize) -> usize) -> impl Iterator<Item = usize> {
        self.ranges().flat_map(move |range| {
            let bytes = of(range.len());
            let starts = (0..bytes).step_by(MAX_MESSAGE_BYTES);
            starts.map(move |start| MAX_MESSAGE_BYTES.min(bytes - start))
        })
    }

    /// Returns the bytes of all messages, given how many bytes a number of units takes.
    pub fn bytes(self, of: impl Fn(usize) -> usize) -> u64 {
        let whole = self.total / self.per_message;
        let rest = self.total % self.per_message;
        (whole * of(self.per_message)) as u64 + if rest > 0 { of(rest) as u64 } else { 0 }
    }
}

/// Appends a chunk to an empty message, given the range of its units.
pub type Compute<'a> = dyn Fn(Range<usize>, &mut Vec<u8>) + Sync + 'a;

/// As [`Compute`], and fills the chunk's piece of the state, with the buffers of a thread. It may
/// fail.
pub type ComputeWith<'a, T, S, E> =
    dyn Fn(Range<usize>, &mut [T], &mut S, &mut Vec<u8>) -> Result<(), E> + Sync + 'a;

/// Takes in a message, given the range of its units, their piece of the state, and the buffers of
/// a thread.
pub type Consume<'a, T, S> = dyn Fn(Range<usize>, &[u8], &mut [T], &mut S) + Sync + 'a;

/// Sends each chunk, as `compute` appends it.
///
/// # Errors
/// If the channel breaks.
pub fn send(
    outbound: &mut dyn Outbound,
    chunks: Chunks,
    compute: &Compute<'_>,
) -> Result<(), Error> {
    send_with(
        outbound,
        chunks,
        &mut [(); 0],
        &|| (),
        &|range, _, (), message| {
            compute(range, message);
            Ok(())
        },
    )
}

/// As [`send`], where computing a chunk also fills its part of `state` (the same number of elements
/// for each unit), and uses buffers that `scratch` makes, once for each thread.
///
/// # Errors
/// If the channel breaks, and as `compute`.
///
/// # Panics
/// If `state` has another number of elements.
pub fn send_with<T: Send, S: Send, E: From<Error> + Send>(
    outbound: &mut dyn Outbound,
    chunks: Chunks,
    state: &mut [T],
    scratch: &dyn Fn() -> S,
    compute: &ComputeWith<'_, T, S, E>,
) -> Result<(), E> {
    let mut workers = Workers::new(chunks, state, scratch);
    send_groups(outbound, chunks, &mut |group, messages| {
        workers.run(group, messages, compute)
    })
}

/// Appends a chunk to an empty message, given the range of its units, after all chunks before it.
pub type ComputeInTurn<'a, E> = dyn FnMut(Range<usize>, &mut Vec<u8>) -> Result<(), E> + 'a;

/// Sends each chunk, as `compute` appends it, one after the other.
///
/// # Errors
/// If the channel breaks, and as `compute`.
pub fn send_in_turn<E: From<Error>>(
    outbound: &mut dyn Outbound,
    chunks: Chunks,
    compute: &mut ComputeInTurn<'_, E>,
) -> Result<(), E> {
    let mut message = Vec::new();
    for range in chunks.ranges() {
        message.clear();
        compute(range, &mut message)?;
        send_parts(outbound, &message)?;
    }
    Ok(())
}

/// Takes in some messages, each with the range of its units.
pub type ConsumeTogether<'a> = dyn FnMut(&[(Range<usize>, &[u8])]) + 'a;

/// Receives messages of `length` bytes each (given the units in it), and hands to `consume` as many
/// at a time as there are threads.
///
/// # Errors
/// If the channel breaks.
pub fn receive_together(
    inbound: &mut dyn Inbound,
    chunks: Chunks,
    length: &dyn Fn(usize) -> usize,
    consume: &mut ConsumeTogether<'_>,
) -> Result<(), Error> {
    receive_groups(inbound, chunks, length, &mut |group, messages| {
        let ranges = group.map(|chunk| chunks.range(chunk));
        let messages = messages.iter().map(|message| &message.bytes[..]);
        consume(&ranges.zip(messages).collect::<Vec<_>>());
    })
}

/// Receives messages of `length` bytes each (given the units in it), and hands each to `consume`
/// with the range of its units, their piece of `state` (the same number of elements for each unit),
/// and buffers that `scratch` makes, once for each thread.
///
/// # Errors
/// If the channel breaks.
///
/// # Panics
/// As [`send_with`].
pub fn receive_into<T: Send, S: Send>(
    inbound: &mut dyn Inbound,
    chunks: Chunks,
    length: &dyn Fn(usize) -> usize,
    state: &mut [T],
    scratch: &dyn Fn() -> S,
    consume: &Consume<'_, T, S>,
) -> Result<(), Error> {
    let mut workers = Workers::new(chunks, state, scratch);
    receive_groups(inbound, chunks, length, &mut |group, messages| {
        workers.run(group, messages, &|range, piece, scratch, message| {
            consume(range, message, piece, scratch);
            Ok(())
        });
    })
}

/// As [`receive_into`], and collects what `inspect` makes of each message, in order.
///
/// # Errors
/// If the channel breaks.
pub fn receive_each<T: Send>(
    inbound: &mut dyn Inbound,
    chunks: Chunks,
    length: &dyn Fn(usize) -> usize,
    inspect: &(dyn Fn(Range<usize>, &[u8]) -> T + Sync),
) -> Result<Vec<T>, Error> {
    let mut results = Vec::with_capacity(chunks.count());
    receive_in_turn(inbound, chunks, length, inspect, &mut |_, result| {
        results.push(result);
    })?;
    Ok(results)
}

/// As [`receive_each`], and hands to `take` what `inspect` makes of a message, one after the other
/// and in order.
///
/// # Errors
/// If the channel breaks.
pub fn receive_in_turn<T: Send>(
    inbound: &mut dyn Inbound,
    chunks: Chunks,
    length: &dyn Fn(usize) -> usize,
    inspect: &(dyn Fn(Range<usize>, &[u8]) -> T + Sync),
    take: &mut dyn FnMut(Range<usize>, T),
) -> Result<(), Error> {
    receive_groups(inbound, chunks, length, &mut |group, messages| {
        let inspected = parallel::map(group.len(), &|i| {
            inspect(chunks.range(group.start + i), &messages[i].bytes)
        });
        for (chunk, result) in group.zip(inspected) {
            take(chunks.range(chunk), result);
        }
    })
}

/// The work on the messages of a group of chunks; a message that fails has an error.
type GroupWork<'a, E> = dyn FnMut(Range<usize>, &mut [Message<E>]) + 'a;

/// The message of a chunk, and why it could not be computed.
struct Message<E> {
    bytes: Vec<u8>,
    error: Option<E>,
}

impl<E> Message<E> {
    fn empty() -> Self {
        Self {
            bytes: Vec::new(),
            error: None,
        }
    }
}

/// Sends all messages, which `compute` appends to empty ones.
fn send_groups<E: From<Error>>(
    outbound: &mut dyn Outbound,
    chunks: Chunks,
    compute: &mut GroupWork<'_, E>,
) -> Result<(), E> {
    let mut messages = Vec::new();
    for group in groups(chunks) {
        messages.resize_with(group.len(), Message::empty);
        for message in &mut messages {
            message.bytes.clear();
        }
        compute(group, &mut messages);
        // Nothing is sent of a group that fails.
        if let Some(error) = messages.iter_mut().find_map(|message| message.error.take()) {
            return Err(error);
        }
        for message in &messages {
            send_parts(outbound, &message.bytes)?;
        }
    }
    Ok(())
}

fn send_parts(outbound: &mut dyn Outbound, bytes: &[u8]) -> Result<(), Error> {
    bytes
        .chunks(MAX_MESSAGE_BYTES)
        .try_for_each(|part| outbound.send(part))
}

/// Receives all messages, into buffers that are used again.
fn receive_groups(
    inbound: &mut dyn Inbound,
    chunks: Chunks,
    length: &dyn Fn(usize) -> usize,
    consume: &mut GroupWork<'_, Infallible>,
) -> Result<(), Error> {
    let mut messages = Vec::new();
    for group in groups(chunks) {
        messages.resize_with(group.len(), Message::empty);
        for (message, chunk) in messages.iter_mut().zip(group.clone()) {
            message.bytes.resize(length(chunks.range(chunk).len()), 0);
            for part in message.bytes.chunks_mut(MAX_MESSAGE_BYTES) {
                inbound.recv(part)?;
            }
        }
        consume(group, &mut messages);
    }
    Ok(())
}

/// Chunks that are computed at the same time: one for each thread.
fn groups(chunks: Chunks) -> impl Iterator<Item = Range<usize>> {
    let count = chunks.count();
    let threads = parallel::threads();
    (0..count)
        .step_by(threads)
        .map(move |first| first..count.min(first + threads))
}

/// The state of the threads besides messages.
struct Workers<'a, T, S> {
    chunks: Chunks,
    /// The state of the chunks that are still to come.
    pieces: ChunksMut<'a, T>,
    /// One for each chunk of a group.
    scratches: Vec<S>,
}

/// A chunk in work.
struct Task<'a, T, S, E> {
    message: &'a mut Message<E>,
    piece: &'a mut [T],
    scratch: &'a mut S,
}

impl<'a, T: Send, S: Send> Workers<'a, T, S> {
    fn new(chunks: Chunks, state: &'a mut [T], scratch: &dyn Fn() -> S) -> Self {
        let per_unit = state.len().checked_div(chunks.total).unwrap_or(0);
        let all_units = per_unit * chunks.total;
        assert_eq!(state.len(), all_units, "as many elements for each unit");
        let mut scratches = Vec::new();
        scratches.resize_with(chunks.count().min(parallel::threads()), scratch);
        Self {
            chunks,
            pieces: state.chunks_mut((per_unit * chunks.per_message).max(1)),
            scratches,
        }
    }

    /// Computes the chunks of the next group.
    fn run<E: Send>(
        &mut self,
        group: Range<usize>,
        messages: &mut [Message<E>],
        compute: &ComputeWith<'_, T, S, E>,
    ) {
        let chunks = self.chunks;
        let mut tasks = Vec::with_capacity(messages.len());
        for (message, scratch) in messages.iter_mut().zip(&mut self.scratches) {
            tasks.push(Task {
                message,
                piece: self.pieces.next().unwrap_or_default(),
                scratch,
            });
        }
        parallel::each_mut(&mut tasks, &|i, task| {
            let range = chunks.range(group.start + i);
            let Task {
                message,
                piece,
                scratch,
            } = task;
            message.error = compute(range, piece, scratch, &mut message.bytes).err();
        });
    }
}
