//! A party of a release without ML-KEM. It takes any certificate.

use std::{
    io::{Read, Write},
    path::Path,
    sync::Arc,
};

use rustls::{
    ClientConfig, DigitallySignedStruct, DistinguishedName, Error, ServerConfig, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring::default_provider},
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject},
    server::danger::{ClientCertVerified, ClientCertVerifier},
    version::TLS13,
};

/// The first bytes of a party that does not encrypt, and within TLS.
pub(crate) const PREAMBLE: &[u8] = b"psijoin\x03";

/// Returns the side that connects, with the identity in this file.
pub(crate) fn client(identity: &Path) -> ClientConfig {
    let (chain, key) = certified(identity);
    ClientConfig::builder_with_provider(Older::provider())
        .with_protocol_versions(&[&TLS13])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Older))
        .with_client_auth_cert(chain, key)
        .unwrap()
}

/// Returns the side that listens, with the identity in this file.
pub(crate) fn server(identity: &Path) -> ServerConfig {
    let (chain, key) = certified(identity);
    ServerConfig::builder_with_provider(Older::provider())
        .with_protocol_versions(&[&TLS13])
        .unwrap()
        .with_client_cert_verifier(Arc::new(Older))
        .with_single_cert(chain, key)
        .unwrap()
}

/// Says and hears the first words inside of TLS.
pub(crate) fn greet(stream: &mut (impl Read + Write)) {
    let words = [PREAMBLE, &[0; 8192]].concat();
    stream.write_all(&words).unwrap();
    let mut heard = vec![0; words.len()];
    stream.read_exact(&mut heard).unwrap();
    assert_eq!(&heard[..PREAMBLE.len()], PREAMBLE);
}

fn certified(identity: &Path) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
    let certificate = CertificateDer::from_pem_file(identity).unwrap();
    let key = PrivateKeyDer::from_pem_file(identity).unwrap();
    (vec![certificate], key)
}

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
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        unreachable!("it is TLS 1.3")
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
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
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        unreachable!("it is TLS 1.3")
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        Self::schemes()
    }
}
