//! The state that a party keeps, so that a join that broke off can be resumed.
//!
//! In their hellos, both parties name the job that they have, and tell whether any of its steps has
//! begun. If nothing has begun on either side, a job starts. If both have one job, it is resumed:
//! each gives its [account](psijoin_job::account) of each step. Steps with one run on both sides
//! are done, and the others run again, with the randomness of their first run: a question that was
//! answered once gets no other answer. Anything else is an error on both sides.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use psijoin::{JointSeed, Plan, Protocol, Role, parts, registry};
use psijoin_channel::{Channel, Error as ChannelError};
use psijoin_handshake::{self as handshake, Hello};
use psijoin_job::{
    Account, Begun, Columns, Ended, Error as FolderError, Folder, Owner, Results, Term,
    account::{ACCOUNT_BYTES, Disagreement, Steps},
};
use psijoin_record::Terms;
use psijoin_table::KeySpec;
use psijoin_transport::Identity;
use zeroize::Zeroizing;

use crate::{
    Error, Written,
    agreement::Agreement,
    labels::{AgreedGroups, LabelList},
    question::Question,
    requested_groups::RequestedGroups,
    setting, settings,
    trade::{Given, Trade},
};

/// The fact that tells which job a party has.
const STANDING: &str = "the job";

/// This program, as jobs know it.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A party's job, which may not have begun.
pub(crate) struct Job {
    folder: Folder,
    /// The command that resumes it, for people.
    command: String,
    /// All settings.
    terms: Vec<Term>,
    /// Hashes of what was read of the table.
    data: Vec<Term>,
}

/// The subject of a job, as far as it is known before the table is read.
pub(crate) struct Subject<'a> {
    pub(crate) role: Role,
    pub(crate) protocol: &'a Protocol,
    pub(crate) question: &'a Question,
    pub(crate) terms: Option<&'a Terms>,
    pub(crate) is_recorded: bool,
    /// Whether its answer is taken from a budget.
    pub(crate) is_budgeted: bool,
    pub(crate) key: &'a KeySpec,
    pub(crate) trade: &'a Trade,
    pub(crate) written: WrittenAs<'a>,
    /// The party's own; none without encryption.
    pub(crate) identity: Option<&'a Identity>,
    pub(crate) peer: String,
}

/// The form of the written result, to which a job is bound.
pub(crate) struct WrittenAs<'a> {
    written: &'a Written,
    is_aligned: bool,
}

impl<'a> WrittenAs<'a> {
    pub(crate) fn new(written: &'a Written, is_aligned: bool) -> Self {
        Self {
            written,
            is_aligned,
        }
    }
}

/// The folder of a job.
#[derive(Debug, Clone)]
pub struct JobFolder {
    /// The folder, which is made if it is not there.
    pub path: PathBuf,
    /// The file in which this party notes the progress of its jobs, if there is one: so a folder
    /// that was restored from a copy is recognised.
    pub marks: Option<PathBuf>,
    /// The command that starts the same join again: kept in the folder, for people.
    pub command: String,
}

impl Job {
    /// Opens a folder, or makes one.
    ///
    /// # Errors
    /// If the folder cannot be used, or the job in it is about something else.
    pub(crate) fn open(
        JobFolder {
            path,
            marks,
            command,
        }: &JobFolder,
        subject: &Subject<'_>,
    ) -> Result<Self, Error> {
        let secret = subject
            .identity
            .map(|identity| identity.secret("psijoin 2026 what jobs are recognised by"));
        let owner = Owner {
            program: VERSION,
            secret: &secret.unwrap_or_default(),
            marks: marks.as_deref(),
        };
        let folder = Folder::open(path, &owner)?;
        let terms = subject.terms(&folder);
        folder.check(&terms)?;
        Ok(Self {
            folder,
            command: command.clone(),
            terms,
            data: Vec::new(),
        })
    }

    /// Returns how the job ended, if it has.
    pub(crate) fn ended(&self) -> Option<Ended> {
        self.folder.job().and_then(|job| job.ended)
    }

    /// Returns where it is.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns what this party's tables are
    /// [recognised](psijoin_table::TableKeys::read_identified) by.
    pub(crate) fn secret_of_tables(&self) -> Zeroizing<[u8; 32]> {
        self.folder
            .derive("psijoin 2026 what tables are recognised by")
    }

    /// Notes which table the job is about: its
    /// [identity](psijoin_table::TableKeys::read_identified).
    ///
    /// # Errors
    /// If it was started with another one.
    pub(crate) fn is_about(&mut self, table: blake3::Hash) -> Result<(), Error> {
        self.is_of("a table (its keys, their order, and its numbers)", table)
    }

    /// Notes which values are given in columns.
    ///
    /// # Errors
    /// If it was started with others.
    pub(crate) fn gives(&mut self, values: blake3::Hash) -> Result<(), Error> {
        self.is_of("the values of the columns that are given", values)
    }

    /// Notes something of this party's that must stay the same, by a hash.
    fn is_of(&mut self, name: &str, hash: blake3::Hash) -> Result<(), Error> {
        let term = self.folder.secret(name, |hasher| {
            hasher.update(hash.as_bytes());
        });
        self.folder.check_data(&term)?;
        self.data.retain(|term| term.name != name);
        self.data.push(term);
        Ok(())
    }

    /// Tells the other party which job this one has.
    pub(crate) fn tell(&self, hello: Hello) -> Hello {
        hello
            .setting(settings::JOB, "yes")
            .fact(STANDING, self.standing())
    }

    fn standing(&self) -> Standing {
        let id = self.folder.job().map(|job| job.id.clone());
        Standing {
            id,
            has_begun: self.folder.begun() > 0,
        }
    }

    /// Returns whether the job is resumed; otherwise it starts.
    ///
    /// # Errors
    /// [`Error::OtherJob`] if one party has begun steps of a job that the other does not have.
    pub(crate) fn goes_on(&self, peer: &Hello) -> Result<bool, Error> {
        let ours = self.standing();
        let theirs = Standing::told(peer)?;
        match (ours.has_begun, theirs.has_begun) {
            (false, false) => Ok(false),
            _ if ours.id.is_some() && ours.id == theirs.id => Ok(true),
            (is_ours, _) => Err(Error::OtherJob {
                folder: self.path().to_owned(),
                is_ours,
            }),
        }
    }

    /// Returns the protocol to plan with: the job's own if it is resumed, as `auto` might take
    /// another one today.
    ///
    /// # Errors
    /// If this version does not know it.
    pub(crate) fn protocol(&self) -> Result<&'static Protocol, Error> {
        let job = self.folder.job().expect("a job that goes on");
        registry::find(&job.protocol)
            .ok_or_else(|| self.changed(settings::PROTOCOL, &job.protocol, "unknown"))
    }

    /// Checks that a resumed job has this plan.
    ///
    /// # Errors
    /// If it has another one.
    pub(crate) fn check_plan(&self, plan: &Plan) -> Result<(), Error> {
        let job = self.folder.job().expect("a job that goes on");
        let sizes = plan.request().sizes;
        let is = [sizes.sender(), sizes.receiver()];
        if job.items != is {
            let shown = |[sender, receiver]: [u64; 2]| {
                format!("{sender} of the sender, {receiver} of the receiver")
            };
            return Err(self.changed("the numbers of keys", &shown(job.items), &shown(is)));
        }
        let digest = blake3::Hash::from(plan.digest()).to_hex();
        match job.plan == digest.as_str() {
            true => Ok(()),
            false => Err(self.changed("the derived parameters", &job.plan, &digest)),
        }
    }

    fn changed(&self, name: &str, was: &str, is: &str) -> Error {
        let [name, was, is] = [name, was, is].map(str::to_owned);
        let folder = self.path().to_owned();
        FolderError::Changed {
            folder,
            name,
            was,
            is,
        }
        .into()
    }

    /// Starts the job or resumes it, and agrees with the other party on the steps that are done. A
    /// new job is on the disk when this returns.
    ///
    /// # Errors
    /// If the folder or the channel fails, or the other party's message is invalid.
    pub(crate) fn settle(
        &mut self,
        agreement: &Agreement,
        role: Role,
        channel: &mut Channel,
    ) -> Result<(), Error> {
        if !agreement.goes_on {
            self.begin(agreement)?;
        }
        let accounts = self.results().accounts();
        let ours: Vec<_> = accounts.iter().map(Account::to_bytes).collect();
        let mut theirs = vec![[0; ACCOUNT_BYTES]; ours.len()];
        channel
            .exchange(
                |outbound| outbound.send(ours.as_flattened()),
                |inbound| inbound.recv(theirs.as_flattened_mut()),
            )
            .map_err(psijoin::Error::from)?;
        let theirs: Option<Vec<Account>> = theirs.iter().map(Account::from_bytes).collect();
        let theirs = theirs.ok_or(psijoin::Error::Peer(
            "what it told of the steps of the job makes no sense",
        ))?;
        let steps = steps(&agreement.plan, role);
        let folder = || self.path().to_owned();
        let agreed = self.results().agree(&theirs, steps);
        agreed.map_err(|disagreement| match disagreement {
            Disagreement::OtherRun => psijoin::Error::from(ChannelError::PeerDiffers).into(),
            Disagreement::Lost => FolderError::Lost(folder()).into(),
            Disagreement::Io(source) => FolderError::Io {
                folder: folder(),
                source,
            }
            .into(),
        })
    }

    /// Returns how many steps ran more than once, on either side, as far as both have settled.
    pub(crate) fn steps_run_again(&self) -> u32 {
        self.folder.results().map_or(0, Results::run_again)
    }

    fn begin(&mut self, agreement: &Agreement) -> Result<(), Error> {
        let plan = &agreement.plan;
        let sizes = plan.request().sizes;
        let parts = plan.parts().map_or(1, |parts| parts.shape.parts);
        let total = plan.cost().total.total_bytes();
        let a_part = plan
            .parts()
            .map_or(total, |parts| parts.plan.cost().total.total_bytes());
        let begun = Begun {
            program: VERSION,
            terms: self.terms.clone(),
            data: self.data.clone(),
            protocol: plan.info().name,
            plan: plan.digest(),
            items: [sizes.sender(), sizes.receiver()],
            parts,
            steps: parts::steps(plan),
            bytes: [a_part, total - a_part * u64::from(parts)],
            columns: Columns {
                numbers: agreement.columns.kept(),
                given: agreement.given.kept(),
                labels: agreement.groups.kept(),
            },
            joint_seed: &agreement.joint_seed,
            command: &self.command,
        };
        Ok(self.folder.begin(begun)?)
    }

    /// Returns the seed that both parties drew when the job was started: of the items' digests, and
    /// of all runs.
    ///
    /// # Errors
    /// If the folder is damaged.
    pub(crate) fn joint_seed(&self) -> Result<JointSeed, Error> {
        Ok(self.folder.joint_seed()?)
    }

    /// Returns the results of its steps, once it has begun.
    pub(crate) fn results(&self) -> &Results {
        self.folder.results().expect("a job that has begun")
    }

    /// Returns whether all steps are done on this side.
    pub(crate) fn has_all(&self) -> bool {
        let job = self.folder.job();
        job.is_some_and(|job| job.ended.is_none() && self.folder.done() == job.steps)
    }

    /// Returns whether the other party has confirmed that it has all, too.
    pub(crate) fn is_confirmed(&self) -> bool {
        self.folder.job().is_some_and(|job| job.confirmed)
    }

    /// Notes that it has.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub(crate) fn confirm(&mut self) -> Result<(), Error> {
        Ok(self.folder.confirm()?)
    }

    /// Returns whether both parties have signed a record, which this party has written.
    pub(crate) fn is_signed(&self) -> bool {
        self.folder.job().is_some_and(|job| job.signed)
    }

    /// Notes that they have.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub(crate) fn sign(&mut self) -> Result<(), Error> {
        Ok(self.folder.sign()?)
    }

    /// Returns how many steps are.
    pub(crate) fn done(&self) -> u32 {
        self.folder.done()
    }

    /// Returns the numbers of the sender's and the receiver's keys, of a job that has begun.
    pub(crate) fn items(&self) -> [u64; 2] {
        self.folder.job().expect("a job that has begun").items
    }

    /// Returns the columns of numbers of a job that has begun.
    ///
    /// # Errors
    /// If the folder is damaged.
    pub(crate) fn numbers(&self) -> Result<Vec<String>, Error> {
        Ok(self.folder.columns()?.numbers)
    }

    /// Returns the labels of groups of a job that has begun, by columns.
    ///
    /// # Errors
    /// If the folder is damaged.
    pub(crate) fn labels(&self) -> Result<Vec<LabelList>, Error> {
        Ok(self.folder.columns()?.labels)
    }

    /// Checks that a resumed job has these labels.
    ///
    /// # Errors
    /// If it had others.
    pub(crate) fn check_labels(&self, groups: &AgreedGroups) -> Result<(), Error> {
        match self.labels()? == groups.kept() {
            true => Ok(()),
            false => Err(FolderError::ChangedSecret {
                folder: self.path().to_owned(),
                name: "the labels of groups".to_owned(),
            }
            .into()),
        }
    }

    /// Returns the columns that are given in a job that has begun.
    ///
    /// # Errors
    /// If this version cannot read what was kept.
    pub(crate) fn given(&self) -> Result<Given, Error> {
        Given::recalled(&self.folder.columns()?.given)
    }

    /// Checks that a resumed job gives these columns.
    ///
    /// # Errors
    /// If others were.
    pub(crate) fn check_given(&self, given: &Given) -> Result<(), Error> {
        match self.folder.columns()?.given == given.kept() {
            true => Ok(()),
            false => Err(FolderError::ChangedSecret {
                folder: self.path().to_owned(),
                name: setting::JOB_COLUMNS.to_owned(),
            }
            .into()),
        }
    }

    /// Marks the job as ended, and removes its results.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub(crate) fn end(&mut self, ended: Ended) -> Result<(), Error> {
        Ok(self.folder.end(ended)?)
    }
}

impl Subject<'_> {
    fn terms(&self, folder: &Folder) -> Vec<Term> {
        let Question {
            asked,
            min_intersection,
            learners,
            post_quantum,
        } = self.question;
        let without_encryption = || "(without encryption)".to_owned();
        let named = |identity: &Identity| identity.fingerprint().to_string();
        let yes_or_no = |is_so| if is_so { "yes" } else { "no" };
        let text = self.terms.map_or("none".to_owned(), Terms::to_string);
        let noise = |groups: &RequestedGroups| {
            let noise = groups.noise.as_ref();
            noise.map_or("none".to_owned(), |noise| noise.to_string())
        };
        let of_groups = |groups: &RequestedGroups| {
            [
                Term::shown(settings::GROUP_BY, groups.listed()),
                Term::shown(
                    settings::GROUP_LISTS,
                    groups.lists().unwrap_or_else(|| "none".to_owned()),
                ),
                Term::shown(settings::MIN_GROUP, groups.least),
                Term::shown(settings::NOISE, noise(groups)),
            ]
        };
        let mut terms = vec![
            Term::shown("the role", self.role),
            Term::shown(settings::PROTOCOL, self.protocol.info().name),
            // Names of columns may be nobody else's business, but both sides know these.
            Term::shown(settings::OUTPUT, asked),
            Term::shown(settings::LEARNERS, learners),
            Term::shown(setting::JOB_MINIMUM, min_intersection),
            Term::shown(settings::POST_QUANTUM, yes_or_no(*post_quantum)),
            Term::shown(setting::JOB_PEER, &self.peer),
            Term::shown(
                setting::JOB_IDENTITY,
                self.identity.map_or_else(without_encryption, named),
            ),
            Term::shown(settings::TERMS, text),
            Term::shown(settings::RECORD, yes_or_no(self.is_recorded)),
            Term::shown(setting::JOB_BUDGET, yes_or_no(self.is_budgeted)),
            Term::shown(setting::JOB_OUTPUT, &self.written),
            folder.secret(setting::JOB_KEY, |hasher| {
                for column in self.key.columns() {
                    hasher.update(&(column.len() as u64).to_le_bytes());
                    hasher.update(column.as_bytes());
                }
                hasher.update(self.key.normalization().as_bytes());
            }),
            folder.secret(setting::JOB_COLUMNS, |hasher| {
                hasher.update(self.trade.canonical().as_bytes());
            }),
        ];
        terms.extend(asked.groups().into_iter().flat_map(of_groups));
        terms
    }
}

impl fmt::Display for WrittenAs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Written {
            output,
            rows,
            quotes_empty,
            quotes_formulas,
            ..
        } = self.written;
        let name = output.as_deref().and_then(Path::file_name);
        let name = name.map(|name| name.to_string_lossy().to_lowercase());
        // Of a compressed text, both endings.
        let endings = |name: &str| {
            let endings: Vec<String> = name.split('.').skip(1).map(str::to_owned).collect();
            endings[endings.len().saturating_sub(2)..].join(".")
        };
        let ending = name.as_deref().map(endings).unwrap_or_default();
        let aligned = if self.is_aligned { ", aligned" } else { "" };
        write!(f, "{rows}{aligned}, ")?;
        match &*ending {
            "" => f.write_str("in the format of the table")?,
            ending => write!(f, "as .{ending}")?,
        }
        let options = [
            (*quotes_empty, "quoted empty texts"),
            (*quotes_formulas, "quoted formulas"),
        ];
        let options = options.into_iter().filter(|(is_said, _)| *is_said);
        options
            .map(|(_, option)| option)
            .try_for_each(|option| write!(f, ", {option}"))
    }
}

/// Returns what a plan's steps are, for the party in this role.
fn steps(plan: &Plan, role: Role) -> Steps {
    let (parts, of_a_part) = match plan.parts() {
        None => (1, plan.cost()),
        Some(parts) => (parts.shape.parts, parts.plan.cost()),
    };
    let said = match role {
        Role::Sender => of_a_part.total.sender_bytes,
        Role::Receiver => of_a_part.total.receiver_bytes,
    };
    Steps {
        parts,
        speaks: said > 0,
    }
}

/// The job that a party has, and whether any of its steps has begun.
#[derive(Debug, PartialEq, Eq)]
struct Standing {
    id: Option<String>,
    has_begun: bool,
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.id {
            None => f.write_str("none"),
            Some(id) if self.has_begun => write!(f, "{id} begun"),
            Some(id) => write!(f, "{id} agreed"),
        }
    }
}

impl Standing {
    /// Returns what the other party told.
    fn told(peer: &Hello) -> Result<Self, Error> {
        let malformed = || handshake::Error::Malformed("it did not tell which job it has");
        let told = peer.told(STANDING).ok_or_else(malformed)?;
        let (id, has_begun) = match told.split_once(' ') {
            None if told == "none" => (None, false),
            Some((id, "begun")) => (Some(id.to_owned()), true),
            Some((id, "agreed")) => (Some(id.to_owned()), false),
            _ => return Err(malformed().into()),
        };
        Ok(Self { id, has_begun })
    }
}

#[cfg(test)]
mod tests {
    use psijoin::Request;
    use psijoin_table::{Existing, WhichRows};

    use super::*;

    #[test]
    fn a_standing_is_told_and_understood() {
        let peer = |standing: &str| Hello::new(Role::Sender, 1).fact(STANDING, standing);
        for standing in [
            Standing {
                id: None,
                has_begun: false,
            },
            Standing {
                id: Some("00ff".into()),
                has_begun: false,
            },
            Standing {
                id: Some("00ff".into()),
                has_begun: true,
            },
        ] {
            assert_eq!(
                Standing::told(&peer(&standing.to_string())).unwrap(),
                standing
            );
        }
        for wrong in ["", "00ff", "00ff 7", "none begun now"] {
            assert!(Standing::told(&peer(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_written_is_told_by_the_ending() {
        let told = |output: Option<&str>, quotes_empty| {
            let written = Written {
                output: output.map(PathBuf::from),
                existing: Existing::Replace,
                rows: WhichRows::Shared,
                quotes_empty,
                quotes_formulas: false,
            };
            WrittenAs::new(&written, false).to_string()
        };
        assert_eq!(told(None, false), "shared, in the format of the table");
        assert_eq!(told(Some("out.CSV"), false), "shared, as .csv");
        assert_eq!(told(Some("a.b.csv.gz"), false), "shared, as .csv.gz");
        assert_eq!(
            told(Some("a/out"), true),
            "shared, in the format of the table, quoted empty texts"
        );
    }

    #[test]
    fn a_party_that_says_nothing_in_a_part_is_not_needed_for_it() {
        let plan = |name: &str| {
            let protocol = registry::find(name).unwrap();
            let sizes = psijoin_params::Sizes::new(10, 20).unwrap();
            let request = Request::of(sizes, Default::default());
            psijoin::plan(protocol, &request).unwrap()
        };
        assert!(steps(&plan("dh"), Role::Receiver).speaks);
        assert!(!steps(&plan("naive"), Role::Receiver).speaks);
        assert!(steps(&plan("naive"), Role::Sender).speaks);
    }
}
