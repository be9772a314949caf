//! Codes that are made once, and serve the runs of a session.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::BlockAccumulate;

/// The most memory for codes that nobody uses at the moment. All codes of a part of 2^20 items fit.
const MOST_BYTES: usize = 128 << 20;

static KEPT: Mutex<Kept> = Mutex::new(Kept::nothing());

/// Codes are kept while one of these lives: those that were asked for last, up to 128 MiB. All are
/// dropped with the last one of these.
#[must_use]
pub struct Keeper(());

/// Keeps codes from now on, for all threads of the process.
pub fn keep() -> Keeper {
    kept().keepers += 1;
    Keeper(())
}

impl Drop for Keeper {
    fn drop(&mut self) {
        kept().release();
    }
}

impl BlockAccumulate {
    /// Returns the code for `len` outputs that [`new`](Self::new) makes: one that is [kept](keep),
    /// or otherwise a new one, on the threads of the caller's pool.
    pub fn shared(len: usize) -> Arc<Self> {
        if let Some(code) = kept().find(len) {
            return code;
        }
        // Without the lock, since a thread that waits for others may do another task meanwhile,
        // which may ask for a code. So two threads may make the same code; then one of them is
        // dropped after use.
        let code = Arc::new(Self::new(len));
        kept().add(&code);
        code
    }
}

struct Kept {
    keepers: usize,
    /// The one that was asked for last comes last.
    codes: Vec<Arc<BlockAccumulate>>,
}

impl Kept {
    const fn nothing() -> Self {
        Self {
            keepers: 0,
            codes: Vec::new(),
        }
    }

    fn find(&mut self, len: usize) -> Option<Arc<BlockAccumulate>> {
        let place = self.place(BlockAccumulate::outputs(len))?;
        let code = self.codes.remove(place);
        self.codes.push(code.clone());
        Some(code)
    }

    fn place(&self, outputs: usize) -> Option<usize> {
        self.codes.iter().position(|code| code.outputs == outputs)
    }

    /// Keeps a code, if any are kept, in place of those that were not asked for the longest.
    fn add(&mut self, code: &Arc<BlockAccumulate>) {
        let is_kept = self.place(code.outputs).is_some();
        if self.keepers == 0 || is_kept || code.bytes() > MOST_BYTES {
            return;
        }
        self.codes.push(code.clone());
        let mut bytes: usize = self.codes.iter().map(|code| code.bytes()).sum();
        self.codes.retain(|code| {
            let fits = bytes <= MOST_BYTES;
            bytes -= if fits { 0 } else { code.bytes() };
            fits
        });
    }

    /// Notes that a keeper is gone.
    fn release(&mut self) {
        self.keepers -= 1;
        if self.keepers == 0 {
            self.codes = Vec::new();
        }
    }
}

fn kept() -> MutexGuard<'static, Kept> {
    // Whoever panicked left whole codes behind.
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(len: usize) -> Arc<BlockAccumulate> {
        Arc::new(BlockAccumulate::new(len))
    }

    fn is_found(kept: &mut Kept, code: &Arc<BlockAccumulate>) -> bool {
        let found = kept.find(code.outputs);
        found.is_some_and(|found| Arc::ptr_eq(&found, code))
    }

    #[test]
    fn a_code_is_kept_as_long_as_there_is_a_keeper() {
        let mut kept = Kept::nothing();
        let (code, other) = (made(1000), made(1100));
        kept.add(&code);
        assert!(!is_found(&mut kept, &code), "nobody keeps it");
        kept.keepers = 2;
        kept.add(&code);
        kept.add(&other);
        kept.add(&made(1000));
        kept.release();
        assert!(is_found(&mut kept, &code) && is_found(&mut kept, &other));
        assert!(kept.find(999).is_some(), "rounded up to the same code");
        assert!(kept.find(1200).is_none());
        kept.release();
        assert_eq!([&code, &other].map(Arc::strong_count), [1, 1]);
    }

    /// Codes of some bytes that have no permutations.
    fn of_bytes(bytes: usize) -> Arc<BlockAccumulate> {
        let mut code = BlockAccumulate::new(1);
        code.outputs = bytes / 8;
        Arc::new(code)
    }

    #[test]
    fn the_codes_that_were_asked_for_last_are_kept() {
        let mut kept = Kept::nothing();
        kept.keepers = 1;
        let [half, third, quarter] = [2, 3, 4].map(|part| of_bytes(MOST_BYTES / part / 256 * 256));
        kept.add(&half);
        kept.add(&third);
        assert!(is_found(&mut kept, &half));
        kept.add(&quarter);
        assert!(
            !is_found(&mut kept, &third),
            "it was not asked for the longest"
        );
        assert!(is_found(&mut kept, &half) && is_found(&mut kept, &quarter));
        kept.add(&of_bytes(MOST_BYTES + 256));
        assert!(is_found(&mut kept, &half) && is_found(&mut kept, &quarter));
    }

    #[test]
    fn a_shared_code_is_the_one_that_would_be_made() {
        let _keeper = keep();
        for _ in 0..2 {
            let (shared, made) = (BlockAccumulate::shared(777), BlockAccumulate::new(777));
            let input: Vec<[u64; 1]> = (0..shared.input_len() as u64).map(|i| [i * i]).collect();
            let [first, second] = [&*shared, &made].map(|code| {
                let mut scratch = vec![[0]; input.len()];
                code.compress(&mut input.clone(), &mut scratch);
                scratch.truncate(code.outputs);
                scratch
            });
            assert_eq!(first, second);
        }
    }
}
