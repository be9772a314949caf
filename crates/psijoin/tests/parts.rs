//! Sessions in parts over several streams: of memory, and of TLS.

use std::{thread, time::Duration};

use psijoin::{
    Channel, Columns, Context, ErrorKind, Input, JointSeed, Output, OutputKind, Payloads, Plan,
    Pool, Request, Role,
    channel::{
        fault::{Fault, FaultKind, faulty},
        memory,
    },
    parts::{self, Done, Gathered, Part, Session, Table, synthetic::Synthetic},
    registry,
};

const ITEMS: u64 = 3000;

const SEED: [u8; 32] = [5; 32];

fn plan(protocol: &str, output: OutputKind, parts: u32) -> Plan {
    let request = Request::rows(ITEMS, ITEMS - 500).unwrap().output(output);
    let protocol = registry::find(protocol).unwrap();
    parts::in_parts(protocol, &request, parts).unwrap()
}

/// Returns both ends of this many streams.
fn streams(count: usize) -> [Vec<Channel>; 2] {
    let (a, b) = (0..count).map(|_| memory::pair()).unzip();
    [a, b]
}

fn fingerprint(item: u64) -> [u8; 32] {
    let mut fingerprint = [0; 32];
    fingerprint[..8].copy_from_slice(&item.to_le_bytes());
    fingerprint
}

type Learned = Result<Output, psijoin::Error>;

/// Returns what the sender, who has the first items, and the receiver learn, who has those from
/// 1000 on.
fn joined(plan: &Plan, [senders, receivers]: [Vec<Channel>; 2], threads: usize) -> [Learned; 2] {
    let joint_seed = &JointSeed::insecure_fixed(SEED);
    let party = |role, items: std::ops::Range<u64>, mut channels: Vec<Channel>| {
        let fingerprints: Vec<_> = items.clone().map(fingerprint).collect();
        let columns = plan.request().output.columns();
        let columns = match role {
            Role::Sender => columns.sender,
            Role::Receiver => columns.receiver,
        };
        let columns = vec![items.map(|item| item as i64 - 1500).collect(); columns];
        let input = Input {
            items: &plan.items(&fingerprints, joint_seed),
            columns: &columns,
            payloads: &[],
            joint_seed,
        };
        let (first, further) = channels.split_first_mut().unwrap();
        let mut context = Context::new(first).streams(further);
        let pool = Pool::new(threads).unwrap();
        pool.run(|| psijoin::run(plan, role, &input, &mut context))
    };
    thread::scope(|scope| {
        let sent = scope.spawn(|| party(Role::Sender, 0..ITEMS, senders));
        let received = party(Role::Receiver, 1000..ITEMS + 500, receivers);
        [sent.join().unwrap(), received]
    })
}

fn expected(output: &OutputKind) -> Output {
    let shared = 1000..ITEMS;
    match output {
        OutputKind::Rows => Output::Rows((0..ITEMS as u32 - 1000).collect()),
        OutputKind::Count => Output::Count(ITEMS - 1000),
        _ => Output::Sums(vec![shared.map(|item| item as i64 - 1500).sum(); 2]),
    }
}

/// More streams than parts, as many, fewer; more than threads, or fewer.
/// However few the keys are, a part carries few enough bytes to be in memory.
#[test]
fn long_payloads_make_parts() {
    let parts = |items: u64, from_sender, back| {
        let payloads = OutputKind::Payloads(Payloads { from_sender, back });
        let request = Request::rows(items, 1000).unwrap().output(payloads);
        let plan = parts::plan(registry::find("rr22").unwrap(), &request).unwrap();
        plan.parts().map_or(1, |parts| parts.shape.parts)
    };
    let most = u32::from(u16::MAX);
    assert_eq!(parts(1000, most, None), 1);
    assert_eq!(parts(1100, most, None), 2);
    assert_eq!(parts(1000, most, Some(most)), 2);
    // As many can be shared as the smaller set has.
    assert_eq!(parts(1_000_000, 40, Some(most)), 2);
    assert_eq!(parts(20_000, most, None), 20);
}

#[test]
fn any_number_of_streams_gives_the_same() {
    let columns = Columns {
        sender: 1,
        receiver: 1,
    };
    for (protocol, output) in [
        ("kkrt", OutputKind::Rows),
        ("rr22", OutputKind::Rows),
        ("rr22-malicious", OutputKind::Rows),
        ("rr22-circuit", OutputKind::Count),
        ("rr22-circuit", OutputKind::Sums(columns)),
    ] {
        let plan = plan(protocol, output.clone(), 5);
        for (count, threads) in [(1, 1), (2, 1), (3, 2), (5, 1), (7, 3)] {
            let [sent, received] = joined(&plan, streams(count), threads);
            assert_eq!(sent.unwrap(), Output::Nothing);
            assert_eq!(received.unwrap(), expected(&output), "{protocol}, {count}");
        }
    }
}

/// A part that fails ends all, on both sides.
#[test]
fn a_broken_stream_ends_the_session() {
    let plan = plan("kkrt", OutputKind::Rows, 6);
    for kind in [FaultKind::Cut, FaultKind::Truncate] {
        let [mut senders, receivers] = streams(3);
        let broken = senders.remove(1);
        let (broken, probe) = faulty(broken, Fault { at: 3, kind });
        senders.insert(1, broken);
        let learned = joined(&plan, [senders, receivers], 2);
        assert!(probe.reached());
        for learned in learned {
            let kind = learned.unwrap_err().kind();
            assert!(
                matches!(kind, ErrorKind::Channel | ErrorKind::Peer),
                "{kind:?}"
            );
        }
    }
}

/// Runs both parties on tables that give their items part by part.
fn on_tables(plan: &Plan, tables: [&dyn Table; 2]) -> [Learned; 2] {
    let joint_seed = &JointSeed::insecure_fixed(SEED);
    let party = |role, table: &dyn Table, mut channels: Vec<Channel>| {
        let (first, further) = channels.split_first_mut().unwrap();
        let mut context = Context::new(first).streams(further);
        parts::run(plan, role, table, joint_seed, &mut context)
    };
    let [senders, receivers] = streams(2);
    let [sender, receiver] = tables;
    thread::scope(|scope| {
        let sent = scope.spawn(|| party(Role::Sender, sender, senders));
        let received = party(Role::Receiver, receiver, receivers);
        [sent.join().unwrap(), received]
    })
}

#[test]
fn tables_are_asked_for_a_part_at_a_time() {
    let joint_seed = &JointSeed::insecure_fixed(SEED);
    for (protocol, output) in [
        ("dh", OutputKind::Rows),
        ("rr22", OutputKind::Rows),
        ("rr22-circuit", OutputKind::Count),
    ] {
        let plan = &plan(protocol, output.clone(), 4);
        let sets = Synthetic::new(plan, 1234, joint_seed);
        let (sender, receiver) = (sets.table(Role::Sender), sets.table(Role::Receiver));
        let [sent, received] = on_tables(plan, [&sender, &receiver]);
        assert_eq!(sent.unwrap(), Output::Nothing);
        match output {
            OutputKind::Rows => {
                assert_eq!(received.unwrap(), Output::Nothing);
                assert_eq!(receiver.found(), Some(1234));
            }
            _ => assert_eq!(received.unwrap(), Output::Count(1234)),
        }
    }
}

/// Calls the stages of a session one by one: each part over its channel, the last first; then what
/// all parts gave, as bytes, is opened over the last channel. The rows of a part, and the places of
/// those that are withheld until the end, stay where it ran.
fn stage_by_stage(
    plan: &Plan,
    role: Role,
    table: &dyn Table,
    mut channels: Vec<Channel>,
) -> Learned {
    let joint_seed = &JointSeed::insecure_fixed(SEED);
    let session = Session::new(plan, role, joint_seed);
    let mut gathered = Gathered::new(&session);
    let mut places = vec![Vec::new(); session.parts() as usize];
    for part in (0..session.parts()).rev() {
        let mut context = Context::new(&mut channels[part as usize]);
        let done = session.run_part(part, table.part(part)?, &mut context)?;
        if let Some((rows, payloads)) = done.rows() {
            table.found(part, rows, payloads)?;
        }
        places[part as usize] = done.places().unwrap_or_default().to_vec();
        let done = Done::from_bytes(&done.to_bytes()).unwrap();
        assert!(done.rows().is_none() && done.places().is_none());
        gathered.take(part, done)?;
    }
    let learned = session.conclude(&gathered, &mut Context::new(channels.last_mut().unwrap()))?;
    if let parts::Learned::Places(shared) = &learned {
        for (part, (shared, places)) in (0..).zip(shared.iter().zip(&places)) {
            table.found(part, &shared.rows(places).unwrap(), &[])?;
        }
    }
    Ok(learned.output().clone())
}

#[test]
fn stages_can_be_called_one_by_one() {
    let joint_seed = &JointSeed::insecure_fixed(SEED);
    for (protocol, output, least) in [
        ("rr22", OutputKind::Rows, 0),
        ("rr22-circuit", OutputKind::Rows, 432),
        ("rr22-circuit", OutputKind::Rows, 433),
        ("rr22-circuit", OutputKind::Count, 0),
    ] {
        let request = Request::rows(ITEMS, ITEMS - 500).unwrap();
        let request = request.output(output).min_intersection(least);
        let plan = &parts::in_parts(registry::find(protocol).unwrap(), &request, 3).unwrap();
        let sets = Synthetic::new(plan, 432, joint_seed);
        let (sender, receiver) = (sets.table(Role::Sender), sets.table(Role::Receiver));
        let [senders, receivers] = streams(4);
        let [sent, received] = thread::scope(|scope| {
            let sent = scope.spawn(|| stage_by_stage(plan, Role::Sender, &sender, senders));
            let received = stage_by_stage(plan, Role::Receiver, &receiver, receivers);
            [sent.join().unwrap(), received].map(Result::unwrap)
        });
        assert!(
            sets.is_met(&sent, &received, &receiver),
            "{protocol} {least}"
        );
        assert_eq!(sender.found(), Some(0));
        if sent == Output::TooFew {
            assert_eq!(receiver.found(), Some(0));
        }
    }
}

/// A party that has all streams of a session need not know that the other one runs its parts
/// elsewhere.
#[test]
fn one_party_alone_may_call_the_stages() {
    let joint_seed = &JointSeed::insecure_fixed(SEED);
    let plan = &plan("rr22-circuit", OutputKind::Count, 3);
    let sets = Synthetic::new(plan, 321, joint_seed);
    let (sender, receiver) = (sets.table(Role::Sender), sets.table(Role::Receiver));
    let (mut senders, receivers): (Channel, Channel) = memory::pair();
    let received = thread::scope(|scope| {
        scope.spawn(|| {
            let context = &mut Context::new(&mut senders);
            parts::run(plan, Role::Sender, &sender, joint_seed, context).unwrap();
        });
        let session = Session::new(plan, Role::Receiver, joint_seed);
        let mut gathered = Gathered::new(&session);
        let mut channel = receivers;
        for part in 0..session.parts() {
            let context = &mut Context::new(&mut channel);
            let done = session.run_part(part, receiver.part(part).unwrap(), context);
            gathered.take(part, done.unwrap()).unwrap();
        }
        session.conclude(&gathered, &mut Context::new(&mut channel))
    });
    assert_eq!(received.unwrap().output(), &Output::Count(321));
}

/// Parts that were forgotten are noticed before anything is opened.
#[test]
fn a_session_without_all_parts_is_not_concluded() {
    let joint_seed = &JointSeed::insecure_fixed(SEED);
    let plan = &plan("rr22-circuit", OutputKind::Count, 3);
    let session = Session::new(plan, Role::Receiver, joint_seed);
    let (mut channel, _other) = memory::pair();
    let concluded = session.conclude(&Gathered::new(&session), &mut Context::new(&mut channel));
    assert_eq!(concluded.unwrap_err().kind(), ErrorKind::Misuse);
}

/// A table that gives other items than it should.
struct Wrong<'a> {
    table: &'a dyn Table,
    changed: fn(u32, &mut Part),
}

impl Table for Wrong<'_> {
    fn part(&self, part: u32) -> Result<Part, psijoin::Error> {
        let mut given = self.table.part(part)?;
        (self.changed)(part, &mut given);
        Ok(given)
    }

    fn found(&self, part: u32, rows: &[u32], payloads: &[u8]) -> Result<(), psijoin::Error> {
        self.table.found(part, rows, payloads)
    }
}

#[test]
fn a_table_that_does_not_fit_is_refused() {
    let joint_seed = &JointSeed::insecure_fixed(SEED);
    let plan = &plan("kkrt", OutputKind::Rows, 4);
    let sets = Synthetic::new(plan, 100, joint_seed);
    let (sender, receiver) = (sets.table(Role::Sender), sets.table(Role::Receiver));
    let missing_item = |part, given: &mut Part| {
        if part == 2 {
            let fingerprints = [fingerprint(1)];
            let joint_seed = JointSeed::insecure_fixed(SEED);
            given.items = psijoin::Items::digest(&fingerprints, &joint_seed, 16);
            given.positions.truncate(1);
        }
    };
    let missing_position = |_, given: &mut Part| given.positions.truncate(1);
    let surplus_column = |_, given: &mut Part| given.columns.push(vec![0; given.positions.len()]);
    let changes: [fn(u32, &mut Part); 3] = [missing_item, missing_position, surplus_column];
    for changed in changes {
        let wrong = Wrong {
            table: &receiver,
            changed,
        };
        let [_, received] = on_tables(plan, [&sender, &wrong]);
        assert_eq!(received.unwrap_err().kind(), ErrorKind::Misuse);
    }
}

/// The streams of one session, each a connection of its own.
#[test]
fn parts_run_over_connections_of_their_own() {
    use psijoin::transport::{Connection, Identity, Listener, Options, Security};

    let (alice, bob) = (Identity::generate().unwrap(), Identity::generate().unwrap());
    let [alice_is, bob_is] = [&alice, &bob].map(Identity::fingerprint);
    let pinned = |identity, peer| {
        let mut options = Options::new(Security::PinnedTls { identity, peer });
        options.streams = true;
        options.timeouts.idle = Duration::from_secs(60);
        options
    };
    let listener = Listener::bind(&"127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.address().clone();
    let joint_seed = &JointSeed::insecure_fixed(SEED);
    let plan = &plan("rr22", OutputKind::Rows, 6);
    let sets = &Synthetic::new(plan, 777, joint_seed);
    let party = |role, met: Result<(Connection, Channel), _>| {
        let (mut connection, channel) = met.unwrap();
        let mut channels = connection.open_streams(2, joint_seed).unwrap();
        channels.insert(0, channel);
        let table = sets.table(role);
        let (first, further) = channels.split_first_mut().unwrap();
        let mut context = Context::new(first).streams(further);
        parts::run(plan, role, &table, joint_seed, &mut context).unwrap();
        connection.finish().unwrap();
        table.found()
    };
    thread::scope(|scope| {
        let sending = scope.spawn(move || {
            party(
                Role::Sender,
                Connection::accept(listener, &pinned(alice, bob_is)),
            )
        });
        let options = pinned(bob, alice_is);
        let found = party(Role::Receiver, Connection::connect(&address, &options));
        assert_eq!(found, Some(777));
        assert_eq!(sending.join().unwrap(), Some(0));
    });
}
