//! Tables' files, opened and checked. `psijoin-table` tests what is read of them, by keys and rows.

#![expect(clippy::disallowed_methods, reason = "paths of tests are plain")]

mod dialects;
mod opening;
mod streams;

use std::{fs, path::PathBuf};

use tempfile::TempDir;

/// A directory of input files that goes away with the test.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }
}
