//! Memory is counted in a program that takes the allocator of this crate.

use std::{
    hint::black_box,
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
};

use psijoin_runtime::memory::{Buffer, ReportingAllocator, peak_during};

#[global_allocator]
static ALLOCATOR: ReportingAllocator = ReportingAllocator;

const MIB: u64 = 1 << 20;

/// The bytes that the test harness may allocate meanwhile, or give back.
const SLACK: u64 = MIB / 4;

/// Returns what other tests allocate would count, too: one after the other.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[track_caller]
fn assert_peak(bytes: u64, work: impl FnOnce()) {
    let ((), peak) = peak_during(work);
    let peak = peak.expect("it is counted");
    assert!(peak.abs_diff(bytes) < SLACK, "{peak} is not {bytes}");
}

fn filled(mebibytes: u64) -> Vec<u8> {
    black_box(vec![1; (mebibytes * MIB) as usize])
}

#[test]
fn the_peak_is_what_lives_at_once() {
    let _alone = alone();
    assert_peak(0, || ());
    assert_peak(3 * MIB, || {
        drop(filled(3));
        drop(filled(2));
        let (_one, _two) = (filled(1), filled(2));
    });
}

#[test]
fn what_was_there_before_does_not_count() {
    let _alone = alone();
    let before = filled(4);
    assert_peak(MIB, || {
        drop(before);
        drop(filled(5));
    });
}

#[test]
fn buffers_and_other_threads_count() {
    let _alone = alone();
    assert_peak(12 * MIB, || {
        let mut buffer = Buffer::<u64>::zeroed((8 * MIB / 8) as usize);
        thread::scope(|scope| scope.spawn(|| drop(filled(4))).join().unwrap());
        buffer.truncate((MIB / 8) as usize);
        drop(filled(8));
    });
}

#[test]
fn a_vector_that_grows_counts_as_long_as_it_is() {
    let _alone = alone();
    assert_peak(2 * MIB, || {
        let mut bytes = Vec::<u8>::with_capacity(MIB as usize);
        bytes.reserve_exact(2 * MIB as usize);
    });
}
