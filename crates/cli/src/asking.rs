//! Questions at a terminal, for what a command line leaves out.
//!
//! `psijoin receive` asks for its table, for the columns of the key, for the other party and for
//! the place where both meet, as far as neither the command line nor a profile says them. Answers
//! are put into the command line, and told as the options that they are, so that the next one can
//! have them. Nothing is asked where nobody can answer.

use std::{
    ffi::OsString,
    io::{self, BufRead, IsTerminal, Write},
};

use psijoin_frontend::partner::Named;
use psijoin_printable::humanize;

use crate::{
    console,
    exit::{Failure, ProgramFault},
    profile::{command, is_said},
};

/// The options that say where both meet.
const PLACES: [&str; 4] = ["listen", "connect", "relay", "via"];

/// The number of times that an answer which is none is asked for again.
const PATIENCE: usize = 3;

/// Asks for what these arguments of `psijoin receive` leave out, and puts it behind them.
///
/// # Errors
/// If the terminal cannot be read or written.
pub(crate) fn complete(args: &mut Vec<OsString>) -> Result<(), Failure> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Ok(());
    }
    let terminal = Terminal {
        answers: io::stdin().lock(),
        questions: io::stderr().lock(),
    };
    let answered = terminal.ask(args).map_err(ProgramFault::Stdin)?;
    if !answered.is_empty() {
        console::line_to_stderr(format_args!(
            "The next time, say {}",
            humanize::listed(&answered)
        ));
        args.extend(answered.into_iter().map(OsString::from));
    }
    Ok(())
}

/// Somebody who is asked.
struct Terminal<A, Q> {
    answers: A,
    questions: Q,
}

impl<A: BufRead, Q: Write> Terminal<A, Q> {
    /// Returns the options that these arguments leave out, as far as they were answered.
    fn ask(mut self, args: &[OsString]) -> io::Result<Vec<String>> {
        let mut options = Vec::new();
        let is_receive = command(args).is_some_and(|command| command.get_name() == "receive");
        if !is_receive
            || ["help", "version"].iter().any(|name| is_said(args, name))
            || is_short(args)
        {
            return Ok(options);
        }
        if !is_said(args, "input") {
            match self.line("Your table, a file: ")? {
                Some(file) => options.push(format!("--input={file}")),
                None => return Ok(options),
            }
            if !is_said(args, "key") {
                let key = self.line("The columns of its key (none if each line is a key): ")?;
                options.extend(key.map(|key| format!("--key={key}")));
            }
        }
        let mut peer = value(args, "peer");
        if peer.is_none() && !is_said(args, "insecure-plaintext") {
            let question = "The other party, by its name or its fingerprint: ";
            peer = self.line(question)?;
            match &peer {
                Some(peer) => options.push(format!("--peer={peer}")),
                None => return Ok(options),
            }
        }
        // Of a party that is known by name, the place is known.
        let is_named = peer.is_some_and(|peer| matches!(peer.parse(), Ok(Named::Name(_))));
        if !is_named && !PLACES.iter().any(|place| is_said(args, place)) {
            options.extend(self.place()?);
        }
        Ok(options)
    }

    /// Asks where both meet.
    fn place(&mut self) -> io::Result<Option<String>> {
        let question =
            "Where both meet (listen HOST:PORT, connect HOST:PORT, relay ADDRESS or via FOLDER): ";
        for _ in 0..PATIENCE {
            let Some(answer) = self.line(question)? else {
                break;
            };
            let said = answer.trim_start_matches('-').split_once([' ', '=']);
            if let Some((place, value)) = said.filter(|(place, _)| PLACES.contains(place)) {
                return Ok(Some(format!("--{place}={}", value.trim())));
            }
        }
        Ok(None)
    }

    /// Asks for a line; nothing if it is empty, or the end.
    fn line(&mut self, question: &str) -> io::Result<Option<String>> {
        write!(self.questions, "{question}")?;
        self.questions.flush()?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        let answer = answer.trim();
        Ok((!answer.is_empty()).then(|| answer.to_owned()))
    }
}

/// Returns whether these arguments ask for the short help or the version.
fn is_short(args: &[OsString]) -> bool {
    args.iter().any(|word| word == "-h" || word == "-V")
}

/// Returns the first value of an option in these arguments.
fn value(args: &[OsString], name: &str) -> Option<String> {
    let option = format!("--{name}");
    let mut words = args.iter().map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        match word.strip_prefix(&option) {
            Some("") => return words.next().map(|value| value.into_owned()),
            Some(rest) if rest.starts_with('=') => return Some(rest[1..].to_owned()),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the options that these answers make of a command line, and all questions.
    fn answered(line: &str, answers: &str) -> (Vec<String>, String) {
        let args: Vec<_> = line.split(' ').map(OsString::from).collect();
        let mut questions = Vec::new();
        let terminal = Terminal {
            answers: answers.as_bytes(),
            questions: &mut questions,
        };
        let options = terminal.ask(&args).unwrap();
        (options, String::from_utf8(questions).unwrap())
    }

    #[test]
    fn it_asks_for_what_is_missing() {
        let (options, _) = answered("psijoin receive", "mine.csv\nemail\nbob\n");
        assert_eq!(options, ["--input=mine.csv", "--key=email", "--peer=bob"]);
        let fingerprint = "psi1-qcnk-zb81-14cx-f6m3-a530-c9p1-s3kq";
        let line = format!("psijoin check receive --input x --peer {fingerprint}");
        let (options, questions) = answered(&line, "somewhere\n--relay=r.example:7767\n");
        assert_eq!(options, ["--relay=r.example:7767"]);
        assert_eq!(questions.matches("Where both meet").count(), 2);
        let line = format!("psijoin receive --input x --peer={fingerprint}");
        let (options, _) = answered(&line, "via S:\\shared folder\n");
        assert_eq!(options, ["--via=S:\\shared folder"]);
    }

    #[test]
    fn it_asks_for_nothing_that_is_said_and_in_no_other_command() {
        for line in [
            "psijoin receive --input x --peer bob",
            "psijoin receive --input x --insecure-plaintext --listen 127.0.0.1:0",
            "psijoin receive -h",
            "psijoin receive --help",
            "psijoin send",
            "psijoin peers list",
        ] {
            assert_eq!(
                answered(line, "x\ny\nz\n"),
                (Vec::new(), String::new()),
                "{line}"
            );
        }
    }

    #[test]
    fn no_answer_ends_the_questions() {
        let (options, _) = answered("psijoin receive", "");
        assert!(options.is_empty());
        let (options, questions) = answered("psijoin receive", "mine.csv\n\n\n");
        assert_eq!(options, ["--input=mine.csv"]);
        assert!(!questions.contains("Where both meet"));
    }
}
