//! `psijoin bench`: both parties in one process, measured on random items.

use std::{
    num::NonZeroUsize,
    thread,
    time::{Duration, Instant},
};

use psijoin::{Fingerprint, JointSeed, Output, Plan, Request, Role};
use psijoin_block::{Prg, parallel::Pool};
use psijoin_channel::{
    Channel,
    count::{Snapshot, counted},
    link::{Link, linked},
    memory as in_memory,
};
use psijoin_transport::Connection;

use crate::{
    args::{self, Selection, Transport},
    console::Console,
    exit::Failure,
    loopback::Loopback,
    memory, output,
    phases::{Phase, Phases},
    session::{self, Set},
    sizes::SetSizes,
};

mod show;

/// What is measured.
struct Setting {
    sizes: SetSizes,
    network: Option<Link>,
    transport: Transport,
    threads: NonZeroUsize,
    /// Bytes that were resident before the first run: the input.
    resident_bytes: Option<u64>,
}

/// The parties' sets, and which of the receiver's items are shared.
struct Sets {
    sender: Vec<Fingerprint>,
    receiver: Vec<Fingerprint>,
    shared: Vec<u32>,
}

/// One run.
struct Run {
    time: Duration,
    /// Seen from the receiver.
    traffic: Snapshot,
    sender_phases: Vec<Phase>,
    receiver_phases: Vec<Phase>,
    /// Of both parties together, with their input.
    peak_bytes: Option<u64>,
    /// The same beyond what was resident before the first run of all. What the allocator has
    /// kept from earlier runs counts, so this is too much rather than too little.
    peak_above_input_bytes: Option<u64>,
}

/// All runs of one protocol, the fastest first.
struct Measurement {
    plan: Plan,
    runs: Vec<Run>,
}

impl Measurement {
    fn fastest(&self) -> &Run {
        &self.runs[0]
    }

    /// The upper one of the middle two, if there are two.
    fn median(&self) -> Duration {
        self.runs[self.runs.len() / 2].time
    }
}

pub(super) fn run(args: &args::Bench) -> Result<(), Failure> {
    let sets = Sets::random(args.items);
    let pools = [pool(args.threads)?, pool(args.threads)?];
    let setting = Setting {
        sizes: args.items,
        network: args.network,
        transport: args.transport,
        threads: args.threads,
        resident_bytes: memory::resident_bytes(),
    };
    let mut measurements = Vec::new();
    let request = Request::rows(args.items.sender, args.items.receiver)?;
    let protocols = Selection::resolve(&args.protocol);
    for protocol in &protocols {
        let plan = protocol.plan(&request)?;
        match plan.feasible() {
            Err(refusal) if protocols.len() > 1 => {
                let name = plan.info().name;
                Console::wanted(false).say(format_args!("{name} is left out: {refusal}"));
                continue;
            }
            feasible => feasible?,
        }
        let measurement = measure(plan, &setting, &sets, &pools, args.runs)?;
        if args.json {
            output::json(&show::object(&setting, &measurement))?;
        }
        measurements.push(measurement);
    }
    if args.json {
        return Ok(());
    }
    output::text(&show::tables(&setting, &measurements))
}

fn pool(threads: NonZeroUsize) -> Result<Pool, Failure> {
    Pool::new(threads.get()).map_err(|_| Failure::OutOfMemory)
}

impl Sets {
    /// Random sets. Half of the smaller one is shared, at random places of the receiver's.
    fn random(SetSizes { sender, receiver }: SetSizes) -> Self {
        let mut rng = Prg::from_os();
        let sender: Vec<Fingerprint> = (0..sender).map(|_| rng.bytes()).collect();
        let mut places = rng.permutation(receiver as u32);
        places.truncate(sender.len().min(receiver as usize) / 2);
        let mut receiver: Vec<Fingerprint> = (0..receiver).map(|_| rng.bytes()).collect();
        for (&place, item) in places.iter().zip(&sender) {
            receiver[place as usize] = *item;
        }
        places.sort_unstable();
        Self {
            sender,
            receiver,
            shared: places,
        }
    }
}

fn measure(
    plan: Plan,
    setting: &Setting,
    sets: &Sets,
    pools: &[Pool; 2],
    runs: NonZeroUsize,
) -> Result<Measurement, Failure> {
    let mut runs = (1..=runs.get())
        .map(|run| {
            let what = format!("{}, run {run} of {runs}", plan.info().name);
            run_once(&plan, setting, sets, pools, &what)
        })
        .collect::<Result<Vec<_>, _>>()?;
    runs.sort_by_key(|run| run.time);
    Ok(Measurement { plan, runs })
}

/// From both parties' items to the end of both, the connection not included.
fn run_once(
    plan: &Plan,
    setting: &Setting,
    sets: &Sets,
    pools: &[Pool; 2],
    what: &str,
) -> Result<Run, Failure> {
    // The connections live until both parties are done.
    let (_connections, [senders_end, receivers_end]) = join(setting)?;
    let (receivers_end, counters) = counted(receivers_end);
    // Both parties are one here.
    let joint_seed = JointSeed::insecure_fixed(Prg::from_os().bytes());
    let party = |role, fingerprints: &Vec<Fingerprint>, mut channel: Channel, pool| {
        let phases = Phases::default();
        let set = Set {
            fingerprints,
            columns: Vec::new(),
        };
        let output = session::compute(plan, role, set, &joint_seed, &mut channel, pool, &phases);
        output.map(|output| (output, phases.end()))
    };
    let [sender_pool, receiver_pool] = pools;
    let both = || {
        thread::scope(|scope| {
            let sending =
                scope.spawn(|| party(Role::Sender, &sets.sender, senders_end, sender_pool));
            let received = party(Role::Receiver, &sets.receiver, receivers_end, receiver_pool);
            match sending.join() {
                Ok(sent) => (sent, received),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    };

    memory::reset_peak();
    let bytes = plan.cost().total.total_bytes();
    let position = || (counters.snapshot().total_bytes(), bytes);
    let started = Instant::now();
    let (sent, received) = Console::wanted(false).during(what, position, both);
    let time = started.elapsed();
    let peak_bytes = memory::peak_bytes();

    let (output, receiver_phases) = received?;
    let (_, sender_phases) = sent?;
    if output != Output::Rows(sets.shared.clone()) {
        return Err(Failure::WrongResult(plan.info().name));
    }
    Ok(Run {
        time,
        traffic: counters.snapshot(),
        sender_phases,
        receiver_phases,
        peak_bytes,
        peak_above_input_bytes: peak_bytes
            .zip(setting.resident_bytes)
            .map(|(peak, input)| peak.saturating_sub(input)),
    })
}

/// Joins the parties as the setting says.
fn join(setting: &Setting) -> Result<(Vec<Connection>, [Channel; 2]), Failure> {
    let (connections, channels) = match setting.transport {
        Transport::Memory => (Vec::new(), in_memory::pair().into()),
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn half_of_the_smaller_set_is_shared() {
        for (sender, receiver, shared) in [(10, 10, 5), (7, 100, 3), (100, 7, 3), (0, 5, 0)] {
            let sets = Sets::random(SetSizes { sender, receiver });
            assert_eq!(sets.shared.len(), shared);
            let senders: HashSet<_> = sets.sender.iter().collect();
            let expected: Vec<_> = (0..receiver as u32)
                .filter(|&place| senders.contains(&sets.receiver[place as usize]))
                .collect();
            assert_eq!(sets.shared, expected);
        }
    }
}
