//! Columns of numbers, as they are added up for each key.

use arrow_array::{types::*, *};
use arrow_buffer::i256;
use psijoin_source::{Dialect, ErrorKind, Format, MAX_SCALE, Progress, Source, check_numbers};
use psijoin_table::Error;

use crate::{Files, array, assert_contains, held::Keys, key, open, values};

fn names(columns: &[&str]) -> Vec<String> {
    columns.iter().map(|&column| column.to_owned()).collect()
}

fn spooled(format: Format, text: &str) -> Source {
    Source::spool(
        text.as_bytes(),
        "t",
        format,
        &Dialect::default(),
        &Progress::default(),
    )
    .unwrap()
}

fn read(source: &Source, columns: &[&str]) -> Result<Keys, Error> {
    Keys::read(
        source,
        &key(&["id"], &[]),
        &names(columns),
        &Progress::default(),
    )
}

/// Returns values, scale and the number of empty cells of a column.
fn column(source: &Source, name: &str) -> (Vec<i64>, u32, u64) {
    let table = read(source, &[name]).unwrap();
    let numbers = &table.numbers[0];
    (values(&table, 0), numbers.scale, numbers.empty)
}

#[test]
fn rows_with_one_key_are_added_up() {
    for (format, text) in [
        (
            Format::Csv,
            "id,a,b\nx,1,-0.5\ny, 2 ,\nx,,\"+3.25\"\n,junk,junk\ny,-7.0,\n",
        ),
        (
            Format::Tsv,
            "id\ta\tb\r\nx\t1\t-0.5\r\ny\t 2 \t\r\nx\t\t+3.25\r\n\tjunk\tjunk\r\ny\t-7.0\t",
        ),
    ] {
        let source = spooled(format, text);
        assert_eq!(column(&source, "a"), (vec![10, -50], 1, 1));
        assert_eq!(column(&source, "b"), (vec![275, 0], 2, 2));
        let both = read(&source, &["b", "a", "b"]).unwrap();
        assert_eq!(both.numbers[0], both.numbers[2]);
        assert_eq!(values(&both, 1), [10, -50]);
        assert_eq!((both.counts.distinct, both.counts.left_out), (2, 1));
        let none = read(&source, &[]).unwrap();
        assert_eq!(both.first_rows, none.first_rows);
        assert_eq!(both.repeated, none.repeated);
    }
}

#[test]
fn a_list_of_numbers_can_be_added_up() {
    let lines = spooled(Format::Lines, "5\n-1.5\n5\n\n");
    let progress = Progress::default();
    let table = Keys::read(&lines, &key(&[], &[]), &names(&["value"]), &progress).unwrap();
    assert_eq!(values(&table, 0), [100, -15]);
}

#[test]
fn parquet_has_the_numbers_of_csv() {
    let files = Files::new();
    let dictionary: DictionaryArray<Int32Type> = {
        let keys = Int32Array::from(vec![Some(0), Some(1), None, Some(0)]);
        DictionaryArray::new(keys, array(Int64Array::from(vec![7, -8])))
    };
    let columns = [
        (
            "id",
            array(StringArray::from(vec![
                Some("x"),
                Some("y"),
                Some("x"),
                None,
            ])),
        ),
        ("i8", array(Int8Array::from(vec![-128, 127, 1, 5]))),
        (
            "u64",
            array(UInt64Array::from(vec![
                Some(1 << 63),
                None,
                None,
                Some(u64::MAX),
            ])),
        ),
        (
            "f16",
            array(Float16Array::from_iter_values(
                [1.5, -0.25, 3.0, 0.0].map(<Float16Type as ArrowPrimitiveType>::Native::from_f32),
            )),
        ),
        (
            "f32",
            array(Float32Array::from(vec![0.1, -0.25, 3.0, 1e30])),
        ),
        (
            "f64",
            array(Float64Array::from(vec![0.1, 2.75, 0.2, f64::NAN])),
        ),
        (
            "d32",
            array(
                Decimal32Array::from(vec![150, -5, 0, 1])
                    .with_precision_and_scale(9, 2)
                    .unwrap(),
            ),
        ),
        (
            "d64",
            array(
                Decimal64Array::from(vec![15, -5, 0, 1])
                    .with_precision_and_scale(18, 18)
                    .unwrap(),
            ),
        ),
        (
            "d128",
            array(
                Decimal128Array::from(vec![15, -5, 0, 1])
                    .with_precision_and_scale(38, 0)
                    .unwrap(),
            ),
        ),
        (
            "d256",
            array(
                Decimal256Array::from(
                    vec![150, -5, 0, 1]
                        .into_iter()
                        .map(i256::from_i128)
                        .collect::<Vec<_>>(),
                )
                .with_precision_and_scale(50, 3)
                .unwrap(),
            ),
        ),
        ("dictionary", array(dictionary)),
        ("null", array(NullArray::new(4))),
    ];
    let parquet = open(&files.parquet("t.parquet", &columns));
    for (name, expected) in [
        ("i8", (vec![-127, 127], 0, 0)),
        ("f16", (vec![450, -25], 2, 0)),
        ("f32", (vec![310, -25], 2, 0)),
        ("f64", (vec![30, 275], 2, 0)),
        ("d32", (vec![150, -5], 2, 0)),
        ("d64", (vec![15, -5], 18, 0)),
        ("d128", (vec![15, -5], 0, 0)),
        ("d256", (vec![150, -5], 3, 0)),
        ("dictionary", (vec![7, -8], 0, 1)),
        ("null", (vec![0, 0], 0, 3)),
    ] {
        check_numbers(&parquet, &names(&[name])).unwrap();
        assert_eq!(column(&parquet, name), expected, "{name}");
    }
    let all = read(&parquet, &["d32", "i8", "d32"]).unwrap();
    assert_eq!(all.numbers[0], all.numbers[2]);
    assert_eq!(values(&all, 1), [-127, 127]);
    let overflow = read(&parquet, &["i8", "u64"]).unwrap_err().to_string();
    assert_contains(
        &overflow,
        ", row 1, column `u64`: the running total overflows",
    );
}

#[test]
fn a_text_column_of_parquet_is_added_up_as_in_csv() {
    let files = Files::new();
    let cells = ["1.5e3", " +2.50 ", "", ".5", "-5.", "1e-3", "7"];
    let ids = ["x", "y", "x", "z", "y", "x", "z"];
    let csv: String = ids
        .iter()
        .zip(cells)
        .map(|(id, cell)| format!("{id},{cell}\n"))
        .collect();
    let expected = column(&spooled(Format::Csv, &format!("id,n\n{csv}")), "n");
    assert_eq!(expected, (vec![1_500_001, -2_500, 7_500], 3, 1));

    let words: DictionaryArray<Int32Type> = cells.into_iter().collect();
    let parquet = open(&files.parquet(
        "t.parquet",
        &[
            ("id", array(StringArray::from(ids.to_vec()))),
            ("text", array(StringArray::from(cells.to_vec()))),
            ("large", array(LargeStringArray::from(cells.to_vec()))),
            ("view", array(StringViewArray::from(cells.to_vec()))),
            ("word", array(words)),
        ],
    ));
    for name in ["text", "large", "view", "word"] {
        check_numbers(&parquet, &names(&[name])).unwrap();
        assert_eq!(column(&parquet, name), expected, "{name}");
    }
    let mut refused = cells;
    refused[5] = "1,000";
    let path = files.parquet(
        "t.parquet",
        &[
            ("id", array(StringArray::from(ids.to_vec()))),
            ("n", array(StringArray::from(refused.to_vec()))),
        ],
    );
    let error = read(&open(&path), &["n"]).unwrap_err().to_string();
    assert_contains(&error, ", row 6, column `n`: not a number");
}

#[test]
fn floating_point_numbers_may_have_an_exponent() {
    let files = Files::new();
    let parquet = open(&files.parquet(
        "t.parquet",
        &[
            ("id", array(Int32Array::from(vec![1, 2, 3]))),
            ("f64", array(Float64Array::from(vec![1e16, -2.5e16, 3e16]))),
            ("small", array(Float64Array::from(vec![1e-7, 2.5e-8, 1.0]))),
            ("f32", array(Float32Array::from(vec![1e16, 1.5e16, -2e16]))),
            ("tiny", array(Float64Array::from(vec![1.0, 5e-324, 1.0]))),
            ("huge", array(Float64Array::from(vec![1.0, 1e300, 1.0]))),
        ],
    ));
    let ten = 10_000_000_000_000_000;
    assert_eq!(
        column(&parquet, "f64"),
        (vec![ten, -ten / 2 * 5, 3 * ten], 0, 0)
    );
    assert_eq!(
        column(&parquet, "small"),
        (vec![100, 25, 1_000_000_000], 9, 0)
    );
    assert_eq!(
        column(&parquet, "f32"),
        (vec![ten, ten / 2 * 3, -2 * ten], 0, 0)
    );
    for (name, fault) in [
        ("tiny", "a number of more than 18 decimals"),
        ("huge", "the running total overflows 64 bits"),
    ] {
        let error = read(&parquet, &[name]).unwrap_err().to_string();
        assert_contains(&error, &format!(", row 2, column `{name}`: {fault}"));
    }
}

/// Returns what is said about the column `n` of a CSV text.
fn message(text: &str) -> String {
    let error = read(&spooled(Format::Csv, text), &["n"]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input);
    error.to_string()
}

#[test]
fn what_is_no_number_is_named_by_line_and_column() {
    assert_eq!(
        message("id,n\nx,\"1\"\n\n\"y\nz\",2\nx,\"1,5\"\n"),
        "t, line 6, column `n`: not a number (a number is written as 1234, -0.50 or 1.5e3, without \
         a unit; write 1234.5 for 1,234.5 and 1.5 for 1,5; correct or empty the cell)"
    );
    assert_eq!(
        message("id,n\nx,1e1001\n"),
        "t, line 2, column `n`: a number with an exponent beyond 1000 (correct or empty the cell)"
    );
    assert_eq!(
        message("id,n\nx,0.0000000000000000001\n"),
        "t, line 2, column `n`: a number of more than 18 decimals (round it)"
    );
    let too_large = |line: u64, decimals: &str| {
        format!(
            "t, line {line}, column `n`: the running total overflows 64 bits, at {decimals} (round to \
             fewer decimals, or give larger units, as thousands for ones)"
        )
    };
    let half = 1_u64 << 62;
    assert_eq!(
        message(&format!("id,n\nx,{half}\ny,-1\nx,{half}\n")),
        too_large(4, "0 decimals")
    );
    assert_eq!(
        message(&format!("id,n\nx,{half}\ny,0.5\n")),
        too_large(3, "1 decimal")
    );
}

#[test]
fn parquet_is_named_by_row() {
    let files = Files::new();
    let path = files.parquet(
        "t.parquet",
        &[
            ("id", array(Int32Array::from_iter_values(0..9000))),
            (
                "n",
                array(Float64Array::from_iter_values(
                    (0..9000).map(|row| if row < 8500 { 1.0 } else { f64::NAN }),
                )),
            ),
        ],
    );
    let error = read(&open(&path), &["n"]).unwrap_err();
    let expected = format!("{}, rows 8501, 8502, 8503,", path.display());
    assert!(error.to_string().starts_with(&expected), "{error}");
    let expected = " 8509 and 8510 and 490 more, column `n`: not a number (";
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn what_cannot_be_added_up_is_refused_before_any_row_is_read() {
    let files = Files::new();
    let decimal = |scale| {
        let values = Decimal128Array::from(vec![1]);
        array(values.with_precision_and_scale(38, scale).unwrap())
    };
    let parquet = open(&files.parquet(
        "t.parquet",
        &[
            ("id", array(StringArray::from(vec!["1"]))),
            ("bytes", array(BinaryArray::from(vec![&b"1"[..]]))),
            ("flag", array(BooleanArray::from(vec![true]))),
            ("date", array(Date32Array::from(vec![1]))),
            ("fine", decimal(MAX_SCALE as i8)),
            ("finer", decimal(MAX_SCALE as i8 + 1)),
        ],
    ));
    for (name, data_type) in [
        ("bytes", "Binary"),
        ("flag", "Boolean"),
        ("date", "Date32"),
        ("finer", "Decimal128(38, 19)"),
    ] {
        let error = check_numbers(&parquet, &names(&["fine", name])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input);
        let kinds =
            "(text, integers, decimals with at most 18 places and floating-point numbers can)";
        assert_eq!(
            error.to_string(),
            format!(
                "{}: the column `{name}` holds {data_type}, which cannot be added up {kinds}",
                parquet.name()
            )
        );
        assert_eq!(
            read(&parquet, &[name]).unwrap_err().to_string(),
            error.to_string()
        );
    }

    let csv = spooled(Format::Csv, "id,n,n\n");
    for source in [&parquet, &csv] {
        for (name, expected) in [
            ("m", " has no column `m`; it"),
            (
                "n",
                if source.format() == Format::Csv {
                    " has more than one column `n`: the name of a column that is read must be unique (rename one of them)"
                } else {
                    " has no column `n`"
                },
            ),
        ] {
            let error = check_numbers(source, &names(&[name]))
                .unwrap_err()
                .to_string();
            assert_contains(&error, expected);
            assert_eq!(read(source, &[name]).unwrap_err().to_string(), error);
        }
    }
    check_numbers(&csv, &names(&["id"])).unwrap();
}
