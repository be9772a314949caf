//! Where what was measured of a machine is kept.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use psijoin_forecast::Calibration;

use crate::exit::Failure;

/// The file in the user's cache folder, if there is such a folder.
pub(crate) fn path() -> Option<PathBuf> {
    let folder = |name| {
        let value = env::var_os(name).filter(|value| !value.is_empty());
        value.map(PathBuf::from)
    };
    let caches = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")))?;
    Some(caches.join("psijoin").join("calibration.json"))
}

/// What was measured of this machine, if it was.
///
/// # Errors
/// If the file is there and cannot be read.
pub(crate) fn own() -> Result<Option<Calibration>, Failure> {
    match path() {
        Some(path) if path.exists() => read(&path).map(Some),
        _ => Ok(None),
    }
}

/// What was measured of a machine.
///
/// # Errors
/// If the file cannot be read.
pub(crate) fn read(path: &Path) -> Result<Calibration, Failure> {
    let parsed = fs::read(path).and_then(|bytes| {
        let parsed = serde_json::from_slice(&bytes);
        parsed.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    });
    parsed.map_err(|error| {
        Failure::Usage(format!(
            "cannot read {}: {error} (make it again with psijoin calibrate, or delete it)",
            path.display()
        ))
    })
}
