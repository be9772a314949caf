//! Parties that come through the front end of an HTTPS server: their side of it is plain WebSocket.

use std::{
    io::{Read, Write},
    net::TcpStream,
    thread,
};

use psijoin_transport::{
    rendezvous::{Hello, Side, State, StateDecoder},
    websocket::{AnswerDecoder, Control, Decoder, Encoder, Event, Request, Role},
};

use crate::{Running, connect, hello};

/// A client of WebSocket, that blocks.
struct Client {
    socket: TcpStream,
    encoder: Encoder,
    decoder: Decoder,
    /// What has come and was not used yet.
    heard: Vec<u8>,
    pongs: Vec<Control>,
    has_closed: bool,
}

impl Client {
    fn come(relay: &Running, hello: &Hello, fields: &str) -> Self {
        let mut socket = connect(relay.address);
        let request = Request::new("relay.example.org", "/psijoin").unwrap();
        let text = String::from_utf8(request.encode()).unwrap();
        let text = text.replace("\r\n\r\n", &format!("\r\n{fields}\r\n"));
        socket.write_all(text.as_bytes()).unwrap();
        let mut answer = AnswerDecoder::new(&request);
        let mut byte = [0];
        loop {
            socket.read_exact(&mut byte).unwrap();
            if answer.take(&mut &byte[..]).unwrap() {
                break;
            }
        }
        let mut client = Self {
            socket,
            encoder: Encoder::client().unwrap(),
            decoder: Decoder::new(Role::Server),
            heard: Vec::new(),
            pongs: Vec::new(),
            has_closed: false,
        };
        client.say(&hello.encode());
        client
    }

    fn say(&mut self, bytes: &[u8]) {
        let mut frames = Vec::new();
        self.encoder.data(bytes, &mut frames);
        self.socket.write_all(&frames).unwrap();
    }

    /// Reads once, and tells whether there was something.
    fn hear(&mut self) -> bool {
        let mut buffer = vec![0; 5000];
        let length = self.socket.read(&mut buffer).unwrap();
        let mut input = &mut buffer[..length];
        while let Some(event) = self.decoder.next_event(&mut input).unwrap() {
            match event {
                Event::Data(bytes) => self.heard.extend_from_slice(bytes),
                Event::Pong(content) => self.pongs.push(content),
                Event::Ping(_) => {}
                Event::Close(_) => self.has_closed = true,
            }
        }
        length > 0 && !self.has_closed
    }

    /// Returns so many bytes of messages.
    fn take(&mut self, length: usize) -> Vec<u8> {
        while self.heard.len() < length {
            // Its end may come with the last of them.
            let is_open = self.hear();
            assert!(
                is_open || self.heard.len() >= length,
                "{length} bytes were due"
            );
        }
        self.heard.drain(..length).collect()
    }

    fn next_change(&mut self) -> State {
        let mut decoder = StateDecoder::new();
        loop {
            let bytes = self.take(decoder.due());
            match decoder.next_state(&mut &bytes[..]).unwrap() {
                None | Some(State::Waiting(_)) => {}
                Some(state) => return state,
            }
        }
    }

    fn joined(mut self) -> Self {
        assert!(matches!(self.next_change(), State::Here(_)));
        assert_eq!(self.next_change(), State::Go);
        self
    }
}

#[test]
fn a_bare_party_and_one_of_websocket_meet() {
    let relay = Running::start(|_| ());
    for side in [Side::Server, Side::Client] {
        let bare = relay.come(&hello(side.other(), 1));
        let client = Client::come(&relay, &hello(side, 1), "");
        let (mut bare, mut client) = (bare.joined(), client.joined());
        client.say(b"hello");
        let mut heard = [0; 5];
        bare.read_exact(&mut heard).unwrap();
        assert_eq!(&heard, b"hello");
        bare.write_all(b"and hello").unwrap();
        assert_eq!(client.take(9), b"and hello");
    }
}

#[test]
fn two_of_websocket_meet_and_much_passes() {
    let relay = Running::start(|_| ());
    let parties =
        [Side::Server, Side::Client].map(|side| Client::come(&relay, &hello(side, 1), ""));
    let [mut one, mut other] = parties.map(Client::joined);
    let bytes: Vec<u8> = (0..1_000_000_u32)
        .map(|i| (i.wrapping_mul(i) >> 5) as u8)
        .collect();
    thread::scope(|scope| {
        let said = &bytes;
        scope.spawn(move || said.chunks(70_001).for_each(|piece| one.say(piece)));
        assert!(other.take(bytes.len()) == bytes);
    });
}

#[test]
fn the_end_of_a_direction_is_a_close_frame() {
    let relay = Running::start(|_| ());
    let bare = relay.come(&hello(Side::Server, 1));
    let client = Client::come(&relay, &hello(Side::Client, 1), "");
    let (mut bare, mut client) = (bare.joined(), client.joined());
    bare.write_all(b"last words").unwrap();
    bare.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(client.take(10), b"last words");
    while !client.has_closed {
        client.hear();
    }
    // The other way is open.
    client.say(b"answer");
    let mut close = Vec::new();
    client.encoder.close(1000, &mut close);
    client.socket.write_all(&close).unwrap();
    let mut heard = String::new();
    bare.read_to_string(&mut heard).unwrap();
    assert_eq!(heard, "answer");
    drop((bare, client));
    relay.await_counter("pairs", 0);
}

#[test]
fn pings_are_answered_before_and_after_the_meeting() {
    let relay = Running::start(|_| ());
    let mut client = Client::come(&relay, &hello(Side::Client, 1), "");
    let ping = |client: &mut Client, content: &[u8]| {
        let mut frames = Vec::new();
        let content = Control::new(content).unwrap();
        client.encoder.ping(&content, &mut frames);
        client.socket.write_all(&frames).unwrap();
        while !client.pongs.contains(&content) {
            assert!(client.hear());
        }
    };
    ping(&mut client, b"before");
    let bare = relay.come(&hello(Side::Server, 1));
    let (_bare, mut client) = (bare.joined(), client.joined());
    ping(&mut client, b"after");
}

#[test]
fn what_is_no_frame_ends_the_pair() {
    let relay = Running::start(|_| ());
    let bare = relay.come(&hello(Side::Server, 1));
    let client = Client::come(&relay, &hello(Side::Client, 1), "");
    let (mut bare, mut client) = (bare.joined(), client.joined());
    // Not masked.
    client.socket.write_all(b"\x82\x05hello").unwrap();
    assert!(matches!(bare.read(&mut [0]), Ok(0) | Err(_)));
    relay.await_counter("pairs", 0);
}

#[test]
fn a_front_end_is_believed_where_somebody_comes_from_and_others_are_not() {
    for (trusted, is_let_in) in [("127.0.0.1", true), ("192.0.2.9", false)] {
        let relay = Running::start(|options| {
            options.limits.waiting_per_address = 1;
            options.front_ends = vec![trusted.parse().unwrap()];
        });
        let first = "X-Forwarded-For: 198.51.100.1\r\n";
        let _first = Client::come(&relay, &hello(Side::Server, 1), first);
        relay.await_counter("waiting", 1);
        let second = "X-Forwarded-For: 198.51.100.2\r\n";
        let _second = Client::come(&relay, &hello(Side::Server, 2), second);
        match is_let_in {
            true => relay.await_counter("waiting", 2),
            false => relay.await_counter("refusals_total{reason=\"waiting_of_address\"}", 1),
        }
    }
}
