//! X25519MLKEM768: key exchange by X25519 and ML-KEM-768 at once, as draft-ietf-tls-ecdhe-mlkem
//! has it. The secret of TLS is both secrets, one after the other, so it stays unknown as long as
//! either of them does: a quantum computer finds the first one in a recording, but not the second.
//!
//! Shares and secrets are concatenated, those of ML-KEM first. An older peer takes the X25519 share
//! that the client offers beside the hybrid one, at no cost of its own.

use std::fmt;

use ml_kem::{Decapsulate, DecapsulationKey, EncapsulationKey, KeyExport, MlKem768};
use ring::rand::{SecureRandom, SystemRandom};
use rustls::{
    Connection, Error as TlsError, NamedGroup, PeerMisbehaved, ProtocolVersion,
    crypto::{
        ActiveKeyExchange, CompletedKeyExchange, GetRandomFailed, SharedSecret, SupportedKxGroup,
        ring::kx_group::X25519,
    },
    ffdhe_groups::FfdheGroup,
};
use zeroize::{Zeroize, Zeroizing};

/// Bytes of a public key of ML-KEM-768: the first part of a client's share.
const PUBLIC_KEY_BYTES: usize = 1184;

/// Bytes of a ciphertext: the first part of a server's share.
const CIPHERTEXT_BYTES: usize = 1088;

/// Bytes of the second part of either share.
const POINT_BYTES: usize = 32;

/// Bytes of either secret.
const SECRET_BYTES: usize = 32;

/// The way in which the key of a TLS connection was exchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyExchange(NamedGroup);

impl KeyExchange {
    pub(crate) fn of(connection: &Connection) -> Option<Self> {
        let group = connection.negotiated_key_exchange_group()?;
        Some(Self(group.name()))
    }

    /// Returns whether whoever records the connection will not read it with a quantum computer, as
    /// far as is known.
    pub fn is_post_quantum(self) -> bool {
        self.0 == NamedGroup::X25519MLKEM768
    }
}

/// The name that TLS has for it.
impl fmt::Display for KeyExchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

/// The group, for rustls.
#[derive(Debug)]
pub(crate) struct X25519MlKem768;

impl SupportedKxGroup for X25519MlKem768 {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, TlsError> {
        let classical = X25519.start()?;
        let seed = random::<64>()?;
        let pair = DecapsulationKey::<MlKem768>::from_seed((*seed).into());
        let public = pair.encapsulation_key().to_bytes();
        let share = [&public[..], classical.pub_key()].concat();
        Ok(Box::new(Started {
            classical,
            pair,
            share,
        }))
    }

    fn start_and_complete(&self, share: &[u8]) -> Result<CompletedKeyExchange, TlsError> {
        let (public, point) = split::<PUBLIC_KEY_BYTES>(share)?;
        let key = EncapsulationKey::<MlKem768>::new(&(*public).into()).map_err(|_| invalid())?;
        let classical = X25519.start_and_complete(point)?;
        let drawn = random::<SECRET_BYTES>()?;
        let (ciphertext, mut secret) = key.encapsulate_deterministic(&(*drawn).into());
        let both = joined(&secret, &classical.secret);
        secret.as_mut_slice().zeroize();
        Ok(CompletedKeyExchange {
            group: self.name(),
            pub_key: [&ciphertext[..], &classical.pub_key].concat(),
            secret: both,
        })
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519MLKEM768
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        version == ProtocolVersion::TLSv1_3
    }
}

/// A client's exchange before the server has answered.
struct Started {
    classical: Box<dyn ActiveKeyExchange>,
    pair: DecapsulationKey<MlKem768>,
    share: Vec<u8>,
}

impl ActiveKeyExchange for Started {
    fn complete(self: Box<Self>, share: &[u8]) -> Result<SharedSecret, TlsError> {
        let (ciphertext, point) = split::<CIPHERTEXT_BYTES>(share)?;
        let classical = self.classical.complete(point)?;
        let mut secret = self.pair.decapsulate(&(*ciphertext).into());
        let both = joined(&secret, &classical);
        secret.as_mut_slice().zeroize();
        Ok(both)
    }

    fn hybrid_component(&self) -> Option<(NamedGroup, &[u8])> {
        Some((self.classical.group(), self.classical.pub_key()))
    }

    fn complete_hybrid_component(self: Box<Self>, share: &[u8]) -> Result<SharedSecret, TlsError> {
        self.classical.complete(share)
    }

    fn pub_key(&self) -> &[u8] {
        &self.share
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519MLKEM768
    }
}

/// Returns both parts of a share, the first of which has this length.
fn split<const FIRST: usize>(share: &[u8]) -> Result<(&[u8; FIRST], &[u8]), TlsError> {
    match share.split_first_chunk() {
        Some((first, point)) if point.len() == POINT_BYTES => Ok((first, point)),
        _ => Err(invalid()),
    }
}

fn joined(post_quantum: &[u8], classical: &SharedSecret) -> SharedSecret {
    let both = [post_quantum, classical.secret_bytes()].concat();
    // It wipes what it takes.
    SharedSecret::from(both)
}

fn invalid() -> TlsError {
    PeerMisbehaved::InvalidKeyShare.into()
}

fn random<const N: usize>() -> Result<Zeroizing<[u8; N]>, TlsError> {
    let mut bytes = Zeroizing::new([0; N]);
    SystemRandom::new()
        .fill(&mut *bytes)
        .map_err(|_| GetRandomFailed)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUP: X25519MlKem768 = X25519MlKem768;

    #[test]
    fn both_sides_have_one_secret_of_both_parts() {
        let client = GROUP.start().unwrap();
        assert_eq!(client.pub_key().len(), 1216, "as the draft has it");
        let server = GROUP.start_and_complete(client.pub_key()).unwrap();
        assert_eq!(server.pub_key.len(), 1120);
        assert_eq!(server.group, NamedGroup::X25519MLKEM768);
        let secret = client.complete(&server.pub_key).unwrap();
        assert_eq!(secret.secret_bytes().len(), 64);
        assert!(secret.secret_bytes() == server.secret.secret_bytes());
    }

    /// A server that knows X25519 alone.
    #[test]
    fn the_classical_part_stands_alone() {
        let client = GROUP.start().unwrap();
        let (group, point) = client.hybrid_component().unwrap();
        assert_eq!(group, NamedGroup::X25519);
        assert_eq!(point, &client.pub_key()[PUBLIC_KEY_BYTES..]);
        let server = X25519.start_and_complete(point).unwrap();
        let secret = client.complete_hybrid_component(&server.pub_key).unwrap();
        assert!(secret.secret_bytes() == server.secret.secret_bytes());
    }

    #[test]
    fn malformed_shares_are_refused() {
        let refused = |result: Result<(), TlsError>| {
            assert_eq!(result.unwrap_err(), invalid());
        };
        let good = GROUP.start().unwrap().pub_key().to_vec();
        let answer = |share: &[u8]| GROUP.start_and_complete(share).map(drop);
        answer(&good).unwrap();
        refused(answer(&good[1..]));
        refused(answer(&[&good[..], &[0]].concat()));
        refused(answer(&[]));
        // Numbers that are not below q, and a point of small order.
        let mut bad = good.clone();
        bad[..3].fill(0xff);
        refused(answer(&bad));
        let mut bad = good.clone();
        bad[PUBLIC_KEY_BYTES..].fill(0);
        refused(answer(&bad));

        let complete = |share: &[u8]| GROUP.start().unwrap().complete(share).map(drop);
        refused(complete(&[1; CIPHERTEXT_BYTES + POINT_BYTES - 1]));
        refused(complete(&[0; CIPHERTEXT_BYTES + POINT_BYTES]));
        // Any ciphertext is opened: to a secret that the other side does not have.
        complete(&[1; CIPHERTEXT_BYTES + POINT_BYTES]).unwrap();
    }
}
