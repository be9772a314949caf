//! What a party lets the other do.

use psijoin_table::MAX_ITEMS;

use crate::support::{Ended, Folder, Joined, join, lines};

/// A receiver that gives its keys the powers of two reads from their sum which are shared.
#[test]
fn a_sum_of_chosen_numbers_names_the_shared_keys_if_the_sender_allows_it() {
    let folder = Folder::new();
    let numbers: String = (0..62)
        .map(|key| format!("{key},{}\n", 1_u64 << key))
        .collect();
    let mine = folder.file("mine.csv", "id,n\n".to_owned() + &numbers);
    let shared = [0, 3, 17, 40, 61];
    let keys: String = shared.iter().map(|key| format!("{key}\n")).collect();
    let theirs = folder.file("theirs.csv", "id\n".to_owned() + &keys + "not mine\n");
    let common = [
        "--key",
        "id",
        "--output-kind",
        "sum:n",
        "--insecure-plaintext",
    ];
    let ended = |consent: &[&str]| {
        join(
            &[&["--input", &mine], &common[..]].concat(),
            &[&["--input", &theirs], &common[..], consent].concat(),
        )
    };

    let refused = ended(&[]);
    refused.sender.says(
        6,
        &[
            "a sum of the receiver's column `n` was asked for",
            "could read from the sum which keys you share",
            "--allow-sums-that-reveal-keys",
        ],
    );
    refused.receiver.says(
        5,
        &["the other party gave up: it does not allow sums of the receiver's columns"],
    );
    assert_eq!(refused.receiver.stdout, "");

    let allowed = ended(&["--allow-sums-that-reveal-keys"]);
    allowed.sender.says(
        0,
        &["whether you have each of 62 keys of its choice. You allowed that"],
    );
    let sum: u64 = allowed.receiver.stdout.trim().parse().unwrap();
    let read: Vec<_> = (0..62).filter(|key| sum >> key & 1 == 1).collect();
    assert_eq!(read, shared, "this is what the sender allows");
}

/// The sender's own columns need no such consent.
#[test]
fn sums_of_the_senders_columns_are_computed() {
    let folder = Folder::new();
    let mine = folder.file("mine.csv", "id\n1\n2\n");
    let theirs = folder.file("theirs.csv", "id,n\n2,5\n3,7\n");
    let common = [
        "--key",
        "id",
        "--output-kind",
        "sum:n",
        "--insecure-plaintext",
    ];
    let Joined { receiver, sender } = join(
        &[&["--input", &mine], &common[..]].concat(),
        &[&["--input", &theirs], &common[..]].concat(),
    );
    sender.says(
        0,
        &["neither which nor how many these are beyond what that sum can tell"],
    );
    assert_eq!(receiver.stdout, "5\n");
}

/// A receiver of 100 keys and a sender of 4, with more options each; the receiver first.
fn unequal(receivers: &[&str], senders: &[&str]) -> [Ended; 2] {
    let folder = Folder::new();
    let mine = folder.file("mine", lines(0..100));
    let theirs = folder.file("theirs", lines(98..102));
    let Joined { receiver, sender } = join(
        &[&["--input", &mine, "--insecure-plaintext"], receivers].concat(),
        &[&["--input", &theirs, "--insecure-plaintext"], senders].concat(),
    );
    [receiver, sender]
}

#[test]
fn a_set_above_the_limit_is_refused_right_after_the_hello() {
    let [receiver, sender] = unequal(&[], &["--max-peer-keys", "99"]);
    sender.says(
        6,
        &["the other party has 100 keys, and --max-peer-keys here is 99"],
    );
    receiver.says(
        5,
        &["the other party gave up: this side's set is larger than it allows"],
    );
    assert_eq!(receiver.stdout, "");
    let [receiver, sender] = unequal(&["--max-peer-keys", "3"], &[]);
    receiver.says(6, &["the other party has 4 keys"]);
    sender.says(5, &["larger than it allows"]);
    for ended in unequal(&["--max-peer-keys", "4"], &["--max-peer-keys", "1e2"]) {
        ended.says(0, &[]);
    }
}

#[test]
fn a_sender_is_warned_of_a_curious_receiver() {
    let [receiver, sender] = unequal(&[], &[]);
    let warning = "WARNING: the receiver has 100 keys, 25 times as many as you: a receiver that \
                   puts in every key it can think of";
    sender.says(0, &[warning]);
    assert!(!receiver.stderr.contains("times as many"), "{receiver:#?}");
}

/// What the peer says is not planned for before there is memory for it.
#[test]
#[cfg(target_os = "linux")]
fn without_a_limit_the_memory_is_one() {
    use crate::fake_peers::hello_to_limited_receiver;

    let ended = hello_to_limited_receiver(MAX_ITEMS as u64);
    ended.says(
        6,
        &[
            "the other party has 67,108,864 keys, and this machine has memory for",
            "--max-peer-keys N tries it all the same",
        ],
    );
}
