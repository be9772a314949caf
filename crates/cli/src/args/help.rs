//! The text of help beside the options, and the options that `-h` shows.

use clap::Arg;

use psijoin_frontend::statement::caveats::*;

use crate::exit;

/// The end of `psijoin -h`.
pub(crate) const PROGRAM: &str = "\
Examples:
  psijoin demo
  psijoin receive --listen 0.0.0.0:7766 --peer psi1-… --input mine.csv --key email --output out.csv

`psijoin COMMAND -h` shows the options that people use, and `psijoin COMMAND --help` all of them.";

/// The end of `psijoin receive -h`.
pub(crate) const RECEIVE: &str = "\
Examples:
  # The rows of mine.csv that both sides have, by their email addresses:
  psijoin receive --listen 0.0.0.0:7766 --peer psi1-… --input mine.csv --key email --output out.csv
  # Only their number, as a test on one machine:
  psijoin receive --listen 127.0.0.1:7766 --insecure-plaintext --input mine.csv --output-kind count

`psijoin receive --help` has all options, what each side learns beside the result, and exit codes.";

/// The end of `psijoin send -h`.
pub(crate) const SEND: &str = "\
Examples:
  # Let the other party find its rows that both sides have, by their email addresses:
  psijoin send --connect ann.example.org:7766 --peer psi1-… --input theirs.csv --key mail
  # Only their number, as a test on one machine:
  psijoin send --connect 127.0.0.1:7766 --insecure-plaintext --input theirs.csv --output-kind count

`psijoin send --help` has all options, what each side learns beside the result, and exit codes.";

/// The end of `psijoin check -h`.
pub(crate) const CHECK: &str = "\
Put `check` into the command of a join, on both sides:
  psijoin check receive --listen 0.0.0.0:7766 --peer psi1-… --input mine.csv --key email
  psijoin check send --connect ann.example.org:7766 --peer psi1-… --input theirs.csv --key mail";

/// The end of `psijoin relay -h`.
pub(crate) const RELAY: &str = "\
Examples:
  psijoin relay --listen 0.0.0.0:7767
  psijoin relay --listen 0.0.0.0:7767 --access keys.txt --metrics 127.0.0.1:9767

SIGTERM and Ctrl-C drain it: it takes nobody more, and ends with its last session, after --drain at
the latest. PSIJOIN_LOG=info logs sessions, without what could tell who meets whom.";

/// The options that `-h` of `relay` shows.
pub(crate) const OF_RELAY: &[&str] = &["listen", "access", "metrics", "drain", "front-end"];

/// The options that `-h` of `receive` and `send` shows.
pub(crate) const JOIN: &[&str] = &[
    "listen",
    "connect",
    "relay",
    "peer",
    "insecure-plaintext",
    "input",
    "key",
    "normalize",
    "output",
    "output-kind",
    "group-by",
    "groups",
    "give",
    "take",
    "min-intersection",
    "min-group",
    "record",
    "report",
    "job",
    "protocol",
];

/// The options that `-h` of `plan` shows.
pub(crate) const PLAN: &[&str] = &[
    "items",
    "input",
    "key",
    "normalize",
    "output-kind",
    "learn",
    "min-intersection",
    "network",
    "listen",
    "connect",
    "peer",
    "memory",
    "optimise",
    "all",
    "json",
];

const ENVIRONMENT: &str = "\
Environment:
  PSIJOIN_HOME  the folder of your identity, instead of psijoin in your folder for configuration
  PSIJOIN_LOG   log on standard error, with time and level, instead of talking: error, warn, info
               (all that is usually said), debug (connections and phases too), or off (only why a
               run failed)";

/// The facts that a result does not show by itself, each with its subject.
const CAVEATS: [(&str, &str); 11] = [
    ("Always", COMPARED),
    ("--give and --take", OFFERED),
    ("--align", REDRAWN),
    ("Counts, thresholds and sums, of groups too", DIFFERENCES),
    ("--protocol auto", STEERED),
    (
        "More than two million keys, which are joined in parts",
        SECURITY_OF_PARTS,
    ),
    ("Rows in parts", TIMED),
    ("rr22-malicious", MORE_KEYS),
    ("rr22-malicious with --learn both", HIDDEN),
    ("rr22-malicious with --take", INVENTED),
    ("rr22-malicious in parts", ADAPTIVE),
];

/// Lets `-h` show these options only.
pub(crate) fn showing(names: &'static [&'static str]) -> impl FnMut(Arg) -> Arg {
    |arg| {
        let is_shown = arg.get_long().is_some_and(|name| names.contains(&name));
        arg.hide_short_help(!is_shown)
    }
}

/// Returns what stands at the end of `psijoin --help`.
pub(crate) fn after_program() -> String {
    format!("{PROGRAM}\n\n{}\n\n{ENVIRONMENT}", exit::TABLE)
}

/// Returns what stands at the end of the whole help of a join with these examples.
pub(crate) fn after_join(examples: &str) -> String {
    let examples = examples.rsplit_once("\n\n").map_or(examples, |(it, _)| it);
    let mut text = format!("{examples}\n\nWhat each side should know beside the result:");
    for (about, caveat) in CAVEATS {
        for (at, line) in wrapped(&format!("{about}: {caveat}")).iter().enumerate() {
            text += &format!("\n  {} {line}", if at == 0 { '-' } else { ' ' });
        }
    }
    format!("{text}\n\n{}", exit::TABLE)
}

/// Returns lines as long as those of the table of exit codes.
fn wrapped(text: &str) -> Vec<String> {
    const WIDTH: usize = 88;
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("it has a line");
        if !line.is_empty() && line.len() + word.len() >= WIDTH {
            lines.push(word.to_owned());
        } else {
            let space = if line.is_empty() { "" } else { " " };
            *line += &format!("{space}{word}");
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::args::Args;

    const SECURITY: &str = include_str!("../../../../SECURITY.md");
    const OFFICERS: &str = include_str!("../../../../docs/security-officer.md");
    const FUNCTIONS: &str = include_str!("../../../../docs/functions.md");
    const JOIN_PAGE: &str = include_str!("../../../../docs/join.md");
    const SCALE: &str = include_str!("../../../../docs/scale.md");
    const PLANNING: &str = include_str!("../../../../docs/planning.md");
    const RR22: &str = include_str!("../../../../docs/rr22.md");

    /// Returns a text without what lines and lists add to it.
    fn words(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn security_documents_and_help_say_the_same() {
        let page_of = |caveat| match caveat {
            OFFERED | REDRAWN | HIDDEN | INVENTED => JOIN_PAGE,
            DIFFERENCES => FUNCTIONS,
            STEERED => PLANNING,
            SECURITY_OF_PARTS | TIMED | ADAPTIVE => SCALE,
            MORE_KEYS => RR22,
            _ => OFFICERS,
        };
        let mut args = Args::command();
        let help = |name| {
            let command = args.find_subcommand_mut(name).expect("a command");
            words(&command.render_long_help().to_string())
        };
        let helps = ["send", "receive"].map(help);
        for (_, caveat) in CAVEATS {
            for text in [SECURITY, page_of(caveat)] {
                assert!(words(text).contains(caveat), "{caveat}");
            }
            assert!(helps.iter().all(|help| help.contains(caveat)), "{caveat}");
        }
    }

    /// Returns the command lines of a text.
    fn commands(text: &str) -> impl Iterator<Item = Vec<String>> {
        let lines = text
            .lines()
            .filter_map(|line| line.strip_prefix("  psijoin "));
        let peer = "psi1-qcnk-zb81-14cx-f6m3-a530-c9p1-s3kq";
        lines.map(move |line| {
            let words = line.replace("psi1-…", peer);
            words.split(' ').map(str::to_owned).collect()
        })
    }

    #[test]
    fn examples_are_understood() {
        for (text, examples) in [(PROGRAM, 2), (RECEIVE, 2), (SEND, 2), (CHECK, 2)] {
            let mut understood = 0;
            for words in commands(text) {
                let program = std::iter::once("psijoin".to_owned());
                if let Err(error) = Args::try_parse_from(program.chain(words)) {
                    panic!("{error}");
                }
                understood += 1;
            }
            assert_eq!(understood, examples, "{text}");
        }
    }

    #[test]
    fn options_of_the_short_help_exist() {
        let program = Args::command();
        for (command, names) in [("receive", JOIN), ("send", JOIN), ("plan", PLAN)] {
            let command = program.find_subcommand(command).unwrap();
            for name in names {
                let is_it = |arg: &Arg| arg.get_long() == Some(name);
                assert!(command.get_arguments().any(is_it), "{name}");
            }
        }
    }
}
