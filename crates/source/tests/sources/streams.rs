//! Streams, which are kept in temporary files.

use std::{
    env,
    process::{Command, Stdio},
};

use psijoin_source::{Dialect, Format, Progress, Source};

use crate::Files;

/// Set for a process that runs [`child`].
const TASK: &str = "PSIJOIN_SOURCE_TEST_TASK";

/// No test, but what the process does that the test below starts.
#[test]
fn child() {
    if env::var_os(TASK).is_none() {
        return;
    }
    let spooled = Source::spool(
        &b"a\n"[..],
        "stdin",
        Format::Lines,
        &Dialect::default(),
        &Progress::default(),
    );
    let error = spooled.unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("cannot keep stdin in a temporary file: ")
    );
    let folder = env::temp_dir();
    for text in [error.to_string(), format!("{error:?}")] {
        assert!(!text.contains(folder.to_str().unwrap()), "{text}");
    }
}

#[test]
fn a_stream_that_cannot_be_kept_tells_no_temporary_name() {
    let missing = Files::new().path("missing");
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["streams::child", "--exact", "--nocapture"]);
    child.env(TASK, "").stdout(Stdio::null());
    let status = child.env("TMPDIR", &missing).env("TMP", &missing).status();
    assert!(status.unwrap().success());
}
