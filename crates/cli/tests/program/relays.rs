//! `psijoin relay`.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use psijoin_transport::rendezvous::{Hello, Side, Token};

use crate::support::{Folder, Process, assert_said, run};

/// Joins two parties at a relay, up to `go`.
fn pair(relay: &str) -> [TcpStream; 2] {
    let sides = [Side::Server, Side::Client];
    let parties = sides.map(|side| {
        let hello = Hello {
            side,
            token: Token::from_bytes([7; 32]),
            client: [0; 8],
            has_key: false,
        };
        let mut socket = TcpStream::connect(relay).unwrap();
        socket.write_all(&hello.encode()).unwrap();
        socket
    });
    // The first was told to wait, perhaps, and both that the peer is here, and to go.
    parties.map(|mut socket| {
        let mut said = [0; 2];
        while said != [3, 0] {
            socket.read_exact(&mut said).unwrap();
        }
        socket
    })
}

#[test]
#[cfg(unix)]
fn a_relay_ends_with_its_last_session_after_sigterm() {
    let (mut relay, address) = Process::listen("relay", &[]);
    let [mut server, mut client] = pair(&address);
    relay.signal("TERM");
    relay.wait_for("draining");
    client.write_all(b"hello").unwrap();
    let mut heard = [0; 5];
    server.read_exact(&mut heard).unwrap();
    assert_eq!(&heard, b"hello");
    drop((server, client));
    let relay = relay.end();
    relay.says(0, &[]);
    assert_said!([relay]);
}

#[test]
#[cfg(unix)]
fn a_second_signal_ends_the_sessions() {
    let (mut relay, address) = Process::listen("relay", &["--drain", "24h"]);
    let [mut server, _client] = pair(&address);
    relay.signal("TERM");
    relay.wait_for("draining");
    relay.signal("INT");
    assert!(matches!(server.read(&mut [0]), Ok(0) | Err(_)));
    relay.end().says(0, &["ending the sessions"]);
}

#[test]
fn what_a_relay_cannot_use_is_named() {
    let folder = Folder::new();
    let keys = folder.secret("keys", "ann 0123\n");
    let none = folder.secret("none", "# nobody yet\n");
    let (listening, address) = Process::listen("relay", &[]);
    let ended = [
        run(&["relay", "--listen", "127.0.0.1:0", "--access", &keys]),
        run(&["relay", "--listen", "127.0.0.1:0", "--access", &none]),
        run(&["relay", "--listen", &address]),
        run(&["relay", "--listen", "127.0.0.1:0", "--drain", "soon"]),
    ];
    let codes = ended.each_ref().map(|ended| ended.code);
    assert_eq!(codes, [3, 3, 4, 2].map(Some));
    assert_said!(ended);
    #[cfg(unix)]
    {
        listening.signal("TERM");
        listening.end().says(0, &[]);
    }
    #[cfg(not(unix))]
    drop(listening);
}
