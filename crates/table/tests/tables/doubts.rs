//! Keys that surely are none: counted, and told with where they are.

use psijoin_files::spill::{Budget, Folder, Spill};
use psijoin_table::TableKeys;

use super::*;

fn told(format: Format, text: &str, key: &KeySpec) -> Vec<String> {
    let read = read_dialect(format, &Dialect::default(), text, key).unwrap();
    read.doubts.iter().map(Doubt::to_string).collect()
}

#[test]
fn keys_that_surely_are_none_are_counted_and_placed() {
    let text = "id,x\n1,a\nNULL,b\n\"nan\",c\n1.58E+18,d\n\u{200b}7,e\n8 ,f\nid,g\n----,h\n,i\n";
    assert_eq!(
        told(Format::Csv, text, &key(&["id"], &[])),
        [
            "2 fields of `id` are words that programs write for null (standard input, lines 3 and 4); rows without a key would match each \
             other: if they stand for null, say so by a first rule, as `null:common`",
            "1 field of `id` is a number in scientific notation, as 1.58E+18 (standard input, line 5); digits of a long id are lost there, \
             and several ids may have become one: export the column as text",
            "2 fields of `id` have characters that nobody sees, or spaces at their ends (standard input, lines 6 and 7); they match no key \
             without them: the rule `trim` takes spaces off, and other characters have to be removed where the table \
             comes from",
            "2 fields of `id` seem to be no data, but lines of dashes, headers once more, or numbers of rows (standard input, lines 8 and 9); \
             they are compared like others: remove them",
        ]
    );
}

#[test]
fn what_a_rule_has_put_right_is_no_doubt() {
    let counted = |rules: &str, text: &str| told(Format::Csv, text, &key(&["id"], &[rules])).len();
    assert_eq!(counted("id=null:common", "id\nnan\nNULL\n1\n"), 0);
    assert_eq!(counted("id=trim", "id\n a\nb \n"), 0);
    assert_eq!(counted("id=nfkc", "id\na\u{a0}b\n"), 0);
    assert_eq!(counted("id=email+sha256", "id\n ada@example.org\n"), 0);
    // A hash shows nothing of what it was made of.
    assert_eq!(
        counted("id=email+sha256", "id\nada\u{200b}@example.org\nNULL\n"),
        2
    );
    assert_eq!(counted("id=number", "id\n4.90172E+12\n"), 1);
    // Of lines there is no header, and the name of their column is a word.
    assert!(told(Format::Lines, "value\n", &KeySpec::default()).is_empty());
}

#[test]
fn rows_of_a_dictionary_are_counted_one_by_one() {
    let values = ["nan", "a", "nan", "b", "nan"];
    let dictionary: DictionaryArray<Int32Type> = values.into_iter().collect();
    let batch = RecordBatch::try_from_iter([("id", Arc::new(dictionary) as ArrayRef)]).unwrap();
    let source = Source::of_batches("t", batch.schema(), vec![batch]).unwrap();
    let read = Keys::read(&source, &key(&["id"], &[]), &[], &Progress::default()).unwrap();
    let [Doubt::Fields { places, .. }] = &read.doubts[..] else {
        panic!("{:?}", read.doubts);
    };
    assert_eq!(places.to_string(), "t, rows 1, 3 and 5");
}

#[test]
fn numbers_that_are_filled_up_with_zeros_in_part_are_placed() {
    let text = "id,x\n00123,a\n123,b\n00007,c\n";
    assert_eq!(
        told(Format::Csv, text, &key(&["id"], &[])),
        [
            "2 fields of `id` are numbers that begin with zeros, as 00123, where shorter numbers do not (standard input, lines 2 and 4); \
             `00123` and `123` are different keys: if they are one, the rule `number` makes them so"
        ]
    );
    assert!(told(Format::Csv, text, &key(&["id"], &["id=number"])).is_empty());
    assert!(told(Format::Csv, "zip\n01067\n20095\n", &key(&["zip"], &[])).is_empty());
}

#[test]
fn one_key_in_many_rows_is_doubted_in_memory_and_in_partitions() {
    let mut text = "id\n".to_owned();
    (0..300).for_each(|row| match row % 30 {
        7 => text.push_str("unknown\n"),
        _ => text.push_str(&format!("c{row}\n")),
    });
    let doubt = Doubt::Frequent {
        rows: 10,
        of: 300,
        first: 8,
    };
    let key = key(&["id"], &[]);
    let source = Source::csv_in_memory(text.as_bytes(), "t", &Dialect::default()).unwrap();
    let read = Keys::read(&source, &key, &[], &Progress::default()).unwrap();
    assert_eq!(read.doubts, std::slice::from_ref(&doubt));
    let spill = &Spill::new(Budget::new(0), Folder::temporary());
    let parts = TableKeys::read(&source, &key, &[], spill, &Progress::default()).unwrap();
    assert_eq!(parts.doubts(), [doubt]);
}
