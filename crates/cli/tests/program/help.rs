//! The program and its commands, as their help describes them.

use crate::support::{Ended, all_exit, assert_said, run};

/// The lines that fit a screen.
const LINES: usize = 50;
const COLUMNS: usize = 100;

/// Returns the names of a command's own commands, as its help lists them.
fn commands(help: &Ended) -> Vec<String> {
    let (_, commands) = help.stdout.split_once("\nCommands:\n").unwrap();
    let commands = commands.lines().take_while(|line| !line.is_empty());
    // A command's line is indented by less than the lines that explain it.
    let names = commands.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names = names.filter(|name| !["", "help"].contains(name));
    names.map(str::to_owned).collect()
}

/// Returns the help of the program and of each command, in this form.
fn helps(form: &str) -> Vec<Ended> {
    let program = run(&[form]);
    let names = commands(&program);
    let known = ["send", "receive", "check", "plan", "verify"];
    assert!(
        known
            .iter()
            .all(|known| names.iter().any(|name| name == known))
    );
    let mut helps = vec![program];
    helps.extend(names.iter().map(|name| run(&[name, form])));
    all_exit(&helps, 0);
    helps
}

#[test]
fn the_short_help_fits_a_screen() {
    let helps = helps("-h");
    let checks = ["receive", "send"].map(|join| run(&["check", join, "-h"]));
    for help in helps.iter().chain(&checks) {
        let lines = help.stdout.lines();
        assert!(lines.clone().count() <= LINES, "{help}");
        assert!(
            lines.clone().all(|line| line.chars().count() <= COLUMNS),
            "{help}"
        );
    }
    assert_said!(helps);
}

#[test]
fn the_whole_help_has_all_options() {
    let mut said = vec![run(&["--version"])];
    said.extend(helps("--help"));
    assert_said!(said);
}

/// So the command of a join can be checked as it is.
#[test]
fn a_check_has_the_options_of_the_join() {
    let options = |words: &[&str]| {
        let help = run(words);
        help.says(0, &[]);
        let (_, options) = help.stdout.split_once("\nConnection:\n").unwrap();
        options.to_owned()
    };
    for join in ["receive", "send"] {
        for form in ["-h", "--help"] {
            assert_eq!(options(&["check", join, form]), options(&[join, form]));
        }
    }
}

#[test]
fn the_options_of_a_join_stand_under_seven_headings() {
    for command in ["receive", "send"] {
        for form in ["-h", "--help"] {
            let help = run(&[command, form]).stdout;
            let (options, _) = help.split_once("\nExamples:").unwrap();
            let headings = options.lines().filter(|line| line.ends_with(':'));
            let headings: Vec<_> = headings.filter(|line| !line.starts_with(' ')).collect();
            let seven = "Connection: Input: Result: Safety: Evidence: Resources: Protocol:";
            assert_eq!(headings.join(" "), seven, "{command} {form}");
        }
    }
}
