//! Somebody cheats in `rr22-malicious`: of two honest programs, a message of one is changed on
//! its way, which is all that the other sees of a cheat. Each check must notice.

use psijoin_handshake::HELLO_BYTES;

use crate::{
    line::{Cheat, join_over_a_line},
    support::{Ended, Folder, Joined, all_exit, assert_said, lines},
};

/// Bytes of a hash, of a commitment and of what opens it.
const HASH_BYTES: usize = 32;

/// Returns whether a message is longer than those of base OT and of the checks, and no hello.
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

/// Checks that the honest party reports the fault, the cheat is told, and there is no output.
#[track_caller]
fn caught(cheat: Cheat, at: usize, count: fn(usize) -> bool) -> [Ended; 2] {
    let folder = Folder::new();
    let both = join(&folder, cheat, at, count).both();
    all_exit(&both, 5);
    assert_eq!(folder.names(), ["receivers", "senders"], "no output");
    both
}

#[test]
fn a_receiver_that_chooses_other_bits_in_a_column_is_caught() {
    assert_said!(caught(Cheat::Receiver, 0, is_long));
}

#[test]
fn a_sender_with_a_wrong_correction_of_vector_ole_is_caught() {
    assert_said!(caught(Cheat::Sender, 0, is_long));
}

#[test]
fn a_sender_that_answers_the_check_of_vector_ole_wrongly_is_caught() {
    assert_said!(caught(Cheat::Sender, 0, |length| length == HASH_BYTES));
}

#[test]
fn a_sender_that_opens_something_else_is_caught() {
    // After the answer to the check, and the commitment.
    assert_said!(caught(Cheat::Sender, 2, |length| length == HASH_BYTES));
}

/// The line itself is no cheat.
#[test]
fn without_a_cheat_they_join() {
    let folder = Folder::new();
    let both = join(&folder, Cheat::Sender, 0, |_| false).both();
    all_exit(&both, 0);
    assert_said!(both);
    assert_eq!(folder.read("shared"), lines(100..300));
}
