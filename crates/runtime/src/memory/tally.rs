//! The memory that work takes.

use std::{
    hint::black_box,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicI64, Ordering::Relaxed},
    },
};

/// `true` while bytes are counted. Most of the time they are not, which costs a look at this.
static COUNTING: AtomicBool = AtomicBool::new(false);

/// Bytes that were allocated since counting began, less those that were given back; and the most of
/// them.
static LIVE: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

/// Does `work`, and returns with its result how many bytes more than before were allocated at its
/// peak, by all threads. The number is `None` in a program whose allocator is another than
/// [`ReportingAllocator`](super::ReportingAllocator).
///
/// Memory that is allocated and never touched counts, too. Only one caller measures at a time:
/// another one waits.
pub fn peak_during<R>(work: impl FnOnce() -> R) -> (R, Option<u64>) {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let _counting = Counting::begin();
    drop(black_box(Box::new(0_u64)));
    let is_counted = PEAK.swap(0, Relaxed) > 0;
    let done = work();
    let peak = PEAK.load(Relaxed).unsigned_abs();
    (done, is_counted.then_some(peak))
}

/// Bytes are counted while it lives.
struct Counting;

impl Counting {
    fn begin() -> Self {
        LIVE.store(0, Relaxed);
        PEAK.store(0, Relaxed);
        COUNTING.store(true, Relaxed);
        Self
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        COUNTING.store(false, Relaxed);
    }
}

/// Counts bytes that were allocated, or given back if they are fewer than none.
pub(super) fn count(bytes: i64) {
    if COUNTING.load(Relaxed) {
        let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
        PEAK.fetch_max(live, Relaxed);
    }
}
