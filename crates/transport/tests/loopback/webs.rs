//! A relay behind a web server, played by a few threads.

use std::{
    io::{ErrorKind, Read, Write},
    net::{TcpListener, TcpStream},
    sync::Arc,
    thread,
    time::Duration,
};

use psijoin_channel::joint_seed::JointSeed;
use psijoin_transport::{
    Connection, Error, Identity, RelayAddress,
    websocket::{Decoder, Encoder, Event, RequestDecoder, Role},
};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    crypto::ring::default_provider,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};

use crate::{
    A_WHILE,
    meeting::patient_for,
    relays::{Parties, Relay, greet},
};

/// The time between two looks.
const POLL: Duration = Duration::from_millis(1);

/// A web server with a certificate that nobody trusts, or without TLS.
struct Web {
    address: RelayAddress,
}

impl Web {
    /// Starts one before a relay.
    fn before(relay: &RelayAddress, is_encrypted: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let scheme = if is_encrypted { "wss" } else { "ws" };
        let address = format!("{scheme}://{}/meet", listener.local_addr().unwrap());
        let config = is_encrypted.then(|| Arc::new(config()));
        let relay = relay.to_string();
        thread::spawn(move || {
            for socket in listener.incoming() {
                let (socket, relay, config) = (socket.unwrap(), relay.clone(), config.clone());
                thread::spawn(move || serve(socket, &relay, config));
            }
        });
        Self {
            address: address.parse().unwrap(),
        }
    }
}

fn config() -> ServerConfig {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("web.pem");
    Identity::generate().unwrap().write_new(&file).unwrap();
    let chain = vec![CertificateDer::from_pem_file(&file).unwrap()];
    let key = PrivateKeyDer::from_pem_file(&file).unwrap();
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config
}

trait Stream: Read + Write {}

impl<T: Read + Write> Stream for T {}

fn serve(socket: TcpStream, relay: &str, config: Option<Arc<ServerConfig>>) {
    let Ok(nonblocking) = socket.try_clone() else {
        return;
    };
    let mut stream: Box<dyn Stream> = match config {
        None => Box::new(socket),
        Some(config) => {
            let tls = ServerConnection::new(config).unwrap();
            Box::new(StreamOwned::new(tls, socket))
        }
    };
    let mut request = RequestDecoder::new();
    let upgrade = loop {
        let mut byte = [0];
        if stream.read_exact(&mut byte).is_err() {
            return;
        }
        if let Some(upgrade) = request.take(&mut &byte[..]).unwrap() {
            break upgrade;
        }
    };
    stream.write_all(&upgrade.answer()).unwrap();
    stream.flush().unwrap();
    let behind = TcpStream::connect(relay).unwrap();
    nonblocking.set_nonblocking(true).unwrap();
    behind.set_nonblocking(true).unwrap();
    pass(&mut *stream, behind);
}

/// Passes bytes between a WebSocket and a relay, until both have ended.
fn pass(web: &mut dyn Stream, mut relay: TcpStream) {
    let (mut decoder, mut encoder) = (Decoder::new(Role::Client), Encoder::server());
    let mut piece = vec![0; 1 << 16];
    let mut frame = Vec::new();
    // Whoever comes has to answer it, and may.
    encoder.ping(
        &psijoin_transport::websocket::Control::new(b"there?").unwrap(),
        &mut frame,
    );
    // As many a web server and inspecting proxy does, it takes the end of one direction for that of
    // both.
    let mut has_ended = false;
    while !has_ended {
        write_all(web, &frame);
        frame.clear();
        match web.read(&mut piece) {
            Ok(0) => return,
            Ok(length) => {
                let mut rest = &mut piece[..length];
                while let Some(event) = decoder.next_event(&mut rest).unwrap() {
                    match event {
                        Event::Data(data) => write_all(&mut relay, data),
                        Event::Pong(said) => assert_eq!(&*said, b"there?"),
                        Event::Ping(_) => {}
                        Event::Close(_) => {
                            encoder.close(1000, &mut frame);
                            has_ended = true;
                        }
                    }
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
        match relay.read(&mut piece) {
            Ok(0) => {
                encoder.close(1000, &mut frame);
                has_ended = true;
            }
            Ok(length) => encoder.data(&piece[..length], &mut frame),
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(POLL),
            Err(_) => return,
        }
    }
    write_all(web, &frame);
}

fn write_all(to: &mut (impl Write + ?Sized), mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match to.write(bytes) {
            Ok(length) => bytes = &bytes[length..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(POLL),
            Err(_) => return,
        }
    }
    let _ = to.flush();
}

#[test]
fn parties_meet_through_a_web_server_with_all_their_streams() {
    for is_encrypted in [true, false] {
        let relay = Relay::start();
        let web = Web::before(relay.address(), is_encrypted);
        let seed = JointSeed::insecure_fixed([3; 32]);
        let met = Parties::at(&web.address).meet(Duration::ZERO);
        thread::scope(|scope| {
            for (i, meeting) in met.into_iter().enumerate() {
                scope.spawn(move || {
                    let (mut connection, _) = meeting.unwrap();
                    let place = connection.peer_place().to_owned();
                    assert!(place.contains("the relay ws"), "{place}");
                    let mut streams = connection.open_streams(2, &seed).unwrap();
                    let words = vec![7; 1 << 20];
                    for _ in 0..3 {
                        match i {
                            0 => streams[1].send(&words).unwrap(),
                            _ => {
                                let mut heard = vec![0; words.len()];
                                streams[1].recv(&mut heard).unwrap();
                                assert!(heard == words);
                            }
                        }
                    }
                    connection.finish().unwrap();
                });
            }
        });
    }
}

#[test]
fn one_party_may_come_to_the_relay_itself() {
    let relay = Relay::start();
    let web = Web::before(relay.address(), true);
    let mut parties = Parties::at(relay.address());
    parties.at[1].relay = web.address;
    greet(parties.meet(Duration::ZERO));
}

/// Answers everybody so.
fn answers(answer: &'static [u8]) -> RelayAddress {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("ws://{}/", listener.local_addr().unwrap());
    thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            let _ = socket.write_all(answer);
            let _ = socket.read(&mut [0; 1000]);
        }
    });
    address.parse().unwrap()
}

#[test]
fn a_web_server_without_a_relay_is_told_as_such() {
    let encrypted = |address: RelayAddress| -> RelayAddress {
        address
            .to_string()
            .replace("ws://", "wss://")
            .parse()
            .unwrap()
    };
    let cases = [
        (
            answers(b"HTTP/1.1 404 Not Found\r\n\r\n"),
            "is not behind the web server at this address and path: the server answered with the HTTP status 404",
        ),
        (
            answers(b"SSH-2.0-x\r\n\r\n\r\n"),
            "is not behind the web server",
        ),
        (
            encrypted(answers(b"HTTP/1.1 400 Bad\r\n\r\n")),
            "cannot be spoken to in TLS",
        ),
    ];
    thread::scope(|scope| {
        for (address, said) in cases {
            let parties = Parties::at(&address);
            for (at, options) in parties.at.into_iter().zip(parties.options) {
                scope.spawn(move || {
                    let options = patient_for(A_WHILE, options);
                    let error = Connection::meet_at_relay(&at, &options, &|_| {}).unwrap_err();
                    assert!(matches!(error, Error::NobodyAtRelay { .. }), "{error}");
                    assert!(error.to_string().contains(said), "{error}");
                });
            }
        }
    });
}
