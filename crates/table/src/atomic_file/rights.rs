//! Who may do what with a file.

use std::{
    fs::{File, Metadata},
    io,
};

/// Gives a file, which is our own, the owner, group and rights of another one.
#[cfg(unix)]
pub(super) fn give(file: &File, model: &Metadata) -> io::Result<()> {
    use std::{
        fs::Permissions,
        os::unix::fs::{MetadataExt, PermissionsExt, fchown},
    };

    let own = file.metadata()?;
    let mut mode = model.mode() & 0o777;
    if (own.uid(), own.gid()) != (model.uid(), model.gid()) {
        let group = Some(model.gid());
        if fchown(file, Some(model.uid()), group).is_err() && fchown(file, None, group).is_err() {
            // What the other file's group may do, this one's may not.
            mode &= !0o070;
        }
    }
    if own.mode() & 0o777 == mode {
        // Some file systems have the same rights for all files, and refuse to set any.
        return Ok(());
    }
    file.set_permissions(Permissions::from_mode(mode))
}

/// Elsewhere a file has its rights from its folder.
#[cfg(not(unix))]
pub(super) fn give(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Gives the owner alone what the owner needs of a file that was created with no more rights than
/// these, but maybe with fewer.
#[cfg(unix)]
pub(super) fn restrict(file: &File) {
    use std::{fs::Permissions, os::unix::fs::PermissionsExt};

    // Where this is refused, rights are not what keeps others out.
    let _ = file.set_permissions(Permissions::from_mode(0o600));
}

/// Elsewhere a file has its rights from its folder.
#[cfg(not(unix))]
pub(super) fn restrict(_: &File) {}
