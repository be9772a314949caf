//! What each party knows in the end.

use std::fs;

use psijoin::{Role, Sizes};
use psijoin_session::{Error, Grouped, Received};

use crate::{Keys, both_by_stages, by_groups, joined, kind, specs};

#[test]
fn either_party_counts_and_adds_up_by_stages() {
    let folder = tempfile::tempdir().unwrap();
    for by_stages in [Role::Sender, Role::Receiver] {
        let specs = specs(folder.path(), "sum:sender.amount,receiver.amount", 10);
        let ([sent, received], _) = joined(specs, folder.path(), by_stages);
        assert!(sent.unwrap().received.is_none());
        let Some(Received::Sums(sums)) = received.unwrap().received else {
            panic!("sums were asked for");
        };
        let sums: Vec<String> = sums.iter().map(|sum| sum.value.to_string()).collect();
        let sum: u64 = (2000..3000).map(|key| 2 * key).sum();
        assert_eq!(sums, [sum.to_string(), sum.to_string()]);
    }
}

/// Noise that is 0, but for a probability below 2^-10,000, and bounds below some numbers.
const HARDLY_ANY: &str =
    "laplace:epsilon=1000000000000,bound=sender.amount:0..5000,bound=receiver.amount:0..5000";

/// Checks the groups of keys that both parties have, whose numbers are this at most.
fn assert_groups(grouped: &Grouped, least: u64, most: u64) {
    for group in &grouped.groups {
        let label = group.labels[0].as_deref();
        // A key is of one kind on both sides.
        let is_any = group.labels.iter().all(|other| other.as_deref() == label);
        let keys = (2000..3000).filter(|key| is_any && kind(*key) == label);
        let keys: Vec<u64> = keys.collect();
        let Some(totals) = &group.totals else {
            assert!((keys.len() as u64) < least);
            continue;
        };
        assert!(keys.len() as u64 >= least);
        assert_eq!(totals.shared_keys, keys.len() as i64);
        let sum: u64 = keys.iter().map(|key| (2 * key).min(most)).sum();
        for of_party in &totals.sums {
            assert_eq!(of_party.mantissa, sum as i64);
        }
        assert_eq!(totals.sums.len(), 2);
    }
}

#[test]
fn parties_add_up_groups_by_stages() {
    let folder = tempfile::tempdir().unwrap();
    let ask = |by, least, noise| {
        let specs = specs(folder.path(), "counts,sum:sender.amount,receiver.amount", 0);
        by_groups(specs, by, least, noise)
    };
    for (by, least, noise, groups) in [
        ("receiver.kind", 334, None, 3),
        ("sender.kind", 0, Some(HARDLY_ANY), 3),
        ("sender.kind,receiver.kind", 2, None, 9),
    ] {
        let ask = || ask(by, least, noise);
        for [sent, received] in [
            joined(ask(), folder.path(), Role::Sender).0,
            joined(ask(), folder.path(), Role::Receiver).0,
            both_by_stages(ask(), folder.path()).0,
        ] {
            let (sent, received) = (sent.unwrap(), received.unwrap());
            assert!(sent.received.is_none() && sent.groups == received.groups);
            let Some(Received::Groups(grouped)) = received.received else {
                panic!("groups were asked for");
            };
            assert_eq!(grouped.groups.len(), groups);
            assert_groups(&grouped, least, noise.map_or(u64::MAX, |_| 5000));
        }
    }
}

#[test]
fn rows_stay_where_their_parts_ran_and_a_record_is_signed() {
    let folder = tempfile::tempdir().unwrap();
    let mut specs = specs(folder.path(), "rows", 0);
    let records = ["sender.json", "receiver.json"].map(|name| folder.path().join(name));
    for (spec, record) in specs.iter_mut().zip(&records) {
        spec.record = Some(record.clone());
    }
    let keys = Keys::read(&folder.path().join("receiver.csv"));
    let ([sent, received], rows) = joined(specs, folder.path(), Role::Receiver);
    sent.unwrap();
    let received = received.unwrap();
    assert_eq!(
        received.received.as_ref().unwrap().shared_keys(),
        Some(1000)
    );
    assert_eq!(
        received.plan.request().sizes,
        Sizes::new(3000, 2000).unwrap()
    );
    assert_all_shared(&keys, &rows);
    let [sender, receiver] = records.map(|record| fs::read(record).unwrap());
    assert_eq!(sender, receiver);
}

/// Checks that these are the places of all shared keys.
fn assert_all_shared(receiver: &Keys, rows: &[u32]) {
    let mut shared: Vec<i64> = rows
        .iter()
        .map(|row| receiver.numbers[*row as usize])
        .collect();
    shared.sort_unstable();
    assert_eq!(shared, (2000..3000).map(|key| 2 * key).collect::<Vec<_>>());
}

#[test]
fn too_few_shared_keys_are_withheld_on_both_sides() {
    let folder = tempfile::tempdir().unwrap();
    for (asked, by_stages) in [
        ("count", Role::Receiver),
        ("rows", Role::Receiver),
        ("rows", Role::Sender),
    ] {
        let specs = specs(folder.path(), asked, 1001);
        let (both, rows) = joined(specs, folder.path(), by_stages);
        assert!(rows.is_empty());
        for outcome in both {
            assert!(matches!(outcome, Err(Error::TooFew(1001))));
        }
    }
}

#[test]
fn rows_under_a_minimum_are_found_where_their_parts_ran() {
    let folder = tempfile::tempdir().unwrap();
    let ([sent, received], rows) = joined(
        specs(folder.path(), "rows", 1000),
        folder.path(),
        Role::Receiver,
    );
    let keys = Keys::read(&folder.path().join("receiver.csv"));
    assert_all_shared(&keys, &rows);
    assert_eq!(
        received.unwrap().received.unwrap().shared_keys(),
        Some(1000)
    );
    assert!(sent.unwrap().received.is_none());
    let mut specs = specs(folder.path(), "rows", 1000);
    specs[1].written.output = Some(folder.path().join("shared.csv"));
    let ([sent, received], rows) = joined(specs, folder.path(), Role::Sender);
    assert!(sent.unwrap().received.is_none() && rows.is_empty());
    assert_eq!(
        received.unwrap().received.unwrap().shared_keys(),
        Some(1000)
    );
}

#[test]
fn both_parties_find_rows_under_a_minimum_by_stages() {
    let folder = tempfile::tempdir().unwrap();
    let keys = |role: &str| Keys::read(&folder.path().join(role));
    let specs = |least| specs(folder.path(), "rows", least);
    let ([sent, received], rows) = both_by_stages(specs(1000), folder.path());
    assert!(sent.unwrap().received.is_none());
    assert_eq!(
        received.unwrap().received.unwrap().shared_keys(),
        Some(1000)
    );
    assert_all_shared(&keys("receiver.csv"), &rows);
    let (both, rows) = both_by_stages(specs(1001), folder.path());
    assert!(rows.is_empty());
    for outcome in both {
        assert!(matches!(outcome, Err(Error::TooFew(1001))));
    }
}
