//! Going through a web proxy, played by a thread.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    thread,
    time::Duration,
};

use psijoin_channel::joint_seed::JointSeed;
use psijoin_transport::{Connection, Error, Identity, Kind, Options, Proxies, endpoint::Address};

use crate::{
    A_WHILE, Meeting, free_address, listener,
    meeting::patient_for,
    relays::{Parties, Relay, greet},
    tls, tls_pair,
};

/// What a proxy does when it is asked.
#[derive(Clone)]
enum Way {
    /// It leads where it is asked to.
    Open,
    /// It leads to this address instead.
    To(Address),
    /// It answers so.
    Answers(&'static str),
}

/// Starts a proxy, and returns the way through it.
fn proxies(way: Way) -> Proxies {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for socket in listener.incoming() {
            let (socket, way) = (socket.unwrap(), way.clone());
            thread::spawn(move || lead(socket, &way));
        }
    });
    Proxies::all(format!("http://{address}").parse().unwrap())
}

fn lead(mut near: TcpStream, way: &Way) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if near.read_exact(&mut byte).is_err() {
            return;
        }
        head.extend(byte);
    }
    let head = String::from_utf8(head).unwrap();
    let asked = head
        .strip_prefix("CONNECT ")
        .and_then(|rest| rest.split_once(' '));
    let place = match way {
        Way::Open => asked.unwrap().0,
        Way::To(address) => address.as_str(),
        Way::Answers(answer) => {
            let _ = near.write_all(answer.as_bytes());
            return;
        }
    };
    let Ok(far) = TcpStream::connect(place) else {
        let _ = near.write_all(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
        return;
    };
    near.write_all(b"HTTP/1.1 200 Connection established\r\nVia: 1.1 x\r\n\r\n")
        .unwrap();
    let ways = [
        (near.try_clone().unwrap(), far.try_clone().unwrap()),
        (far, near),
    ];
    for (mut from, mut to) in ways {
        thread::spawn(move || {
            let _ = io::copy(&mut from, &mut to);
            // As most proxies do, it takes the end of one direction for that of both.
            for socket in [from, to] {
                let _ = socket.shutdown(Shutdown::Both);
            }
        });
    }
}

fn through(way: Way, mut options: Options) -> Options {
    options.proxies = proxies(way);
    options
}

#[test]
fn parties_meet_through_a_proxy_with_all_their_streams() {
    let (mut listening, connecting) = tls_pair();
    listening.streams = true;
    let connecting = through(Way::Open, connecting);
    let listener = listener();
    let address = listener.address().clone();
    let seed = JointSeed::insecure_fixed([3; 32]);
    thread::scope(|scope| {
        let accepted = scope.spawn(|| {
            let (mut connection, _) = Connection::accept(listener, &listening).unwrap();
            let mut streams = connection.open_streams(2, &seed).unwrap();
            streams[1].send(b"hello").unwrap();
            connection.finish().unwrap();
        });
        let (mut connection, _) = Connection::connect(&address, &connecting).unwrap();
        let place = connection.peer_place().to_owned();
        assert!(place.contains(" through the proxy 127.0.0.1:"), "{place}");
        let mut streams = connection.open_streams(2, &seed).unwrap();
        assert_eq!(&streams[1].recv_array().unwrap(), b"hello");
        connection.finish().unwrap();
        accepted.join().unwrap();
    });
}

#[test]
fn whoever_is_done_first_still_hears_the_other_through_a_proxy() {
    for listener_is_first in [true, false] {
        let (listening, connecting) = tls_pair();
        let connecting = through(Way::Open, connecting);
        let listener = listener();
        let address = listener.address().clone();
        let finish = |connection: Connection, is_first: bool| {
            if !is_first {
                thread::sleep(Duration::from_millis(300));
            }
            connection.finish().unwrap();
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                let (connection, _) = Connection::accept(listener, &listening).unwrap();
                finish(connection, listener_is_first);
            });
            let (connection, _) = Connection::connect(&address, &connecting).unwrap();
            finish(connection, !listener_is_first);
        });
    }
}

#[test]
fn a_proxy_is_asked_again_until_somebody_listens() {
    let address = free_address();
    let (listening, connecting) = tls_pair();
    let connecting = through(Way::Open, connecting);
    thread::scope(|scope| {
        let connected = scope.spawn(|| Connection::connect(&address, &connecting));
        thread::sleep(Duration::from_millis(500));
        let listener = psijoin_transport::Listener::bind(&address).unwrap();
        let accepted: Meeting = Connection::accept(listener, &listening);
        greet([accepted, connected.join().unwrap()]);
    });
}

#[test]
fn a_proxy_that_refuses_is_told_with_what_to_do() {
    let address = free_address();
    for (way, said, kind) in [
        (
            Way::Answers("HTTP/1.1 403 No\r\n\r\n"),
            "does not allow that (403)",
            Kind::Network,
        ),
        (
            Way::Answers("HTTP/1.1 407 Who\r\nProxy-Authenticate: NTLM\r\n\r\n"),
            "asks who this is by NTLM (407)",
            Kind::Usage,
        ),
        (
            Way::Answers("HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic\r\n\r\n"),
            "asks for a user and a password",
            Kind::Usage,
        ),
    ] {
        let options = through(way, tls_pair().0);
        let error = Connection::connect(&address, &options).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, Error::Proxy { .. }), "{text}");
        assert!(
            text.contains(&format!("on the way to {}, {said}", address.as_str())),
            "{text}"
        );
        assert_eq!(error.kind(), kind);
    }
}

#[test]
fn what_may_pass_is_tried_again_and_told_in_the_end() {
    let address = free_address();
    let nobody = Proxies::all(free_address().as_str().parse().unwrap());
    for (proxies, said) in [
        (proxies(Way::Open), "could not connect there itself (502)"),
        (nobody, "cannot be reached: cannot connect to"),
        (
            proxies(Way::Answers("SSH-2.0-x\r\n")),
            "does not answer in HTTP",
        ),
    ] {
        let mut options = patient_for(Duration::from_secs(3), tls_pair().0);
        options.proxies = proxies;
        let error = Connection::connect(&address, &options).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("nobody listened at"), "{text}");
        assert!(text.contains(said), "{text}");
        assert_eq!(error.kind(), Kind::Network);
    }
}

#[test]
fn another_key_behind_a_proxy_has_a_hint_of_its_own() {
    let [ann, bob, proxy] = [(); 3].map(|()| Identity::generate().unwrap());
    let listener = listener();
    let inspects = listener.address().clone();
    let inspecting = patient_for(A_WHILE, tls(&proxy, &ann));
    let connecting = patient_for(A_WHILE, tls(&ann, &bob));
    let connecting = through(Way::To(inspects), connecting);
    thread::scope(|scope| {
        scope.spawn(|| Connection::accept(listener, &inspecting));
        let address = "join.example.org:7000".parse().unwrap();
        let error = Connection::connect(&address, &connecting).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("such a proxy may replace certificates"),
            "{text}"
        );
        assert!(
            text.contains("let join.example.org:7000 pass as it is"),
            "{text}"
        );
        assert!(text.contains("wss://"), "{text}");
        assert_eq!(error.kind(), Kind::Peer);
    });
}

#[test]
fn a_relay_is_reached_through_a_proxy() {
    let relay = Relay::start();
    let mut parties = Parties::at(relay.address());
    for options in &mut parties.options {
        options.proxies = proxies(Way::Open);
    }
    greet(parties.meet(Duration::ZERO));
}
