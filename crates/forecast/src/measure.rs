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
use psijoin_psi::{Context, Error, Fingerprint, Input, Items, Plan, Role, items, pair, run};
use psijoin_runtime::{memory::peak_during, parallel::Pool};

use crate::{Run, Script};

/// Runs `plan` on random items, or on numbers if it is for short ones, a half of the smaller set
/// shared, with this many threads per party.
/// Then each party runs alone: once to warm up and to see how much memory it takes, and `runs`
/// times more. The scripts are those of the fastest of these, as what disturbs a machine only adds
/// to a run; the seconds are those of all, in their order. All messages are kept in memory
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
    let sizes = plan.request().sizes;
    Ok(Run {
        items: [sizes.sender(), sizes.receiver()],
        scripts: [&sender, &receiver].map(|alone| Script::from(&alone.trace)),
        memory_bytes: [&sender, &receiver].map(|alone| alone.memory_bytes),
        on_two_threads: None,
        seconds: [sender, receiver].map(|alone| alone.seconds),
    })
}

/// The fastest trace of one party, the seconds of all, and its memory.
struct Alone {
    trace: Trace,
    seconds: Vec<f64>,
    memory_bytes: Option<u64>,
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
        let traces = (0..runs).map(|_| run(playback(peer.to_vec())));
        let traces = traces.collect::<Result<Vec<_>, _>>()?;
        let seconds = traces.iter().map(|trace| trace.computing().as_secs_f64());
        let seconds = seconds.collect();
        let fastest = traces.into_iter().min_by_key(Trace::computing);
        Ok(Alone {
            trace: fastest.expect("there are runs"),
            seconds,
            memory_bytes,
        })
    }

    fn traced(&self, role: Role, channel: Channel) -> Result<Trace, Error> {
        let (mut channel, tracer) = traced(channel);
        self.pools[role as usize].run(|| {
            let mut context = Context::new(&mut channel);
            context.rng = randomness(role);
            run(self.plan, role, &self.input(role), &mut context)
        })?;
        Ok(tracer.finish())
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
}
