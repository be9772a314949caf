//! Everything that a relay and a folder ever hold of a session, searched for what the parties have:
//! keys, names, settings, rows.

use std::{
    fs,
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    process::Stdio,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use crate::support::{Folder, Process, Trust, trust};

use secrets::Secrets;
use synchronised::Synchronised;

mod secrets;
pub(crate) mod synchronised;

/// Words that only the tables and the command lines of this test have.
const WORDS: [&str; 10] = [
    "qanzu_mail",
    "qevro_post",
    "qilto_plan",
    "qomfi_since",
    "qarbel@qusto.example",
    "qindra@qusto.example",
    "qodamgold",
    "qatables",
    "qunbob",
    "quinann",
];

/// Words that the parties say to each other about any such session. The program has them in its
/// own memory.
const SETTINGS: [&str; 6] = [
    "protocol version",
    "spelling",
    "output",
    "email",
    "columns",
    "joint seed",
];

/// Two parties, the receiver first, and what nobody else may see.
struct Parties {
    folder: Folder,
    /// The arguments by which each knows the other.
    known: [Vec<String>; 2],
    secrets: Secrets,
}

impl Parties {
    /// Makes parties that have tables, and do not know each other.
    fn strange() -> Self {
        let folder = Folder::new();
        fs::create_dir(folder.path("qatables")).unwrap();
        let rows = |header: &str, from: usize, rest: &str| {
            let rows = (from..from + 500).map(|row| format!("q{row}@qusto.example{rest}\n"));
            format!("{header}\nqarbel@qusto.example{rest}\n") + &rows.collect::<String>()
        };
        folder.file("qatables/receive.csv", rows("qanzu_mail", 0, ""));
        let header = "qevro_post,qilto_plan,qomfi_since";
        let theirs = rows(header, 250, ",qodamgold,2020") + "qindra@qusto.example,none,2021\n";
        folder.file("qatables/send.csv", theirs);
        Self {
            folder,
            known: Default::default(),
            secrets: Secrets::new(&WORDS),
        }
    }

    /// Makes parties that know each other by fingerprints.
    fn new() -> Self {
        let mut parties = Self::strange();
        let Trust { receiver, sender } = trust(&parties.folder);
        for party in [&receiver, &sender] {
            parties.secrets.add_identity(&party[1]);
        }
        parties.known = [receiver, sender].map(Vec::from);
        parties
    }

    /// Makes parties of which one has invited the other to a relay, and which call each other by
    /// names.
    fn invited(relay: &str) -> Self {
        let mut parties = Self::strange();
        let invite = ["invite", "qunbob", "--relay", relay, "--as", "quinann"];
        let invited = parties.start("receive", &invite).end();
        let link = invited.says(0, &[]).stdout.trim();
        parties.start("send", &["accept", link]).end().says(0, &[]);
        parties.secrets.add_link(link);
        parties.known =
            ["qunbob", "quinann"].map(|name| vec!["--peer".to_owned(), name.to_owned()]);
        parties
    }

    /// Looks up what the parties keep of each other.
    fn add_kept(&mut self) {
        for role in ["receive", "send"] {
            let home = self.folder.path(role);
            self.secrets.add_identity(&format!("{home}/identity.pem"));
            self.secrets.add_peers(&format!("{home}/peers.toml"));
        }
    }

    /// Lets both join, each by a way of its own.
    fn join(&self, ways: [&[&str]; 2]) {
        let own = [
            ("receive", "qanzu_mail", "--take"),
            ("send", "qevro_post", "--give"),
        ];
        let running = [0, 1].map(|party| {
            let (role, key, shares) = own[party];
            let (input, rules) = (format!("qatables/{role}.csv"), format!("{key}=email"));
            let input = self.folder.path(&input);
            let table = ["--input", &input, "--key", key, "--normalize", &rules];
            let columns = [shares, "qilto_plan,qomfi_since", "--wait", "60"];
            let known: Vec<_> = self.known[party].iter().map(String::as_str).collect();
            let args = [&[role][..], &table, &columns, &known, ways[party]];
            self.start(role, &args.concat())
        });
        let [receiver, sender] = running.map(Process::end);
        receiver.says(0, &["251 shared keys"]);
        sender.says(0, &[]);
    }

    /// Starts the program for the party with this role.
    fn start(&self, role: &str, args: &[&str]) -> Process {
        Process::start_with(args, |command| {
            let quiet = command.stdin(Stdio::null()).stdout(Stdio::piped());
            quiet.env("PSIJOIN_HOME", self.folder.path(role))
        })
    }

    /// Asserts that nothing secret is in what somebody has held, and that something is whom the
    /// search must find.
    #[track_caller]
    fn assert_hidden(&self, held: &[u8], is_there: &[u8]) {
        assert_eq!(self.secrets.within(held), [""; 0]);
        let is_found = held.windows(is_there.len()).any(|part| part == is_there);
        assert!(is_found, "the search is wrong: this has nothing at all");
    }
}

/// Everything that has passed, in each connection and direction.
type Tape = Arc<Mutex<Vec<Vec<u8>>>>;

/// Returns the address of somebody who leads to a relay, and keeps what passes.
fn tap(relay: &str, tape: &Tape) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (relay, tape) = (relay.to_owned(), tape.clone());
    thread::spawn(move || {
        for near in listener.incoming() {
            let (near, far) = (near.unwrap(), TcpStream::connect(&relay).unwrap());
            let ways = [
                (near.try_clone().unwrap(), far.try_clone().unwrap()),
                (far, near),
            ];
            for (from, to) in ways {
                let tape = tape.clone();
                thread::spawn(move || carry(from, to, &tape));
            }
        }
    });
    address
}

fn carry(mut from: TcpStream, mut to: TcpStream, tape: &Tape) {
    let mine = {
        let mut all = tape.lock().unwrap();
        all.push(Vec::new());
        all.len() - 1
    };
    let mut piece = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut piece) {
        tape.lock().unwrap()[mine].extend_from_slice(&piece[..length]);
        if to.write_all(&piece[..length]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

#[test]
fn what_passes_a_relay_tells_nothing() {
    let (_relay, address) = Process::listen("relay", &[]);
    let parties = Parties::new();
    for scheme in ["", "ws://"] {
        let tape = Tape::default();
        let place = format!("{scheme}{}", tap(&address, &tape));
        let way = ["--relay", &*place];
        parties.join([&way, &way]);
        let passed = unmasked(&tape.lock().unwrap(), scheme);
        parties.assert_hidden(&passed, b"psirelay");
        assert_eq!(Secrets::new(&SETTINGS).within(&passed), [""; 0]);
    }
}

#[test]
fn what_passes_a_relay_tells_no_name_and_no_invitation() {
    let (_relay, address) = Process::listen("relay", &[]);
    let tape = Tape::default();
    let mut parties = Parties::invited(&tap(&address, &tape));
    // The first time by the invitation, the second time as those who know each other.
    parties.join([&[], &[]]);
    parties.join([&[], &[]]);
    parties.add_kept();
    parties.assert_hidden(&tape.lock().unwrap().concat(), b"psirelay");
}

/// Returns all that has passed, out of the frames of a WebSocket if there are any.
fn unmasked(tape: &[Vec<u8>], scheme: &str) -> Vec<u8> {
    use psijoin_transport::websocket::{Decoder, Event, Role};

    if scheme.is_empty() {
        return tape.concat();
    }
    let mut all = tape.concat();
    for passed in tape {
        let Some(head) = passed.windows(4).position(|end| end == b"\r\n\r\n") else {
            continue;
        };
        let from = match passed.starts_with(b"GET ") {
            true => Role::Client,
            false => Role::Server,
        };
        let (mut decoder, mut frames) = (Decoder::new(from), passed[head + 4..].to_vec());
        let mut rest = &mut frames[..];
        while let Ok(Some(event)) = decoder.next_event(&mut rest) {
            if let Event::Data(data) = event {
                all.extend_from_slice(data);
            }
        }
    }
    all
}

/// Words of the test that the relay holds, so that a search of its memory finds something.
#[cfg(target_os = "linux")]
const CONTROL: &str = "qubble-is-known-to-the-relay";

#[test]
#[cfg(target_os = "linux")]
fn the_memory_of_a_relay_tells_nothing() {
    let (relay, address) = Process::listen_with("relay", &[], |command| {
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::piped());
        quiet.env("QUBBLE", CONTROL)
    });
    let parties = Parties::new();
    let (is_over, process) = (AtomicBool::new(false), relay.id());
    let looks = thread::scope(|scope| {
        // While sessions run, and after.
        let looks = scope.spawn(|| {
            let mut looks = Vec::new();
            while !is_over.load(Relaxed) {
                looks.push(memory_of(process));
                thread::sleep(Duration::from_millis(100));
            }
            looks.push(memory_of(process));
            looks
        });
        for place in [address.clone(), format!("ws://{address}")] {
            let way = ["--relay", &*place];
            parties.join([&way, &way]);
        }
        is_over.store(true, Relaxed);
        looks.join().unwrap()
    });
    for memory in looks {
        let Ok(memory) = memory else {
            eprintln!("the memory of another process cannot be read here");
            return;
        };
        parties.assert_hidden(&memory, CONTROL.as_bytes());
    }
}

/// Returns all that a process can write to and has touched.
#[cfg(target_os = "linux")]
fn memory_of(process: u32) -> std::io::Result<Vec<u8>> {
    use std::os::unix::fs::FileExt;

    const PRESENT: u64 = 1 << 63;
    let of = |name: &str| format!("/proc/{process}/{name}");
    let page = rustix::param::page_size();
    let (memory, pages) = (fs::File::open(of("mem"))?, fs::File::open(of("pagemap"))?);
    let mut held = Vec::new();
    for map in fs::read_to_string(of("maps"))?.lines() {
        let (range, rest) = map.split_once(' ').unwrap();
        if !rest.starts_with("rw") {
            continue;
        }
        let (begin, end) = range.split_once('-').unwrap();
        let [begin, end] = [begin, end].map(|at| usize::from_str_radix(at, 16).unwrap() / page);
        let mut entries = vec![0; (end - begin) * 8];
        pages.read_exact_at(&mut entries, begin as u64 * 8)?;
        for (nth, entry) in entries.chunks(8).enumerate() {
            if u64::from_le_bytes(entry.try_into().unwrap()) & PRESENT == 0 {
                continue;
            }
            let length = held.len();
            held.resize(length + page, 0);
            let at = ((begin + nth) * page) as u64;
            // A thread's stack may be gone by now.
            if memory.read_exact_at(&mut held[length..], at).is_err() {
                held.truncate(length);
            }
        }
    }
    Ok(held)
}

#[test]
fn what_was_ever_in_a_folder_tells_nothing() {
    let parties = Parties::new();
    let folders = ["here", "there"].map(|name| parties.folder.path(name));
    for folder in &folders {
        fs::create_dir(folder).unwrap();
    }
    let is_over = AtomicBool::new(false);
    let program = Synchronised::new(folders.clone());
    let kept = thread::scope(|scope| {
        let keeps = scope.spawn(|| program.run(&is_over));
        let [mine, theirs] = folders.each_ref().map(|folder| ["--via", &**folder]);
        parties.join([&mine, &theirs]);
        is_over.store(true, Relaxed);
        keeps.join().unwrap()
    });
    parties.assert_hidden(&kept, b"first-");
    assert_eq!(Secrets::new(&SETTINGS).within(&kept), [""; 0]);
}

/// The search finds what a session without encryption shows.
#[test]
fn a_session_without_encryption_tells() {
    let listening = ["--insecure-plaintext"];
    let folder = Folder::new();
    let table = folder.file("table.csv", "qanzu_mail,qilto_plan\nx,qodamgold\n");
    let common = ["--input", &table, "--key", "qanzu_mail"];
    let takes = [&listening[..], &common, &["--take", "qilto_plan"]].concat();
    let (receiver, address) = Process::listen("receive", &takes);
    let tape = Tape::default();
    let place = tap(&address, &tape);
    let gives = ["send", "--connect", &place, "--give", "qilto_plan"];
    let sender = Process::start(&[&gives[..], &listening, &common].concat());
    sender.end().says(0, &[]);
    receiver.end().says(0, &[]);
    let passed = tape.lock().unwrap().concat();
    let words = Secrets::new(&WORDS);
    let found = words.within(&passed);
    assert!(found.contains(&"qilto_plan"), "{found:?}");
    assert!(!Secrets::new(&SETTINGS).within(&passed).is_empty());
}
