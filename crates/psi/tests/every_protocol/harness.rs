//! `run_pair`: both parties of a protocol in one process, over any pair of channels.

use psijoin_block::{Block, Prg};
use psijoin_channel::{Channel, memory};
use psijoin_params::{Security, Sizes};
use psijoin_psi::{
    Context, Error, ErrorKind, Fingerprint, Items, Output, OutputKind, Plan, Protocol, Request,
    pair, psz, registry,
};

/// Which items each party has, by number.
#[derive(Debug, Clone)]
pub(crate) struct Sets {
    pub(crate) sender: Vec<u64>,
    pub(crate) receiver: Vec<u64>,
}

impl Sets {
    /// `shared` items of both; the rest of each is its own. The receiver's come in another
    /// order than the sender's.
    pub(crate) fn new(sender: usize, receiver: usize, shared: usize) -> Self {
        let sender = (0..sender as u64).collect();
        let own = (1 << 40)..;
        let receiver: Vec<u64> = (0..shared as u64).chain(own).take(receiver).collect();
        Self {
            sender,
            receiver: receiver.into_iter().rev().collect(),
        }
    }

    /// What the receiver is to learn, by a plain join.
    pub(crate) fn expected(&self, output: &OutputKind) -> Output {
        let rows = self.shared_rows();
        match output {
            OutputKind::Rows => Output::Rows(rows),
            OutputKind::Count => Output::Count(rows.len() as u64),
            OutputKind::Threshold(items) => Output::Reached(rows.len() as u64 >= *items),
            other => panic!("what is {other}?"),
        }
    }

    /// All that the protocol computes; thresholds that are just reached, and just missed.
    pub(crate) fn outputs(&self, protocol: &dyn Protocol) -> Vec<OutputKind> {
        let shared = self.shared_rows().len() as u64;
        let mut outputs = vec![
            OutputKind::Rows,
            OutputKind::Count,
            OutputKind::Threshold(shared),
            OutputKind::Threshold(shared + 1),
        ];
        outputs.retain(|output| protocol.computes(output));
        outputs
    }

    /// The receiver's positions that a plain join finds.
    fn shared_rows(&self) -> Vec<u32> {
        let senders: std::collections::HashSet<_> = self.sender.iter().collect();
        let rows = self
            .receiver
            .iter()
            .enumerate()
            .filter(|(_, item)| senders.contains(item));
        rows.map(|(position, _)| position as u32).collect()
    }

    /// The same sets, or a sixteenth of them where an item costs milliseconds in a development
    /// build: large numbers to large powers, thousands of gates, or a thousand comparisons. Their
    /// messages hold as much less.
    pub(crate) fn sized_for(&self, protocol: &dyn Protocol) -> Self {
        let is_slow = match protocol.info().name {
            "dh-ffdhe3072" | "rsa" => true,
            "psz-none" => self.sender.len() * self.receiver.len() > 1 << 20,
            _ => is_circuit(protocol),
        };
        if !is_slow || self.sender.len() + self.receiver.len() < 64 {
            return self.clone();
        }
        let some = |items: &[u64]| {
            items
                .iter()
                .copied()
                .filter(|item| item % 16 == 0)
                .collect()
        };
        Self {
            sender: some(&self.sender),
            receiver: some(&self.receiver),
        }
    }

    pub(crate) fn request(&self, sigma: u32, output: OutputKind) -> Request {
        Request {
            sizes: Sizes::new(self.sender.len() as u64, self.receiver.len() as u64).unwrap(),
            security: Security::new(sigma).unwrap(),
            output,
        }
    }

    /// To find rows.
    pub(crate) fn plan(&self, protocol: &dyn Protocol) -> Box<dyn Plan> {
        self.plan_for(protocol, OutputKind::Rows)
    }

    pub(crate) fn plan_for(&self, protocol: &dyn Protocol, output: OutputKind) -> Box<dyn Plan> {
        registry::plan(protocol, &self.request(40, output)).unwrap()
    }
}

/// Whether a protocol evaluates a circuit: thousands of gates an item, a message or more a layer.
pub(crate) fn is_circuit(protocol: &dyn Protocol) -> bool {
    protocol.info().name.starts_with("circuit-")
}

/// Fingerprints with as much structure as the numbers have: they differ in a few bits only.
pub(crate) fn structured(items: &[u64]) -> Vec<Fingerprint> {
    items
        .iter()
        .map(|item| {
            let mut fingerprint = [0; 32];
            fingerprint[..8].copy_from_slice(&item.to_le_bytes());
            fingerprint
        })
        .collect()
}

pub(crate) const JOINT_SEED: [u8; 32] = [42; 32];

pub(crate) type Results = (Result<Output, Error>, Result<Output, Error>);

/// How the parties are set up.
pub(crate) struct Setup {
    pub(crate) joint_seed: [u8; 32],
    /// Seeds of the parties' own randomness; from the operating system if there are none.
    pub(crate) seeds: Option<[u128; 2]>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            joint_seed: JOINT_SEED,
            seeds: None,
        }
    }
}

/// Runs both parties over these channels.
pub(crate) fn run_pair(
    plan: &dyn Plan,
    sets: &Sets,
    (sender, receiver): (Channel, Channel),
    setup: &Setup,
) -> Results {
    let items = |numbers: &[u64]| {
        Items::digest(&structured(numbers), &setup.joint_seed, plan.digest_bytes())
    };
    let pools = [pair::single_thread(), pair::single_thread()];
    let side = |channel, party: usize| {
        let mut context = Context::new();
        if let Some(seeds) = setup.seeds {
            context.rng = Prg::from_seed(Block(seeds[party]));
        }
        pair::Side {
            channel,
            context,
            pool: &pools[party],
        }
    };
    pair::run_sides(
        plan,
        &setup.joint_seed,
        (&items(&sets.sender), side(sender, 0)),
        (&items(&sets.receiver), side(receiver, 1)),
    )
}

/// Whether a protocol takes sets of these sizes: all do but one, which compares every pair.
pub(crate) fn serves(protocol: &dyn Protocol, sets: &Sets) -> bool {
    let pairs = sets.sender.len() as u128 * sets.receiver.len() as u128;
    let serves = protocol.info().name != "psz-none" || pairs <= psz::MOST_PAIRS;
    assert_eq!(sets.plan(protocol).feasible().is_ok(), serves);
    serves
}

/// Runs both parties over a plain channel and demands the right result, of each kind that the
/// protocol computes, or to be refused where sets are too large for it.
pub(crate) fn check(protocol: &dyn Protocol, sets: &Sets) {
    let sets = sets.sized_for(protocol);
    for output in sets.outputs(protocol) {
        let plan = sets.plan_for(protocol, output.clone());
        let results = run_pair(&*plan, &sets, memory::pair(), &Setup::default());
        if serves(protocol, &sets) {
            assert_output(protocol, &sets, &output, results);
        } else {
            let refused = |result: Result<Output, Error>| result.unwrap_err().kind();
            assert_eq!(refused(results.0), ErrorKind::Misuse);
            assert_eq!(refused(results.1), ErrorKind::Misuse);
        }
    }
}

/// The right rows.
pub(crate) fn assert_result(protocol: &dyn Protocol, sets: &Sets, results: Results) {
    assert_output(protocol, sets, &OutputKind::Rows, results);
}

fn assert_output(
    protocol: &dyn Protocol,
    sets: &Sets,
    output: &OutputKind,
    (sent, received): Results,
) {
    let name = protocol.info().name;
    assert_eq!(
        sent.unwrap(),
        Output::Nothing,
        "{name}: what the sender learned"
    );
    let received = received.unwrap();
    assert!(
        received == sets.expected(output),
        "{name}, {output} of {} and {} items: a wrong result",
        sets.sender.len(),
        sets.receiver.len()
    );
}
