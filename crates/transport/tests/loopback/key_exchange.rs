//! Keys are exchanged by X25519 and ML-KEM together, or by X25519 alone with an older release.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::Arc,
    thread,
};

use psijoin_transport::{Connection, Identity, endpoint::Address};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, DistinguishedName, Error as TlsError,
    ServerConfig, ServerConnection, SignatureScheme, Stream,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring::default_provider},
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject},
    server::danger::{ClientCertVerified, ClientCertVerifier},
    version::TLS13,
};

use super::{PREAMBLE, listener, tls, tls_connected};

#[test]
fn two_parties_are_post_quantum() {
    for (connection, _) in tls_connected() {
        let exchange = connection.key_exchange().unwrap();
        assert!(exchange.is_post_quantum());
        assert_eq!(exchange.to_string(), "X25519MLKEM768");
    }
}

#[test]
fn without_tls_there_is_no_exchange() {
    for (connection, _) in super::plaintext_connected() {
        assert_eq!(connection.key_exchange(), None);
    }
}

#[track_caller]
fn assert_classical(connection: &Connection) {
    let exchange = connection.key_exchange().unwrap();
    assert!(!exchange.is_post_quantum());
    assert_eq!(exchange.to_string(), "X25519");
}

/// And no round trip more: the older side has X25519's share in the first flight.
#[test]
fn an_older_party_that_listens_is_met() {
    let (ours, theirs) = (Identity::generate().unwrap(), Identity::generate().unwrap());
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address: Address = socket.local_addr().unwrap().into();
    let options = tls(&ours, &theirs);
    thread::scope(|scope| {
        scope.spawn(|| {
            let (mut socket, _) = socket.accept().unwrap();
            let (chain, key) = certified(&theirs);
            let config = ServerConfig::builder_with_provider(Older::provider())
                .with_protocol_versions(&[&TLS13])
                .unwrap()
                .with_client_cert_verifier(Arc::new(Older))
                .with_single_cert(chain, key)
                .unwrap();
            let mut tls = ServerConnection::new(config.into()).unwrap();
            greet(&mut Stream::new(&mut tls, &mut socket));
            assert_eq!(
                tls.handshake_kind(),
                Some(rustls::HandshakeKind::Full),
                "nothing is asked for again"
            );
        });
        let (connection, _channel) = Connection::connect(&address, &options).unwrap();
        assert_classical(&connection);
    });
}

#[test]
fn an_older_party_that_connects_is_met() {
    let (ours, theirs) = (Identity::generate().unwrap(), Identity::generate().unwrap());
    let listener = listener();
    let address = listener.address().clone();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut socket = TcpStream::connect(address.as_str()).unwrap();
            let (chain, key) = certified(&theirs);
            let config = ClientConfig::builder_with_provider(Older::provider())
                .with_protocol_versions(&[&TLS13])
                .unwrap()
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(Older))
                .with_client_auth_cert(chain, key)
                .unwrap();
            let name = "psijoin".try_into().unwrap();
            let mut tls = ClientConnection::new(config.into(), name).unwrap();
            greet(&mut Stream::new(&mut tls, &mut socket));
        });
        let (connection, _channel) = Connection::accept(listener, &tls(&ours, &theirs)).unwrap();
        assert_classical(&connection);
    });
}

/// Says and hears the first words inside of TLS.
fn greet(stream: &mut (impl Read + Write)) {
    let words = [PREAMBLE, &[0; 8192]].concat();
    stream.write_all(&words).unwrap();
    let mut heard = vec![0; words.len()];
    stream.read_exact(&mut heard).unwrap();
    assert_eq!(&heard[..PREAMBLE.len()], PREAMBLE);
}

fn certified(identity: &Identity) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("identity.pem");
    identity.write_new(&path).unwrap();
    let certificate = CertificateDer::from_pem_file(&path).unwrap();
    let key = PrivateKeyDer::from_pem_file(&path).unwrap();
    (vec![certificate], key)
}

/// A party of a release without ML-KEM. It takes any certificate.
#[derive(Debug)]
struct Older;

impl Older {
    fn provider() -> Arc<CryptoProvider> {
        Arc::new(default_provider())
    }

    fn schemes() -> Vec<SignatureScheme> {
        let algorithms = Self::provider().signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}

impl ServerCertVerifier for Older {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        unreachable!("it is TLS 1.3")
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        Self::schemes()
    }
}

impl ClientCertVerifier for Older {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, TlsError> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        unreachable!("it is TLS 1.3")
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        Self::schemes()
    }
}
