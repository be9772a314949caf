//! Starts the program, and waits for its output.

use std::{
    fmt::{self, Display},
    fs::{self, File},
    io::{BufRead, BufReader, Read},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{self, Child, Command, Stdio},
    sync::{
        atomic::{AtomicU32, Ordering},
        mpsc::{self, Receiver},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use arrow_array::{ArrayRef, RecordBatch};
use parquet::arrow::ArrowWriter;
use serde_json::Value;
use tempfile::TempDir;

use crate::PROGRAM;

/// Longer than anything takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// Returns an address at which nobody listens, and nobody will unless told to: below the ports that
/// the system gives to whoever connects, and another one at each call.
pub(crate) fn free_address() -> String {
    const PORTS: std::ops::Range<u32> = 12_000..32_000;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        // Processes that run at the same time begin elsewhere.
        let nth = (process::id() % 10_000) * 61 + NEXT.fetch_add(1, Ordering::Relaxed);
        let port = PORTS.start + nth % (PORTS.end - PORTS.start);
        let address = format!("127.0.0.1:{port}");
        if TcpListener::bind(&address).is_ok() {
            return address;
        }
    }
}

/// A folder with a test's files.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Writes a file, and returns its path as an argument.
    pub(crate) fn file(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        fs::write(self.0.path().join(name), text).unwrap();
        self.path(name)
    }

    /// Writes a file that only its owner can read, and returns its path as an argument.
    pub(crate) fn secret(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.file(name, text);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        path
    }

    /// Returns the path of a file as an argument.
    pub(crate) fn path(&self, name: &str) -> String {
        let path: PathBuf = self.0.path().join(name);
        path.to_str().unwrap().to_owned()
    }

    /// Writes a Parquet file of these columns, and returns its path as an argument.
    pub(crate) fn parquet(&self, name: &str, columns: Vec<(&str, ArrayRef)>) -> String {
        let columns = columns.into_iter().map(|(name, array)| (name, array, true));
        let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
        let file = File::create(self.0.path().join(name)).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        self.path(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap()
    }

    /// Returns the names of all files, hidden ones included.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// The remains of a process.
#[derive(Debug)]
pub(crate) struct Ended {
    /// As it would be typed.
    pub(crate) command: String,
    /// `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// Asserts the exit code, and that standard error has all these texts. For all that is said
    /// there is [`assert_said`].
    #[track_caller]
    pub(crate) fn says(&self, code: i32, texts: &[&str]) -> &Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        for text in texts {
            assert!(self.stderr.contains(text), "{text:?} in {self:#?}");
        }
        assert!(!self.stderr.contains("panicked"), "{self:#?}");
        self
    }
}

/// Asserts that each ended with this exit code.
#[track_caller]
pub(crate) fn all_exit(processes: &[Ended], code: i32) {
    for ended in processes {
        ended.says(code, &[]);
    }
}

/// As [`all_exit`], and that none wrote a result to standard output.
#[track_caller]
pub(crate) fn all_exit_without_result(processes: &[Ended], code: i32) {
    all_exit(processes, code);
    for ended in processes {
        assert_eq!(ended.stdout, "");
    }
}

/// For snapshots.
impl Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "$ {}", self.command)?;
        for (stream, text) in [("error", &self.stderr), ("output", &self.stdout)] {
            if !text.is_empty() {
                let end = if text.ends_with('\n') { "" } else { "\n" };
                write!(f, "-- standard {stream}\n{text}{end}")?;
            }
        }
        match self.code {
            Some(code) => writeln!(f, "-- exit code {code}"),
            None => writeln!(f, "-- ended by a signal"),
        }
    }
}

/// Asserts that these processes were started, ended and said as the test's snapshot has it. Texts
/// of files can stand among them.
///
/// One snapshot per test: the messages of both sides of a join are together. Not for messages that
/// may come or not, as a matter of time.
macro_rules! assert_said {
    ($said:expr) => {
        insta::with_settings!(
            { filters => $crate::support::VARYING, omit_expression => true },
            { insta::assert_snapshot!($crate::support::transcript(&$said)) }
        )
    };
}
pub(crate) use assert_said;

/// Returns all in their order, for [`assert_said`].
pub(crate) fn transcript(said: &[impl Display]) -> String {
    let said: Vec<_> = said.iter().map(ToString::to_string).collect();
    said.join("\n")
}

/// The texts that differ from run to run, or from machine to machine, and their placeholders in
/// snapshots; also the figures of a protocol, which are no words and are tested elsewhere.
pub(crate) const VARYING: [(&str, &str); 24] = [
    (r#"(?:/[^\s/"'`]+)*/\.tmp\w{6}"#, "[FOLDER]"),
    (r"127\.0\.0\.1:\d{4,5}", "127.0.0.1:[PORT]"),
    (r"psi1(-\w{4}){7}", "[FINGERPRINT]"),
    (r"[A-Z][^:;\n]* \(os error \d+\)", "[OS ERROR]"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", "[TIME]"),
    (r"done in [\d.]+ m?s:", "done in [TIME]:"),
    (r"connection within [\d.]+ s", "connection within [TIME]"),
    (r"\b[\d.]+ [kMG]?B( to move| of traffic|,)", "[BYTES]$1"),
    (r"(?m)^[\d.]+ m?s, \[BYTES\]", "[TIME], [BYTES]"),
    (
        r"round trip [^,\n]*, from the other party .*",
        "round trip [TIME], from the other party [RATE]",
    ),
    (
        r"the network: .* there and back, .*",
        "the network: [MEASURED]",
    ),
    (r"will take about [^;\n]*;", "will take about [TIME];"),
    (r"memory for [\d,]+", "memory for [COUNT]"),
    (
        r"(psijoin|psijoin-lab|Unicode) \d+\.\d+\.\d+",
        "$1 [VERSION]",
    ),
    (r"`[0-9a-f]{16}`", "`[DIGEST]`"),
    // Blanks at the ends of lines, which clap leaves.
    (r"(?m) +$", ""),
    // Reports.
    (r#"("psijoin": ?)"[\d.]+""#, r#"$1"[VERSION]""#),
    (r#"("session": ?)"\w{32}""#, r#"$1"[SESSION]""#),
    (r#"("(?:seconds|threads)": ?)[\d.e-]+"#, "$1[NUMBER]"),
    (
        r#"("(?:round_trip_micros|incoming_bits_per_second)": ?)\d+"#,
        "$1[NUMBER]",
    ),
    (r#"("\w+_bytes": ?)\w+"#, "$1[BYTES]"),
    (r#"("parameters": ?)\{[^}]*\}"#, "$1[NUMBERS]"),
    (r#"("failure_log2": ?)\{[^}]*\}"#, "$1[NUMBERS]"),
    (r#"("total_failure_log2": ?)[\d.-]+"#, "$1[NUMBER]"),
];

/// Returns a command as it would be typed, without the words that start the program for it.
fn shown(command: &Command) -> String {
    let words = [command.get_program()]
        .into_iter()
        .chain(command.get_args());
    let words = words.skip_while(|word| *word != PROGRAM).skip(1);
    let words = words.map(|word| {
        let word = word.to_str().unwrap();
        let is_plain = |c: char| c.is_alphanumeric() || "-_./:,=+%^".contains(c);
        match !word.is_empty() && word.chars().all(is_plain) {
            true => word.to_owned(),
            false => format!("'{word}'"),
        }
    });
    let name = Path::new(PROGRAM).file_stem().unwrap().to_str().unwrap();
    [name.to_owned()]
        .into_iter()
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}

/// The folder where the program keeps its user's files, unless a test chooses another.
pub(crate) const HOME: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/home");

/// A running process.
pub(crate) struct Process {
    command: String,
    child: Child,
    stdout: Option<JoinHandle<String>>,
    stderr: Receiver<String>,
    said: String,
}

impl Process {
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::start_with(args, quiet)
    }

    pub(crate) fn start_with(
        args: &[&str],
        streams: impl FnOnce(&mut Command) -> &mut Command,
    ) -> Self {
        let mut command = Command::new(PROGRAM);
        streams(command.args(args));
        Self::spawn(command)
    }

    /// Starts a party that listens, and tells its address.
    #[track_caller]
    pub(crate) fn listen(party: &str, args: &[&str]) -> (Self, String) {
        Self::listen_with(party, args, quiet)
    }

    #[track_caller]
    pub(crate) fn listen_with(
        party: &str,
        args: &[&str],
        streams: impl FnOnce(&mut Command) -> &mut Command,
    ) -> (Self, String) {
        let args = [&[party, "--listen", "127.0.0.1:0"], args].concat();
        let mut process = Self::start_with(&args, streams);
        let address = process.address();
        (process, address)
    }

    /// Starts the program, which logs at this level.
    pub(crate) fn start_logging(level: &str, args: &[&str]) -> Self {
        let mut command = Command::new(PROGRAM);
        quiet(command.args(args)).env("PSIJOIN_LOG", level);
        Self::spawn(command)
    }

    /// Starts the program with this address space, in KiB.
    #[cfg(target_os = "linux")]
    pub(crate) fn start_limited(kibibytes: u64, args: &[&str]) -> Self {
        Self::start_limited_with(kibibytes, "0", args)
    }

    /// As [`start_limited`](Self::start_limited), with a value of `RUST_BACKTRACE`.
    #[cfg(target_os = "linux")]
    pub(crate) fn start_limited_with(kibibytes: u64, backtrace: &str, args: &[&str]) -> Self {
        let mut command = Command::new("bash");
        let limit = format!("ulimit -v {kibibytes} && exec \"$0\" \"$@\"");
        let program = ["-c", &limit, PROGRAM];
        quiet(command.args(program).args(args)).env("RUST_BACKTRACE", backtrace);
        Self::spawn(command)
    }

    /// Starts the program, whose files may have this many blocks of 512 bytes: what it writes
    /// beyond fails as on a full disk.
    #[cfg(target_os = "linux")]
    pub(crate) fn start_with_small_files(blocks: u32, args: &[&str]) -> Self {
        let mut command = Command::new("sh");
        let limit = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let program = ["-c", &limit, PROGRAM];
        quiet(command.args(program).args(args));
        Self::spawn(command)
    }

    /// Starts a command whose standard input and output are set.
    pub(crate) fn spawn(mut command: Command) -> Self {
        // Help is as wide as the terminal.
        command.env_remove("COLUMNS");
        let is_set = |command: &Command, name| command.get_envs().any(|(set, _)| set == name);
        if !is_set(&command, "PSIJOIN_LOG") {
            command.env_remove("PSIJOIN_LOG");
        }
        if !is_set(&command, "PSIJOIN_HOME") {
            command.env("PSIJOIN_HOME", HOME);
        }
        let shown = shown(&command);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        // It holds this side's copies of the child's streams.
        drop(command);
        let stdout = child.stdout.take().map(|mut stdout| {
            thread::spawn(move || {
                let mut text = Vec::new();
                stdout.read_to_end(&mut text).unwrap();
                String::from_utf8(text).unwrap()
            })
        });
        let (lines, stderr) = mpsc::channel();
        let reader = BufReader::new(child.stderr.take().unwrap());
        thread::spawn(move || {
            for line in reader.lines() {
                let _ = lines.send(line.unwrap());
            }
        });
        Self {
            command: shown,
            child,
            stdout,
            stderr,
            said: String::new(),
        }
    }

    /// Watches the most memory that the process has held, until it ends.
    #[cfg(target_os = "linux")]
    pub(crate) fn peak_memory(&self) -> JoinHandle<u64> {
        let status = format!("/proc/{}/status", self.child.id());
        thread::spawn(move || {
            let mut peak = 0;
            // The file has nothing about a process that has ended.
            while let Ok(status) = fs::read_to_string(&status)
                && let Some(kibibytes) = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))
            {
                let kibibytes = kibibytes.trim().trim_end_matches(" kB");
                peak = kibibytes.parse::<u64>().unwrap() * 1024;
                thread::sleep(Duration::from_millis(5));
            }
            peak
        })
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a line on standard error that holds `text`.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) -> String {
        loop {
            let Ok(line) = self.stderr.recv_timeout(PATIENCE) else {
                panic!("waiting for {text:?}, but it said: {}", self.said);
            };
            self.note(&line);
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Waits for the address that a listening process got.
    #[track_caller]
    pub(crate) fn address(&mut self) -> String {
        let line = self.wait_for("listening on ");
        let (_, rest) = line.split_once("listening on ").unwrap();
        rest.split(';').next().unwrap().to_owned()
    }

    /// As [`address`](Self::address), unless the process ends before.
    #[cfg(target_os = "linux")]
    pub(crate) fn address_if_any(&mut self) -> Option<String> {
        while let Ok(line) = self.stderr.recv_timeout(PATIENCE) {
            self.note(&line);
            if let Some((_, rest)) = line.split_once("listening on ") {
                return rest.split(';').next().map(str::to_owned);
            }
        }
        None
    }

    /// Waits until it has a file in this folder open, with or without a name.
    #[cfg(target_os = "linux")]
    #[track_caller]
    pub(crate) fn wait_for_open_file(&self, folder: &str) {
        let deadline = Instant::now() + PATIENCE;
        let is_there = |file: fs::DirEntry| {
            fs::read_link(file.path()).is_ok_and(|path| path.starts_with(folder))
        };
        loop {
            let open = fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap();
            if open.flatten().any(is_there) {
                return;
            }
            assert!(Instant::now() < deadline, "it opens no file in {folder}");
            thread::sleep(Duration::from_millis(1));
        }
    }

    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill")
            .args(["-s", name, &self.child.id().to_string()])
            .status();
        assert!(status.unwrap().success());
    }

    #[track_caller]
    pub(crate) fn end(mut self) -> Ended {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if Instant::now() > deadline {
                self.child.kill().unwrap();
                panic!("it does not end; it said: {}", self.said);
            }
            thread::sleep(Duration::from_millis(10));
        };
        while let Ok(line) = self.stderr.recv() {
            self.note(&line);
        }
        Ended {
            command: self.command,
            code: status.code(),
            stdout: self
                .stdout
                .map_or(String::new(), |reader| reader.join().unwrap()),
            stderr: self.said,
        }
    }

    fn note(&mut self, line: &str) {
        self.said.push_str(line);
        self.said.push('\n');
    }
}

/// Empty standard input; standard output is kept.
fn quiet(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::piped())
}

/// Returns a pipe that nobody reads.
pub(crate) fn closed_pipe() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

/// Runs the program to its end.
#[track_caller]
pub(crate) fn run(args: &[&str]) -> Ended {
    Process::start(args).end()
}

/// Returns the JSON objects in a text, one a line.
pub(crate) fn objects(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The remains of a receiver and a sender.
pub(crate) struct Joined {
    pub(crate) receiver: Ended,
    pub(crate) sender: Ended,
}

impl Joined {
    /// Returns both; the receiver first.
    pub(crate) fn both(self) -> [Ended; 2] {
        [self.receiver, self.sender]
    }

    #[track_caller]
    fn of((receiver, sender): (Process, Process)) -> Self {
        Self {
            receiver: receiver.end(),
            sender: sender.end(),
        }
    }
}

/// Starts a receiver that listens, with the standard streams that `streams` gives it, and a
/// sender that connects to it.
#[track_caller]
pub(crate) fn start_pair_with(
    receiver: &[&str],
    sender: &[&str],
    streams: impl FnOnce(&mut Command) -> &mut Command,
) -> (Process, Process) {
    let (receiver, address) = Process::listen_with("receive", receiver, streams);
    let sender = Process::start(&[&["send", "--connect", &address], sender].concat());
    (receiver, sender)
}

/// As [`start_pair_with`], where standard input is empty and standard output is kept.
#[track_caller]
pub(crate) fn start_pair(receiver: &[&str], sender: &[&str]) -> (Process, Process) {
    start_pair_with(receiver, sender, quiet)
}

/// Runs both to their ends.
#[track_caller]
pub(crate) fn join(receiver: &[&str], sender: &[&str]) -> Joined {
    Joined::of(start_pair(receiver, sender))
}

/// As [`join`], with the receiver's standard streams.
#[track_caller]
pub(crate) fn join_with(
    receiver: &[&str],
    sender: &[&str],
    streams: impl FnOnce(&mut Command) -> &mut Command,
) -> Joined {
    Joined::of(start_pair_with(receiver, sender, streams))
}

/// Two parties' identities, as arguments.
pub(crate) struct Trust {
    pub(crate) receiver: [String; 4],
    pub(crate) sender: [String; 4],
}

/// Makes both parties' identities.
pub(crate) fn trust(folder: &Folder) -> Trust {
    let identity = |name: &str| {
        let path = folder.path(name);
        let made = run(&["keygen", "--out", &path]);
        made.says(0, &[name]);
        (path, made.stdout.trim().to_owned())
    };
    let (receiver, receiver_is) = identity("receiver.pem");
    let (sender, sender_is) = identity("sender.pem");
    let args =
        |identity: &str, peer: &str| ["--identity", identity, "--peer", peer].map(str::to_owned);
    Trust {
        receiver: args(&receiver, &sender_is),
        sender: args(&sender, &receiver_is),
    }
}

/// Writes the receiver's and the sender's tables with equal ids, where each row of the receiver has
/// a text of this many bytes.
pub(crate) fn long_rows(folder: &Folder, ids: u32, bytes: usize) -> [String; 2] {
    let text = "x".repeat(bytes);
    let rows: String = (0..ids).map(|id| format!("{id},{text}\n")).collect();
    let keys: String = (0..ids).map(|id| format!("{id}\n")).collect();
    [
        folder.file("mine.csv", "id,text\n".to_owned() + &rows),
        folder.file("theirs.csv", "id\n".to_owned() + &keys),
    ]
}

/// Returns lines `from..to` as a text.
pub(crate) fn lines(range: std::ops::Range<u32>) -> String {
    range.map(|line| format!("word {line}\n")).collect()
}

/// Returns whether a path exists.
pub(crate) fn exists(path: &str) -> bool {
    Path::new(path).exists()
}
