//! Statements that an identity signs, to be checked by anybody who knows its key.

use std::{fmt, str::FromStr};

use curve25519_dalek::{edwards::CompressedEdwardsY, traits::IsIdentity};
use ring::signature::{ED25519, UnparsedPublicKey};

use crate::Fingerprint;

/// The length of a signature.
pub const SIGNATURE_BYTES: usize = 64;

pub(crate) const KEY_BYTES: usize = 32;

/// The bytes before the key in a DER-encoded `SubjectPublicKeyInfo` (RFC 8410).
pub(crate) const DER_PREFIX: [u8; 12] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];

/// An Ed25519 key that a party is known by: whole, where a [`Fingerprint`] is only its name.
/// Written as 64 hexadecimal digits.
///
/// There is none that is not *sound*: the one encoding (RFC 8032) of a point of prime order, as the
/// key of every secret is. Under a point of small order anybody can sign anything, and whether a
/// signature holds under a point of mixed order depends on who verifies it.
///
/// ```
/// use psijoin_transport::Identity;
///
/// let ann = Identity::generate()?;
/// let purpose = "example.org 2026 a contract";
/// let signature = ann.sign(purpose, b"we agree").expect("a fresh identity can sign");
/// let key = ann.public_key().expect("and has a key that checks it");
/// assert_eq!(key.fingerprint(), ann.fingerprint());
/// assert!(key.verify(purpose, b"we agree", &signature));
/// assert!(!key.verify(purpose, b"we do not", &signature));
/// assert!(!key.verify("example.org 2026 a draft", b"we agree", &signature));
/// # Ok::<(), psijoin_transport::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey([u8; KEY_BYTES]);

impl PublicKey {
    /// Returns the key in a DER-encoded `SubjectPublicKeyInfo` (RFC 5280), if it is a sound Ed25519
    /// key.
    pub fn from_der(subject_public_key_info: &[u8]) -> Option<Self> {
        let key = subject_public_key_info.strip_prefix(&DER_PREFIX)?;
        Self::sound(key.try_into().ok()?)
    }

    /// Returns the key that RFC 8032 encodes so, if it is a sound one.
    pub fn from_bytes(bytes: [u8; KEY_BYTES]) -> Option<Self> {
        Self::sound(bytes)
    }

    /// Returns these bytes, if they are a key that somebody can have.
    fn sound(bytes: [u8; KEY_BYTES]) -> Option<Self> {
        let encoded = CompressedEdwardsY(bytes);
        let point = encoded.decompress()?;
        let is_sound =
            point.compress() == encoded && !point.is_identity() && point.is_torsion_free();
        is_sound.then_some(Self(bytes))
    }

    /// Returns its bytes, as RFC 8032 encodes them.
    pub fn to_bytes(self) -> [u8; KEY_BYTES] {
        self.0
    }

    /// Returns the short name of the party with this key.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of_public_key(&[&DER_PREFIX[..], &self.0].concat())
    }

    /// Returns whether the party with this key has signed the statement, for that purpose: by the
    /// equation of RFC 8032 without the cofactor, with an `s` below the group's order.
    pub fn verify(&self, purpose: &str, statement: &[u8], signature: &Signature) -> bool {
        let key = UnparsedPublicKey::new(&ED25519, self.0);
        let signed = signed(purpose, statement);
        key.verify(&signed, &signature.0).is_ok()
    }
}

/// Returns what is signed for a statement: never what TLS signs, which is longer.
pub(crate) fn signed(purpose: &str, statement: &[u8]) -> [u8; 32] {
    blake3::derive_key(purpose, statement)
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for PublicKey {
    type Err = NotAKey;

    fn from_str(text: &str) -> Result<Self, NotAKey> {
        Self::sound(from_hex(text)?).ok_or(NotAKey::Unsound)
    }
}

/// Returns whether a DER-encoded `SubjectPublicKeyInfo` holds an Ed25519 key that nobody can have.
pub(crate) fn is_unsound(subject_public_key_info: &[u8]) -> bool {
    subject_public_key_info.starts_with(&DER_PREFIX)
        && PublicKey::from_der(subject_public_key_info).is_none()
}

/// A text is not a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAKey {
    /// It is not the right number of digits.
    #[error(transparent)]
    Text(#[from] NotHexadecimal),

    /// It is a key that belongs to no secret.
    #[error("it is no sound Ed25519 key: anybody could sign for it, or verifiers could disagree")]
    Unsound,
}

/// An Ed25519 signature, by [`Identity::sign`](crate::Identity::sign). Written as 128 hexadecimal
/// digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signature([u8; SIGNATURE_BYTES]);

impl Signature {
    /// Returns a signature of these bytes, which may be nobody's.
    pub fn from_bytes(bytes: [u8; SIGNATURE_BYTES]) -> Self {
        Self(bytes)
    }

    /// Returns its bytes.
    pub fn to_bytes(self) -> [u8; SIGNATURE_BYTES] {
        self.0
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Signature {
    type Err = NotHexadecimal;

    fn from_str(text: &str) -> Result<Self, NotHexadecimal> {
        from_hex(text).map(Self)
    }
}

/// A text is not the hexadecimal digits of a key or a signature.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{digits} hexadecimal digits were due")]
#[non_exhaustive]
pub struct NotHexadecimal {
    /// The number of digits that it has to have.
    pub digits: usize,
}

pub(crate) fn write_hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// Reads so many bytes.
pub(crate) fn from_hex<const N: usize>(text: &str) -> Result<[u8; N], NotHexadecimal> {
    let wrong = NotHexadecimal { digits: 2 * N };
    let digit = |digit: char| Some(digit.to_digit(16)? as u8);
    let digits: Option<Vec<u8>> = text.chars().map(digit).collect();
    let digits = digits.filter(|digits| digits.len() == 2 * N).ok_or(wrong)?;
    Ok(std::array::from_fn(|i| {
        (digits[2 * i] << 4) | digits[2 * i + 1]
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Identity;

    #[test]
    fn keys_and_signatures_are_read_as_they_are_written() {
        let identity = Identity::generate().unwrap();
        let key = identity.public_key().unwrap();
        assert_eq!(key.to_string().parse(), Ok(key));
        let signature = identity.sign("a test", b"text").unwrap();
        assert_eq!(signature.to_string().parse(), Ok(signature));
        for wrong in ["", "0", &key.to_string()[1..], &"g".repeat(64)] {
            let error = wrong.parse::<PublicKey>().unwrap_err();
            assert_eq!(
                error.to_string(),
                "64 hexadecimal digits were due",
                "{wrong}"
            );
        }
    }

    /// The points of small order, the other encodings of points, and a point of mixed order.
    #[test]
    fn a_key_that_belongs_to_no_secret_is_none() {
        use curve25519_dalek::constants::{ED25519_BASEPOINT_POINT, EIGHT_TORSION};

        let mut unsound: Vec<_> = EIGHT_TORSION
            .iter()
            .flat_map(|small| [*small, ED25519_BASEPOINT_POINT + small])
            .map(|point| point.compress().to_bytes())
            .filter(|bytes| *bytes != ED25519_BASEPOINT_POINT.compress().to_bytes())
            .collect();
        // The identity and the point of order two with the sign of an x that is 0; y + p for some
        // small y; no point.
        let with = |first: u8, last: u8, between: u8| {
            let mut bytes = [between; KEY_BYTES];
            (bytes[0], bytes[KEY_BYTES - 1]) = (first, last);
            bytes
        };
        unsound.extend([with(1, 0x80, 0), with(0xec, 0xff, 0xff)]);
        unsound.extend(
            (0xed..=0xff).flat_map(|first| [with(first, 0x7f, 0xff), with(first, 0xff, 0xff)]),
        );
        unsound.push(with(2, 0, 0));
        for key in unsound {
            let text: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(text.parse::<PublicKey>(), Err(NotAKey::Unsound), "{text}");
            let der = [&DER_PREFIX[..], &key].concat();
            assert_eq!(PublicKey::from_der(&der), None, "{text}");
            assert!(is_unsound(&der), "{text}");
        }
        let sound = ED25519_BASEPOINT_POINT.compress().to_bytes();
        assert!(!is_unsound(&[&DER_PREFIX[..], &sound].concat()));
        assert!(!is_unsound(b"a key of another kind"));
    }

    /// The attack that made it matter: the identity's signatures fit any text.
    #[test]
    fn everybody_can_sign_for_the_identity() {
        let mut identity = [0; KEY_BYTES];
        identity[0] = 1;
        let signature = Signature([identity, [0; KEY_BYTES]].concat().try_into().unwrap());
        let unchecked = PublicKey(identity);
        assert!(unchecked.verify("a test", b"whatever", &signature));
    }

    /// RFC 8032, section 7.1, test 1; the prefix is that of RFC 8410, section 10.1.
    #[test]
    fn a_key_of_another_kind_is_none() {
        let hex = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
        let key: PublicKey = hex.parse().unwrap();
        let der = [&DER_PREFIX[..], &key.0].concat();
        assert_eq!(PublicKey::from_der(&der), Some(key));
        assert_eq!(PublicKey::from_der(&der[..43]), None);
        assert_eq!(PublicKey::from_der(&[&der[..], &[0]].concat()), None);
        let mut x25519 = der;
        x25519[8] = 0x6e;
        assert_eq!(PublicKey::from_der(&x25519), None);
    }

    #[test]
    fn nobody_elses_signature_passes() {
        let [ann, bob] = [(); 2].map(|()| Identity::generate().unwrap());
        let signature = ann.sign("a test", b"text").unwrap();
        let key = ann.public_key().unwrap();
        assert!(key.verify("a test", b"text", &signature));
        assert!(
            !bob.public_key()
                .unwrap()
                .verify("a test", b"text", &signature)
        );
        for at in 0..SIGNATURE_BYTES {
            let mut changed = signature.to_bytes();
            changed[at] ^= 1;
            let changed = Signature::from_bytes(changed);
            assert!(!key.verify("a test", b"text", &changed), "byte {at}");
        }
    }
}
