//! A program in Rust, as the example of the crate `session` is, joins with this one.

use crate::support::{Folder, Process, trust};

#[path = "../../../session/examples/receive.rs"]
mod example;

#[test]
fn a_program_in_rust_receives_what_this_one_sends() {
    let folder = Folder::new();
    let customers = folder.file(
        "customers.csv",
        "id,email\n1,Ann@example.org\n2,bob@example.org\n",
    );
    let subscribers = folder.file(
        "subscribers.csv",
        "mail\nann@example.org\nsue@example.org\n",
    );
    let trust = trust(&folder);
    let [_, identity, _, peer] = &trust.receiver;
    let [_, own, _, its_peer] = &trust.sender;
    let args = [
        ["--identity", own],
        ["--peer", its_peer],
        ["--input", &subscribers],
        ["--key", "mail"],
        ["--normalize", "mail=email"],
    ];
    let (sender, address) = Process::listen("send", args.as_flattened());
    let output = folder.path("shared.csv");
    let shared = example::receive([identity, peer, &address, &customers, &output]);
    assert_eq!(shared.unwrap(), Some(1));
    assert_eq!(folder.read("shared.csv"), "id,email\n1,Ann@example.org\n");
    sender
        .end()
        .says(0, &["The receiver learned which of its keys you share"]);
}
