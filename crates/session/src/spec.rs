//! The request of one party for a join, as a value.

use std::{fmt, num::NonZeroUsize, path::PathBuf, sync::Arc, time::Duration};

use psijoin::{Protocol, Role, registry};
use psijoin_handshake::Versions;
use psijoin_record::Terms;
use psijoin_source::{Dialect, Format, Progress};
use psijoin_table::{Existing, KeySpec, WhichRows, share::RepeatedKeys};
use psijoin_transport::{Appointment, Endpoint, Interrupt, Options, Proxies, Security, Timeouts};

use crate::{
    Error, Learners, RequestedOutput, SpecFault,
    allowance::Said,
    arrow_table::ArrowTable,
    job::JobFolder,
    party::{Consent, Mode},
    question::Question,
    trade::Trade,
};

/// The request of one party for a join.
pub struct JoinSpec {
    /// Its role.
    pub role: Role,
    /// The place where it meets the other party, and that party's identity.
    pub meeting: Meeting,
    /// Its table.
    pub table: TableSpec,
    /// The key of the table.
    pub key: KeySpec,
    /// The question. It must be the same on both sides.
    pub question: Question,
    /// The protocol. Must be the same on both sides.
    pub protocol: &'static Protocol,
    /// The columns that it gives and takes.
    pub trade: Trade,
    /// `Some` if both write rows in a common order, with the treatment of this party's rows that
    /// repeat a key.
    pub aligned: Option<RepeatedKeys>,
    /// The form of its result.
    pub written: Written,
    /// Files that the caller writes besides, none of which may be a file of the table.
    pub also_written: Vec<PathBuf>,
    /// The consent to the other party's requests.
    pub consent: Consent,
    /// The terms that both agree to. They must be the same on both sides.
    pub terms: Option<Terms>,
    /// The new file of the record that both sign, if they do.
    pub record: Option<PathBuf>,
    /// The folder of its state, to resume after a failure.
    pub job: Option<JobFolder>,
    /// The file of its budget for the table, from which the answer is taken. Only a sender has one.
    pub budget: Option<PathBuf>,
    /// The extent of the session.
    pub mode: Mode,
    /// The resources that it may use.
    pub resources: Resources,
    /// In how many parts the join runs, if that does not follow from the sizes. Must be the same on
    /// both sides.
    pub parts: Option<u32>,
    /// The versions of the session that it speaks: those of this release, but for tests of what
    /// neighbouring releases do.
    pub versions: Versions,
}

impl JoinSpec {
    /// Returns a join of rows for the receiver, by the protocol that suits the sizes and the
    /// network; rows go to standard output, or back to the caller. The fields hold all other
    /// wishes.
    pub fn new(role: Role, meeting: Meeting, table: TableSpec, key: KeySpec) -> Self {
        Self {
            role,
            meeting,
            table,
            key,
            question: Question::default(),
            protocol: &registry::AUTO,
            trade: Trade::default(),
            aligned: None,
            written: Written::default(),
            also_written: Vec::new(),
            consent: Consent::default(),
            terms: None,
            record: None,
            job: None,
            budget: None,
            mode: Mode::Join,
            resources: Resources::default(),
            parts: None,
            versions: Versions::OURS,
        }
    }
}

impl JoinSpec {
    /// Checks that what is wanted goes together.
    ///
    /// # Errors
    /// [`Error::Spec`], and if lists of rows are to be lined up.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.check_agreement()?;
        let Self {
            role,
            question,
            written,
            ..
        } = self;
        let gets_shares = matches!(question.asked, RequestedOutput::Shares(_));
        match &written.output {
            None if gets_shares => Err(SpecFault::NoFileForShares.into()),
            Some(_) if !gets_shares && !question.gives_table(*role) => {
                Err(SpecFault::NothingToWrite.into())
            }
            _ => Ok(()),
        }
    }

    /// Checks the same of what both parties agree on, wherever the table and the result are.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub(crate) fn check_agreement(&self) -> Result<(), Error> {
        let learners = self.question.learners;
        self.trade.check(self.role, learners, self.written.rows)?;
        check_aligned(self.aligned, learners)?;
        let has_identities = self.meeting.security.identity().is_some();
        if self.budget.is_some() && self.role == Role::Receiver {
            return Err(SpecFault::BudgetOfReceiver.into());
        }
        match (has_identities, self.record.is_some(), self.budget.is_some()) {
            (false, true, _) => Err(SpecFault::RecordWithoutIdentities.into()),
            (false, _, true) => Err(SpecFault::BudgetWithoutIdentities.into()),
            _ => Ok(()),
        }
    }
}

/// Checks that rows can be lined up, if they are to be, and then what becomes of those that repeat
/// a key.
///
/// # Errors
/// [`SpecFault::AlignedForOne`], and if lists of rows are to be lined up.
pub fn check_aligned(aligned: Option<RepeatedKeys>, learners: Learners) -> Result<(), Error> {
    match (aligned, learners) {
        (Some(_), Learners::Receiver) => Err(SpecFault::AlignedForOne.into()),
        (Some(RepeatedKeys::List(_)), _) => {
            Err(psijoin_table::Error::Write(psijoin_table::WriteError::AlignedList).into())
        }
        _ => Ok(()),
    }
}

impl Meeting {
    /// Makes times in which the parties try to meet for a minute, and may then be silent for
    /// [as long as is usual](Self::usual_timeout). No proxies are used.
    pub fn new(endpoint: Endpoint, security: Security) -> Self {
        Self {
            timeout: Self::usual_timeout(&endpoint),
            endpoint,
            security,
            proxies: Proxies::default(),
            name: None,
            wait: Duration::from_secs(60),
            renewal: None,
        }
    }

    /// Returns how long the other party may be silent, if nothing else is said: half a minute, and
    /// in a folder, which may be synchronised every few minutes, half an hour.
    pub fn usual_timeout(endpoint: &Endpoint) -> Duration {
        match endpoint {
            Endpoint::Folder(_) => Duration::from_secs(30 * 60),
            _ => Duration::from_secs(30),
        }
    }

    /// Returns the options of its connection.
    pub fn options(&self) -> Options {
        let mut options = Options::new(self.security.clone());
        options.timeouts = self.timeouts();
        options.proxies = self.proxies.clone();
        options
    }

    fn timeouts(&self) -> Timeouts {
        let &Self { wait, timeout, .. } = self;
        let usual = Timeouts::default();
        let (setup, keep_alive) = match self.endpoint {
            // Each sign of life is a file.
            Endpoint::Folder(_) => (timeout, timeout / 6),
            _ => (usual.setup.min(wait), usual.keep_alive),
        };
        Timeouts {
            meet: wait,
            setup,
            idle: timeout,
            keep_alive,
        }
    }

    /// Returns the other party as a job is bound to it: by its name, under which it may replace its
    /// key, or by its key.
    pub(crate) fn peer(&self) -> String {
        let by_key = || match &self.security {
            Security::InsecurePlaintext => "(without encryption)".to_owned(),
            security => security
                .only_peer()
                .map_or_else(|| "(one of several)".to_owned(), |peer| peer.to_string()),
        };
        self.name.clone().unwrap_or_else(by_key)
    }
}

impl TableSpec {
    /// Returns a table in a file, whose name tells its format.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self::Files {
            inputs: vec![path.into()],
            format: None,
            dialect: Dialect::default(),
        }
    }
}

/// No file at all.
impl Default for TableSpec {
    fn default() -> Self {
        Self::Files {
            inputs: Vec::new(),
            format: None,
            dialect: Dialect::default(),
        }
    }
}

impl Default for Written {
    fn default() -> Self {
        Self {
            output: None,
            existing: Existing::Replace,
            rows: WhichRows::default(),
            quotes_empty: false,
            quotes_formulas: false,
        }
    }
}

/// The place where the parties meet.
#[derive(Debug, Clone)]
pub struct Meeting {
    /// One listens, and the other connects; or both go to a relay, or to a folder.
    pub endpoint: Endpoint,
    /// The identities of the parties, if they have any.
    pub security: Security,
    /// The proxies through which this party connects.
    pub proxies: Proxies,
    /// The name by which the user knows the other party, if it was called so.
    pub name: Option<String>,
    /// The time for which they try to meet.
    pub wait: Duration,
    /// The time for which the other party may be silent, once it is there.
    pub timeout: Duration,
    /// What there is to look up before they meet again, after a lost connection.
    pub renewal: Option<Renewal>,
}

/// Looks up how two parties find and know each other. An earlier meeting may have changed that: in
/// their first one, they have got to know each other.
#[derive(Clone)]
pub struct Renewal(Arc<dyn Fn() -> Option<(Vec<Appointment>, Security)> + Send + Sync>);

impl Renewal {
    /// Returns one that `look_up` makes; nothing changes if it has nothing to tell.
    pub fn new(
        look_up: impl Fn() -> Option<(Vec<Appointment>, Security)> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(look_up))
    }

    /// Looks it up.
    pub(crate) fn renew(&self, endpoint: &mut Endpoint, security: &mut Security) {
        if let Some((appointments, known)) = (self.0)() {
            endpoint.arrange(appointments);
            *security = known;
        }
    }
}

impl fmt::Debug for Renewal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Renewal")
    }
}

/// A party's table.
pub enum TableSpec {
    /// Files, which are one table, or `-` for standard input.
    Files {
        /// The files, patterns or folders.
        inputs: Vec<PathBuf>,
        /// Their format, if their names do not tell.
        format: Option<Format>,
        /// The dialect of the rows.
        dialect: Dialect,
    },
    /// Rows that the caller has. They come back in memory, unless a file is named for the result.
    Arrow(ArrowTable),
}

/// The form of a party's result.
#[derive(Debug, Clone)]
pub struct Written {
    /// The file; rows go to standard output, or back to the caller, if there is none.
    pub output: Option<PathBuf>,
    /// The treatment of a file that exists.
    pub existing: Existing,
    /// The rows that are written.
    pub rows: WhichRows,
    /// `true` if quotes tell empty texts from nulls.
    pub quotes_empty: bool,
    /// `true` if fields that spreadsheets would compute are quoted.
    pub quotes_formulas: bool,
}

/// The resources that a party may use.
#[derive(Debug, Clone, Default)]
pub struct Resources {
    /// Threads to compute with; one per core if nothing is said.
    pub threads: Option<NonZeroUsize>,
    /// Memory.
    pub memory: Said,
    /// The folder for data beyond the memory; by default, the system's folder for temporary files.
    pub spill_folder: Option<PathBuf>,
}

/// Stops a join, from any thread: the other party is told, and the join fails.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    pub(crate) progress: Arc<Progress>,
    pub(crate) interrupt: Interrupt,
}

impl Stop {
    /// Stops all joins that have it, now and for good.
    pub fn stop(&self) {
        self.progress.interrupt();
        self.interrupt.trigger();
    }

    /// Returns what stops a pass over a table, also outside of a join.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Returns what stops whatever goes over the network.
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// Ends what goes over the network: the other party is told this.
    pub fn abort(&self, code: psijoin_channel::AbortCode) {
        self.interrupt.abort(code);
    }
}

#[cfg(test)]
mod tests {
    use crate::{Give, Taken};

    use super::*;

    fn spec(role: Role) -> JoinSpec {
        let endpoint = Endpoint::Connect("127.0.0.1:1".parse().unwrap());
        let meeting = Meeting::new(endpoint, Security::InsecurePlaintext);
        let key = KeySpec::new(vec!["id".into()], vec![]).unwrap();
        JoinSpec::new(role, meeting, TableSpec::file("t.csv"), key)
    }

    /// Nobody is met, and nothing that was asked for is left out in silence.
    #[test]
    fn what_does_not_go_together_is_refused_at_once() {
        use SpecFault::*;
        let gives = Some(Give {
            columns: vec!["plan".into()],
            row_bytes: None,
            repeated: RepeatedKeys::Refuse,
        });
        type Wanted<'a> = &'a dyn Fn(&mut JoinSpec);
        let faults: [(SpecFault, Role, Wanted<'_>); 9] = [
            (RecordWithoutIdentities, Role::Sender, &|spec| {
                spec.record = Some("record.json".into());
            }),
            (BudgetWithoutIdentities, Role::Sender, &|spec| {
                spec.budget = Some("table.budget".into());
            }),
            (BudgetOfReceiver, Role::Receiver, &|spec| {
                spec.budget = Some("table.budget".into());
            }),
            (NoFileForShares, Role::Sender, &|spec| {
                spec.question.asked = RequestedOutput::Shares(Vec::new());
            }),
            (NothingToWrite, Role::Sender, &|spec| {
                spec.written.output = Some("rows.csv".into());
            }),
            (ReceiverGives, Role::Receiver, &|spec| {
                spec.trade.gives = gives.clone();
            }),
            (SenderTakes, Role::Sender, &|spec| {
                spec.trade.takes = Some(Taken::All);
            }),
            (TakesForUnshared, Role::Receiver, &|spec| {
                spec.trade.takes = Some(Taken::All);
                spec.written.rows = WhichRows::Unshared;
            }),
            (AlignedForOne, Role::Receiver, &|spec| {
                spec.aligned = Some(RepeatedKeys::First);
            }),
        ];
        for (fault, role, wanted) in faults {
            let mut spec = spec(role);
            assert!(spec.check().is_ok());
            wanted(&mut spec);
            let refused = spec.join(&(), &Stop::default());
            assert!(
                matches!(&refused, Err(Error::Spec(found)) if *found == fault),
                "{fault:?}"
            );
        }
    }
}
