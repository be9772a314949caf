use std::{io, path::PathBuf};

use psijoin_printable::{Quoted, Word};

/// The reason that a job folder cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refuses something.
    #[error(
        "cannot use the job folder {}: {source}",
        psijoin_printable::path(folder)
    )]
    Io {
        /// The folder.
        folder: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },

    /// It is another user's.
    #[error("the job folder {} belongs to another user: give a folder of your own", psijoin_printable::path(.0))]
    NotOurs(PathBuf),

    /// Others can read or change it.
    #[error(
        "the job folder {} can be read or changed by other users of this machine: run chmod 700 on it",
        psijoin_printable::path(.0)
    )]
    Open(PathBuf),

    /// Another process works in it.
    #[error("another psijoin is at work in the job folder {}", psijoin_printable::path(.0))]
    InUse(PathBuf),

    /// It holds something else.
    #[error(
        "{} holds other files than a job's: give a folder that is empty, or not there yet", psijoin_printable::path(.0)
    )]
    NoJob(PathBuf),

    /// There is no job.
    #[error("there is no job in {}", psijoin_printable::path(.0))]
    Nothing(PathBuf),

    /// It was written by another version.
    #[error(
        "the job in {} was begun by psijoin {}, and this is {ours}: go on with that version, or begin \
         anew on both sides with new folders",
        psijoin_printable::path(folder),
        Word(theirs)
    )]
    Version {
        /// The folder.
        folder: PathBuf,
        /// The version that began the job.
        theirs: String,
        /// This version.
        ours: String,
    },

    /// It was written by a version that keeps jobs in another form.
    #[error(
        "the job in {} was begun by psijoin {}, which keeps jobs in another form: go on with that version, or \
         begin anew on both sides with new folders",
        psijoin_printable::path(folder),
        Word(theirs)
    )]
    Layout {
        /// The folder.
        folder: PathBuf,
        /// The version that began the job.
        theirs: String,
    },

    /// A file is not what was written.
    #[error(
        "the job folder {} is damaged ({what}): begin anew on both sides with new folders",
        psijoin_printable::path(folder)
    )]
    Damaged {
        /// The folder.
        folder: PathBuf,
        /// The fault.
        what: &'static str,
    },

    /// A step of it has failed in a way that must not be tried again.
    #[error(
        "the job in {} has failed, and cannot go on: another attempt would tell the other party more than one answer. Begin \
         anew on both sides with new folders",
        psijoin_printable::path(.0)
    )]
    Spoilt(PathBuf),

    /// The kept state of a step is gone.
    #[error(
        "the job in {} lacks what this side has already said (an old copy of the folder, or files of it were removed): begin anew \
         on both sides with new folders",
        psijoin_printable::path(.0)
    )]
    Lost(PathBuf),

    /// A job resumes only with what it was started with.
    #[error(
        "the job in {} was started with {name} {}, but this command says {}: use the former, or start again on \
         both sides with new folders",
        psijoin_printable::path(folder),
        Quoted(was),
        Quoted(is)
    )]
    Changed {
        /// The folder.
        folder: PathBuf,
        /// The name of what has changed.
        name: String,
        /// Its former value.
        was: String,
        /// Its present value.
        is: String,
    },

    /// Something that is not shown has changed.
    #[error(
        "the job in {} was started with {name}, but this is another: use the former, or start again on both sides \
         with new folders",
        psijoin_printable::path(folder)
    )]
    ChangedSecret {
        /// The folder.
        folder: PathBuf,
        /// The name of what has changed.
        name: String,
    },
}

/// The party that has to act on an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// The caller: the command is not that of the job.
    Usage,
    /// The folder cannot be used.
    Folder,
}

impl Error {
    /// Returns who has to act on it.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Changed { .. }
            | Self::ChangedSecret { .. }
            | Self::Version { .. }
            | Self::Layout { .. } => Kind::Usage,
            _ => Kind::Folder,
        }
    }
}
