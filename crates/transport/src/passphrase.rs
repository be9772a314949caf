//! Private keys under a passphrase: PKCS#8 with PBES2 (RFC 5958, RFC 8018), as OpenSSL reads and
//! writes them.
//!
//! [`lock`] encrypts with AES-256 in CBC mode, under a key that scrypt (RFC 7914) makes of the
//! passphrase. [`unlock`] takes PBKDF2 with SHA-2, AES-GCM and shorter keys of AES, too, as others
//! write them.
//!
//! CBC authenticates nothing. A passphrase that is wrong leaves no well-formed key, except with a
//! probability below 2^-20; and a key that somebody changed in the file does not belong to its
//! certificate any more, for which the identity is refused.

use std::{
    fmt,
    fs::File,
    io::{self, Read},
    mem,
    ops::Range,
    path::Path,
};

use pkcs8::{
    EncryptedPrivateKeyInfoRef, PrivateKeyInfoRef, SecretDocument,
    der::{Encode, asn1::BitStringRef, pem::LineEnding},
    pkcs5::{
        self, EncryptionScheme,
        pbes2::{Kdf, Parameters},
        scrypt,
    },
};
use psijoin_files::private;
use ring::rand::{SecureRandom, SystemRandom};
use zeroize::Zeroizing;

use crate::{Error, PublicKey};

/// The labels of a key in PEM form: of one that is encrypted, and of one that is not.
pub(crate) const ENCRYPTED: &str = "ENCRYPTED PRIVATE KEY";
pub(crate) const PLAIN: &str = "PRIVATE KEY";

/// More than a passphrase has.
const MAX_BYTES: usize = 1024;

/// The cost of scrypt for files that are written here: log2 N, r and p. OWASP's password storage
/// cheat sheet has it beside 2^17, 8 and 1, which takes eight times as much memory: OpenSSL reads
/// no file that asks for more than 32 MiB.
const SCRYPT: (u8, u32, u32) = (14, 8, 5);

/// The most that a file may ask of scrypt, as N · r · p: three times what is written here. Its
/// memory is at most 128 bytes for each, so 256 MiB.
const MAX_SCRYPT: u128 = 1 << 21;

/// The most rounds that a file may ask of PBKDF2: some ten seconds.
const MAX_PBKDF2: u32 = 10_000_000;

/// The passphrase of an [`Identity`](crate::Identity). It is wiped when it is dropped, and never
/// shown.
#[derive(Clone)]
pub struct Passphrase(Zeroizing<Vec<u8>>);

impl Passphrase {
    /// Takes these bytes for a passphrase; `None` if there are none, or more than anybody types.
    pub fn new(bytes: Vec<u8>) -> Option<Self> {
        let bytes = Zeroizing::new(bytes);
        let is_one = (1..=MAX_BYTES).contains(&bytes.len());
        is_one.then_some(Self(bytes))
    }

    /// Reads the first line of a file. A file that others can read is warned of.
    ///
    /// # Errors
    /// [`Error::PassphraseFile`] if it cannot be read, or has no such line.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let failed = |source| Error::PassphraseFile {
            path: path.to_owned(),
            source,
        };
        // Room for all, so that no copy is left where it grew.
        let most = MAX_BYTES + "\r\n".len();
        let mut bytes = Zeroizing::new(Vec::with_capacity(most));
        let file = File::open(path).map_err(failed)?;
        let read = file.take(most as u64).read_to_end(&mut bytes);
        read.map_err(failed)?;
        private::warn_if_others_can_read(path);
        if let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            bytes.truncate(end);
        }
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
        Self::new(mem::take(&mut *bytes)).ok_or_else(|| {
            let why = "its first line is empty, or longer than a passphrase";
            failed(io::Error::new(io::ErrorKind::InvalidData, why))
        })
    }
}

impl PartialEq for Passphrase {
    /// Compares two that one user has typed, so not in constant time.
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passphrase(…)")
    }
}

/// The reason that a key was not unlocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The file is not as it should be, or asks for too much.
    Malformed(&'static str),
    /// The passphrase is another one.
    WrongPassphrase,
}

/// Returns the place of a block of this kind in a text of PEM blocks, with its first line and its
/// last.
pub(crate) fn block(text: &str, label: &str) -> Option<Range<usize>> {
    let start = text.find(&format!("-----BEGIN {label}-----"))?;
    let end = format!("-----END {label}-----");
    let length = text[start..].find(&end)? + end.len();
    Some(start..start + length)
}

/// Returns a private key with its public key beside it (version 2 of PKCS#8), as fresh ones of
/// Ed25519 have it. `None` if the key does not have the form of PKCS#8.
pub(crate) fn complete(key: &[u8], public: &PublicKey) -> Option<Zeroizing<Vec<u8>>> {
    let mut key = PrivateKeyInfoRef::try_from(key).ok()?;
    let public = public.to_bytes();
    key.public_key = Some(BitStringRef::from_bytes(&public).ok()?);
    Some(Zeroizing::new(key.to_der().ok()?))
}

/// Encrypts a private key in the form of PKCS#8, and returns the block for its file.
///
/// The public key, which version 2 of PKCS#8 has beside the private one, is left out: OpenSSL 3.0
/// reads version 1 only.
///
/// # Errors
/// [`Error::NotLockable`] if it has another form; [`Error::Randomness`].
pub(crate) fn lock(key: &[u8], passphrase: &Passphrase) -> Result<Zeroizing<String>, Error> {
    let mut random = [[0; 16]; 2];
    let drawn = SystemRandom::new().fill(random.as_flattened_mut());
    drawn.map_err(|_| Error::Randomness)?;
    let [salt, iv] = random;
    let locked = || {
        let key = PrivateKeyInfoRef::try_from(key).ok()?;
        let key = PrivateKeyInfoRef::new(key.algorithm, key.private_key);
        let (log_n, r, p) = SCRYPT;
        let cost = scrypt::Params::new(log_n, r, p).ok()?;
        let scheme = Parameters::generate_scrypt_aes256cbc(cost, &salt, iv).ok()?;
        let locked = key.encrypt_with_params(scheme, &passphrase.0).ok()?;
        locked.to_pem(ENCRYPTED, LineEnding::LF).ok()
    };
    locked().ok_or(Error::NotLockable)
}

/// Returns the block for a private key in the form of PKCS#8 that is not encrypted.
pub(crate) fn plain(key: &[u8]) -> Option<Zeroizing<String>> {
    let key = SecretDocument::try_from(key).ok()?;
    key.to_pem(PLAIN, LineEnding::LF).ok()
}

/// Decrypts the private key in a block, in the form of PKCS#8.
pub(crate) fn unlock(block: &str, passphrase: &Passphrase) -> Result<SecretDocument, Fault> {
    let (_, document) = SecretDocument::from_pem(block)
        .map_err(|_| Fault::Malformed("its encrypted private key cannot be read"))?;
    let locked = EncryptedPrivateKeyInfoRef::try_from(document.as_bytes())
        .map_err(|_| Fault::Malformed(UNSUPPORTED))?;
    check_cost(&locked.encryption_algorithm)?;
    let key = locked.decrypt(&passphrase.0).map_err(|error| match error {
        // What was decrypted ends or begins with garbage.
        pkcs8::Error::EncryptedPrivateKey(pkcs5::Error::DecryptFailed) | pkcs8::Error::Asn1(_) => {
            Fault::WrongPassphrase
        }
        _ => Fault::Malformed(UNSUPPORTED),
    })?;
    match PrivateKeyInfoRef::try_from(key.as_bytes()) {
        Ok(_) => Ok(key),
        Err(_) => Err(Fault::WrongPassphrase),
    }
}

const UNSUPPORTED: &str = "its private key is encrypted in a way that is not supported: \
                           `openssl pkcs8 -topk8 -scrypt` encrypts it in one that is";

/// Checks that whoever wrote the file asks for no more time and memory than a key is worth, and for
/// what there is: the library panics at an N of 0.
fn check_cost(scheme: &EncryptionScheme) -> Result<(), Fault> {
    let EncryptionScheme::Pbes2(scheme) = scheme else {
        return Err(Fault::Malformed(UNSUPPORTED));
    };
    let (is_sound, is_dear) = match &scheme.kdf {
        Kdf::Scrypt(cost) => {
            let n = cost.cost_parameter;
            let [r, p] = [cost.block_size, cost.parallelization].map(u128::from);
            let product = u128::from(n) * r * p;
            (
                n > 1 && n.is_power_of_two() && product > 0,
                product > MAX_SCRYPT,
            )
        }
        Kdf::Pbkdf2(cost) => (cost.iteration_count > 0, cost.iteration_count > MAX_PBKDF2),
        _ => return Err(Fault::Malformed(UNSUPPORTED)),
    };
    match (is_sound, is_dear) {
        (true, false) => Ok(()),
        (true, true) => Err(Fault::Malformed(
            "it asks for more memory or time to make a key of the passphrase than any file needs: \
             scrypt with N·r·p up to 2^21 is taken, and PBKDF2 with up to 10,000,000 rounds",
        )),
        (false, _) => Err(Fault::Malformed(
            "it does not tell how to make a key of the passphrase",
        )),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use pkcs8::pkcs5::pbes2;

    use super::*;

    /// Of the two keys below.
    pub(crate) const OPENSSLS_PASSPHRASE: &str = "correct horse";

    /// `openssl pkcs8 -topk8 -passout 'pass:correct horse'`: PBKDF2.
    pub(crate) const OPENSSLS_USUAL_KEY: &str = "\
-----BEGIN ENCRYPTED PRIVATE KEY-----
MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAggVP2QyGf8IwICCAAw
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEFw9H5E9r1kkB5K8FFcMpw0EQIoR
GZEHklR/f46Cx0JoHchdapqZoJhPJW8w3SWGq5ak5RTEJy+2h5czA5e2NHdrrPaM
W1L6VLSTEF/8HHznIls=
-----END ENCRYPTED PRIVATE KEY-----
";

    /// The same key with `-scrypt`.
    pub(crate) const OPENSSLS_SCRYPT_KEY: &str = "\
-----BEGIN ENCRYPTED PRIVATE KEY-----
MIGTME8GCSqGSIb3DQEFDTBCMCEGCSsGAQQB2kcECzAUBAghODZdZ9lWxwICQAAC
AQgCAQEwHQYJYIZIAWUDBAEqBBAtKL8Z5lW/WEbS/RKTQYnrBEApAQGpzhbrYE8b
+jFjWZ9XXArsyWSMCY7kGE64E2crm/0fWg/27xm8nwfSClNUG1WEZO8wthhRVzVm
FluAqD4p
-----END ENCRYPTED PRIVATE KEY-----
";

    /// `openssl req -x509 -subj /CN=a -days 3650`, of that key.
    pub(crate) const OPENSSLS_CERTIFICATE: &str = "\
-----BEGIN CERTIFICATE-----
MIIBLDCB36ADAgECAhQM+lYlfIUSBX/NQ/Ytk0eyHxGKIjAFBgMrZXAwDDEKMAgG
A1UEAwwBYTAeFw0yNjExMjcwMTQwMDZaFw0zNjExMjQwMTQwMDZaMAwxCjAIBgNV
BAMMAWEwKjAFBgMrZXADIQB6M+EQaL9Ojh+ifo4qXSig1H6qUQcucInvWofLtmMl
N6NTMFEwHQYDVR0OBBYEFE9L75oeyDL+UosFlYjU5XmsstjCMB8GA1UdIwQYMBaA
FE9L75oeyDL+UosFlYjU5XmsstjCMA8GA1UdEwEB/wQFMAMBAf8wBQYDK2VwA0EA
uvdTK0wY3ptSx3vIp20Rs/0QcpK1NXw6Z4vgZiTdd8fhDST9XOCrDUlZhVXkeXlp
8DLEeXZVC9e0aEHynxy0AQ==
-----END CERTIFICATE-----
";

    pub(crate) fn passphrase(text: &str) -> Passphrase {
        Passphrase::new(text.into()).unwrap()
    }

    #[test]
    fn keys_that_openssl_encrypted_are_read() {
        let right = passphrase(OPENSSLS_PASSPHRASE);
        let keys = [OPENSSLS_USUAL_KEY, OPENSSLS_SCRYPT_KEY];
        let [first, second] = keys.map(|block| unlock(block, &right).unwrap());
        assert_eq!(first.as_bytes(), second.as_bytes());
        for block in keys {
            let wrong = unlock(block, &passphrase("correct house")).unwrap_err();
            assert_eq!(wrong, Fault::WrongPassphrase);
        }
    }

    #[test]
    fn a_key_is_encrypted_anew_each_time_and_comes_back_in_openssls_form() {
        let right = passphrase("ein Paßwort");
        let key = unlock(OPENSSLS_USUAL_KEY, &passphrase(OPENSSLS_PASSPHRASE)).unwrap();
        let locked = [(); 2].map(|()| lock(key.as_bytes(), &right).unwrap());
        assert_ne!(locked[0], locked[1]);
        for locked in locked {
            let unlocked = unlock(&locked, &right).unwrap();
            assert_eq!(unlocked.as_bytes(), key.as_bytes());
        }
        let none = lock(b"no key", &right).unwrap_err();
        assert!(matches!(none, Error::NotLockable), "{none}");
    }

    /// Returns a block that says so of how its key is to be made of the passphrase.
    fn asking(scheme: pbes2::Parameters) -> String {
        let key = EncryptedPrivateKeyInfoRef {
            encryption_algorithm: scheme.into(),
            encrypted_data: pkcs8::der::asn1::OctetStringRef::new(&[0; 64]).unwrap(),
        };
        let document = SecretDocument::try_from(key.to_der().unwrap()).unwrap();
        document
            .to_pem(ENCRYPTED, LineEnding::LF)
            .unwrap()
            .to_string()
    }

    #[test]
    fn a_file_cannot_ask_for_gigabytes_or_hours() {
        let (salt, iv) = ([0; 16], [0; 16]);
        let by_scrypt = |log_n, r, p| {
            let cost = scrypt::Params::new(log_n, r, p).unwrap();
            Parameters::generate_scrypt_aes256cbc(cost, &salt, iv).unwrap()
        };
        let by_pbkdf2 =
            |rounds| Parameters::generate_pbkdf2_sha256_aes256cbc(rounds, &salt, iv).unwrap();
        let any = passphrase("any");
        for dear in [
            by_scrypt(20, 8, 1),
            by_scrypt(14, 8, 17),
            by_scrypt(30, 8, 1),
            by_scrypt(14, 60_000, 1),
            by_pbkdf2(MAX_PBKDF2 + 1),
        ] {
            let refused = unlock(&asking(dear), &any).unwrap_err();
            assert!(matches!(refused, Fault::Malformed(why) if why.contains("memory or time")));
        }
        let mut none = by_scrypt(14, 8, 5);
        for (n, r) in [(0, 8), (1, 8), (3, 8), (1 << 14, 0)] {
            let Kdf::Scrypt(cost) = &mut none.kdf else {
                panic!("it is scrypt");
            };
            (cost.cost_parameter, cost.block_size) = (n, r);
            let refused = unlock(&asking(none.clone()), &any).unwrap_err();
            assert!(matches!(refused, Fault::Malformed(why) if why.contains("does not tell")));
        }
        for usual in [by_scrypt(14, 8, 5), by_pbkdf2(2048)] {
            let refused = unlock(&asking(usual), &any).unwrap_err();
            assert_eq!(refused, Fault::WrongPassphrase);
        }
    }

    #[test]
    fn the_first_line_of_a_file_is_a_passphrase() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("passphrase");
        let read = |content: &[u8]| {
            std::fs::write(&path, content).unwrap();
            Passphrase::read(&path)
        };
        for content in ["a b", "a b\n", "a b\r\n", "a b\nanother\n"] {
            assert_eq!(read(content.as_bytes()).unwrap(), passphrase("a b"));
        }
        let longest = [b'x'; MAX_BYTES];
        assert!(read(&[&longest[..], b"\r\n"].concat()).is_ok());
        for content in [&b""[..], b"\nx", &[b'x'; MAX_BYTES + 1]] {
            let error = read(content).unwrap_err().to_string();
            assert!(error.contains("its first line is empty"), "{error}");
        }
        let missing = Passphrase::read(folder.path().join("none"));
        assert!(matches!(missing, Err(Error::PassphraseFile { .. })));
    }

    #[test]
    fn debug_shows_no_passphrase() {
        assert_eq!(format!("{:?}", passphrase("secret")), "Passphrase(…)");
    }
}
