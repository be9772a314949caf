//! The start of the program: from the start of a party's process, whose table has a thousand rows,
//! to its first byte to the other side, without what it waits for that side.
//!
//! `cargo bench -p psijoin-cli --bench start` measures the program of this workspace, and
//! `… -- FILE` another binary. It needs Linux, which tells the processors' time of each thread.
//!
//! A party that connects has the bench as the other side. Its first byte begins TLS. For a party
//! that listens, the times are those to its word that it does, and from the first message of
//! another party, which the bench has kept, to the answer. Neither gets further.

#![allow(clippy::print_stdout)]

use std::{
    env,
    ffi::OsString,
    fmt::Write as _,
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, ChildStderr, Command, Stdio},
    time::{Duration, Instant},
};

const ROWS: u32 = 1_000;
const RUNS: usize = 30;

/// Time, and that of all processors.
#[derive(Clone, Copy)]
struct Cost {
    wall: Duration,
    processors: Duration,
}

fn main() {
    let given = env::args_os()
        .skip(1)
        .find(|argument| argument != "--bench");
    let program = given.unwrap_or_else(|| env!("CARGO_BIN_EXE_psijoin").into());
    let folder = tempfile::tempdir().expect("a folder");
    let party = Party::new(program, folder.path());
    let mut hello = Vec::new();
    let connecting = [(); RUNS].map(|()| party.connect(&mut hello));
    let listening = [(); RUNS].map(|()| party.listen(&hello));
    println!("of {RUNS} runs        wall, ms: minimum, median   processors, ms: minimum, median");
    print("start, connected, first byte", connecting);
    print("start, listening", listening.map(|[start, _]| start));
    print(
        "from a first message to the answer",
        listening.map(|[_, answer]| answer),
    );
}

/// A party's program, and what it is told beside its role and where it meets the other side.
struct Party {
    program: OsString,
    options: Vec<OsString>,
}

impl Party {
    fn new(program: OsString, folder: &Path) -> Self {
        let table = folder.join("table.csv");
        let mut text = String::from("email,amount\n");
        for row in 0..ROWS {
            writeln!(text, "u{row:010}@example.com,{}.25", row % 97).expect("memory is there");
        }
        fs::write(&table, text).expect("the table can be written");
        let [own, peer] = ["own", "peer"].map(|name| folder.join(name));
        let [_, peer] = [&own, &peer].map(|identity| {
            let mut keygen = Command::new(&program);
            let keygen = keygen.arg("keygen").arg("--out").arg(identity).output();
            String::from_utf8(keygen.expect("the program starts").stdout).expect("a fingerprint")
        });
        let mut options: Vec<OsString> = vec!["--input".into(), table.into()];
        options.extend(["--identity".into(), own.into()]);
        options.extend(["--peer", peer.trim(), "--key", "email"].map(OsString::from));
        Self { program, options }
    }

    /// Starts it, and returns its process and the first line that it says.
    fn start(&self, role: [&str; 3]) -> (Process, String) {
        let mut command = Command::new(&self.program);
        command
            .args(role)
            .args(&self.options)
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut words = BufReader::new(child.stderr.take().expect("it is piped"));
        let mut said = String::new();
        words.read_line(&mut said).expect("a text");
        (
            Process {
                child,
                _words: words,
            },
            said,
        )
    }

    /// Returns what a sender takes to its first byte, and keeps its first message.
    fn connect(&self, hello: &mut Vec<u8>) -> Cost {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let start = Instant::now();
        let (process, said) = self.start(["send", "--connect", &address]);
        assert!(said.starts_with("connecting"), "{said}");
        let (mut stream, _) = listener.accept().expect("the party connects");
        // A record of TLS, whose length is at the end of its head.
        hello.resize(5, 0);
        stream.read_exact(hello).expect("a first message");
        let cost = Cost {
            wall: start.elapsed(),
            processors: process.processors(),
        };
        hello.resize(5 + usize::from(u16::from_be_bytes([hello[3], hello[4]])), 0);
        stream.read_exact(&mut hello[5..]).expect("all of it");
        cost
    }

    /// Returns what a receiver takes until it listens, and from a first message to its answer.
    fn listen(&self, hello: &[u8]) -> [Cost; 2] {
        let start = Instant::now();
        let (process, said) = self.start(["receive", "--listen", "127.0.0.1:0"]);
        let started = Cost {
            wall: start.elapsed(),
            processors: process.processors(),
        };
        let address = said.strip_prefix("listening on ").expect(&said);
        let address = address.split(';').next().expect("an address");
        let start = Instant::now();
        let mut stream = TcpStream::connect(address).expect("the party listens");
        stream.write_all(hello).expect("it takes the message");
        stream.read_exact(&mut [0]).expect("an answer");
        let answered = Cost {
            wall: start.elapsed(),
            processors: process.processors() - started.processors,
        };
        [started, answered]
    }
}

/// A party that runs, until this is dropped.
struct Process {
    child: Child,
    /// What it says further has somewhere to go.
    _words: BufReader<ChildStderr>,
}

impl Process {
    /// Returns the time that all its threads have had so far.
    fn processors(&self) -> Duration {
        let threads = fs::read_dir(format!("/proc/{}/task", self.child.id())).expect("it runs");
        let nanoseconds = threads.map(|thread| {
            let path = thread.expect("a thread").path().join("schedstat");
            // The thread may have ended since.
            let told = fs::read_to_string(path).unwrap_or_default();
            told.split(' ')
                .next()
                .and_then(|first| first.parse().ok())
                .unwrap_or(0)
        });
        Duration::from_nanos(nanoseconds.sum())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn print(name: &str, costs: [Cost; RUNS]) {
    let figures = |of: fn(Cost) -> Duration| {
        let mut times = costs.map(of);
        times.sort_unstable();
        let [minimum, median] = [times[0], times[RUNS / 2]].map(|time| time.as_secs_f64() * 1e3);
        format!("{minimum:>8.1}, {median:>6.1}")
    };
    let [wall, processors] = [figures(|cost| cost.wall), figures(|cost| cost.processors)];
    println!("{name:<36}{wall:>16}{processors:>30}");
}
