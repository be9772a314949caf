//! The commands for one party alone.

use std::process::Stdio;

use psijoin::registry;

use crate::support::{Folder, Process, all_exit, assert_said, free_address, objects, run};

#[test]
fn keygen_prints_a_fingerprint_and_never_overwrites() {
    let folder = Folder::new();
    let path = folder.path("me.pem");
    let made = run(&["keygen", "--out", &path]);
    made.says(0, &[]);
    let fingerprint = made.stdout.trim();
    assert!(
        fingerprint.starts_with("psi1-") && fingerprint.len() == 39,
        "{fingerprint}"
    );
    let before = folder.read("me.pem");
    let again = run(&["keygen", "--out", &path]);
    again.says(3, &[]);
    assert_eq!(folder.read("me.pem"), before);
    assert_said!([made, again]);
}

/// Starts the program with this folder for the identity.
fn at_home(home: &str, args: &[&str]) -> Process {
    Process::start_with(args, |command| {
        let piped = command.stdin(Stdio::null()).stdout(Stdio::piped());
        piped.env("PSIJOIN_HOME", home)
    })
}

/// It is made at its first use, for its owner only, and never again.
#[test]
fn whoever_names_no_identity_has_one() {
    let folder = Folder::new();
    let home = folder.path("home");
    let first = at_home(&home, &["fingerprint"]).end();
    let again = at_home(&home, &["fingerprint"]).end();
    assert_eq!(first.stdout, again.stdout);
    assert_eq!(at_home(&home, &["keygen"]).end().code, Some(3));
    #[cfg(unix)]
    for (name, mode) in [("home", 0o700), ("home/identity.pem", 0o600)] {
        use std::os::unix::fs::PermissionsExt;
        let metadata = std::fs::metadata(folder.path(name)).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, mode, "{name}");
    }
    let other = at_home(&folder.path("other"), &["keygen"]).end();
    assert_ne!(first.stdout, other.stdout);
    assert_said!([first, again, other]);
}

#[test]
fn two_sides_need_nothing_but_each_others_fingerprint() {
    let folder = Folder::new();
    let [ann, bob] = ["ann", "bob"].map(|name| folder.path(name));
    let [of_ann, of_bob] = [&ann, &bob].map(|home| at_home(home, &["fingerprint"]).end().stdout);
    let table = folder.file("table", "x\ny\n");
    let address = free_address();
    let receive = [
        "receive",
        "--listen",
        &address,
        "--input",
        &table,
        "--peer",
        of_bob.trim(),
    ];
    let send = [
        "send",
        "--connect",
        &address,
        "--input",
        &table,
        "--peer",
        of_ann.trim(),
    ];
    let (receiver, sender) = (at_home(&ann, &receive), at_home(&bob, &send));
    assert_eq!(receiver.end().says(0, &["2 shared keys"]).stdout, "x\ny\n");
    sender.end().says(0, &[]);
}

/// Bash's script completes a long option.
#[cfg(target_os = "linux")]
#[test]
fn shells_complete_commands_and_options() {
    for shell in ["bash", "zsh", "fish"] {
        let script = run(&["completions", shell]);
        script.says(0, &[]);
        assert!(script.stdout.contains("quote-empty"), "{shell}");
        // One sentence of several.
        let about_deadline = "The longest that the whole run may take";
        assert_eq!(script.stdout.contains(about_deadline), shell != "bash");
        assert!(!script.stdout.contains("default: no limit"), "{shell}");
    }
    let folder = Folder::new();
    let script = folder.file("psijoin", run(&["completions", "bash"]).stdout);
    let words = "COMP_WORDS=(psijoin receive --quo) COMP_CWORD=2";
    let complete = format!(
        "source {script} && {words} && _psijoin psijoin --quo receive && echo ${{COMPREPLY[@]}}"
    );
    let bash = std::process::Command::new("bash")
        .args(["-c", &complete])
        .output();
    let bash = bash.unwrap();
    assert_eq!(
        String::from_utf8(bash.stdout).unwrap(),
        "--quote --quote-empty --quote-formulas\n"
    );
}

/// A page per command, whose names and sections `man` understands.
#[test]
fn the_manual_has_a_page_per_command() {
    let folder = Folder::new();
    let pages = folder.path("man1");
    run(&["manual", &pages]).says(0, &[]);
    let read = |name: &str| std::fs::read_to_string(format!("{pages}/{name}.1")).unwrap();
    let program = read("psijoin");
    assert!(program.contains("psijoin\\-receive(1)"));
    assert!(program.contains(".SH ENVIRONMENT"));
    let receive = read("psijoin-receive");
    let version = env!("CARGO_PKG_VERSION");
    let title = format!(".TH psijoin-receive 1 \" \" \"psijoin {version}\"");
    for part in [
        title.as_str(),
        ".SH CONNECTION",
        "\\-\\-take",
        ".SH \"EXIT STATUS\"",
        "wrong usage",
    ] {
        assert!(receive.contains(part), "{part}");
    }
    let file = folder.file("file", "");
    run(&["manual", &file]).says(2, &["cannot write to"]);
}

#[test]
fn the_demo_shows_shared_rows_bytes_time_and_what_was_learned() {
    let demos = [run(&["demo"]), run(&["demo", "--protocol", "naive"])];
    all_exit(&demos, 0);
    assert_said!(demos);
}

#[test]
fn temporary_files_are_not_named() {
    let missing = Folder::new().path("missing");
    let demo = Process::start_with(&["demo"], |command| {
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::piped());
        quiet.env("TMPDIR", &missing)
    });
    let demo = demo.end();
    demo.says(3, &[]);
    assert!(!demo.stderr.contains(&missing), "{demo:#?}");
    assert_said!([demo]);
}

#[test]
fn protocols_are_listed_with_their_costs() {
    let said = [
        run(&["protocols", "--items", "2^10:1e6", "--all"]),
        run(&["protocols", "--items", "100"]),
    ];
    all_exit(&said, 0);
    assert_said!(said);
    let list = run(&["protocols", "--items", "0", "--json", "--all"]);
    let objects = objects(&list.stdout);
    let names: Vec<_> = objects
        .iter()
        .map(|object| object["name"].as_str())
        .collect();
    let expected = registry::PROTOCOLS.iter().map(|listed| listed.info().name);
    let expected: Vec<_> = expected.map(Some).collect();
    assert_eq!(names, expected);
    assert!(objects.iter().all(|object| object["sender_bytes"] == 0));
}

#[test]
fn columns_are_listed_in_every_dialect() {
    let folder = Folder::new();
    let table = folder.file("t.csv", "id;name\n1;\"ann;\"\n");
    let columns = |more: &[&str]| run(&[&["columns", &table], more].concat());
    let lines = folder.file("t.txt", "a\n");
    let said = [
        columns(&[]),
        columns(&["--delimiter", "semicolon"]),
        columns(&["--delimiter", ";", "--quote", "none", "--no-header"]),
        columns(&["--delimiter", ";;"]),
        columns(&["--quote", ","]),
        run(&["columns", &lines, "--no-header"]),
    ];
    for (ended, code) in said.iter().zip([0, 0, 0, 2, 2, 2]) {
        ended.says(code, &[]);
    }
    assert_said!(said);
}

#[test]
fn skipped_lines_and_comments_are_no_rows() {
    let folder = Folder::new();
    let text = "Export of 2024\n# id;mail\nmail,n\na@x.org,1\n#b@x.org,2\nc@x.org,1,5\n";
    let table = folder.file("t.csv", text);
    let whole = folder.file("u.csv", "mail,n\na@x.org,1\n#b@x.org,2\n");
    let options = ["--skip-lines", "1", "--comment", "#"];
    let columns = run(&[&["columns", &table], &options[..]].concat());
    columns.says(0, &["t.csv is read as CSV, 1 line skipped, comments #"]);
    assert_eq!(columns.stdout, "mail\nn\n");
    let keys = |table: &str, key: &str, options: &[&str]| {
        run(&[&["keys", table, "--key", key], options].concat())
    };
    keys(&table, "mail", &options).says(3, &["t.csv, line 6: 3 fields where the header has 2 ("]);
    let keys = keys(&whole, "mail", &options[2..]);
    keys.says(0, &[]);
    assert!(keys.stdout.contains("a@x.org") && !keys.stdout.contains("b@x.org"));
    for (option, value, code, text) in [
        (
            "--comment",
            ",",
            2,
            "a comment cannot begin with the delimiter",
        ),
        ("--comment", "//", 2, "give one ASCII character"),
        ("--skip-lines", "x", 2, "invalid value 'x'"),
        ("--skip-lines", "4", 3, "u.csv has no header"),
    ] {
        run(&["columns", &whole, option, value]).says(code, &[text]);
    }
}

#[test]
fn keys_are_shown_as_they_are_compared() {
    let folder = Folder::new();
    let table = folder.file(
        "t.csv",
        "mail,n\n Ann@x.org,01\nbob@x.org,2\n,3\nann@x.org,1.0\n",
    );
    let normalize = ["--normalize", "mail=email", "--normalize", "n=number"];
    let keys = |more: &[&str]| {
        let shown = run(&[&["keys", &table, "--key", "mail,n"], &normalize[..], more].concat());
        shown.says(0, &[]);
        shown
    };
    let mut said = vec![
        keys(&[]),
        keys(&["--first", "1"]),
        keys(&["--first", "0"]),
        keys(&["--first", "1", "--json"]),
    ];
    let missing = ["keys", &table, "--key", "x"];
    let unread = [
        "keys",
        &table,
        "--key",
        "mail",
        "--normalize",
        "mail=number",
    ];
    for args in [&missing[..], &unread] {
        let ended = run(args);
        ended.says(3, &[]);
        said.push(ended);
    }
    assert_said!(said);
}
