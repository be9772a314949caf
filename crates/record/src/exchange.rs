//! The exchange of signatures between two parties.

use psijoin_channel::Channel;
use psijoin_transport::{Identity, SIGNATURE_BYTES, Signature};
use ring::digest::{SHA256, digest};

use crate::{
    Document, Error, Role, SignedRecord,
    signed::{PURPOSE, Signatures, Unverified, sign},
};

/// The bytes that each party sends: a hash of its document, and its signature.
pub const SAID_BYTES: u64 = (HASH_BYTES + SIGNATURE_BYTES) as u64;

/// A hash tells a wrong signature from the signature of something else.
const HASH_BYTES: usize = 32;

/// Signs a document, in the role that `identity` has in it, and swaps signatures with the other
/// party, which calls this with the same document. The receiver signs first; the sender signs what
/// the receiver has signed.
///
/// # Errors
/// [`Error::CannotSign`], and as [`Document::check`], before anything is said;
/// [`Error::OtherDocument`], [`Error::WrongSignature`] and [`Error::Channel`] if the other party
/// does not sign the same.
pub fn exchange(
    document: Document,
    role: Role,
    identity: &Identity,
    channel: &mut Channel,
) -> Result<SignedRecord, Error> {
    let text = document.to_sign()?;
    let hash = digest(&SHA256, text.as_bytes());
    let ours = sign(&text, identity)?;
    let said = [hash.as_ref(), &ours.to_bytes()].concat();
    let hear = |channel: &mut Channel| {
        let (their_hash, theirs) = hear(channel)?;
        if their_hash != hash.as_ref() {
            return Err(Error::OtherDocument);
        }
        let key = document.parties.of(role.other()).key;
        match key.verify(PURPOSE, text.as_bytes(), &theirs) {
            true => Ok(theirs),
            false => Err(Error::WrongSignature),
        }
    };
    let signatures = match role {
        Role::Receiver => {
            channel.send(&said)?;
            let sender = hear(channel)?;
            Signatures {
                receiver: ours,
                sender,
            }
        }
        Role::Sender => {
            let receiver = hear(channel)?;
            channel.send(&said)?;
            Signatures {
                receiver,
                sender: ours,
            }
        }
    };
    let record = Unverified {
        document,
        signatures,
    };
    record.verify()
}

/// Returns the other party's hash and signature.
fn hear(channel: &mut Channel) -> Result<([u8; HASH_BYTES], Signature), Error> {
    let said: [u8; SAID_BYTES as usize] = channel.recv_array()?;
    let (hash, signature) = said.split_first_chunk().expect("it begins with a hash");
    let signature = signature.try_into().expect("what is left");
    Ok((*hash, Signature::from_bytes(signature)))
}

#[cfg(test)]
mod tests {
    use std::thread;

    use psijoin_channel::{Error as ChannelError, memory};

    use super::*;
    use crate::sample;

    fn identities() -> [Identity; 2] {
        [(); 2].map(|()| Identity::generate().unwrap())
    }

    /// Returns what sender and receiver get, who make these documents.
    fn exchanged(
        [sender, receiver]: [(Document, Identity); 2],
    ) -> [Result<SignedRecord, Error>; 2] {
        let (mut senders, mut receivers) = memory::pair();
        thread::scope(|scope| {
            let sent = scope.spawn(move || {
                let (document, identity) = sender;
                exchange(document, Role::Sender, &identity, &mut senders)
            });
            let (document, identity) = receiver;
            let received = exchange(document, Role::Receiver, &identity, &mut receivers);
            drop(receivers);
            [sent.join().unwrap(), received]
        })
    }

    #[test]
    fn both_get_the_same_record() {
        let [sender, receiver] = identities();
        let document = sample::document(&sender, &receiver);
        let [sent, received] = exchanged([(document.clone(), sender), (document, receiver)]);
        let record = sent.unwrap();
        assert_eq!(record, received.unwrap());
        assert_eq!(
            SignedRecord::read(record.to_text().as_bytes()).unwrap(),
            record
        );
    }

    #[test]
    fn a_sender_does_not_sign_what_the_receiver_has_not() {
        let [sender, receiver] = identities();
        let document = sample::document(&sender, &receiver);
        let mut other = document.clone();
        other.parties.sender.clock = "2026-01-05T03:00:01Z".to_owned();
        let [sent, received] = exchanged([(document, sender), (other, receiver)]);
        assert!(matches!(sent, Err(Error::OtherDocument)), "{sent:?}");
        // The sender has left, and its signature with it.
        assert!(matches!(
            received,
            Err(Error::Channel(ChannelError::Closed))
        ));
    }

    #[test]
    fn a_signature_by_another_identity_is_no_signature() {
        let [sender, receiver] = identities();
        let [other, _] = identities();
        let document = sample::document(&sender, &receiver);
        let [sent, received] = exchanged([
            (document.clone(), other),
            (document.clone(), receiver.clone()),
        ]);
        assert!(
            matches!(received, Err(Error::WrongSignature)),
            "{received:?}"
        );
        assert!(
            matches!(sent, Err(Error::Signature(Role::Sender, _))),
            "{sent:?}"
        );
        let [other, _] = identities();
        let [sent, received] = exchanged([(document.clone(), sender), (document, other)]);
        assert!(matches!(sent, Err(Error::WrongSignature)), "{sent:?}");
        assert!(matches!(
            received,
            Err(Error::Channel(ChannelError::Closed))
        ));
    }
}
