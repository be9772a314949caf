//! Both messages of the session handshake, from a peer that sends anything.
#![no_main]

use libfuzzer_sys::fuzz_target;
use psijoin_fuzz::scripted_channel;
use psijoin_handshake::{self as handshake, Hello, Role};

fuzz_target!(|messages: Vec<Vec<u8>>| {
    let hello = Hello::new(Role::Sender, 10)
        .setting("protocol", "kkrt")
        .fact("scale", 2);
    let mut channel = scripted_channel(messages);
    if let Ok(pending) = handshake::begin(&mut channel, hello) {
        let _ = pending.peer().told("scale");
        let _ = pending.path();
        let _ = pending.confirm(&mut channel, &[&[7; 32]]);
    }
});
