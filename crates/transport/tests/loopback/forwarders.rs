//! A forwarder before the listening party takes connections although nobody is behind it.

use std::{
    io,
    net::{Shutdown, TcpListener, TcpStream},
    thread,
    time::Duration,
};

use psijoin_transport::{Connection, Kind, Listener, Options, endpoint::Address};

use crate::{Meeting, free_address, meeting::patient_for, plaintext, tls_pair};

/// The behaviour of a forwarder with a connection while nobody listens behind it.
#[derive(Clone, Copy)]
enum Alone {
    /// It closes it.
    Closes,
    /// It keeps it, and never sends anything.
    Holds,
}

/// Forwards to `target` for as long as the test runs.
fn forwarder(target: &Address, alone: Alone) -> Address {
    let front = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = front.local_addr().unwrap().into();
    let target = target.as_str().to_owned();
    thread::spawn(move || {
        let mut held = Vec::new();
        for socket in front.incoming() {
            let socket = socket.unwrap();
            match (TcpStream::connect(&target), alone) {
                (Ok(behind), _) => join(socket, behind),
                (Err(_), Alone::Closes) => drop(socket),
                (Err(_), Alone::Holds) => held.push(socket),
            }
        }
    });
    address
}

/// Carries bytes both ways.
fn join(a: TcpStream, b: TcpStream) {
    let copies = [(a.try_clone().unwrap(), b.try_clone().unwrap()), (b, a)];
    for (mut from, mut to) in copies {
        thread::spawn(move || {
            let _ = io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Write);
        });
    }
}

/// Lets both parties meet over a forwarder, one of them this much later than the other.
fn meet_over(
    alone: Alone,
    (listening, connecting): &(Options, Options),
    [listener_waits, connector_waits]: [Duration; 2],
) -> (Meeting, Meeting) {
    let address = free_address();
    let front = forwarder(&address, alone);
    thread::scope(|scope| {
        let connected = scope.spawn(move || {
            thread::sleep(connector_waits);
            Connection::connect(&front, connecting)
        });
        thread::sleep(listener_waits);
        let listener = Listener::bind(&address).unwrap();
        let accepted = Connection::accept(listener, listening);
        (accepted, connected.join().unwrap())
    })
}

const NOW: Duration = Duration::ZERO;
const LATER: Duration = Duration::from_millis(700);

/// Returns options of a party that gives up a held connection soon, and tries again.
fn trying_again(mut options: Options) -> Options {
    options.timeouts.setup = Duration::from_secs(3);
    options
}

#[test]
fn the_order_of_starting_does_not_matter_behind_a_forwarder_either() {
    for (a, b) in [tls_pair(), (plaintext(), plaintext())] {
        let options = (trying_again(a), trying_again(b));
        for alone in [Alone::Closes, Alone::Holds] {
            for order in [[LATER, NOW], [NOW, LATER]] {
                let (accepted, connected) = meet_over(alone, &options, order);
                let ((_a, mut a), (_b, mut b)) = (accepted.unwrap(), connected.unwrap());
                a.send(b"hello").unwrap();
                assert_eq!(&b.recv_array().unwrap(), b"hello");
            }
        }
    }
}

#[test]
fn a_forwarder_that_nobody_is_behind_is_told_as_such() {
    let nobody = free_address();
    let front = forwarder(&nobody, Alone::Closes);
    let options = patient_for(Duration::from_secs(1), tls_pair().0);
    let error = Connection::connect(&front, &options).unwrap_err();
    let text = error.to_string();
    assert!(
        text.ends_with(
            "the last attempt: the other party closed the connection while it was being set up"
        ),
        "{text}"
    );
    assert_eq!(error.kind(), Kind::Network);
}
