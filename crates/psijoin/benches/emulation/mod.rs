//! Both parties in one process, over an emulated link: what benches compare forecasts and choices
//! with.

use std::time::Instant;

use psijoin::{
    Fingerprint, Input, Items, JointSeed, Plan, Pool, Role,
    channel::{link::Link, memory},
    pair,
};

/// A run whose median takes longer than these seconds is made once only.
const LONG: f64 = 10.0;

/// The number of runs, whose median counts.
const RUNS: usize = 5;

/// Both parties of a plan, one thread each, with their sets: half of the smaller one is shared.
/// Columns hold ones.
pub(crate) struct Emulation<'a> {
    plan: &'a Plan,
    joint_seed: JointSeed,
    sets: [Items; 2],
    columns: [Vec<Vec<i64>>; 2],
    pools: [Pool; 2],
}

impl<'a> Emulation<'a> {
    pub(crate) fn new(plan: &'a Plan) -> Self {
        let joint_seed = JointSeed::insecure_fixed([1; 32]);
        let sizes = plan.request().sizes;
        let [senders, receivers] = [sizes.sender(), sizes.receiver()];
        let digest = |from: u64, items: u64| {
            let fingerprints: Vec<_> = (from..from + items).map(fingerprint).collect();
            plan.items(&fingerprints, &joint_seed)
        };
        let sets = [
            digest(0, senders),
            digest(senders - senders.min(receivers) / 2, receivers),
        ];
        let columns =
            [(Role::Sender, senders), (Role::Receiver, receivers)].map(|(role, items)| {
                let columns = plan.request().output.columns().of(role);
                vec![vec![1; items as usize]; columns]
            });
        Self {
            plan,
            joint_seed,
            sets,
            columns,
            pools: [pair::single_thread(), pair::single_thread()],
        }
    }

    /// Seconds of a run over this link, or over none: the median of five after one to warm up, or a
    /// single one where that takes long.
    pub(crate) fn median(&self, link: Option<Link>) -> f64 {
        let first = self.seconds(link);
        if first > LONG {
            return first;
        }
        let mut times: Vec<f64> = (0..RUNS).map(|_| self.seconds(link)).collect();
        times.sort_by(f64::total_cmp);
        times[RUNS / 2]
    }

    fn seconds(&self, link: Option<Link>) -> f64 {
        let (a, b) = match link {
            Some(link) => memory::Builder::new().link(link).pair(),
            None => memory::pair(),
        };
        let side = |role: Role, channel| {
            let input = Input {
                items: &self.sets[role as usize],
                columns: &self.columns[role as usize],
                payloads: &[],
                joint_seed: &self.joint_seed,
            };
            let pool = &self.pools[role as usize];
            let side = pair::Side {
                channel,
                streams: Vec::new(),
                rng: None,
                pool,
                noise: &[],
            };
            (input, side)
        };
        let (sender, receiver) = (side(Role::Sender, a), side(Role::Receiver, b));
        let started = Instant::now();
        let (sent, received) = pair::run_sides(self.plan, sender, receiver);
        let seconds = started.elapsed().as_secs_f64();
        sent.expect("it sends");
        received.expect("it receives");
        seconds
    }
}

fn fingerprint(number: u64) -> Fingerprint {
    let mut fingerprint = [0; 32];
    fingerprint[..8].copy_from_slice(&number.to_le_bytes());
    fingerprint
}
