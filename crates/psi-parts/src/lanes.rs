//! Parts side by side: one thread per stream, which runs every s-th part of s streams. No more of them
//! compute at a time than the caller's pool has threads; while one waits for the other party, another
//! computes.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};

use psijoin_block::{
    Prg,
    memory::exhausted,
    parallel::{self, Pool},
};
use psijoin_channel::{Channel, turns::Turns};
use psijoin_psi::{Context, Error, Phases, Plan};

/// The most streams of a session.
const MOST_STREAMS: usize = 16;

/// How many streams a run of this plan should have, that of the meeting included, if the parties have
/// these numbers of threads: one more than the party with fewer has, so that parts can compute while one waits.
/// With one thread there is one stream.
pub fn streams(plan: &Plan, threads: [usize; 2]) -> usize {
    let parts = plan.parts().map_or(1, |parts| parts.shape.parts as usize);
    match threads[0].min(threads[1]) {
        0 | 1 => 1,
        threads => (threads + 1).min(MOST_STREAMS).min(parts),
    }
}

/// Runs a part over a channel, with randomness of its own.
pub(crate) type RunPart<'a> = dyn Fn(u32, &mut Context<'_>) -> Result<(), Error> + Sync + 'a;

/// The stack of a thread.
const THREAD_BYTES: usize = 2 << 20;

/// Runs all parts, the caller's thread and pool if there is no stream beside the context's channel, and
/// otherwise a thread per stream.
///
/// # Errors
/// The first error of any part. The others then stop at the end of their parts, and tell the peer why.
pub(crate) fn run_all(
    parts: u32,
    context: &mut Context<'_>,
    run: &RunPart<'_>,
) -> Result<(), Error> {
    let progress = Progress {
        parts,
        done: AtomicU32::new(0),
        failure: Mutex::new(None),
        phases: context.phases,
    };
    if context.streams.is_empty() {
        return (0..parts).try_for_each(|part| {
            let mut context = Context::new(context.channel).randomness(context.rng.fork());
            run(part, &mut context)?;
            progress.advance();
            Ok(())
        });
    }
    let streams = 1 + context.streams.len() as u32;
    let turns = &Turns::new(parallel::threads());
    let lanes = (0..streams)
        .zip(
            [&mut *context.channel]
                .into_iter()
                .chain(&mut *context.streams),
        )
        .map(|(first, channel)| Lane {
            first,
            streams,
            channel,
            rng: context.rng.fork(),
            turns,
        });
    thread::scope(|scope| {
        for lane in lanes {
            let run = || lane.run(&progress, run);
            let started = thread::Builder::new().spawn_scoped(scope, run);
            // If the system gives no thread, it has no memory for its stack.
            started.unwrap_or_else(|_| exhausted(THREAD_BYTES));
        }
    });
    let failure = progress.failure.into_inner().unwrap_or_default();
    failure.map_or(Ok(()), Err)
}

/// What all lanes know.
struct Progress<'a> {
    parts: u32,
    done: AtomicU32,
    failure: Mutex<Option<Error>>,
    phases: Phases<'a>,
}

impl Progress<'_> {
    fn advance(&self) {
        let done = 1 + self.done.fetch_add(1, Ordering::Relaxed);
        self.phases.parts_done(done, self.parts);
    }
}

/// A stream, and what runs on it.
struct Lane<'a> {
    first: u32,
    streams: u32,
    channel: &'a mut Channel,
    rng: Prg,
    turns: &'a Arc<Turns>,
}

impl Lane<'_> {
    fn run(self, progress: &Progress<'_>, run: &RunPart<'_>) {
        let Self {
            first,
            streams,
            channel,
            mut rng,
            turns,
        } = self;
        let Ok(pool) = Pool::new(1) else {
            exhausted(THREAD_BYTES)
        };
        for part in (first..progress.parts).step_by(streams as usize) {
            let failure = &progress.failure;
            if let Some(error) = &*failure.lock().expect("no panic") {
                return channel.abort(error.abort_code());
            }
            let rng = rng.fork();
            let run = || run(part, &mut Context::new(channel).randomness(rng));
            let result = pool.run(|| turns.hold(run));
            match result {
                Ok(()) => progress.advance(),
                Err(error) => {
                    channel.abort(error.abort_code());
                    failure.lock().expect("no panic").get_or_insert(error);
                    return;
                }
            }
        }
    }
}
