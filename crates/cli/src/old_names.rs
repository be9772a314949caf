//! Renamed commands and options, which are refused with the new name.

use std::{
    ffi::{OsStr, OsString},
    fmt,
};

use crate::{console, exit::Code};

const PROGRAM: &str = "psijoin-lab is beside psijoin in the archive, the Debian package and the container image; \
                       docs/install.md has more";

/// The new names of commands.
const COMMANDS: [(&str, &str); 2] = [("bench", "psijoin-lab bench"), ("lab", "psijoin-lab")];

/// The new names of options of `receive` and `send`.
const OPTIONS: [(&str, &str); 3] = [
    ("--check", "`psijoin check COMMAND`"),
    ("--json", "`--report -`"),
    ("--quiet", "`PSIJOIN_LOG=off` in the environment"),
];

/// A name that is no more, and what has taken its place.
#[derive(Debug)]
pub(crate) struct Moved {
    old: String,
    new: String,
    hint: Option<&'static str>,
}

impl fmt::Display for Moved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is {} now", self.old, self.new)
    }
}

/// Returns what has moved of that which these words name, the program's name left out.
pub(crate) fn named(words: &[impl AsRef<OsStr>]) -> Option<Moved> {
    let (command, options) = words.split_first()?;
    let command = command.as_ref();
    if let Some((old, new)) = COMMANDS.iter().find(|(old, _)| command == *old) {
        return Some(Moved {
            old: format!("psijoin {old}"),
            new: format!("`{new}`"),
            hint: Some(PROGRAM),
        });
    }
    let joins = ["receive", "send", "check"];
    let command = joins.into_iter().find(|join| command == *join)?;
    let is_named = |old: &str| options.iter().any(|word| word.as_ref() == old);
    // A command that already begins with `check` is a plain mistake.
    let has_moved = |old: &str| is_named(old) && !old.ends_with(command);
    let (old, new) = OPTIONS.iter().find(|(old, _)| has_moved(old))?;
    Some(Moved {
        old: format!("psijoin {command} {old}"),
        new: new.replace("COMMAND", command),
        hint: None,
    })
}

/// Says what has moved of that which these arguments name.
pub(crate) fn refuse(args: &[OsString]) -> Option<Code> {
    let moved = named(args.get(1..)?)?;
    console::failed(&moved.to_string(), moved.hint);
    Some(Code::Usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_joins_have_moved_and_those_of_other_commands_have_not() {
        let is_moved = |words: &str| named(&words.split(' ').collect::<Vec<_>>()).is_some();
        for words in [
            "receive --input x --check",
            "send --json",
            "check send --quiet",
            "lab",
        ] {
            assert!(is_moved(words), "{words}");
        }
        for words in [
            "plan --json",
            "keys x --json",
            "receive --report -",
            "check receive",
            "",
        ] {
            assert!(!is_moved(words), "{words}");
        }
    }
}
