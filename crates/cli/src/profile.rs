//! Profiles: files of options, which are put into the command line.
//!
//! A profile is TOML with long names of options of `receive` or `send`. A text, a number or a list
//! of these is the value of an option, and `true` stands for one without a value. The command line
//! wins: what it says, and what cannot stand beside that, is left out of the profile.

use std::{ffi::OsString, fs};

use clap::{Arg, ArgAction, Command, CommandFactory};
use psijoin_frontend::{AppliedProfile, Failure, home};
use psijoin_printable::{Quoted, humanize};
use toml::{Table, Value};

use crate::{args::Args, exit::ProgramFault};

/// The option that names a profile.
const OPTION: &str = "--profile";

/// Puts the options of the profile that these arguments name, if they do, behind them, and returns
/// what it has set.
///
/// # Errors
/// If the profile cannot be read, or holds something else than options of the command.
pub(crate) fn apply(args: &mut Vec<OsString>) -> Result<Option<AppliedProfile>, Failure> {
    let Some(name) = named(args) else {
        return Ok(None);
    };
    let Some(command) = command(args) else {
        // Whatever it is, it has no profiles: the command line is refused as usual.
        return Ok(None);
    };
    let path = home::profile(&name)?;
    let fault = |why: String| {
        let path = path.clone();
        Failure::from(ProgramFault::Profile { path, why })
    };
    let text = fs::read_to_string(&path).map_err(|error| fault(error.to_string()))?;
    let table: Table = toml::from_str(&text).map_err(|error| fault(error.message().to_owned()))?;
    let mut set = Vec::new();
    for (name, value) in &table {
        let arg = option(&command, name).map_err(&fault)?;
        if !is_overruled(&command, arg, args) {
            set.extend(words(name, arg, value).map_err(&fault)?);
        }
    }
    args.extend(set.iter().map(OsString::from));
    // It is told and reported, and a proxy may have a password.
    let told: Vec<_> = set
        .iter()
        .map(|word| home::without_password(word))
        .collect();
    Ok(Some(AppliedProfile {
        name,
        path,
        has_password: told != set,
        set: told,
    }))
}

/// Returns the name of the profile in these arguments, the last one if there are several.
fn named(args: &[OsString]) -> Option<String> {
    let words: Vec<_> = args.iter().map(|word| word.to_string_lossy()).collect();
    let beside = words.windows(2).rev();
    let beside = beside
        .filter(|pair| pair[0] == OPTION)
        .map(|pair| pair[1].to_string());
    let within = words.iter().rev();
    let within = within.filter_map(|word| word.strip_prefix(OPTION)?.strip_prefix('='));
    beside.chain(within.map(str::to_owned)).next()
}

/// Returns the command in these arguments that can have a profile: `receive` or `send`, also behind
/// `check`.
pub(crate) fn command(args: &[OsString]) -> Option<Command> {
    let mut command = Args::command();
    command.build();
    let mut found = false;
    for word in args.iter().skip(1) {
        let Some(next) = command.find_subcommand(word) else {
            break;
        };
        command = next.clone();
        found = true;
    }
    (found && long(&command, "profile").is_some()).then_some(command)
}

fn long<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    let mut all = command.get_arguments();
    all.find(|arg| arg.get_long() == Some(name))
}

/// Returns the option of this name that a profile may set.
fn option<'a>(command: &'a Command, name: &str) -> Result<&'a Arg, String> {
    let other = match name {
        "profile" => Some("a profile cannot name another one"),
        "help" | "version" => Some("it is for the command line"),
        _ => None,
    };
    match (other, long(command, name)) {
        (Some(why), _) => Err(format!("{} is no option of a profile: {why}", Quoted(name))),
        (None, Some(arg)) => Ok(arg),
        (None, None) => Err(format!(
            "{} is no option of `psijoin {}`: see its --help, and leave out the dashes",
            Quoted(name),
            command.get_name()
        )),
    }
}

/// Returns whether these arguments have the option of this long name.
pub(crate) fn is_said(args: &[OsString], name: &str) -> bool {
    args.iter().any(|word| {
        let word = word.to_string_lossy();
        let rest = word
            .strip_prefix("--")
            .and_then(|word| word.strip_prefix(name));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    })
}

/// Returns whether the command line has said this option, or one that cannot stand beside it.
fn is_overruled(command: &Command, arg: &Arg, args: &[OsString]) -> bool {
    let is_among = |arg: &Arg| arg.get_long().is_some_and(|name| is_said(args, name));
    let mut said = command.get_arguments().filter(|arg| is_among(arg));
    said.any(|said| said.get_id() == arg.get_id() || exclude_each_other(command, said, arg))
}

/// Returns whether only one of two options can be given, whichever of them says so.
fn exclude_each_other(command: &Command, a: &Arg, b: &Arg) -> bool {
    let excludes = |one: &Arg, other: &Arg| {
        let mut excluded = command.get_arg_conflicts_with(one).into_iter();
        excluded.any(|excluded| excluded.get_id() == other.get_id())
    };
    let mut groups = command.get_groups();
    let is_one_of = groups.any(|group| {
        let has = |arg: &Arg| group.get_args().any(|id| id == arg.get_id());
        has(a) && has(b) && !group.clone().is_multiple()
    });
    is_one_of || excludes(a, b) || excludes(b, a)
}

/// Returns an option with its value, as the command line has them.
fn words(name: &str, arg: &Arg, value: &Value) -> Result<Vec<String>, String> {
    let takes_value = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    let option = format!("--{name}");
    match (value, takes_value) {
        (Value::Boolean(true), false) => Ok(vec![option]),
        (Value::Boolean(false), false) => Ok(Vec::new()),
        (_, false) => Err(format!(
            "{} is true or false, as it has no value",
            Quoted(name)
        )),
        (Value::Array(values), true) => {
            let each = values.iter().map(|value| one(name, value));
            let each: Vec<_> = each.collect::<Result<_, _>>()?;
            Ok(each
                .into_iter()
                .map(|value| format!("{option}={value}"))
                .collect())
        }
        (value, true) => Ok(vec![format!("{option}={}", one(name, value)?)]),
    }
}

/// Returns a single value.
fn one(name: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        _ => Err(format!(
            "the value of {} is a text in quotes, a whole number, or a list of these in brackets",
            Quoted(name)
        )),
    }
}

/// Says what a profile has set.
pub(crate) fn told(profile: &AppliedProfile) -> String {
    let AppliedProfile { name, set, .. } = profile;
    match set.is_empty() {
        true => format!("the profile {name} sets nothing that the command line does not say"),
        false => format!("the profile {name} sets {}", humanize::listed(set)),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn args(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    /// Returns the command line with the options of a profile.
    fn with(profile: &str, line: &str) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.toml");
        fs::write(&path, profile).unwrap();
        let mut args = args(line);
        args.extend([OPTION.into(), path.into_os_string()]);
        let known = args.len();
        match apply(&mut args) {
            Ok(_) => {
                let set = args[known..].iter();
                Args::try_parse_from(&args).map_err(|error| error.to_string())?;
                Ok(set
                    .map(|word| word.to_string_lossy().into_owned())
                    .collect())
            }
            Err(failure) => Err(failure.to_string()),
        }
    }

    const LINE: &str = "psijoin receive --input mine.csv";

    #[test]
    fn options_are_set_as_the_command_line_would() {
        let set = with(
            "peer = \"bob\"\nalign = true\nno-clobber = false\nwait = 600\nlisten = \"0.0.0.0:7766\"\n\
             learn = \"both\"\nnormalize = [\"a=email\", \"b=trim\"]",
            LINE,
        );
        let mut expected = [
            "--peer=bob",
            "--align",
            "--wait=600",
            "--listen=0.0.0.0:7766",
            "--learn=both",
            "--normalize=a=email",
            "--normalize=b=trim",
        ];
        let mut set = set.unwrap();
        set.sort();
        expected.sort_unstable();
        assert_eq!(set, expected);
    }

    #[test]
    fn the_command_line_wins() {
        let profile = "peer = \"bob\"\nlisten = \"0.0.0.0:7766\"\nwait = 600";
        let line = |more: &str| format!("{LINE} {more}");
        for (more, set) in [
            ("--wait 5", &["--peer=bob", "--listen=0.0.0.0:7766"][..]),
            ("--wait=5 --peer carol", &["--listen=0.0.0.0:7766"]),
            // One of them excludes the other.
            ("--connect ann:1 --wait 5", &["--peer=bob"]),
            ("--insecure-plaintext --wait 5", &["--listen=0.0.0.0:7766"]),
        ] {
            let mut found = with(profile, &line(more)).unwrap();
            found.sort_unstable_by_key(|word| std::cmp::Reverse(word.clone()));
            assert_eq!(found, set, "{more}");
        }
    }

    #[test]
    fn a_password_is_used_and_not_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.toml");
        fs::write(&path, "proxy = \"http://ann:s3cret@proxy:3128\"").unwrap();
        let mut args = args(LINE);
        args.extend([OPTION.into(), path.into_os_string()]);
        let told = told(&apply(&mut args).unwrap().unwrap());
        assert!(
            told.contains("--proxy=http://ann:PASSWORD@proxy:3128"),
            "{told}"
        );
        assert_eq!(args.last().unwrap(), "--proxy=http://ann:s3cret@proxy:3128");
    }

    #[test]
    fn what_is_no_option_is_refused() {
        for (profile, told) in [
            ("pear = \"bob\"", "`pear` is no option of `psijoin receive`"),
            ("profile = \"other\"", "cannot name another one"),
            ("align = \"yes\"", "`align` is true or false"),
            ("wait = 1.5", "the value of `wait` is a text"),
            ("wait = true", "the value of `wait` is a text"),
            (
                "allow-sums-that-reveal-keys = true",
                "is no option of `psijoin receive`",
            ),
            ("peer = ", ""),
        ] {
            let error = with(profile, LINE).unwrap_err();
            assert!(error.contains(told), "{error}");
            assert!(error.contains("cannot be used"), "{error}");
        }
        let allowed = "allow-sums-that-reveal-keys = true";
        assert!(with(allowed, "psijoin send --input t.csv").is_ok());
    }

    #[test]
    fn a_profile_is_found_by_either_way_to_name_it() {
        for line in [
            "receive --profile a",
            "send --profile=a",
            "send --profile b --profile a",
        ] {
            assert_eq!(named(&args(line)), Some("a".to_owned()), "{line}");
        }
        assert_eq!(named(&args("receive --input x")), None);
        assert!(command(&args("psijoin check send --x")).is_some());
        assert!(command(&args("psijoin keys x")).is_none());
    }
}
