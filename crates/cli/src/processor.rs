//! What the machine computes with, for those who quote a measurement.

use std::{env::consts::ARCH, fs, thread};

use crate::humanize;

/// The processor's name, if the system tells it, or otherwise its architecture; and how many threads
/// it runs at once for this process.
pub(crate) fn name() -> String {
    let described = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = model(&described).unwrap_or(ARCH);
    match thread::available_parallelism() {
        Ok(threads) => {
            let threads = humanize::counted(threads.get() as u64, "hardware thread");
            format!("{name}, {threads}")
        }
        Err(_) => name.to_owned(),
    }
}

/// What Linux calls the first processor. For some architectures it does not.
fn model(described: &str) -> Option<&str> {
    let line = described
        .lines()
        .find_map(|line| line.strip_prefix("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_found() {
        let described =
            "processor\t: 0\nmodel\t\t: 85\nmodel name\t: A CPU @ 2.00GHz\nflags\t\t: x\n";
        assert_eq!(model(described), Some("A CPU @ 2.00GHz"));
        assert_eq!(model("processor\t: 0\nFeatures\t: fp\n"), None);
    }
}
