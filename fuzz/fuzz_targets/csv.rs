//! The CSV reader, with one key column or two.
#![no_main]

use libfuzzer_sys::fuzz_target;
use psijoin_table::{KeySpec, KeyTable};

fuzz_target!(|input: (bool, &[u8])| {
    let (two_columns, text) = input;
    let columns: &[&str] = if two_columns { &["a", "b"] } else { &["a"] };
    let columns = columns.iter().map(|column| column.to_string()).collect();
    let rules = vec!["a=email".parse().expect("a rule")];
    let key = KeySpec::new(columns, rules).expect("a key");
    if let Ok(table) = KeyTable::read_csv(text, "fuzz.csv", &key) {
        assert!(table.fingerprints.len() as u64 <= table.counts.rows);
    }
});
