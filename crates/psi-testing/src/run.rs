//! Both parties of a protocol in one process, over any pair of channels.

use psijoin_block::{Block, Prg};
use psijoin_channel::{Channel, joint_seed::JointSeed, memory};
use psijoin_psi::{
    Columns, Error, Fingerprint, Group, Input, Items, Output, OutputKind, Plan, Request, Role,
    Shares, TotalShares, items, pair,
};
use psijoin_runtime::parallel::Pool;

use crate::{
    Sets, Subject,
    sets::{all_columns, columns, noise, number, payloads},
};

/// The sender's output, and the receiver's.
pub type Results = (Result<Output, Error>, Result<Output, Error>);

/// The seed of all tests that do not choose another.
pub const JOINT_SEED: [u8; 32] = [42; 32];

/// The setup of the parties.
pub struct Setup {
    /// The seed that digests and hash functions are derived from.
    pub joint_seed: JointSeed,
    /// Seeds of the parties' own randomness; from the operating system if there are none.
    pub seeds: Option<[u128; 2]>,
    /// The number of threads of each party.
    pub threads: [usize; 2],
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            joint_seed: JointSeed::insecure_fixed(JOINT_SEED),
            seeds: None,
            threads: [1, 1],
        }
    }
}

/// Fingerprints with as much structure as the numbers have: they differ in a few bits only.
pub fn structured(items: &[u64]) -> Vec<Fingerprint> {
    items
        .iter()
        .map(|item| {
            let mut fingerprint = [0; 32];
            fingerprint[..8].copy_from_slice(&item.to_le_bytes());
            fingerprint
        })
        .collect()
}

/// Returns the fingerprints of these items as a plan takes them. If items are to be short numbers,
/// those from 2^40 on become the upper half of all short numbers.
pub(crate) fn fingerprints(plan: &Plan, numbers: &[u64]) -> Vec<Fingerprint> {
    let Some(bits) = plan.request().item_bits else {
        return structured(numbers);
    };
    let upper = 1 << (bits - 1);
    let short = |item: &u64| (item & (upper - 1)) | ((item >> 40 & 1) * upper);
    numbers
        .iter()
        .map(|item| items::number(short(item)))
        .collect()
}

/// Runs both parties over these channels.
pub fn run_pair(
    plan: &Plan,
    sets: &Sets,
    (sender, receiver): (Channel, Channel),
    setup: &Setup,
) -> Results {
    run_streams(plan, sets, vec![(sender, receiver)], setup)
}

/// Runs both parties over one pair of channels or more.
pub(crate) fn run_streams(
    plan: &Plan,
    sets: &Sets,
    pairs: Vec<(Channel, Channel)>,
    setup: &Setup,
) -> Results {
    let items = |numbers: &[u64]| plan.items(&fingerprints(plan, numbers), &setup.joint_seed);
    let output = &plan.request().output;
    let (senders, receivers) = (items(&sets.sender), items(&sets.receiver));
    let sender_columns = columns(Role::Sender, &sets.sender, output);
    let receiver_columns = columns(Role::Receiver, &sets.receiver, output);
    let sender_payloads = payloads(Role::Sender, &sets.sender, output);
    let receiver_payloads = payloads(Role::Receiver, &sets.receiver, output);
    let noise = noise(plan.request());
    let pool = |threads| Pool::new(threads).expect("the system gives threads");
    let pools = setup.threads.map(pool);
    let (senders_ends, receivers_ends): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
    let side = |channels: Vec<Channel>, party: usize| {
        let seeded = |seeds: [u128; 2]| Prg::from_seed(Block(seeds[party]));
        let mut channels = channels.into_iter();
        pair::Side {
            channel: channels.next().expect("at least one pair"),
            streams: channels.collect(),
            rng: setup.seeds.map(seeded),
            pool: &pools[party],
            noise: if party == 0 { &noise } else { &[] },
        }
    };
    let senders = Input {
        items: &senders,
        columns: &sender_columns,
        payloads: &sender_payloads,
        joint_seed: &setup.joint_seed,
    };
    let receivers = Input {
        items: &receivers,
        columns: &receiver_columns,
        payloads: &receiver_payloads,
        joint_seed: &setup.joint_seed,
    };
    pair::run_sides(
        plan,
        (senders, side(senders_ends, 0)),
        (receivers, side(receivers_ends, 1)),
    )
}

/// Asserts that both parties learned the requested output, and no more.
pub(crate) fn assert_output(
    subject: &Subject,
    sets: &Sets,
    request: &Request,
    (sent, received): Results,
) {
    let (sent, received) = (sent.unwrap(), received.unwrap());
    if let (Output::Shares(sent), Output::Shares(received)) = (&sent, &received) {
        return assert_shares(sets, request.output.columns(), sent, received);
    }
    if let (Output::Totals(sent), Output::Totals(received)) = (&sent, &received) {
        return assert_totals(sets, &request.output, sent, received);
    }
    let (name, output) = (subject.name(), &request.output);
    assert_eq!(
        sent,
        sets.expected_of_sender(request),
        "{name}: what the sender learned"
    );
    assert!(
        received == sets.expected(request),
        "{name}, {output} of {} and {} items: a wrong result",
        sets.sender.len(),
        sets.receiver.len()
    );
}

/// Asserts that both parties' shares open to the right totals.
fn assert_totals(sets: &Sets, output: &OutputKind, sent: &TotalShares, received: &TotalShares) {
    let both = [sent, received];
    if let OutputKind::GroupTotals(groups) = output {
        let opened = sent.sums.iter().zip(&received.sums);
        let opened: Vec<i64> = opened.map(|(a, b)| a.wrapping_add(*b) as i64).collect();
        let expected: Vec<Group> = sets.groups(*groups).into_iter().flatten().collect();
        let counts = expected.iter().map(|group| group.count);
        let sums = (0..groups.columns.total())
            .flat_map(|column| expected.iter().map(move |group| group.sums[column]));
        return assert!(counts.chain(sums).eq(opened), "totals of groups");
    }
    let OutputKind::Totals(totals) = output else {
        panic!("totals were not asked for");
    };
    let sums = (0..totals.columns.total())
        .map(|column| {
            let [ours, theirs] = both.map(|shares| shares.sums[column]);
            ours.wrapping_add(theirs) as i64
        })
        .collect::<Vec<_>>();
    assert_eq!(sums, sets.sums(totals.columns));
    let [ours, theirs] = both.map(|shares| shares.count);
    let count = if totals.counted {
        sets.shared_rows().len() as u64
    } else {
        0
    };
    // Modulo 2^40.
    assert_eq!(ours.wrapping_add(theirs) % (1 << 40), count);
}

/// Asserts that each item of the receiver has a place, at which both parties' shares open to the
/// right numbers.
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

/// Digests of these numbers, as one of `plan`'s parties takes them.
pub fn items(numbers: impl IntoIterator<Item = u32>, plan: &Plan) -> Items {
    let fingerprints: Vec<Fingerprint> = numbers
        .into_iter()
        .map(|number| *blake3::hash(&number.to_le_bytes()).as_bytes())
        .collect();
    let joint_seed = JointSeed::insecure_fixed(JOINT_SEED);
    plan.items(&fingerprints, &joint_seed)
}

/// Runs both parties on digests that a test may have chosen.
pub fn run_items(
    plan: &Plan,
    (sender, sending): (&Items, Channel),
    (receiver, receiving): (&Items, Channel),
) -> Results {
    run_tables(plan, (sender, &[], sending), (receiver, &[], receiving))
}

/// Runs both parties on digests with columns of numbers.
pub fn run_tables(
    plan: &Plan,
    (sender, sender_columns, sending): (&Items, &[Vec<i64>], Channel),
    (receiver, receiver_columns, receiving): (&Items, &[Vec<i64>], Channel),
) -> Results {
    let joint_seed = &JointSeed::insecure_fixed(JOINT_SEED);
    let pools = [pair::single_thread(), pair::single_thread()];
    let side = |items, columns, channel, pool| {
        let input = Input {
            items,
            columns,
            payloads: &[],
            joint_seed,
        };
        let side = pair::Side {
            channel,
            streams: Vec::new(),
            rng: None,
            pool,
            noise: &[],
        };
        (input, side)
    };
    pair::run_sides(
        plan,
        side(sender, sender_columns, sending, &pools[0]),
        side(receiver, receiver_columns, receiving, &pools[1]),
    )
}

/// Returns the receiver's output over a channel that nothing happens to.
///
/// # Errors
/// The receiver's.
pub fn output(plan: &Plan, sender: &Items, receiver: &Items) -> Result<Output, Error> {
    let (sending, receiving) = memory::pair();
    run_items(plan, (sender, sending), (receiver, receiving)).1
}
