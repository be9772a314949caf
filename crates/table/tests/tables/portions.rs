//! A table in portions is the table that is read whole.

use std::{collections::BTreeMap, sync::Arc};

use arrow_array::{
    ArrayRef, BinaryArray, Decimal128Array, Int64Array, RecordBatch, StringArray, cast::AsArray,
    types::Decimal128Type,
};
use proptest::prelude::*;
use psijoin_files::spill::Spill;
use psijoin_source::{Dialect, Doubt, ErrorKind, Progress, Source};
use psijoin_table::{
    BadKeys, Beside, Error, KeySpec, LabelColumn, Labels, TableKeys,
    portions::{
        self, LABELS, LabelPlaces, PortionFacts, PortionFault, PortionKeys, Whole, hashes_of,
    },
};

use crate::key;

/// A row: the texts of its key, and of its number. Its label follows from the key.
type Row = (String, String);

/// The labels of keys, by their last character.
const PLANS: [&str; 4] = ["gold", "", "\"a, b\"", "basic"];

/// The column of labels.
const PLAN: &str = "plan";

fn source(rows: &[Row]) -> Source {
    let rows = rows.iter().map(|(key, number)| {
        let last = key.trim().bytes().last().unwrap_or_default();
        let plan = PLANS[usize::from(last) % PLANS.len()];
        format!("\"{key}\",{number},{plan}\n")
    });
    csv(&rows.collect::<String>())
}

/// Returns a table of these rows.
fn csv(rows: &str) -> Source {
    let text = format!("id,paid,plan\n{rows}");
    Source::csv_in_memory(text.as_bytes(), "t.csv", &Dialect::default()).unwrap()
}

/// Returns the columns of labels, of which one may have this list.
fn plan(listed: Option<&[&str]>) -> [LabelColumn; 1] {
    [LabelColumn {
        name: PLAN.to_owned(),
        listed: listed.map(|list| list.iter().map(|&label| label.to_owned()).collect()),
    }]
}

fn paid() -> [String; 1] {
    ["paid".to_owned()]
}

fn read(rows: &[Row], key: &KeySpec) -> Result<(PortionKeys, PortionFacts), Error> {
    read_with(&source(rows), key, &[])
}

fn read_with(
    source: &Source,
    key: &KeySpec,
    labels: &[LabelColumn],
) -> Result<(PortionKeys, PortionFacts), Error> {
    let beside = Beside {
        numbers: &paid(),
        labels,
    };
    let (spill, progress) = (Spill::in_memory(), Progress::default());
    portions::read(source, key, beside, None, &spill, &progress)
}

/// Reads the rows in portions that are cut at these places, and merges what they give, the last
/// first, all of it by way of bytes and Arrow data.
fn in_portions(
    rows: &[Row],
    cuts: &[usize],
    key: &KeySpec,
    labels: &[LabelColumn],
) -> Result<(PortionKeys, Whole), Error> {
    let portion = |cut: &[usize]| source(&rows[cut[0]..cut[1]]);
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (rows.len() + 1)).collect();
    cuts.extend([0, rows.len()]);
    cuts.sort_unstable();
    let portions: Vec<Source> = cuts.windows(2).rev().map(portion).collect();
    merged(&portions, key, labels)
}

/// Reads portions, and merges what they give, all of it by way of bytes and Arrow data.
fn merged(
    portions: &[Source],
    key: &KeySpec,
    labels: &[LabelColumn],
) -> Result<(PortionKeys, Whole), Error> {
    let mut keys = None;
    let mut facts = Vec::new();
    for portion in portions {
        let (of_portion, about) = read_with(portion, key, labels)?;
        let (schema, batches) = of_portion.to_batches(&paid());
        let keys = keys.get_or_insert_with(|| PortionKeys::none_of(&schema, &paid()));
        for batch in batches {
            keys.extend(PortionKeys::whole_of_batch(&batch, &paid())?)?;
        }
        facts.push(PortionFacts::from_bytes(&about.to_bytes())?);
    }
    let keys = keys.expect("a portion").merged(&paid())?;
    let facts = PortionFacts::of_all(facts)?;
    let whole = facts.whole(key, keys.fingerprints.len() as u64)?;
    Ok((keys, whole))
}

/// Returns the doubts that do not depend on the order of rows, without places.
fn unplaced(doubts: &[Doubt]) -> Vec<String> {
    let unplaced = doubts.iter().filter_map(|doubt| match doubt {
        Doubt::Frequent { .. } => None,
        Doubt::Fields {
            column,
            suspicion,
            places,
        } => Some(format!("{column} {suspicion:?} {}", places.count)),
        other => Some(format!("{other:?}")),
    });
    let mut unplaced: Vec<_> = unplaced.collect();
    unplaced.sort();
    unplaced
}

/// Returns the number of each key, at these decimals.
fn numbers(keys: &PortionKeys, scale: u32) -> BTreeMap<[u8; 32], i64> {
    let numbers = keys.numbers_at(0, scale).unwrap();
    keys.fingerprints.iter().copied().zip(numbers).collect()
}

/// Returns the place of each key's label among these.
fn places(keys: &PortionKeys, labels: &Labels) -> BTreeMap<[u8; 32], i64> {
    let places = LabelPlaces::new(&[hashes_of(&labels.texts)]).unwrap();
    let places = places.of(keys).unwrap();
    keys.fingerprints.iter().copied().zip(places).collect()
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        5 => "[a-d]{1,2}",
        2 => "0?[0-9]{1,3}",
        1 => Just(String::new()),
        1 => Just("nan".to_owned()),
        1 => Just(" a".to_owned()),
        1 => Just("1.5E+18".to_owned()),
        1 => "[a-c]@x",
        1 => Just("2024-02-03 12:34:56Z".to_owned()),
        1 => Just("2024-02-03 12:34:56".to_owned()),
    ]
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => (-99..99_i64, 0..4_u32).prop_map(|(value, scale)| format!("{value}e-{scale}")),
        1 => Just(String::new()),
        1 => Just(i64::MAX.to_string()),
        1 => Just(i64::MIN.to_string()),
        1 => Just("0.000000000000000001".to_owned()),
    ]
}

proptest! {
    #[test]
    fn a_table_that_is_cut_anywhere_is_the_table_that_is_read_whole(
        // No more than are all looked at for their look.
        rows in prop::collection::vec((text(), number()), 0..16),
        cuts in prop::collection::vec(any::<usize>(), 0..5),
        rule in prop_oneof![Just(""), Just("id=trim"), Just("id=timestamp"), Just("id=number"), Just("id=digits")],
        bad_keys in prop_oneof![Just("refuse"), Just("null"), Just("null:30%")],
        labels in prop_oneof![
            Just(Vec::new()), Just(plan(None).to_vec()), Just(plan(Some(&["never", "gold"])).to_vec()),
        ],
    ) {
        let rules: &[&str] = if rule.is_empty() { &[] } else { &[rule] };
        let key = key(&["id"], rules).with_bad_keys(bad_keys.parse().unwrap());
        let (spill, progress) = (Spill::in_memory(), Progress::default());
        let beside = Beside { numbers: &paid(), labels: &labels };
        let whole = TableKeys::read_beside(&source(&rows), &key, beside, &spill, &progress);
        match (whole, in_portions(&rows, &cuts, &key, &labels)) {
            (Ok(mut expected), Ok((keys, whole))) => {
                prop_assert_eq!(whole.counts, expected.counts());
                prop_assert_eq!(&whole.meanings, expected.meanings());
                prop_assert_eq!(&whole.looks, expected.looks());
                prop_assert_eq!(whole.bad_rows, expected.bad_cells().rows);
                prop_assert_eq!(unplaced(&whole.doubts), unplaced(expected.doubts()));
                let facts = expected.numbers();
                prop_assert_eq!(&whole.numbers, &[("paid".to_owned(), facts[0].clone())]);
                for (found, expected) in whole.labels.iter().zip(expected.labels()) {
                    prop_assert_eq!((found.1.count, &found.1.texts), (expected.count, &expected.texts));
                }
                prop_assert_eq!(whole.labels.len(), labels.len());
                let items = expected.gather().unwrap();
                if let Some((_, labels)) = whole.labels.first() {
                    let expected = items.fingerprints.iter().copied().zip(items.numbers[1].iter().copied());
                    prop_assert_eq!(places(&keys, labels), expected.collect());
                }
                let expected = items.fingerprints.iter().copied().zip(items.numbers[0].iter().copied());
                prop_assert_eq!(numbers(&keys, facts[0].scale), expected.collect());
            }
            (Err(expected), Err(error)) => prop_assert_eq!(error.kind(), expected.kind()),
            (whole, portions) => {
                prop_assert!(false, "whole: {:?}, in portions: {:?}", whole.err(), portions.err());
            }
        }
    }
}

/// Returns a table whose keys have these labels, each its own.
fn labelled(labels: std::ops::Range<usize>) -> Source {
    let rows = labels.map(|label| format!("{label},1,{label}\n"));
    csv(&rows.collect::<String>())
}

/// They are counted as those of one table, and kept as long as there are few.
#[test]
fn labels_of_all_portions_are_counted_together() {
    let id = key(&["id"], &[]);
    for (portions, count) in [
        (&[0..100, 50..256][..], 256),
        (&[0..200, 100..300, 0..300], 300),
        (&[0..300, 0..10], 300),
        (&[0..40_000, 30_000..70_000], Labels::MORE),
    ] {
        let sources: Vec<_> = portions.iter().cloned().map(labelled).collect();
        let (_, whole) = merged(&sources, &id, &plan(None)).unwrap();
        let (_, labels) = &whole.labels[0];
        assert_eq!(labels.count, count);
        assert_eq!(labels.texts.len(), if count > 256 { 0 } else { 256 });
    }
    let (_, none) = merged(&[csv(""), csv("")], &id, &plan(None)).unwrap();
    assert_eq!(
        (none.labels[0].1.count, &none.labels[0].1.texts[..]),
        (1, &[None][..])
    );
}

#[test]
fn rows_of_a_key_in_several_portions_have_one_label() {
    let id = key(&["id"], &[]);
    let portions = ["a,1,x\nb,1,\n", "b,1,\n,1,z\n", "a,1,y\nc,1,y\nb,1,\n"].map(csv);
    let unlike = merged(&portions, &id, &plan(None)).unwrap_err();
    assert!(matches!(
        unlike,
        Error::Portion(PortionFault::UnlikeLabels { keys: 1 })
    ));
    assert_eq!(unlike.kind(), ErrorKind::Input);
    // Neither is on the list.
    let (keys, whole) = merged(&portions, &id, &plan(Some(&["never"]))).unwrap();
    assert_eq!(places(&keys, &whole.labels[0].1).len(), 3);
}

#[test]
fn labels_that_do_not_belong_together_are_refused() {
    let id = key(&["id"], &[]);
    let (keys, facts) = read_with(&csv("a,1,x\n"), &id, &plan(None)).unwrap();
    let fault = |error: Error| match error {
        Error::Portion(fault) => fault,
        other => panic!("{other}"),
    };
    for labels in [&[][..], &plan(Some(&["x"]))] {
        let (_, other) = read_with(&csv("a,1,x\n"), &id, labels).unwrap();
        let refused = facts.clone().merge(&other).unwrap_err();
        assert_eq!(fault(refused), PortionFault::OtherLabels);
    }
    let (_, batches) = keys.to_batches(&paid());
    // Keys without labels, and labels that are on no list.
    let bare = PortionKeys::of_batch(&batches[0], &paid()).unwrap();
    let other = LabelPlaces::new(&[hashes_of(&[Some("y".to_owned())])]).unwrap();
    for keys in [&bare, &keys] {
        assert_eq!(fault(other.of(keys).unwrap_err()), PortionFault::Labels);
    }
    let refused = bare.clone().extend(keys).unwrap_err();
    assert_eq!(fault(refused), PortionFault::OtherLabels);
    let short: ArrayRef = Arc::new(BinaryArray::from(vec![&[7_u8; 15][..]]));
    let short = [("key", batches[0].column(0).clone()), (LABELS, short)];
    let short = RecordBatch::try_from_iter(short).unwrap();
    let refused = PortionKeys::whole_of_batch(&short, &[]).unwrap_err();
    assert_eq!(fault(refused), PortionFault::Labels);
    // One list of which two labels are the same.
    assert!(LabelPlaces::new(&[vec![1, 2, 1]]).is_none());
}

#[test]
fn rows_have_the_fingerprints_of_their_keys() {
    let rows = ["b", "a", "", "b", " A"].map(|key| (key.to_owned(), String::new()));
    let key = key(&["id"], &["id=trim+lowercase"]);
    let of_rows = portions::fingerprints(&source(&rows), &key, &Progress::default()).unwrap();
    let expected = |text: &str| key.fingerprint(&[text]).unwrap();
    let [a, b] = ["a", "b"].map(expected);
    assert_eq!(of_rows, [b, a, None, b, a]);
    let column = portions::fingerprints_of_rows(&of_rows);
    assert_eq!(column.null_count(), 1);
    assert_eq!(column.as_fixed_size_binary().value(1), a.unwrap());
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let row = |key: &str| vec![(key.to_owned(), "1".to_owned())];
    let facts = |rows: &[Row], key: &KeySpec| read(rows, key).unwrap().1;
    let plain = key(&["id"], &[]);
    let trimmed = key(&["id"], &["id=trim"]);
    let mut all = facts(&row("a"), &plain);
    let fault = |error: Error| match error {
        Error::Portion(fault) => fault,
        other => panic!("{other}"),
    };
    let other = fault(all.merge(&facts(&row("a"), &trimmed)).unwrap_err());
    assert!(matches!(other, PortionFault::OtherKey { .. }), "{other}");
    let other = fault(all.whole(&trimmed, 1).unwrap_err());
    assert!(matches!(other, PortionFault::OtherKey { .. }), "{other}");
    let no_numbers = portions::read(
        &source(&row("a")),
        &plain,
        Beside::default(),
        None,
        &Spill::in_memory(),
        &Progress::default(),
    );
    let other = fault(all.merge(&no_numbers.unwrap().1).unwrap_err());
    assert_eq!(other, PortionFault::OtherNumbers);
    for distinct in [0, 2] {
        let other = fault(all.whole(&plain, distinct).unwrap_err());
        assert_eq!(
            other,
            PortionFault::Distinct {
                distinct,
                with_key: 1
            }
        );
    }
    assert_eq!(
        fault(PortionFacts::of_all([]).unwrap_err()),
        PortionFault::None
    );
    let bytes = all.to_bytes();
    for bytes in [
        &bytes[1..],
        &bytes[..bytes.len() - 1],
        &[],
        &[&bytes[..], &[0]].concat(),
    ] {
        assert_eq!(
            fault(PortionFacts::from_bytes(bytes).unwrap_err()),
            PortionFault::Facts
        );
    }
    let bad = plain.with_bad_keys(BadKeys::Refuse);
    assert!(
        read(&[("a".to_owned(), "x".to_owned())], &bad)
            .is_err_and(|error| error.kind() == ErrorKind::Input)
    );
}

#[test]
fn keys_come_back_from_engines_in_other_types() {
    let fingerprints: ArrayRef = Arc::new(BinaryArray::from(vec![&[7_u8; 32][..]]));
    let batch = |keys: &ArrayRef, numbers: ArrayRef| {
        RecordBatch::try_from_iter([("key", keys.clone()), ("paid", numbers)]).unwrap()
    };
    let decimal = Decimal128Array::from(vec![150])
        .with_precision_and_scale(10, 2)
        .unwrap();
    let keys = PortionKeys::of_batch(&batch(&fingerprints, Arc::new(decimal)), &paid()).unwrap();
    assert_eq!(keys.numbers_at(0, 1), Some(vec![15]));
    // There is no whole number of ones.
    assert_eq!(keys.numbers_at(0, 0), None);
    let whole: ArrayRef = Arc::new(Int64Array::from(vec![i64::MIN]));
    let keys = PortionKeys::of_batch(&batch(&fingerprints, whole.clone()), &paid()).unwrap();
    assert_eq!(keys.numbers_at(0, 0), Some(vec![i64::MIN]));
    assert_eq!(keys.numbers_at(0, 1), None);
    let (_, batches) = keys.to_batches(&paid());
    let sum = batches[0]
        .column(1)
        .as_primitive::<Decimal128Type>()
        .value(0);
    assert_eq!(sum, i128::from(i64::MIN) * 10_i128.pow(18));
    let mut many = PortionKeys::none(1);
    (0..11).for_each(|_| many.extend(keys.clone()).unwrap());
    assert!(
        many.merged(&paid())
            .is_err_and(|error| error.kind() == ErrorKind::Input)
    );
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["7"]));
    for (keys, numbers) in [(&texts, whole), (&fingerprints, texts.clone())] {
        let error = PortionKeys::of_batch(&batch(keys, numbers), &paid()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
    }
}
