//! One run of both parties.

use std::{
    thread,
    time::{Duration, Instant},
};

use psijoin::{JointSeed, Output, Plan, Role};
use psijoin_block::{Prg, parallel::Pool};
use psijoin_channel::{
    Channel,
    count::{Snapshot, counted},
    link::linked,
    memory as in_memory,
};
use psijoin_forecast::{Cores, Network};
use psijoin_transport::Connection;

use super::{
    Setting, expectation,
    sets::{Own, Sets},
};
use crate::{
    args::Transport,
    console::Console,
    exit::Failure,
    loopback::Loopback,
    memory,
    phases::{Phase, Phases},
    progress::Model,
    session::{self, Set},
};

/// Both parties, who meet for every run.
pub(super) struct Parties {
    sets: Sets,
    /// The sender's, and the receiver's.
    pools: [Pool; 2],
    /// Bytes that were resident before the first run: the input.
    resident_bytes: Option<u64>,
}

/// What a run took.
pub(super) struct Run {
    pub(super) time: Duration,
    /// Seen from the receiver.
    pub(super) traffic: Snapshot,
    pub(super) sender_phases: Vec<Phase>,
    pub(super) receiver_phases: Vec<Phase>,
    /// Of both parties together, with their input.
    pub(super) peak_bytes: Option<u64>,
    /// The same beyond what was resident before the first run of all. What the allocator has
    /// kept from earlier runs counts, so this is too much rather than too little.
    pub(super) peak_above_input_bytes: Option<u64>,
}

/// What a party learned, and where its time went.
type Played = Result<(Output, Vec<Phase>), psijoin::Error>;

impl Parties {
    /// With random sets.
    ///
    /// # Errors
    /// If there is no memory for threads.
    pub(super) fn new(setting: &Setting) -> Result<Self, Failure> {
        let pool = || Pool::new(setting.threads.get()).map_err(|_| Failure::OutOfMemory);
        let sets = Sets::random(setting.sizes, setting.columns);
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
        // The connections live until both parties are done.
        let (_connections, [senders_end, receivers_end]) = join(setting)?;
        let (receivers_end, counters) = counted(receivers_end);
        memory::reset_peak();
        let console = Console::wanted(false);
        let (network, cores) = conditions(setting);
        let threads = setting.threads.get();
        let mut model = Model::new(plan, Role::Receiver, threads, network, cores, console);
        let position = || model.position(counters.snapshot().total_bytes());
        let both = || self.play(plan, senders_end, receivers_end);
        let started = Instant::now();
        let (sent, received) = console.during(what, position, both);
        let time = started.elapsed();
        let peak_bytes = memory::peak_bytes();

        let (received, receiver_phases) = received?;
        let (sent, sender_phases) = sent?;
        if !expectation::is_met(&self.sets, plan.request(), &sent, &received) {
            return Err(Failure::WrongResult(plan.info().name));
        }
        Ok(Run {
            time,
            traffic: counters.snapshot(),
            sender_phases,
            receiver_phases,
            peak_bytes,
            peak_above_input_bytes: peak_bytes
                .zip(self.resident_bytes)
                .map(|(peak, input)| peak.saturating_sub(input)),
        })
    }

    /// Lets both play their parts at once: the sender, and the receiver.
    fn play(&self, plan: &Plan, senders_end: Channel, receivers_end: Channel) -> (Played, Played) {
        // Both parties are one here.
        let joint_seed = JointSeed::insecure_fixed(Prg::from_os().bytes());
        let party = |role, own: &Own, channel: Channel, pool| {
            let phases = Phases::default();
            let set = Set {
                fingerprints: &own.items,
                columns: &own.columns,
            };
            session::compute(plan, role, set, &joint_seed, &mut [channel], pool, &phases)
                .map(|output| (output, phases.end()))
        };
        let Sets {
            sender, receiver, ..
        } = &self.sets;
        let [sender_pool, receiver_pool] = &self.pools;
        thread::scope(|scope| {
            let sending = scope.spawn(|| party(Role::Sender, sender, senders_end, sender_pool));
            let received = party(Role::Receiver, receiver, receivers_end, receiver_pool);
            match sending.join() {
                Ok(sent) => (sent, received),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }
}

/// What a run goes over, and what it computes with, for its progress.
fn conditions(setting: &Setting) -> (Network, Cores) {
    let network = setting.network.map_or(Network::INSTANT, Network::from);
    let cores =
        thread::available_parallelism().map_or(Cores::Own, |cores| Cores::Shared(cores.get()));
    (network, cores)
}

/// Joins the parties as the setting says.
fn join(setting: &Setting) -> Result<(Vec<Connection>, [Channel; 2]), Failure> {
    let (connections, channels) = match setting.transport {
        Transport::Memory => {
            let pair = match setting.network {
                Some(link) => in_memory::Builder::new().link(link).pair(),
                None => in_memory::pair(),
            };
            return Ok((Vec::new(), pair.into()));
        }
        Transport::Tcp => over_loopback(Loopback::plaintext()?)?,
        Transport::Tls => over_loopback(Loopback::tls()?)?,
    };
    let channels = match setting.network {
        Some(link) => channels.map(|channel| linked(channel, link)),
        None => channels,
    };
    Ok((connections, channels))
}

fn over_loopback(loopback: Loopback) -> Result<(Vec<Connection>, [Channel; 2]), Failure> {
    let [(listening, one), (connecting, other)] = loopback.meet()?;
    Ok((vec![listening, connecting], [one, other]))
}
