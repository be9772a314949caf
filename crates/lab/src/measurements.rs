//! Measured runs in a file of JSON lines that only grows: a line per run.
//!
//! A run is written as soon as it is made, so a [campaign](Campaign) that was interrupted resumes
//! where it was. One file may have results of several machines and versions, and of several
//! campaigns on each: what they measured alike is pooled, and can be told apart again.

mod campaign;
mod journal;
mod machine;
mod needs;
mod pool;

use std::fmt;

use psijoin_forecast::{Profile, Run};
use serde::{Deserialize, Serialize};

pub use crate::variants::Variant;
pub use campaign::{Budget, Campaign, Left, MeasureError, Step};
pub use journal::{Journal, JournalError};
pub use machine::Machine;
pub use needs::Need;
pub use pool::{by_campaign, grouped, latest};

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
    /// The number of the campaign, from 1 on. A campaign makes each run once, after all runs of the
    /// one before.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub campaign: u32,
}

fn first() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_first(campaign: &u32) -> bool {
    *campaign == first()
}

impl Session {
    /// Returns whether it is of the same machine, version and commit, on whatever date and in
    /// whatever campaign.
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
            campaign: _,
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
    /// The output: rows, a count, …; and the length of items, if they are short.
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
    /// The campaigns, in the order in which they came first.
    pub campaigns: Vec<u32>,
    /// A profile per protocol, output and number of threads. Each run is of all campaigns that made
    /// it: it has the seconds of all, and its parties compute for the median of them.
    pub profiles: Vec<Profile>,
}

impl Measured {
    /// Makes an empty list.
    pub fn new(session: Session) -> Self {
        Self {
            session,
            campaigns: Vec::new(),
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
}
