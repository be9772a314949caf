//! A document with both signatures.

use psijoin_transport::{Identity, NotAKey, Signature};
use serde::{Deserialize, Serialize};
use serde_json::error::Category;

use crate::{Document, Error, FORMAT, Role, as_text, canonical};

/// The purpose of a record's signature, as [`Identity::sign`] takes it.
pub const PURPOSE: &str = "psijoin v1 record of a session";

/// The longest text of a record, in bytes.
pub const MAX_RECORD_BYTES: u64 = 1 << 20;

/// A document that both parties have signed. There is none whose signatures were not verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedRecord(Unverified);

/// The content of a record's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Unverified {
    pub(crate) document: Document,
    pub(crate) signatures: Signatures,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Signatures {
    #[serde(with = "as_text")]
    pub(crate) receiver: Signature,
    #[serde(with = "as_text")]
    pub(crate) sender: Signature,
}

impl Unverified {
    /// # Errors
    /// [`Error::Key`] and [`Error::Signature`] if a key or a signature does not fit; as
    /// [`Document::check`].
    pub(crate) fn verify(self) -> Result<SignedRecord, Error> {
        let text = self.document.to_sign()?;
        for role in Role::BOTH {
            let party = self.document.parties.of(role);
            if party.key.fingerprint() != party.fingerprint {
                return Err(Error::Key(role, party.fingerprint));
            }
            let signature = match role {
                Role::Receiver => &self.signatures.receiver,
                Role::Sender => &self.signatures.sender,
            };
            if !party.key.verify(PURPOSE, text.as_bytes(), signature) {
                return Err(Error::Signature(role, party.fingerprint));
            }
        }
        Ok(SignedRecord(self))
    }
}

impl SignedRecord {
    /// Reads the text of a record, and verifies it: that both parties have signed it, with the keys
    /// of their fingerprints, and that no byte was changed. The caller must check that these
    /// parties are the right ones.
    ///
    /// # Errors
    /// [`Error::TooLong`], [`Error::NotARecord`], [`Error::NotCanonical`], [`Error::UnsoundKey`],
    /// [`Error::Key`] and [`Error::Signature`]; as [`Document::check`].
    pub fn read(text: &[u8]) -> Result<Self, Error> {
        if text.len() as u64 > MAX_RECORD_BYTES {
            return Err(Error::TooLong);
        }
        let read: Unverified = serde_json::from_slice(text).map_err(not_a_record)?;
        if read.document.format != FORMAT {
            return Err(Error::NotARecord(format!(
                "format {}",
                read.document.format
            )));
        }
        let record = read.verify()?;
        match record.to_text().as_bytes() == text {
            true => Ok(record),
            false => Err(Error::NotCanonical),
        }
    }

    /// Returns the text to keep: the record's only form.
    pub fn to_text(&self) -> String {
        let text = canonical::text(&self.0);
        text.expect("the document's numbers were small enough to be signed") + "\n"
    }

    /// Returns what both have signed.
    pub fn document(&self) -> &Document {
        &self.0.document
    }
}

/// Signs the text of a document.
///
/// # Errors
/// [`Error::CannotSign`].
pub(crate) fn sign(text: &str, identity: &Identity) -> Result<Signature, Error> {
    let signature = identity.sign(PURPOSE, text.as_bytes());
    signature.ok_or(Error::CannotSign)
}

/// Returns an error without the citation of the text, which may be any file.
fn not_a_record(error: serde_json::Error) -> Error {
    // An error about the key itself comes as a text, and cites nothing.
    if error.to_string().starts_with(&NotAKey::Unsound.to_string()) {
        return Error::UnsoundKey;
    }
    let what = match error.classify() {
        Category::Data => "not a record's fields",
        _ => "no JSON",
    };
    Error::NotARecord(format!(
        "{what} at line {}, column {}",
        error.line(),
        error.column()
    ))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use psijoin_transport::Fingerprint;

    use super::*;
    use crate::sample;

    fn identities() -> [Identity; 2] {
        [(); 2].map(|()| Identity::generate().unwrap())
    }

    /// Returns a record that both of these have signed.
    fn signed(document: Document, sender: &Identity, receiver: &Identity) -> Unverified {
        let text = canonical::text(&document).unwrap();
        Unverified {
            signatures: Signatures {
                receiver: sign(&text, receiver).unwrap(),
                sender: sign(&text, sender).unwrap(),
            },
            document,
        }
    }

    fn record() -> Unverified {
        let [sender, receiver] = identities();
        signed(sample::document(&sender, &receiver), &sender, &receiver)
    }

    fn fault(record: Unverified) -> Error {
        let text = canonical::text(&record).unwrap() + "\n";
        SignedRecord::read(text.as_bytes()).unwrap_err()
    }

    #[test]
    fn a_record_is_read_as_it_is_written() {
        let record = record().verify().unwrap();
        assert_eq!(
            SignedRecord::read(record.to_text().as_bytes()).unwrap(),
            record
        );
    }

    /// So that a record can be verified without this crate.
    #[test]
    fn what_is_signed_stands_in_the_file() {
        let record = record().verify().unwrap();
        let text = record.to_text();
        let (_, document) = text.split_once("{\"document\":").unwrap();
        let (document, _) = document.split_once(",\"signatures\":").unwrap();
        for (role, signature) in [
            (Role::Sender, &record.0.signatures.sender),
            (Role::Receiver, &record.0.signatures.receiver),
        ] {
            let key = record.document().parties.of(role).key;
            assert!(
                key.verify(PURPOSE, document.as_bytes(), signature),
                "{role}"
            );
        }
    }

    #[test]
    fn a_record_with_a_changed_byte_is_refused() {
        let text = record().verify().unwrap().to_text();
        for at in 0..text.len() {
            for mask in [1, 4, 0x20, 0x80] {
                let mut changed = text.clone().into_bytes();
                changed[at] ^= mask;
                assert!(SignedRecord::read(&changed).is_err(), "byte {at} by {mask}");
            }
        }
    }

    #[test]
    fn a_record_that_is_longer_or_shorter_or_written_otherwise_is_refused() {
        let text = record().verify().unwrap().to_text();
        let pretty: serde_json::Value = serde_json::from_str(&text).unwrap();
        let pretty = serde_json::to_string_pretty(&pretty).unwrap();
        for changed in [
            text.trim_end().to_owned(),
            text.clone() + "\n",
            text.clone() + &text,
            text.replacen('{', "{ ", 1),
            text.replacen("\"document\"", "\"d\\u006fcument\"", 1),
            text.replacen("{\"document\"", "{\"more\":0,\"document\"", 1),
            text.replacen("psi1-", "PSI1-", 1),
            pretty,
        ] {
            assert!(SignedRecord::read(changed.as_bytes()).is_err(), "{changed}");
        }
        let error = SignedRecord::read(text.trim_end().as_bytes()).unwrap_err();
        assert!(matches!(error, Error::NotCanonical), "{error}");
        let long = vec![b' '; MAX_RECORD_BYTES as usize + 1];
        assert!(matches!(SignedRecord::read(&long), Err(Error::TooLong)));
    }

    #[test]
    fn swapped_signatures_are_refused() {
        let mut record = record();
        let Signatures { receiver, sender } = &mut record.signatures;
        std::mem::swap(receiver, sender);
        assert!(matches!(fault(record), Error::Signature(Role::Receiver, _)));
    }

    #[test]
    fn another_identitys_signature_is_refused() {
        let [sender, receiver] = identities();
        let document = sample::document(&sender, &receiver);
        let [other, _] = identities();
        let by_sender = signed(document.clone(), &other, &receiver);
        assert!(matches!(
            fault(by_sender),
            Error::Signature(Role::Sender, _)
        ));
        let by_receiver = signed(document, &sender, &other);
        assert!(matches!(
            fault(by_receiver),
            Error::Signature(Role::Receiver, _)
        ));
    }

    #[test]
    fn a_key_that_is_not_the_fingerprints_is_refused() {
        let [sender, receiver] = identities();
        let [other, _] = identities();
        let mut document = sample::document(&sender, &receiver);
        document.parties.sender.key = other.public_key().unwrap();
        let record = signed(document, &other, &receiver);
        assert!(matches!(fault(record), Error::Key(Role::Sender, _)));
    }

    #[test]
    fn a_document_that_could_deceive_a_reader_is_refused() {
        let record = record().verify().unwrap().to_text();
        for hidden in ["\\u001b[2J", "\u{202e}", "\u{2028}", "\u{ad}"] {
            let changed =
                record.replacen("\"psijoin\":\"0", &format!("\"psijoin\":\"{hidden}0"), 1);
            assert_ne!(changed, record);
            let error = SignedRecord::read(changed.as_bytes()).unwrap_err();
            assert!(matches!(error, Error::Unprintable), "{error}");
        }
    }

    /// The key is the curve's identity point, and the signature that point and zero: the equation
    /// of a signature holds then, whatever was signed.
    #[test]
    fn a_key_that_fits_every_text_signs_none() {
        let genuine = record();
        let (sender, signature) = (&genuine.document.parties.sender, genuine.signatures.sender);
        let point: [u8; 32] = std::array::from_fn(|at| u8::from(at == 0));
        let key = format!("01{}", "00".repeat(31));
        let prefix = [0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0];
        let fingerprint = Fingerprint::of_public_key(&[&prefix[..], &point].concat());
        let forged = canonical::text(&genuine)
            .unwrap()
            .replace(&sender.key.to_string(), &key)
            .replace(&sender.fingerprint.to_string(), &fingerprint.to_string())
            .replace(&signature.to_string(), &(key.clone() + &"00".repeat(32)));
        let error = SignedRecord::read((forged + "\n").as_bytes()).unwrap_err();
        assert!(matches!(error, Error::UnsoundKey), "{error}");
    }

    #[test]
    fn one_party_on_both_sides_is_refused() {
        let [ann, _] = identities();
        let document = sample::document(&ann, &ann);
        assert!(matches!(document.check(), Err(Error::OneParty(_))));
        assert!(matches!(
            fault(signed(document, &ann, &ann)),
            Error::OneParty(_)
        ));
    }

    /// Both could sign it with a program of their own.
    #[test]
    fn a_later_format_is_named() {
        let [sender, receiver] = identities();
        let mut document = sample::document(&sender, &receiver);
        document.format += 1;
        let error = fault(signed(document, &sender, &receiver)).to_string();
        assert!(error.contains(&format!("format {}", FORMAT + 1)), "{error}");
    }

    #[test]
    fn errors_do_not_cite_a_file_that_is_no_record() {
        for text in ["id,name\n1,ann\n", "\"ann\"", "{\"ann\":1}"] {
            let error = SignedRecord::read(text.as_bytes()).unwrap_err().to_string();
            assert!(!error.contains("ann"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_read_never_panics(text in "\\PC*") {
            prop_assert!(SignedRecord::read(text.as_bytes()).is_err());
        }
    }
}
