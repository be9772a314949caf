//! `psijoin fingerprint`: by what the other party must know this one.

use psijoin_frontend::home;

use crate::{args, console::Console, exit::Failure, output};

pub(super) fn run(args: &args::Fingerprinted) -> Result<(), Failure> {
    let own = home::identity(args.file.as_deref())?;
    output::text(&format!("{}\n", own.fingerprint))?;
    if own.is_new {
        Console::wanted().say(format_args!(
            "Made your identity, in {}. Keep that file to yourself.",
            psijoin_printable::path(&own.path)
        ));
    }
    Ok(())
}
