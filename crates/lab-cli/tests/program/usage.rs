//! The command line, and what happens without memory.

#[cfg(target_os = "linux")]
use crate::support::Process;
use crate::support::{Ended, Folder, all_exit, assert_said, run};

#[test]
fn the_program_and_each_command_have_help() {
    let commands = ["bench", "list", "run", "report", "compare"];
    let mut said = vec![run(&["--help"]), run(&["--version"])];
    said.extend(commands.map(|command| run(&[command, "--help"])));
    all_exit(&said, 0);
    assert_said!(said);
}

#[test]
fn wrong_values_are_named() {
    let said: [Ended; 6] = [
        run(&["bench", "--threads", "18446744073709551616"]),
        run(&["bench", "--items", "2^35"]),
        run(&["bench", "--network", "wan:fast"]),
        run(&["bench", "--protocol", "dh,rr2"]),
        run(&["receive"]),
        run(&[]),
    ];
    all_exit(&said, 2);
    assert_said!(said);
}

#[test]
fn the_manual_and_completions_are_of_this_program() {
    let folder = Folder::new();
    run(&["manual", &folder.path("man1")]).says(0, &[]);
    let page = folder.read("man1/psijoin-lab-run.1");
    let version = env!("CARGO_PKG_VERSION");
    let title = format!(".TH psijoin-lab-run 1 \" \" \"psijoin {version}\"");
    for part in [&*title, ".SH SYNOPSIS", "\\-\\-results"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(
        folder
            .read("man1/psijoin-lab.1")
            .contains("psijoin\\-lab\\-bench(1)")
    );
    let script = run(&["completions", "bash"]);
    script.says(0, &[]);
    assert!(script.stdout.contains(" psijoin-lab\n"));
}

/// As where another party is told of it.
#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_ends_with_a_code_of_its_own() {
    let bench = |items| {
        [
            "bench",
            "--protocol",
            "kkrt",
            "--items",
            items,
            "--runs",
            "1",
        ]
    };
    let ended = Process::start_limited(150_000, &bench("2^20")).end();
    ended.says(3, &["psijoin-lab: there is not enough memory"]);
    run(&bench("2^8")).says(0, &[]);
}
