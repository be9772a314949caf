//! What a machine is.

use std::{fmt, fs, thread};

use serde::{Deserialize, Serialize};

/// A machine, as far as it matters for speed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name.
    pub processor: String,
    /// Cores that may be used.
    pub cores: usize,
    /// The instruction sets that psijoin makes use of.
    pub instructions: Vec<String>,
}

impl Machine {
    /// The one that this runs on.
    pub fn this() -> Self {
        Self {
            processor: processor().unwrap_or_else(|| "unknown processor".into()),
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

/// Its name, as Linux tells it.
fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    let (_, name) = lines.find(|(key, _)| key.trim() == "model name")?;
    Some(name.trim().to_owned())
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
