//! Measured runs in a file of JSON lines that only grows: a line per run.
//!
//! A run is written as soon as it is made, so a [campaign](Campaign) that was interrupted resumes
//! where it was. One file may have results of several machines and versions.

mod campaign;
mod journal;
mod machine;
mod needs;

use std::fmt;

use psijoin_forecast::{Profile, Run};
use serde::{Deserialize, Serialize};

pub use campaign::{Budget, Campaign, Left, MeasureError, Step};
pub use journal::{Journal, JournalError};
pub use machine::Machine;
pub use needs::Need;

/// The place and the time of runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The machine.
    pub machine: Machine,
    /// The version of psijoin.
    pub version: String,
    /// The commit, if somebody said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The date, as the caller writes it: `2026-11-23`.
    pub date: String,
}

impl Session {
    /// Returns whether it is of the same machine, version and commit, on whatever date.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let program = |session: &Self| (session.version.clone(), session.commit.clone());
        self.machine == other.machine && program(self) == program(other)
    }
}

impl fmt::Display for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            machine,
            version,
            commit,
            date,
        } = self;
        let commit = commit.as_ref().map(|commit| format!(" ({commit})"));
        let commit = commit.unwrap_or_default();
        write!(f, "psijoin {version}{commit} on {machine}, {date}")
    }
}

/// A line: a run, and where it was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The place and the time of the runs.
    pub session: Session,
    /// The protocol's name.
    pub protocol: String,
    /// The output: rows, a count, …
    pub output: String,
    /// Threads per party.
    pub threads: usize,
    /// The work of the parties.
    pub run: Run,
    /// The time that measuring took, in seconds.
    pub measuring_seconds: f64,
}

/// The measurements of one machine with one version.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Measured {
    /// The place and the time of its last run.
    pub session: Session,
    /// A profile per protocol, output and number of threads.
    pub profiles: Vec<Profile>,
}

impl Measured {
    /// Makes an empty list.
    pub fn new(session: Session) -> Self {
        Self {
            session,
            profiles: Vec::new(),
        }
    }

    /// Returns the profile of these, if something was measured.
    pub fn profile(&self, protocol: &str, output: &str, threads: usize) -> Option<&Profile> {
        let is = |profile: &&Profile| {
            (&*profile.protocol, &*profile.output, profile.threads) == (protocol, output, threads)
        };
        self.profiles.iter().find(is)
    }

    /// Returns whether it is of the same machine, version and commit.
    pub fn is_of(&self, session: &Session) -> bool {
        self.session.is_like(session)
    }

    /// Adds a run; one of the same sizes makes room.
    fn add(&mut self, measurement: &Measurement) {
        let Measurement {
            session,
            protocol,
            output,
            threads,
            run,
            ..
        } = measurement;
        self.session = session.clone();
        let is = |profile: &Profile| {
            (&profile.protocol, &profile.output, profile.threads) == (protocol, output, *threads)
        };
        let place = self.profiles.iter().position(is).unwrap_or_else(|| {
            self.profiles.push(Profile {
                protocol: protocol.clone(),
                output: output.clone(),
                threads: *threads,
                runs: Vec::new(),
            });
            self.profiles.len() - 1
        });
        let runs = &mut self.profiles[place].runs;
        runs.retain(|old| old.items != run.items);
        runs.push(run.clone());
    }
}

/// Returns lines by machine, version and commit, in the order in which these came first.
pub fn grouped(measurements: &[Measurement]) -> Vec<Measured> {
    let mut groups: Vec<Measured> = Vec::new();
    for measurement in measurements {
        let session = &measurement.session;
        let place = groups.iter().position(|group| group.is_of(session));
        let place = place.unwrap_or_else(|| {
            groups.push(Measured::new(session.clone()));
            groups.len() - 1
        });
        groups[place].add(measurement);
    }
    groups
}

/// Returns what was measured where the last line comes from; none if there is no line.
pub fn latest(measurements: &[Measurement]) -> Option<Measured> {
    let session = &measurements.last()?.session;
    let mut groups = grouped(measurements).into_iter();
    groups.find(|group| group.is_of(session))
}
