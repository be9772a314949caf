//! Columns that are given of a table in portions are those that are given of the whole.

use std::{num::NonZeroU16, sync::Arc};

use arrow_array::{
    ArrayRef, BooleanArray, Int64Array, RecordBatch, RecordBatchIterator, StringArray,
    cast::AsArray, types::Int64Type,
};
use proptest::prelude::*;
use psijoin_files::spill::Spill;
use psijoin_source::{ErrorKind, Progress, Source};
use psijoin_table::{
    Beside, Error, ShareError, TableKeys,
    portions::{self, GIVEN, KEY, Packing, PortionFacts, PortionFault, PortionKeys, Whole},
    share::{GivenColumns, PayloadLayout, RepeatedKeys, Unpacking},
};

use crate::key;

/// A row: its key, and the columns that are given.
type Row = (Option<String>, Option<String>, Option<i64>, bool);

/// A layout, keys, and their payloads.
type Packed = (PayloadLayout, Vec<[u8; 32]>, Vec<u8>);

/// The columns that are given, of which a key may be one.
const COLUMNS: [&str; 4] = ["plan", "paid", "key", "is_new"];

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn source(rows: &[Row]) -> Source {
    let texts = |of: fn(&Row) -> &Option<String>| -> ArrayRef {
        Arc::new(
            rows.iter()
                .map(|row| of(row).clone())
                .collect::<StringArray>(),
        )
    };
    let paid: Int64Array = rows.iter().map(|row| row.2).collect();
    let is_new: BooleanArray = rows.iter().map(|row| Some(row.3)).collect();
    let columns = [
        ("id", texts(|row| &row.0)),
        ("plan", texts(|row| &row.1)),
        ("paid", Arc::new(paid) as ArrayRef),
        ("key", texts(|row| &row.0)),
        ("is_new", Arc::new(is_new) as ArrayRef),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.map(|(name, column)| (name, column, true)),
    );
    let batch = batch.unwrap();
    let rows = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
    Source::collect("t", rows, &Progress::default()).unwrap()
}

fn read(rows: &[Row], repeated: RepeatedKeys) -> Result<(PortionKeys, PortionFacts), Error> {
    let (spill, progress) = (Spill::in_memory(), Progress::default());
    let given = names(&COLUMNS);
    let given = Some((&given[..], repeated));
    portions::read(
        &source(rows),
        &key(&["id"], &[]),
        Beside::default(),
        given,
        &spill,
        &progress,
    )
}

/// Reads the rows in portions that are cut at these places, and merges what they give, all of it by
/// way of bytes and Arrow data.
fn in_portions(
    rows: &[Row],
    cuts: &[usize],
    repeated: RepeatedKeys,
) -> Result<(PortionKeys, Whole), Error> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (rows.len() + 1)).collect();
    cuts.extend([0, rows.len()]);
    cuts.sort_unstable();
    let (mut keys, mut facts) = (PortionKeys::none(0), Vec::new());
    keys.rows = Some(portions::KeyRows::default());
    for cut in cuts.windows(2) {
        let (of_portion, about) = read(&rows[cut[0]..cut[1]], repeated)?;
        for batch in of_portion.to_batches(&[]).1 {
            keys.extend(PortionKeys::whole_of_batch(&batch, &[])?)?;
        }
        facts.push(PortionFacts::from_bytes(&about.to_bytes())?);
    }
    let keys = keys.merged(&[])?;
    let facts = PortionFacts::of_all(facts)?;
    let whole = facts.whole(&key(&["id"], &[]), keys.fingerprints.len() as u64)?;
    Ok((keys, whole))
}

/// Returns the layout, and each key with its payload, as of a table that is in one place.
fn of_whole(rows: &[Row], taken: &[String], repeated: RepeatedKeys) -> Result<Packed, Error> {
    let (source, spill, progress) = (source(rows), Spill::in_memory(), Progress::default());
    let mut keys = TableKeys::read(&source, &key(&["id"], &[]), &[], &spill, &progress)?;
    keys.gather()?;
    let columns = GivenColumns::of(&source, &names(&COLUMNS))?.take(taken)?;
    let given = keys.given(repeated)?;
    let row_bytes = given.longest_row(&source, &columns, &progress)?;
    let layout = PayloadLayout::new(columns, row_bytes, repeated)?;
    let payloads = given.payloads(&source, &layout, &progress)?;
    Ok((
        layout,
        keys.gathered().unwrap().fingerprints.clone(),
        payloads,
    ))
}

/// Returns the rows of payloads: their keys, and their cells as texts.
fn unpacked(layout: &PayloadLayout, keys: &[[u8; 32]], payloads: &[u8]) -> Vec<String> {
    let unpacking = Unpacking::new(layout.clone(), keys.to_vec(), payloads.to_vec()).unwrap();
    let batches = unpacking.map(|batch| {
        let batch = batch.unwrap();
        assert_eq!(batch.schema(), Unpacking::schema(layout));
        (0..batch.num_rows())
            .map(|row| format!("{:?}", batch.slice(row, 1).columns()))
            .collect::<Vec<_>>()
    });
    batches.flatten().collect()
}

fn row() -> impl Strategy<Value = Row> {
    let id = prop_oneof![5 => "[a-d]", 1 => Just(String::new())];
    (
        prop::option::of(id),
        prop::option::of("[a-z]{0,9}"),
        any::<Option<i64>>(),
        any::<bool>(),
    )
}

proptest! {
    #[test]
    fn payloads_of_a_table_that_is_cut_anywhere_are_those_of_the_whole(
        rows in prop::collection::vec(row(), 0..16),
        cuts in prop::collection::vec(any::<usize>(), 0..5),
        repeated in prop_oneof![Just("refuse"), Just("first"), Just("list:2"), Just("list:16")],
        taken in prop::sample::subsequence(COLUMNS.to_vec(), 1..=4),
    ) {
        let (repeated, taken) = (repeated.parse().unwrap(), names(&taken));
        match (of_whole(&rows, &taken, repeated), in_portions(&rows, &cuts, repeated)) {
            (Ok((expected, fingerprints, of_whole)), Ok((keys, whole))) => {
                let offered = whole.offered.unwrap();
                let columns = offered.columns().take(&taken).unwrap();
                let row_bytes = offered.row_bytes(&columns);
                let layout = PayloadLayout::new(columns, row_bytes, repeated).unwrap();
                prop_assert_eq!(layout.columns(), expected.columns());
                let mut packing = Packing::new(offered.columns(), layout.clone()).unwrap();
                let payloads = packing.payloads(&keys).unwrap();
                prop_assert_eq!(&keys.fingerprints, &fingerprints);
                // Of some columns, the length of the longest row may be unknown, and a row that is
                // the first of its key in a portion may not be given.
                prop_assert!(layout.row_bytes() >= expected.row_bytes());
                let is_all = taken.len() == COLUMNS.len() && repeated != RepeatedKeys::First;
                if is_all || taken == ["paid", "is_new"] {
                    prop_assert_eq!(&layout, &expected);
                    prop_assert_eq!(&payloads, &of_whole);
                }
                prop_assert_eq!(
                    unpacked(&layout, &fingerprints, &payloads),
                    unpacked(&expected, &fingerprints, &of_whole)
                );
            }
            (Err(expected), Err(error)) => {
                prop_assert_eq!(error.kind(), expected.kind());
                match (&error, &expected) {
                    (
                        Error::Share(ShareError::RepeatedKeys { rows, .. }),
                        Error::Share(ShareError::RepeatedKeys { rows: expected, .. }),
                    ) => prop_assert_eq!(rows, expected),
                    (
                        Error::Share(ShareError::TooManyRepeated { most, .. }),
                        Error::Share(ShareError::TooManyRepeated { most: expected, .. }),
                    ) => prop_assert_eq!(most, expected),
                    others => prop_assert!(false, "{:?}", others),
                }
            }
            (whole, portions) => {
                prop_assert!(false, "whole: {:?}, in portions: {:?}", whole.err(), portions.err());
            }
        }
    }
}

fn rows(keys: &[&str]) -> Vec<Row> {
    let row = |key: &&str| {
        (
            Some((*key).to_owned()),
            Some("gold".to_owned()),
            Some(7),
            true,
        )
    };
    keys.iter().map(row).collect()
}

#[test]
fn a_list_is_cut_into_batches_of_a_bounded_size() {
    const ROWS: usize = 100;
    let repeated = RepeatedKeys::List(NonZeroU16::new(ROWS as u16).unwrap());
    // A null takes as much room as a value, once it is unpacked.
    let wide: Vec<_> = (0..64)
        .map(|column| {
            let bytes =
                arrow_array::new_null_array(&arrow_schema::DataType::FixedSizeBinary(1024), ROWS);
            (format!("wide{column}"), bytes, true)
        })
        .collect();
    let given: Vec<String> = wide.iter().map(|(name, ..)| name.clone()).collect();
    let ids: ArrayRef = Arc::new(StringArray::from(vec!["a"; ROWS]));
    let columns = [("id".to_owned(), ids, true)].into_iter().chain(wide);
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let reader = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
    let (spill, progress) = (Spill::in_memory(), Progress::default());
    let source = Source::collect("t", reader, &progress).unwrap();
    let (keys, facts) = portions::read(
        &source,
        &key(&["id"], &[]),
        Beside::default(),
        Some((&given, repeated)),
        &spill,
        &progress,
    )
    .unwrap();
    let offered = facts.whole(&key(&["id"], &[]), 1).unwrap().offered.unwrap();
    let columns = offered.columns().clone();
    // As a sender tells that knows only nulls; by its types, a row is as long as a payload.
    let layout = [8_u16, ROWS as u16].map(u16::to_le_bytes).concat();
    let layout = PayloadLayout::from_bytes(&[layout, columns.to_bytes()].concat()).unwrap();
    let payloads = Packing::new(&columns, layout.clone())
        .unwrap()
        .payloads(&keys)
        .unwrap();
    assert_eq!(payloads.len(), 2 + 8 * ROWS);
    // Of three keys, two lists end within a batch.
    let keys = [[7; 32], [8; 32], [9; 32]];
    let unpacking = Unpacking::new(layout, keys.to_vec(), payloads.repeat(3)).unwrap();
    let batches: Vec<RecordBatch> = unpacking.map(Result::unwrap).collect();
    assert!(batches.len() > 1 && batches[0].num_rows() > ROWS);
    let found: Vec<Vec<u8>> = batches
        .iter()
        .flat_map(|batch| {
            let keys = batch.column_by_name(KEY).unwrap().as_fixed_size_binary();
            keys.iter()
                .map(|key| key.unwrap().to_vec())
                .collect::<Vec<_>>()
        })
        .collect();
    let expected = keys.iter().flat_map(|key| vec![key.to_vec(); ROWS]);
    assert_eq!(found, expected.collect::<Vec<_>>());
}

#[test]
fn a_column_that_is_called_as_that_of_keys_gets_a_prefix() {
    let taken = names(&["key", "paid"]);
    let (layout, keys, payloads) = of_whole(&rows(&["a"]), &taken, RepeatedKeys::First).unwrap();
    let mut unpacking = Unpacking::new(layout.clone(), keys.clone(), payloads.clone()).unwrap();
    let batch = unpacking.next().unwrap().unwrap();
    let schema = batch.schema();
    let columns: Vec<&str> = schema
        .fields()
        .iter()
        .map(|field| field.name().as_str())
        .collect();
    assert_eq!(columns, [KEY, "partner_key", "paid"]);
    assert_eq!(batch.column(1).as_string::<i32>().value(0), "a");
    assert_eq!(batch.column(2).as_primitive::<Int64Type>().value(0), 7);
    assert!(unpacking.next().is_none());
    // What is malformed is an error of the other party, and the end.
    let malformed = vec![0xff; payloads.len()];
    let mut unpacking = Unpacking::new(layout.clone(), keys.clone(), malformed).unwrap();
    let error = unpacking.next().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Peer);
    assert!(unpacking.next().is_none());
    let cut = Unpacking::new(layout, keys, payloads[1..].to_vec());
    assert!(matches!(
        cut.err(),
        Some(Error::Portion(PortionFault::Taken))
    ));
}

#[test]
fn rows_that_do_not_belong_together_are_refused() {
    let fault = |error: Error| match error {
        Error::Portion(fault) => fault,
        other => panic!("{other}"),
    };
    let (first, mut facts) = read(&rows(&["a", "b"]), RepeatedKeys::First).unwrap();
    let list = RepeatedKeys::List(NonZeroU16::new(2).unwrap());
    let (listed, other) = read(&rows(&["b"]), list).unwrap();
    assert_eq!(
        fault(facts.merge(&other).unwrap_err()),
        PortionFault::OtherGiven
    );
    let mut mixed = first.clone();
    mixed.extend(listed).unwrap();
    assert_eq!(
        fault(mixed.merged(&[]).unwrap_err()),
        PortionFault::OtherGiven
    );
    let without = PortionKeys::from(vec![[7; 32]]);
    assert_eq!(
        fault(mixed.extend(without.clone()).unwrap_err()),
        PortionFault::OtherGiven
    );

    let offered = facts.whole(&key(&["id"], &[]), 2).unwrap().offered.unwrap();
    let layout = |bytes| PayloadLayout::new(offered.columns().clone(), bytes, RepeatedKeys::First);
    let pack = |bytes: usize, keys: &PortionKeys| {
        let mut packing = Packing::new(offered.columns(), layout(bytes).unwrap()).unwrap();
        packing.payloads(keys)
    };
    let bytes = offered.row_bytes(offered.columns());
    assert!(pack(bytes, &first).is_ok());
    assert_eq!(
        fault(pack(bytes - 1, &first).unwrap_err()),
        PortionFault::Room
    );
    assert_eq!(
        fault(pack(bytes, &without).unwrap_err()),
        PortionFault::Given
    );
    let fewer = offered.columns().take(&names(&["plan"])).unwrap();
    assert!(Packing::new(&fewer, layout(bytes).unwrap()).is_none());
    for cell in [&[][..], &[0], &[0, 0], &[0, 0, 9, 0, 1], &[0, 0, 1, 0, 0]] {
        let cells: ArrayRef = Arc::new(arrow_array::BinaryArray::from(vec![cell]));
        let key: ArrayRef = Arc::new(arrow_array::BinaryArray::from(vec![&[7; 32][..]]));
        let batch = RecordBatch::try_from_iter([(KEY, key), (GIVEN, cells)]).unwrap();
        let keys = PortionKeys::whole_of_batch(&batch, &[]).unwrap();
        assert_eq!(fault(pack(bytes, &keys).unwrap_err()), PortionFault::Given);
    }
}
