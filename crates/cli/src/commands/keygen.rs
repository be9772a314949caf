//! `psijoin keygen`: makes an identity.

use std::path::Path;

use psijoin_frontend::home;
use psijoin_peers::{date, now};
use psijoin_printable::Escaped;
use psijoin_transport::{Identity, Passphrase};

use crate::{args, console::Console, exit::Failure, output, passphrase};

pub(super) fn run(args: &args::Keygen) -> Result<(), Failure> {
    if let Some(named) = &args.replace {
        return replace(args, named.as_deref());
    }
    if let Some(named) = &args.change_passphrase {
        return change(args, named.as_deref());
    }
    if let Some(named) = &args.remove_passphrase {
        return remove(args, named.as_deref());
    }
    home::refuse_existing(args.out.as_deref())?;
    let mut identity = Identity::generate()?;
    let file = args.unlock.passphrase_file.as_deref();
    if args.passphrase || file.is_some() {
        identity = identity.lock(&passphrase::choose(file, "--passphrase-file")?)?;
    }
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
fn replace(args: &args::Keygen, named: Option<&Path>) -> Result<(), Failure> {
    let until = now().saturating_add(args.overlap.as_secs());
    let unlocking = passphrase::unlocking(&args.unlock)?;
    let is_chosen = args.passphrase || args.new_passphrase_file.is_some();
    let replaced = home::replace(named, until, &unlocking, |old| match is_chosen {
        true => choose(args).map(Some),
        false => Ok(old),
    })?;
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

/// Gives an identity another passphrase, or its first one.
fn change(args: &args::Keygen, named: Option<&Path>) -> Result<(), Failure> {
    let unlocking = passphrase::unlocking(&args.unlock)?;
    let own = home::change_passphrase(named, &unlocking, || choose(args).map(Some))?;
    output::text(&format!("{}\n", own.fingerprint))?;
    Console::wanted().say(format_args!(
        "Your identity in {} has the new passphrase. Its key is as before: if somebody else may have \
         had the file, or there is a backup of it, `psijoin keygen --replace` makes a new one.",
        psijoin_printable::path(&own.path),
    ));
    Ok(())
}

/// Takes the passphrase off an identity.
fn remove(args: &args::Keygen, named: Option<&Path>) -> Result<(), Failure> {
    let unlocking = passphrase::unlocking(&args.unlock)?;
    let own = home::change_passphrase(named, &unlocking, || Ok(None))?;
    output::text(&format!("{}\n", own.fingerprint))?;
    Console::wanted().say(format_args!(
        "Your identity in {} has no passphrase any more: whoever can read that file has the key.",
        psijoin_printable::path(&own.path),
    ));
    Ok(())
}

/// Returns the passphrase that an identity gets which was there before.
fn choose(args: &args::Keygen) -> Result<Passphrase, Failure> {
    passphrase::choose(args.new_passphrase_file.as_deref(), "--new-passphrase-file")
}
