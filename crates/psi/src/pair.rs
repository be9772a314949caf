//! Both parties in one process: for tests, benches and demonstrations.

use std::thread;

use psijoin_block::Prg;
use psijoin_channel::{Channel, joint_seed::JointSeed, memory};
use psijoin_runtime::parallel::Pool;

use crate::{Context, Error, Fingerprint, Input, Output, Plan, Role, plan};

/// One party's end of a run.
pub struct Side<'a> {
    /// Its end of the channel; closed when the party is done.
    pub channel: Channel,
    /// Its ends of further channels, for a session in parts.
    pub streams: Vec<Channel>,
    /// Its randomness; from the operating system if there is none.
    pub rng: Option<Prg>,
    /// Its threads.
    pub pool: &'a Pool,
    /// As [`Context::noise`].
    pub noise: &'a [u64],
}

/// The input of one party.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    /// Its distinct items.
    pub items: &'a [Fingerprint],
    /// As [`Input::columns`].
    pub columns: &'a [Vec<i64>],
    /// As [`Input::payloads`].
    pub payloads: &'a [u8],
}

/// Of no columns and no payloads.
impl<'a, T: AsRef<[Fingerprint]> + ?Sized> From<&'a T> for Table<'a> {
    fn from(items: &'a T) -> Self {
        Self {
            items: items.as_ref(),
            columns: &[],
            payloads: &[],
        }
    }
}

/// The output of both parties.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The sender.
    pub sender: Output,
    /// The receiver.
    pub receiver: Output,
}

/// Runs both parties, one thread each, over an in-memory channel. An error is the
/// receiver's, or otherwise the sender's.
///
/// # Errors
/// As [`run`](crate::run).
///
/// # Panics
/// If the operating system gives no thread.
pub fn run<'a>(
    plan: &Plan,
    sender: impl Into<Table<'a>>,
    receiver: impl Into<Table<'a>>,
) -> Result<Outcome, Error> {
    // The parties are one here, which draws the seed after both sets are fixed.
    let joint_seed = &JointSeed::insecure_fixed(Prg::from_os().bytes());
    let (sender, receiver) = (sender.into(), receiver.into());
    let items = |table: Table<'_>| plan.items(table.items, joint_seed);
    let (senders, receivers) = (items(sender), items(receiver));
    let input = |items, table: Table<'a>| Input {
        items,
        columns: table.columns,
        payloads: table.payloads,
        joint_seed,
    };
    let pools = [single_thread(), single_thread()];
    let (a, b) = memory::pair();
    let side = |channel, pool| Side {
        channel,
        streams: Vec::new(),
        rng: None,
        pool,
        noise: &[],
    };
    let (sent, received) = run_sides(
        plan,
        (input(&senders, sender), side(a, &pools[0])),
        (input(&receivers, receiver), side(b, &pools[1])),
    );
    let receiver = received?;
    Ok(Outcome {
        sender: sent?,
        receiver,
    })
}

/// Returns a pool of one thread.
///
/// # Panics
/// If the operating system gives none.
pub fn single_thread() -> Pool {
    Pool::new(1).expect("the system gives a thread")
}

/// Runs the sender and the receiver at the same time; what each learned, or why it failed.
///
/// # Panics
/// If a party panics.
pub fn run_sides(
    plan: &Plan,
    sender: (Input<'_>, Side<'_>),
    receiver: (Input<'_>, Side<'_>),
) -> (Result<Output, Error>, Result<Output, Error>) {
    let run = |role, (input, side): (Input<'_>, Side<'_>)| {
        let Side {
            mut channel,
            mut streams,
            rng,
            pool,
            noise,
        } = side;
        pool.run(|| {
            let mut context = Context::new(&mut channel)
                .streams(&mut streams)
                .adding(noise);
            if let Some(rng) = rng {
                context.rng = rng;
            }
            plan::run(plan, role, &input, &mut context)
        })
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
