//! The passphrase of an identity, from a file or from the terminal.

use std::path::Path;

use psijoin_frontend::{Failure, home::Unlocking};
use psijoin_transport::Passphrase;

use crate::{args, exit::ProgramFault};

mod terminal;

pub(crate) use terminal::restore;

/// Returns the way to the passphrase of an identity: the file that is named, or the terminal.
///
/// # Errors
/// If the file cannot be read.
pub(crate) fn unlocking(unlock: &args::Unlock) -> Result<Unlocking<'static>, Failure> {
    Ok(match &unlock.passphrase_file {
        Some(file) => Unlocking::Told(Passphrase::read(file)?),
        None => Unlocking::Asked(&|identity| {
            let shown = psijoin_printable::path(identity);
            terminal::ask(&format!("passphrase of {shown}: "))
        }),
    })
}

/// Returns a new passphrase: that of a file, or one that is asked for twice. `option` names the
/// file.
///
/// # Errors
/// If there is neither a file nor a terminal, or the user types none, or two.
pub(crate) fn choose(file: Option<&Path>, option: &str) -> Result<Passphrase, Failure> {
    if let Some(file) = file {
        return Ok(Passphrase::read(file)?);
    }
    let nobody = || {
        Failure::Usage(format!(
            "{}: name a file that holds the new passphrase, with {option} FILE",
            terminal::NOBODY
        ))
    };
    let first = terminal::ask("new passphrase: ")?.ok_or_else(nobody)?;
    let second = terminal::ask("the same once more: ")?.ok_or_else(nobody)?;
    match first == second {
        true => Ok(first),
        false => Err(ProgramFault::TwoPassphrases.into()),
    }
}
