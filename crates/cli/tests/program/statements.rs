//! The statement at the end of a run, for every kind of protocol, output and learners, and in
//! parts: what each side is told of what both may know. SECURITY.md promises the same.

use crate::support::{Ended, Folder, all_exit, assert_said, join};

const MINE: &str = "email,age\nann@x.org,31\nbob@x.org,52\ncid@x.org,27\n";
const THEIRS: &str = "mail,plan,paid\nbob@x.org,gold,20\nzoe@x.org,basic,5\nann@x.org,silver,7\n";

/// Returns both sides' ends of a join with these options: of both, of the receiver, and of the
/// sender.
fn joined([both, receiver, sender]: [&str; 3]) -> [Ended; 2] {
    let folder = Folder::new();
    let mine = folder.file("mine.csv", MINE);
    let theirs = folder.file("theirs.csv", THEIRS);
    let [received, sent] = ["received.csv", "sent.csv"].map(|name| folder.path(name));
    let receive = format!("--input {mine} --key email {both} {receiver}");
    let send = format!("--input {theirs} --key mail {both} {sender}");
    let [receive, send] = [receive, send].map(|words| {
        let named = words.replace("RECEIVED", &received);
        named.replace("SENT", &sent) + " --insecure-plaintext --threads 2"
    });
    let [receive, send] = [&receive, &send].map(|words| words.split(' ').filter(|w| !w.is_empty()));
    join(&receive.collect::<Vec<_>>(), &send.collect::<Vec<_>>()).both()
}

#[test]
fn each_run_says_what_both_may_know() {
    let said: Vec<Ended> = [
        // Parties that cheat.
        ["--protocol rr22-malicious", "", ""],
        [
            "--protocol rr22-malicious",
            "--take plan",
            "--give plan,paid",
        ],
        [
            "--protocol rr22-malicious --parts 3 --learn both",
            "--take plan --give age --output RECEIVED",
            "--give plan,paid --take all --output SENT",
        ],
        ["--protocol cm20-malicious-sender", "", ""],
        // Parts.
        ["--protocol rr22 --parts 3", "", ""],
        [
            "--parts 3 --learn both",
            "--output RECEIVED",
            "--output SENT",
        ],
        ["--parts 2 --output-kind count --min-intersection 1", "", ""],
        ["", "--take all", "--give plan"],
        // Functions.
        ["--output-kind count", "", ""],
        ["--output-kind threshold:2", "", ""],
        ["--output-kind sum:paid --min-intersection 2", "", ""],
        [
            "--output-kind shares:paid",
            "--output RECEIVED",
            "--output SENT",
        ],
        // Orders.
        ["--learn both --align", "--output RECEIVED", "--output SENT"],
    ]
    .into_iter()
    .flat_map(joined)
    .collect();
    all_exit(&said, 0);
    assert_said!(said);
}
