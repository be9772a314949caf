//! The text form of a script.
//!
//! Files of profiles hold thousands of stretches. `58 31s3648 (20s15*30000|r3648) t2` means, in
//! order:
//! - compute for 58 µs;
//! - compute for 31 µs, then send a message of 3648 bytes;
//! - at the same time, send 15 messages of 30000 bytes in sum, with 20 µs of computing in sum, and
//!   receive a message of 3648 bytes;
//! - take 2 messages.

use std::{fmt, str::FromStr};

use psijoin_printable::Quoted;

use super::{Messages, Script, Stretch};

/// The reason that a text is not a script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} is no stretch of a script", Quoted(.0))]
pub struct InvalidScript(String);

const MICROSECOND: f64 = 1e-6;

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut is_first = true;
        for stretch in self.0.iter().filter(|stretch| !is_nothing(stretch)) {
            if !is_first {
                f.write_str(" ")?;
            }
            is_first = false;
            write(stretch, f)?;
        }
        Ok(())
    }
}

fn write(stretch: &Stretch, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match stretch {
        Stretch::Work(seconds) => write!(f, "{}", microseconds(*seconds)),
        Stretch::Send(all) => write_messages('s', all, f),
        Stretch::Receive(all) => write_messages('r', all, f),
        Stretch::Take(all) => {
            write_work(all.seconds, f)?;
            write!(f, "t{}", all.messages)
        }
        Stretch::Exchange { sending, receiving } => write!(f, "({sending}|{receiving})"),
    }
}

fn write_messages(letter: char, all: &Messages, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write_work(all.seconds, f)?;
    match all.messages {
        1.0 => write!(f, "{letter}{}", all.bytes),
        messages => write!(f, "{letter}{messages}*{}", all.bytes),
    }
}

fn write_work(seconds: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match microseconds(seconds) {
        0.0 => Ok(()),
        some => write!(f, "{some}"),
    }
}

fn is_nothing(stretch: &Stretch) -> bool {
    matches!(stretch, Stretch::Work(seconds) if microseconds(*seconds) == 0.0)
}

/// Returns whole microseconds of four digits: more than anyone measures.
fn microseconds(seconds: f64) -> f64 {
    let exact = (seconds / MICROSECOND).round();
    format!("{exact:.3e}").parse().unwrap_or(exact)
}

impl FromStr for Script {
    type Err = InvalidScript;

    fn from_str(text: &str) -> Result<Self, InvalidScript> {
        let invalid = || InvalidScript(text.chars().take(40).collect());
        let mut stretches = Vec::new();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            rest = match rest.strip_prefix('(') {
                Some(inside) => {
                    let (halves, after) = inside.split_once(')').ok_or_else(invalid)?;
                    let (sending, receiving) = halves.split_once('|').ok_or_else(invalid)?;
                    stretches.push(Stretch::Exchange {
                        sending: half(sending)?,
                        receiving: half(receiving)?,
                    });
                    after
                }
                None => {
                    let end = rest.find([' ', '(']).unwrap_or(rest.len());
                    let (word, after) = rest.split_at(end);
                    stretches.push(stretch(word)?);
                    after
                }
            };
            rest = rest.trim_start();
        }
        Ok(Self(stretches))
    }
}

/// Returns a thread of an exchange, in which there is no other exchange.
fn half(text: &str) -> Result<Script, InvalidScript> {
    let stretches = text.split_whitespace().map(stretch);
    stretches.collect::<Result<_, _>>().map(Script)
}

fn stretch(word: &str) -> Result<Stretch, InvalidScript> {
    let invalid = || InvalidScript(word.chars().take(40).collect());
    let number = |text: &str| text.parse::<f64>().map_err(|_| invalid());
    let seconds = |text: &str| match text {
        "" => Ok(0.0),
        microseconds => Ok(number(microseconds)? * MICROSECOND),
    };
    let Some(letter) = word.find(['s', 'r', 't']) else {
        return seconds(word).map(Stretch::Work);
    };
    let (work, what) = (seconds(&word[..letter])?, &word[letter + 1..]);
    let (messages, bytes) = match what.split_once('*') {
        Some((messages, bytes)) => (number(messages)?, number(bytes)?),
        None => (1.0, number(what)?),
    };
    let all = Messages {
        messages,
        bytes,
        seconds: work,
    };
    match word.as_bytes()[letter] {
        b's' => Ok(Stretch::Send(all)),
        b'r' => Ok(Stretch::Receive(all)),
        _ => Ok(Stretch::Take(Messages {
            messages: number(what)?,
            bytes: 0.0,
            seconds: work,
        })),
    }
}

#[cfg(test)]
mod tests {
    use psijoin_psi::Request;
    use psijoin_psi_pk::dh::DH;

    use super::*;
    use crate::{Cores, Network, Run, measure, simulate};

    const SAID: &str = "58 31s3648 (20s15*30000|r3648) t2 7";

    fn messages(messages: f64, bytes: f64, seconds: f64) -> Messages {
        Messages {
            messages,
            bytes,
            seconds,
        }
    }

    fn script() -> Script {
        Script(vec![
            Stretch::Work(58e-6),
            Stretch::Send(messages(1.0, 3648.0, 31e-6)),
            Stretch::Exchange {
                sending: Script(vec![Stretch::Send(messages(15.0, 30_000.0, 20e-6))]),
                receiving: Script(vec![Stretch::Receive(messages(1.0, 3648.0, 0.0))]),
            },
            Stretch::Take(messages(2.0, 0.0, 0.0)),
            Stretch::Work(7e-6),
        ])
    }

    #[test]
    fn what_is_written_is_read_back() {
        assert_eq!(script().to_string(), SAID);
        assert_eq!(SAID.parse::<Script>().unwrap().to_string(), SAID);
        let json = serde_json::to_string(&script()).unwrap();
        assert_eq!(json, format!("\"{SAID}\""));
        let read: Script = serde_json::from_str(&json).unwrap();
        assert_eq!(read.to_string(), SAID);
        assert_eq!(read.traffic(), script().traffic());
        assert!((read.computing() - script().computing()).abs() < 1e-12);
        for none in ["", "  "] {
            assert_eq!(none.parse::<Script>().unwrap(), Script::default());
        }
    }

    #[test]
    fn a_list_of_stretches_is_read_too() {
        let list = r#"[{"work": 0.5}, {"exchange": {"sending": [{"send": [1, 16, 0]}], "receiving": []}},
            {"take": [2, 0, 0.25]}]"#;
        let read: Script = serde_json::from_str(list).unwrap();
        assert_eq!(read, "500000 (s16|) 250000t2".parse().unwrap());
    }

    #[test]
    fn errors_in_files_say_what_is_wrong() {
        let error = |json| {
            serde_json::from_str::<Script>(json)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(error("7"), "a script is a text or a list of stretches");
        assert_eq!(error(r#""58 x""#), "`x` is no stretch of a script");
    }

    #[test]
    fn numbers_are_as_short_as_they_are_exact() {
        let work = |seconds| Script(vec![Stretch::Work(seconds)]).to_string();
        assert_eq!(work(1.234_567_8), "1235000");
        assert_eq!(work(0.000_012_34), "12");
        assert_eq!(work(0.000_000_4), "");
        let part = Script(vec![Stretch::Send(messages(2.5, 100.25, 0.0))]);
        assert_eq!(part.to_string(), "s2.5*100.25");
    }

    #[test]
    fn what_is_no_script_is_refused() {
        for (text, named) in [
            ("58 x", "x"),
            ("5q", "5q"),
            ("s", "s"),
            ("3s5*", "3s5*"),
            ("t2*3", "t2*3"),
            ("(s1", "(s1"),
            ("(s1)", "(s1)"),
            ("((s1|r1)|r1)", "(s1"),
            ("s1)", "s1)"),
        ] {
            let refused = text.parse::<Script>().unwrap_err();
            assert_eq!(refused, InvalidScript(named.into()), "{text}");
        }
    }

    /// Returns many flights with little computing in between: rounding hurts where computing is
    /// short.
    fn flights() -> [Script; 2] {
        let flight = |number: u32| {
            let of = |bytes: f64, micros: f64| messages(1.0, bytes, micros * 1e-6);
            let micros = 3.7 * f64::from(number % 20);
            let exchange = Stretch::Exchange {
                sending: Script(vec![
                    Stretch::Send(of(640.0, micros)),
                    Stretch::Work(6.1e-8),
                ]),
                receiving: Script(vec![
                    Stretch::Receive(of(640.0, 9.4)),
                    Stretch::Work(2.3e-7),
                ]),
            };
            [Stretch::Work(1.37e-6 * micros), exchange]
        };
        let script = Script((0..500).flat_map(flight).collect());
        [script.clone(), script]
    }

    #[test]
    fn predictions_stay_the_same() {
        let plan = DH.plan(&Request::rows(700, 300).unwrap()).unwrap();
        let Run { scripts, .. } = measure(&plan, 1, 1).unwrap();
        for scripts in [scripts, flights()] {
            let read = scripts
                .each_ref()
                .map(|script| script.to_string().parse().unwrap());
            let slow = |bits_per_second, round_trip| Network {
                bits_per_second: [bits_per_second; 2],
                round_trip,
                ..Network::INSTANT
            };
            for network in [
                Network::INSTANT,
                slow(1e10, 2e-4),
                slow(1e8, 0.08),
                slow(1e6, 0.08),
            ] {
                let seconds = |[sender, receiver]: &[Script; 2]| {
                    let forecast = simulate(sender, receiver, &network, Cores::Own);
                    forecast.unwrap().seconds
                };
                let ratio = seconds(&read) / seconds(&scripts);
                assert!((ratio - 1.0).abs() < 0.01, "{ratio} {network:?}");
            }
        }
    }
}
