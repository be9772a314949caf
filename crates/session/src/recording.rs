//! A record that a party asks for, and the file that it goes to.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use psijoin_files::{AtomicFile, Existing};
use psijoin_handshake::Hello;
use psijoin_record::{self as record, FORMAT, SignedRecord};
use psijoin_transport::{Identity, PublicKey};

use crate::{Error, settings};

/// The fact that tells a party's version of psijoin.
pub(crate) const VERSION: &str = "psijoin";

/// The fact that tells what a party's clock shows.
pub(crate) const CLOCK: &str = "the clock";

/// A record that a party asks for.
pub(crate) struct Recording {
    /// The identity that signs it.
    pub(crate) identity: Identity,
    /// Its key.
    pub(crate) key: PublicKey,
    /// As the user named the file.
    pub(crate) path: PathBuf,
    file: AtomicFile,
}

impl Recording {
    /// Makes sure that this party can sign a record, and write it there. A file that is there
    /// already may be the evidence of another session, so it is not to be replaced unless it is of
    /// the same job.
    ///
    /// # Errors
    /// [`Error::Unsigned`] and [`Error::NoRecord`].
    pub(crate) fn prepare(
        path: &Path,
        identity: &Identity,
        existing: Existing,
    ) -> Result<Self, Error> {
        let key = identity.public_key().ok_or(record::Error::CannotSign)?;
        let file = AtomicFile::prepare(path, existing);
        let file = file.map_err(|source| Error::NoRecord {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self {
            identity: identity.clone(),
            key,
            path: path.to_owned(),
            file,
        })
    }

    /// Tells the other party what it has to know for the record.
    pub(crate) fn tell(&self, hello: Hello) -> Hello {
        hello
            .setting(settings::RECORD, format_args!("format {FORMAT}"))
            .fact(VERSION, env!("CARGO_PKG_VERSION"))
            .fact(CLOCK, clock(Timestamp::now()))
    }

    pub(crate) fn write(&self, record: &SignedRecord) -> Result<(), Error> {
        let text = record.to_text();
        let staged = self.file.stage(|file| file.write_all(text.as_bytes()));
        let written = staged.and_then(|staged| staged.commit());
        written.map_err(|source| Error::NoRecord {
            path: self.path.clone(),
            source,
        })
    }
}

pub(crate) fn clock(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
