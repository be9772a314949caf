//! The progress of this party, for its heartbeat to the other party.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use psijoin_source::Progress;
use psijoin_transport::Pulse;

/// Bytes of a table that count as progress.
const BYTES: u64 = 64 << 10;

/// Processor time that counts as progress, in the kernel's ticks of a hundredth of a second: more
/// than the threads of a connection take in a minute.
const TICKS: u64 = 5;

/// Grows while a table is read or written, and while the process computes. `None` where the
/// operating system does not tell the time that a process computes.
pub(crate) fn of(progress: &Arc<Progress>) -> Option<Pulse> {
    here(progress).map(Pulse::new)
}

/// Grows as [`of`] does, and with each step that is counted of what happens elsewhere.
pub(crate) fn with_steps(progress: &Arc<Progress>, steps: &Arc<AtomicU64>) -> Option<Pulse> {
    here_and_elsewhere(progress, steps).map(Pulse::new)
}

/// Grows as [`of`] does, and whenever it is read while this side waits for whoever has its items.
pub(crate) fn with_waits(progress: &Arc<Progress>, waits: &Arc<AtomicBool>) -> Option<Pulse> {
    let (here, waits, waited) = (here(progress)?, waits.clone(), AtomicU64::new(0));
    Some(Pulse::new(move || {
        let more = u64::from(waits.load(Ordering::Relaxed));
        here() + waited.fetch_add(more, Ordering::Relaxed) + more
    }))
}

fn here_and_elsewhere(
    progress: &Arc<Progress>,
    steps: &Arc<AtomicU64>,
) -> Option<impl Fn() -> u64 + Send + Sync + use<>> {
    let (here, steps) = (here(progress)?, steps.clone());
    Some(move || here() + steps.load(Ordering::Relaxed))
}

fn here(progress: &Arc<Progress>) -> Option<impl Fn() -> u64 + Send + Sync + use<>> {
    processor_ticks()?;
    let progress = progress.clone();
    Some(move || {
        let (bytes, _) = progress.bytes();
        bytes / BYTES + processor_ticks().unwrap_or_default() / TICKS
    })
}

/// Returns what all threads have computed so far: proc_pid_stat(5).
fn processor_ticks() -> Option<u64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the process, in parentheses, can hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(user + system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn steps_elsewhere_show() {
        let steps = Arc::default();
        let pulse = here_and_elsewhere(&Arc::default(), &steps).unwrap();
        let before = pulse();
        steps.fetch_add(1_000_000, Ordering::Relaxed);
        assert!(pulse() >= before + 1_000_000);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn computing_shows() {
        let before = processor_ticks().unwrap();
        let mut sum = 0_u64;
        while processor_ticks().unwrap() < before + 2 * TICKS {
            sum = std::hint::black_box((0..1_000_000).fold(sum, u64::wrapping_add));
        }
    }
}
