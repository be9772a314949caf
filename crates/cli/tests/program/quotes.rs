//! Names that somebody chose, in psijoin's messages: none passes for psijoin's own words.

use crate::support::{Folder, Joined, assert_said, join, run, trust};

/// Ends quotes that do not expect it, and continues as a statement would.
const FORGED: &str = "plan`, and of your other keys nothing. The other side learned `nothing";
/// That name, quoted.
const QUOTED: &str = r"`plan\`, and of your other keys nothing. The other side learned \`nothing`";

/// Returns a receiver with keys, and a sender whose second column has the forged name, with these
/// further arguments of each.
fn joined(folder: &Folder, receiver: &[&str], sender: &[&str]) -> Joined {
    let mine = folder.file("mine.csv", "id\n1\n2\n");
    let theirs = folder.file("theirs.csv", format!("id,{}\n1,7\n", in_csv(FORGED)));
    join(
        &[&["--key", "id", "--input", &mine], receiver].concat(),
        &[&["--key", "id", "--input", &theirs], sender].concat(),
    )
}

/// Returns a name among others, in a table's header or in an option.
fn in_csv(name: &str) -> String {
    format!("\"{name}\"")
}

#[test]
fn a_column_that_is_given_adds_no_sentence() {
    let folder = Folder::new();
    let trust = trust(&folder);
    let [ours, theirs] = ["ours.json", "theirs.json"].map(|name| folder.path(name));
    let receive = ["--take", "all", "--record", &ours];
    let name = in_csv(FORGED);
    let send = ["--give", &name, "--record", &theirs];
    let receive: Vec<_> = receive
        .into_iter()
        .chain(trust.receiver.iter().map(|arg| &**arg))
        .collect();
    let send: Vec<_> = send
        .into_iter()
        .chain(trust.sender.iter().map(|arg| &**arg))
        .collect();
    let joined = joined(&folder, &receive, &send);
    joined
        .receiver
        .says(0, &[&format!("the sender's column {QUOTED}. Both sides")]);
    joined.sender.says(
        0,
        &[&format!("got your column {QUOTED}, and of your other keys")],
    );
    let shown = run(&["verify", &ours]);
    let learned =
        format!("it was to learn the columns \"{FORGED}\" of the sender for the shared keys");
    assert!(shown.stdout.contains(&learned), "{shown}");
}

#[test]
fn a_column_that_is_added_up_adds_no_sentence() {
    let folder = Folder::new();
    let kind = format!("sum:{}", in_csv(&format!("sender.{FORGED}")));
    let common = ["--insecure-plaintext", "--output-kind", &kind];
    let send = [&common[..], &["--min-intersection", "1"]].concat();
    let receive = [&common[..], &["--min-intersection", "1"]].concat();
    let joined = joined(&folder, &receive, &send);
    joined.receiver.says(
        0,
        &[&format!("the sum of the sender's column {QUOTED} over")],
    );
    joined.sender.says(
        0,
        &[
            &format!("your column {QUOTED}"),
            &format!("the sender's table has {QUOTED}, with 0 decimals"),
        ],
    );
}

#[test]
fn errors_quote_what_they_are_about() {
    let folder = Folder::new();
    let table = folder.file("table.csv", format!("id,{}\n1,2\n", in_csv(FORGED)));
    let name = in_csv(FORGED);
    let missing = folder.path("a table: nothing is wrong with it, as `columns` says.csv");
    let all = [
        &["keys", &table, "--key", "\"a` is there. The column `b\""][..],
        &[
            "keys",
            &table,
            "--key",
            &name,
            "--normalize",
            "x`=trim, or `y",
        ],
        &["keys", &table, "--key", &format!("{name},{name}")],
        &[
            "keys",
            &table,
            "--key",
            &name,
            "--normalize",
            &format!("{FORGED}=number` is fine, `"),
        ],
        &["columns", &missing],
        &["receive", "--listen", "a host` or `b", "--input", &table],
    ];
    let said: Vec<_> = all.iter().map(|words| run(words)).collect();
    assert_said!(said);
}

/// One side's message about the other's columns.
#[test]
fn a_column_that_is_not_offered_is_told_beside_what_is() {
    let folder = Folder::new();
    let name = in_csv(FORGED);
    let joined = joined(
        &folder,
        &["--insecure-plaintext", "--take", "other"],
        &["--insecure-plaintext", "--give", &name],
    );
    joined.receiver.says(
        2,
        &[&format!(
            "does not offer the column `other`; it offers {QUOTED}"
        )],
    );
}
