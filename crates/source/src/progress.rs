use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::Error;

/// The progress of a pass over the input, for another thread to show, and the means to stop it.
#[derive(Debug, Default)]
pub struct Progress {
    done_bytes: AtomicU64,
    total_bytes: AtomicU64,
    interrupted: AtomicBool,
}

impl Progress {
    /// Returns bytes of the input that the running pass has read, and all that it will read: 0
    /// while that is not known, which is so for standard input. A pass that writes rows in another
    /// order reads its input before it writes, and counts each byte twice.
    pub fn bytes(&self) -> (u64, u64) {
        (
            self.done_bytes.load(Relaxed),
            self.total_bytes.load(Relaxed),
        )
    }

    /// Makes the running pass, and every later one, end with [`Error::Interrupted`].
    pub fn interrupt(&self) {
        self.interrupted.store(true, Relaxed);
    }

    /// Begins a pass over this many bytes; 0 if that is not known.
    pub fn start(&self, total_bytes: u64) {
        self.done_bytes.store(0, Relaxed);
        self.total_bytes.store(total_bytes, Relaxed);
    }

    /// Counts bytes that the running pass has read.
    ///
    /// # Errors
    /// If the pass was interrupted.
    pub fn advance(&self, bytes: u64) -> Result<(), Error> {
        self.done_bytes.fetch_add(bytes, Relaxed);
        self.check()
    }

    /// Checks that the running pass may continue.
    ///
    /// # Errors
    /// If it was interrupted.
    pub fn check(&self) -> Result<(), Error> {
        if self.interrupted.load(Relaxed) {
            Err(Error::Interrupted)
        } else {
            Ok(())
        }
    }
}
