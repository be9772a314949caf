//! The work of a party, in stretches that can be scaled.
//!
//! A trace of a large run has thousands of steps, most of which repeat: compute a little, send a
//! message. A [`Script`] has such a stretch once, with the number of messages. Its numbers may be
//! fractions, so it can be scaled to a run of another size.

use psijoin_channel::trace::{Step, Trace};
use serde::{Deserialize, Serialize};

mod text;

pub use text::InvalidScript;

/// The work of a party, in order.
///
/// Files have it as a text such as `58 31s3648 (20s15*30000|r3648) t2`, which
/// [`Display`](std::fmt::Display) writes. A list of stretches is read, too.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "Form", into = "String")]
pub struct Script(pub Vec<Stretch>);

/// The forms that a script is read from.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a script is a text or a list of stretches")]
enum Form {
    Text(String),
    List(Vec<Stretch>),
}

impl TryFrom<Form> for Script {
    type Error = InvalidScript;

    fn try_from(form: Form) -> Result<Self, InvalidScript> {
        match form {
            Form::Text(text) => text.parse(),
            Form::List(stretches) => Ok(Self(stretches)),
        }
    }
}

impl From<Script> for String {
    fn from(script: Script) -> Self {
        script.to_string()
    }
}

/// Things of one kind that a party does one after the other.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stretch {
    /// It computes, for this many seconds.
    Work(f64),
    /// It sends messages, and computes as long before each.
    Send(Messages),
    /// It waits for messages, and computes as long before each.
    Receive(Messages),
    /// It waits until the receiving side of the exchange that it is in has had more messages, and
    /// computes as long before each.
    Take(Messages),
    /// It does both at the same time, and continues when both are done.
    Exchange {
        /// The thread that sends.
        sending: Script,
        /// The thread that receives.
        receiving: Script,
    },
}

/// Messages, and what is computed between them.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(from = "(f64, f64, f64)")]
pub struct Messages {
    /// The number of messages.
    pub messages: f64,
    /// Bytes of all of them; of what is taken, none.
    pub bytes: f64,
    /// Seconds of computing in sum.
    pub seconds: f64,
}

impl From<(f64, f64, f64)> for Messages {
    fn from((messages, bytes, seconds): (f64, f64, f64)) -> Self {
        Self {
            messages,
            bytes,
            seconds,
        }
    }
}

/// By how much a run differs from the one that was traced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Seconds of computing.
    pub seconds: f64,
    /// The messages that the party sends.
    pub sent: f64,
    /// The messages that it receives.
    pub received: f64,
}

impl Scale {
    /// Changes nothing.
    pub const ONE: Self = Self::all(1.0);

    /// Changes all alike.
    pub const fn all(by: f64) -> Self {
        Self {
            seconds: by,
            sent: by,
            received: by,
        }
    }
}

impl Script {
    /// Returns the seconds of computing. Time in which both threads of an exchange compute counts
    /// twice.
    pub fn computing(&self) -> f64 {
        let seconds = self.0.iter().map(|stretch| match stretch {
            Stretch::Work(seconds) => *seconds,
            Stretch::Send(all) | Stretch::Receive(all) | Stretch::Take(all) => all.seconds,
            Stretch::Exchange { sending, receiving } => sending.computing() + receiving.computing(),
        });
        seconds.sum()
    }

    /// Returns whether its numbers can be those of a run.
    pub(crate) fn is_possible(&self) -> bool {
        /// More than any run has of messages, and of anything.
        const MOST_MESSAGES: f64 = 1e8;
        const MOST: f64 = 1e15;
        let number = |number: f64| (0.0..=MOST).contains(&number);
        self.0.iter().all(|stretch| match stretch {
            Stretch::Work(seconds) => number(*seconds),
            Stretch::Send(all) | Stretch::Receive(all) | Stretch::Take(all) => {
                let Messages {
                    messages,
                    bytes,
                    seconds,
                } = *all;
                messages <= MOST_MESSAGES && [messages, bytes, seconds].into_iter().all(number)
            }
            Stretch::Exchange { sending, receiving } => {
                sending.is_possible() && receiving.is_possible()
            }
        })
    }

    /// Returns bytes that the party sends, and that it receives.
    pub fn traffic(&self) -> [f64; 2] {
        let mut traffic = [0.0; 2];
        for stretch in &self.0 {
            let [sent, received] = match stretch {
                Stretch::Send(all) => [all.bytes, 0.0],
                Stretch::Receive(all) => [0.0, all.bytes],
                Stretch::Work(_) | Stretch::Take(_) => [0.0; 2],
                Stretch::Exchange { sending, receiving } => {
                    let [sending, receiving] = [sending, receiving].map(Self::traffic);
                    [sending[0] + receiving[0], sending[1] + receiving[1]]
                }
            };
            traffic[0] += sent;
            traffic[1] += received;
        }
        traffic
    }

    /// Returns the number of messages that the party sends and receives, at least one for each
    /// stretch.
    pub(crate) fn messages(&self) -> f64 {
        let of = |stretch: &Stretch| match stretch {
            Stretch::Work(_) => 0.0,
            Stretch::Send(all) | Stretch::Receive(all) | Stretch::Take(all) => {
                all.messages.max(1.0)
            }
            Stretch::Exchange { sending, receiving } => sending.messages() + receiving.messages(),
        };
        self.0.iter().map(of).sum()
    }

    /// Scales everything. Messages keep their length, and their number grows.
    #[must_use]
    pub fn scaled(&self, by: Scale) -> Self {
        let of = |all: &Messages, factor: f64| Messages {
            messages: all.messages * factor,
            bytes: all.bytes * factor,
            seconds: all.seconds * by.seconds,
        };
        let stretch = |stretch: &Stretch| match stretch {
            Stretch::Work(seconds) => Stretch::Work(seconds * by.seconds),
            Stretch::Send(all) => Stretch::Send(of(all, by.sent)),
            Stretch::Receive(all) => Stretch::Receive(of(all, by.received)),
            Stretch::Take(all) => Stretch::Take(of(all, by.received)),
            Stretch::Exchange { sending, receiving } => Stretch::Exchange {
                sending: sending.scaled(by),
                receiving: receiving.scaled(by),
            },
        };
        Self(self.0.iter().map(stretch).collect())
    }

    /// Adds computing for each byte that is sent or received.
    #[must_use]
    pub(crate) fn handling(&self, seconds_per_byte: f64) -> Self {
        let longer = |all: &Messages| Messages {
            seconds: all.seconds + all.bytes * seconds_per_byte,
            ..*all
        };
        let stretch = |stretch: &Stretch| match stretch {
            Stretch::Send(all) => Stretch::Send(longer(all)),
            Stretch::Receive(all) => Stretch::Receive(longer(all)),
            Stretch::Work(_) | Stretch::Take(_) => stretch.clone(),
            Stretch::Exchange { sending, receiving } => Stretch::Exchange {
                sending: sending.handling(seconds_per_byte),
                receiving: receiving.handling(seconds_per_byte),
            },
        };
        Self(self.0.iter().map(stretch).collect())
    }
}

impl From<&Trace> for Script {
    fn from(trace: &Trace) -> Self {
        script(&trace.steps)
    }
}

fn script(steps: &[Step]) -> Script {
    let mut stretches = Vec::new();
    let mut seconds = 0.0;
    for step in steps {
        let message = |bytes: usize, seconds: f64| Messages {
            messages: 1.0,
            bytes: bytes as f64,
            seconds,
        };
        let next = match step {
            Step::Compute(time) => {
                seconds += time.as_secs_f64();
                continue;
            }
            Step::Send { bytes } => Stretch::Send(message(*bytes, seconds)),
            Step::Receive { bytes } => Stretch::Receive(message(*bytes, seconds)),
            Step::Take => Stretch::Take(message(0, seconds)),
            Step::Exchange { sending, receiving } => {
                stretches.push(Stretch::Work(seconds));
                Stretch::Exchange {
                    sending: script(sending),
                    receiving: script(receiving),
                }
            }
        };
        seconds = 0.0;
        append(&mut stretches, next);
    }
    stretches.push(Stretch::Work(seconds));
    Script(stretches)
}

/// Makes the last stretch longer if the next is like it.
fn append(stretches: &mut Vec<Stretch>, next: Stretch) {
    let joined = match (stretches.last_mut(), &next) {
        (Some(Stretch::Send(all)), Stretch::Send(one))
        | (Some(Stretch::Receive(all)), Stretch::Receive(one))
        | (Some(Stretch::Take(all)), Stretch::Take(one)) => join(all, one),
        _ => false,
    };
    if !joined {
        stretches.push(next);
    }
}

/// Adds a message to others like it. Returns whether it is like them.
fn join(all: &mut Messages, one: &Messages) -> bool {
    /// Seconds that make no difference to a network.
    const SHORT: f64 = 1e-4;
    let close =
        |one: f64, mean: f64, slack: f64| one <= 1.5 * mean + slack && mean <= 1.5 * one + slack;
    let alike = close(one.bytes, all.bytes / all.messages, 64.0)
        && close(one.seconds, all.seconds / all.messages, SHORT);
    if alike {
        all.messages += 1.0;
        all.bytes += one.bytes;
        all.seconds += one.seconds;
    }
    alike
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn trace(steps: Vec<Step>) -> Script {
        Script::from(&Trace { steps })
    }

    fn work(millis: u64) -> Step {
        Step::Compute(Duration::from_millis(millis))
    }

    fn messages(messages: f64, bytes: f64, seconds: f64) -> Messages {
        Messages {
            messages,
            bytes,
            seconds,
        }
    }

    #[test]
    fn what_repeats_is_said_once() {
        let sends = (0..50).flat_map(|_| [work(2), Step::Send { bytes: 1000 }]);
        let script = trace(sends.chain([work(1)]).collect());
        let [Stretch::Send(all), Stretch::Work(_)] = script.0[..] else {
            panic!("{script:?}");
        };
        assert_eq!((all.messages, all.bytes), (50.0, 50_000.0));
        assert!((all.seconds - 0.1).abs() < 1e-9);
    }

    #[test]
    fn what_takes_longer_or_is_longer_stands_alone() {
        let send = Step::Send { bytes: 1000 };
        let script = trace(vec![
            send.clone(),
            work(30),
            send.clone(),
            send,
            Step::Send { bytes: 5000 },
            Step::Receive { bytes: 1 },
        ]);
        let bytes = script.0.iter().map(|stretch| match stretch {
            Stretch::Send(all) => all.bytes,
            _ => 0.0,
        });
        let bytes: Vec<f64> = bytes.collect();
        assert_eq!(bytes, [1000.0, 1000.0, 1000.0, 5000.0, 0.0, 0.0]);
        assert_eq!(script.traffic(), [8000.0, 1.0]);
        assert!((script.computing() - 0.03).abs() < 1e-9);
    }

    #[test]
    fn scaling_scales_exchanges_too() {
        let exchange = Stretch::Exchange {
            sending: Script(vec![
                Stretch::Take(messages(4.0, 0.0, 1.0)),
                Stretch::Work(1.0),
            ]),
            receiving: Script(vec![Stretch::Receive(messages(4.0, 100.0, 2.0))]),
        };
        let script = Script(vec![exchange, Stretch::Send(messages(1.0, 10.0, 0.0))]);
        let by = Scale {
            seconds: 3.0,
            sent: 5.0,
            received: 2.0,
        };
        let scaled = script.scaled(by);
        assert_eq!(scaled.computing(), 12.0);
        assert_eq!(scaled.traffic(), [50.0, 200.0]);
        let Stretch::Exchange { sending, receiving } = &scaled.0[0] else {
            panic!("{scaled:?}");
        };
        assert_eq!(sending.0[0], Stretch::Take(messages(8.0, 0.0, 3.0)));
        assert_eq!(receiving.0[0], Stretch::Receive(messages(8.0, 200.0, 6.0)));
        assert_eq!(script.scaled(Scale::ONE), script);
    }
}
