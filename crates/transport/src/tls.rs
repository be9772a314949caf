//! TLS 1.3 between two parties that know each other's key: both present a self-signed
//! certificate, and both accept exactly the keys whose fingerprints they were given, and those that
//! [follow](crate::succession) them. There is no authority, no name, no date, no resumption and no
//! early data.
//!
//! A side that waits for somebody with an [invitation](crate::invitation) accepts any key here, and
//! takes nobody for its peer before the invitation was shown.

use std::{io::Write, sync::Arc};

use rustls::{
    AlertDescription, CertificateError, ClientConfig, ClientConnection, Connection,
    DigitallySignedStruct, DistinguishedName, Error as TlsError, OtherError, ServerConfig,
    SignatureScheme,
    client::{
        Resumption,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{CryptoProvider, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::{
        Accepted, AcceptedAlert, NoServerSessionStorage,
        danger::{ClientCertVerified, ClientCertVerifier},
    },
    sign::SingleCertAndKey,
    version::TLS13,
};

use crate::{
    Error, Fingerprint, Identity, NotAKey, Pin, PublicKey,
    identity::{fingerprint_of, has_unsound_key, key_of, provider},
    knock,
    succession::{self, Standing, Succeeded},
};

/// The keys that TLS takes for the peer's.
#[derive(Debug, Clone)]
pub(crate) enum Pins {
    /// One of these, and those that follow them.
    These(Vec<Pin>),
    /// Any Ed25519 key: what is said inside of TLS shows who it is.
    Anybody,
}

/// Refuses a peer that would be this side itself.
pub(crate) fn check_apart(identity: &Identity, peers: &[Pin]) -> Result<(), Error> {
    let ours = identity.fingerprint();
    match peers.iter().any(|peer| peer.fingerprint == ours) {
        true => Err(Error::OwnFingerprint(ours)),
        false => Ok(()),
    }
}

/// Returns the TLS configuration of the side that connects.
pub(crate) fn connecting(identity: &Identity, peers: Vec<Pin>) -> Result<Arc<ClientConfig>, Error> {
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .map_err(setup_error)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(PinnedPeer::new(Pins::These(peers))))
        .with_client_cert_resolver(Arc::new(SingleCertAndKey::from(
            identity.certified().clone(),
        )));
    config.resumption = Resumption::disabled();
    config.enable_sni = false;
    Ok(Arc::new(config))
}

/// Returns the TLS configuration of the side that listens.
pub(crate) fn listening(identity: &Identity, peers: Pins) -> Result<Arc<ServerConfig>, Error> {
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .map_err(setup_error)?
        .with_client_cert_verifier(Arc::new(PinnedPeer::new(peers)))
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(
            identity.certified().clone(),
        )));
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
}

/// Returns the TLS state of the side that connected, with its knock.
pub(crate) fn client(
    config: &Arc<ClientConfig>,
    knock: Option<Vec<u8>>,
) -> Result<Connection, Error> {
    let unused_name = ServerName::try_from("psijoin").expect("this is a valid host name");
    let mut config = ClientConfig::clone(config);
    // The other side chooses none of these names, so that none means anything to TLS.
    config.alpn_protocols = knock.into_iter().collect();
    let connection = ClientConnection::new(config.into(), unused_name).map_err(setup_error)?;
    Ok(unbounded(connection.into()))
}

/// Returns the TLS state of the side that listened, as it answers.
pub(crate) fn server(
    hello: Accepted,
    config: &Arc<ServerConfig>,
) -> Result<Connection, (TlsError, AcceptedAlert)> {
    let connection = hello.into_connection(config.clone())?;
    Ok(unbounded(connection.into()))
}

/// Returns the key that the peer has proved to have, if it is one that signs statements.
pub(crate) fn peer_key(connection: &Connection) -> Option<PublicKey> {
    key_of(connection.peer_certificates()?.first()?)
}

/// Returns the name of the key that the peer has proved to have.
pub(crate) fn peer_fingerprint(connection: &Connection) -> Option<Fingerprint> {
    fingerprint_of(connection.peer_certificates()?.first()?)
}

/// Returns which of these keys the peer's follows, if it is none of them itself.
pub(crate) fn succeeded(connection: &Connection, pins: &[Pin]) -> Option<Succeeded> {
    let (first, rest) = connection.peer_certificates()?.split_first()?;
    let found = key_of(first)?;
    if pins
        .iter()
        .any(|pin| pin.fingerprint == found.fingerprint())
    {
        return None;
    }
    let statements = succession::of_entries(rest);
    match succession::judge(found, &statements, pins, knock::now()) {
        Standing::Follows(succeeded) => Some(succeeded),
        Standing::TooLate(_) | Standing::Unknown => None,
    }
}

/// Returns a secret that both ends of this connection have and nobody else: another one for each
/// label (RFC 8446, section 7.5). Nothing comes before the handshake is over.
pub(crate) fn exported(connection: &Connection, label: &str) -> Option<[u8; 32]> {
    let exported = connection.export_keying_material([0; 32], label.as_bytes(), None);
    exported.ok()
}

/// Lifts the limit on what waits to be sent: the writer takes it all at once, a bounded piece
/// at a time.
fn unbounded(mut connection: Connection) -> Connection {
    connection.set_buffer_limit(None);
    connection
}

fn setup_error(error: TlsError) -> Error {
    Error::Tls(error.to_string())
}

/// Takes in `bytes` from the peer.
///
/// `plaintext` is called as soon as there may be some, since only little is kept.
pub(crate) fn take_in(
    connection: &mut Connection,
    mut bytes: &[u8],
    mut plaintext: impl FnMut(&mut Connection),
) -> Result<(), TlsError> {
    while !bytes.is_empty() {
        let taken = connection
            .read_tls(&mut bytes)
            .map_err(|e| TlsError::General(e.to_string()))?;
        connection.process_new_packets()?;
        plaintext(connection);
        if taken == 0 {
            // The peer has closed: what follows does not count.
            break;
        }
    }
    Ok(())
}

/// Writes out TLS's own messages.
pub(crate) fn write_out(connection: &mut Connection, mut to: impl Write) -> std::io::Result<()> {
    while connection.wants_write() {
        connection.write_tls(&mut to)?;
    }
    Ok(())
}

/// Returns what a failed TLS handshake means, for the party that `ours` names.
pub(crate) fn explain(error: TlsError, ours: Fingerprint) -> Error {
    match error {
        TlsError::InvalidCertificate(CertificateError::Other(OtherError(cause))) => {
            match cause.downcast_ref::<WrongKey>() {
                Some(wrong) => wrong.explain(),
                None => Error::Tls(cause.to_string()),
            }
        }
        // The alert that rustls sends for `CertificateError::Other`; no other check of ours leads
        // to it.
        TlsError::AlertReceived(AlertDescription::CertificateUnknown) => Error::Refused { ours },
        TlsError::AlertReceived(
            alert @ (AlertDescription::ProtocolVersion
            | AlertDescription::HandshakeFailure
            | AlertDescription::UnrecognisedName
            | AlertDescription::NoApplicationProtocol),
        ) => Error::Tls(format!(
            "the other side ended it with the alert {alert:?}: something on the way, such as a load balancer or a \
             firewall that inspects TLS, may end it itself; let it pass TCP as it is"
        )),
        TlsError::InvalidMessage(_) => Error::NotPsijoin("its bytes are not TLS"),
        TlsError::InappropriateMessage { .. } | TlsError::InappropriateHandshakeMessage { .. } => {
            Error::NotPsijoin("its bytes are not those of a TLS handshake")
        }
        other => Error::Tls(other.to_string()),
    }
}

/// Accepts the pinned keys, those that follow them, and no other.
#[derive(Debug)]
struct PinnedPeer {
    expected: Pins,
    provider: Arc<CryptoProvider>,
}

/// The verdict of [`PinnedPeer`], in the form in which it travels through rustls.
#[derive(Debug, thiserror::Error)]
#[error("the key is {found}, and it is not pinned")]
struct WrongKey {
    found: Fingerprint,
    expected: Vec<Fingerprint>,
    /// The key that it follows or is, whose time is over.
    over: Option<Succeeded>,
}

impl WrongKey {
    fn explain(&self) -> Error {
        let found = self.found;
        match (self.over, &*self.expected) {
            (Some(Succeeded { old, until, .. }), _) => Error::ReplacedKey { found, old, until },
            (None, &[expected]) => Error::WrongPeer { found, expected },
            (None, expected) => Error::NoneOfThese {
                found,
                expected: expected.to_vec(),
            },
        }
    }
}

impl PinnedPeer {
    fn new(expected: Pins) -> Self {
        Self {
            expected,
            provider: provider(),
        }
    }

    /// Judges the key in a certificate, with what came behind it.
    fn verify(
        &self,
        certificate: &CertificateDer<'_>,
        rest: &[CertificateDer<'_>],
    ) -> Result<(), TlsError> {
        let found = fingerprint_of(certificate)
            .ok_or(TlsError::InvalidCertificate(CertificateError::BadEncoding))?;
        let verdict: Arc<dyn std::error::Error + Send + Sync> = match &self.expected {
            Pins::Anybody if key_of(certificate).is_some() => return Ok(()),
            Pins::Anybody => Arc::new(NotAKey::Unsound),
            Pins::These(pins) => match judge(found, certificate, rest, pins) {
                Ok(()) if has_unsound_key(certificate) => Arc::new(NotAKey::Unsound),
                Ok(()) => return Ok(()),
                Err(wrong) => Arc::new(wrong),
            },
        };
        Err(TlsError::InvalidCertificate(CertificateError::Other(
            OtherError(verdict),
        )))
    }

    fn verify_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

/// Judges a key by these pins, and by the statements that came along with it.
fn judge(
    found: Fingerprint,
    certificate: &CertificateDer<'_>,
    rest: &[CertificateDer<'_>],
    pins: &[Pin],
) -> Result<(), WrongKey> {
    let now = knock::now();
    let wrong = |over| WrongKey {
        found,
        expected: pins.iter().map(|pin| pin.fingerprint).collect(),
        over,
    };
    if let Some(pin) = pins.iter().find(|pin| pin.fingerprint == found) {
        return match (pin.counts(now), pin.until) {
            (false, Some(until)) => Err(wrong(Some(Succeeded { old: found, until }))),
            _ => Ok(()),
        };
    }
    let statements = succession::of_entries(rest);
    let standing = match key_of(certificate).filter(|_| !statements.is_empty()) {
        Some(key) => succession::judge(key, &statements, pins, now),
        None => Standing::Unknown,
    };
    match standing {
        Standing::Follows(_) => Ok(()),
        Standing::TooLate(succeeded) => Err(wrong(Some(succeeded))),
        Standing::Unknown => Err(wrong(None)),
    }
}

/// Returns the answer to TLS 1.2, which is not offered.
fn refuse_tls12() -> Result<HandshakeSignatureValid, TlsError> {
    Err(TlsError::General("TLS 1.2 is not supported".to_owned()))
}

impl ServerCertVerifier for PinnedPeer {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        rest: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        self.verify(end_entity, rest)
            .map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        refuse_tls12()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.verify_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes()
    }
}

impl ClientCertVerifier for PinnedPeer {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        rest: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, TlsError> {
        self.verify(end_entity, rest)
            .map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        refuse_tls12()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.verify_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFICERS: &str = include_str!("../../../docs/security-officer.md");

    /// The page for security officers promises these.
    #[test]
    fn key_exchange_and_ciphers_are_those_of_the_document() {
        let provider = provider();
        let groups: Vec<_> = (provider.kx_groups.iter())
            .map(|group| format!("{:?}", group.name()))
            .collect();
        let expected = ["X25519MLKEM768", "X25519", "secp256r1", "secp384r1"];
        assert_eq!(groups, expected);
        assert!(OFFICERS.contains("X25519MLKEM768, or X25519, or ECDHE on P-256 or P-384"));
        let ciphers: Vec<_> = (provider.cipher_suites.iter())
            .filter(|suite| suite.tls13().is_some())
            .map(|suite| format!("{:?}", suite.suite()))
            .collect();
        let expected = [
            "TLS13_AES_256_GCM_SHA384",
            "TLS13_AES_128_GCM_SHA256",
            "TLS13_CHACHA20_POLY1305_SHA256",
        ];
        assert_eq!(ciphers, expected);
        assert!(OFFICERS.contains("| AES-256-GCM, AES-128-GCM, ChaCha20-Poly1305 |"));
    }

    /// The certificate names the pinned key, and anybody could sign with it.
    #[test]
    fn a_pinned_key_that_nobody_can_have_is_refused() {
        let identity = Identity::generate().unwrap();
        let genuine = identity.certified().cert[0].clone();
        let pinned = |certificate: &CertificateDer<'_>| {
            let expected = fingerprint_of(certificate).unwrap();
            let pins = Pins::These(vec![expected.into()]);
            PinnedPeer::new(pins).verify(certificate, &[])
        };
        pinned(&genuine).unwrap();

        let key = identity.public_key().unwrap().to_bytes();
        let mut forged = genuine.to_vec();
        let at = forged.windows(key.len()).position(|bytes| bytes == key);
        let place = &mut forged[at.unwrap()..][..key.len()];
        place.fill(0);
        place[0] = 1;
        let error = pinned(&forged.into()).unwrap_err();
        let error = explain(error, identity.fingerprint()).to_string();
        assert!(error.contains("no sound Ed25519 key"), "{error}");
    }
}
