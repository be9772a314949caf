//! The frame decoder, fed in pieces as a socket would.
#![no_main]

use libfuzzer_sys::fuzz_target;
use psijoin_transport::frame::Decoder;

fuzz_target!(|pieces: Vec<Vec<u8>>| {
    let mut decoder = Decoder::new();
    for piece in &pieces {
        let mut input = &piece[..];
        while let Ok(Some(_)) = decoder.next_frame(&mut input) {}
    }
});
