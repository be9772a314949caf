//! `psijoin keygen`: makes an identity.

use psijoin_frontend::home;
use psijoin_printable::Escaped;
use psijoin_transport::Identity;

use crate::{args, console::Console, exit::Failure, output};

pub(super) fn run(args: &args::Keygen) -> Result<(), Failure> {
    let identity = Identity::generate()?;
    let path = match &args.out {
        Some(path) => {
            identity.write_new(path)?;
            path.clone()
        }
        None => home::keep(&identity)?,
    };
    output::text(&format!("{}\n", identity.fingerprint()))?;
    let named = match &args.out {
        // A part of a command, where backquotes would mean something else.
        Some(path) => format!("--identity {} ", Escaped(&path.to_string_lossy())),
        None => String::new(),
    };
    Console::wanted().say(format_args!(
        "Wrote your identity to {}. Keep that file to yourself.\n\
         Tell the other party the fingerprint above (by telephone or signed mail), and get theirs. \
         Then run\n  \
         psijoin receive {named}--peer THEIR-FINGERPRINT …\n\
         on one side, and psijoin send … on the other.",
        psijoin_printable::path(&path),
    ));
    Ok(())
}
