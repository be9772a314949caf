//! Columns of labels, by which keys are grouped.

use std::collections::BTreeMap;

use arrow_array::{types::*, *};
use psijoin_files::spill::{Budget, Folder, Spill};
use psijoin_source::{ErrorKind, Progress, Source, check_labels};
use psijoin_table::{Beside, Error, LabelColumn, Labels, OTHER, TableKeys};

use crate::{Files, array, key, open};

fn names(columns: &[&str]) -> Vec<String> {
    columns.iter().map(|&column| column.to_owned()).collect()
}

/// Returns columns of labels without a list.
fn columns(names: &[&str]) -> Vec<LabelColumn> {
    let column = |name: &&str| LabelColumn {
        name: (*name).to_owned(),
        listed: None,
    };
    names.iter().map(column).collect()
}

/// Returns a column of labels with this list.
fn listed(name: &str, texts: &[&str]) -> LabelColumn {
    LabelColumn {
        name: name.to_owned(),
        listed: Some(names(texts)),
    }
}

fn read(source: &Source, labels: &[&str], spill: &Spill) -> Result<TableKeys, Error> {
    read_with(source, &columns(labels), spill)
}

fn read_with(source: &Source, labels: &[LabelColumn], spill: &Spill) -> Result<TableKeys, Error> {
    let beside = Beside {
        numbers: &names(&["n"]),
        labels,
    };
    TableKeys::read_beside(
        source,
        &key(&["id"], &[]),
        beside,
        spill,
        &Progress::default(),
    )
}

/// The number of each key, and the place of its labels, by the first row that has it.
type Places = BTreeMap<u32, (i64, i64)>;

/// Returns the labels of each column, with "(null)" for null; and the number and the place of the
/// labels of each key, by the first row that has it.
fn placed(keys: &TableKeys) -> (Vec<Vec<String>>, Places) {
    let mut places = BTreeMap::new();
    for partition in 0..keys.partitions() {
        let items = keys.items(partition).unwrap();
        for (at, row) in items.first_rows.iter().enumerate() {
            places.insert(*row, (items.numbers[0][at], items.numbers[1][at]));
        }
    }
    let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "(null)".to_owned());
    let texts = |labels: &Labels| labels.texts.iter().map(text).collect();
    (keys.labels().iter().map(texts).collect(), places)
}

const TABLE: &str = "id,n,l,m\n1,5,b,x\n2,1,,y\n1,2,b,x\n,9,left out,z\n3,1,\"a, b\",y\n2,-1,,y\n";

#[test]
fn keys_have_the_places_of_their_labels() {
    let files = Files::new();
    let source = open(&files.text("t.csv", TABLE));
    let one = read(&source, &["l"], &Spill::in_memory()).unwrap();
    let (labels, places) = placed(&one);
    assert_eq!(labels, [["a, b", "b", "(null)"]]);
    assert_eq!(places, [(0, (7, 1)), (1, (0, 2)), (4, (1, 0))].into());
    // Of two columns, those of the second one side by side.
    let two = read(&source, &["l", "m"], &Spill::in_memory()).unwrap();
    let (labels, places) = placed(&two);
    assert_eq!(labels[1], ["x", "y"]);
    assert_eq!(places, [(0, (7, 2)), (1, (0, 5)), (4, (1, 1))].into());
}

/// Rows with one key may have several values that are not on the list, and however long ones: they
/// have one label.
#[test]
fn values_that_are_not_on_a_list_have_one_label() {
    let files = Files::new();
    let long = "secret".repeat(50);
    let text = format!("id,n,l,m\n1,5,x,x\n2,1,,y\n1,2,{long},x\n3,1,b,y\n4,2,other,y\n2,-1,,y\n");
    let source = open(&files.text("t.csv", &text));
    let by = [listed("l", &["b", "never"]), columns(&["m"]).remove(0)];
    let (labels, places) = placed(&read_with(&source, &by, &Spill::in_memory()).unwrap());
    assert_eq!(
        labels,
        [vec!["b", "never", OTHER, "(null)"], vec!["x", "y"]]
    );
    let expected = [(0, (7, 4)), (1, (0, 7)), (3, (1, 1)), (4, (2, 5))];
    assert_eq!(places, expected.into());
    // One that is on the list and one that is not are different.
    let source = open(&files.text("t.csv", text.replace(&long, "b")));
    let unlike = read_with(&source, &by, &Spill::in_memory()).unwrap_err();
    assert!(matches!(unlike, Error::UnlikeLabels { rows: 1, .. }));
    let none = open(&files.text("t.csv", "id,n,l,m\n"));
    let (labels, _) = placed(&read_with(&none, &by, &Spill::in_memory()).unwrap());
    assert_eq!(
        labels,
        [vec!["b", "never", OTHER, "(null)"], vec!["(null)"]]
    );
}

/// Neither the blocks in which a text is read nor what is spilled changes anything.
#[test]
fn blocks_and_spilling_change_no_labels() {
    let files = Files::new();
    let rows: String = (0..500)
        .map(|row| {
            format!(
                "{},1,\"group {}\",{}\n",
                row % 300,
                row % 300 % 7,
                row % 300 % 3
            )
        })
        .collect();
    let path = files.text("t.csv", format!("id,n,l,m\n{rows}"));
    let expected = placed(&read(&open(&path), &["m", "l"], &Spill::in_memory()).unwrap());
    assert_eq!(expected.0[1].len(), 7);
    for bytes in [1, 64, 1000] {
        let spilled = Spill::new(Budget::new(0), Folder::temporary());
        let source = open(&path).in_blocks_of(bytes);
        let keys = read(&source, &["m", "l"], &spilled).unwrap();
        assert!(keys.spilled_bytes() > 0);
        assert_eq!(placed(&keys), expected, "{bytes}");
    }
}

#[test]
fn typed_labels_are_spelled_as_keys() {
    let files = Files::new();
    let ids = || array(Int64Array::from(vec![1, 2, 3]));
    let numbers = || array(Int64Array::from(vec![5, 5, 5]));
    let words: DictionaryArray<Int32Type> = [Some("b"), None, Some("a")].into_iter().collect();
    let prices = Decimal128Array::from(vec![150, -7, 0]);
    let prices = prices.with_precision_and_scale(9, 2).unwrap();
    for (labels, expected) in [
        (
            array(StringArray::from(vec![Some("b"), Some(""), Some("a")])),
            ["a", "b", "(null)"],
        ),
        (array(words), ["a", "b", "(null)"]),
        (
            array(BooleanArray::from(vec![Some(true), None, Some(false)])),
            ["false", "true", "(null)"],
        ),
        (
            array(Float64Array::from(vec![2.0, -1.0, 10.0])),
            ["-1", "10", "2"],
        ),
        (
            array(Date32Array::from(vec![Some(0), None, Some(1)])),
            ["1970-01-01", "1970-01-02", "(null)"],
        ),
        (array(prices), ["-0.07", "0", "1.5"]),
    ] {
        let columns = [("id", ids()), ("n", numbers()), ("l", labels)];
        let source = open(&files.parquet("t.parquet", &columns));
        check_labels(&source, &names(&["l"])).unwrap();
        let keys = read(&source, &["l"], &Spill::in_memory()).unwrap();
        assert_eq!(placed(&keys).0, [expected]);
    }
    // Keys that are read once for all rows have labels, too.
    let keys: DictionaryArray<Int32Type> = ["x", "y", "x"].into_iter().collect();
    let labels = array(StringArray::from(vec!["b", "a", "b"]));
    let columns = [("id", array(keys)), ("n", numbers()), ("l", labels)];
    let source = open(&files.parquet("t.parquet", &columns));
    let (_, places) = placed(&read(&source, &["l"], &Spill::in_memory()).unwrap());
    assert_eq!(places, [(0, (10, 1)), (1, (5, 0))].into());
}

#[test]
fn cells_that_are_no_labels_are_errors_that_show_no_value() {
    let files = Files::new();
    let long = format!("id,n,l\n1,1,a\n2,1,{}\n", "secret".repeat(50));
    let floats = [
        ("id", array(Int64Array::from(vec![1, 2]))),
        ("n", array(Int64Array::from(vec![1, 2]))),
        ("l", array(Float64Array::from(vec![1.0, 0.125]))),
    ];
    let unlike = "id,n,l\n1,1,secret\n2,1,b\n1,1,c\n1,1,secret\n";
    for (path, text) in [
        (
            files.text("long.csv", long),
            "line 3, column `l`: a label of more than 256 bytes",
        ),
        (
            files.parquet("floats.parquet", &floats),
            "row 2, column `l`: a floating-point number",
        ),
        (
            files.text("unlike.csv", unlike),
            "different values in the column `l`, in 2 rows",
        ),
    ] {
        let failed = read(&open(&path), &["l"], &Spill::in_memory()).unwrap_err();
        assert_eq!(failed.kind(), ErrorKind::Input);
        let failed = failed.to_string();
        assert!(failed.contains(text), "{failed}");
        assert!(
            !failed.contains("secret") && !failed.contains("0.125"),
            "{failed}"
        );
    }
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]);
    let path = files.parquet(
        "lists.parquet",
        &[
            ("id", array(Int64Array::from(vec![1]))),
            ("l", array(lists)),
        ],
    );
    let failed = check_labels(&open(&path), &names(&["l"]))
        .unwrap_err()
        .to_string();
    assert!(
        failed.contains("by which keys cannot be grouped"),
        "{failed}"
    );
    assert!(check_labels(&open(&path), &names(&["m"])).is_err());
}

/// A job goes on with the same table only: its labels are a part of it.
#[test]
fn a_table_is_recognised_by_its_labels() {
    let files = Files::new();
    let identity = |text: &str| {
        let source = open(&files.text("t.csv", text));
        let beside = Beside {
            numbers: &names(&["n"]),
            labels: &columns(&["l"]),
        };
        let (key, spill) = (key(&["id"], &[]), Spill::in_memory());
        let progress = Progress::default();
        let read = TableKeys::read_identified(&source, &key, beside, &spill, &progress, &[7; 32]);
        read.unwrap().1
    };
    let own = identity(TABLE);
    assert_eq!(own, identity(TABLE));
    assert_ne!(own, identity(&TABLE.replace(",b,", ",c,")));
    assert_ne!(own, identity(&TABLE.replace("3,1,\"a, b\"", "3,1,b")));
}
