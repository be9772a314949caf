//! A bridge over a WebSocket, to a relay behind a web server.
//!
//! # Why the certificate of the web server is not checked
//! What the parties say to each other is encrypted between them, by TLS that is pinned to their
//! keys. It would be as safe with no encryption around it, as it is with a bare relay. The outer
//! TLS is only there because the way lets nothing else pass: a proxy that inspects replaces the
//! certificate by one of its own, and a check would end there what it lets through. Whoever is at
//! the other end of the outer TLS is in the place of a relay, which is trusted with nothing but the
//! name of the meeting, and with keeping the line.

use std::{
    io::{self, ErrorKind, Read, Write},
    net::TcpStream,
    sync::{Arc, Mutex},
};

use psijoin_channel::Error as ChannelError;
use rustls::{
    ClientConfig, ClientConnection, Connection, DigitallySignedStruct, Error as TlsError,
    SignatureScheme,
    client::{
        Resumption,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{CryptoProvider, ring::default_provider},
    pki_types::{CertificateDer, ServerName, UnixTime},
};

use super::{Bridge, Given, Sink, Source, Stop};
use crate::{
    Error, RelayFault,
    dial::{self, Failure},
    endpoint::{Address, Web},
    patience::{POLL, Patience},
    tls,
    websocket::{AnswerDecoder, Control, Decoder, Encoder, Event, Request, Role},
    wire::{Received, Wire, WireReader, WireWriter},
};

/// The bytes that are read at once before the bridge is there.
const PIECE_BYTES: usize = 4096;

/// The code of a close frame that ends well (RFC 6455, section 7.4.1).
const NORMAL: u16 = 1000;

/// Asks the web server at the other end of `socket` for a WebSocket, and makes a bridge over it.
pub(crate) fn open(
    socket: TcpStream,
    (address, web): (&Address, &Web),
    fault: impl Fn(RelayFault) -> Error,
    patience: &Patience<'_>,
) -> Result<(TcpStream, Bridge), Failure> {
    let passing = |why| Failure::Passing(fault(why));
    let broken = |error: io::Error| match error.kind() {
        ErrorKind::UnexpectedEof
        | ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::BrokenPipe => passing(RelayFault::Closed),
        _ => Failure::Passing(error.into()),
    };
    socket.set_nodelay(true).map_err(broken)?;
    socket.set_read_timeout(Some(POLL)).map_err(broken)?;
    let tls = web.is_encrypted.then(|| client(address)).transpose();
    let mut outer = Outer {
        socket: &socket,
        tls: tls.map_err(|error| passing(RelayFault::Tls(error)))?,
        patience,
        fault: &fault,
    };
    outer.shake_hands()?;
    let frames = outer.upgrade(address, web)?;
    let tls = outer.tls;
    let wire = Wire::new(socket, tls).map_err(broken)?;
    let encoder = Encoder::client().ok_or(Failure::Lasting(Error::Randomness))?;
    Bridge::start(|stop| ends(wire, encoder, frames, stop)).map_err(broken)
}

/// The connection to the web server before there is a WebSocket.
struct Outer<'a> {
    socket: &'a TcpStream,
    tls: Option<Connection>,
    patience: &'a Patience<'a>,
    fault: &'a dyn Fn(RelayFault) -> Error,
}

impl Outer<'_> {
    fn passing(&self, why: RelayFault) -> Failure {
        Failure::Passing((self.fault)(why))
    }

    fn tls_fault(&self, error: &TlsError) -> Failure {
        self.passing(RelayFault::Tls(error.to_string()))
    }

    fn is_handshaking(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.is_handshaking())
    }

    fn shake_hands(&mut self) -> Result<(), Failure> {
        while self.is_handshaking() {
            self.write_out()?;
            // The last words of the handshake may be this side's.
            if self.is_handshaking() {
                self.read(&mut Vec::new())?;
            }
        }
        self.write_out()
    }

    /// Asks for the WebSocket, and returns what has come after the answer.
    fn upgrade(&mut self, address: &Address, web: &Web) -> Result<Vec<u8>, Failure> {
        let host = match (address.parts(), web.is_encrypted) {
            // The host is given without the port that everybody expects.
            ((_, 443), true) | ((_, 80), false) => {
                let (host, _) = address.as_str().rsplit_once(':').expect("a port");
                host
            }
            _ => address.as_str(),
        };
        let request = Request::new(host, &web.path).ok_or_else(|| {
            let why = "its address cannot stand in a request".to_owned();
            Failure::Lasting((self.fault)(RelayFault::Upgrade(why)))
        })?;
        self.say(&request.encode())?;
        let mut answer = AnswerDecoder::new(&request);
        loop {
            let mut heard = Vec::new();
            self.read(&mut heard)?;
            let mut rest = &heard[..];
            let granted = answer.take(&mut rest);
            if granted.map_err(|why| self.passing(RelayFault::Upgrade(why.to_string())))? {
                return Ok(rest.to_vec());
            }
        }
    }

    /// Says a few words, for which a fresh socket always has room.
    fn say(&mut self, words: &[u8]) -> Result<(), Failure> {
        match &mut self.tls {
            Some(tls) => {
                let said = tls.writer().write_all(words);
                said.map_err(|error| self.broken(error))?;
                self.write_out()
            }
            None => self
                .socket
                .write_all(words)
                .map_err(|error| self.broken(error)),
        }
    }

    fn write_out(&mut self) -> Result<(), Failure> {
        let Some(tls) = &mut self.tls else {
            return Ok(());
        };
        let written = tls::write_out(tls, self.socket);
        written.map_err(|error| self.broken(error))
    }

    fn broken(&self, error: io::Error) -> Failure {
        match error.kind() {
            ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => {
                self.passing(RelayFault::Closed)
            }
            _ => Failure::Passing(error.into()),
        }
    }

    /// Waits for bytes, which may all be for TLS.
    fn read(&mut self, heard: &mut Vec<u8>) -> Result<(), Failure> {
        let mut piece = [0; PIECE_BYTES];
        let length = loop {
            dial::left(self.patience).map_err(|over| match over {
                Failure::Unfinished(_) => self.passing(RelayFault::Silent(self.patience.limit)),
                stopped => stopped,
            })?;
            match (&mut &*self.socket).read(&mut piece) {
                Ok(0) => return Err(self.passing(RelayFault::Closed)),
                Ok(length) => break length,
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                    _ => return Err(self.broken(error)),
                },
            }
        };
        let bytes = &piece[..length];
        let Some(tls) = &mut self.tls else {
            heard.extend_from_slice(bytes);
            return Ok(());
        };
        let taken = tls::take_in(tls, bytes, |tls| {
            // An error means that there is nothing now.
            let _ = tls.reader().read_to_end(heard);
        });
        taken.map_err(|error| self.tls_fault(&error))
    }
}

/// Returns the state of the outer TLS.
fn client(address: &Address) -> Result<Connection, String> {
    let provider = Arc::new(default_provider());
    let mut config = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anybody(provider)))
        .with_no_client_auth();
    // A web server that knows HTTP/2 may speak it otherwise.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.resumption = Resumption::disabled();
    let (host, _) = address.parts();
    let name = ServerName::try_from(host.to_owned()).map_err(|error| error.to_string())?;
    let mut connection: Connection = ClientConnection::new(config.into(), name)
        .map_err(|error| error.to_string())?
        .into();
    connection.set_buffer_limit(None);
    Ok(connection)
}

/// Takes any certificate: see the [module](self). Signatures are checked all the same, so that a
/// damaged line shows.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Answers to pings, until the way out takes them.
type Pongs = Arc<Mutex<Vec<Control>>>;

/// Returns both ends of a bridge over a WebSocket, of which `heard` has been read.
fn ends(
    wire: Arc<Wire>,
    encoder: Encoder,
    heard: Vec<u8>,
    stop: &Stop,
) -> (impl Sink + use<>, impl Source + use<>) {
    let pongs = Pongs::default();
    let stop = stop.clone();
    let frames = Frames {
        writer: WireWriter::new(wire.clone(), move || stop.is_stopped()),
        encoder,
        frame: Vec::new(),
        pongs: pongs.clone(),
    };
    let messages = Messages {
        reader: WireReader::new(wire),
        decoder: Decoder::new(Role::Server),
        heard,
        pongs,
    };
    (frames, messages)
}

/// The way out, in frames.
struct Frames<S> {
    writer: WireWriter<S>,
    encoder: Encoder,
    frame: Vec<u8>,
    pongs: Pongs,
}

impl<S: Fn() -> bool> Frames<S> {
    fn write(&mut self, fill: impl FnOnce(&mut Encoder, &mut Vec<u8>)) -> io::Result<()> {
        self.frame.clear();
        for said in self.pongs.lock().expect(UNPOISONED).drain(..) {
            self.encoder.pong(&said, &mut self.frame);
        }
        fill(&mut self.encoder, &mut self.frame);
        if self.frame.is_empty() {
            return Ok(());
        }
        self.writer.write(&self.frame).map_err(io_error)
    }
}

impl<S: Fn() -> bool + Send + 'static> Sink for Frames<S> {
    const HALF_CLOSES: bool = false;

    fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write(|encoder, frame| encoder.data(bytes, frame))
    }

    fn idle(&mut self) -> io::Result<()> {
        self.write(|_, _| {})?;
        self.writer.answer().map_err(io_error)
    }

    /// The connection stays open for the other direction: many a web server takes the end of one
    /// for the end of both.
    fn end(&mut self) -> io::Result<()> {
        self.write(|encoder, frame| encoder.close(NORMAL, frame))
    }
}

/// The way in, out of frames.
struct Messages {
    reader: WireReader,
    decoder: Decoder,
    /// What was read before the bridge was there.
    heard: Vec<u8>,
    pongs: Pongs,
}

impl Source for Messages {
    fn give(&mut self, bytes: &mut Vec<u8>) -> io::Result<Given> {
        let mut heard = std::mem::take(&mut self.heard);
        if heard.is_empty() {
            match self.reader.read().map_err(io_error)? {
                Received::Bytes(read) => heard.extend_from_slice(read),
                Received::Nothing => return Ok(Given::Nothing),
                Received::End => return Ok(Given::End),
            }
        }
        let mut rest = &mut heard[..];
        while let Some(event) = self
            .decoder
            .next_event(&mut rest)
            .map_err(io::Error::other)?
        {
            match event {
                Event::Data(data) => bytes.extend_from_slice(data),
                Event::Ping(said) => {
                    let mut pongs = self.pongs.lock().expect(UNPOISONED);
                    // Whoever asks faster than this side can answer gets the latest answers only.
                    if pongs.len() >= MAX_PONGS {
                        pongs.remove(0);
                    }
                    pongs.push(said);
                }
                Event::Pong(_) => {}
                Event::Close(_) => return Ok(Given::End),
            }
        }
        Ok(match bytes.is_empty() {
            true => Given::Nothing,
            false => Given::Bytes,
        })
    }
}

/// The answers to pings that wait at most.
const MAX_PONGS: usize = 16;

const UNPOISONED: &str = "no thread panics while it holds this lock";

fn io_error(error: ChannelError) -> io::Error {
    match error {
        ChannelError::Io(error) => error,
        ChannelError::Closed => ErrorKind::ConnectionReset.into(),
        other => io::Error::other(other),
    }
}
