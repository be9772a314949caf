//! A mark of the progress of a job's results, outside of its folder: it betrays an old copy of the
//! folder.
//!
//! A mark is never ahead of what is on the disk, and may fall behind in a power cut. So what is
//! shorter than its mark is an old copy, or was cut off. Where there is no mark, as on another
//! machine, nothing can be told.

use std::{
    fs::File,
    io::{self, Read, Seek, Write},
    path::Path,
};

use psijoin_files::{folder, private};

/// See the [module](self).
pub(crate) struct Mark {
    file: File,
    /// The least length of the results.
    pub(crate) len: u64,
}

impl Mark {
    /// Returns the mark of this name; none if `marks` cannot be written.
    pub(crate) fn open(marks: &Path, name: &str) -> Option<Self> {
        let opened = || {
            folder::make(marks)?;
            let mut file = private::open(&marks.join(name))?;
            let mut text = String::new();
            file.read_to_string(&mut text)?;
            let len = text.trim().parse().unwrap_or_default();
            io::Result::Ok(Self { file, len })
        };
        opened().ok()
    }

    /// Notes that the results have grown.
    pub(crate) fn set(&mut self, len: u64) {
        // Digits never become fewer. A mark that falls behind protects less, and breaks nothing.
        let _ = self.file.rewind();
        let _ = self.file.write_all(len.to_string().as_bytes());
        self.len = len;
    }
}

/// Removes the mark of a job that is over.
pub(crate) fn clear(marks: &Path, name: &str) {
    let _ = folder::remove_file(&marks.join(name));
}
