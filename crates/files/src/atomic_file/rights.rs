//! Rights to a file.

use std::{
    fs::{File, Metadata},
    io,
};

/// Gives a file, which is our own, the owner, group and rights of another one, as far as nobody
/// gets more than of `fresh`, a file as the process makes it there. Whoever may put a file in the
/// place of the result must not open it to others by that.
#[cfg(unix)]
pub(super) fn give(file: &File, model: &Metadata, fresh: &Metadata) -> io::Result<()> {
    use std::{
        fs::Permissions,
        os::unix::fs::{MetadataExt, PermissionsExt, fchown},
    };

    /// The bit of a mode that lets others read a file.
    const OTHERS_READ: u32 = 0o004;

    let own = file.metadata()?;
    let fresh_mode = fresh.mode() & 0o777;
    let mut mode = model.mode() & fresh_mode;
    if own.gid() != model.gid() {
        // Of a fresh file, the other group has what all have.
        let of_all = (fresh_mode & 0o007) << 3;
        mode = (mode & !0o070) | (model.mode() & of_all);
        if mode & 0o070 == 0 || fchown(file, None, Some(model.gid())).is_err() {
            mode &= !0o070;
        }
    }
    // An owner may always read what it owns, and only some processes may give files away.
    if own.uid() != model.uid() {
        let is_open = fresh_mode & OTHERS_READ != 0;
        if !(is_open && fchown(file, Some(model.uid()), None).is_ok()) {
            mode |= fresh_mode & 0o700;
        }
    }
    if file.metadata()?.mode() & 0o777 == mode {
        // Some file systems have the same rights for all files, and refuse to set any.
        return Ok(());
    }
    file.set_permissions(Permissions::from_mode(mode))
}

/// Elsewhere a file has its rights from its folder.
#[cfg(not(unix))]
pub(super) fn give(_: &File, _: &Metadata, _: &Metadata) -> io::Result<()> {
    Ok(())
}
