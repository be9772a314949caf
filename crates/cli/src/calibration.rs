//! Where what was measured of a machine is kept.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use psijoin_forecast::Calibration;

use crate::{console::Console, exit::Failure};

/// Returns the file in the user's cache folder, if there is such a folder.
pub(crate) fn path() -> Option<PathBuf> {
    let folder = |name| {
        let value = env::var_os(name).filter(|value| !value.is_empty());
        value.map(PathBuf::from)
    };
    let caches = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")))?;
    Some(caches.join("psijoin").join("calibration.json"))
}

/// Returns what was measured of this machine, if it was.
///
/// # Errors
/// If the file is there and cannot be read.
pub(crate) fn own() -> Result<Option<Calibration>, Failure> {
    match path() {
        Some(path) if path.exists() => read(&path).map(Some),
        _ => Ok(None),
    }
}

/// Returns what was measured of this machine, if it was and can be read, and otherwise of the one
/// that psijoin was measured on. It is read once.
pub(crate) fn best(console: &Console) -> &'static Calibration {
    static BEST: OnceLock<Option<Calibration>> = OnceLock::new();
    let own = BEST.get_or_init(|| readable(own(), console));
    own.as_ref().unwrap_or_else(|| Calibration::shipped())
}

/// Returns the calibration; one that cannot be read only causes a warning.
fn readable(own: Result<Option<Calibration>, Failure>, console: &Console) -> Option<Calibration> {
    own.unwrap_or_else(|failure| {
        console.warn(failure);
        None
    })
}

/// Returns what was measured of a machine.
///
/// # Errors
/// If the file cannot be read.
pub(crate) fn read(path: &Path) -> Result<Calibration, Failure> {
    let parsed = fs::read(path).and_then(|bytes| {
        let parsed = Calibration::from_json(&bytes);
        parsed.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    });
    parsed.map_err(|error| {
        Failure::Usage(format!(
            "cannot read {}: {error} (make it again with psijoin calibrate, or delete it)",
            psijoin_printable::path(path)
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_broken_is_refused_where_it_was_asked_for_and_left_out_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calibration.json");
        let cut = r#"{"processor": "a processor", "version": "0.1.0", "prof"#;
        fs::write(&path, cut).unwrap();
        let failure = read(&path).unwrap_err().to_string();
        assert!(failure.contains("psijoin calibrate"), "{failure}");
        assert_eq!(readable(read(&path).map(Some), &Console::Silent), None);
    }
}
