//! Both parties in one process: for tests, benches and demonstrations.

use std::thread;

use psijoin_block::Prg;
use psijoin_channel::{Channel, memory};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::{Context, Error, Fingerprint, Input, Items, Output, Plan, Role, protocol};

/// One party's end of a run.
pub struct Side<'a> {
    /// Its end of the channel; closed when the party is done.
    pub channel: Channel,
    /// Its randomness and observer.
    pub context: Context<'a>,
    /// Its threads.
    pub pool: &'a ThreadPool,
}

/// What both parties learned.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The sender.
    pub sender: Output,
    /// The receiver.
    pub receiver: Output,
}

/// Runs both parties, one thread each, over an in-memory channel. An error is the
/// receiver's, or else the sender's.
///
/// # Errors
/// As [`protocol::run`].
///
/// # Panics
/// If the operating system gives no thread.
pub fn run(
    plan: &dyn Plan,
    sender: &[Fingerprint],
    receiver: &[Fingerprint],
) -> Result<Outcome, Error> {
    let joint_seed = Prg::from_os().bytes();
    let items = |fingerprints| Items::digest(fingerprints, &joint_seed, plan.digest_bytes());
    let pool = single_thread();
    let second_pool = single_thread();
    let (a, b) = memory::pair();
    let side = |channel, pool| Side {
        channel,
        context: Context::new(),
        pool,
    };
    let (sender, receiver) = run_sides(
        plan,
        &joint_seed,
        (&items(sender), side(a, &pool)),
        (&items(receiver), side(b, &second_pool)),
    );
    let receiver = receiver?;
    Ok(Outcome {
        sender: sender?,
        receiver,
    })
}

/// A pool of one thread.
///
/// # Panics
/// If the operating system gives none.
pub fn single_thread() -> ThreadPool {
    ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .expect("the system gives a thread")
}

/// Runs the sender and the receiver at the same time; what each learned, or why it failed.
///
/// # Panics
/// If a party panics.
pub fn run_sides(
    plan: &dyn Plan,
    joint_seed: &[u8; 32],
    sender: (&Items, Side<'_>),
    receiver: (&Items, Side<'_>),
) -> (Result<Output, Error>, Result<Output, Error>) {
    let run = |role, (items, side): (&Items, Side<'_>)| {
        let Side {
            mut channel,
            mut context,
            pool,
        } = side;
        let input = Input { items, joint_seed };
        pool.install(|| protocol::run(plan, role, input, &mut channel, &mut context))
    };
    thread::scope(|scope| {
        let sender = scope.spawn(|| run(Role::Sender, sender));
        let received = run(Role::Receiver, receiver);
        match sender.join() {
            Ok(sent) => (sent, received),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
