//! One run of both parties.

use std::{
    iter, thread,
    time::{Duration, Instant},
};

use psijoin::{
    Context, JointSeed, Output, Plan, Role,
    parts::{self, Remaining, synthetic::Synthetic},
};
use psijoin_block::Prg;
use psijoin_channel::{
    Channel,
    count::{Counters, Snapshot, counted},
    link::linked_together,
    memory as in_memory,
};
use psijoin_cli::{console::Console, loopback::Loopback, processor};
use psijoin_forecast::{Cores, Network};
use psijoin_frontend::Model;
use psijoin_runtime::parallel::Pool;
use psijoin_session::{Phase, Phases, Set, memory};
use psijoin_transport::Connection;

use super::{
    Setting, expectation,
    sets::{Own, Sets},
};
use crate::{args::Transport, exit::Failure};

/// Both parties, who meet for every run.
pub(super) struct Parties {
    /// For plans that are not in parts. Tables for parts are made as they run.
    sets: Option<Sets>,
    /// The sender's, and the receiver's.
    pools: [Pool; 2],
    /// Bytes that were resident before the first run: the input.
    resident_bytes: Option<u64>,
}

/// The cost of a run.
pub(super) struct Run {
    pub(super) time: Duration,
    /// The computing of all threads of both parties.
    pub(super) processor_time: Duration,
    /// Over how many streams.
    pub(super) streams: usize,
    /// Seen from the receiver.
    pub(super) traffic: Snapshot,
    pub(super) sender_phases: Vec<Phase>,
    pub(super) receiver_phases: Vec<Phase>,
    /// Of both parties together, with their input.
    pub(super) peak_bytes: Option<u64>,
    /// The peak beyond what was resident before the first run of all. Memory that the allocator has
    /// kept from earlier runs counts, so this is too much rather than too little.
    pub(super) peak_above_input_bytes: Option<u64>,
}

/// The time that the sender and the receiver took, by phase, and whether they learned what they
/// should.
struct Played {
    phases: [Vec<Phase>; 2],
    is_right: bool,
}

impl Parties {
    /// Makes parties for these plans, with random sets.
    ///
    /// # Errors
    /// If there is no memory for threads.
    pub(super) fn new(setting: &Setting, plans: &[Plan]) -> Result<Self, Failure> {
        let pool = || Pool::new(setting.threads.get()).map_err(|_| Failure::OUT_OF_MEMORY);
        let in_one = plans.iter().any(|plan| plan.parts().is_none());
        let sets = in_one.then(|| Sets::random(setting));
        let pools = [pool()?, pool()?];
        Ok(Self {
            sets,
            pools,
            resident_bytes: memory::resident_bytes(),
        })
    }

    /// Runs a plan once, from both parties' items to the end of both, the connection not included.
    ///
    /// # Errors
    /// If a party fails, or learns something wrong.
    pub(super) fn run(&self, plan: &Plan, setting: &Setting, what: &str) -> Result<Run, Failure> {
        let streams = Remaining::all(plan).streams([setting.threads.get(); 2]);
        // The connections live until both parties are done.
        let (_connections, [senders, receivers]) = join(setting, parts::channels(streams))?;
        let (receivers, counters): (Vec<_>, Vec<_>) = receivers.into_iter().map(counted).unzip();
        let passed = || counters.iter().map(Counters::snapshot).sum::<Snapshot>();
        memory::reset_peak();
        let console = Console::wanted();
        let (network, cores) = conditions(setting);
        let threads = setting.threads.get();
        let mut model = Model::new(plan, Role::Receiver, threads, network, cores, &console);
        let position = || model.position(passed().total_bytes());
        let both = || self.play(plan, setting.shared_items(), senders, receivers);
        let (started, computed) = (Instant::now(), processor::time());
        let played = console.during(what, position, both);
        let (time, processor_time) = (started.elapsed(), processor::time() - computed);
        let peak_bytes = memory::peak_bytes();

        let Played {
            phases: [sender_phases, receiver_phases],
            is_right,
        } = played?;
        if !is_right {
            return Err(Failure::WrongResult(plan.info().name));
        }
        Ok(Run {
            time,
            processor_time,
            streams,
            traffic: passed(),
            sender_phases,
            receiver_phases,
            peak_bytes,
            peak_above_input_bytes: peak_bytes
                .zip(self.resident_bytes)
                .map(|(peak, input)| peak.saturating_sub(input)),
        })
    }

    /// Lets both play their parts at once, and checks what they learn.
    fn play(
        &self,
        plan: &Plan,
        shared_items: u64,
        senders: Vec<Channel>,
        receivers: Vec<Channel>,
    ) -> Result<Played, psijoin::Error> {
        // Both parties are one here.
        let joint_seed = &JointSeed::insecure_fixed(Prg::from_os().bytes());
        match (plan.parts(), &self.sets) {
            (None, Some(sets)) => self.play_in_one(plan, sets, joint_seed, senders, receivers),
            _ => {
                let sets = Synthetic::new(plan, shared_items, joint_seed);
                self.play_in_parts(plan, &sets, joint_seed, senders, receivers)
            }
        }
    }

    fn play_in_one(
        &self,
        plan: &Plan,
        sets: &Sets,
        joint_seed: &JointSeed,
        senders: Vec<Channel>,
        receivers: Vec<Channel>,
    ) -> Result<Played, psijoin::Error> {
        let party = |role, own: &Own, mut channels: Vec<Channel>, pool: &Pool, phases: &Phases| {
            let set = Set {
                fingerprints: &own.items,
                columns: &own.columns,
                payloads: &[],
            };
            let run = psijoin_session::Run {
                plan,
                role,
                joint_seed,
                ledger: None,
                noise: &psijoin_session::Noising::default(),
            };
            run.compute(set, &mut channels, pool, phases)
        };
        let [sender_pool, receiver_pool] = &self.pools;
        let ([sent, received], phases) = both(
            |phases| party(Role::Sender, &sets.sender, senders, sender_pool, phases),
            |phases| {
                party(
                    Role::Receiver,
                    &sets.receiver,
                    receivers,
                    receiver_pool,
                    phases,
                )
            },
        )?;
        let is_right = expectation::is_met(sets, plan.request(), &sent, &received);
        Ok(Played { phases, is_right })
    }

    fn play_in_parts(
        &self,
        plan: &Plan,
        sets: &Synthetic<'_>,
        joint_seed: &JointSeed,
        senders: Vec<Channel>,
        receivers: Vec<Channel>,
    ) -> Result<Played, psijoin::Error> {
        let [sender, receiver] = [Role::Sender, Role::Receiver].map(|role| sets.table(role));
        let party = |role, table, mut channels: Vec<Channel>, pool: &Pool, phases: &Phases| {
            pool.run(|| {
                let context = &mut context(&mut channels, phases);
                parts::run(plan, role, table, joint_seed, context)
            })
        };
        let [sender_pool, receiver_pool] = &self.pools;
        let ([sent, received], phases) = both(
            |phases| party(Role::Sender, &sender, senders, sender_pool, phases),
            |phases| party(Role::Receiver, &receiver, receivers, receiver_pool, phases),
        )?;
        let is_right = sets.is_met(&sent, &received, &receiver);
        Ok(Played { phases, is_right })
    }
}

/// Returns the surroundings of a party.
fn context<'a>(channels: &'a mut [Channel], phases: &'a Phases) -> Context<'a> {
    let (first, further) = channels.split_first_mut().expect("a stream");
    Context::new(first).streams(further).observed(phases)
}

/// Returns the outputs of both parties, and the use of their time.
fn both(
    sender: impl FnOnce(&Phases) -> Result<Output, psijoin::Error> + Send,
    receiver: impl FnOnce(&Phases) -> Result<Output, psijoin::Error>,
) -> Result<([Output; 2], [Vec<Phase>; 2]), psijoin::Error> {
    let (sender_phases, receiver_phases) = (Phases::default(), Phases::default());
    let (sent, received) = thread::scope(|scope| {
        let sending = scope.spawn(|| {
            let sent = sender(&sender_phases);
            (sent, sender_phases.end())
        });
        let received = receiver(&receiver_phases);
        match sending.join() {
            Ok(sent) => (sent, (received, receiver_phases.end())),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    });
    // The receiver's error tells more.
    let outputs = received.0.and_then(|received| Ok([sent.0?, received]))?;
    Ok((outputs, [sent.1, received.1]))
}

/// Returns the network of a run, and the cores that it computes with, for its progress.
fn conditions(setting: &Setting) -> (Network, Cores) {
    let network = setting.network.map_or(Network::INSTANT, Network::from);
    let cores =
        thread::available_parallelism().map_or(Cores::Own, |cores| Cores::Shared(cores.get()));
    (network, cores)
}

/// Both parties' ends of all channels: of the sender, and of the receiver.
type Ends = [Vec<Channel>; 2];

/// Joins the parties as in the setting, by this number of channels.
fn join(setting: &Setting, count: usize) -> Result<(Vec<Connection>, Ends), Failure> {
    let (connections, ends) = match setting.transport {
        Transport::Memory => {
            let builder = in_memory::Builder::new();
            let builder = match setting.network {
                Some(link) => builder.link(link),
                None => builder,
            };
            let (senders, receivers) = builder.pairs(count).into_iter().unzip();
            return Ok((Vec::new(), [senders, receivers]));
        }
        Transport::Tcp => over_loopback(Loopback::plaintext()?, count)?,
        Transport::Tls => over_loopback(Loopback::tls()?, count)?,
    };
    let ends = match setting.network {
        Some(link) => ends.map(|channels| linked_together(channels, link)),
        None => ends,
    };
    Ok((connections, ends))
}

fn over_loopback(loopback: Loopback, count: usize) -> Result<(Vec<Connection>, Ends), Failure> {
    let met = loopback.meet()?;
    // Both are one here, so any seed tells their streams from those of strangers.
    let joint_seed = &JointSeed::insecure_fixed(Prg::from_os().bytes());
    let open = |(mut connection, first): (Connection, Channel)| {
        let further = connection.open_streams(count as u8 - 1, joint_seed)?;
        let all: Vec<Channel> = iter::once(first).chain(further).collect();
        Ok::<_, psijoin_transport::Error>((connection, all))
    };
    let [one, other] = thread::scope(|scope| {
        let opening = met.map(|party| scope.spawn(|| open(party)));
        opening.map(|opened| match opened.join() {
            Ok(opened) => opened,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    });
    let ((listening, ones), (connecting, others)) = (one?, other?);
    Ok((vec![listening, connecting], [ones, others]))
}
