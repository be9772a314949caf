//! `psijoin keygen`: makes an identity.

use psijoin_transport::Identity;

use crate::{args, console::Console, exit::Failure, output};

pub(super) fn run(args: &args::Keygen) -> Result<(), Failure> {
    let identity = Identity::generate()?;
    identity.write_new(&args.out)?;
    output::text(&format!("{}\n", identity.fingerprint()))?;
    Console::wanted(false).say(format_args!(
        "Wrote your identity to {file}. Keep that file to yourself.\n\
         Tell the other party the fingerprint above (by telephone or signed mail), and get theirs. \
         Then run\n  \
         psijoin receive --identity {file} --peer THEIR-FINGERPRINT …\n\
         on one side, and psijoin send … on the other.",
        file = args.out.display(),
    ));
    Ok(())
}
