//! Which files are a table.

use std::{path::Path, slice, sync::Arc};

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use psijoin_source::{Dialect, Error, Progress, Source};

use crate::Files;

fn frame(batches: &[RecordBatch]) -> Source {
    Source::of_batches("frame", batches[0].schema(), batches.to_vec()).unwrap()
}

#[test]
fn files_that_cannot_be_opened_are_named() {
    let files = Files::new();
    let open = |path: &Path| {
        Source::open(path, None, &Dialect::default(), true, &Progress::default()).unwrap_err()
    };
    let missing = files.path("missing.csv");
    assert!(
        open(&missing)
            .to_string()
            .starts_with(&format!("cannot open {}", missing.display()))
    );
    let directory = files.0.path();
    assert_eq!(
        open(directory).to_string(),
        format!(
            "the folder {} holds no files (those whose names begin with `_` or `.` do not count)",
            directory.display()
        )
    );
}

#[test]
fn an_interrupt_ends_the_opening() {
    let files = Files::new();
    let inputs = [
        files.text("a.csv", "id\n1\n"),
        files.text("b.csv", "id\n2\n"),
    ];
    let progress = Progress::default();
    progress.interrupt();
    let opened = Source::open_all(&inputs, None, &Dialect::default(), true, &progress);
    assert!(matches!(opened, Err(Error::Interrupted)));
}

#[test]
fn what_is_left_aside_in_folders_is_left_aside_by_patterns_too() {
    let files = Files::new();
    let open = |pattern| {
        let (inputs, progress) = ([files.path(pattern)], Progress::default());
        Source::open_all(&inputs, None, &Dialect::default(), true, &progress).unwrap()
    };
    files.text("part-0.csv", "id\n1\n");
    files.text("_SUCCESS", "");
    files.text("_part.csv", "id\n2\n");
    assert_eq!(open("*").files(), 1);
    assert_eq!(open("_p*").files(), 1);
}

#[test]
fn frames_are_shared_and_not_copied() {
    let ids = Arc::new(Int64Array::from_iter_values(0..1000)) as ArrayRef;
    let rows = RecordBatch::try_from_iter([("id", ids.clone())]).unwrap();
    let before = Arc::strong_count(&ids);
    let source = frame(slice::from_ref(&rows));
    assert_eq!(Arc::strong_count(&ids), before + 1);
    assert_eq!(source.bytes(), 8000);
    // Slices count what is in them, not what is behind them.
    let slices = [(0, 10), (10, 10), (20, 480), (500, 500)];
    let slices = slices.map(|(start, count)| rows.slice(start, count));
    assert_eq!(frame(&slices).bytes(), 8000);
    drop(source);
    assert_eq!(Arc::strong_count(&ids), before);
}
