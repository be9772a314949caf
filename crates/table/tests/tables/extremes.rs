//! Values that are none of their type, and values that an output has no room for.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    sync::Arc,
};

use arrow_array::{cast::AsArray, types::Date64Type, *};
use arrow_buffer::OffsetBuffer;
use arrow_schema::Field;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use psijoin_source::{ErrorKind, Source};
use psijoin_table::{Destination, Error, share::RepeatedKeys};

use crate::{
    Files, array, assert_contains,
    given::{arrow_file, give},
    join, key, only_batch,
};

/// Returns a table of ids from 1 on and this column.
fn table(files: &Files, name: &str, column: &str, values: ArrayRef) -> PathBuf {
    let ids = (1..=values.len()).map(|id| id.to_string());
    let path = files.path(name);
    arrow_file(
        &path,
        &[
            ("id", array(StringArray::from_iter_values(ids))),
            (column, values),
        ],
    );
    path
}

fn as_it_is(destination: Destination, _: &Source) -> Result<Destination, Error> {
    Ok(destination)
}

/// Returns values of three rows, the last two of which are invalid for their type, and the errors
/// about them.
fn invalid() -> Vec<(ArrayRef, &'static str)> {
    let decimal = Decimal64Array::from(vec![999, 1_000, -1_000]);
    let wide = Decimal256Array::from([9, 10, -10].map(arrow_buffer::i256::from_i128).to_vec());
    let digits = "a decimal of too many digits";
    let time = "a time of day before 00:00 or after 24:00";
    let day = 86_400_000_000;
    vec![
        (
            array(decimal.with_precision_and_scale(3, 1).unwrap()),
            digits,
        ),
        (array(wide.with_precision_and_scale(1, 0).unwrap()), digits),
        (
            array(Time32SecondArray::from(vec![86_400, 86_401, -1])),
            time,
        ),
        (
            array(Time32MillisecondArray::from(vec![0, i32::MAX, i32::MIN])),
            time,
        ),
        (
            array(Time64MicrosecondArray::from(vec![day, day + 1, -1])),
            time,
        ),
        (
            array(Time64NanosecondArray::from(vec![0, i64::MAX, i64::MIN])),
            time,
        ),
    ]
}

#[test]
fn a_value_that_is_none_of_its_type_is_named_by_the_side_that_gives() {
    let files = Files::new();
    for (values, what) in invalid() {
        let theirs = table(&files, "theirs.arrow", "b", values);
        let error = give(&theirs, &["b"], RepeatedKeys::Refuse).map(drop);
        let error = error.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input);
        assert_contains(
            &error.to_string(),
            &format!("row 2 of the table has {what} in its column `b`: correct it"),
        );
    }
}

#[test]
fn a_value_that_is_none_of_its_type_is_named_by_the_side_that_takes() {
    let files = Files::new();
    let mine = files.text("mine.csv", "id\n9\n8\n1\n");
    for (values, what) in invalid() {
        let valid = table(&files, "theirs.arrow", "b", values.slice(0, 1));
        let mut gift = give(&valid, &["b"], RepeatedKeys::Refuse).unwrap();
        let data = values.to_data();
        let width = data.buffers()[0].len() / values.len();
        for row in 1..3 {
            // Behind the flags.
            gift.payloads[1..].copy_from_slice(&data.buffers()[0][row * width..][..width]);
            for output in ["out.csv", "out.parquet", "out.arrow"] {
                let output = files.path(output);
                let error = gift.write(&mine, &output, as_it_is).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Peer);
                assert_contains(
                    &error.to_string(),
                    &format!(
                        "what the other party gives for row 3 of the table has {what} in its column `b`: "
                    ),
                );
                assert!(!output.exists());
            }
        }
    }
}

#[test]
fn a_value_that_parquet_cannot_hold_is_named() {
    let files = Files::new();
    let seconds = TimestampSecondArray::from(vec![Some(0), None, Some(i64::MAX / 999)]);
    let day = 86_400_000;
    let beyond = (i64::from(i32::MAX) + 1) * day;
    let dates = Date64Array::from(vec![Some(beyond - day), None, Some(beyond)]);
    let before = Date64Array::from(vec![i64::from(i32::MIN) * day, 0, i64::MIN]);
    for (values, what) in [
        (array(seconds.clone()), "a timestamp"),
        (array(seconds.with_timezone("UTC")), "a timestamp"),
        (array(dates), "a date"),
        (array(before), "a date"),
    ] {
        let said = format!(" is {what} that Parquet cannot hold; write .arrow, or leave");
        let far = table(&files, "far.arrow", "far", values);
        let parquet = files.path("out.parquet");
        let fails = |error: Error, place: &str| {
            assert_eq!(error.kind(), ErrorKind::Output);
            assert_contains(&error.to_string(), &format!("{place}{said}"));
            assert!(!parquet.exists());
        };
        // Of the table itself...
        let id = key(&["id"], &[]);
        let error = join(&far, &id, |item| item != 1, &parquet).unwrap_err();
        fails(error, "in row 3 of the table, the column `far`");
        // ...and of the other party, beside texts and beside columns with types.
        let gift = give(&far, &["far"], RepeatedKeys::Refuse).unwrap();
        let ids = array(StringArray::from(vec!["9", "3", "1"]));
        let typed = files.parquet("mine.parquet", &[("id", ids.clone()), ("far", ids)]);
        for mine in [files.text("mine.csv", "id,far\n9,x\n3,x\n1,x\n"), typed] {
            let error = gift.write(&mine, &parquet, as_it_is).unwrap_err();
            fails(error, "in row 2 of the table, the column `partner_far`");
            for other in ["out.csv", "out.arrow"] {
                assert_eq!(gift.write(&mine, &files.path(other), as_it_is).unwrap(), 2);
            }
        }
    }
}

/// Behind rows that are not chosen, and in lists.
#[test]
fn a_value_that_parquet_cannot_hold_is_named_wherever_it_is() {
    let files = Files::new();
    let id = key(&["id"], &[]);
    let far = |at: usize, rows: usize| {
        let seconds = (0..rows).map(|row| if row == at { i64::MAX } else { 0 });
        TimestampSecondArray::from_iter_values(seconds)
    };
    let fails = |values: ArrayRef, matched: &dyn Fn(usize) -> bool, row: usize| {
        let input = table(&files, "far.arrow", "far", values);
        let error = join(&input, &id, matched, &files.path("out.parquet")).unwrap_err();
        assert_contains(
            &error.to_string(),
            &format!("in row {row} of the table, the column `far`"),
        );
    };
    fails(
        array(far(20_000, 20_002)),
        &|item| item % 2 == 1 || item > 10,
        20_001,
    );
    let item = Arc::new(Field::new("item", far(0, 0).data_type().clone(), true));
    let lists = ListArray::new(
        item,
        OffsetBuffer::from_lengths([2, 0, 2]),
        Arc::new(far(3, 4)),
        None,
    );
    fails(array(lists), &|_| true, 3);
}

#[test]
fn a_date_in_milliseconds_is_the_same_day_in_every_format() {
    let files = Files::new();
    let id = key(&["id"], &[]);
    let day = 86_400_000;
    let dates = Date64Array::from(vec![-1, -day, day + 1]);
    let input = table(&files, "dates.arrow", "date", array(dates));
    let parquet = files.path("out.parquet");
    join(&input, &id, |_| true, &parquet).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&parquet).unwrap());
    let written = only_batch(reader.unwrap().build().unwrap());
    let written = written.column(1).as_primitive::<Date64Type>();
    assert_eq!(written.values()[..], [-day, -day, day]);
    let text = |input: &Path| {
        let output = files.path("out.csv");
        join(input, &id, |_| true, &output).unwrap();
        fs::read_to_string(output).unwrap()
    };
    assert_eq!(
        text(&input),
        "id,date\n1,1969-12-31\n2,1969-12-31\n3,1970-01-02\n"
    );
    assert_eq!(text(&parquet), text(&input));
}
