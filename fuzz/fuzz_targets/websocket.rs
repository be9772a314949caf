//! The upgrade and the frames of WebSocket, in pieces as sockets give them, and frames of our own
//! in any pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;
use psijoin_transport::websocket::{
    AnswerDecoder, Decoder, Encoder, Event, Request, RequestDecoder, Role,
};

fuzz_target!(|input: (Vec<Vec<u8>>, bool, u8)| {
    let (pieces, is_client, piece_bytes) = input;
    let from = if is_client {
        Role::Client
    } else {
        Role::Server
    };

    let mut request = RequestDecoder::new();
    for piece in &pieces {
        match request.take(&mut &piece[..]) {
            Ok(None) => {}
            Ok(Some(upgrade)) => {
                let _ = upgrade.answer();
                break;
            }
            Err(fault) => {
                let _ = fault.answer();
                break;
            }
        }
    }
    let asked = Request::new("relay.example.org", "/").expect("it is a host and a path");
    let mut answer = AnswerDecoder::new(&asked);
    for piece in &pieces {
        if !matches!(answer.take(&mut &piece[..]), Ok(false)) {
            break;
        }
    }

    let mut decoder = Decoder::new(from);
    'all: for piece in &pieces {
        let mut piece = piece.clone();
        let mut input = &mut piece[..];
        loop {
            match decoder.next_event(&mut input) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => break 'all,
            }
        }
        assert!(input.is_empty());
    }

    let mut encoder = match is_client {
        true => Encoder::client().expect("the system gives randomness"),
        false => Encoder::server(),
    };
    let mut frames = Vec::new();
    for piece in &pieces {
        encoder.data(piece, &mut frames);
    }
    let (mut decoder, mut heard) = (Decoder::new(from), Vec::new());
    for piece in frames.chunks_mut(usize::from(piece_bytes).max(1)) {
        let mut input = piece;
        while let Some(event) = decoder.next_event(&mut input).expect("it is a frame") {
            match event {
                Event::Data(bytes) => heard.extend_from_slice(bytes),
                other => panic!("nobody sent {other:?}"),
            }
        }
    }
    assert_eq!(heard, pieces.concat());
});
