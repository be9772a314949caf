//! Files of any bytes under names that tell their format or compression: each is a table, or an
//! error about it.
#![no_main]

use std::{env, fs, process};

use libfuzzer_sys::fuzz_target;
use psijoin::spill::Spill;
use psijoin_source::{Dialect, ErrorKind, Progress, Source};
use psijoin_table::{Error, KeySpec, TableKeys};

const ENDINGS: [&str; 8] = [
    "csv", "tsv", "txt", "csv.gz", "csv.zst", "parquet", "arrow", "other",
];

fuzz_target!(|input: (u8, &[u8])| {
    let (ending, bytes) = input;
    let ending = ENDINGS[usize::from(ending) % ENDINGS.len()];
    let path = env::temp_dir().join(format!("psijoin-fuzz-{}.{ending}", process::id()));
    fs::write(&path, bytes).expect("a file of its own");
    let progress = Progress::default();
    let key = KeySpec::new(vec![], vec![]).expect("a key");
    let source = Source::open(&path, None, &Dialect::default(), true, &progress);
    let read = |source: Source| TableKeys::read(&source, &key, &[], &Spill::in_memory(), &progress);
    match source.map_err(Error::from).and_then(read) {
        Ok(keys) => assert!(keys.counts().distinct <= keys.counts().rows),
        Err(error) => assert!(
            matches!(error.kind(), ErrorKind::Input | ErrorKind::Usage),
            "{error}"
        ),
    }
    fs::remove_file(&path).expect("a file of its own");
});
