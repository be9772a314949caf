//! The view of a table's keys for its owner.

use arrow_array::*;
use psijoin_source::Progress;
use psijoin_table::Inspection;

use crate::{Files, array, held::Keys, key, open, read};

#[test]
fn an_inspection_shows_how_keys_came_about() {
    let files = Files::new();
    let csv = files.text(
        "t.csv",
        "mail,day\n Ann@x.org,03.02.2024\nann@x.org,3.2.2024\n,04.02.2024\nbob@x.org,04.02.2024\n",
    );
    let key = key(&["mail", "day"], &["mail=email", "day=date:%d.%m.%Y"]);
    let inspect = |most| Inspection::read(&open(&csv), &key, most, &Progress::default()).unwrap();
    let seen = inspect(10);
    let keys = Keys::of(inspect(10).keys).unwrap();
    assert_eq!(keys, read(&csv, &key).unwrap());
    assert_eq!(
        seen.first,
        [["ann@x.org", "2024-02-03"], ["bob@x.org", "2024-02-04"]]
    );
    let [mail, day] = &seen.columns[..] else {
        panic!("a key of two columns")
    };
    assert_eq!((&*mail.name, mail.empty, mail.longest), ("mail", 1, 9));
    let changed = |column: &psijoin_table::InspectedColumn| -> Vec<(String, u64)> {
        let rules = column.rules.iter();
        rules
            .map(|(rule, count)| (rule.name().to_owned(), *count))
            .collect()
    };
    assert_eq!(
        changed(mail),
        [("trim".to_owned(), 1), ("lowercase".to_owned(), 1)]
    );
    assert_eq!(changed(day), [("date".to_owned(), 4)]);
    assert_eq!(inspect(1).first.len(), 1);
    assert_eq!(inspect(0).first.len(), 0);
}

#[test]
fn typed_columns_are_shown_as_they_are_compared() {
    let files = Files::new();
    let days = array(Date32Array::from(vec![Some(19_756), None]));
    let parquet = files.parquet("t.parquet", &[("day", days)]);
    let key = key(&["day"], &["day=date:%d.%m.%Y"]);
    let seen = Inspection::read(&open(&parquet), &key, 10, &Progress::default()).unwrap();
    assert_eq!(seen.first, [["2024-02-03"]]);
    assert_eq!(seen.columns[0].empty, 1);
    assert_eq!(seen.columns[0].rules[0].1, 0, "it was a date");
    assert_eq!(seen.keys.meanings()[0].to_string(), "date");
}
