//! The CSV reader, in any dialect, with one key column or two, by any rule, and with columns of
//! numbers: blocks of a few bytes make the same table, or the same error, as one block. Cells that
//! a rule cannot read are refused, or count as null.
#![no_main]

use libfuzzer_sys::fuzz_target;
use psijoin::spill::Spill;
use psijoin_source::{Dialect, Progress, Source};
use psijoin_table::{Error, Items, KeySpec, Numbers, TableKeys};

/// Rules of every sort, alone and one after the other.
const RULES: [&str; 20] = [
    "email",
    "email:gmail+sha256",
    "email:google",
    "sha256",
    "null:common,x",
    "null:0+number",
    "phone:column:b",
    "phone:DE",
    "phone+digits",
    "text",
    "bool",
    "uuid",
    "date",
    "date:excel",
    "date:%d.%m.%Y",
    "timestamp:+01:00",
    "timestamp:Europe/Berlin",
    "timestamp:unix-ms",
    "timestamp:unix",
    "nfkc+casefold+time",
];

/// A delimiter, a quote, and whether there are a header and escapes; or nothing is said.
type Said = Option<(u8, Option<u8>, bool, bool)>;

fuzz_target!(|input: (bool, bool, u8, Said, u8, u8, &[u8])| {
    let (two_columns, with_numbers, block_bytes, said, rule, bad_keys, text) = input;
    let Some(dialect) = dialect(said) else { return };
    let [a, b, n] = match said {
        Some((_, _, false, _)) => ["1", "2", "3"],
        _ => ["a", "b", "n"],
    };
    let names = |columns: &[&str]| columns.iter().map(|column| column.to_string()).collect();
    let rule = RULES[usize::from(rule) % RULES.len()].replace("column:b", &format!("column:{b}"));
    let rules = vec![format!("{a}={rule}").parse().expect("a rule")];
    let bad_keys = ["refuse", "null", "null:50%"][usize::from(bad_keys) % 3];
    let key_columns = names(&[a, b][..if two_columns { 2 } else { 1 }]);
    let key = KeySpec::new(key_columns, rules).expect("a key");
    let key = key.with_bad_keys(bad_keys.parse().expect("one of three"));
    let numbers: Vec<String> = names(&[n, b][..if with_numbers { 2 } else { 0 }]);
    let read = |block_bytes| {
        let source = Source::csv_in_memory(text, "fuzz.csv", &dialect)?.in_blocks_of(block_bytes);
        let spill = Spill::in_memory();
        let keys = TableKeys::read(&source, &key, &numbers, &spill, &Progress::default())?;
        Table::of(keys)
    };
    let table = read(1 << 20).map_err(|error| error.to_string());
    let cut = read(1 + u64::from(block_bytes % 64)).map_err(|error| error.to_string());
    assert_eq!(cut, table);
    if let Ok(table) = table {
        let counts = table.keys.counts();
        assert!(table.items.fingerprints.len() as u64 <= counts.rows);
        assert!(table.keys.bad_cells().rows <= counts.left_out);
        for numbers in &table.items.numbers {
            assert_eq!(numbers.len(), table.items.fingerprints.len());
            for sign in [1, -1] {
                let part = numbers.iter().filter(|value| value.signum() == sign);
                part.copied()
                    .try_fold(0_i64, i64::checked_add)
                    .expect("a sum that fits");
            }
        }
    }
});

/// A table's keys, and what is compared of them.
#[derive(Debug)]
struct Table {
    keys: TableKeys,
    items: Items,
    repeated: Vec<(u32, u32)>,
    numbers: Vec<Numbers>,
}

impl Table {
    fn of(mut keys: TableKeys) -> Result<Self, Error> {
        let items = keys.gather()?.clone();
        let mut repeated = Vec::new();
        keys.each_repeat(|row, first| {
            repeated.push((row, first));
            Ok(())
        })?;
        let numbers = keys.numbers();
        Ok(Self {
            keys,
            items,
            repeated,
            numbers,
        })
    }
}

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        let (keys, others) = (&self.keys, &other.keys);
        self.items == other.items
            && self.repeated == other.repeated
            && self.numbers == other.numbers
            && keys.counts() == others.counts()
            && keys.meanings() == others.meanings()
            && keys.bad_cells() == others.bad_cells()
            && keys.doubts() == others.doubts()
    }
}

/// Returns the dialect, unless it is refused.
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
