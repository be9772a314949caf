//! Input that does not fit the plan, after the offline phase: it is refused, and the peer learns
//! why.

use std::thread;

use psijoin_channel::{AbortCode, Channel, Error as ChannelError, joint_seed::JointSeed, memory};
use psijoin_psi::{
    Columns, Context, Error, Groups, Input, Items, Output, OutputKind, Payloads, Plan, Role,
    prepare,
};

use crate::{JOINT_SEED, Sets, Subject, run::fingerprints};

/// The mistake of a caller.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Wrong {
    TooFewItems,
    TooManyItems,
    DigestBytes,
    TooManyColumns,
    /// Items must be numbers.
    LongNumber,
    /// From here on there must be a column to get wrong.
    MissingColumn,
    ShortColumn,
    Overflow,
    /// There must be payloads to get wrong.
    ShortPayload,
    /// There must be noise to get wrong.
    ShortNoise,
}

const ALL: [Wrong; 8] = [
    Wrong::TooFewItems,
    Wrong::TooManyItems,
    Wrong::DigestBytes,
    Wrong::TooManyColumns,
    Wrong::LongNumber,
    Wrong::MissingColumn,
    Wrong::ShortColumn,
    Wrong::Overflow,
];

/// Everything that a caller can get wrong, of either party.
pub fn wrong_input_is_refused(subject: &Subject) {
    let sets = Sets::new(3, 4, 2);
    let sums = OutputKind::Sums(Columns {
        sender: 1,
        receiver: 1,
    });
    let output = match subject.protocol.computes(&sums) {
        true => sums,
        false => OutputKind::Rows,
    };
    let plan = subject.plan(&sets.request(output));
    let payloads = sets.request(OutputKind::Payloads(Payloads {
        from_sender: 3,
        back: Some(2),
    }));
    if subject.serves(&payloads) {
        let plan = subject.plan(&payloads);
        [Role::Sender, Role::Receiver]
            .into_iter()
            .for_each(|mistaken| check(&plan, mistaken, Wrong::ShortPayload));
    }
    let groups = sets.request(OutputKind::Groups(Groups {
        columns: Columns::NONE,
        labels: Columns {
            sender: 0,
            receiver: 8,
        },
        least: 0,
        noisy: true,
    }));
    if subject.serves(&groups) {
        check(&subject.plan(&groups), Role::Sender, Wrong::ShortNoise);
    }
    for mistaken in [Role::Sender, Role::Receiver] {
        let columns = plan.request().output.columns().of(mistaken);
        for wrong in ALL {
            let can_be_wrong = match wrong {
                Wrong::LongNumber => plan.number_bits().is_some(),
                _ => columns > 0 || (wrong as u8) < Wrong::MissingColumn as u8,
            };
            if can_be_wrong {
                check(&plan, mistaken, wrong);
            }
        }
    }
}

fn check(plan: &Plan, mistaken: Role, wrong: Wrong) {
    let [sent, received] = run(plan, mistaken, wrong);
    let (refused, peer) = match mistaken {
        Role::Sender => (sent, received),
        Role::Receiver => (received, sent),
    };
    let case = format!("{wrong:?} of the {mistaken}");
    assert!(
        matches!(refused, Err(Error::Misuse(_))),
        "{case}: {refused:?}"
    );
    let told = matches!(
        peer,
        Err(Error::Channel(ChannelError::PeerAborted(
            AbortCode::LocalFailure
        )))
    );
    // The sender may have sent all its messages before it could be told.
    assert!(
        told || peer.is_ok() && mistaken == Role::Receiver,
        "{case}: {peer:?}"
    );
}

/// Both parties prepare; then one's input is wrong.
fn run(plan: &Plan, mistaken: Role, wrong: Wrong) -> [Result<Output, Error>; 2] {
    let joint_seed = &JointSeed::insecure_fixed(JOINT_SEED);
    let run = |role, channel: &mut Channel| {
        let mut noise = vec![9; plan.request().noise(role)];
        if wrong == Wrong::ShortNoise {
            noise.pop();
        }
        let mut context = Context::new(channel).adding(&noise);
        let prepared = prepare(plan, role, &mut context).unwrap();
        let wrong = (role == mistaken).then_some(wrong);
        let (items, columns) = input(plan, role, wrong);
        let mut payloads = vec![9; items.len() * plan.request().output.payload_bytes(role)];
        if wrong == Some(Wrong::ShortPayload) {
            payloads.pop();
        }
        let input = Input {
            items: &items,
            columns: &columns,
            payloads: &payloads,
            joint_seed,
        };
        prepared.run(&input, &mut context)
    };
    let (mut sending, mut receiving) = memory::pair();
    thread::scope(|scope| {
        let sent = scope.spawn(move || run(Role::Sender, &mut sending));
        let received = run(Role::Receiver, &mut receiving);
        [sent.join().unwrap(), received]
    })
}

/// A party's items and columns, all right or wrong in one way.
fn input(plan: &Plan, role: Role, wrong: Option<Wrong>) -> (Items, Vec<Vec<i64>>) {
    let request = plan.request();
    let mut numbers: Vec<u64> = (0..role.items(request.sizes)).collect();
    let columns = request.output.columns().of(role);
    match wrong {
        Some(Wrong::TooFewItems) => drop(numbers.pop()),
        Some(Wrong::TooManyItems) => numbers.push(1 << 40),
        _ => {}
    }
    let mut columns = vec![vec![7; numbers.len()]; columns];
    match wrong {
        Some(Wrong::TooManyColumns) => columns.push(vec![7; numbers.len()]),
        Some(Wrong::MissingColumn) => drop(columns.pop()),
        Some(Wrong::ShortColumn) => drop(columns[0].pop()),
        Some(Wrong::Overflow) => columns[0].fill(i64::MAX),
        _ => {}
    }
    let joint_seed = JointSeed::insecure_fixed(JOINT_SEED);
    let mut fingerprints = fingerprints(plan, &numbers);
    if wrong == Some(Wrong::LongNumber) {
        // A fingerprint of something else.
        fingerprints[0][31] = 1;
    }
    let items = match wrong {
        Some(Wrong::DigestBytes) => {
            let other_length = 16 + 32 - plan.digest_bytes();
            Items::digest(&fingerprints, &joint_seed, other_length)
        }
        _ => plan.items(&fingerprints, &joint_seed),
    };
    (items, columns)
}
