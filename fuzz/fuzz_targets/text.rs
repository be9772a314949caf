//! Lines, and TSV with escapes, in any encoding: what is read is written back with its bytes, also
//! where keys are words for null, or are hashed.
#![no_main]

use std::{env, fs, process};

use libfuzzer_sys::fuzz_target;
use psijoin::spill::Spill;
use psijoin_source::{Dialect, Format, Progress, Source};
use psijoin_table::{Destination, Existing, KeySpec, SharedKeys, TableKeys};

const ENCODINGS: [&str; 5] = [
    "utf-8",
    "utf-16le",
    "utf-16be",
    "windows-1252",
    "windows-1255",
];

fuzz_target!(|input: (bool, u8, u8, &[u8])| {
    let (is_tsv, encoding, rule, text) = input;
    let encoding = ENCODINGS[usize::from(encoding) % ENCODINGS.len()];
    let dialect = Dialect::default().with_encoding(encoding.parse().expect("an encoding"));
    let (format, dialect, columns, ending) = match is_tsv {
        true => {
            let dialect = dialect.with_escapes().without_header();
            (Format::Tsv, dialect, vec!["1".to_owned()], "tsv")
        }
        false => (Format::Lines, dialect, vec![], "txt"),
    };
    let column = if is_tsv { "1" } else { "value" };
    let rule = ["trim", "null:common", "email+sha256"][usize::from(rule) % 3];
    let rules = vec![format!("{column}={rule}").parse().expect("a rule")];
    let key = KeySpec::new(columns, rules).expect("a key");
    let progress = Progress::default();
    let Ok(source) = Source::spool(text, "fuzz", format, &dialect, &progress) else {
        return;
    };
    let Ok(mut keys) = TableKeys::read(&source, &key, &[], &Spill::in_memory(), &progress) else {
        return;
    };
    let output = env::temp_dir().join(format!("psijoin-fuzz-{}.{ending}", process::id()));
    let destination =
        Destination::prepare(Some(&output), &source, Existing::Replace).expect("a file");
    let first_rows = keys.gather().expect("all keys").first_rows.clone();
    let payloads = Vec::new();
    let all = SharedKeys::InMemory {
        first_rows,
        payloads,
    };
    let rows = keys.matching(all).expect("all rows with a key");
    destination
        .stage_rows(&source, &rows, &progress)
        .and_then(|staged| staged.commit())
        .expect("rows in their own format");
    let written = fs::read(&output).expect("the rows");
    fs::remove_file(&output).expect("a file of its own");
    if !is_tsv && keys.counts().left_out == 0 {
        assert_eq!(written, text);
    }
    // Rows without a key are left out, and blank lines of TSV.
    let mut rest = text.iter();
    assert!(written.iter().all(|byte| rest.any(|other| other == byte)));
});
