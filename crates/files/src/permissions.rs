//! The rights to files that are created.

use std::fs::{File, OpenOptions};

/// Has a file that is created by these options be its owner's alone.
pub(crate) fn for_owner(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Gives the owner alone what the owner needs of a file that was created with no more rights than
/// these, but maybe with fewer.
pub(crate) fn restrict(file: &File) {
    #[cfg(unix)]
    {
        use std::{fs::Permissions, os::unix::fs::PermissionsExt};

        // If this is refused, rights are not what keeps others out.
        let _ = file.set_permissions(Permissions::from_mode(0o600));
    }
    #[cfg(not(unix))]
    let _ = file;
}
