//! Where what was measured of this machine is kept.

use std::{env, fs, io, path::PathBuf};

use psijoin_forecast::Calibration;

use crate::exit::Failure;

/// The file in the user's cache folder, if there is such a folder.
pub(crate) fn path() -> Option<PathBuf> {
    let folder = |name| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let caches = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")))?;
    Some(caches.join("psijoin").join("calibration.json"))
}

/// What was measured of this machine, if it was.
///
/// # Errors
/// If the file is there and cannot be read.
pub(crate) fn own() -> Result<Option<Calibration>, Failure> {
    let Some(path) = path() else {
        return Ok(None);
    };
    let unreadable = |why: String| {
        Failure::Usage(format!(
            "cannot read {}: {why} (make it again with psijoin calibrate, or delete it)",
            path.display()
        ))
    };
    match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| unreadable(error.to_string())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(error.to_string())),
    }
}
