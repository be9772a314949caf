//! The other end is no honest party: silence, garbage, another version.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    thread,
};

use psijoin_handshake::{HELLO_BYTES, VERSION};

use crate::{
    older::PREAMBLE,
    support::{Ended, Folder, Process, all_exit, assert_said, free_address, run, trust},
};

/// Returns a frame that holds a message.
fn frame(message: &[u8]) -> Vec<u8> {
    let length = (message.len() as u32).to_le_bytes();
    [&[1], &length[..], message].concat()
}

/// Returns what the handshake of a party opens with that speaks this version alone.
fn opening(version: u16) -> Vec<u8> {
    const LAYOUT: u16 = 4;
    let numbers = [LAYOUT, version, version, 0].map(u16::to_le_bytes);
    [b"PSIJOIN\n", numbers.as_flattened()].concat()
}

/// A table, and where an output would go.
struct Files {
    folder: Folder,
    table: String,
    output: String,
}

impl Files {
    fn new() -> Self {
        let folder = Folder::new();
        let table = folder.file("table", "ann\n");
        let output = folder.path("shared");
        Self {
            folder,
            table,
            output,
        }
    }

    /// Starts a receiver that listens.
    fn listen(&self, more: &[&str]) -> (Process, String) {
        let files = ["--input", &self.table, "--output", &self.output];
        Process::listen("receive", &[&files[..], more].concat())
    }

    /// Returns a sender that connects to this address, without encryption, for a while.
    fn connect(&self, address: &str) -> Ended {
        let connect = ["send", "--connect", address, "--input", &self.table];
        run(&[&connect[..], &["--insecure-plaintext", "--wait", "5"]].concat())
    }

    /// Returns a receiver that listens, without encryption, hears these bytes and then nothing.
    fn hear(&self, bytes: &[u8], more: &[&str]) -> Ended {
        let (receiver, address) = self.listen(&[&["--insecure-plaintext"], more].concat());
        let mut socket = TcpStream::connect(address).unwrap();
        socket.write_all(bytes).unwrap();
        let ended = receiver.end();
        assert_eq!(self.folder.names(), ["table"], "no output");
        ended
    }
}

#[test]
fn two_listeners_are_told_that_one_must_connect() {
    let files = Files::new();
    let wait = ["--insecure-plaintext", "--wait", "1"];
    let said = [files.listen(&wait), files.listen(&wait)].map(|(receiver, address)| {
        let ended = receiver.end();
        ended.says(4, &[&format!("did not connect to {address} within 1 s")]);
        ended
    });
    assert_said!(said);
}

#[test]
fn who_connects_to_nobody_is_told_that_one_must_listen() {
    let files = Files::new();
    let ended = files.connect(&free_address());
    ended.says(4, &[]);
    assert_said!([ended]);
}

#[test]
fn who_connects_and_says_nothing_is_not_waited_for() {
    let files = Files::new();
    let ended = files.hear(b"", &["--wait", "5"]);
    ended.says(4, &[]);
    assert_said!([ended]);
}

#[test]
fn who_falls_silent_after_the_first_words_is_gone() {
    let files = Files::new();
    let ended = files.hear(PREAMBLE, &["--timeout", "3"]);
    ended.says(4, &[]);
    assert_said!([ended]);
}

/// Anybody may try a port: it is told, and the other party can still come.
#[test]
fn strangers_do_not_end_the_wait() {
    let files = Files::new();
    let trust = trust(&files.folder);
    let receiver: Vec<_> = trust.receiver.iter().map(String::as_str).collect();
    let (mut receiver, address) = files.listen(&receiver);
    for bytes in [
        b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n".to_vec(),
        (0..2000_u32).map(|i| (i * i / 8) as u8).collect(),
    ] {
        TcpStream::connect(&address)
            .unwrap()
            .write_all(&bytes)
            .unwrap();
        receiver.wait_for("the other side does not speak psijoin");
    }
    let sender: Vec<_> = trust.sender.iter().map(String::as_str).collect();
    let send = ["send", "--connect", &address, "--input", &files.table];
    let sender = run(&[&send[..], &sender].concat());
    let both = [receiver.end(), sender];
    all_exit(&both, 0);
    assert_said!(both);
    assert_eq!(files.folder.read("shared"), "ann\n");
}

#[test]
fn strangers_alone_end_in_a_time_out() {
    let files = Files::new();
    let ended = files.hear(b"GET / HTTP/1.1\r\n\r\n", &["--wait", "5"]);
    ended.says(4, &[]);
    assert_said!([ended]);
}

#[test]
fn who_is_connected_to_must_speak_psijoin() {
    let files = Files::new();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap().to_string();
    thread::spawn(move || {
        // It is tried again and again.
        for socket in server.incoming() {
            let mut socket = socket.unwrap();
            let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
            let _ = socket.read_to_end(&mut Vec::new());
        }
    });
    let ended = files.connect(&address);
    ended.says(5, &[]);
    assert_said!([ended]);
}

#[test]
fn garbage_within_a_session_breaks_the_protocol() {
    let garbage: [&[u8]; 4] = [
        b"GET / HTTP/1.1\r\n\r\n",
        &[1, 0xff, 0xff, 0xff, 0xff],
        &frame(b"hello"),
        &[frame(&opening(VERSION)), frame(&[0xff; HELLO_BYTES])].concat(),
    ];
    assert_said!(garbage.map(|bytes| {
        let ended = Files::new().hear(&[PREAMBLE, bytes].concat(), &[]);
        ended.says(5, &[]);
        ended
    }));
}

#[test]
fn another_version_is_named_with_what_to_do() {
    // Anybody can claim of a connection that it is newer.
    let connection = Files::new().hear(b"psijoin\x04", &["--wait", "5"]);
    connection.says(4, &[]);
    let newer = frame(&opening(VERSION + 1));
    let protocol = Files::new().hear(&[PREAMBLE, &newer].concat(), &["--wait", "5"]);
    protocol.says(5, &[]);
    assert_said!([connection, protocol]);
}

/// Returns how a receiver with little memory, 1 key, and more options reacts to a sender that
/// announces this many keys, and then sends nothing more.
#[cfg(target_os = "linux")]
pub(crate) fn hello_to_limited_receiver(keys: u64, more: &[&str]) -> Ended {
    let folder = Folder::new();
    let table = folder.file("table", "ann\n");
    let listen = ["receive", "--listen", "127.0.0.1:0", "--input", &table];
    let args = [&listen[..], &["--insecure-plaintext"], more].concat();
    let mut receiver = Process::start_limited(2_000_000, &args);
    let mut socket = TcpStream::connect(receiver.address()).unwrap();
    socket.write_all(PREAMBLE).unwrap();
    // The receiver's message is this sender's, too, except for role and size.
    let mut said = vec![0; PREAMBLE.len() + frame(&opening(VERSION)).len() + 5 + HELLO_BYTES];
    socket.read_exact(&mut said).unwrap();
    let hello = said.len() - HELLO_BYTES;
    said[hello] = 1;
    said[hello + 1..][..8].copy_from_slice(&keys.to_le_bytes());
    socket.write_all(&said[PREAMBLE.len()..]).unwrap();
    socket.shutdown(Shutdown::Write).unwrap();
    receiver.end()
}
