//! The place of a machine's measurements.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use psijoin_forecast::Calibration;

use crate::{Failure, Listener, home};

/// Returns the file in the user's cache folder, if there is such a folder.
pub fn path() -> Option<PathBuf> {
    let caches = home::of_kind("XDG_CACHE_HOME", ".cache")?;
    Some(caches.join("psijoin").join("calibration.json"))
}

/// Returns what was measured of this machine, if it was.
///
/// # Errors
/// If the file is there and cannot be read.
pub fn own() -> Result<Option<Calibration>, Failure> {
    match path() {
        Some(path) if path.exists() => read(&path).map(Some),
        _ => Ok(None),
    }
}

/// Returns what was measured of this machine, if it was and can be read, and otherwise of the one
/// that psijoin was measured on. It is read once.
pub fn best(listener: &dyn Listener) -> &'static Calibration {
    static BEST: OnceLock<Option<Calibration>> = OnceLock::new();
    let own = BEST.get_or_init(|| readable(own(), listener));
    own.as_ref().unwrap_or_else(|| Calibration::shipped())
}

/// Returns the calibration; one that cannot be read only causes a warning.
fn readable(
    own: Result<Option<Calibration>, Failure>,
    listener: &dyn Listener,
) -> Option<Calibration> {
    own.unwrap_or_else(|failure| {
        let hint = listener.hint_of(&failure);
        listener.warn(&failure.to_string(), hint.as_deref());
        None
    })
}

/// Returns what was measured of a machine.
///
/// # Errors
/// If the file cannot be read.
pub fn read(path: &Path) -> Result<Calibration, Failure> {
    let parsed = fs::read(path).and_then(|bytes| {
        let parsed = Calibration::from_json(&bytes);
        parsed.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    });
    parsed.map_err(|source| Failure::Calibration {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    #[test]
    fn what_is_broken_is_refused_where_it_was_asked_for_and_left_out_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calibration.json");
        let cut = r#"{"processor": "a processor", "version": "0.1.0", "prof"#;
        fs::write(&path, cut).unwrap();
        assert_eq!(read(&path).unwrap_err().exit_code(), Code::Usage);
        assert_eq!(readable(read(&path).map(Some), &()), None);
    }
}
