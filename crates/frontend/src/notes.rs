//! The facts about a run, noted as they become known, so that it can be reported however it ends.

use std::{
    mem,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard},
};

use jiff::Timestamp;
use psijoin::Role;
use psijoin_channel::path::Measured;
use psijoin_session::{Event, Learners, Outcome, Received};
use psijoin_transport::{Fingerprint, KeyExchange};
use serde::{Serialize, Serializer};

use crate::{partner::KnownAs, report::ReportFile, sentences::with_hint};

/// The facts about a run, as they become known. Nothing in it is an item.
#[derive(Default)]
pub struct Notes(Mutex<Known>);

/// The facts so far.
#[derive(Default)]
pub struct Known {
    /// From the start.
    pub wanted: Wanted,
    pub(crate) identity: Option<Fingerprint>,
    pub(crate) partner: Option<KnownAs>,
    pub(crate) address: Option<String>,
    pub(crate) measured: Measured,
    pub(crate) key_exchange: Option<KeyExchange>,
    pub(crate) session: Option<String>,
    pub(crate) warnings: Vec<String>,
    pub(crate) normalization: String,
    pub(crate) threads: Option<usize>,
    pub(crate) is_checked: bool,
    /// Nothing was done, as the job was done before.
    pub(crate) is_already_done: bool,
    /// The result, if there is one.
    pub outcome: Option<Outcome>,
    /// The destination of the report.
    pub(crate) report: Option<ReportFile>,
    /// The report goes out once.
    is_reported: bool,
    /// The user has read about the failure already.
    is_told: bool,
}

/// The facts that are known from the start, as far as the user has given them.
#[derive(Debug, Default)]
pub struct Wanted {
    /// The time of its start.
    pub started: Timestamp,
    /// This party's role.
    pub role: Option<Role>,
    /// The protocol.
    pub protocol: Option<&'static str>,
    /// The output.
    pub output_kind: Option<String>,
    /// The parties that learn it.
    pub learners: Option<Learners>,
    /// The least number of shared keys, if one is demanded.
    pub min_intersection: Option<u64>,
    /// `true` if nothing may rest on what a quantum computer is known to break.
    pub post_quantum: bool,
    /// The profile that has set some of the options, if one has.
    pub profile: Option<AppliedProfile>,
    /// The expected other party.
    pub peer: Option<Fingerprint>,
    /// The files.
    pub files: NamedFiles,
}

/// A file of options, as it was used.
#[derive(Debug, Clone, Serialize)]
pub struct AppliedProfile {
    /// The name by which the user called it.
    pub name: String,
    /// The file.
    #[serde(serialize_with = "as_text")]
    pub path: PathBuf,
    /// The options that it has set: those that were not said otherwise. Without passwords.
    pub set: Vec<String>,
    /// There is a password in the file.
    #[serde(skip)]
    pub has_password: bool,
}

fn as_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// The files of a run, as the user named them.
#[derive(Debug, Default)]
pub struct NamedFiles {
    /// The table.
    pub input: Vec<PathBuf>,
    /// The result.
    pub output: Option<PathBuf>,
    /// The report.
    pub report: Option<PathBuf>,
}

impl Notes {
    /// Returns the notes of a run that is wanted like this.
    pub fn of(wanted: Wanted) -> Self {
        Self(Mutex::new(Known {
            wanted,
            ..Known::default()
        }))
    }

    /// This party is known by its key.
    pub(crate) fn identity(&self, identity: Fingerprint) {
        self.known().identity = Some(identity);
    }

    /// Notes by which name the user knows the other party.
    pub fn know_as(&self, partner: Option<KnownAs>) {
        self.known().partner = partner;
    }

    /// Returns by which name the user knows the other party, if it was called so.
    pub(crate) fn partner(&self) -> Option<KnownAs> {
        self.look(|known| known.partner.clone())
    }

    /// Notes where the report can be written.
    pub(crate) fn report_to(&self, file: ReportFile) {
        self.known().report = Some(file);
    }

    /// Notes that no report is to be written after all.
    pub(crate) fn leave_out_report(&self) {
        self.known().report = None;
    }

    /// Notes the normalisation of the key.
    pub(crate) fn normalization(&self, normalization: String) {
        self.known().normalization = normalization;
    }

    /// Notes an event of the session.
    pub(crate) fn note(&self, event: &Event<'_>) {
        let mut known = self.known();
        match event {
            Event::Threads(threads) => known.threads = Some(*threads),
            Event::Connected {
                peer,
                address,
                measured,
                key_exchange,
            } => {
                known.wanted.peer = known.wanted.peer.or(*peer);
                known.key_exchange = *key_exchange;
                known.address = Some(address.clone());
                known.measured = *measured;
            }
            Event::Agreed { session, .. } => known.session = Some((*session).to_owned()),
            _ => {}
        }
    }

    /// Notes that the user has read about the failure that this run ends with.
    pub(crate) fn told(&self) {
        self.known().is_told = true;
    }

    /// Returns whether the user has read about it.
    pub fn is_told(&self) -> bool {
        self.known().is_told
    }

    /// Notes that the job was done before.
    pub(crate) fn already_done(&self) {
        self.known().is_already_done = true;
    }

    /// Notes a warning, and advice about it.
    pub(crate) fn warn(&self, warning: &str, hint: Option<&str>) {
        self.known().warnings.push(with_hint(warning, hint));
    }

    /// Returns how often a person was warned.
    pub(crate) fn warnings(&self) -> usize {
        self.known().warnings.len()
    }

    /// Notes that both parties agreed, and nothing more was asked for.
    pub(crate) fn checked(&self) {
        self.known().is_checked = true;
    }

    /// Notes the result of a run that is done.
    pub(crate) fn done(&self, outcome: Outcome) {
        self.known().outcome = Some(outcome);
    }

    /// Looks at what is known so far.
    pub fn look<T>(&self, look: impl FnOnce(&Known) -> T) -> T {
        look(&self.known())
    }

    /// Returns what this party got, if it got anything.
    pub fn received(&self) -> Option<Received> {
        self.look(|known| known.outcome.as_ref()?.received.clone())
    }

    /// Ends the run: shows what is known to `report`, the first time only. Whoever comes later
    /// waits until the report is out, and gets `None`.
    pub fn end<T>(&self, report: impl FnOnce(&Known) -> T) -> Option<T> {
        let mut known = self.known();
        let was_reported = mem::replace(&mut known.is_reported, true);
        (!was_reported).then(|| report(&known))
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().expect("a thread that panics never unwinds")
    }
}
