//! The agreement of the parties before the protocol runs.

use std::time::Duration;

use psijoin::{JointSeed, Plan, Request, Role};
use psijoin_channel::{Channel, path::Measured};
use psijoin_handshake::{self as handshake, Hello};
use psijoin_params::Security;
use psijoin_table::{Counts, SPELLING_VERSION};
use psijoin_transport::{Connection, Fingerprint};

use crate::{
    Error,
    agreement::Agreement,
    columns::{AgreedColumns, OwnColumns},
    event::{Event, Warning, Work, waiting},
    job::Job,
    key_facts::KeyFacts,
    labels::AgreedGroups,
    lanes::{self, LaneTerms, OwnLanes},
    limits,
    noise::AgreedNoise,
    own_table::OwnTable,
    party::{Mode, Party},
    requested_groups::RequestedGroups,
    requested_output::RequestedOutput,
    settings::{self, ALIGNED, ITEM_BITS, ONLY_CHECKS, TERMS},
};

/// Returns the name of a session, which both parties derive, and which tells nothing.
pub(crate) fn session_name(joint_seed: &JointSeed) -> String {
    let name = psijoin::share_file::session(joint_seed);
    name[..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

impl Party<'_> {
    /// Returns what must be alike on both sides, this party's set size, and what it has measured of
    /// the network.
    fn hello(&self, items: u64, measured: Measured) -> Hello {
        let keys = settings::Keys {
            count: items,
            columns: self.key.width(),
            spelling: SPELLING_VERSION,
        };
        let hello = settings::hello(self.role, keys, self.protocol, Security::default());
        let hello = match self.mode {
            Mode::Join => hello,
            Mode::Check => hello.fact(ONLY_CHECKS, "yes"),
        };
        let hello = match self.key.item_bits() {
            None => hello,
            Some(bits) => hello.setting(ITEM_BITS, bits),
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
        let hello = match &self.attempt {
            None => hello,
            Some(attempt) => attempt.tell(hello),
        };
        let hello = self.tell_trade(hello);
        self.question.settings(hello).measured(measured)
    }

    /// Checks that everything that the other party must know can be sent, as far as it is known
    /// without the table.
    pub(crate) fn check_hello(&self) -> Result<(), Error> {
        let texts = self.key.meanings_of_text();
        let facts = KeyFacts::new(self.key.columns(), &texts);
        let measured = Measured::default()
            .round_trip(Duration::MAX)
            .incoming(u64::MAX);
        let key = Fingerprint::of_public_key(&[]);
        let hello = lanes::tell(self.threads, self.lanes, Some(key), self.hello(0, measured));
        Ok(facts.tell(hello).check()?)
    }

    /// Makes sure that both parties were set up alike, and derives what follows from their
    /// sizes and columns.
    pub(crate) fn agree(
        &self,
        (connection, channel): (&Connection, &mut Channel),
        own: &OwnColumns,
        table: &mut dyn OwnTable,
        job: Option<&Job>,
    ) -> Result<Agreement, Error> {
        self.check_key_exchange(connection)?;
        if let Some(repeated) = self.aligned {
            table.check_alignable(repeated)?;
        }
        let known = table.facts();
        let Counts {
            rows,
            distinct: items,
            ..
        } = known.counts;
        let facts = KeyFacts::new(self.key.columns(), known.meanings);
        let own_lanes = OwnLanes::new(self, connection)?;
        let hello = own_lanes.tell(self.hello(items, connection.measured()));
        let hello = own.tell(facts.tell(hello), known.numbers, known.labels);
        let hello = match job {
            Some(job) => job.tell(hello),
            None => hello,
        };
        let begin = || handshake::begin_speaking(self.versions, channel, hello);
        let pending = waiting(self.watcher, Work::WaitingForTable, begin)?;
        // A user that has to change a setting should know at once what else there is to change.
        let differences = facts.differences(pending.peer());
        if let Err(mismatch) = pending.compare() {
            let differences = differences.into_iter().flatten();
            differences.for_each(|difference| self.warn(Warning::UnlikeKeys(difference)));
            return Err(mismatch.into());
        }
        let lanes = own_lanes.agree(&pending)?;
        let theirs = pending.peer().set_size();
        (self.attempt.as_ref()).map_or(Ok(()), |attempt| attempt.check(pending.peer()))?;
        self.consent.max_peer_keys.check(theirs)?;
        if let Some(warning) = limits::warning(self.role, items, theirs) {
            self.warn(warning);
        }
        let (senders, receivers) = match self.role {
            Role::Sender => (items, theirs),
            Role::Receiver => (theirs, items),
        };
        let differences = differences?.into_iter().map(Warning::UnlikeKeys);
        self.warn_of(differences, Error::UnlikeKeys)?;
        let columns = own.agree(known.numbers, pending.peer())?;
        self.consent_to(&columns)?;
        if self.gives_sums_over_few(&columns) {
            self.warn(Warning::SumOverFew);
        }
        if self.gives_groups_of_few() {
            self.warn(Warning::GroupsOfFew);
        }
        self.question.check(self.protocol, columns.counts())?;
        let goes_on = job.map_or(Ok(false), |job| job.goes_on(pending.peer()))?;
        let groups = self.agree_on_groups(known.labels, pending.peer(), channel)?;
        let given = self.agree_on_columns(table, channel)?;
        if let Some(job) = job.filter(|_| goes_on) {
            job.check_given(&given)?;
            job.check_labels(&groups)?;
        }
        let request = self
            .question
            .request(
                senders,
                receivers,
                (columns.counts(), groups.labels()),
                |giver| given.bytes(giver),
            )?
            .path(pending.path()?);
        let request = self.with_item_bits(request)?;
        let noise = AgreedNoise::of(self.question.asked.groups(), &columns)?;
        (noise.as_ref()).map_or(Ok(()), |noise| noise.check_room(&request))?;
        let job = job.filter(|_| goes_on);
        let plan = self.plan(job, &lanes, &request)?;
        (self.consent.max_peer_keys).check_memory(self.role, &plan, self.of_one_run)?;
        if let Some(layout) = given.by(self.role.other()) {
            limits::check_given(self.role, &plan, layout, rows)?;
        }
        let peer_only_checks = pending.peer().told(ONLY_CHECKS).is_some();
        let mut document = self.draft(
            &pending,
            connection.peer_key(),
            &plan,
            (&columns, &groups, &given),
        )?;
        let mut agreed = vec![plan.digest().to_vec(), columns.encoded()];
        agreed.extend(given.all().map(|(_, layout)| layout.to_bytes()));
        agreed.extend((!groups.0.is_empty()).then(|| groups.encoded()));
        let agreed: Vec<&[u8]> = agreed.iter().map(Vec::as_slice).collect();
        let peer = pending.peer().clone();
        let joint_seed = pending.confirm(channel, &agreed)?;
        let session = session_name(&joint_seed);
        let attempt = self.attempt.as_ref();
        let next_attempt = attempt.and_then(|attempt| attempt.next(&session, &peer, &plan));
        self.watcher.hear(Event::Agreed {
            session: &session,
            plan: &plan,
        });
        if let Some(document) = &mut document {
            document.session = session;
        }
        Ok(Agreement {
            plan,
            lanes,
            columns,
            groups,
            noise,
            given,
            joint_seed,
            document,
            peer_only_checks,
            next_attempt,
            goes_on,
        })
    }

    /// Checks that the protocol can answer the question, and carry the columns that are given.
    ///
    /// # Errors
    /// [`Error::Unable`] and [`Error::Question`].
    pub(crate) fn check_question(&self) -> Result<(), Error> {
        let holders = self.question.asked.holders();
        self.question.check(self.protocol, holders)?;
        match self.trade.gives.is_some() || self.trade.takes.is_some() {
            true => self.question.check_columns(self.protocol),
            false => Ok(()),
        }
    }

    /// Promises short keys, if both sides have agreed on their length.
    fn with_item_bits(&self, request: Request) -> Result<Request, Error> {
        Ok(match self.key.item_bits() {
            None => request,
            Some(bits) => request.numbers(bits)?,
        })
    }

    /// Returns the plan of a request, as both sides run it: the job's own if one is resumed.
    fn plan(&self, job: Option<&Job>, lanes: &LaneTerms, request: &Request) -> Result<Plan, Error> {
        let protocol = job.map_or(Ok(self.protocol), Job::protocol)?;
        let plan = match self.parts {
            None => psijoin::plan(protocol, request)?,
            Some(parts) => psijoin::parts::in_parts(protocol, request, parts)?,
        };
        let plan = lanes.in_parts(protocol, plan)?;
        job.map_or(Ok(()), |job| job.check_plan(&plan))?;
        Ok(plan)
    }

    /// Returns the agreement of both parties when a job was started.
    pub(crate) fn recall(&self, job: &Job) -> Result<Agreement, Error> {
        let [senders, receivers] = job.items();
        let columns = AgreedColumns::recalled(&self.question.asked, &job.numbers()?)?;
        let groups = AgreedGroups::recalled(self.question.asked.groups(), job.labels()?);
        let given = job.given()?;
        let request = self.question.request(
            senders,
            receivers,
            (columns.counts(), groups.labels()),
            |giver| given.bytes(giver),
        )?;
        let request = self.with_item_bits(request)?;
        let lanes = LaneTerms::ALONE;
        Ok(Agreement {
            plan: self.plan(Some(job), &lanes, &request)?,
            lanes,
            noise: AgreedNoise::of(self.question.asked.groups(), &columns)?,
            columns,
            groups,
            given,
            joint_seed: job.joint_seed()?,
            document: None,
            peer_only_checks: false,
            next_attempt: None,
            goes_on: true,
        })
    }

    /// Returns whether this party is a sender whose column is added up over however few keys.
    fn gives_sums_over_few(&self, columns: &AgreedColumns) -> bool {
        let adds_up = matches!(self.question.asked, RequestedOutput::Sum(_))
            && (columns.0.iter()).any(|column| column.holder == Role::Sender);
        self.role == Role::Sender && adds_up && self.question.min_intersection == 0
    }

    /// Returns whether this party is a sender, and shows groups of however few keys.
    fn gives_groups_of_few(&self) -> bool {
        let groups = self.question.asked.groups();
        self.role == Role::Sender && groups.is_some_and(RequestedGroups::shows_single_keys)
    }

    /// Refuses, as a sender, sums and groups from which the receiver could read keys, unless the
    /// user allows them.
    fn consent_to(&self, columns: &AgreedColumns) -> Result<(), Error> {
        if self.role == Role::Receiver || self.consent.receiver_sums {
            return Ok(());
        }
        let mut summed = columns.0.iter();
        let summed = summed.find(|column| column.holder == Role::Receiver);
        match (&self.question.asked, summed) {
            (RequestedOutput::Sum(_) | RequestedOutput::Groups(_), Some(column)) => {
                Err(Error::ReceiverSums(column.name.name.clone()))
            }
            (RequestedOutput::Groups(groups), None) if groups.shows_single_keys() => {
                let mut by = groups.by.iter();
                match by.find(|column| column.holder == Role::Receiver) {
                    Some(column) => Err(Error::ReceiverGroups(column.name.clone())),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}
