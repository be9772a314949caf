//! Commands that another program has now.

use std::ffi::OsString;

use crate::{console, exit::Code};

const PROGRAM: &str = "psijoin-lab is beside psijoin in the archive, the Debian package and the container image; \
                       docs/install.md has more";

/// What the commands of these names are called now.
const MOVED: [(&str, &str); 2] = [("bench", "psijoin-lab bench"), ("lab", "psijoin-lab")];

/// Says where the command of these arguments is now, if it is elsewhere.
pub(crate) fn refuse(args: &[OsString]) -> Option<Code> {
    let command = args.get(1)?;
    let (old, new) = MOVED.iter().find(|(old, _)| command == old)?;
    console::failed(&format!("`psijoin {old}` is `{new}` now"), Some(PROGRAM));
    Some(Code::Usage)
}
