use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::{FileExt, MetadataExt},
    panic, thread,
};

use proptest::prelude::*;

use super::*;
use crate::spill::Folder;

/// Returns a record that names its thread and its number.
fn record(thread: u32, number: u32) -> [u8; 12] {
    let mut record = *b"rec:........";
    record[4..8].copy_from_slice(&thread.to_le_bytes());
    record[8..].copy_from_slice(&number.to_le_bytes());
    record
}

fn records(thread: u32, numbers: impl IntoIterator<Item = u32>) -> Vec<u8> {
    let records = numbers.into_iter().map(|number| record(thread, number));
    records.collect::<Vec<_>>().concat()
}

fn store(partitions: usize, budget: u64) -> (Store, Budget, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let budget = Budget::new(budget);
    let spill = Spill::new(budget.clone(), Folder::new(folder.path()));
    let store = Store::new(partitions, 12, &spill);
    (store, budget, folder)
}

/// Returns a store whose partition 0 has several chunks on disk.
fn spilled() -> (Store, Budget, tempfile::TempDir) {
    let kept = store(2, 0);
    for part in 0..5 {
        let numbers = 1000 * part..1000 * (part + 1);
        kept.0.append(0, &records(0, numbers)).unwrap();
    }
    kept
}

#[test]
fn who_appends_knows_where_it_lies() {
    for budget in [0, u64::MAX] {
        let (store, _budget, _folder) = store(2, budget);
        assert_eq!(store.append(1, &records(0, 0..5)).unwrap(), 0);
        assert_eq!(store.append(1, &[]).unwrap(), 5);
        assert_eq!(store.append(0, &records(0, 0..7)).unwrap(), 0);
        assert_eq!(store.append(1, &records(0, 5..30_000)).unwrap(), 5);
        assert_eq!(store.append(1, &records(0, 0..1)).unwrap(), 30_000);
    }
}

fn file(store: &Store) -> &File {
    store.0.file.file().unwrap()
}

#[test]
fn threads_append_at_the_same_time_and_each_ones_order_is_kept() {
    const THREADS: u32 = 8;
    const NUMBERS: u32 = 20_000;
    for budget in [0, 50_000, 700_000, u64::MAX] {
        let (store, held, _folder) = store(13, budget);
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let store = &store;
                scope.spawn(move || {
                    // Of various lengths: from nothing to several.
                    let mut next = 0;
                    while next < NUMBERS {
                        let end = NUMBERS.min(next + next % 97);
                        let partition = (next % 13) as usize;
                        store
                            .append(partition, &records(thread, next..end))
                            .unwrap();
                        next = end.max(next + 1);
                    }
                });
            }
        });
        assert!(held.used() <= budget, "{held:?}");
        let mut found = 0;
        for partition in 0..13 {
            let bytes = store.read(partition).unwrap();
            assert_eq!(store.read(partition).unwrap(), bytes);
            assert_eq!(store.records(partition) * 12, bytes.len() as u64);
            let mut last = [None; THREADS as usize];
            for found in bytes.chunks(12) {
                let [thread, number] =
                    [4, 8].map(|at| u32::from_le_bytes(found[at..at + 4].try_into().unwrap()));
                assert_eq!(found, record(thread, number));
                assert!(last[thread as usize] < Some(number), "in order");
                last[thread as usize] = Some(number);
            }
            found += bytes.len() / 12;
        }
        // Each number that starts a batch of none is left out: those that are multiples of 97.
        assert!(
            found > (THREADS * (NUMBERS - NUMBERS / 97 - 97)) as usize,
            "{found}"
        );
        assert_eq!(store.spilled_bytes() == 0, budget == u64::MAX);
        drop(store);
        assert_eq!(held.used(), 0);
    }
}

proptest! {
    #[test]
    fn what_is_appended_comes_back(
        budget in prop_oneof![Just(0), 1_u64..2000, Just(400_000), Just(u64::MAX)],
        appended in prop::collection::vec((0_usize..5, 0_u32..30_000), 0..40),
    ) {
        let (store, held, _folder) = store(5, budget);
        let mut expected = vec![Vec::new(); 5];
        for (turn, (partition, count)) in (0..).zip(appended) {
            let bytes = records(turn, 0..count);
            store.append(partition, &bytes).unwrap();
            expected[partition].extend(bytes);
            prop_assert!(held.used() <= budget);
        }
        for (partition, expected) in expected.iter().enumerate() {
            prop_assert!(store.read(partition).unwrap() == *expected);
            let whole = |some: &[u8]| assert!(some.len().is_multiple_of(12), "whole records");
            store.visit(partition, &mut &whole).unwrap();
        }
    }
}

#[test]
fn the_largest_partition_of_all_stores_is_spilled() {
    let folder = tempfile::tempdir().unwrap();
    let spill = Spill::new(Budget::new(300_000), Folder::new(folder.path()));
    let [large, small] = [0, 1].map(|_| Store::new(2, 1, &spill));
    large.append(1, &[1; 280_000]).unwrap();
    assert_eq!(large.spilled_bytes(), 0);
    for _ in 0..5 {
        small.append(0, &[2; 10_000]).unwrap();
    }
    assert_eq!(
        (large.spilled_bytes(), small.spilled_bytes()),
        (MOST_BYTES as u64, 0)
    );
    assert_eq!(large.read(1).unwrap(), [1; 280_000]);
    drop(large);
    let budget = &spill.budget;
    assert!((50_000..100_000).contains(&budget.used()), "{budget:?}");
}

#[test]
fn chunks_are_as_large_as_the_budget_lets_them_be() {
    let (store, _, _folder) = store(8, 1 << 20);
    for turn in 0..4000 {
        store.append(turn % 8, &[0; 1200]).unwrap();
    }
    let chunks = store.0.chunks.load(Ordering::Relaxed);
    let mean = store.spilled_bytes() / chunks;
    assert!(mean > 100_000, "{mean}");
}

#[test]
fn no_record_can_be_read_on_disk() {
    let (store, _, _folder) = spilled();
    let mut bytes = vec![0; store.spilled_bytes() as usize];
    file(&store).read_exact_at(&mut bytes, 0).unwrap();
    let expected = records(0, 0..5000);
    assert_eq!(bytes.len(), expected.len());
    assert!(bytes.windows(4).all(|window| window != b"rec:"));
    let same = bytes.iter().zip(&expected).filter(|(a, b)| a == b).count();
    // One of 256 by chance.
    assert!(same < bytes.len() / 128, "{same}");
    assert_eq!(file(&store).metadata().unwrap().mode() & 0o777, 0o600);
}

/// Two stores that hold the same look unlike on disk.
#[test]
fn each_store_has_a_key_of_its_own() {
    let on_disk = || {
        let (store, _, _folder) = spilled();
        let mut bytes = vec![0; store.spilled_bytes() as usize];
        file(&store).read_exact_at(&mut bytes, 0).unwrap();
        bytes
    };
    let (one, other) = (on_disk(), on_disk());
    let same = one.iter().zip(&other).filter(|(a, b)| a == b).count();
    assert!(same < one.len() / 128, "{same}");
}

#[test]
fn what_changed_on_disk_is_an_error() {
    let (store, _, _folder) = spilled();
    let (file, chunk) = (file(&store), 12_000);
    let [mut first, mut second] = [vec![0; chunk], vec![0; chunk]];
    file.read_exact_at(&mut first, 0).unwrap();
    file.read_exact_at(&mut second, chunk as u64).unwrap();
    let is_damaged = || matches!(store.read(0), Err(Error::Damaged { .. }));

    let mut flipped = first.clone();
    flipped[5000] ^= 1;
    file.write_all_at(&flipped, 0).unwrap();
    assert!(is_damaged(), "a flipped bit");
    file.write_all_at(&second, 0).unwrap();
    file.write_all_at(&first, chunk as u64).unwrap();
    assert!(is_damaged(), "swapped chunks");
    file.write_all_at(&first, 0).unwrap();
    assert!(is_damaged(), "a chunk that is there twice");
    file.write_all_at(&second, chunk as u64).unwrap();
    assert_eq!(store.read(0).unwrap(), records(0, 0..5000));
    file.set_len(store.spilled_bytes() - 1).unwrap();
    assert!(is_damaged(), "cut off");
    assert_eq!(store.read(1).unwrap(), []);
}

/// `/dev/full` takes nothing, as a full disk.
#[test]
fn a_full_disk_is_told_and_what_it_did_not_take_is_never_left_out() {
    let full = OpenOptions::new().read(true).write(true).open("/dev/full");
    let budget = Budget::new(10_000);
    let store = Store::over(2, 12, &budget, SpillFile::over(full.unwrap()));
    store.append(1, &records(1, 0..10)).unwrap();
    let error = store.append(0, &records(0, 0..1000)).unwrap_err();
    assert!(matches!(error, Error::Full { .. }), "{error}");
    let said = error.to_string();
    for part in [
        "/its/folder",
        "another folder",
        "more memory",
        "No space left",
    ] {
        assert!(said.contains(part), "{said}");
    }
    store.read(0).unwrap_err();
    assert_eq!(store.read(1).unwrap(), records(1, 0..10));
    assert!(budget.used() <= 10_000);
}

#[test]
fn a_folder_that_is_none_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Folder::new(folder.path().join("missing"));
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for folder in [missing, Folder::new(file)] {
        let store = Store::new(1, 1, &Spill::new(Budget::new(0), folder.clone()));
        store.append(0, &[]).unwrap();
        let checked = folder.check_room(0);
        for error in [store.append(0, &[1]).map(drop), checked].map(Result::unwrap_err) {
            assert!(matches!(error, Error::Create { .. }), "{error:?}");
            let said = error.to_string();
            assert!(said.contains(&*folder.path().to_string_lossy()), "{said}");
            assert!(said.contains("name a folder"), "{said}");
        }
    }
}

#[test]
fn too_little_room_is_told_before() {
    let folder = tempfile::tempdir().unwrap();
    let folder = Folder::new(folder.path());
    folder.check_room(1).unwrap();
    let error = folder.check_room(u64::MAX).unwrap_err();
    assert!(matches!(error, Error::NoRoom { .. }), "{error:?}");
    let said = error.to_string();
    assert!(
        said.starts_with("up to 18446744073.7 GB will not fit into memory, and /"),
        "{said}"
    );
}

#[test]
fn nothing_has_a_name_and_nothing_stays() {
    let names =
        |folder: &tempfile::TempDir| -> io::Result<usize> { Ok(fs::read_dir(folder)?.count()) };
    let (store, _, folder) = spilled();
    assert_eq!(file(&store).metadata().unwrap().nlink(), 0);
    assert_eq!(names(&folder).unwrap(), 0);
    let panicked = panic::catch_unwind(panic::AssertUnwindSafe(|| {
        let _store = store;
        panic!("as a test");
    }));
    panicked.unwrap_err();
    assert_eq!(names(&folder).unwrap(), 0);
}

#[test]
#[should_panic(expected = "whole records")]
fn a_part_of_a_record_is_refused() {
    let (store, ..) = store(1, 0);
    let _ = store.append(0, &[1; 13]);
}

/// Appends as tables are read and poured: about as much to each partition, many times.
#[test]
fn no_more_is_spilled_than_is_foretold_and_not_much_less() {
    for (partitions, limit) in [
        (2, 100_000),
        (7, 3_000_000),
        (256, 3_000_000),
        (256, 80_000_000),
        (700, 20_000_000),
    ] {
        let (store, _, _folder) = store(partitions, limit);
        let (mut bytes, mut piece) = (0, 0);
        let piece_bytes = 12 * (limit as usize / partitions / 150).max(10);
        while bytes < 4 * limit {
            for partition in 0..partitions {
                // Pieces are as uneven as chance makes them.
                piece = (piece * 1_103_515_245 + 12_345) % (1 << 31);
                let records = piece_bytes / 12 * (80 + (piece >> 16) % 40) / 100;
                store.append(partition, &vec![0; 12 * records]).unwrap();
                bytes += 12 * records as u64;
            }
            let most = Store::most_spilled(partitions, bytes, limit);
            assert!(
                store.spilled_bytes() <= most,
                "{store:?}, {bytes} of {limit}: {most}"
            );
        }
        let most = Store::most_spilled(partitions, bytes, limit);
        let ratio = most as f64 / store.spilled_bytes() as f64;
        assert!(ratio < 1.3, "{store:?}, {bytes} of {limit}: {most}");
    }
    assert_eq!(Store::most_spilled(256, 1000, 0), 1000);
    assert_eq!(Store::most_spilled(256, u64::MAX / 4, u64::MAX), 0);
}
