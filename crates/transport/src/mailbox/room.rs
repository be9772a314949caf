//! The folder of one meeting, and the files in it.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind, Read, Write},
    path::{Path, PathBuf},
};

#[cfg(unix)]
use rustix::{fs::OFlags, io::Errno};

use super::{
    letter::{HEADER_BYTES, Letter, MAX_CONTENT_BYTES},
    names::Name,
};
use crate::rendezvous::Token;

/// Begins the name of a file that is being written.
const PART: &str = ".part-";

/// See the [module](self).
#[derive(Debug)]
pub(super) struct Room(PathBuf);

impl Room {
    /// Opens the place of a meeting within a folder, which has to be there.
    pub(super) fn open(folder: &Path, token: &Token) -> io::Result<Self> {
        let hash = blake3::derive_key("psijoin 2026 name of a mailbox", token.as_bytes());
        let hash: String = hash[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        let room = Self(folder.join(format!("psijoin-{hash}")));
        room.enter()?;
        Ok(room)
    }

    fn enter(&self) -> io::Result<()> {
        match fs::create_dir(&self.0) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            created => created,
        }
    }

    /// Removes the folder if nothing is in it.
    pub(super) fn leave(&self) {
        let _ = fs::remove_dir(&self.0);
    }

    /// Returns the names of all files that have one.
    pub(super) fn names(&self) -> io::Result<Vec<Name>> {
        let entries = match fs::read_dir(&self.0) {
            // The other party may have removed it when it was empty.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let name = entry?.file_name();
            names.extend(name.to_str().and_then(|name| name.parse::<Name>().ok()));
        }
        Ok(names)
    }

    /// Removes the files whose names are of no use any more.
    pub(super) fn clear(&self, is_useless: impl Fn(&Name) -> bool) -> io::Result<()> {
        let names = self.names()?;
        let mut useless = names.iter().filter(|name| is_useless(name));
        useless.try_for_each(|name| self.remove(name))
    }

    /// Writes a file, which appears as a whole as far as the folder can.
    pub(super) fn write(&self, name: &Name, letter: &Letter) -> io::Result<()> {
        let name = name.to_string();
        let part = self.0.join(format!("{PART}{name}"));
        let file = letter.encode(&name);
        let mut written = write_new(&part, &file);
        if written
            .as_ref()
            .is_err_and(|error| error.kind() == ErrorKind::NotFound)
        {
            self.enter()?;
            written = write_new(&part, &file);
        }
        written
            .and_then(|()| fs::rename(&part, self.0.join(name)))
            .inspect_err(|_| drop(fs::remove_file(&part)))
    }

    /// Reads a file; nothing if it is not there, or not whole.
    pub(super) fn read(&self, name: &Name) -> io::Result<Option<Letter>> {
        let name = name.to_string();
        let mut file = Vec::new();
        match open(&self.0.join(&name)) {
            Ok(None) => return Ok(None),
            Ok(Some(open)) => {
                // No more than any letter has, however long the file is.
                let most = (HEADER_BYTES + MAX_CONTENT_BYTES) as u64;
                match open.take(most).read_to_end(&mut file) {
                    Err(error) if !is_passing(&error) => return Err(error),
                    Err(_) => return Ok(None),
                    Ok(_) => {}
                }
            }
            Err(error) if is_passing(&error) => return Ok(None),
            Err(error) => return Err(error),
        }
        Ok(Letter::decode(&name, &file))
    }

    /// Returns whether a file is there.
    pub(super) fn has(&self, name: &Name) -> bool {
        match fs::symlink_metadata(self.0.join(name.to_string())) {
            Err(error) => error.kind() != ErrorKind::NotFound,
            Ok(_) => true,
        }
    }

    /// Removes a file, if it is there.
    pub(super) fn remove(&self, name: &Name) -> io::Result<()> {
        match fs::remove_file(self.0.join(name.to_string())) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }
}

/// Opens a file to read it; nothing if it is none. Others can write to the folder: opening a pipe
/// would wait for ever, and a link may lead to one, or to a device.
fn open(path: &Path) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
        options.custom_flags(flags.bits() as i32);
    }
    let file = match options.read(true).open(path) {
        #[cfg(unix)]
        Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => return Ok(None),
        opened => opened?,
    };
    Ok(file.metadata()?.is_file().then_some(file))
}

/// Writes a file that was not there: where a link is, which others can put there, nothing is
/// written to the place to which it leads.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // It may be left from an attempt before.
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    // Network drives tell at the end that there was no room.
    file.sync_data()
}

/// Returns whether a file that cannot be read may be readable in a moment: it is not there, or a
/// program that synchronises it has it.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::NotFound
            | ErrorKind::ResourceBusy
            | ErrorKind::StaleNetworkFileHandle
            | ErrorKind::Interrupted
            | ErrorKind::WouldBlock
    ) || cfg!(windows) && error.kind() == ErrorKind::PermissionDenied
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mailbox::Run;

    fn room() -> (tempfile::TempDir, Room) {
        let folder = tempfile::tempdir().unwrap();
        let room = Room::open(folder.path(), &Token::from_bytes([1; 32])).unwrap();
        (folder, room)
    }

    fn letter(content: &[u8]) -> Letter {
        Letter {
            content: content.to_vec(),
            ..Letter::default()
        }
    }

    #[test]
    fn a_file_is_written_seen_read_and_removed() {
        let (folder, room) = room();
        let name = Name::First(Run::fresh().unwrap());
        assert_eq!(room.read(&name).unwrap(), None);
        room.write(&name, &letter(b"hello")).unwrap();
        assert!(room.has(&name));
        assert_eq!(room.names().unwrap(), [name]);
        assert_eq!(room.read(&name).unwrap(), Some(letter(b"hello")));
        room.remove(&name).unwrap();
        room.remove(&name).unwrap();
        assert!(!room.has(&name));
        room.leave();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        // Whoever still has something to say makes it again.
        assert_eq!(room.names().unwrap(), []);
        room.write(&name, &letter(b"again")).unwrap();
        assert!(room.has(&name));
    }

    #[test]
    fn a_file_that_grows_is_none_until_it_is_whole() {
        let (_folder, room) = room();
        let name = Name::Here(Run::fresh().unwrap());
        let file = letter(b"hello").encode(&name.to_string());
        let path = room.0.join(name.to_string());
        for length in 0..file.len() {
            fs::write(&path, &file[..length]).unwrap();
            assert_eq!(room.read(&name).unwrap(), None);
        }
        fs::write(&path, &file).unwrap();
        assert_eq!(room.read(&name).unwrap(), Some(letter(b"hello")));
    }

    #[test]
    fn what_is_of_no_use_goes_and_files_of_others_stay() {
        let (_folder, room) = room();
        let [a, b] = [(); 2].map(|()| Name::First(Run::fresh().unwrap()));
        for name in [a, b] {
            room.write(&name, &letter(b"")).unwrap();
        }
        fs::write(room.0.join("notes.txt"), "mine").unwrap();
        room.clear(|name| *name == a).unwrap();
        assert_eq!(room.names().unwrap(), [b]);
        room.leave();
        assert!(room.0.join("notes.txt").exists());
    }

    /// Whoever shares the folder can put them there.
    #[cfg(unix)]
    #[test]
    fn links_and_pipes_are_neither_followed_nor_waited_for() {
        use std::os::unix::fs::symlink;

        let (folder, room) = room();
        let name = Name::Here(Run::fresh().unwrap());
        let [path, part] = ["", PART].map(|front| room.0.join(format!("{front}{name}")));
        let mine = folder.path().join("mine");
        fs::write(&mine, letter(b"mine").encode(&name.to_string())).unwrap();
        symlink(&mine, &path).unwrap();
        assert_eq!(room.read(&name).unwrap(), None);
        symlink(&mine, &part).unwrap();
        let before = fs::read(&mine).unwrap();
        room.write(&name, &letter(b"hello")).unwrap();
        assert_eq!(fs::read(&mine).unwrap(), before);
        assert_eq!(room.read(&name).unwrap(), Some(letter(b"hello")));
        room.remove(&name).unwrap();
        let mode = rustix::fs::Mode::RWXU;
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, mode).unwrap();
        assert_eq!(room.read(&name).unwrap(), None);
    }

    #[test]
    fn each_meeting_has_a_place_of_its_own_and_its_name_shows_no_token() {
        let folder = tempfile::tempdir().unwrap();
        let open = |byte| Room::open(folder.path(), &Token::from_bytes([byte; 32])).unwrap();
        let (one, other) = (open(0xab), open(0xcd));
        assert_ne!(one.0, other.0);
        assert!(
            !one.0
                .file_name()
                .unwrap()
                .to_string_lossy()
                .contains("abab")
        );
        let none = Room::open(&folder.path().join("none"), &Token::from_bytes([1; 32]));
        assert_eq!(none.unwrap_err().kind(), ErrorKind::NotFound);
    }
}
