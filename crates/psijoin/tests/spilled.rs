//! Sessions in parts over tables that spill to disk.

use std::thread;

use psijoin::{
    Channel, Columns, Context, Error, ErrorKind, JointSeed, Output, OutputKind, Payloads, Plan,
    Request, Role, Security, Sizes,
    channel::{memory, transcript::recorded},
    parts::{
        self, Found, Spilled, Table,
        synthetic::{Portion, Synthetic, SyntheticTable},
    },
    registry,
    spill::{Budget, Folder, Spill},
};
use psijoin_runtime::parallel::{self, Pool};

const ITEMS: u64 = 3000;

const SEED: [u8; 32] = [5; 32];

fn plan(protocol: &str, output: OutputKind, parts: u32) -> Plan {
    let request = Request::rows(ITEMS, ITEMS - 500).unwrap().output(output);
    let protocol = registry::find(protocol).unwrap();
    parts::in_parts(protocol, &request, parts).unwrap()
}

fn run(
    plan: &Plan,
    role: Role,
    table: &dyn Table,
    seed: &JointSeed,
    mut channel: Channel,
) -> Result<Output, Error> {
    parts::run(plan, role, table, seed, &mut Context::new(&mut channel))
}

/// Adds the items of a synthetic table, by threads that take turns as chance will have it.
fn fill(table: &Spilled, of: &SyntheticTable<'_>) {
    thread::scope(|scope| {
        for number in 0..of.portions() {
            scope.spawn(move || {
                let Portion {
                    fingerprints,
                    positions,
                    columns,
                } = of.portion(number);
                for start in (0..positions.len()).step_by(100) {
                    let some = start..positions.len().min(start + 100);
                    let columns = columns.iter().map(|column| &column[some.clone()]);
                    let columns: Vec<_> = columns.collect();
                    let added =
                        table.add(&fingerprints[some.clone()], &positions[some], &columns, &[]);
                    added.unwrap();
                }
            });
        }
    });
}

#[test]
fn find_the_same_as_tables_that_do_not_spill() {
    let columns = Columns {
        sender: 1,
        receiver: 2,
    };
    let cases = [
        ("rr22", OutputKind::Rows),
        ("rr22-circuit", OutputKind::Rows),
        ("rr22-circuit", OutputKind::Sums(columns)),
        ("rr22-circuit", OutputKind::Count),
        ("kkrt", OutputKind::Rows),
    ];
    let folder = tempfile::tempdir().unwrap();
    let folder = Folder::new(folder.path());
    for (protocol, output) in cases {
        for budget in [0, 40_000, u64::MAX] {
            let plan = &plan(protocol, output.clone(), 3);
            let joint_seed = &JointSeed::insecure_fixed(SEED);
            let sets = Synthetic::new(plan, 700, joint_seed);
            let spill = &Spill::new(Budget::new(budget), folder.clone());
            let synthetic = [Role::Sender, Role::Receiver].map(|role| sets.table(role));
            let [sender, mut receiver] = [Role::Sender, Role::Receiver].map(|role| {
                let table = Spilled::new(plan, role, joint_seed, 3000, spill);
                let table = table.unwrap();
                let of = &synthetic[usize::from(role == Role::Receiver)];
                fill(&table, of);
                assert_eq!(table.spilled_bytes() == 0, budget == u64::MAX);
                table
            });
            let (a, b) = memory::pair();
            let [sent, received] = thread::scope(|scope| {
                let sent = scope.spawn(|| run(plan, Role::Sender, &sender, joint_seed, a));
                let received = run(plan, Role::Receiver, &receiver, joint_seed, b);
                [sent.join().unwrap(), received].map(Result::unwrap)
            });
            let [_, synthetic] = synthetic;
            synthetic.check(&receiver.take_found().rows);
            assert!(sets.is_met(&sent, &received, &synthetic), "{protocol}");
        }
    }
}

/// Short digests and long ones, which the largest sets have.
#[test]
fn a_part_has_the_digests_positions_and_numbers_of_its_items() {
    const COUNT: u32 = 1000;
    let folder = tempfile::tempdir().unwrap();
    let folder = Folder::new(folder.path());
    let joint_seed = &JointSeed::insecure_fixed(SEED);
    let columns = Columns {
        sender: 2,
        receiver: 0,
    };
    for (items, digest_bytes) in [(3_000_000, 16), (1 << 32, 32)] {
        let sizes = Sizes::new(items, items).unwrap();
        let request = Request::of(sizes, Security::new(72).unwrap());
        let request = request.output(OutputKind::Sums(columns));
        let plan = &parts::plan(registry::find("rr22-circuit").unwrap(), &request).unwrap();
        assert_eq!(plan.digest_bytes(), digest_bytes);
        let fingerprints: Vec<_> = (0..COUNT)
            .map(|i| *blake3::hash(&i.to_le_bytes()).as_bytes())
            .collect();
        let positions: Vec<u32> = (0..COUNT).rev().collect();
        let numbers = [3, -5].map(|factor| {
            let numbers = positions.iter().map(|row| i64::from(*row) * factor);
            numbers.collect::<Vec<_>>()
        });
        let unlimited = &Spill::new(Budget::unlimited(), folder.clone());
        let role = Role::Sender;
        let table = Spilled::new(plan, role, joint_seed, COUNT, unlimited).unwrap();
        let columns = [&*numbers[0], &*numbers[1]];
        table.add(&fingerprints, &positions, &columns, &[]).unwrap();
        let expected = plan.items(&fingerprints, joint_seed);
        let mut found = 0;
        for part in 0..plan.parts().unwrap().shape.parts {
            let own = table.part(part).unwrap();
            assert_eq!(table.items(part), Some(own.items.len() as u64));
            for (i, row) in own.positions.iter().enumerate() {
                let at = (COUNT - 1 - row) as usize;
                assert_eq!(u32::from(expected.parts()[at]), part);
                let [digest, of_item] =
                    [own.items.digests().words(i), expected.digests().words(at)];
                assert_eq!(digest, of_item);
                let numbers = own.columns.iter().map(|column| column[i]);
                assert!(numbers.eq([3, -5].map(|factor| i64::from(*row) * factor)));
            }
            found += own.positions.len();
        }
        assert_eq!(found, COUNT as usize);
    }
}

/// The order of a part's items follows from what was added: not from which thread came first, nor
/// from what lies on disk.
#[test]
fn the_items_of_a_part_come_in_one_order() {
    let columns = Columns {
        sender: 1,
        receiver: 0,
    };
    let joint_seed = &JointSeed::insecure_fixed(SEED);
    let plan = &plan("rr22-circuit", OutputKind::Sums(columns), 3);
    let folder = tempfile::tempdir().unwrap();
    let folder = Folder::new(folder.path());
    let rows: Vec<u32> = (0..ITEMS as u32).collect();
    let fingerprint = |row: &u32| *blake3::hash(&row.to_le_bytes()).as_bytes();
    // Batches of rows that do not follow each other, as partitions of keys have them.
    let batches: Vec<Vec<u32>> = (0..29)
        .map(|batch| rows.iter().copied().skip(batch).step_by(29).collect())
        .collect();
    let poured = |threads, budget, first: usize| {
        let spill = &Spill::new(Budget::new(budget), folder.clone());
        let rows = ITEMS as u32;
        let table = Spilled::new(plan, Role::Sender, joint_seed, rows, spill).unwrap();
        Pool::new(threads).unwrap().run(|| {
            parallel::for_each(batches.len(), &|number| {
                let batch = &batches[(first + number) % batches.len()];
                let fingerprints: Vec<_> = batch.iter().map(fingerprint).collect();
                let numbers: Vec<i64> = batch.iter().map(|row| -i64::from(*row)).collect();
                table.add(&fingerprints, batch, &[&numbers], &[]).unwrap();
            });
        });
        let parts = (0..3).map(|part| {
            let part = table.part(part).unwrap();
            let digests = part.items.rows(0..part.items.len() as u32);
            (digests, part.positions, part.columns)
        });
        parts.collect::<Vec<_>>()
    };
    let expected = poured(1, u64::MAX, 0);
    let found = expected.iter().map(|(_, positions, _)| positions.len());
    assert_eq!(found.sum::<usize>(), rows.len());
    for threads in [1, 2, 7] {
        for budget in [0, 40_000, u64::MAX] {
            for first in [0, 17] {
                let parts = poured(threads, budget, first);
                assert!(parts == expected, "{threads} threads, {budget} bytes");
            }
        }
    }
}

/// Both parties' payloads, on disk and in memory: each comes out with its row, range by range.
#[test]
fn payloads_spill() {
    let payloads = Payloads {
        from_sender: 6,
        back: Some(3),
    };
    let folder = tempfile::tempdir().unwrap();
    let folder = Folder::new(folder.path());
    let joint_seed = &JointSeed::insecure_fixed(SEED);
    let plan = &plan("rr22", OutputKind::Payloads(payloads), 3);
    let payload = |item: u64, bytes| item.to_le_bytes()[..bytes].to_vec();
    let row_of = |first: u64, item: u64| (item - first) as u32 * 700;
    for budget in [0, 40_000, u64::MAX] {
        let spill = &Spill::new(Budget::new(budget), folder.clone());
        // Rows lie in several ranges.
        let rows = ITEMS as u32 * 700;
        let filled = |role, first: u64, items: u64, bytes| {
            let table = Spilled::new(plan, role, joint_seed, rows, spill).unwrap();
            let all: Vec<u64> = (first..first + items).collect();
            for some in all.chunks(500) {
                let hash = |item: &u64| *blake3::hash(&item.to_le_bytes()).as_bytes();
                let fingerprints: Vec<_> = some.iter().map(hash).collect();
                let positions: Vec<u32> = some.iter().map(|item| row_of(first, *item)).collect();
                let payloads: Vec<u8> =
                    some.iter().flat_map(|item| payload(*item, bytes)).collect();
                table
                    .add(&fingerprints, &positions, &[], &payloads)
                    .unwrap();
            }
            table
        };
        let mut sender = filled(Role::Sender, 0, ITEMS, 6);
        let mut receiver = filled(Role::Receiver, 1000, ITEMS - 500, 3);
        // Twice: the second run finds everything anew.
        for _ in 0..2 {
            drop((sender.take_found(), receiver.take_found()));
            let (a, b) = memory::pair();
            thread::scope(|scope| {
                let sent = scope.spawn(|| run(plan, Role::Sender, &sender, joint_seed, a));
                run(plan, Role::Receiver, &receiver, joint_seed, b).unwrap();
                sent.join().unwrap().unwrap();
            });
        }
        for (mut table, first, bytes) in [(sender, 0, 3), (receiver, 1000, 6)] {
            assert_eq!(table.spilled_bytes() == 0, budget == u64::MAX);
            let Found { rows, given } = table.take_found();
            let given = given.unwrap();
            let mut item = 1000;
            for range in 0..given.ranges() {
                let matched = given.read(range).unwrap();
                for (row, bytes_of_row) in matched.rows.iter().zip(matched.payloads.chunks(bytes)) {
                    assert_eq!(*row, row_of(first, item));
                    assert_eq!(rows[*row as usize / 64] >> (row % 64) & 1, 1);
                    assert_eq!(bytes_of_row, payload(item, bytes));
                    item += 1;
                }
            }
            assert_eq!(item, ITEMS);
            let found: u32 = rows.iter().map(|word| word.count_ones()).sum();
            assert_eq!(u64::from(found), ITEMS - 1000);
        }
    }
}

/// A table of items that all fall into one part, or are too few, ends the session before anything
/// is sent.
#[test]
fn what_does_not_fit_is_told_before_anything_is_sent() {
    let plan = &plan("rr22", OutputKind::Rows, 7);
    let joint_seed = &JointSeed::insecure_fixed(SEED);
    let numbers = (0_u64..).map(|number| {
        let mut fingerprint = [0; 32];
        fingerprint[..8].copy_from_slice(&number.to_le_bytes());
        fingerprint
    });
    let piled = numbers
        .clone()
        .filter(|one| plan.items(&[*one], joint_seed).parts()[0] == 3);
    let cases: [(Vec<_>, _); 2] = [
        (piled.take(ITEMS as usize).collect(), ErrorKind::BadLuck),
        (
            numbers.take(ITEMS as usize - 1).collect(),
            ErrorKind::Misuse,
        ),
    ];
    for (items, kind) in cases {
        let spill = Spill::new(Budget::new(1000), Folder::temporary());
        let table = Spilled::new(plan, Role::Sender, joint_seed, 3000, &spill).unwrap();
        let positions: Vec<u32> = (0..items.len() as u32).collect();
        table.add(&items, &positions, &[], &[]).unwrap();
        let (channel, mut peer) = memory::pair();
        let (channel, said) = recorded(channel);
        let error = run(plan, Role::Sender, &table, joint_seed, channel).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(said.messages().is_empty());
        let told = peer.recv(&mut [0; 1]).unwrap_err();
        assert!(told.to_string().contains("other party"), "{told}");
    }
}

/// Before any item is there.
#[test]
fn a_folder_that_is_none_is_an_error_of_the_table() {
    let plan = &plan("rr22", OutputKind::Rows, 2);
    let joint_seed = &JointSeed::insecure_fixed(SEED);
    let open = |folder: &Folder, budget| {
        let spill = &Spill::new(Budget::new(budget), folder.clone());
        Spilled::new(plan, Role::Sender, joint_seed, 9, spill).map(drop)
    };
    let missing = Folder::new("/no/such/folder");
    let error = open(&missing, 1000).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Table);
    let said = error.to_string();
    assert!(
        said.contains("/no/such/folder") && said.contains("name a folder"),
        "{said}"
    );
    // Nothing would be spilled.
    open(&missing, 1 << 20).unwrap();
}
