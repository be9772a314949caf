//! The CSV reader, with one key column or two, and with columns of numbers.
#![no_main]

use libfuzzer_sys::fuzz_target;
use psijoin_table::{KeySpec, KeyTable};

fuzz_target!(|input: (bool, bool, &[u8])| {
    let (two_columns, with_numbers, text) = input;
    let names = |columns: &[&str]| columns.iter().map(|column| column.to_string()).collect();
    let rules = vec!["a=email".parse().expect("a rule")];
    let key_columns = names(if two_columns { &["a", "b"] } else { &["a"] });
    let key = KeySpec::new(key_columns, rules).expect("a key");
    let numbers: Vec<String> = names(if with_numbers { &["n", "b"] } else { &[] });
    if let Ok(table) = KeyTable::read_csv(text, "fuzz.csv", &key, &numbers) {
        assert!(table.fingerprints.len() as u64 <= table.counts.rows);
        for numbers in &table.numbers {
            assert_eq!(numbers.values.len(), table.fingerprints.len());
            for sign in [1, -1] {
                let part = numbers.values.iter().filter(|value| value.signum() == sign);
                part.copied()
                    .try_fold(0_i64, i64::checked_add)
                    .expect("a sum that fits");
            }
        }
    }
});
