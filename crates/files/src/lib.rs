//! Files on disk: those that appear when they are complete, those that nobody but their owner can
//! use, names that last through a power cut, and what does not fit into memory.
//!
//! ```
//! use psijoin_files::{AtomicFile, Existing, private};
//!
//! let folder = tempfile::tempdir()?;
//! // Checked before a long run, written after it, and never seen half.
//! let report = AtomicFile::prepare(&folder.path().join("report.txt"), Existing::Replace)?;
//! let staged = report.stage(|file| file.write_all(b"all of it\n"))?;
//! staged.commit()?;
//! private::write_new(&folder.path().join("key"), b"a secret")?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! | item | purpose |
//! |---|---|
//! | [`AtomicFile`] | a result, which replaces a file or is a new one, and is there as a whole |
//! | [`private`] | keys and what jobs keep: files that their owner alone can read, and a warning of others |
//! | [`folder`] | folders for these, and names that last |
//! | [`positioned`] | one file that several threads read |
//! | [`spill`] | data that is larger than memory, sealed, in files without a name |
//!
//! On Unix, *private* means a mode without rights for others, and a file of spilled data has no
//! name. On Windows a file has the rights that its folder gives it: within a user's profile these
//! are the user's, the administrators' and the system's. There nobody else can open a file of
//! spilled data while it is open, and the system removes it when it is closed, however the process
//! ends.

#![forbid(unsafe_code)]

mod atomic_file;
pub mod folder;
mod permissions;
pub mod positioned;
pub mod private;
pub mod spill;

pub use atomic_file::{AtomicFile, Existing, Staged, Unfinished, remove_abandoned, remove_staged};
