//! The description of a machine.

use std::{env::consts::ARCH, fmt, thread};

use psijoin_forecast::machine::processor_name;
use serde::{Deserialize, Serialize};

/// A machine, as far as it matters for speed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name, or its architecture if the system does not tell the name.
    pub processor: String,
    /// Cores that may be used.
    pub cores: usize,
    /// The instruction sets that psijoin makes use of.
    pub instructions: Vec<String>,
}

impl Machine {
    /// Returns the one that this runs on.
    pub fn this() -> Self {
        Self {
            processor: processor_name().unwrap_or_else(|| ARCH.into()),
            cores: thread::available_parallelism().map_or(1, usize::from),
            instructions: instructions().map(str::to_owned).collect(),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.cores == 1 { "" } else { "s" };
        write!(f, "{}, {} core{plural}", self.processor, self.cores)
    }
}

#[cfg(target_arch = "x86_64")]
fn instructions() -> impl Iterator<Item = &'static str> {
    let known = [
        ("aes", is_x86_feature_detected!("aes")),
        ("avx2", is_x86_feature_detected!("avx2")),
        ("pclmulqdq", is_x86_feature_detected!("pclmulqdq")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
        ("avx512ifma", is_x86_feature_detected!("avx512ifma")),
        ("vaes", is_x86_feature_detected!("vaes")),
        ("vpclmulqdq", is_x86_feature_detected!("vpclmulqdq")),
        ("gfni", is_x86_feature_detected!("gfni")),
    ];
    known
        .into_iter()
        .filter_map(|(name, is)| is.then_some(name))
}

#[cfg(not(target_arch = "x86_64"))]
fn instructions() -> impl Iterator<Item = &'static str> {
    std::iter::empty()
}
