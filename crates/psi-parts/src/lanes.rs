//! Parts side by side: one thread per stream, which runs every s-th part that is left, of s
//! streams. No more of them compute at a time than the caller's pool has threads; while one waits
//! for the other party, another computes.

use std::{
    sync::{Arc, Mutex, MutexGuard},
    thread,
};

use psijoin_block::Prg;
use psijoin_channel::{Channel, Error as ChannelError, turns::Turns};
use psijoin_psi::{Context, Error};
use psijoin_runtime::{
    memory::exhausted,
    parallel::{self, Pool},
};

/// The most streams of a session whose parties run its parts in threads. Each takes memory for a
/// part on both sides. And where both parties come to a relay from one address, as many streams of
/// both as this are no more than it lets wait from there.
const MOST_STREAMS: usize = 32;

/// Returns over how many streams a run of this many parts should run them, if the parties have
/// these numbers of threads: one more than the party with fewer has, so that parts can compute
/// while one waits. With one thread, or without parts, there is one stream.
pub fn streams(parts: usize, threads: [usize; 2]) -> usize {
    match threads[0].min(threads[1]) {
        0 | 1 => 1,
        threads => (threads + 1).min(MOST_STREAMS).min(parts).max(1),
    }
}

/// Returns how many channels a session has that runs its parts over this number of streams: that of
/// the meeting, and, if there are several streams, each of these.
pub fn channels(streams: usize) -> usize {
    match streams {
        0 | 1 => 1,
        several => 1 + several,
    }
}

/// Runs a part over a channel, with randomness of its own.
pub(crate) type RunPart<'a> = dyn Fn(u32, &mut Context<'_>) -> Result<(), Error> + Sync + 'a;

/// The stack of a thread.
const THREAD_BYTES: usize = 2 << 20;

/// Runs these parts of a session: in the caller's thread and pool over the context's channel if it
/// has no streams, and otherwise in a thread per stream.
///
/// The randomness of a part is that of the session and the part's number: it depends neither on how
/// many streams there are, nor on which other parts run. The session's own moves on as if nothing
/// had been drawn but one seed.
///
/// # Errors
/// Returns the first error of a part that gives a reason. The others then stop at the end of their
/// parts, and tell the peer the reason.
pub(crate) fn run_all(
    parts: &[u32],
    context: &mut Context<'_>,
    run: &RunPart<'_>,
) -> Result<(), Error> {
    let of_parts = &context.rng.fork();
    if context.streams.is_empty() {
        return parts.iter().try_for_each(|part| {
            let mut context = Context::new(context.channel).randomness(of_parts.child(*part));
            run(*part, &mut context)
        });
    }
    let streams = context.streams.len();
    let turns = &Turns::new(parallel::threads());
    let failure = &Failure::default();
    let channels = context.streams.iter_mut().enumerate();
    let lanes = channels.map(|(first, channel)| Lane {
        first,
        streams,
        channel,
        of_parts,
        turns,
    });
    thread::scope(|scope| {
        for lane in lanes {
            let run = || lane.run(parts, failure, run);
            let started = thread::Builder::new().spawn_scoped(scope, run);
            // If the system gives no thread, it has no memory for its stack.
            started.unwrap_or_else(|_| exhausted(THREAD_BYTES));
        }
    });
    failure.lock().take().map_or(Ok(()), Err)
}

/// The reason that the session ends, if it does before all parts are done.
#[derive(Default)]
struct Failure(Mutex<Option<Error>>);

impl Failure {
    fn lock(&self) -> MutexGuard<'_, Option<Error>> {
        self.0
            .lock()
            .expect("nothing panics while it notes a failure")
    }

    /// Notes why a part failed. That another stream has ended is no reason if a part gives a better
    /// one.
    fn note(&self, error: Error) {
        let mut noted = self.lock();
        if noted.as_ref().is_none_or(is_consequence) {
            *noted = Some(error);
        }
    }
}

fn is_consequence(error: &Error) -> bool {
    matches!(error, Error::Channel(ChannelError::EndedElsewhere))
}

/// A stream, and what runs on it.
struct Lane<'a> {
    first: usize,
    streams: usize,
    channel: &'a mut Channel,
    of_parts: &'a Prg,
    turns: &'a Arc<Turns>,
}

impl Lane<'_> {
    fn run(self, parts: &[u32], failure: &Failure, run: &RunPart<'_>) {
        let Self {
            first,
            streams,
            channel,
            of_parts,
            turns,
        } = self;
        let Ok(pool) = Pool::new(1) else {
            exhausted(THREAD_BYTES)
        };
        for part in parts.iter().skip(first).step_by(streams) {
            if let Some(error) = &*failure.lock() {
                return channel.abort(error.abort_code());
            }
            let rng = of_parts.child(*part);
            let run = || run(*part, &mut Context::new(channel).randomness(rng));
            if let Err(error) = pool.run(|| turns.hold(*part, run)) {
                channel.abort(error.abort_code());
                return failure.note(error);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_is_told_and_no_consequence() {
        let consequence = || Error::Channel(ChannelError::EndedElsewhere);
        let [first, second] = [Error::Peer("first"), Error::Peer("second")];
        let failure = Failure::default();
        failure.note(consequence());
        assert!(failure.lock().as_ref().is_some_and(is_consequence));
        for error in [first, second, consequence()] {
            failure.note(error);
        }
        let told = failure.lock().take();
        assert!(matches!(told, Some(Error::Peer("first"))), "{told:?}");
    }
}
