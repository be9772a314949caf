//! How parties find each other, and who is turned away.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    thread,
    time::{Duration, Instant},
};

use psijoin_transport::{
    Connection, Endpoint, Error, Identity, Interrupt, Kind, Options, Timeouts, endpoint::Address,
};

use crate::{QUICK, listener, meet, plaintext, tls, tls_pair};

fn impatient() -> Options {
    Options {
        timeouts: Timeouts {
            meet: Duration::from_millis(300),
            ..QUICK
        },
        ..plaintext()
    }
}

#[test]
fn the_order_of_starting_does_not_matter() {
    let address = listener().address().clone();
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
    let (strict, intruding) = (tls(&a, &b), tls(&stranger, &a));

    let (listened, connected) = meet(&strict, &intruding);
    let errors = [listened.unwrap_err(), connected.unwrap_err()];
    assert_eq!(
        errors.each_ref().map(Error::to_string),
        [wrong.clone(), refused.clone()]
    );
    assert!(errors.iter().all(|error| error.kind() == Kind::Peer));

    let (listened, connected) = meet(&intruding, &strict);
    let errors = [listened.unwrap_err(), connected.unwrap_err()];
    assert_eq!(errors.each_ref().map(Error::to_string), [refused, wrong]);
}

#[test]
fn encryption_on_one_side_only_is_an_error_on_both() {
    let (secured, _) = tls_pair();
    for (listened, connected) in [meet(&secured, &plaintext()), meet(&plaintext(), &secured)] {
        for error in [listened.unwrap_err(), connected.unwrap_err()] {
            let text = error.to_string();
            assert!(
                text.starts_with("the two sides disagree on encryption"),
                "{text}"
            );
        }
    }
}

#[test]
fn strangers_do_not_keep_the_peer_from_being_heard() {
    for (listening, connecting) in [tls_pair(), (plaintext(), plaintext())] {
        let listener = listener();
        let address = listener.address().clone();
        let dial = || TcpStream::connect(address.as_str()).unwrap();
        let _silent = dial();
        dial().write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        drop(dial());
        thread::scope(|scope| {
            let accepted = scope.spawn(|| Connection::accept(listener, &listening));
            thread::sleep(Duration::from_millis(100));
            let started = Instant::now();
            let connected = Connection::connect(&address, &connecting);
            connected.unwrap().1.send(b"hello").unwrap();
            assert_eq!(
                &accepted.join().unwrap().unwrap().1.recv_array().unwrap(),
                b"hello"
            );
            assert!(
                started.elapsed() < QUICK.setup,
                "the silent one was waited for"
            );
        });
    }
}

#[test]
fn something_else_behind_the_address_is_an_error() {
    let (secured, _) = tls_pair();
    for options in [secured, plaintext()] {
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let address: Address = other.local_addr().unwrap().into();
        let connected = thread::scope(|scope| {
            scope.spawn(|| {
                let (mut socket, _) = other.accept().unwrap();
                socket.write_all(b"SSH-2.0-OpenSSH_9.9\r\n").unwrap();
                let _ = socket.read_to_end(&mut Vec::new());
            });
            Connection::connect(&address, &options)
        });
        let error = connected.unwrap_err();
        assert!(matches!(error, Error::NotPsijoin(_)), "{error}");
    }
}

#[test]
fn a_silent_server_is_given_up() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let setup = Duration::from_millis(200);
    let options = Options {
        timeouts: Timeouts { setup, ..QUICK },
        ..plaintext()
    };
    let error = Connection::connect(&silent.local_addr().unwrap().into(), &options).unwrap_err();
    assert!(matches!(error, Error::SetupTimedOut(_)), "{error}");
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
            text.contains("0.3 s; one side must listen and the other connect"),
            "{text}"
        );
        assert!(text.contains(address.as_str()), "{text}");
        assert_eq!(error.kind(), Kind::Network);
    }
}

#[test]
fn waiting_can_be_interrupted() {
    let interrupt = Interrupt::new();
    let options = Options {
        interrupt: interrupt.clone(),
        ..plaintext()
    };
    let free = listener().address().clone();
    let interrupted_at = thread::scope(|scope| {
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
        triggered
    });
    assert!(interrupted_at.elapsed() < Duration::from_secs(1));
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
    let error = Connection::connect(&address, &plaintext()).unwrap_err();
    assert!(
        matches!(error, Error::Resolve { .. } | Error::NobodyListened { .. }),
        "{error}"
    );
    assert!(
        error.to_string().contains("no-such-host.invalid:7000"),
        "{error}"
    );
}
