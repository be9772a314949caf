//! `psijoin keygen`: makes an identity.

use std::{path::Path, time::Duration};

use psijoin_frontend::home;
use psijoin_peers::{date, now};
use psijoin_printable::Escaped;
use psijoin_transport::Identity;

use crate::{args, console::Console, exit::Failure, output};

pub(super) fn run(args: &args::Keygen) -> Result<(), Failure> {
    if let Some(named) = &args.replace {
        return replace(named.as_deref(), args.overlap);
    }
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

/// Replaces an identity by a new one, which others take over for a while.
fn replace(named: Option<&Path>, overlap: Duration) -> Result<(), Failure> {
    let until = now().saturating_add(overlap.as_secs());
    let replaced = home::replace(named, until)?;
    output::text(&format!("{}\n", replaced.identity.fingerprint()))?;
    Console::wanted().say(format_args!(
        "Replaced your identity in {}; the old one is in {} now.\n\
         Whoever knows you by the old one takes the new one over in its next session with you, until \
         {}, and says so. Tell those whom you do not meet by then the fingerprint above.\n\
         If somebody else may have had the old one, tell all of them at once, by telephone: until \
         then, that person can replace it, too.",
        psijoin_printable::path(&replaced.path),
        psijoin_printable::path(&replaced.old),
        date(until),
    ));
    Ok(())
}
