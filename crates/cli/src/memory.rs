//! How much memory the process takes, where the operating system tells.

use std::fs;

/// The most bytes that were resident at once, since the start or the last
/// [reset](reset_peak).
pub(crate) fn peak_bytes() -> Option<u64> {
    status_bytes("VmHWM:")
}

/// The bytes that are resident now.
pub(crate) fn resident_bytes() -> Option<u64> {
    status_bytes("VmRSS:")
}

/// Forgets the peak so far, where that is possible.
pub(crate) fn reset_peak() {
    // See proc_pid_clear_refs(5). Where it fails, the peak is one of the whole process.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

fn status_bytes(field: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
