//! The file of peers, and who waits for one of them.

use std::{io, mem, path::PathBuf};

use psijoin_files::private;
use psijoin_transport::invitation::{Host, Newcomer, Verdict};
use zeroize::{Zeroize, Zeroizing};

use crate::{
    Error, Name, Peers,
    file::{self, VERSION, Version},
    now,
};

/// The name of the file.
const FILE: &str = "peers.toml";

/// The name of the file that is locked while another process may change it: it stays where it is,
/// while the other one is replaced.
const LOCK: &str = "peers.lock";

/// The file of a user's peers. There may be none yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Book {
    folder: PathBuf,
}

impl Book {
    /// Returns the book in a folder that is there: the one with the user's identity.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// Returns the file.
    pub fn path(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    /// Reads the peers. Where there is no file, there are none.
    ///
    /// # Errors
    /// [`Error::File`], [`Error::Malformed`] and [`Error::Later`].
    pub fn read(&self) -> Result<Peers, Error> {
        let path = self.path();
        let mut bytes = match private::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Peers::default()),
            read => read.map_err(|source| self.fault(source))?,
        };
        let malformed = |reason| Error::Malformed {
            path: path.clone(),
            reason,
        };
        let text = String::from_utf8(mem::take(&mut *bytes)).map_err(|error| {
            error.into_bytes().zeroize();
            malformed("it is not a text".to_owned())
        })?;
        let text = Zeroizing::new(text);
        let version: Version =
            toml::from_str(&text).map_err(|error| malformed(file::fault(&text, &error)))?;
        match version.version {
            VERSION => file::read(&text).map_err(malformed),
            0 => Err(malformed("its version is 0".to_owned())),
            version => Err(Error::Later {
                path: path.clone(),
                version,
            }),
        }
    }

    /// Changes the peers, and returns what `change` does. Other processes that change them wait
    /// meanwhile. If `change` fails, nothing is changed.
    ///
    /// # Errors
    /// Those of `change` and of [`read`](Self::read).
    pub fn change<T>(
        &self,
        change: impl FnOnce(&mut Peers) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let lock = private::open(&self.folder.join(LOCK)).map_err(|source| self.fault(source))?;
        lock.lock().map_err(|source| self.fault(source))?;
        let mut peers = self.read()?;
        let done = change(&mut peers)?;
        peers.tidy(now());
        let text = file::write(&peers);
        private::replace(&self.path(), text.as_bytes()).map_err(|source| self.fault(source))?;
        Ok(done)
    }

    fn fault(&self, source: io::Error) -> Error {
        Error::File {
            path: self.path(),
            source,
        }
    }
}

/// The door of a party that waits for whom it has invited.
#[derive(Debug)]
pub struct Doorway {
    book: Book,
    name: Name,
}

impl Doorway {
    /// Returns the door at which the peer of this name is awaited.
    pub fn new(book: Book, name: Name) -> Self {
        Self { book, name }
    }
}

impl Host for Doorway {
    fn judge(&self, newcomer: &Newcomer) -> Verdict {
        let judge = |peers: &mut Peers| Ok(peers.judge(&self.name, newcomer, now()));
        self.book.change(judge).unwrap_or_else(|error| {
            tracing::error!("{} came, and could not be kept: {error}", self.name);
            Verdict::NotKept
        })
    }
}
