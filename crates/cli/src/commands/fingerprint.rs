//! `psijoin fingerprint`: by what the other party must know this one.

use psijoin_transport::Identity;

use crate::{args, exit::Failure, output};

pub(super) fn run(args: &args::Fingerprinted) -> Result<(), Failure> {
    let identity = Identity::read(&args.file)?;
    output::text(&format!("{}\n", identity.fingerprint()))
}
