//! A document to test with, about a session that never was.

use psijoin_transport::Identity;

use crate::{
    Column, Document, FORMAT, Outcome, Party, PerParty, Protocol, Role, Terms, failure_bits,
};

/// Returns a document of two parties that can sign it.
pub(crate) fn document(sender: &Identity, receiver: &Identity) -> Document {
    let map = |entries: &[(&str, &str)]| {
        let entries = entries.iter();
        entries
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect()
    };
    Document {
        format: FORMAT,
        session: "00112233445566778899aabbccddeeff".to_owned(),
        handshake: 3,
        parties: PerParty {
            receiver: party(receiver, "2026-01-05T03:00:02Z", 50_000, "the sums"),
            sender: party(sender, "2026-01-05T03:00:00Z", 1_000_000, "nothing"),
        },
        terms: Some(Terms::of(b"both agree to forget it all\n").expect("they are short")),
        settings: map(&[
            ("the output", "sum:amount"),
            ("the protocol", "rr22-circuit"),
        ]),
        columns: vec![Column {
            name: "amount".to_owned(),
            holder: Role::Sender,
            decimals: 2,
        }],
        protocol: Protocol {
            name: "rr22-circuit".to_owned(),
            version: 1,
            adversary: "semi-honest parties".to_owned(),
            parameters: map(&[("bins", "63500")]),
            computational_bits: 128,
            statistical_bits: 40,
            failure_bits: failure_bits(-41.0)
                .map(|bits| ("mask collision".to_owned(), bits))
                .into_iter()
                .collect(),
        },
        steps_run_again: 2,
        outcome: Outcome::Done,
    }
}

fn party(identity: &Identity, clock: &str, keys: u64, learns: &str) -> Party {
    Party {
        fingerprint: identity.fingerprint(),
        key: identity.public_key().expect("an Ed25519 key"),
        psijoin: "0.1.0".to_owned(),
        clock: clock.to_owned(),
        keys,
        key_columns: vec!["text: trim+lowercase".to_owned()],
        learns: vec![learns.to_owned()],
        sent_bytes: 2_345_678,
    }
}
