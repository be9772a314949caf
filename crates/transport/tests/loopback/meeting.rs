//! The meeting of parties, and the refusal of others.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    thread,
    time::{Duration, Instant},
};

use psijoin_channel::path::Measured;
use psijoin_transport::{
    Connection, Endpoint, Error, Identity, Interrupt, Kind, Options, endpoint::Address,
};

use crate::{
    A_WHILE, assert_soon, free_address, listener, meet, pair_with, plaintext, plaintext_connected,
    tls, tls_pair,
};

/// Returns the options of somebody who waits for others only so long.
pub(crate) fn patient_for(meet: Duration, mut options: Options) -> Options {
    options.timeouts.meet = meet;
    options
}

fn impatient() -> Options {
    patient_for(Duration::from_secs(1), plaintext())
}

#[test]
fn the_order_of_starting_does_not_matter() {
    let address = free_address();
    let (late, early) = tls_pair();
    thread::scope(|scope| {
        let port = address.as_str().rsplit_once(':').unwrap().1;
        let connecting = format!("localhost:{port}").parse().unwrap();
        let connected =
            scope.spawn(move || Connection::open(&Endpoint::Connect(connecting), &early));
        thread::sleep(Duration::from_millis(300));
        let (mut a, mut b) = (
            Connection::open(&Endpoint::Listen(address), &late).unwrap(),
            connected.join().unwrap().unwrap(),
        );
        a.1.send(b"hello").unwrap();
        assert_eq!(&b.1.recv_array().unwrap(), b"hello");
    });
}

#[test]
fn both_ends_of_tls_measure_the_network_and_without_tls_nothing_is_known() {
    let (a, b) = tls_pair();
    let (one, other) = meet(&a, &b);
    for (connection, _) in [one.unwrap(), other.unwrap()] {
        let measured = connection.measured();
        assert!(
            measured
                .round_trip_micros()
                .is_some_and(|micros| micros > 0)
        );
        assert!(
            measured
                .incoming_bits_per_second()
                .is_some_and(|rate| rate > 0)
        );
    }
    let (one, other) = meet(&plaintext(), &plaintext());
    for (connection, _) in [one.unwrap(), other.unwrap()] {
        assert_eq!(connection.measured(), Measured::default());
    }
}

#[test]
fn a_wrong_party_is_named_by_the_one_that_refuses_and_told_to_the_refused() {
    let [a, b, stranger] = std::array::from_fn(|_| Identity::generate().unwrap());
    let wrong = format!(
        "the other party identified itself as {}, but {} was expected",
        stranger.fingerprint(),
        b.fingerprint()
    );
    let refused = format!(
        "the other party refused this side's identity (fingerprint {}): it expects another",
        stranger.fingerprint()
    );
    let strict = patient_for(A_WHILE, tls(&a, &b));
    let intruding = patient_for(A_WHILE, tls(&stranger, &a));

    // The listening side cannot know whether the right one still comes. The connecting one has
    // heard it from the party that it looked for.
    let (listened, connected) = meet(&strict, &intruding);
    let (listened, connected) = (listened.unwrap_err(), connected.unwrap_err());
    assert!(
        matches!(&listened, Error::NobodyConnected { strangers: Some(strangers), .. }
            if strangers.count == 1 && strangers.why.to_string() == wrong),
        "{listened}"
    );
    assert!(listened.to_string().ends_with(&wrong), "{listened}");
    assert_eq!(listened.kind(), Kind::Network);
    assert_eq!(connected.to_string(), refused);
    assert_eq!(connected.kind(), Kind::Peer);

    let (listened, connected) = meet(&intruding, &strict);
    let (listened, connected) = (listened.unwrap_err(), connected.unwrap_err());
    assert!(listened.to_string().ends_with(&refused), "{listened}");
    assert_eq!(listened.kind(), Kind::Network);
    let text = connected.to_string();
    assert!(
        text.ends_with(&format!("the last attempt: {wrong}")),
        "{text}"
    );
    assert!(text.starts_with("the other party was not met at"), "{text}");
    assert_eq!(connected.kind(), Kind::Peer);
}

/// Before either waits for the other.
#[test]
fn one_identity_on_both_sides_is_refused_on_both() {
    let ann = Identity::generate().unwrap();
    let options = tls(&ann, &ann);
    let (listened, connected) = meet(&options, &options);
    for error in [listened.unwrap_err(), connected.unwrap_err()] {
        assert!(matches!(error, Error::OwnFingerprint(_)), "{error}");
        assert_eq!(error.kind(), Kind::Usage);
    }
}

#[test]
fn encryption_on_one_side_only_is_told_on_both() {
    let secured = patient_for(A_WHILE, tls_pair().0);
    let plaintext = patient_for(A_WHILE, plaintext());
    for (listening, connecting) in [(&secured, &plaintext), (&plaintext, &secured)] {
        let (listened, connected) = meet(listening, connecting);
        let (listened, connected) = (listened.unwrap_err(), connected.unwrap_err());
        for error in [&listened, &connected] {
            let text = error.to_string();
            assert!(
                text.contains("the two sides disagree on encryption"),
                "{text}"
            );
        }
        assert_eq!(listened.kind(), Kind::Network);
        assert_eq!(connected.kind(), Kind::Peer);
    }
}

#[test]
fn something_else_behind_the_address_is_an_error() {
    let (secured, _) = tls_pair();
    for options in [secured, plaintext()] {
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let address: Address = other.local_addr().unwrap().into();
        let options = patient_for(A_WHILE, options);
        thread::spawn(move || {
            for socket in other.incoming() {
                let mut socket = socket.unwrap();
                let _ = socket.write_all(b"SSH-2.0-OpenSSH_9.9\r\n");
                let _ = socket.read_to_end(&mut Vec::new());
            }
        });
        let error = Connection::connect(&address, &options).unwrap_err();
        assert!(
            error.to_string().contains("does not speak psijoin"),
            "{error}"
        );
        assert_eq!(error.kind(), Kind::Peer);
    }
}

#[test]
fn a_silent_server_is_given_up() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address: Address = silent.local_addr().unwrap().into();
    let last = "the last attempt: the other party did not set up the connection within ";
    let short = Duration::from_millis(200);
    // Several attempts, and one that is cut short.
    for (setup, expected) in [(short, format!("{last}0.2 s")), (2 * A_WHILE, last.into())] {
        let mut options = plaintext();
        options.timeouts.setup = setup;
        options.timeouts.meet = A_WHILE;
        let error = Connection::connect(&address, &options).unwrap_err();
        assert!(error.to_string().contains(&expected), "{error}");
        assert_eq!(error.kind(), Kind::Network);
    }
}

#[test]
fn when_both_listen_or_both_connect_the_error_says_what_to_do() {
    let listener = listener();
    let address = listener.address().clone();
    let listened = Connection::accept(listener, &impatient()).unwrap_err();
    assert!(
        matches!(listened, Error::NobodyConnected { .. }),
        "{listened}"
    );
    let connected = Connection::connect(&address, &impatient()).unwrap_err();
    assert!(
        matches!(connected, Error::NobodyListened { .. }),
        "{connected}"
    );
    for error in [listened, connected] {
        let text = error.to_string();
        assert!(
            text.contains("1 s; one side must listen and the other connect"),
            "{text}"
        );
        assert!(text.contains(address.as_str()), "{text}");
        assert_eq!(error.kind(), Kind::Network);
    }
}

#[test]
fn waiting_can_be_interrupted() {
    let interrupt = Interrupt::new();
    let mut options = plaintext();
    options.interrupt = interrupt.clone();
    let free = free_address();
    thread::scope(|scope| {
        let waiting = [
            scope.spawn(|| Connection::accept(listener(), &options).unwrap_err()),
            scope.spawn(|| Connection::connect(&free, &options).unwrap_err()),
        ];
        thread::sleep(Duration::from_millis(100));
        interrupt.trigger();
        let triggered = Instant::now();
        for error in waiting.map(|thread| thread.join().unwrap()) {
            assert!(matches!(error, Error::Interrupted), "{error}");
            assert_eq!(error.kind(), Kind::Interrupted);
        }
        assert_soon(triggered);
    });
}

#[test]
fn an_interrupt_that_came_before_counts() {
    let options = plaintext();
    options.interrupt.trigger();
    assert!(options.interrupt.is_triggered());
    let error = Connection::accept(listener(), &options).unwrap_err();
    assert!(matches!(error, Error::Interrupted), "{error}");
}

#[test]
fn an_unknown_host_is_an_error_that_names_it() {
    let address: Address = "no-such-host.invalid:7000".parse().unwrap();
    let error = Connection::connect(&address, &patient_for(A_WHILE, plaintext())).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::NobodyListened { .. }), "{text}");
    assert!(
        text.starts_with("nobody listened at no-such-host.invalid:7000 within 5 s"),
        "{text}"
    );
    assert_eq!(error.kind(), Kind::Network);
}

#[test]
fn a_refused_connection_is_told_as_such() {
    let free = free_address();
    let error = Connection::connect(&free, &impatient()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("nobody listened at"), "{text}");
    assert!(
        text.contains(&format!(
            "the last attempt: cannot connect to {}",
            free.as_str()
        )),
        "{text}"
    );
    assert_eq!(error.kind(), Kind::Network);
}

/// A firewall that drops packets looks like a machine that has no room for one more connection.
#[cfg(target_os = "linux")]
#[test]
fn an_address_that_does_not_answer_may_be_behind_a_firewall() {
    let full = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&full, 0).unwrap();
    let number = full.local_addr().unwrap();
    let short = Duration::from_millis(100);
    let _room: Vec<_> =
        std::iter::from_fn(|| TcpStream::connect_timeout(&number, short).ok()).collect();
    let options = patient_for(A_WHILE, plaintext());
    let error = Connection::connect(&number.into(), &options).unwrap_err();
    let text = error.to_string();
    let expected = format!("the last attempt: nothing answered at {number} within ");
    assert!(text.contains(&expected), "{text}");
    assert!(text.contains(" s: a firewall"), "{text}");
    assert_eq!(error.kind(), Kind::Network);
}

#[test]
fn a_party_knows_the_key_of_its_peer() {
    let [ann, bob] = [(); 2].map(|()| Identity::generate().unwrap());
    let [(a, _), (b, _)] = pair_with(&tls(&ann, &bob), &tls(&bob, &ann));
    assert_eq!(a.peer_key(), bob.public_key());
    assert_eq!(b.peer_key(), ann.public_key());
    for (connection, _) in plaintext_connected() {
        assert_eq!(connection.peer_key(), None);
    }
}
