//! The CSV reader, in any dialect, with one key column or two, and with columns of numbers.
#![no_main]

use libfuzzer_sys::fuzz_target;
use psijoin_table::{Dialect, KeySpec, KeyTable};

/// A delimiter, a quote, and whether there are a header and escapes; or nothing is said.
type Said = Option<(u8, Option<u8>, bool, bool)>;

fuzz_target!(|input: (bool, bool, Said, &[u8])| {
    let (two_columns, with_numbers, said, text) = input;
    let Some(dialect) = dialect(said) else { return };
    let [a, b, n] = match said {
        Some((_, _, false, _)) => ["1", "2", "3"],
        _ => ["a", "b", "n"],
    };
    let names = |columns: &[&str]| columns.iter().map(|column| column.to_string()).collect();
    let rules = vec![format!("{a}=email").parse().expect("a rule")];
    let key_columns = names(&[a, b][..if two_columns { 2 } else { 1 }]);
    let key = KeySpec::new(key_columns, rules).expect("a key");
    let numbers: Vec<String> = names(&[n, b][..if with_numbers { 2 } else { 0 }]);
    if let Ok(table) = KeyTable::read_csv(text, "fuzz.csv", &dialect, &key, &numbers) {
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

/// The dialect, unless it is refused.
fn dialect(said: Said) -> Option<Dialect> {
    let Some((delimiter, quote, header, escapes)) = said else {
        return Some(Dialect::default());
    };
    let dialect = Dialect::default().with_delimiter(delimiter).ok()?;
    let mut dialect = dialect.with_quote(quote).ok()?;
    if !header {
        dialect = dialect.without_header();
    }
    if escapes {
        dialect = dialect.with_escapes();
    }
    Some(dialect)
}
