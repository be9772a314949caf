//! The consent of a party to the other one's requests.

use psijoin_table::MAX_ITEMS;

use crate::support::{Ended, Folder, Joined, all_exit, assert_said, join, lines};

/// Runs both parties with these tables, for the sum of `n` over the shared ids; `consent` has the
/// options by which the sender allows it.
fn summed(mine: &str, theirs: &str, consent: &[&str]) -> Joined {
    let sum = ["--key", "id", "--output-kind", "sum:n"];
    let common = [&sum[..], &["--insecure-plaintext"]].concat();
    join(
        &[&["--input", mine], &common[..]].concat(),
        &[&["--input", theirs], &common[..], consent].concat(),
    )
}

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
    let refused = summed(&mine, &theirs, &[]);
    refused.sender.says(6, &[]);
    refused.receiver.says(5, &[]);
    assert_eq!(refused.receiver.stdout, "");

    let allowed = summed(&mine, &theirs, &["--allow-sums-that-reveal-keys"]);
    allowed.sender.says(0, &[]);
    let sum: u64 = allowed.receiver.stdout.trim().parse().unwrap();
    let read: Vec<_> = (0..62).filter(|key| sum >> key & 1 == 1).collect();
    assert_eq!(read, shared, "this is what the sender allows");
    assert_said!([refused.both(), allowed.both()].as_flattened());
}

/// The sender's own columns need no such consent.
#[test]
fn sums_of_the_senders_columns_are_computed() {
    let folder = Folder::new();
    let mine = folder.file("mine.csv", "id\n1\n2\n");
    let theirs = folder.file("theirs.csv", "id,n\n2,5\n3,7\n");
    let joined = summed(&mine, &theirs, &[]);
    assert_eq!(joined.receiver.stdout, "5\n");
    assert_said!(joined.both());
}

/// Returns a receiver of 100 keys and a sender of 4, with more options each; the receiver first.
fn unequal(receivers: &[&str], senders: &[&str]) -> [Ended; 2] {
    let folder = Folder::new();
    let mine = folder.file("mine", lines(0..100));
    let theirs = folder.file("theirs", lines(98..102));
    let joined = join(
        &[&["--input", &mine, "--insecure-plaintext"], receivers].concat(),
        &[&["--input", &theirs, "--insecure-plaintext"], senders].concat(),
    );
    joined.both()
}

#[test]
fn a_set_above_the_limit_is_refused_right_after_the_hello() {
    let by_sender = unequal(&[], &["--max-peer-keys", "99"]);
    by_sender[0].says(5, &[]);
    by_sender[1].says(6, &[]);
    assert_eq!(by_sender[0].stdout, "");
    let by_receiver = unequal(&["--max-peer-keys", "3"], &[]);
    by_receiver[0].says(6, &[]);
    by_receiver[1].says(5, &[]);
    let allowed = unequal(&["--max-peer-keys", "4"], &["--max-peer-keys", "1e2"]);
    all_exit(&allowed, 0);
    assert_said!([by_sender, by_receiver].as_flattened());
}

#[test]
fn a_sender_is_warned_of_a_curious_receiver() {
    let [receiver, sender] = unequal(&[], &[]);
    let words = "25 times as many as you";
    sender.says(0, &[words]);
    assert!(!receiver.stderr.contains(words), "{receiver:#?}");
    assert_said!([receiver, sender]);
}

/// A single run for the announced size does not start without memory for it; the memory of parts
/// does not grow with their number.
#[test]
#[cfg(target_os = "linux")]
fn without_a_limit_the_memory_is_one_of_a_single_run() {
    use crate::fake_peers::hello_to_limited_receiver;

    let count = |protocol, memory| {
        let kind = ["--output-kind", "count", "--protocol", protocol];
        [&kind[..], &["--memory", memory]].concat()
    };
    let at_once = hello_to_limited_receiver(1 << 20, &count("rr22-circuit", "330MB"));
    at_once.says(6, &[]);
    assert_said!([at_once]);
    // A batch takes no more the more there are.
    let batches = hello_to_limited_receiver(MAX_ITEMS as u64, &count("dh", "330MB"));
    batches.says(4, &["closed the connection"]);
    let in_parts = hello_to_limited_receiver(1 << 34, &[]);
    // It would go on.
    in_parts.says(4, &["closed the connection"]);
}
