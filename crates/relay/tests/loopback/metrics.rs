//! The counters, over HTTP.

use std::io::Write;

use psijoin_transport::rendezvous::Side;

use crate::{Running, connect, hello};

#[test]
fn a_monitor_reads_what_happens() {
    let relay = Running::start(|_| ());
    let text = relay.ask("/metrics");
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
    assert!(text.contains("\r\nContent-Type: text/plain; version=0.0.4"));
    let mut waiting = relay.come(&hello(Side::Server, 1));
    waiting.waits();
    relay.await_counter("waiting", 1);
    let pair = relay.pair(2);
    relay.await_counter("pairs", 1);
    assert_eq!(relay.counter("connections_total"), 3);
    drop((pair, waiting));
    relay.await_counter("pairs", 0);
    relay.await_counter("waiting", 0);
    assert_eq!(relay.counter("pairs_total"), 1);
}

#[test]
fn other_requests_get_other_answers() {
    let relay = Running::start(|_| ());
    assert!(relay.ask("/").starts_with("HTTP/1.1 404 "));
    // One that never ends keeps the next waiting for a moment only.
    let mut slow = connect(relay.metrics);
    slow.write_all(b"GET /met").unwrap();
    assert!(relay.ask("/metrics").starts_with("HTTP/1.1 200 "));
}
