//! Files left in the folder when a process that spills is killed, and the error when it may write
//! no more: children of this process, which run the test `a_child` below.

use std::{
    env, fs,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    thread,
    time::Duration,
};

use psijoin_files::spill::{Budget, Folder, Spill, Store};

/// The folder that a child spills to.
const FOLDER: &str = "PSIJOIN_SPILL_TEST_FOLDER";

/// The line that a child prints when it has spilled all.
const SPILLED: &str = "has spilled 1000000 bytes";

/// In a child only: spills, prints so, and waits for its end.
#[test]
fn a_child() {
    let Some(folder) = env::var_os(FOLDER) else {
        return;
    };
    let store = Store::new(3, 10, &Spill::new(Budget::new(0), Folder::new(folder)));
    for turn in 0..100 {
        if let Err(error) = store.append(turn % 3, &[b'x'; 10_000]) {
            eprintln!("{error}");
            return;
        }
    }
    eprintln!("has spilled {} bytes", store.spilled_bytes());
    thread::sleep(Duration::from_secs(600));
}

/// Starts a child by a shell that runs `first` before it. Returns it, and the first line that it
/// prints.
fn child(folder: &Path, first: &str) -> (Child, String) {
    let command = format!("{first} exec \"$0\" --exact a_child --nocapture 2>&1");
    let mut child = Command::new("sh")
        .args(["-c", &command])
        .arg(env::current_exe().unwrap())
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let said = said(child.stdout.take().unwrap());
    (child, said)
}

fn said(output: ChildStdout) -> String {
    let lines = BufReader::new(output).lines().map_while(Result::ok);
    let mut lines = lines.filter(|line| line.contains("spilled") || line.contains("no more room"));
    lines.next().unwrap_or_default()
}

fn names(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn a_killed_process_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, said) = child(folder.path(), "");
    let open = open_file(child.id(), folder.path());
    let before = names(folder.path());
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(said, SPILLED);
    let bytes = open.expect("its file is open, and has no name");
    assert_eq!(bytes.len(), 1_000_000);
    assert!(bytes.windows(6).all(|window| window != b"xxxxxx"));
    assert_eq!([before, names(folder.path())], [0, 0]);
}

/// Returns what is in the file that another process has open in this folder, as the kernel shows
/// it.
fn open_file(process: u32, folder: &Path) -> Option<Vec<u8>> {
    let links = fs::read_dir(format!("/proc/{process}/fd")).ok()?;
    let mut links = links.filter_map(|link| Some(link.ok()?.path()));
    let link = links.find(|link| fs::read_link(link).is_ok_and(|to| to.starts_with(folder)))?;
    let mut bytes = Vec::new();
    fs::File::open(link).ok()?.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The limit is told by a signal, which would end the process; without it, by an error.
#[test]
fn a_process_that_may_write_no_more_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, said) = child(folder.path(), "trap '' XFSZ; ulimit -f 64;");
    child.wait().unwrap();
    let path = psijoin_printable::path(folder.path());
    let expected =
        format!("no more room in {path} for what does not fit into memory: File too large");
    assert!(said.starts_with(&expected), "{said}");
    assert_eq!(names(folder.path()), 0);
}
