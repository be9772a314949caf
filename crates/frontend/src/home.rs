//! The user's own folder for what psijoin keeps: the identity that is meant where none is named,
//! and how far jobs have come.

use std::{
    env, io,
    path::{Path, PathBuf},
};

use psijoin_files::folder;
use psijoin_peers::Book;
use psijoin_session::JobFolder;
use psijoin_transport::{Error, Identity};

use crate::Failure;

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
/// overlap. The old one is kept beside it, for peers who cannot follow.
///
/// # Errors
/// If there is none, or a file cannot be written. Then nothing is replaced.
pub fn replace(named: Option<&Path>, until: u64) -> Result<Replaced, Failure> {
    let path = named.map_or_else(identity_path, |path| Ok(path.to_owned()))?;
    let old = Identity::read(&path)?;
    let identity = old.replace(psijoin_peers::now(), until)?;
    let kept = path.with_file_name(format!("{}.pem", old.fingerprint()));
    match old.write_new(&kept) {
        // It was interrupted before.
        Err(Error::IdentityExists(_)) if is_same(&kept, &old) => {}
        written => written?,
    }
    identity.write_over(&path)?;
    Ok(Replaced {
        identity,
        path,
        old: kept,
    })
}

fn is_same(path: &Path, identity: &Identity) -> bool {
    let read = Identity::read(path);
    read.is_ok_and(|read| read.fingerprint() == identity.fingerprint())
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

/// A party's identity.
pub struct Own {
    /// The identity.
    pub identity: Identity,
    /// Its file.
    pub path: PathBuf,
    /// `true` if it has just been made.
    pub is_new: bool,
}

/// Returns the identity in this file, or the user's own, which is made if there is none.
///
/// # Errors
/// If it cannot be read, or made.
pub fn identity(named: Option<&Path>) -> Result<Own, Failure> {
    if let Some(path) = named {
        return Ok(Own {
            identity: Identity::read(path)?,
            path: path.to_owned(),
            is_new: false,
        });
    }
    let path = identity_path()?;
    match Identity::read(&path) {
        Err(Error::IdentityFile { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
        read => {
            return Ok(Own {
                identity: read?,
                path,
                is_new: false,
            });
        }
    }
    let identity = Identity::generate()?;
    match keep(&identity) {
        // Another process was first.
        Err(Failure::Session(psijoin_session::Error::Transport(Error::IdentityExists(_)))) => {
            Ok(Own {
                identity: Identity::read(&path)?,
                path,
                is_new: false,
            })
        }
        kept => kept.map(|path| Own {
            identity,
            path,
            is_new: true,
        }),
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
