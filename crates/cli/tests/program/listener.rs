//! Strangers at a listener: nothing that is not authenticated ends or starves the wait.

use std::{
    collections::VecDeque,
    io::Write,
    net::TcpStream,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use psijoin_transport::{Connection, Identity, Options, Security, Timeouts};

use crate::support::{Folder, PATIENCE, Process, lines, run, trust};

/// Connections of the flood, of five kinds.
const FLOOD: usize = 10_000;

/// Threads that make them.
const FLOODERS: usize = 8;

/// Connections that a thread keeps open.
const KEPT: usize = 60;

/// The first record of a TLS client, as far as the length of its handshake message: more is due.
const HALF_A_HANDSHAKE: [u8; 9] = [0x16, 3, 1, 0, 200, 1, 0, 0, 196];

/// A TLS alert: the other's certificate is not known.
const CERTIFICATE_UNKNOWN: [u8; 7] = [0x15, 3, 3, 0, 2, 2, 46];

struct Listening {
    folder: Folder,
    receiver: Process,
    address: String,
    sender: [String; 4],
    fingerprint: String,
}

impl Listening {
    /// Returns a receiver that listens, with TLS.
    fn start(more: &[&str]) -> Self {
        let folder = Folder::new();
        let trust = trust(&folder);
        let table = folder.file("mine", lines(0..1000));
        let own: Vec<_> = trust.receiver.iter().map(String::as_str).collect();
        let args = [&["--input", &table], &own[..], more].concat();
        let (receiver, address) = Process::listen("receive", &args);
        Self {
            folder,
            receiver,
            address,
            fingerprint: trust.sender[3].clone(),
            sender: trust.sender,
        }
    }

    /// Lets the true peer join, which gets its result; returns the time of that.
    fn join(self) -> Duration {
        let theirs = self.folder.file("theirs", lines(900..1100));
        let trust: Vec<_> = self.sender.iter().map(String::as_str).collect();
        let args = ["send", "--connect", &self.address, "--input", &theirs];
        let started = Instant::now();
        run(&[&args[..], &trust].concat()).says(0, &[]);
        let took = started.elapsed();
        let receiver = self.receiver.end();
        receiver.says(0, &["100 shared keys"]);
        assert_eq!(receiver.stdout, lines(900..1000));
        took
    }

    fn say(&self, bytes: &[u8]) -> TcpStream {
        let mut socket = TcpStream::connect(&self.address).unwrap();
        socket.write_all(bytes).unwrap();
        socket
    }
}

/// Returns what tries to set up TLS with a key that nobody expects.
fn stranger(peer: &str, meet: Duration) -> Options {
    let mut options = Options::new(Security::PinnedTls {
        identity: Identity::generate().unwrap(),
        peer: peer.parse().unwrap(),
    });
    options.timeouts = Timeouts {
        meet,
        ..Timeouts::default()
    };
    options
}

#[test]
fn a_byte_an_alert_and_another_key_do_not_end_the_wait() {
    let mut listening = Listening::start(&[]);
    drop(listening.say(b"p"));
    drop(listening.say(&CERTIFICATE_UNKNOWN));
    let options = stranger(&listening.fingerprint, PATIENCE);
    let error = Connection::connect(&listening.address.parse().unwrap(), &options).unwrap_err();
    assert!(error.to_string().contains("refused"), "{error}");
    listening.receiver.wait_for("identified itself as");
    listening.join();
}

#[test]
fn who_is_mistaken_learns_it_from_the_log_and_at_the_end() {
    let listening = Listening::start(&["--wait", "10"]);
    let mistaken = [
        "send",
        "--connect",
        &listening.address,
        "--insecure-plaintext",
        "--input",
        &listening.folder.path("mine"),
        "--wait",
        "5",
    ];
    run(&mistaken).says(5, &["disagree on encryption"]);
    let ended = listening.receiver.end();
    ended.says(
        4,
        &["the other party did not connect", "disagree on encryption"],
    );
    assert!(
        ended.stderr.matches("disagree on encryption").count() >= 2,
        "{ended:#?}"
    );
}

/// Makes connections of all five kinds until it is over, and keeps the last of them open.
fn flood(address: &str, fingerprint: &str, made: &AtomicUsize, is_over: &AtomicBool) {
    let options = stranger(fingerprint, Duration::from_secs(1));
    let mut kept = VecDeque::new();
    while !is_over.load(Ordering::Relaxed) {
        let said: &[u8] = match made.fetch_add(1, Ordering::Relaxed) % 5 {
            0 => b"",
            1 => b"p",
            2 => b"\x00\xffgarbage\r\n\r\n",
            3 => &HALF_A_HANDSHAKE,
            _ => {
                let _ = Connection::connect(&address.parse().unwrap(), &options);
                continue;
            }
        };
        let Ok(mut socket) = TcpStream::connect(address) else {
            continue;
        };
        let _ = socket.write_all(said);
        kept.push_back(socket);
        if kept.len() > KEPT {
            kept.pop_front();
        }
    }
}

/// Says that it is over when it is dropped.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn ten_thousand_strangers_do_not_keep_the_true_peer_out() {
    // A busy machine needs minutes for so many.
    let listening = Listening::start(&["--wait", "3600"]);
    let (address, fingerprint) = (listening.address.clone(), listening.fingerprint.clone());
    let (made, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        for _ in 0..FLOODERS {
            scope.spawn(|| flood(&address, &fingerprint, &made, &is_over));
        }
        // Otherwise a join that fails would leave them at it for ever.
        let over = End(&is_over);
        // In the midst of it: the listener continues.
        while made.load(Ordering::Relaxed) < FLOOD {
            thread::sleep(Duration::from_millis(1));
        }
        let took = listening.join();
        drop(over);
        eprintln!("the true peer was done within {took:?}");
        // A seventh of a second where it was measured. A busy machine takes more, but not as long
        // as those who never speak are heard.
        assert!(took < Duration::from_secs(30), "{took:?}");
    });
}
