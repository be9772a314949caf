//! Folders for files that are private, and names that last through a power cut.

use std::{
    fs::{self, DirBuilder, File},
    io,
    path::Path,
};

/// Makes a folder for its owner alone, unless it is there.
///
/// # Errors
/// If the operating system refuses, as where its parent is missing.
pub fn make(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    let builder = builder.recursive(false);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(builder, 0o700);
    match builder.create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
        Ok(()) => sync(parent(path)),
    }
}

/// Removes a file, if it is there.
///
/// # Errors
/// If the operating system refuses.
pub fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Makes a folder for its owner alone, and those that it lies in, unless they are there.
///
/// # Errors
/// If the operating system refuses.
pub fn make_with_parents(path: &Path) -> io::Result<()> {
    match make(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.parent().is_some() => {
            make_with_parents(parent(path))?;
            make(path)
        }
        made => made,
    }
}

/// Makes names in a folder last through a power cut, where that can be asked for.
///
/// # Errors
/// Those of the disk.
pub fn sync(folder: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    // Elsewhere folders cannot be opened, and on Unix some can be written but not read, and some
    // file systems cannot do this. The file is complete and in its place all the same.
    if cfg!(not(unix)) {
        return Ok(());
    }
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
}

/// Returns the folder that a path lies in.
pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_the_owners_and_made_once() {
        let temporary = tempfile::tempdir().unwrap();
        let inner = temporary.path().join("outer").join("inner");
        assert_eq!(make(&inner).unwrap_err().kind(), io::ErrorKind::NotFound);
        make_with_parents(&inner).unwrap();
        make_with_parents(&inner).unwrap();
        make(&inner).unwrap();
        #[cfg(unix)]
        for folder in [&inner, inner.parent().unwrap()] {
            use std::os::unix::fs::PermissionsExt;
            let mode = folder.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
    }

    #[test]
    fn a_path_without_a_folder_lies_here() {
        assert_eq!(parent("key".as_ref()), Path::new("."));
        assert_eq!(parent("keys/key".as_ref()), Path::new("keys"));
        sync(parent("key".as_ref())).unwrap();
    }
}
