//! Files that appear when they are complete: their rights, what is in their way, and what killed
//! processes leave.

use std::{
    env, fs,
    io::{ErrorKind, Read, stdin},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use psijoin_files::{AtomicFile, Existing, remove_staged};
use tempfile::TempDir;

/// A directory of files that goes away with the test.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

fn write(file: &AtomicFile, text: &str) {
    let staged = file.stage(|output| output.write_all(text.as_bytes()));
    staged.unwrap().commit().unwrap();
}

fn staged_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with(".psijoin-staged-")
        })
        .collect()
}

#[test]
fn what_is_there_stays_until_the_commit() {
    let files = Files::new();
    let path = files.text("out", "old");
    let file = AtomicFile::prepare(&path, Existing::Replace).unwrap();
    assert_eq!((file.path(), files.names()), (&*path, vec!["out".into()]));

    let failed = file.stage(|output| {
        output.write_all(b"new")?;
        Err(ErrorKind::StorageFull.into())
    });
    assert_eq!(failed.unwrap_err().kind(), ErrorKind::StorageFull);
    drop(file.stage(|output| output.write_all(b"new")).unwrap());
    assert_eq!(files.names(), ["out"]);
    let staged = file.stage(|output| output.write_all(b"new")).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(staged_in(files.0.path()).len(), 1);
    staged.commit().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(files.names(), ["out"]);
}

#[test]
fn what_is_to_be_kept_is_kept() {
    let files = Files::new();
    let path = files.text("out.csv", "old");
    let refused = |path: &Path| AtomicFile::prepare(path, Existing::Keep).unwrap_err();
    assert_eq!(refused(&path).kind(), ErrorKind::AlreadyExists);
    assert_eq!(refused(files.0.path()).kind(), ErrorKind::IsADirectory);

    // It appears while the file is written.
    fs::remove_file(&path).unwrap();
    let file = AtomicFile::prepare(&path, Existing::Keep).unwrap();
    let staged = file.stage(|output| output.write_all(b"new")).unwrap();
    files.text("out.csv", "other");
    let error = staged.commit().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!(error.to_string(), "it exists already, and is to be kept");
    assert_eq!(fs::read_to_string(&path).unwrap(), "other");
    assert_eq!(files.names(), ["out.csv"]);

    fs::remove_file(&path).unwrap();
    write(&file, "new");
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
}

#[test]
fn errors_do_not_show_names_of_staged_files() {
    let files = Files::new();
    let folder = files.path("folder");
    let refused = AtomicFile::prepare(&folder.join("out"), Existing::Replace).unwrap_err();
    fs::create_dir(&folder).unwrap();
    let file = AtomicFile::prepare(&folder.join("out"), Existing::Replace).unwrap();
    let staged = file.stage(|_| Ok(())).unwrap();
    fs::remove_dir_all(&folder).unwrap();
    let not_begun = file.stage(|_| Ok(())).unwrap_err();
    for error in [refused, not_begun, staged.commit().unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(
            !format!("{error} {error:?}").contains(".psijoin"),
            "{error}"
        );
    }
}

/// Set for a process that runs [`child`]: what it does.
const TASK: &str = "PSIJOIN_FILES_TEST_TASK";

/// Returns a process that does `task` in this folder.
fn child_process(task: &str, folder: &Path) -> Command {
    as_child(Command::new(env::current_exe().unwrap()), task, folder)
}

fn as_child(mut command: Command, task: &str, folder: &Path) -> Command {
    command
        .args(["child", "--exact", "--nocapture"])
        .env(TASK, task)
        .current_dir(folder)
        .stdout(Stdio::null());
    command
}

/// No test, but what the processes do that tests start.
#[test]
fn child() {
    match env::var(TASK).as_deref() {
        Ok("hang") => hang(),
        Ok("remove") => remove(),
        #[cfg(unix)]
        Ok(mode) => unix::make_files_of_mode(u32::from_str_radix(mode, 8).unwrap()),
        _ => {}
    }
}

/// Stages a file, and hangs while it writes another one.
fn hang() {
    let prepare = |name: &str| AtomicFile::prepare(name.as_ref(), Existing::Replace).unwrap();
    let rows = prepare("out.csv");
    let _staged = rows.stage(|output| output.write_all(b"secret")).unwrap();
    let file = prepare("report");
    let _ = file.stage(|output| {
        output.write_all(b"secret")?;
        output.flush()?;
        fs::write("ready", "")?;
        // If the test fails, its end of the pipe is closed.
        stdin().read_to_end(&mut Vec::new()).map(drop)
    });
}

#[test]
fn what_a_killed_process_leaves_is_secret_and_goes() {
    let files = Files::new();
    let output = files.text("out.csv", "old");
    let mut child = child_process("hang", files.0.path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while !files.path("ready").exists() {
        assert!(start.elapsed() < Duration::from_secs(60));
        assert_eq!(child.try_wait().unwrap(), None);
        thread::sleep(Duration::from_millis(5));
    }
    let prepare = || AtomicFile::prepare(&output, Existing::Replace).unwrap();
    prepare();
    // The process is alive: its files stay.
    assert_eq!(staged_in(files.0.path()).len(), 2);

    child.kill().unwrap();
    child.wait().unwrap();
    let left = staged_in(files.0.path());
    assert_eq!(left.len(), 2);
    for path in left {
        assert!(fs::read_to_string(&path).unwrap().contains("secret"));
        #[cfg(unix)]
        assert_eq!(unix::mode(&path), 0o600);
    }
    assert_eq!(fs::read_to_string(&output).unwrap(), "old");
    prepare();
    assert_eq!(files.names(), ["out.csv", "ready"]);
}

/// Ends without an orderly return.
fn remove() {
    let file = AtomicFile::prepare("out".as_ref(), Existing::Replace).unwrap();
    let staged = file.stage(|output| output.write_all(b"new")).unwrap();
    let other = file.stage(|output| output.write_all(b"new")).unwrap();
    write(&file, "committed");
    assert_eq!(staged_in(".".as_ref()).len(), 2);
    remove_staged();
    assert!(staged_in(".".as_ref()).is_empty());
    assert_eq!(other.commit().unwrap_err().kind(), ErrorKind::NotFound);
    std::mem::forget(staged);
}

#[test]
fn a_forced_exit_can_remove_staged_files() {
    let files = Files::new();
    let status = child_process("remove", files.0.path()).status().unwrap();
    assert!(status.success());
    assert_eq!(files.names(), ["out"]);
    assert_eq!(files.read("out"), "committed");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

    use super::*;

    pub(super) fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    /// Makes files under the umask of the process, new ones to be of this mode.
    pub(super) fn make_files_of_mode(expected: u32) {
        fs::write("old", "").unwrap();
        fs::set_permissions("old", fs::Permissions::from_mode(0o646)).unwrap();
        for (name, existing, expected) in [
            ("new", Existing::Replace, expected),
            ("kept", Existing::Keep, expected),
            ("old", Existing::Replace, 0o646 & expected),
        ] {
            let file = AtomicFile::prepare(name.as_ref(), existing).unwrap();
            let staged = file
                .stage(|output| {
                    assert_eq!(mode(&staged_in(".".as_ref())[0]), 0o600);
                    output.write_all(b"x")
                })
                .unwrap();
            assert_eq!(mode(&staged_in(".".as_ref())[0]), 0o600);
            staged.commit().unwrap();
            assert_eq!(mode(name.as_ref()), expected, "{name}");
        }
        replace_what_others_planted(expected);
    }

    /// Checks that nobody gets more by putting a file there first than a new file would give.
    fn replace_what_others_planted(expected: u32) {
        let path = Path::new("planted");
        fs::write(path, "").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o666)).unwrap();
        // Only root may: the file is of others then.
        let is_of_others = chown(path, Some(12_345), Some(12_345)).is_ok();
        write(&AtomicFile::prepare(path, Existing::Replace).unwrap(), "x");
        assert_eq!(mode(path) & !expected, 0);
        if is_of_others {
            let is_given = fs::metadata(path).unwrap().uid() == 12_345;
            assert_eq!(is_given, expected & 0o004 != 0);
        }
    }

    #[test]
    fn rights_are_the_owners_until_the_commit() {
        for (umask, mode) in [
            ("000", "666"),
            ("022", "644"),
            ("077", "600"),
            ("277", "400"),
        ] {
            let files = Files::new();
            let mut shell = Command::new("sh");
            shell
                .args(["-c", "umask \"$0\"; exec \"$@\"", umask])
                .arg(env::current_exe().unwrap());
            let status = as_child(shell, mode, files.0.path()).status().unwrap();
            assert!(status.success(), "{umask}");
        }
    }

    #[test]
    fn a_replaced_files_group_is_that_of_the_new_one() {
        let files = Files::new();
        let path = files.text("out", "old");
        if chown(&path, Some(12_345), Some(12_345)).is_err() {
            // Only root may; and what others cannot give away is not theirs to begin with.
            return;
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        write(
            &AtomicFile::prepare(&path, Existing::Replace).unwrap(),
            "new",
        );
        let found = fs::metadata(&path).unwrap();
        assert_eq!((found.uid(), found.gid()), (12_345, 12_345));
        assert_eq!(mode(&path), 0o640);
    }

    #[test]
    fn a_file_that_is_not_ours_stays() {
        let files = Files::new();
        let path = files.text(".psijoin-staged-0123456789abcdef", "");
        if chown(&path, Some(12_345), None).is_err() {
            return;
        }
        let prepare = || AtomicFile::prepare(&files.path("out"), Existing::Replace).unwrap();
        prepare();
        assert!(path.exists());
        chown(
            &path,
            Some(fs::metadata(files.0.path()).unwrap().uid()),
            None,
        )
        .unwrap();
        prepare();
        assert!(!path.exists());
    }

    #[test]
    fn links_are_followed_and_what_is_no_file_is_refused() {
        let files = Files::new();
        fs::create_dir(files.path("folder")).unwrap();
        let real = files.text("folder/real", "old");
        symlink("folder/real", files.path("link")).unwrap();
        symlink("nowhere", files.path("dangling")).unwrap();
        symlink("folder", files.path("directory")).unwrap();
        symlink("loop", files.path("loop")).unwrap();
        let fifo = Command::new("mkfifo").arg(files.path("fifo")).status();
        assert!(fifo.unwrap().success());
        let before = files.names();

        let file = AtomicFile::prepare(&files.path("link"), Existing::Replace).unwrap();
        let staged = file.stage(|output| output.write_all(b"new")).unwrap();
        assert_eq!(staged_in(&files.path("folder")).len(), 1);
        staged.commit().unwrap();
        assert_eq!(fs::read_to_string(real).unwrap(), "new");
        assert_eq!(
            fs::read_link(files.path("link")).unwrap(),
            Path::new("folder/real")
        );

        let refused =
            |name: &str, existing| AtomicFile::prepare(&files.path(name), existing).unwrap_err();
        let in_words = |name: &str| refused(name, Existing::Replace).to_string();
        assert_eq!(
            in_words("dangling"),
            "it is a symbolic link that leads nowhere"
        );
        assert_eq!(in_words("fifo"), "it is no regular file");
        let kind = |name: &str| refused(name, Existing::Replace).kind();
        assert_eq!(kind("directory"), ErrorKind::IsADirectory);
        assert_eq!(kind("directory/missing/.."), ErrorKind::IsADirectory);
        refused("loop", Existing::Replace);
        for name in ["link", "dangling", "fifo", "loop"] {
            assert_eq!(
                refused(name, Existing::Keep).kind(),
                ErrorKind::AlreadyExists,
                "{name}"
            );
        }
        assert_eq!(files.names(), before);
    }
}
