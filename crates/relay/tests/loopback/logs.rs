//! Logs tell what happens, and no token.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
};

use psijoin_transport::rendezvous::Side;
use tracing_subscriber::{filter::LevelFilter, fmt};

use crate::{Running, hello};

/// All lines of this process's log.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_log_tells_of_a_meeting_and_not_its_token() {
    let log = Log::default();
    let writer = log.clone();
    fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .init();
    let relay = Running::start(|_| ());
    let token = 0xd7;
    drop(relay.pair(token));
    relay.await_counter("pairs", 0);
    let mut words = hello(Side::Server, token).encode().to_vec();
    words.push(1);
    crate::Party::begin(relay.address, &words).refused();
    drop(relay);
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for said in [
        ": joined 127.0.0.1:",
        ": ended after ",
        "turned away one from",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    for shown in ["d7d7d7", "D7D7D7", "215, 215", "psirelay"] {
        assert!(!text.contains(shown), "{shown}: {text}");
    }
}
