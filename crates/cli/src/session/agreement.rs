//! What the parties agree on before the protocol runs.

use std::time::Duration;

use psijoin::{JointSeed, Ledger, Plan, Request, Role, parts::Remaining};
use psijoin_channel::{Channel, path::Measured};
use psijoin_handshake::{self as handshake, Hello};
use psijoin_params::Security;
use psijoin_record::Document;
use psijoin_table::SPELLING_VERSION;
use psijoin_transport::Connection;

use super::{Given, Mode, Party, Table, key_facts::KeyFacts};
use crate::{
    columns::{AgreedColumns, OwnColumns},
    exit::Failure,
    humanize,
    job::Job,
    limits,
    requested_output::RequestedOutput,
    settings::{
        ALIGNED, KEY_COLUMNS, PROTOCOL, PROTOCOL_VERSION, SPELLING, STATISTICAL_SECURITY, TERMS,
    },
};

/// What both parties agreed on.
pub(crate) struct Agreement {
    pub(crate) plan: Plan,
    /// With how many threads each side computes.
    pub(super) threads: [usize; 2],
    pub(crate) columns: AgreedColumns,
    /// The columns that are given.
    pub(crate) given: Given,
    /// Fresh for each meeting.
    pub(crate) joint_seed: JointSeed,
    /// What the record will say, if one is to be signed.
    pub(super) document: Option<Document>,
    pub(super) peer_only_checks: bool,
    /// Whether a job goes on that was begun before.
    pub(crate) goes_on: bool,
}

/// The fact that a party computes with this number of threads.
const THREADS: &str = "threads";

/// The fact that a party only wants to agree.
const ONLY_CHECKS: &str = "only a check";

/// How many threads the other party computes with: one, unless it tells a number that can be.
fn threads(peer: &Hello) -> usize {
    let told = peer.told(THREADS).and_then(|threads| threads.parse().ok());
    told.unwrap_or(1)
}

impl Agreement {
    /// What is still to run, if this was done before.
    pub(super) fn remaining<'a>(&'a self, ledger: Option<&dyn Ledger>) -> Remaining<'a> {
        match ledger {
            None => Remaining::all(&self.plan),
            Some(ledger) => Remaining::after(&self.plan, ledger),
        }
    }
}

impl Party<'_> {
    /// What must be alike on both sides, this party's set size, and what it has measured of the
    /// network.
    fn hello(&self, items: u64, measured: Measured) -> Hello {
        let info = self.protocol.info();
        let role = match self.role {
            Role::Sender => handshake::Role::Sender,
            Role::Receiver => handshake::Role::Receiver,
        };
        let hello = Hello::new(role, items)
            .setting(PROTOCOL, info.name)
            .setting(PROTOCOL_VERSION, info.version)
            .setting(STATISTICAL_SECURITY, Security::default().statistical_bits())
            .setting(KEY_COLUMNS, self.key.width())
            .setting(SPELLING, SPELLING_VERSION);
        let hello = hello.fact(THREADS, self.allowance.threads);
        let hello = match self.mode {
            Mode::Join => hello,
            Mode::Check => hello.fact(ONLY_CHECKS, "yes"),
        };
        let hello = match &self.terms {
            None => hello,
            Some(terms) => hello.setting(TERMS, terms),
        };
        let hello = match &self.recording {
            None => hello,
            Some(recording) => recording.tell(hello),
        };
        let hello = match self.aligned {
            None => hello,
            Some(_) => hello.setting(ALIGNED, "yes"),
        };
        let hello = self.tell_trade(hello);
        self.question.settings(hello).measured(measured)
    }

    /// Says what may keep keys from matching. The failure is for `--strict`.
    pub(super) fn warn_of(&self, warnings: Vec<String>, failure: Failure) -> Result<(), Failure> {
        let is_failure = self.consent.strict && !warnings.is_empty();
        warnings.into_iter().for_each(|warning| self.warn(warning));
        match is_failure {
            true => Err(failure),
            false => Ok(()),
        }
    }

    /// Checks that everything that the other party must know can be sent, as far as it is known
    /// without the table.
    pub(super) fn check_hello(&self) -> Result<(), Failure> {
        let texts = self.key.meanings_of_text();
        let facts = KeyFacts::new(self.key.columns(), &texts);
        let measured = Measured::default()
            .round_trip(Duration::MAX)
            .incoming(u64::MAX);
        Ok(facts.tell(self.hello(0, measured)).check()?)
    }

    /// Makes sure that both parties were set up alike, and derives what follows from their
    /// sizes and columns.
    pub(super) fn agree(
        &mut self,
        (connection, channel): (&Connection, &mut Channel),
        own: &OwnColumns,
        table: &Table,
        job: Option<&Job>,
    ) -> Result<Agreement, Failure> {
        if let Some(repeated) = self.aligned {
            table.check_alignable(repeated)?;
        }
        let (items, numbers) = (table.counts.distinct, &table.numbers[..]);
        let facts = KeyFacts::new(self.key.columns(), &table.meanings);
        let hello = self.hello(items, connection.measured());
        let hello = own.tell(facts.tell(hello), numbers);
        let hello = match job {
            Some(job) => job.tell(hello),
            None => hello,
        };
        let pending = self.console.during(
            "waiting for the other party to read its table",
            || (0, 0),
            || handshake::begin(channel, hello),
        )?;
        // A user that has to change a setting should know at once what else there is to change.
        let differences = facts.differences(pending.peer());
        if let Err(mismatch) = pending.compare() {
            let differences = differences.into_iter().flatten();
            differences.for_each(|difference| self.warn(difference));
            return Err(mismatch.into());
        }
        let theirs = pending.peer().set_size();
        self.consent.max_peer_keys.check(theirs)?;
        if let Some(warning) = limits::warning(self.role, items, theirs) {
            self.warn(warning);
        }
        let (senders, receivers) = match self.role {
            Role::Sender => (items, theirs),
            Role::Receiver => (theirs, items),
        };
        self.warn_of(differences?, Failure::UnlikeKeys)?;
        let columns = own.agree(numbers, pending.peer())?;
        self.consent_to(&columns)?;
        if let Some(warning) = self.warning_of_sums(&columns) {
            self.warn(warning);
        }
        self.question.check(self.protocol, columns.counts())?;
        let goes_on = job.map_or(Ok(false), |job| job.goes_on(pending.peer()))?;
        let given = self.agree_on_columns(table, channel)?;
        if let Some(job) = job.filter(|_| goes_on) {
            job.check_given(&given)?;
        }
        let request = self
            .question
            .request(senders, receivers, columns.counts(), |giver| {
                given.bytes(giver)
            })?
            .path(pending.path()?);
        let job = job.filter(|_| goes_on);
        let plan = self.plan(job, &request)?;
        let of_one_run = self.allowance.of_one_run;
        (self.consent.max_peer_keys).check_memory(self.role, &plan, of_one_run)?;
        if let Some(layout) = given.by(self.role.other()) {
            limits::check_given(self.role, &plan, layout, table.counts.rows)?;
        }
        let peer_only_checks = pending.peer().told(ONLY_CHECKS).is_some();
        let threads = [self.allowance.threads, threads(pending.peer())];
        let mut document =
            self.draft(&pending, connection.peer_key(), &plan, (&columns, &given))?;
        let mut agreed = vec![plan.digest().to_vec(), columns.encoded()];
        agreed.extend(given.all().map(|(_, layout)| layout.to_bytes()));
        let agreed: Vec<&[u8]> = agreed.iter().map(Vec::as_slice).collect();
        let joint_seed = pending.confirm(channel, &agreed)?;
        let session = self.record.session(&joint_seed);
        if let Some(document) = &mut document {
            document.session = session;
        }
        self.console.say(format_args!(
            "{}: {} of the sender, {} of the receiver, {} to move",
            plan.info().name,
            humanize::counted(senders, "key"),
            humanize::counted(receivers, "key"),
            humanize::bytes(plan.cost().total.total_bytes()),
        ));
        Ok(Agreement {
            plan,
            threads,
            columns,
            given,
            joint_seed,
            document,
            peer_only_checks,
            goes_on,
        })
    }

    /// The plan of a request, which is that of a job that goes on.
    fn plan(&self, job: Option<&Job>, request: &Request) -> Result<Plan, Failure> {
        let protocol = job.map_or(Ok(self.protocol), Job::protocol)?;
        let plan = match self.parts {
            None => psijoin::plan(protocol, request)?,
            Some(parts) => psijoin::parts::in_parts(protocol, request, parts)?,
        };
        job.map_or(Ok(()), |job| job.check_plan(&plan))?;
        Ok(plan)
    }

    /// What both parties agreed on when a job was begun.
    pub(super) fn recall(&self, job: &Job) -> Result<Agreement, Failure> {
        let [senders, receivers] = job.items();
        let columns = AgreedColumns::recalled(&self.question.asked, &job.numbers()?)?;
        let given = job.given()?;
        let request = self
            .question
            .request(senders, receivers, columns.counts(), |giver| {
                given.bytes(giver)
            })?;
        Ok(Agreement {
            plan: self.plan(Some(job), &request)?,
            threads: [1; 2],
            columns,
            given,
            joint_seed: job.joint_seed()?,
            document: None,
            peer_only_checks: false,
            goes_on: true,
        })
    }

    /// What a sender should think about whose column is added up over however few keys.
    fn warning_of_sums(&self, columns: &AgreedColumns) -> Option<String> {
        let adds_up = matches!(self.question.asked, RequestedOutput::Sum(_))
            && (columns.0.iter()).any(|column| column.holder == Role::Sender);
        (self.role == Role::Sender && adds_up && self.question.min_intersection == 0).then(|| {
            "without --min-intersection the receiver gets the sum over however few keys are shared, and over one key it is \
             that key's number: --min-intersection K on both sides withholds the sum of fewer than K keys."
                .to_owned()
        })
    }

    /// Refuses, as a sender, sums from which the receiver could read keys, unless the user allows
    /// them.
    fn consent_to(&self, columns: &AgreedColumns) -> Result<(), Failure> {
        let of_receiver = columns
            .0
            .iter()
            .find(|column| column.holder == Role::Receiver);
        match (&self.question.asked, self.role, of_receiver) {
            (RequestedOutput::Sum(_), Role::Sender, Some(column))
                if !self.consent.receiver_sums =>
            {
                Err(Failure::ReceiverSums(column.name.name.clone()))
            }
            _ => Ok(()),
        }
    }
}
