//! A file of peers of any content: it is read, or an error tells what is wrong with it.
#![no_main]

use std::{env, fs, process};

use libfuzzer_sys::fuzz_target;
use psijoin_peers::{Book, Error};

fuzz_target!(|bytes: &[u8]| {
    let folder = env::temp_dir().join(format!("psijoin-fuzz-peers-{}", process::id()));
    fs::create_dir_all(&folder).expect("a folder of its own");
    let book = Book::in_folder(&folder);
    fs::write(book.path(), bytes).expect("a file of its own");
    let names = |book: &Book| {
        let peers = book.read()?;
        Ok::<_, Error>(
            peers
                .iter()
                .map(|(name, _)| name.clone())
                .collect::<Vec<_>>(),
        )
    };
    match names(&book) {
        // What was read is written so that it is read again.
        Ok(read) => {
            book.change(|_| Ok(())).expect("it was read");
            assert_eq!(names(&book).expect("it was written"), read);
        }
        Err(error) => assert!(
            matches!(error, Error::Malformed { .. } | Error::Later { .. }),
            "{error}"
        ),
    }
});
