//! The end of a relay in order.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use psijoin_transport::rendezvous::{Side, State};

use crate::{PATIENCE, Running, hello};

#[test]
fn a_draining_relay_tells_those_who_wait_and_lets_pairs_run() {
    // No other test listens there, whatever port it is given.
    let mut relay = Running::start(|options| options.listen = "127.0.0.3:0".parse().unwrap());
    let [mut server, mut client] = relay.pair(1);
    let mut waiting = relay.come(&hello(Side::Server, 2));
    waiting.waits();
    relay.drain.begin(PATIENCE);
    let state = waiting.next_change();
    assert!(matches!(state, Some(State::Draining(_))), "{state:?}");
    assert_eq!(waiting.next(), None);
    assert!(TcpStream::connect(relay.address).is_err(), "nobody listens");
    assert_eq!(relay.counter("draining"), 1);
    for _ in 0..3 {
        client.write_all(b"hello").unwrap();
        let mut heard = [0; 5];
        server.read_exact(&mut heard).unwrap();
    }
    drop((server, client));
    relay.join();
}

#[test]
fn pairs_end_when_the_time_is_over() {
    let mut relay = Running::start(|_| ());
    let [mut server, mut client] = relay.pair(1);
    client.write_all(b"x").unwrap();
    server.read_exact(&mut [0]).unwrap();
    relay.drain.begin(PATIENCE);
    // The shorter time counts, and then no longer one.
    relay.drain.begin(Duration::from_millis(100));
    relay.drain.begin(PATIENCE);
    for socket in [&mut server, &mut client] {
        assert!(matches!(socket.read(&mut [0]), Ok(0) | Err(_)));
    }
    relay.join();
}

#[test]
fn a_relay_without_anybody_ends_at_once() {
    let mut relay = Running::start(|_| ());
    relay.drain.begin(PATIENCE);
    relay.join();
}
