//! Somebody cheats in `rr22-malicious`: of two honest programs, a message of one is changed on
//! its way, which is all that the other sees of a cheat. Each check must notice.

use psijoin_handshake::HELLO_BYTES;

use crate::{
    line::{Cheat, join_over_a_line},
    support::{Ended, Folder, Joined, lines},
};

/// Bytes of a hash, of a commitment and of what opens it.
const HASH_BYTES: usize = 32;

/// Whether a message is longer than those of base OT and of the checks, and no hello.
fn is_long(length: usize) -> bool {
    length > 10_000 && length != HELLO_BYTES
}

/// Joins two tables over a line that changes the cheat's message number `at` (from 0) among
/// those whose lengths `count`.
fn join(folder: &Folder, cheat: Cheat, at: usize, count: fn(usize) -> bool) -> Joined {
    let receivers = folder.file("receivers", lines(0..300));
    let senders = folder.file("senders", lines(100..400));
    let output = folder.path("shared");
    let common = ["--protocol", "rr22-malicious", "--insecure-plaintext"];
    let receiver = [&["--input", &receivers, "--output", &output], &common[..]].concat();
    let sender = [&["--input", &senders], &common[..]].concat();
    let mut seen = 0;
    join_over_a_line(&receiver, &sender, cheat, |message| {
        if count(message.len()) {
            if seen == at {
                scramble(message);
            }
            seen += 1;
        }
    })
}

/// Changes a message all over. Of the vector OLE's messages the other party uses, by secret
/// choices, about a half: a single change would be a guess at one of these, and pass if it is
/// right.
fn scramble(message: &mut [u8]) {
    for (i, byte) in message.iter_mut().enumerate() {
        *byte ^= ((i * i + 1) >> (i % 7)) as u8;
    }
}

/// The honest party says what is wrong, the cheat is told, and there is no output.
#[track_caller]
fn is_caught(cheat: Cheat, at: usize, count: fn(usize) -> bool, text: &str) {
    let folder = Folder::new();
    let Joined { receiver, sender } = join(&folder, cheat, at, count);
    let (honest, cheating): (Ended, Ended) = match cheat {
        Cheat::Sender => (receiver, sender),
        Cheat::Receiver => (sender, receiver),
    };
    honest.says(5, &[text]);
    cheating.says(5, &["it says that this side broke the protocol"]);
    assert_eq!(folder.names(), ["receivers", "senders"], "no output");
}

const FAILED: &str = "it failed the consistency check";

#[test]
fn a_receiver_that_chooses_other_bits_in_a_column_is_caught() {
    is_caught(Cheat::Receiver, 0, is_long, FAILED);
}

#[test]
fn a_sender_with_a_wrong_correction_of_vector_ole_is_caught() {
    is_caught(Cheat::Sender, 0, is_long, FAILED);
}

#[test]
fn a_sender_that_answers_the_check_of_vector_ole_wrongly_is_caught() {
    is_caught(Cheat::Sender, 0, |length| length == HASH_BYTES, FAILED);
}

#[test]
fn a_sender_that_opens_something_else_is_caught() {
    let text = "it did not open what it had committed to";
    // After the answer to the check, and the commitment.
    is_caught(Cheat::Sender, 2, |length| length == HASH_BYTES, text);
}

/// The line itself is no cheat.
#[test]
fn without_a_cheat_they_join() {
    let folder = Folder::new();
    let Joined { receiver, sender } = join(&folder, Cheat::Sender, 0, |_| false);
    receiver.says(0, &["200 shared keys"]);
    sender.says(0, &[]);
    assert_eq!(folder.read("shared"), lines(100..300));
}
