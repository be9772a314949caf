//! The work of both parties of a run, each measured alone.
//!
//! Two parties on one machine disturb each other: they share its cores, its caches and its memory.
//! So a run is made once to record the parties' messages. Then each runs again, with the same
//! randomness, against the messages of the other one: it does what it did before, and nobody else
//! computes.

use psijoin_block::{Block, Prg};
use psijoin_channel::{
    Channel,
    joint_seed::JointSeed,
    memory,
    playback::playback,
    trace::{Trace, traced},
    transcript::recorded,
};
use psijoin_psi::{
    Context, Error, Fingerprint, Input, Items, Plan, Role, items, pair, prepare, run,
};
use psijoin_runtime::{memory::peak_during, parallel::Pool};

use crate::{Run, Script};

/// Runs `plan` on random items, or on numbers if it is for short ones, a half of the smaller set
/// shared, with this many threads per party.
/// Then each party runs alone: once to warm up and to see how much memory it takes, and `runs`
/// times more. The scripts are those of the fastest of these, as what disturbs a machine only adds
/// to a run; the seconds are those of all, in their order. If the phases of a run do not
/// [overlap](Plan::overlaps), each is told by itself, too. All messages are kept in memory
/// meanwhile. Input columns are filled with small numbers, and so are payloads.
///
/// # Errors
/// As [`run`].
///
/// # Panics
/// If the operating system gives no threads, or `runs` is 0.
pub fn measure(plan: &Plan, threads: usize, runs: usize) -> Result<Run, Error> {
    let session = Session::new(plan, threads);
    let [by_sender, by_receiver] = session.record()?;
    let sender = session.alone(Role::Sender, &by_receiver, runs)?;
    let receiver = session.alone(Role::Receiver, &by_sender, runs)?;
    let parties = [sender, receiver];
    let phase = |number: usize| timed_run(plan, parties.each_ref().map(|one| one.phase(number)));
    Ok(Run {
        memory_bytes: parties.each_ref().map(|one| one.memory_bytes),
        phases: (!plan.overlaps()).then(|| Box::new([0, 1].map(phase))),
        ..timed_run(plan, parties.each_ref().map(Alone::whole))
    })
}

/// Returns the most memory that the sender and the receiver of `plan` take beyond their input, in
/// bytes, with one thread each: that of runs as in [`measure`](fn@measure), none of which is
/// timed. `None` in a program that does not [count](peak_during) it.
///
/// # Errors
/// As [`run`].
///
/// # Panics
/// If the operating system gives no threads.
pub fn measure_memory(plan: &Plan) -> Result<[Option<u64>; 2], Error> {
    let session = Session::new(plan, 1);
    let [by_sender, by_receiver] = session.record()?;
    let sender = session.alone(Role::Sender, &by_receiver, 0)?;
    let receiver = session.alone(Role::Receiver, &by_sender, 0)?;
    Ok([sender.memory_bytes, receiver.memory_bytes])
}

/// Returns what both parties did in some time of a run.
fn timed_run(plan: &Plan, parties: [Timed; 2]) -> Run {
    let sizes = plan.request().sizes;
    Run {
        items: [sizes.sender(), sizes.receiver()],
        scripts: parties.each_ref().map(|one| Script::from(&one.fastest)),
        memory_bytes: [None; 2],
        on_two_threads: None,
        seconds: parties.map(|one| one.seconds),
        phases: None,
    }
}

/// The runs of one party, and its memory.
struct Alone {
    /// A trace for each phase, or one for both if they overlap.
    runs: Vec<Vec<Trace>>,
    memory_bytes: Option<u64>,
}

impl Alone {
    /// Returns whole runs.
    fn whole(&self) -> Timed {
        let whole = |phases: &Vec<Trace>| {
            let steps = phases.iter().flat_map(|phase| phase.steps.iter().cloned());
            Trace {
                steps: steps.collect(),
            }
        };
        Timed::new(self.runs.iter().map(whole).collect())
    }

    /// Returns a phase of all runs.
    fn phase(&self, number: usize) -> Timed {
        Timed::new(
            self.runs
                .iter()
                .map(|phases| phases[number].clone())
                .collect(),
        )
    }
}

/// The fastest of some traces, and the seconds of all.
struct Timed {
    fastest: Trace,
    seconds: Vec<f64>,
}

impl Timed {
    fn new(traces: Vec<Trace>) -> Self {
        let seconds = traces.iter().map(|trace| trace.computing().as_secs_f64());
        Self {
            seconds: seconds.collect(),
            fastest: (traces.into_iter().min_by_key(Trace::computing)).expect("there are runs"),
        }
    }
}

/// The constants of all runs.
struct Session<'a> {
    plan: &'a Plan,
    joint_seed: JointSeed,
    sets: [Items; 2],
    columns: [Vec<Vec<i64>>; 2],
    payloads: [Vec<u8>; 2],
    pools: [Pool; 2],
}

impl<'a> Session<'a> {
    fn new(plan: &'a Plan, threads: usize) -> Self {
        let joint_seed = JointSeed::insecure_fixed([1; 32]);
        let sizes = plan.request().sizes;
        let lengths = [sizes.sender(), sizes.receiver()].map(|items| items as usize);
        let fingerprint: fn(usize) -> Fingerprint = match plan.number_bits() {
            Some(_) => |number| items::number(number as u64),
            None => fingerprint,
        };
        let digest = |first: usize, length: usize| {
            let fingerprints: Vec<_> = (first..first + length).map(fingerprint).collect();
            plan.items(&fingerprints, &joint_seed)
        };
        let shared = lengths[0].min(lengths[1]) / 2;
        let sets = [
            digest(0, lengths[0]),
            digest(lengths[0] - shared, lengths[1]),
        ];
        let columns = [Role::Sender, Role::Receiver].map(|role| {
            let columns = plan.request().output.columns().of(role);
            vec![vec![1; lengths[role as usize]]; columns]
        });
        let payloads = [Role::Sender, Role::Receiver].map(|role| {
            let bytes = plan.request().output.payload_bytes(role);
            vec![1; lengths[role as usize] * bytes]
        });
        let pools = [0, 1].map(|_| Pool::new(threads).expect("the system gives threads"));
        Self {
            plan,
            joint_seed,
            sets,
            columns,
            payloads,
            pools,
        }
    }

    fn input(&self, role: Role) -> Input<'_> {
        Input {
            items: &self.sets[role as usize],
            columns: &self.columns[role as usize],
            payloads: &self.payloads[role as usize],
            joint_seed: &self.joint_seed,
        }
    }

    /// Returns the messages of the sender in a run, and of the receiver.
    fn record(&self) -> Result<[Vec<Vec<u8>>; 2], Error> {
        let (a, b) = memory::pair();
        let ((a, by_sender), (b, by_receiver)) = (recorded(a), recorded(b));
        let side = |channel, role| pair::Side {
            channel,
            streams: Vec::new(),
            rng: Some(randomness(role)),
            pool: &self.pools[role as usize],
            noise: &[],
        };
        let (sent, received) = pair::run_sides(
            self.plan,
            (self.input(Role::Sender), side(a, Role::Sender)),
            (self.input(Role::Receiver), side(b, Role::Receiver)),
        );
        received?;
        sent?;
        Ok([by_sender, by_receiver].map(|said| said.messages()))
    }

    /// Runs a party against its peer's messages.
    fn alone(&self, role: Role, peer: &[Vec<u8>], runs: usize) -> Result<Alone, Error> {
        let run = |channel| self.traced(role, channel);
        let channel = playback(peer.to_vec());
        let (warm, memory_bytes) = peak_during(|| run(channel));
        warm?;
        let runs = (0..runs).map(|_| run(playback(peer.to_vec())));
        Ok(Alone {
            runs: runs.collect::<Result<_, _>>()?,
            memory_bytes,
        })
    }

    /// Runs a party, and returns what it did in each phase, or in both if they overlap.
    fn traced(&self, role: Role, channel: Channel) -> Result<Vec<Trace>, Error> {
        let (mut channel, tracer) = traced(channel);
        let (plan, input) = (self.plan, self.input(role));
        self.pools[role as usize].run(|| {
            let mut context = Context::new(&mut channel);
            context.rng = randomness(role);
            if plan.overlaps() {
                run(plan, role, &input, &mut context)?;
                return Ok(vec![tracer.finish()]);
            }
            let prepared = prepare(plan, role, &mut context)?;
            let offline = tracer.finish();
            prepared.run(&input, &mut context)?;
            Ok(vec![offline, tracer.finish()])
        })
    }
}

fn fingerprint(number: usize) -> Fingerprint {
    let mut fingerprint = [0; 32];
    fingerprint[..8].copy_from_slice(&(number as u64).to_le_bytes());
    fingerprint
}

/// Returns randomness that is equal in every run.
fn randomness(role: Role) -> Prg {
    Prg::from_seed(Block(role as u128))
}

#[cfg(test)]
mod tests {
    use psijoin_psi::Request;
    use psijoin_psi_pk::dh::DH;

    use super::*;
    use crate::{Cores, Network, simulate};

    #[test]
    fn both_parties_of_a_run_fit_each_other() {
        let plan = DH.plan(&Request::rows(100, 30).unwrap()).unwrap();
        let run = measure(&plan, 1, 2).unwrap();
        let [sender, receiver] = &run.scripts;
        let cost = plan.cost().total;
        let bytes = [cost.sender_bytes as f64, cost.receiver_bytes as f64];
        assert_eq!(sender.traffic(), bytes);
        assert_eq!(receiver.traffic(), [bytes[1], bytes[0]]);
        let forecast = simulate(sender, receiver, &Network::INSTANT, Cores::Own).unwrap();
        for (script, times) in run.scripts.iter().zip(&run.seconds) {
            let fastest = times.iter().copied().fold(f64::INFINITY, f64::min);
            assert_eq!(times.len(), 2);
            assert!((script.computing() / fastest - 1.0).abs() < 1e-6);
        }
        for (script, party) in run.scripts.iter().zip(forecast.parties) {
            assert!(script.computing() > 0.0);
            assert!((party.computing / script.computing() - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn the_phases_of_a_run_are_what_it_consists_of() {
        let plan = DH.plan(&Request::rows(100, 30).unwrap()).unwrap();
        let run = measure(&plan, 1, 2).unwrap();
        let phases = run.phases.as_ref().unwrap();
        for party in [0, 1] {
            let told = |of: &dyn Fn(&Run) -> f64| phases.iter().map(of).sum::<f64>();
            let seconds = |number: usize| told(&|phase| phase.seconds[party][number]);
            for (number, whole) in run.seconds[party].iter().enumerate() {
                assert!((seconds(number) / whole - 1.0).abs() < 1e-6);
            }
            let sent = told(&|phase| phase.scripts[party].traffic()[0]);
            assert_eq!(sent, run.scripts[party].traffic()[0]);
            // Diffie-Hellman has nothing to prepare.
            assert_eq!(phases[0].scripts[party].traffic(), [0.0; 2]);
        }
    }
}
