//! Files that their owner alone can read: keys, and what jobs keep.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::Path,
};

use zeroize::Zeroizing;

use crate::{
    Existing,
    atomic_file::{Temporary, remove_abandoned},
    folder,
    permissions::for_owner,
};

/// Opens a file to read and write it, or makes an empty one for its owner alone.
///
/// # Errors
/// Those of the operating system.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    for_owner(&mut options).open(path)
}

/// Opens a file that this user owns, and nobody else has rights to, to read and write it.
///
/// # Errors
/// Of the kind [`PermissionDenied`](io::ErrorKind::PermissionDenied) if it is another's, others have
/// rights to it, or it is a link, or anything else than a file. Those of the operating system.
pub fn open_own(path: &Path) -> io::Result<File> {
    let denied = |why| Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    if !fs::symlink_metadata(path)?.is_file() {
        return denied("it is a link, or no file");
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    // What comes into its place meanwhile is not followed either.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NOFOLLOW.bits() as i32,
    );
    let file = options.open(path)?;
    match rights(&file.metadata()?) {
        Access { is_ours: false, .. } => denied("it belongs to another user"),
        Access {
            is_shared: true, ..
        } => denied("other users have rights to it: run chmod 600 on it"),
        _ => Ok(file),
    }
}

/// Writes a new file for its owner alone. Whoever reads it at the same time sees all of it, or no
/// file. When this returns, it is on the disk.
///
/// # Errors
/// Of the kind [`AlreadyExists`](io::ErrorKind::AlreadyExists) if the name is taken: that file
/// stays. Those of the operating system; nothing is left then.
pub fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    match stage(path, content)?.rename(path, Existing::Keep) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            // Some file systems cannot give a name only if it is free. There it grows in its place.
            let mut options = OpenOptions::new();
            let mut file = for_owner(options.write(true).create_new(true)).open(path)?;
            file.write_all(content)?;
            file.sync_all()?;
        }
        renamed => renamed?,
    }
    folder::sync(folder::parent(path))
}

/// Writes a file for its owner alone, in place of one that may be there: this or that is in its
/// place at any time, also after a power cut. When this returns, it is on the disk.
///
/// # Errors
/// Those of the operating system.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    stage(path, content)?.rename(path, Existing::Replace)?;
    folder::sync(folder::parent(path))
}

/// Writes a file next to its place. The remains of killed processes there are removed.
fn stage(path: &Path, content: &[u8]) -> io::Result<Temporary> {
    let folder = folder::parent(path);
    let mut staged = Temporary::staged(folder)?;
    remove_abandoned(folder, &staged.file().metadata()?);
    staged.write_all(content)?;
    staged.file().sync_all()?;
    Ok(staged)
}

/// Reads a file with a secret, and [warns](warn_if_others_can_read) if others can read it, too.
///
/// # Errors
/// Those of the operating system.
pub fn read(path: &Path) -> io::Result<Zeroizing<Vec<u8>>> {
    let content = Zeroizing::new(fs::read(path)?);
    warn_if_others_can_read(path);
    Ok(content)
}

/// Logs a warning if others can read a file with a secret. A pipe or a terminal is none.
pub fn warn_if_others_can_read(path: &Path) {
    let is_file = fs::metadata(path).is_ok_and(|found| found.is_file());
    if is_file && access(path).is_ok_and(|access| access.is_shared) {
        tracing::warn!(
            "{} can be read by other users of this machine; run chmod 600 on it",
            psijoin_printable::path(path)
        );
    }
}

/// The access of others to a file or a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The user whose process this is owns it.
    pub is_ours: bool,
    /// Others have rights to it.
    pub is_shared: bool,
}

/// Returns who can get at a file or a folder, by its owner and its mode. Elsewhere than on Unix
/// that follows from where it is, and it is taken for private.
///
/// # Errors
/// If it cannot be asked, as a file that is not there.
pub fn access(path: &Path) -> io::Result<Access> {
    Ok(rights(&fs::metadata(path)?))
}

fn rights(found: &fs::Metadata) -> Access {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;

        let user = rustix::process::geteuid().as_raw();
        Access {
            is_ours: found.uid() == user,
            is_shared: is_shared(found.mode(), found.uid(), user),
        }
    }
    #[cfg(not(unix))]
    {
        let _ = found;
        Access {
            is_ours: true,
            is_shared: false,
        }
    }
}

/// Returns whether a file of this mode and owner is for others than this user and root.
///
/// systemd hands a service its credentials in files of root's that an access list lets the service
/// read. The list's mask stands where the group's rights would be.
#[cfg(unix)]
fn is_shared(mode: u32, owner: u32, user: u32) -> bool {
    const ROOT: u32 = 0;
    let of_others = match owner == ROOT && user != ROOT {
        true => 0o037,
        false => 0o077,
    };
    mode & of_others != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_private(path: &Path) -> bool {
        access(path).unwrap()
            == Access {
                is_ours: true,
                is_shared: false,
            }
    }

    #[test]
    fn a_new_file_replaces_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        write_new(&path, b"first").unwrap();
        let error = write_new(&path, b"second").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert!(is_private(&path));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_is_replaced_is_the_owners_then() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        replace(&path, b"first").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            assert!(!is_private(&path));
        }
        // As a process left it that was killed.
        let left = folder.path().join(".psijoin-staged-0123456789abcdef");
        fs::write(&left, "a secret").unwrap();
        replace(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert!(is_private(&path));
        assert!(!left.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_of_ones_own_is_no_link_and_nobody_elses() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let folder = tempfile::tempdir().unwrap();
        let [path, link] = ["own", "link"].map(|name| folder.path().join(name));
        write_new(&path, b"content").unwrap();
        symlink(&path, &link).unwrap();
        assert_eq!(
            io::read_to_string(open_own(&path).unwrap()).unwrap(),
            "content"
        );
        let denied = |path| open_own(path).unwrap_err().kind();
        assert_eq!(denied(&link), io::ErrorKind::PermissionDenied);
        assert_eq!(denied(folder.path()), io::ErrorKind::PermissionDenied);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(denied(&path), io::ErrorKind::PermissionDenied);
        assert_eq!(denied(&folder.path().join("none")), io::ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn what_root_lets_a_service_read_is_not_shared() {
        const ROOT: u32 = 0;
        for (mode, owner, user, shared) in [
            (0o600, 7, 7, false),
            (0o640, 7, 7, true),
            (0o604, 7, 7, true),
            (0o440, ROOT, 7, false),
            (0o460, ROOT, 7, true),
            (0o444, ROOT, 7, true),
            (0o440, ROOT, ROOT, true),
            (0o440, 8, 7, true),
        ] {
            let found = is_shared(mode, owner, user);
            assert_eq!(found, shared, "{mode:o} of {owner} for {user}");
        }
    }

    #[test]
    fn a_file_is_opened_with_what_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        open(&path).unwrap().write_all(b"a line\n").unwrap();
        open(&path).unwrap();
        assert_eq!(*read(&path).unwrap(), b"a line\n");
        assert!(is_private(&path));
        assert_eq!(
            access(&folder.path().join("none")).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }
}
