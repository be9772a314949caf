//! There is not enough memory.

use std::time::Instant;

use crate::support::{Folder, PATIENCE, Process, lines};

const ROWS: u32 = 1_000_000;

/// Address space in KiB that is not enough to join a million rows, though the program starts.
const LIMITS: [u64; 10] = [
    74_000, 76_000, 80_000, 100_000, 110_000, 120_000, 140_000, 160_000, 180_000, 200_000,
];

/// Both ends come at once, and each with the right code, whichever side is short of memory and
/// wherever that shows: at the first thread, while the table is read, within the protocol.
/// Making a backtrace takes memory of its own, so every other run asks for one.
#[test]
fn too_little_memory_is_an_error_that_the_other_side_hears_of() {
    too_little_memory_is_an_error(["0", "1"]);
}

#[test]
#[ignore = "as long as the one above"]
fn too_little_memory_is_an_error_with_backtraces_in_the_other_runs() {
    too_little_memory_is_an_error(["1", "0"]);
}

fn too_little_memory_is_an_error(backtraces: [&str; 2]) {
    let folder = Folder::new();
    let words = folder.file("words", lines(0..ROWS));
    let output = folder.path("shared");
    let waits = ["--timeout", "10", "--wait", "20"];
    let common = ["--input", &words, "--insecure-plaintext", "--threads", "2"];
    let common = [&common[..], &waits].concat();
    for (limit, backtrace) in LIMITS.into_iter().zip(backtraces.into_iter().cycle()) {
        let started = Instant::now();
        let listen = ["receive", "--listen", "127.0.0.1:0", "--output", &output];
        let args = [&listen[..], &common].concat();
        let mut receiver = Process::start_limited_with(limit, backtrace, &args);
        let sender = match receiver.address_if_any() {
            Some(address) => {
                let args = [&["send", "--connect", &address], &common[..]].concat();
                Some(Process::start(&args).end())
            }
            // There was not even room to listen.
            None => None,
        };
        let receiver = receiver.end();
        receiver.says(3, &[]);
        // The connection's own threads are what fails first at some limits.
        assert!(
            ["there is not enough memory", "gives no more threads"]
                .iter()
                .any(|text| receiver.stderr.contains(text)),
            "{receiver:#?}"
        );
        assert_eq!(
            receiver.stderr.matches("psijoin: ").count(),
            1,
            "{receiver:#?}"
        );
        if let Some(sender) = sender {
            assert_eq!(sender.code, Some(4), "{limit}: {sender:#?}");
        }
        assert!(started.elapsed() < PATIENCE, "{limit}");
        assert_eq!(folder.names(), ["words"], "{limit}");
    }
}
