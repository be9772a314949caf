//! The key that a party is known by.

use std::{fmt, io, mem, path::Path, sync::Arc};

use pkcs8::der::pem::{self, LineEnding};
use psijoin_files::private;
use rcgen::{CertificateParams, KeyPair, PKCS_ED25519};
use rustls::{
    SignatureScheme,
    crypto::CryptoProvider,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, pem::PemObject},
    server::ParsedCertificate,
    sign::CertifiedKey,
};
use zeroize::{Zeroize, Zeroizing};

use crate::{
    Error, Fingerprint, PublicKey,
    key_exchange::X25519MlKem768,
    passphrase::{self, Passphrase},
    signature::{Signature, from_hex, is_unsound, signed, write_hex},
    succession::{self, STATEMENT_BYTES, Succession},
};

/// Returns the primitives that TLS is made of. Of key exchanges, the hybrid one comes first: a
/// client offers it, and its classical part for a server that does not know it.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    let mut provider = rustls::crypto::ring::default_provider();
    provider.kx_groups.insert(0, &X25519MlKem768);
    Arc::new(provider)
}

/// An Ed25519 key pair with the self-signed certificate that carries it in TLS.
///
/// Only the key in the certificate counts: its names and dates mean nothing.
#[derive(Clone)]
pub struct Identity {
    certified: Arc<CertifiedKey>,
    /// The private key, decrypted: in one form, whether its file has it encrypted or not.
    key: Arc<Zeroizing<Vec<u8>>>,
    /// The text of its file.
    file: Arc<Zeroizing<String>>,
    fingerprint: Fingerprint,
    /// The statements by which its key follows others, the oldest first.
    successions: Arc<[Succession]>,
}

/// Begins a line in front of the PEM blocks that holds a statement in hexadecimal digits. Such
/// lines mean nothing to whoever reads PEM (RFC 7468, section 2).
const SUCCESSION: &str = "Succession: ";

impl Identity {
    /// Makes a fresh identity.
    ///
    /// # Errors
    /// [`Error::Randomness`] if the operating system gives none.
    pub fn generate() -> Result<Self, Error> {
        Ok(Self::fresh(generate_pem()?))
    }

    /// Makes a fresh identity in the place of this one, which states so until the end of an
    /// overlap: see [`succession`]. Times are in seconds since 1970.
    ///
    /// # Errors
    /// [`Error::Randomness`] if the operating system gives none; [`Error::NotReplaceable`] if this
    /// identity is not an Ed25519 key.
    pub fn replace(&self, since: u64, until: u64) -> Result<Self, Error> {
        let fresh = generate_pem()?;
        let key = Self::fresh(fresh.clone()).public_key();
        let key = key.expect("a fresh one is an Ed25519 key");
        let succession = Succession::sign(self, key, since, until).ok_or(Error::NotReplaceable)?;
        let statements = lines_of(self.successions.iter().chain([&succession]));
        Ok(Self::fresh(joined(&[&statements, &fresh])))
    }

    /// Protects the identity by a passphrase: it has its private key encrypted in its file, as
    /// `openssl pkcs8 -topk8 -scrypt` would encrypt it. Its key, its [`secret`](Self::secret) and
    /// its name stay. Of the file, only what is of the identity is kept, since a text beside it may
    /// show the key, too.
    ///
    /// # Errors
    /// [`Error::NotLockable`] if its private key does not have the form of PKCS#8;
    /// [`Error::Randomness`].
    pub fn lock(&self, passphrase: &Passphrase) -> Result<Self, Error> {
        let file = self.file_with(&passphrase::lock(&self.key, passphrase)?);
        Self::from_pem(file, Some(passphrase)).map_err(|_| Error::NotLockable)
    }

    /// Takes the passphrase off: the identity has its private key in its file as it is.
    ///
    /// # Errors
    /// [`Error::NotLockable`] if its private key does not have the form of PKCS#8.
    pub fn remove_passphrase(&self) -> Result<Self, Error> {
        let file = self.file_with(&passphrase::plain(&self.key).ok_or(Error::NotLockable)?);
        Self::from_pem(file, None).map_err(|_| Error::NotLockable)
    }

    /// Returns the text of a file that has the private key in this block.
    fn file_with(&self, key: &str) -> Zeroizing<String> {
        let certificate = &self.certified.cert[0];
        let certificate = pem::encode_string("CERTIFICATE", LineEnding::LF, certificate);
        let certificate = certificate.expect("a certificate is far shorter than what overflows");
        joined(&[&lines_of(self.successions.iter()), key, &certificate])
    }

    /// Reads an identity from a PEM file with a PKCS#8 private key and its certificate.
    ///
    /// # Errors
    /// [`Error::IdentityFile`] if it cannot be read, [`Error::IdentityMalformed`] if it is
    /// something else, or key and certificate do not belong together, and
    /// [`Error::IdentityLocked`] if it needs a passphrase.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::read_with(path.as_ref(), None)
    }

    /// Reads an identity whose private key is encrypted under this passphrase.
    ///
    /// # Errors
    /// Those of [`read`](Self::read), [`Error::WrongPassphrase`], and
    /// [`Error::IdentityNotLocked`]: whoever tells a passphrase takes the file for a protected one.
    /// A file that asks for more memory or time than it needs to make a key of a passphrase is
    /// malformed.
    pub fn unlock(path: impl AsRef<Path>, passphrase: &Passphrase) -> Result<Self, Error> {
        Self::read_with(path.as_ref(), Some(passphrase))
    }

    fn read_with(path: &Path, passphrase: Option<&Passphrase>) -> Result<Self, Error> {
        let mut text = private::read(path).map_err(|source| Error::IdentityFile {
            path: path.to_owned(),
            source,
        })?;
        let malformed = |reason| Error::IdentityMalformed {
            path: path.to_owned(),
            reason,
        };
        let text = String::from_utf8(mem::take(&mut *text)).map_err(|error| {
            error.into_bytes().zeroize();
            malformed("it is not a text")
        })?;
        Self::from_pem(Zeroizing::new(text), passphrase).map_err(|fault| match fault {
            Fault::Malformed(reason) => malformed(reason),
            Fault::Locked(fingerprint) => Error::IdentityLocked {
                path: path.to_owned(),
                fingerprint,
            },
            Fault::NotLocked => Error::IdentityNotLocked(path.to_owned()),
            Fault::WrongPassphrase => Error::WrongPassphrase(path.to_owned()),
        })
    }

    /// Writes the identity to a new PEM file that only its owner can read.
    ///
    /// # Errors
    /// [`Error::IdentityExists`] if there is a file already, [`Error::IdentityFile`] if it
    /// cannot be written.
    pub fn write_new(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        let written = private::write_new(path, self.file.as_bytes());
        written.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => Error::IdentityExists(path.to_owned()),
            _ => Error::IdentityFile {
                path: path.to_owned(),
                source,
            },
        })
    }

    /// Returns the short name of this identity, which the other party pins.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Returns the statements by which its key follows others, the oldest first.
    pub fn successions(&self) -> &[Succession] {
        &self.successions
    }

    /// Returns the names of its key and of those that it follows, its own first. A peer may know
    /// it by any of them.
    pub(crate) fn names(&self) -> impl Iterator<Item = Fingerprint> {
        let older = self.successions.iter().rev();
        let older = older.map(|statement| statement.old.fingerprint());
        std::iter::once(self.fingerprint).chain(older)
    }

    /// Writes the identity to a file that only its owner can read, in place of one that may be
    /// there.
    ///
    /// # Errors
    /// [`Error::IdentityFile`] if it cannot be written.
    pub fn write_over(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        private::replace(path, self.file.as_bytes()).map_err(|source| Error::IdentityFile {
            path: path.to_owned(),
            source,
        })
    }

    /// Returns the text of its file, for another process of this party. It is secret.
    pub fn to_pem(&self) -> &str {
        &self.file
    }

    /// Reads what [`to_pem`](Self::to_pem) gives; `None` if it is something else, or needs a
    /// passphrase.
    pub fn of_pem(pem: &str) -> Option<Self> {
        Self::from_pem(Zeroizing::new(pem.to_owned()), None).ok()
    }

    /// Returns the key that checks what this identity [signs](Self::sign); `None` if the identity
    /// is not an Ed25519 key, as those of [`generate`](Self::generate) are.
    pub fn public_key(&self) -> Option<PublicKey> {
        key_of(self.certified.end_entity_cert().ok()?)
    }

    /// Signs a statement for a purpose; [`PublicKey::verify`] checks it. `None` if the identity is
    /// not an Ed25519 key.
    ///
    /// The purpose keeps signatures of different uses apart: a constant such as
    /// `example.org 2026 a contract`. TLS signs with the same key, in a form that no statement has.
    pub fn sign(&self, purpose: &str, statement: &[u8]) -> Option<Signature> {
        let key = &self.certified.key;
        let signer = key.choose_scheme(&[SignatureScheme::ED25519])?;
        let signature = signer.sign(&signed(purpose, statement)).ok()?;
        Some(Signature::from_bytes(signature.try_into().ok()?))
    }

    /// Returns a secret that only who has this identity can derive: another one for each purpose, a
    /// constant as for [`sign`](Self::sign).
    pub fn secret(&self, purpose: &str) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(blake3::derive_key(purpose, &self.key))
    }

    pub(crate) fn certified(&self) -> &Arc<CertifiedKey> {
        &self.certified
    }

    /// Takes a text that was written here for an identity.
    fn fresh(file: Zeroizing<String>) -> Self {
        Self::from_pem(file, None).expect("a fresh identity is well-formed")
    }

    fn from_pem(file: Zeroizing<String>, passphrase: Option<&Passphrase>) -> Result<Self, Fault> {
        let mut private_key = private_key_in(&file, passphrase)?;
        let key = Zeroizing::new(private_key.secret_der().to_vec());
        let signing_key = provider()
            .key_provider
            .load_private_key(private_key.clone_key());
        private_key.zeroize();
        let signing_key = signing_key.map_err(|_| "its private key cannot be used")?;
        let (certificate, fingerprint) = named_in(&file)?;
        let successions = successions_of(&file)?;
        let mut entries = vec![certificate];
        entries.extend(succession::entry(&successions));
        let certified = CertifiedKey::new(entries, signing_key);
        certified
            .keys_match()
            .map_err(|_| "its key and its certificate do not belong together")?;
        let public = certified.end_entity_cert().ok().and_then(key_of);
        let complete = public.and_then(|public| passphrase::complete(&key, &public));
        Ok(Self {
            certified: Arc::new(certified),
            key: Arc::new(complete.unwrap_or(key)),
            file: Arc::new(file),
            fingerprint,
            successions: successions.into(),
        })
    }
}

/// The reason that a text is no identity, or not yet.
#[derive(Debug)]
enum Fault {
    Malformed(&'static str),
    /// It needs a passphrase.
    Locked(Fingerprint),
    /// It has none.
    NotLocked,
    WrongPassphrase,
}

impl From<&'static str> for Fault {
    fn from(reason: &'static str) -> Self {
        Self::Malformed(reason)
    }
}

impl From<passphrase::Fault> for Fault {
    fn from(fault: passphrase::Fault) -> Self {
        match fault {
            passphrase::Fault::Malformed(reason) => Self::Malformed(reason),
            passphrase::Fault::WrongPassphrase => Self::WrongPassphrase,
        }
    }
}

/// Returns the private key in a text of PEM blocks, which may be encrypted.
fn private_key_in(
    text: &str,
    passphrase: Option<&Passphrase>,
) -> Result<PrivateKeyDer<'static>, Fault> {
    match (passphrase::block(text, passphrase::ENCRYPTED), passphrase) {
        (None, passphrase) => {
            let key = PrivateKeyDer::from_pem_slice(text.as_bytes());
            let key = key.map_err(|_| "it holds no private key in PEM form")?;
            match passphrase {
                None => Ok(key),
                Some(_) => Err(Fault::NotLocked),
            }
        }
        (Some(_), None) => Err(Fault::Locked(named_in(text)?.1)),
        (Some(place), Some(passphrase)) => {
            let key = passphrase::unlock(&text[place], passphrase)?;
            Ok(PrivatePkcs8KeyDer::from(key.as_bytes().to_vec()).into())
        }
    }
}

/// Returns the certificate in a text of PEM blocks, and the name of its key.
fn named_in(text: &str) -> Result<(CertificateDer<'static>, Fingerprint), &'static str> {
    let certificate = CertificateDer::from_pem_slice(text.as_bytes())
        .map_err(|_| "it holds no certificate in PEM form")?;
    let fingerprint = fingerprint_of(&certificate).ok_or("its certificate cannot be read")?;
    Ok((certificate, fingerprint))
}

/// Makes a fresh key with its certificate, as the file of an identity holds them.
fn generate_pem() -> Result<Zeroizing<String>, Error> {
    let mut key = KeyPair::generate_for(&PKCS_ED25519).map_err(|_| Error::Randomness)?;
    let certificate = CertificateParams::new(["psijoin".to_owned()])
        .and_then(|params| params.self_signed(&key))
        .map_err(|_| Error::Randomness)?;
    let pem = Zeroizing::new(key.serialize_pem() + &certificate.pem());
    key.zeroize();
    Ok(pem)
}

/// Joins the parts of a file, and leaves no copy of them where it grew.
fn joined(parts: &[&str]) -> Zeroizing<String> {
    Zeroizing::new(parts.concat())
}

/// Writes statements as the lines in front of the PEM blocks.
fn lines_of<'a>(statements: impl Iterator<Item = &'a Succession>) -> String {
    let line = |statement: &Succession| {
        let digits = Hexadecimal(statement.to_bytes());
        format!("{SUCCESSION}{digits}\n")
    };
    statements.map(line).collect()
}

/// Reads the statements in front of the PEM blocks.
fn successions_of(text: &str) -> Result<Vec<Succession>, &'static str> {
    let lines = text.lines().take_while(|line| !line.starts_with("-----"));
    let statements = lines.filter_map(|line| line.strip_prefix(SUCCESSION));
    let read = |digits: &str| {
        let bytes = from_hex::<STATEMENT_BYTES>(digits.trim_end()).ok()?;
        Succession::from_bytes(&bytes)
    };
    let read: Option<Vec<_>> = statements.map(read).collect();
    read.ok_or("a line `Succession: …` in it cannot be read")
}

/// A statement in the file of an identity.
struct Hexadecimal([u8; STATEMENT_BYTES]);

impl fmt::Display for Hexadecimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity")
            .field("fingerprint", &self.fingerprint)
            .finish_non_exhaustive()
    }
}

/// Returns the name of the key in a certificate, if the certificate can be read.
pub(crate) fn fingerprint_of(certificate: &CertificateDer<'_>) -> Option<Fingerprint> {
    let parsed = ParsedCertificate::try_from(certificate).ok()?;
    Some(Fingerprint::of_public_key(
        &parsed.subject_public_key_info(),
    ))
}

/// Returns whether the key in a certificate is one that nobody can have.
pub(crate) fn has_unsound_key(certificate: &CertificateDer<'_>) -> bool {
    ParsedCertificate::try_from(certificate)
        .is_ok_and(|parsed| is_unsound(&parsed.subject_public_key_info()))
}

/// Returns the key in a certificate, if it can be read and is one that signs statements.
pub(crate) fn key_of(certificate: &CertificateDer<'_>) -> Option<PublicKey> {
    let parsed = ParsedCertificate::try_from(certificate).ok()?;
    PublicKey::from_der(&parsed.subject_public_key_info())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::passphrase::tests::passphrase;

    #[test]
    fn survives_a_file_that_only_the_owner_reads() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("id.pem");
        let identity = Identity::generate().unwrap();
        identity.write_new(&path).unwrap();
        let read = Identity::read(&path).unwrap();
        assert_eq!(read.fingerprint(), identity.fingerprint());
        assert_eq!(read.secret("a use"), identity.secret("a use"));
        assert_ne!(read.secret("a use"), identity.secret("another"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(
                fs::metadata(&path).unwrap().permissions().mode() & 0o777,
                0o600
            );
        }
    }

    #[test]
    fn a_replaced_one_says_so_in_its_file_and_in_tls() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("id.pem");
        let first = Identity::generate().unwrap();
        let second = first.replace(1, 2).unwrap();
        let third = second.replace(3, 4).unwrap();
        first.write_new(&path).unwrap();
        third.write_over(&path).unwrap();
        let read = Identity::read(&path).unwrap();
        assert_eq!(read.fingerprint(), third.fingerprint());
        let names = [&third, &second, &first].map(Identity::fingerprint);
        assert!(read.names().eq(names));
        let statements = read.successions();
        assert!(statements.iter().all(Succession::is_genuine));
        assert_eq!([statements[0].until, statements[1].until], [2, 4]);
        let entries = &read.certified().cert[1..];
        assert_eq!(succession::of_entries(entries), statements);
        assert!(first.successions().is_empty());
    }

    #[test]
    fn a_passphrase_hides_its_key_and_not_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("id.pem");
        let [right, wrong] = ["right", "wrong"].map(passphrase);
        let first = Identity::generate().unwrap();
        let plain = first.replace(1, 2).unwrap();
        // Also where the key stands in a comment, as `openssl pkey -text` writes it.
        let commented = format!("{}priv: 00\n", plain.file.as_str());
        let plain = Identity::from_pem(Zeroizing::new(commented), None).unwrap();
        let locked = plain.lock(&right).unwrap();
        assert_eq!(locked.secret("a use"), plain.secret("a use"));
        locked.write_new(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(passphrase::ENCRYPTED));
        assert!(!text.contains("BEGIN PRIVATE") && !text.contains("priv: "));
        let error = Identity::read(&path).unwrap_err();
        assert!(
            matches!(&error, Error::IdentityLocked { fingerprint, .. } if *fingerprint == locked.fingerprint()),
            "{error}"
        );
        let error = Identity::unlock(&path, &wrong).unwrap_err();
        assert!(matches!(error, Error::WrongPassphrase(_)), "{error}");
        let read = Identity::unlock(&path, &right).unwrap();
        assert_eq!(read.fingerprint(), locked.fingerprint());
        assert_eq!(read.secret("a use"), locked.secret("a use"));
        assert_eq!(read.successions(), locked.successions());
        let signature = read.sign("a use", b"a text").unwrap();
        let key = locked.public_key().unwrap();
        assert!(key.verify("a use", b"a text", &signature));
        // Under another passphrase.
        let again = read.lock(&wrong).unwrap();
        assert_eq!(again.fingerprint(), locked.fingerprint());
        assert_eq!(again.file.matches("BEGIN ENCRYPTED").count(), 1);
        // Without one, it is what it was in the beginning.
        let plain_again = again.remove_passphrase().unwrap();
        let text = plain.file.strip_suffix("priv: 00\n");
        assert_eq!(text, Some(plain_again.file.as_str()));
    }

    #[test]
    fn one_that_openssl_made_needs_its_passphrase_and_its_own_certificate() {
        use passphrase::tests::*;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("id.pem");
        let right = passphrase(OPENSSLS_PASSPHRASE);
        let read = |certificate: &str| {
            fs::write(&path, format!("{OPENSSLS_SCRYPT_KEY}{certificate}")).unwrap();
            Identity::unlock(&path, &right)
        };
        assert!(read(OPENSSLS_CERTIFICATE).unwrap().public_key().is_some());
        let other = Identity::generate().unwrap();
        let place = passphrase::block(&other.file, "CERTIFICATE").unwrap();
        let error = read(&other.file[place]).unwrap_err().to_string();
        assert!(error.contains("do not belong together"), "{error}");
        // One without a passphrase is not taken for one that has this.
        other.write_over(&path).unwrap();
        let error = Identity::unlock(&path, &right).unwrap_err();
        assert!(matches!(error, Error::IdentityNotLocked(_)), "{error}");
    }

    #[test]
    fn is_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("id.pem");
        let first = Identity::generate().unwrap();
        first.write_new(&path).unwrap();
        let error = Identity::generate().unwrap().write_new(&path).unwrap_err();
        assert!(matches!(error, Error::IdentityExists(_)), "{error}");
        assert_eq!(
            Identity::read(&path).unwrap().fingerprint(),
            first.fingerprint()
        );
    }

    #[test]
    fn a_bad_file_is_named_with_its_fault() {
        let folder = tempfile::tempdir().unwrap();
        let pem_of = |identity: &Identity| identity.file.to_string();
        let one = pem_of(&Identity::generate().unwrap());
        let other = pem_of(&Identity::generate().unwrap());
        let certificate_at = one.find("-----BEGIN CERTIFICATE").unwrap();
        let mixed = format!(
            "{}{}",
            &one[..certificate_at],
            &other[other.find("-----BEGIN CERTIFICATE").unwrap()..]
        );
        for (text, fault) in [
            (b"name,age\n".as_slice(), "no private key"),
            (&[0xff, 0xfe], "not a text"),
            (&one.as_bytes()[..certificate_at], "no certificate"),
            (&one.as_bytes()[certificate_at..], "no private key"),
            (mixed.as_bytes(), "do not belong together"),
            (
                format!("Succession: 00\n{one}").as_bytes(),
                "cannot be read",
            ),
        ] {
            let path = folder.path().join("id.pem");
            fs::write(&path, text).unwrap();
            let error = Identity::read(&path).unwrap_err().to_string();
            assert!(error.contains(fault) && error.contains("id.pem"), "{error}");
        }
        let error = Identity::read(folder.path().join("none.pem")).unwrap_err();
        assert!(matches!(error, Error::IdentityFile { .. }), "{error}");
    }

    #[test]
    fn debug_shows_no_key() {
        let identity = Identity::generate().unwrap();
        let shown = format!("{identity:?}");
        assert!(shown.contains(&identity.fingerprint().to_string()));
        assert!(shown.len() < 100, "{shown}");
    }
}
