//! Keys that need not fit into memory.

use std::borrow::Cow;

use psijoin_files::spill::{Budget, Folder, Spill};
use psijoin_runtime::parallel::Pool;
use psijoin_source::ErrorKind;
use psijoin_table::{Beside, Items, SharedKeys, TableKeys};

use super::*;

/// Of 5,000 rows some have no key, and keys come again; numbers have more and more decimals.
fn table() -> String {
    let rows = (0..5000_u32).map(|row| {
        let key = row.wrapping_mul(2_654_435_761) % 3500;
        let key = if key.is_multiple_of(50) {
            String::new()
        } else {
            format!("key {key}")
        };
        let decimals = row as usize / 1500;
        format!(
            "{key},{:.decimals$},{}\n",
            f64::from(key.len() as u32),
            row % 7
        )
    });
    format!("k,a,b\n{}", rows.collect::<String>())
}

fn partitions(source: &Source, budget: &Budget, folder: &Path) -> Result<TableKeys, Error> {
    let numbers = ["b", "a"].map(str::to_owned);
    let spill = &Spill::new(budget.clone(), Folder::new(folder));
    TableKeys::read(
        source,
        &key(&["k"], &[]),
        &numbers,
        spill,
        &Progress::default(),
    )
}

/// A fingerprint, its first row, and its numbers.
type Item = ([u8; 32], u32, Vec<i64>);

/// Returns the items of all partitions, in ascending order.
fn all(
    spilled: &TableKeys,
    of: for<'a> fn(&'a TableKeys, usize) -> Result<Cow<'a, Items>, Error>,
) -> Vec<Item> {
    let partitions = 0..spilled.partitions();
    let mut all: Vec<Item> = partitions
        .flat_map(|partition| {
            let items = of(spilled, partition).unwrap();
            let places = 0..items.fingerprints.len();
            let item = |place: usize| {
                let numbers = items.numbers.iter().map(|column| column[place]);
                let first = items.first_rows[place];
                (items.fingerprints[place], first, numbers.collect())
            };
            places.map(item).collect::<Vec<_>>()
        })
        .collect();
    all.sort_unstable();
    all
}

#[test]
fn partitions_have_what_the_table_in_memory_has() {
    let files = Files::new();
    let source = open(&files.text("t.csv", table()));
    let numbers = ["b", "a"].map(str::to_owned);
    let table = Keys::read(&source, &key(&["k"], &[]), &numbers, &Progress::default()).unwrap();
    assert!(table.counts.duplicates > 1000 && table.counts.left_out > 50);
    let rows = table.fingerprints.iter().zip(&table.first_rows);
    let numbers = |item: usize| table.numbers.iter().map(move |column| column.values[item]);
    let items = rows.zip(0..);
    let expected: Vec<Item> = items
        .map(|((fingerprint, first), item)| (*fingerprint, *first, numbers(item).collect()))
        .collect();
    for budget in [0, 30_000, u64::MAX] {
        let budget = Budget::new(budget);
        let spilled = partitions(&source, &budget, files.0.path()).unwrap();
        assert!(budget.used() <= budget.limit());
        assert_eq!(spilled.counts(), table.counts);
        assert_eq!(spilled.meanings(), table.meanings);
        assert_eq!(spilled.doubts(), table.doubts);
        for (known, column) in spilled.numbers().iter().zip(&table.numbers) {
            assert_eq!((known.scale, known.empty), (column.scale, column.empty));
        }
        assert_eq!(all(&spilled, TableKeys::items), expected);
        // They were taken.
        assert_eq!(
            all(&spilled, |keys, partition| {
                keys.take_items(partition).map(Cow::Owned)
            }),
            expected
        );
        assert!(all(&spilled, TableKeys::items).is_empty());
        let again = partitions(&source, &budget, files.0.path()).unwrap();
        assert_eq!(again.spilled_bytes() > 0, budget.limit() < u64::MAX);
        let again = Keys::of(again).unwrap();
        assert_eq!(again, table);
        // They are the only partition, and nothing is there twice.
        assert_eq!(all(&again.holder, TableKeys::items), expected);
        assert_eq!(again.holder.partitions(), 1);
        assert_eq!(again.holder.items_in(0), expected.len());
        assert_eq!(files.names(), ["t.csv"]);
    }
}

/// Of each partition: not from which thread read first, nor from what lies on disk.
#[test]
fn items_come_in_an_order_that_follows_from_the_table() {
    let files = Files::new();
    let rows = (0..60_000_u32).map(|row| {
        let key = row.wrapping_mul(2_654_435_761) % 50_000;
        format!("key number {key},{},{}\n", row % 5, row % 7)
    });
    let text = format!("k,a,b\n{}", rows.collect::<String>());
    let source = open(&files.text("t.csv", text));
    let read = |threads, budget| {
        let read = || {
            let spilled = partitions(&source, &Budget::new(budget), files.0.path()).unwrap();
            let partitions = 0..spilled.partitions();
            partitions
                .map(|partition| spilled.items(partition).unwrap().into_owned())
                .collect::<Vec<_>>()
        };
        Pool::new(threads).unwrap().run(read)
    };
    let expected = read(1, u64::MAX);
    for (threads, budget) in [(1, 0), (2, 300_000), (7, 300_000), (7, u64::MAX)] {
        assert!(
            read(threads, budget) == expected,
            "{threads} threads, {budget} bytes"
        );
    }
}

#[test]
fn all_rows_of_an_item_follow_from_its_first_row() {
    let files = Files::new();
    let progress = Progress::default();
    let source = open(&files.text("t.csv", table()));
    let table = read(&files.path("t.csv"), &key(&["k"], &[])).unwrap();
    let spilled = partitions(&source, &Budget::new(0), files.0.path()).unwrap();
    let first_rows = &table.first_rows;
    let matched: Vec<bool> = first_rows.iter().map(|first| first % 3 == 0).collect();
    let mut found = vec![0_u64; 5000_usize.div_ceil(64)];
    for first in first_rows.iter().filter(|first| *first % 3 == 0) {
        found[*first as usize / 64] |= 1 << (first % 64);
    }
    let rows = SharedKeys::ByRows {
        first_rows: found,
        payloads: None,
    };
    let rows = spilled.matching(rows).unwrap();
    let to =
        |name| Destination::prepare(Some(&files.path(name)), &source, Existing::Replace).unwrap();
    let count = to("expected.csv").write(&source, &table, &matched, &progress);
    assert_eq!(count.unwrap(), rows.count());
    let staged = to("found.csv").stage_rows(&source, &rows, &progress);
    assert_eq!(staged.unwrap().commit().unwrap(), rows.count());
    assert!(rows.count() > 1000);
    assert_eq!(files.read("found.csv"), files.read("expected.csv"));
}

#[test]
fn a_folder_that_is_none_is_told() {
    let files = Files::new();
    let source = open(&files.text("t.csv", table()));
    let read = partitions(&source, &Budget::new(0), &files.path("missing"));
    let error = read.map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Output);
    assert!(
        error
            .to_string()
            .contains("missing: No such file or directory"),
        "{error}"
    );
    partitions(&source, &Budget::unlimited(), &files.path("missing")).unwrap();
}

/// Returns the tag of a table, with a budget for memory.
fn identity(text: &str, secret: u8, budget: u64) -> blake3::Hash {
    let files = Files::new();
    let source = open(&files.text("t.csv", text));
    let spill = &Spill::new(Budget::new(budget), Folder::new(files.0.path()));
    let numbers = ["a".to_owned()];
    let beside = Beside {
        numbers: &numbers,
        labels: &[],
    };
    let key = key(&["k"], &[]);
    let read = TableKeys::read_identified(
        &source,
        &key,
        beside,
        spill,
        &Progress::default(),
        &[secret; 32],
    );
    read.unwrap().1
}

#[test]
fn a_table_is_recognised_however_it_is_read() {
    let table = table();
    let expected = identity(&table, 1, u64::MAX);
    for (threads, budget) in [(1, 0), (2, 30_000), (7, u64::MAX)] {
        let pool = Pool::new(threads).unwrap();
        assert_eq!(pool.run(|| identity(&table, 1, budget)), expected);
    }
    assert_ne!(identity(&table, 2, 0), expected, "under another secret");
}

#[test]
fn another_table_is_not_taken_for_it() {
    let is = |text: &str| identity(text, 1, u64::MAX);
    let of_rows = |rows: &str| is(&format!("k,a\n{rows}"));
    let seen = [
        "x,1\ny,2\n",
        "y,2\nx,1\n",
        "y,1\nx,2\n",
        "x,1\nz,2\n",
        "x,1\ny,3\n",
        "x,0.1\ny,0.2\n",
        "x,1\ny,2\n,0\n",
        "x,1\n,0\ny,2\n",
        "x,1\ny,2\ny,0\n",
        "x,1\nx,2\n",
        "",
    ]
    .map(of_rows);
    for (place, one) in seen.iter().enumerate() {
        assert!(!seen[..place].contains(one), "{place}");
    }
    // A number is its value, not its notation.
    assert_eq!(of_rows("x,1.0\ny,2e0\n"), of_rows("x,1\ny,2.0\n"));
}
