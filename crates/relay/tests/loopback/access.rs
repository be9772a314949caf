//! A relay that does not serve everybody.

use std::{fs, io::Write};

use psijoin_relay::AccessKeys;
use psijoin_transport::rendezvous::{AccessKey, Hello, Side, State};

use crate::{Party, Running, hello};

fn key(byte: u8) -> AccessKey {
    AccessKey::from_bytes([byte; 32])
}

/// Returns a relay that knows one key, and lets one of each address wait.
fn closed() -> Running {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("access");
    fs::write(&path, format!("ann {}\n", key(1).to_text())).unwrap();
    Running::start(|options| {
        options.access = Some(AccessKeys::read(&path).unwrap());
        options.limits.waiting_per_address = 1;
    })
}

/// Lets a party come that proves a key.
fn come(relay: &Running, side: Side, token: u8, key: &AccessKey) -> Party {
    let hello = Hello {
        has_key: true,
        ..hello(side, token)
    };
    let mut party = relay.come(&hello);
    let Some(State::Challenge(nonce)) = party.next() else {
        panic!("a challenge was due");
    };
    let access = key.answer(&nonce, &hello);
    party.socket.write_all(&access.encode()).unwrap();
    party
}

#[test]
fn who_has_a_key_is_served_without_a_quota() {
    let relay = closed();
    let mut servers: Vec<_> = (0..10)
        .map(|token| come(&relay, Side::Server, token, &key(1)))
        .collect();
    for server in &mut servers {
        server.waits();
    }
    for (token, server) in (0..10).zip(servers) {
        let client = come(&relay, Side::Client, token, &key(1));
        let _joined = [server, client].map(Party::joined);
    }
}

#[test]
fn who_has_none_or_another_is_told_so() {
    let relay = closed();
    let why = relay.come(&hello(Side::Server, 1)).forbidden();
    assert!(why.contains("only those who have an access key"), "{why}");
    let why = come(&relay, Side::Server, 1, &key(2)).forbidden();
    assert!(why.contains("does not know that access key"), "{why}");
    relay.await_counter("refusals_total{reason=\"wrong_key\"}", 1);
}

#[test]
fn a_relay_without_keys_asks_for_none() {
    let relay = Running::start(|_| ());
    let hello = Hello {
        has_key: true,
        ..hello(Side::Server, 1)
    };
    relay.come(&hello).waits();
}
