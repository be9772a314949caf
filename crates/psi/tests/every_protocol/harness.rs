//! `run_pair`: both parties of a protocol in one process, over any pair of channels.

use psijoin_block::{Block, Prg};
use psijoin_channel::{Channel, memory};
use psijoin_params::{Security, Sizes};
use psijoin_psi::{
    Columns, Context, Error, ErrorKind, Fingerprint, Input, Items, Output, OutputKind, Plan,
    Protocol, Request, Role, Shares, pair, psz, registry,
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

    /// What the receiver is to learn, by a plain join: nothing of shares, which
    /// [`assert_shares`] checks.
    pub(crate) fn expected(&self, request: &Request) -> Output {
        let rows = self.shared_rows();
        let shared = rows.len() as u64;
        if shared < request.min_intersection {
            return Output::TooFew;
        }
        match &request.output {
            OutputKind::Rows => Output::Rows(rows),
            OutputKind::Count => Output::Count(shared),
            OutputKind::Threshold(items) => Output::Reached(shared >= *items),
            OutputKind::Sums(columns) => {
                let sum = |(role, column): (Role, usize)| {
                    let items = rows.iter().map(|row| self.receiver[*row as usize]);
                    items.map(|item| number(role, column, item)).sum()
                };
                Output::Sums(all_columns(*columns).map(sum).collect())
            }
            OutputKind::Shares(_) => Output::Nothing,
            other => panic!("what is {other}?"),
        }
    }

    /// What the sender is to learn.
    fn expected_of_sender(&self, request: &Request) -> Output {
        match self.expected(request) {
            Output::TooFew => Output::TooFew,
            _ => Output::Nothing,
        }
    }

    /// All that the protocol computes; thresholds and minima that are just reached, and just
    /// missed.
    pub(crate) fn requests(&self, protocol: &dyn Protocol) -> Vec<Request> {
        let shared = self.shared_rows().len() as u64;
        let columns = |sender, receiver| Columns { sender, receiver };
        let kinds = [
            OutputKind::Rows,
            OutputKind::Count,
            OutputKind::Threshold(shared),
            OutputKind::Threshold(shared + 1),
            OutputKind::Sums(columns(0, 1)),
            OutputKind::Sums(columns(2, 1)),
            OutputKind::Shares(columns(0, 0)),
            OutputKind::Shares(columns(1, 2)),
        ];
        let mut requests: Vec<Request> = kinds.map(|kind| self.request(40, kind)).into();
        for kind in [
            OutputKind::Rows,
            OutputKind::Count,
            OutputKind::Sums(columns(1, 1)),
        ] {
            for min_intersection in [shared, shared + 1] {
                requests.push(Request {
                    min_intersection,
                    ..self.request(40, kind.clone())
                });
            }
        }
        requests.retain(|request| {
            protocol.computes(&request.output)
                && (request.min_intersection == 0 || protocol.withholds())
        });
        requests
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
            min_intersection: 0,
        }
    }

    /// To find rows.
    pub(crate) fn plan(&self, protocol: &dyn Protocol) -> Box<dyn Plan> {
        registry::plan(protocol, &self.request(40, OutputKind::Rows)).unwrap()
    }
}

/// The columns of both parties, the sender's first.
fn all_columns(columns: Columns) -> impl Iterator<Item = (Role, usize)> {
    [Role::Sender, Role::Receiver]
        .into_iter()
        .flat_map(move |role| (0..columns.of(role)).map(move |column| (role, column)))
}

/// The number of an item in a column: of either sign, and some of them large.
fn number(role: Role, column: usize, item: u64) -> i64 {
    let hash = blake3::hash(
        &[[role as u64, column as u64, item].map(u64::to_le_bytes)]
            .concat()
            .concat(),
    );
    let number = i64::from_le_bytes(*hash.as_bytes().first_chunk().unwrap());
    number >> (17 + 13 * column)
}

/// The numbers of a party's items.
fn columns(role: Role, items: &[u64], output: &OutputKind) -> Vec<Vec<i64>> {
    let column = |column| {
        let numbers = items.iter().map(|item| number(role, column, *item));
        numbers.collect()
    };
    (0..output.columns().of(role)).map(column).collect()
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
    let output = &plan.request().output;
    let (senders, receivers) = (items(&sets.sender), items(&sets.receiver));
    let sender_columns = columns(Role::Sender, &sets.sender, output);
    let receiver_columns = columns(Role::Receiver, &sets.receiver, output);
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
    let input = |(items, columns)| Input {
        items,
        columns,
        joint_seed: &setup.joint_seed,
    };
    pair::run_sides(
        plan,
        (input((&senders, &*sender_columns)), side(sender, 0)),
        (input((&receivers, &*receiver_columns)), side(receiver, 1)),
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
    for request in sets.requests(protocol) {
        let plan = registry::plan(protocol, &request).unwrap();
        let results = run_pair(&*plan, &sets, memory::pair(), &Setup::default());
        if serves(protocol, &sets) {
            assert_output(protocol, &sets, &request, results);
        } else {
            let refused = |result: Result<Output, Error>| result.unwrap_err().kind();
            assert_eq!(refused(results.0), ErrorKind::Misuse);
            assert_eq!(refused(results.1), ErrorKind::Misuse);
        }
    }
}

/// The right rows.
pub(crate) fn assert_result(protocol: &dyn Protocol, sets: &Sets, results: Results) {
    let request = sets.request(40, OutputKind::Rows);
    assert_output(protocol, sets, &request, results);
}

/// What the request asks for, and no more.
pub(crate) fn assert_output(
    protocol: &dyn Protocol,
    sets: &Sets,
    request: &Request,
    (sent, received): Results,
) {
    let name = protocol.info().name;
    let (sent, received) = (sent.unwrap(), received.unwrap());
    if let (Output::Shares(sent), Output::Shares(received)) = (&sent, &received) {
        return assert_shares(sets, request.output.columns(), sent, received);
    }
    assert_eq!(
        sent,
        sets.expected_of_sender(request),
        "{name}: what the sender learned"
    );
    assert!(
        received == sets.expected(request),
        "{name}, {} of {} and {} items: a wrong result",
        request.output,
        sets.sender.len(),
        sets.receiver.len()
    );
}

/// Each item of the receiver has a place, at which both parties' shares make the right numbers.
fn assert_shares(sets: &Sets, columns: Columns, sent: &Shares, received: &Shares) {
    assert_eq!(sent.places(), received.places());
    assert_eq!(sent.items(), None, "the sender knows no places");
    if sets.sender.is_empty() || sets.receiver.is_empty() {
        return assert_eq!(sent.places(), 0);
    }
    let shared = sets.shared_rows();
    let mut seen = vec![0; sets.receiver.len()];
    for (place, item) in received.items().unwrap().iter().enumerate() {
        let position = item.map(|item| item as usize);
        let is_shared = item.is_some_and(|item| shared.binary_search(&item).is_ok());
        let member = sent.membership().get(place) ^ received.membership().get(place);
        assert_eq!(member, is_shared, "place {place}");
        for (i, (role, column)) in all_columns(columns).enumerate() {
            let [ours, theirs] = [sent, received].map(|shares| shares.columns()[i][place]);
            let number = match position {
                Some(position) if is_shared => number(role, column, sets.receiver[position]),
                _ => 0,
            };
            assert_eq!(ours.wrapping_add(theirs) as i64, number, "place {place}");
        }
        if let Some(position) = position {
            seen[position] += 1;
        }
    }
    assert!(
        seen.iter().all(|places| *places == 1),
        "a place for each item"
    );
}
