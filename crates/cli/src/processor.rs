//! What the machine computes with, for those who quote a measurement.

use std::{env::consts::ARCH, thread};

use psijoin_forecast::machine::processor_name;

use crate::humanize;

/// The processor's name, if the system tells it, or otherwise its architecture; and how many threads
/// it runs at once for this process.
pub(crate) fn name() -> String {
    let name = processor_name().unwrap_or_else(|| ARCH.to_owned());
    match thread::available_parallelism() {
        Ok(threads) => {
            let threads = humanize::counted(threads.get() as u64, "hardware thread");
            format!("{name}, {threads}")
        }
        Err(_) => name,
    }
}
