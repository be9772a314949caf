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

use psijoin_table::{
    Destination, Dialect, Format, KeyTable, Progress, Source,
    atomic_file::{AtomicFile, Existing, remove_staged},
};

use crate::{Files, key, open};

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
    let input = files.text("t.csv", "id\n1\n");
    let source = open(&input);
    assert_eq!(
        Destination::prepare(Some(&path), &source, Existing::Keep)
            .unwrap_err()
            .to_string(),
        format!(
            "cannot create {}: it exists already, and is to be kept",
            path.display()
        )
    );

    // It appears while the rows are on their way.
    fs::remove_file(&path).unwrap();
    let file = AtomicFile::prepare(&path, Existing::Keep).unwrap();
    let destination = Destination::prepare(Some(&path), &source, Existing::Keep).unwrap();
    let progress = Progress::default();
    let keys = KeyTable::read(&source, &key(&[], &[]), &[], &progress).unwrap();
    let staged = file.stage(|output| output.write_all(b"new")).unwrap();
    let rows = destination.stage(&source, &keys.rows, &[true], &progress);
    files.text("out.csv", "other");
    let error = staged.commit().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!(
        rows.unwrap().commit().unwrap_err().to_string(),
        format!(
            "cannot write {}: it exists already, and is to be kept",
            path.display()
        )
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "other");
    assert_eq!(files.names(), ["out.csv", "t.csv"]);

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
const TASK: &str = "PSIJOIN_TABLE_TEST_TASK";

/// Returns a process that does `task` in this folder.
fn child_process(task: &str, folder: &Path) -> Command {
    as_child(Command::new(env::current_exe().unwrap()), task, folder)
}

fn as_child(mut command: Command, task: &str, folder: &Path) -> Command {
    command
        .args(["atomic_files::child", "--exact", "--nocapture"])
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
        Ok("spool") => spool(),
        #[cfg(unix)]
        Ok(mode) => unix::make_files_of_mode(u32::from_str_radix(mode, 8).unwrap()),
        _ => {}
    }
}

/// Stages rows, and hangs while it writes another file.
fn hang() {
    let source = open("t.csv".as_ref());
    let destination =
        Destination::prepare(Some("out.csv".as_ref()), &source, Existing::Replace).unwrap();
    let progress = Progress::default();
    let keys = KeyTable::read(&source, &key(&[], &[]), &[], &progress).unwrap();
    let _rows = destination.stage(&source, &keys.rows, &[true], &progress);
    let file = AtomicFile::prepare("report".as_ref(), Existing::Replace).unwrap();
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
    files.text("t.csv", "id\nsecret\n");
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
    assert_eq!(files.names(), ["out.csv", "ready", "t.csv"]);
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

fn spool() {
    let spooled = Source::spool(
        &b"a\n"[..],
        "stdin",
        Format::Lines,
        &Dialect::default(),
        &Progress::default(),
    );
    let error = spooled.unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("cannot keep stdin in a temporary file: ")
    );
    let folder = env::temp_dir();
    for text in [error.to_string(), format!("{error:?}")] {
        assert!(!text.contains(folder.to_str().unwrap()), "{text}");
    }
}

#[test]
fn a_stream_that_cannot_be_kept_tells_no_temporary_name() {
    let files = Files::new();
    let mut child = child_process("spool", files.0.path());
    let missing = files.path("missing");
    let status = child.env("TMPDIR", &missing).env("TMP", &missing).status();
    assert!(status.unwrap().success());
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

    /// Nobody gets more by putting a file there first than a new file would give.
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

        let source = open(&files.text("t.csv", "id\n1\n"));
        symlink("nowhere.csv", files.path("dangling.csv")).unwrap();
        let dangling = files.path("dangling.csv");
        let error = Destination::prepare(Some(&dangling), &source, Existing::Replace).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with(": it is a symbolic link that leads nowhere")
        );
        assert_eq!(error.kind(), psijoin_table::ErrorKind::Output);
        // A device is written whatever is to become of files.
        Destination::prepare(Some("/dev/null".as_ref()), &source, Existing::Keep).unwrap();
    }
}
