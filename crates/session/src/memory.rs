//! The memory that the process takes, and that it can still have, if the operating system tells.

use std::fs;

/// Returns the most bytes that were resident at once, since the start or the last
/// [reset](reset_peak).
pub fn peak_bytes() -> Option<u64> {
    status_bytes("VmHWM:")
}

/// Returns the bytes that are resident now.
pub fn resident_bytes() -> Option<u64> {
    status_bytes("VmRSS:")
}

/// Forgets the peak so far, where that is possible.
pub fn reset_peak() {
    // See proc_pid_clear_refs(5). Where it fails, the peak is one of the whole process.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// Returns how many bytes the process can still take: what the machine has left, or what a limit on
/// the process or its control group leaves.
pub fn available_bytes() -> Option<u64> {
    let machine = kibibytes("/proc/meminfo", "MemAvailable:");
    [machine, group_bytes(), address_space_bytes()]
        .into_iter()
        .flatten()
        .min()
}

/// Returns what the control group leaves (cgroups(7), version 2), as in a container.
fn group_bytes() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let number = |file: &str| -> Option<u64> {
        let text = fs::read_to_string(format!("/sys/fs/cgroup{path}/{file}")).ok()?;
        text.trim().parse().ok()
    };
    // The limit is a word, `max`, if there is none.
    Some(number("memory.max")?.saturating_sub(number("memory.current")?))
}

/// Returns what a limit on the address space leaves, as `ulimit -v` sets it.
fn address_space_bytes() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(status_bytes("VmSize:")?))
}

fn status_bytes(field: &str) -> Option<u64> {
    kibibytes("/proc/self/status", field)
}

/// Returns a field of a file of the kernel's, in bytes.
fn kibibytes(file: &str, field: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
