//! The user's own folder for what psijoin keeps: the identity that is meant where none is named,
//! and how far jobs have come.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use psijoin_files::folder;
use psijoin_peers::Book;
use psijoin_session::JobFolder;
use psijoin_transport::{Error, Fingerprint, Identity, Passphrase};

use crate::Failure;

/// The way to the passphrase of an identity.
pub enum Unlocking<'a> {
    /// It was told. An identity that has none is refused then: whoever told it takes the private
    /// key for an encrypted one.
    Told(Passphrase),
    /// If the identity in a file has one, this asks for it. `None` if there is nobody to ask.
    Asked(&'a dyn Fn(&Path) -> Result<Option<Passphrase>, Failure>),
}

impl From<Option<Passphrase>> for Unlocking<'_> {
    /// Returns the way where nobody can be asked.
    fn from(told: Option<Passphrase>) -> Self {
        told.map_or(Self::Asked(&|_| Ok(None)), Self::Told)
    }
}

/// The environment variable that names the folder.
const VARIABLE: &str = "PSIJOIN_HOME";

/// The name of the identity there.
const IDENTITY: &str = "identity.pem";

/// The name of the folder there with profiles.
const PROFILES: &str = "profiles";

/// The name of the folder there that notes how far jobs have come.
const JOBS: &str = "jobs";

/// Returns the user's own folder, if the environment tells one.
fn folder() -> Option<PathBuf> {
    let of_user = || Some(of_kind("XDG_CONFIG_HOME", ".config")?.join("psijoin"));
    named(VARIABLE).or_else(of_user)
}

/// Returns the user's folder for files of one kind of all programs: the one that a variable names,
/// or otherwise this one at home. Windows has one for all kinds, which stays on the machine.
pub(crate) fn of_kind(variable: &str, at_home: &str) -> Option<PathBuf> {
    let local = || named("LOCALAPPDATA").filter(|_| cfg!(windows));
    let of_user = || local().or_else(|| Some(named("HOME")?.join(at_home)));
    named(variable).or_else(of_user)
}

/// Returns the folder that a variable of the environment names.
fn named(variable: &str) -> Option<PathBuf> {
    let value = env::var_os(variable).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}

/// Returns where the user's own identity is, or is to be.
fn identity_path() -> Result<PathBuf, Failure> {
    let folder = folder().ok_or_else(|| {
        Failure::Usage(format!(
            "there is no folder for this user's identity: name a file, or a folder in {VARIABLE}"
        ))
    })?;
    Ok(folder.join(IDENTITY))
}

/// Returns the file of those whom the user knows by name. It is beside the identity: the user's
/// own, or the one in this file. The user's own folder is made, if it is not there yet.
///
/// # Errors
/// If there is no place for it.
pub fn book(identity: Option<&Path>) -> Result<Book, Failure> {
    let path = match identity {
        Some(path) => path.to_owned(),
        None => identity_path()?,
    };
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let folder = folder.unwrap_or(Path::new("."));
    if identity.is_none() {
        folder::make_with_parents(folder).map_err(|source| Error::IdentityFile {
            path: path.clone(),
            source,
        })?;
    }
    Ok(Book::in_folder(folder))
}

/// Returns the file of a profile: a file that is named as one, or one of the user's own folder.
///
/// # Errors
/// If there is no such folder.
pub fn profile(name: &str) -> Result<PathBuf, Failure> {
    let path = Path::new(name);
    if path.extension().is_some_and(|ending| ending == "toml") || path.components().count() != 1 {
        return Ok(path.to_owned());
    }
    let identity = identity_path()?;
    let folder = identity.parent().expect("a file in a folder");
    Ok(folder.join(PROFILES).join(format!("{name}.toml")))
}

/// A new identity in the place of an old one.
pub struct Replaced {
    /// The new identity.
    pub identity: Identity,
    /// Its file, which was the old one's.
    pub path: PathBuf,
    /// The file of the old one now.
    pub old: PathBuf,
}

/// Replaces the identity in this file, or the user's own, by a new one, until the end of an
/// overlap. The old one is kept beside it, for peers who cannot follow. `choose` is given the old
/// one's passphrase, if it has one, and returns that of the new one, if it is to have one.
///
/// # Errors
/// If there is none, or a file cannot be written. Then nothing is replaced.
pub fn replace(
    named: Option<&Path>,
    until: u64,
    unlocking: &Unlocking<'_>,
    choose: impl FnOnce(Option<Passphrase>) -> Result<Option<Passphrase>, Failure>,
) -> Result<Replaced, Failure> {
    let path = named.map_or_else(identity_path, |path| Ok(path.to_owned()))?;
    let (old, passphrase) = unlock(&path, unlocking)?;
    let kept = path.with_file_name(format!("{}.pem", old.fingerprint()));
    let is_kept = is_same(&kept, &old, passphrase.as_ref());
    let mut identity = old.replace(psijoin_peers::now(), until)?;
    if let Some(passphrase) = choose(passphrase)? {
        identity = identity.lock(&passphrase)?;
    }
    match old.write_new(&kept) {
        // It was interrupted before.
        Err(Error::IdentityExists(_)) if is_kept => {}
        written => written?,
    }
    identity.write_over(&path)?;
    Ok(Replaced {
        identity,
        path,
        old: kept,
    })
}

/// Gives the identity in this file, or the user's own, the passphrase that `choose` returns, in
/// place of the one that it may have, or none. Its key stays. Returns the file.
///
/// # Errors
/// If it cannot be read, or the file cannot be written; if it is to have none, and has none. Then
/// nothing is changed.
pub fn change_passphrase(
    named: Option<&Path>,
    unlocking: &Unlocking<'_>,
    choose: impl FnOnce() -> Result<Option<Passphrase>, Failure>,
) -> Result<Own, Failure> {
    let path = named.map_or_else(identity_path, |path| Ok(path.to_owned()))?;
    let (old, passphrase) = unlock(&path, unlocking)?;
    let new = match choose()? {
        Some(new) => old.lock(&new)?,
        None if passphrase.is_none() => return Err(Error::IdentityNotLocked(path).into()),
        None => old.remove_passphrase()?,
    };
    // A link is followed, or else the key would stay as it is in the file behind it.
    let real = fs::canonicalize(&path).map_err(|source| Error::IdentityFile {
        path: path.clone(),
        source,
    })?;
    new.write_over(real)?;
    Ok(Own {
        fingerprint: new.fingerprint(),
        path,
        is_new: false,
    })
}

fn is_same(path: &Path, identity: &Identity, passphrase: Option<&Passphrase>) -> bool {
    let read = match passphrase {
        Some(passphrase) => Identity::unlock(path, passphrase),
        None => Identity::read(path),
    };
    read.is_ok_and(|read| read.fingerprint() == identity.fingerprint())
}

/// Reads the identity in a file, and returns its passphrase, too, if it has one.
fn unlock(
    path: &Path,
    unlocking: &Unlocking<'_>,
) -> Result<(Identity, Option<Passphrase>), Failure> {
    let passphrase = match unlocking {
        Unlocking::Told(passphrase) => passphrase.clone(),
        Unlocking::Asked(ask) => match Identity::read(path) {
            Err(locked @ Error::IdentityLocked { .. }) => ask(path)?.ok_or(locked)?,
            read => return Ok((read?, None)),
        },
    };
    Ok((Identity::unlock(path, &passphrase)?, Some(passphrase)))
}

/// Returns the folder of a job, which is to note what was started as this process was.
pub fn job(path: PathBuf) -> JobFolder {
    JobFolder {
        path,
        marks: jobs(),
        command: command(),
    }
}

/// Returns where it is noted how far jobs have come, if there is a place for it. The user's own
/// folder is made, if it is not there yet: the identity may follow.
fn jobs() -> Option<PathBuf> {
    let folder = folder()?;
    folder::make_with_parents(&folder).ok()?;
    Some(folder.join(JOBS))
}

/// Returns a word of a command without the password in it, if it is an address that holds one, as
/// that of a proxy may.
pub fn without_password(word: &str) -> String {
    let hidden = word.split_once("://").and_then(|(scheme, rest)| {
        let (user, host) = rest.rsplit_once('@')?;
        let (name, _) = user.split_once(':')?;
        Some(format!("{scheme}://{name}:PASSWORD@{host}"))
    });
    hidden.unwrap_or_else(|| word.to_owned())
}

/// Returns the command that this process was started by, as it would be typed.
fn command() -> String {
    let words = env::args_os().map(|word| {
        let word = without_password(&word.to_string_lossy());
        let is_plain = |c: char| c.is_alphanumeric() || "-_./:,=+%^".contains(c);
        match !word.is_empty() && word.chars().all(is_plain) {
            true => word,
            false => format!("'{}'", word.replace('\'', r"'\''")),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A party's identity, as far as its file tells it without a passphrase.
pub struct Own {
    /// The name of its key.
    pub fingerprint: Fingerprint,
    /// Its file.
    pub path: PathBuf,
    /// `true` if it has just been made.
    pub is_new: bool,
}

impl Own {
    /// Returns the identity, with its passphrase if it has one.
    ///
    /// # Errors
    /// If it cannot be read, nobody tells its passphrase, or one is told for an identity without.
    pub fn unlock(&self, unlocking: &Unlocking<'_>) -> Result<Identity, Failure> {
        Ok(unlock(&self.path, unlocking)?.0)
    }
}

/// Finds the identity in this file, or the user's own, which is made if there is none.
///
/// # Errors
/// If it cannot be read, or made.
pub fn identity(named: Option<&Path>) -> Result<Own, Failure> {
    let (path, is_new) = match named {
        Some(path) => (path.to_owned(), false),
        None => {
            let path = identity_path()?;
            let is_new = make_missing(&path)?;
            (path, is_new)
        }
    };
    let fingerprint = match Identity::read(&path) {
        Err(Error::IdentityLocked { fingerprint, .. }) => fingerprint,
        read => read?.fingerprint(),
    };
    Ok(Own {
        fingerprint,
        path,
        is_new,
    })
}

/// Makes the user's own identity if there is none, and returns whether it did.
fn make_missing(path: &Path) -> Result<bool, Failure> {
    match Identity::read(path) {
        Err(Error::IdentityFile { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
        _ => return Ok(false),
    }
    match keep(&Identity::generate()?) {
        // Another process was first.
        Err(Failure::Session(psijoin_session::Error::Transport(Error::IdentityExists(_)))) => {
            Ok(false)
        }
        kept => kept.map(|_| true),
    }
}

/// Refuses to make an identity where there is one, before anybody is asked for its passphrase.
///
/// # Errors
/// If there is a file at this place, or the user's own identity.
pub fn refuse_existing(named: Option<&Path>) -> Result<(), Failure> {
    let path = named.map_or_else(identity_path, |path| Ok(path.to_owned()))?;
    match path.symlink_metadata() {
        Ok(_) => Err(Error::IdentityExists(path).into()),
        Err(_) => Ok(()),
    }
}

/// Keeps an identity as the user's own, and returns where.
///
/// # Errors
/// If there is one already, or it cannot be written.
pub fn keep(identity: &Identity) -> Result<PathBuf, Failure> {
    let path = identity_path()?;
    let folder = path.parent().expect("a file in a folder");
    folder::make_with_parents(folder).map_err(|source| Error::IdentityFile {
        path: path.clone(),
        source,
    })?;
    identity.write_new(&path)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_kept() {
        for (word, kept) in [
            ("http://ann:secret@p:1", "http://ann:PASSWORD@p:1"),
            ("x=http://ann:s@cret@p:1/", "x=http://ann:PASSWORD@p:1/"),
            ("http://ann@p:1", "http://ann@p:1"),
            ("http://p:1", "http://p:1"),
            ("a:b@c", "a:b@c"),
        ] {
            assert_eq!(without_password(word), kept);
        }
    }
}
