//! The command line of a party: checked, and turned into the request for a session.

use std::{path::Path, time::Duration};

use jiff::Timestamp;
use psijoin::Role;
use psijoin_frontend::{
    AppliedProfile, Failure, NamedFiles, Narrator, Notes, Wanted,
    files::{self, Named as NamedFile},
    home, meeting,
    partner::Named,
    run,
};
use psijoin_printable::Quoted;
use psijoin_session::{
    Consent, Further, GroupColumn, JoinSpec, KeptJob, Learners, MaxPeerKeys, Meeting, Memory, Mode,
    PublicLabels, Question, RequestedOutput, Resources, SpecFault, Stop, TableSpec, Written,
    check_aligned,
};
use psijoin_table::{Existing, share::RepeatedKeys};
use psijoin_transport::Proxy;

use crate::{args, console::Console, parties};

/// The command line of one party, or what it would be.
pub(crate) struct Invocation<'a> {
    pub(crate) role: Role,
    pub(crate) join: &'a args::Join,
    /// The file for the result, if one is named.
    pub(crate) output: Option<&'a Path>,
    receiver_sums: bool,
    /// The sender's budget, if it has one.
    budget: Option<&'a Path>,
    /// The extent of the join.
    pub(crate) mode: Mode,
    /// The profile that has set some options.
    pub(crate) profile: Option<AppliedProfile>,
}

impl<'a> Invocation<'a> {
    /// Returns the receiver's order.
    pub(crate) fn to_receive(args: &'a args::Receive, mode: Mode) -> Self {
        Self::new(Role::Receiver, &args.join, true, mode)
    }

    /// Returns the sender's order.
    pub(crate) fn to_send(args: &'a args::Send, mode: Mode) -> Self {
        let receiver_sums = args.allow_sums_that_reveal_keys;
        Self {
            budget: args.budget.as_deref(),
            ..Self::new(Role::Sender, &args.join, receiver_sums, mode)
        }
    }

    /// Returns the order of the party that checks.
    pub(crate) fn to_check(args: &'a args::Check) -> Self {
        match &args.side {
            args::CheckedSide::Receive(args) => Self::to_receive(args, Mode::Check),
            args::CheckedSide::Send(args) => Self::to_send(args, Mode::Check),
        }
    }

    /// Makes an order. With `receiver_sums`, a sum of the receiver's columns may be computed.
    fn new(role: Role, join: &'a args::Join, receiver_sums: bool, mode: Mode) -> Self {
        let named = join.asked.output.as_deref();
        Self {
            role,
            join,
            // `-` is what is meant without a name too.
            output: named.filter(|path| *path != Path::new("-")),
            receiver_sums,
            budget: None,
            mode,
            profile: None,
        }
    }

    /// Notes which profile has set some options.
    pub(crate) fn with_profile(self, profile: Option<AppliedProfile>) -> Self {
        Self { profile, ..self }
    }

    /// Returns the question: the output, who learns it, and its condition.
    fn question(&self) -> Question {
        Question {
            asked: self.asked(),
            min_intersection: self.join.safety.min_intersection.unwrap_or(0),
            learners: self.join.asked.learn,
            post_quantum: self.join.safety.post_quantum,
        }
    }

    /// Returns the files of the lists of labels, each with the place of its column.
    fn lists(&self) -> Result<Vec<(usize, &'a Path)>, Failure> {
        let usage = |why: String| Failure::Usage(format!("--groups: {why}"));
        let RequestedOutput::Groups(groups) = self.asked() else {
            return Ok(Vec::new());
        };
        let mut lists: Vec<(usize, &Path)> = Vec::new();
        for text in &self.join.asked.groups {
            let of_column = |column: &GroupColumn| {
                let name = column.to_string();
                let file = text.strip_prefix(&name)?.strip_prefix('=')?;
                Some((Some(name), file))
            };
            let named = groups.by.iter().find_map(of_column);
            let (column, file) = named.unwrap_or((None, text));
            let place = groups.place_of_list(column.as_deref());
            let place = place
                .map_err(|why| usage(format!("{why}, as in --groups {}=FILE", groups.by[0])))?;
            if lists.iter().any(|(other, _)| *other == place) {
                let column = Quoted(&groups.by[place].to_string()).to_string();
                return Err(usage(format!("the column {column} has two lists")));
            }
            lists.push((place, Path::new(file)));
        }
        Ok(lists)
    }

    /// Returns the output, with the groups that other options tell.
    fn asked(&self) -> RequestedOutput {
        let mut asked = self.join.asked.output_kind.clone();
        if let RequestedOutput::Groups(groups) = &mut asked {
            let by = self.join.asked.group_by.as_ref();
            groups.by = by.map_or_else(Vec::new, |by| by.0.clone());
            groups.least = self.join.safety.min_group.unwrap_or(0);
            groups.noise = self.join.safety.noise.clone().map(Box::new);
        }
        asked
    }

    /// Returns the treatment of an output that exists.
    fn existing(&self) -> Existing {
        match self.join.asked.written.no_clobber {
            true => Existing::Keep,
            false => Existing::Replace,
        }
    }

    /// Returns the form of the result.
    pub(crate) fn written(&self) -> Written {
        let written = &self.join.asked.written;
        Written {
            output: self.output.map(Path::to_owned),
            existing: self.existing(),
            rows: written.rows.unwrap_or_default(),
            quotes_empty: written.quote_empty,
            quotes_formulas: written.quote_formulas,
        }
    }

    /// Returns the facts that are known from the start.
    pub(crate) fn wanted(&self) -> Wanted {
        let join = self.join;
        Wanted {
            started: Timestamp::now(),
            role: Some(self.role),
            protocol: Some(join.protocol.info().name),
            output_kind: Some(join.asked.output_kind.to_string()),
            learners: Some(join.asked.learn),
            min_intersection: join.safety.min_intersection,
            post_quantum: join.safety.post_quantum,
            profile: self.profile.clone(),
            peer: match &*join.connection.trust.peers {
                [Named::Fingerprint(peer)] => Some(*peer),
                _ => None,
            },
            files: NamedFiles {
                input: join.table.input.clone(),
                output: self.output.map(Path::to_owned),
                report: join.evidence.report_file().map(Path::to_owned),
            },
        }
    }

    /// Checks that the options fit together.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.check_groups()?;
        self.check_output()?;
        self.check_rows()?;
        self.check_trade()?;
        if self.join.evidence.record.is_some() && self.join.connection.trust.insecure_plaintext {
            return Err(SpecFault::RecordWithoutIdentities.into());
        }
        if self.mode == Mode::Check && self.join.resources.job.is_some() {
            return Err(Failure::Usage(
                "a check has no progress to keep: leave --job out".to_owned(),
            ));
        }
        self.check_files()
    }

    /// Checks that no file is written that is another one, too.
    fn check_files(&self) -> Result<(), Failure> {
        let args::Join {
            connection,
            table,
            evidence,
            ..
        } = self.join;
        files::refuse_clashes(&files::Files {
            report: (evidence.report_file()).map(|path| NamedFile::new("--report", path)),
            record: (evidence.record.as_deref()).map(|path| NamedFile::new("--record", path)),
            output: self.output.map(|path| NamedFile::new("--output", path)),
            identity: (connection.trust.identity.as_deref())
                .map(|path| NamedFile::new("--identity", path)),
            passphrase: (connection.trust.unlock.passphrase_file.as_deref())
                .map(|path| NamedFile::new("--passphrase-file", path)),
            terms: (evidence.terms.as_deref()).map(|path| NamedFile::new("--terms", path)),
            budget: self.budget.map(|path| NamedFile::new("--budget", path)),
            lists: (self.lists()?.into_iter())
                .map(|(_, path)| NamedFile::new("--groups", path))
                .collect(),
            inputs: (table
                .input
                .iter()
                .map(|path| NamedFile::new("--input", path)))
            .collect(),
        })
    }

    /// Checks that columns are given to a party that learns rows.
    fn check_trade(&self) -> Result<(), Failure> {
        if self.join.asked.learn == Learners::Both {
            self.question().check_finds_rows(Further::Both)?;
        }
        let rows = self.join.asked.written.rows.unwrap_or_default();
        let trade = self.join.asked.trade.traded(self.join.safety.at_most());
        Ok(trade.check(self.role, self.join.asked.learn, rows)?)
    }

    /// Checks that groups have columns that name them, and that what is said of groups is said
    /// where there are some.
    fn check_groups(&self) -> Result<(), Failure> {
        let kind = &self.join.asked.output_kind;
        let said = [
            ("--group-by", self.join.asked.group_by.is_some()),
            ("--groups", !self.join.asked.groups.is_empty()),
            ("--min-group", self.join.safety.min_group.is_some()),
            ("--noise", self.join.safety.noise.is_some()),
        ];
        let said = said.iter().find(|(_, is_said)| *is_said);
        match (said, kind.groups()) {
            (Some((option, _)), None) => Err(Failure::Usage(format!(
                "{option} is for counts and sums of groups: give --output-kind counts, or counts,sum:COL, and not {kind}; \
                 or leave {option} out"
            ))),
            _ => Ok(self.question().check_groups()?),
        }
    }

    /// Checks where the result is to go.
    fn check_output(&self) -> Result<(), Failure> {
        let kind = &self.join.asked.output_kind;
        let question = self.question();
        let finds_rows = question.finds_rows(self.role);
        let wrong = match (kind, self.output) {
            (RequestedOutput::Shares(_), None) => return Err(SpecFault::NoFileForShares.into()),
            (RequestedOutput::Shares(_), Some(_)) => return Ok(()),
            // A check writes no rows.
            (_, None)
                if finds_rows
                    && self.mode == Mode::Join
                    && self.join.evidence.prints_report() =>
            {
                "--report - and the rows cannot both go to standard output: give --output FILE too"
                    .to_owned()
            }
            (_, Some(_)) if !question.gives_table(self.role) => match (self.role, kind) {
                (Role::Sender, RequestedOutput::Rows) => {
                    "--output of the sender is for its rows or shares, and it gets none: leave --output out, or give \
                     --learn both on both sides"
                        .to_owned()
                }
                (Role::Sender, _) => format!(
                    "--output of the sender is for its rows or shares, and --output-kind {kind} gives it none: \
                     leave --output out"
                ),
                (Role::Receiver, _) => format!(
                    "--output is for rows, and --output-kind {kind} finds none: leave --output out; \
                     the result goes to standard output"
                ),
            },
            _ => return Ok(()),
        };
        Err(Failure::Usage(wrong))
    }

    /// Checks that what is said of rows is said where there are rows.
    fn check_rows(&self) -> Result<(), Failure> {
        let written = &self.join.asked.written;
        let question = self.question();
        let (finds_rows, gives_table) = (
            question.finds_rows(self.role),
            question.gives_table(self.role),
        );
        let said = [
            ("--quote-empty", written.quote_empty && !gives_table),
            ("--quote-formulas", written.quote_formulas && !gives_table),
            ("--rows", written.rows.is_some() && !finds_rows),
            ("--align", written.align && !finds_rows),
        ];
        if let Some((option, _)) = said.iter().find(|(_, is_wrong)| *is_wrong) {
            return Err(Failure::Usage(format!(
                "{option} is for rows, and the {} finds none with --output-kind {} and --learn {}: leave {option} out",
                self.role, self.join.asked.output_kind, self.join.asked.learn
            )));
        }
        self.check_aligned()
    }

    /// Checks that rows can be aligned, if they are to be.
    fn check_aligned(&self) -> Result<(), Failure> {
        let trade = &self.join.asked.trade;
        if !self.join.asked.written.align && trade.repeated.is_some() && !trade.gives() {
            return Err(Failure::Usage(
                "--repeated says what to give or to align where rows have one key: give --give or --align, too, or leave \
                 it out"
                    .to_owned(),
            ));
        }
        Ok(check_aligned(self.aligned(), self.join.asked.learn)?)
    }

    /// Returns `Some` if rows are aligned, with the treatment of those that repeat a key.
    fn aligned(&self) -> Option<RepeatedKeys> {
        let join = self.join;
        join.asked
            .written
            .align
            .then(|| join.asked.trade.repeated())
    }

    /// Meets the other party, and joins: see [`run::join`].
    ///
    /// # Errors
    /// Any failure.
    pub(crate) fn join(
        &self,
        console: &Console,
        notes: &Notes,
        stop: &Stop,
    ) -> Result<Option<KeptJob>, Failure> {
        let report = self.join.evidence.report_file();
        let reportable = run::prepare_report(report, notes);
        let narrator = Narrator {
            listener: console,
            notes,
        };
        let lists = self.lists()?;
        let mut spec = self.spec(console, notes)?;
        let able = reportable.and_then(|()| self.read_files(&lists, &mut spec));
        run::join(spec, able, narrator, stop)
    }

    /// Reads the files that both sides have alike: the terms, and the lists of labels.
    fn read_files(&self, lists: &[(usize, &Path)], spec: &mut JoinSpec) -> Result<(), Failure> {
        let terms = self.join.evidence.terms.as_deref();
        spec.terms = terms.map(files::read_terms).transpose()?;
        if let RequestedOutput::Groups(groups) = &mut spec.question.asked {
            for &(place, file) in lists {
                groups.by[place].public = Some(PublicLabels::read(file)?);
            }
        }
        Ok(())
    }

    /// Returns the request for the session, but for what files say.
    fn spec(&self, console: &Console, notes: &Notes) -> Result<JoinSpec, Failure> {
        let args::Join {
            connection,
            table,
            asked,
            safety,
            evidence,
            resources,
            ..
        } = self.join;
        let partner = parties::partner(&connection.trust, console)?;
        let endpoint = parties::meeting_place(connection, &partner)?;
        // Not by the parser of the command line, which would show it.
        let proxy = connection.proxy.as_deref().map(str::parse::<Proxy>);
        let proxy = proxy.transpose()?;
        let timeout = connection.timeout.map_or_else(
            || Meeting::usual_timeout(&endpoint),
            |seconds| Duration::from_secs(seconds.into()),
        );
        let name = partner.known_as.as_ref().map(|it| it.name.to_string());
        let renewal = partner.renewal();
        notes.know_as(partner.known_as);
        Ok(JoinSpec {
            role: self.role,
            meeting: Meeting {
                proxies: meeting::proxies(proxy.as_ref(), &endpoint),
                endpoint,
                security: partner.security,
                name,
                wait: Duration::from_secs(connection.wait.into()),
                timeout,
                renewal,
            },
            table: TableSpec::Files {
                inputs: table.input.clone(),
                format: table.dialect.format,
                dialect: table.dialect.dialect()?,
            },
            key: table.key.spec()?,
            question: self.question(),
            protocol: self.join.protocol,
            trade: asked.trade.traded(safety.at_most()),
            aligned: self.aligned(),
            written: self.written(),
            also_written: evidence
                .report_file()
                .map(Path::to_owned)
                .into_iter()
                .collect(),
            consent: Consent {
                max_peer_keys: safety
                    .max_peer_keys
                    .map_or(MaxPeerKeys::ByMemory, MaxPeerKeys::Said),
                receiver_sums: self.receiver_sums,
                strict: safety.strict,
            },
            terms: None,
            record: evidence.record.clone(),
            job: resources.job.clone().map(home::job),
            budget: self.budget.map(Path::to_owned),
            mode: self.mode,
            resources: Resources {
                threads: resources.threads,
                memory: match (resources.table_memory, resources.memory) {
                    (Some(bytes), _) => Memory::Budget(bytes),
                    (None, Some(bytes)) => Memory::Memory(bytes),
                    (None, None) => Memory::Nothing,
                },
                spill_folder: resources.spill_dir.clone(),
            },
            parts: resources.parts,
            versions: Default::default(),
        })
    }
}
