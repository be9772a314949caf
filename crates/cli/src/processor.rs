//! The processor of the machine, for those who quote a measurement, and this process's time on it.

use std::{env::consts::ARCH, thread, time::Duration};

use psijoin_forecast::machine::processor_name;

use crate::humanize;

/// Returns the processor's name, if the system tells it, or otherwise its architecture; and how
/// many threads it runs at once for this process.
pub fn name() -> String {
    let name = processor_name().unwrap_or_else(|| ARCH.to_owned());
    match thread::available_parallelism() {
        Ok(threads) => {
            let threads = humanize::counted(threads.get() as u64, "hardware thread");
            format!("{name}, {threads}")
        }
        Err(_) => name,
    }
}

/// Returns the computing time of all threads of this process so far.
pub fn time() -> Duration {
    #[cfg(unix)]
    {
        use rustix::time::{ClockId, clock_gettime};

        let time = clock_gettime(ClockId::ProcessCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
    #[cfg(windows)]
    cpu_time::ProcessTime::now().as_duration()
}
