//! Frames of both sides, in any pieces.

use proptest::{collection::vec, prelude::*};

use super::*;

/// An event that keeps its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Heard {
    Data(Vec<u8>),
    Ping(Vec<u8>),
    Pong(Vec<u8>),
    Close(Option<u16>),
}

/// Decodes bytes in pieces of that length, and joins neighbouring data.
fn decode(from: Role, bytes: &[u8], piece_bytes: usize) -> Result<Vec<Heard>, Fault> {
    let mut decoder = Decoder::new(from);
    let mut all = Vec::new();
    for piece in bytes.chunks(piece_bytes) {
        let mut piece = piece.to_vec();
        let mut input = &mut piece[..];
        while let Some(event) = decoder.next_event(&mut input)? {
            let heard = match event {
                Event::Data(bytes) => Heard::Data(bytes.to_vec()),
                Event::Ping(content) => Heard::Ping(content.to_vec()),
                Event::Pong(content) => Heard::Pong(content.to_vec()),
                Event::Close(code) => Heard::Close(code),
            };
            match (all.last_mut(), heard) {
                (Some(Heard::Data(before)), Heard::Data(bytes)) => before.extend(bytes),
                (_, heard) => all.push(heard),
            }
        }
        assert!(input.is_empty());
    }
    Ok(all)
}

fn hello() -> Heard {
    Heard::Data(b"Hello".to_vec())
}

/// RFC 6455, §5.7. Its messages of text are binary here.
#[test]
fn the_frames_of_the_standard_are_read() {
    let long = vec![7; 65_536];
    for (from, bytes, heard) in [
        (Role::Server, b"\x82\x05Hello".to_vec(), hello()),
        (
            Role::Client,
            b"\x82\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58".to_vec(),
            hello(),
        ),
        (Role::Server, b"\x02\x03Hel\x80\x02lo".to_vec(), hello()),
        (
            Role::Server,
            b"\x89\x05Hello".to_vec(),
            Heard::Ping(b"Hello".to_vec()),
        ),
        (
            Role::Client,
            b"\x8a\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58".to_vec(),
            Heard::Pong(b"Hello".to_vec()),
        ),
        (
            Role::Server,
            [&b"\x82\x7e\x01\x00"[..], &long[..256]].concat(),
            Heard::Data(long[..256].to_vec()),
        ),
        (
            Role::Server,
            [&b"\x82\x7f\0\0\0\0\0\x01\0\0"[..], &long].concat(),
            Heard::Data(long.clone()),
        ),
    ] {
        for piece_bytes in [1, 3, 100_000] {
            let decoded = decode(from, &bytes, piece_bytes);
            assert_eq!(decoded.as_ref(), Ok(&vec![heard.clone()]));
        }
    }
}

/// As in §5.7, without a mask.
#[test]
fn frames_are_written_as_in_the_standard() {
    let mut server = Encoder::server();
    let mut bytes = Vec::new();
    server.data(b"Hello", &mut bytes);
    assert_eq!(bytes, b"\x82\x05Hello");
    for (length, header) in [
        (125, &b"\x82\x7d"[..]),
        (126, b"\x82\x7e\0\x7e"),
        (256, b"\x82\x7e\x01\0"),
        (65_535, b"\x82\x7e\xff\xff"),
        (65_536, b"\x82\x7f\0\0\0\0\0\x01\0\0"),
    ] {
        assert_eq!(&*Header::of_server(length), header);
    }
    bytes.clear();
    server.close(1000, &mut bytes);
    server.pong(&Control::new(b"x").unwrap(), &mut bytes);
    assert_eq!(bytes, b"\x88\x02\x03\xe8\x8a\x01x");
}

#[test]
fn a_control_frame_may_stand_within_a_message() {
    let bytes = b"\x02\x03Hel\x89\x01x\x00\x01l\x80\x01o";
    for piece_bytes in [1, 100] {
        let heard = decode(Role::Server, bytes, piece_bytes).unwrap();
        let expected = [
            Heard::Data(b"Hel".to_vec()),
            Heard::Ping(b"x".to_vec()),
            Heard::Data(b"lo".to_vec()),
        ];
        assert_eq!(heard, expected);
    }
}

#[test]
fn what_a_side_must_not_send_is_refused() {
    for (from, bytes, fault) in [
        (Role::Client, &b"\x82\x05"[..], Fault::Mask),
        (Role::Server, b"\x82\x85", Fault::Mask),
        (Role::Server, b"\xc2", Fault::Reserved),
        (Role::Server, b"\xa2", Fault::Reserved),
        (Role::Server, b"\x92", Fault::Reserved),
        (Role::Server, b"\x81", Fault::Text),
        (Role::Server, b"\x01", Fault::Text),
        (Role::Server, b"\x83", Fault::Opcode),
        (Role::Server, b"\x8b", Fault::Opcode),
        (Role::Server, b"\x89\x7e", Fault::Control),
        (Role::Server, b"\x88\x7f", Fault::Control),
        (Role::Server, b"\x09", Fault::Control),
        (Role::Server, b"\x80", Fault::Fragment),
        (Role::Server, b"\x02\x01a\x02", Fault::Fragment),
        (Role::Server, b"\x82\x7e\x00\x7d", Fault::Length),
        (Role::Server, b"\x82\x7f\0\0\0\0\0\0\xff\xff", Fault::Length),
        (Role::Server, b"\x82\x7f\x80\0\0\0\0\0\0\0", Fault::Length),
        (Role::Server, b"\x88\x01\x03", Fault::Close),
        (Role::Server, b"\x88\x02\x03\xed", Fault::Close),
        (Role::Server, b"\x88\x02\0\0", Fault::Close),
        (Role::Server, b"\x88\x03\x03\xe8\xff", Fault::Close),
    ] {
        for piece_bytes in [1, 100] {
            assert_eq!(decode(from, bytes, piece_bytes), Err(fault), "{bytes:?}");
        }
    }
}

#[test]
fn nothing_counts_after_a_close() {
    for (bytes, code) in [
        (&b"\x88\x00\xff\xff"[..], None),
        (b"\x88\x02\x03\xe8\x81\x05Hello", Some(1000)),
        (b"\x88\x05\x0f\xa0bye\x00", Some(4000)),
    ] {
        for piece_bytes in [1, 100] {
            let heard = decode(Role::Server, bytes, piece_bytes);
            assert_eq!(heard, Ok(vec![Heard::Close(code)]));
        }
    }
}

#[test]
fn a_content_of_a_control_frame_is_short() {
    assert_eq!(Control::new(&[7; 125]).unwrap().len(), 125);
    assert!(Control::new(&[7; 126]).is_none());
}

#[test]
fn masks_differ() {
    let mut client = Encoder::client().unwrap();
    let mut frames = [(); 3].map(|()| Vec::new());
    for frame in &mut frames {
        client.data(&[0; 32], frame);
    }
    assert!(frames[0] != frames[1] && frames[1] != frames[2]);
    assert_eq!(frames[0][2..6], frames[0][6..10]);
}

/// The actions of a side.
fn any_heard() -> impl Strategy<Value = Heard> {
    let control = || vec(any::<u8>(), 0..=MAX_CONTROL_BYTES);
    prop_oneof![
        4 => vec(any::<u8>(), 1..400).prop_map(Heard::Data),
        1 => Just(Heard::Data(vec![7; 70_000])),
        1 => control().prop_map(Heard::Ping),
        1 => control().prop_map(Heard::Pong),
    ]
}

proptest! {
    #[test]
    fn frames_survive_being_cut_anywhere(
        said in vec(any_heard(), 0..8),
        piece_bytes in 1..500_usize,
        is_client in any::<bool>(),
    ) {
        let (mut encoder, from) = match is_client {
            true => (Encoder::client().unwrap(), Role::Client),
            false => (Encoder::server(), Role::Server),
        };
        let mut bytes = Vec::new();
        let mut expected: Vec<Heard> = Vec::new();
        for one in said {
            match &one {
                Heard::Data(message) => encoder.data(message, &mut bytes),
                Heard::Ping(content) => encoder.ping(&Control::new(content).unwrap(), &mut bytes),
                Heard::Pong(content) => encoder.pong(&Control::new(content).unwrap(), &mut bytes),
                Heard::Close(_) => {}
            }
            match (expected.last_mut(), one) {
                (Some(Heard::Data(before)), Heard::Data(message)) => before.extend(message),
                (_, one) => expected.push(one),
            }
        }
        encoder.close(1001, &mut bytes);
        expected.push(Heard::Close(Some(1001)));
        prop_assert_eq!(decode(from, &bytes, piece_bytes), Ok(expected));
    }

    #[test]
    fn anything_can_be_said(said in vec(any::<u8>(), 0..200), piece_bytes in 1..20_usize) {
        for from in [Role::Client, Role::Server] {
            let _ = decode(from, &said, piece_bytes);
        }
    }
}
