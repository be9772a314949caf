//! `--job`: what a party keeps, so that a join that broke off goes on.
//!
//! Both parties say in their hellos which job they have, and how many of its steps are done. If nothing is done on
//! either side, a job begins. If both have the same, it goes on: each says which run of each step it has. Steps of
//! which both have the same run are done, and the others run. Anything else is an error on both sides.

use std::{env, path::Path};

use psijoin::{JointSeed, Plan, Protocol, Role, parts, registry};
use psijoin_channel::Channel;
use psijoin_handshake::{self as handshake, Hello};
use psijoin_job::{
    Begun, Ended, Error, Folder, Results, Term,
    results::{NO_RUN, Run},
};
use psijoin_record::Terms;
use psijoin_table::KeySpec;

use crate::{
    exit::Failure,
    question::Question,
    session::{Agreement, Given, Trade},
    settings,
};

/// The fact that tells which job a party has.
const STANDING: &str = "the job";

/// What is given and taken, as errors call it.
const COLUMNS: &str = "the columns that are given or taken (--give, --take)";

/// This program, as jobs know it.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A party's job, which may not have begun.
pub(crate) struct Job {
    folder: Folder,
    terms: Vec<Term>,
}

/// What a job is about, as far as it is known before the table is read.
pub(crate) struct Subject<'a> {
    pub(crate) role: Role,
    pub(crate) protocol: &'a Protocol,
    pub(crate) question: &'a Question,
    pub(crate) terms: Option<&'a Terms>,
    pub(crate) key: &'a KeySpec,
    pub(crate) trade: &'a Trade,
    pub(crate) identity: String,
    pub(crate) peer: String,
}

impl Job {
    /// Opens a folder, or makes one.
    ///
    /// # Errors
    /// If the folder cannot be used, or the job in it is about something else.
    pub(crate) fn open(path: &Path, subject: &Subject<'_>) -> Result<Self, Failure> {
        let folder = Folder::open(path, VERSION)?;
        let terms = subject.terms(&folder);
        folder.check(&terms)?;
        Ok(Self { folder, terms })
    }

    /// How the job ended, if it has.
    pub(crate) fn ended(&self) -> Option<Ended> {
        self.folder.job().and_then(|job| job.ended)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Notes which table the job is about: its [identity](crate::session::Table::identity).
    ///
    /// # Errors
    /// If it was begun with another one.
    pub(crate) fn is_about(&mut self, table: blake3::Hash) -> Result<(), Failure> {
        self.is_of("a table (its keys, their order, and its numbers)", table)
    }

    /// Notes which values are given in columns.
    ///
    /// # Errors
    /// If it was begun with others.
    pub(crate) fn gives(&mut self, values: blake3::Hash) -> Result<(), Failure> {
        self.is_of("the values of the columns that are given", values)
    }

    /// Notes something of this party's that must stay the same, by a hash.
    fn is_of(&mut self, name: &str, hash: blake3::Hash) -> Result<(), Failure> {
        let term = self.folder.secret(name, |hasher| {
            hasher.update(hash.as_bytes());
        });
        self.terms.retain(|term| term.name != name);
        self.terms.push(term);
        Ok(self.folder.check(&self.terms)?)
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
            done: self.folder.done(),
        }
    }

    /// Whether the job goes on; otherwise it begins.
    ///
    /// # Errors
    /// [`Failure::OtherJob`] if one party has done steps of a job that the other does not have.
    pub(crate) fn goes_on(&self, peer: &Hello) -> Result<bool, Failure> {
        let ours = self.standing();
        let theirs = Standing::told(peer)?;
        match (ours.done, theirs.done) {
            (0, 0) => Ok(false),
            _ if ours.id.is_some() && ours.id == theirs.id => Ok(true),
            (done, _) => Err(Failure::OtherJob {
                folder: self.path().to_owned(),
                is_ours: done > 0,
            }),
        }
    }

    /// The protocol to plan with: that of the job if it goes on, as `auto` might take another one today.
    ///
    /// # Errors
    /// If this version does not know it.
    pub(crate) fn protocol(&self) -> Result<&'static Protocol, Failure> {
        let job = self.folder.job().expect("a job that goes on");
        registry::find(&job.protocol)
            .ok_or_else(|| self.changed("the protocol", &job.protocol, "unknown"))
    }

    /// Checks that a job that goes on has this plan.
    ///
    /// # Errors
    /// If it has another one.
    pub(crate) fn check_plan(&self, plan: &Plan) -> Result<(), Failure> {
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

    fn changed(&self, name: &str, was: &str, is: &str) -> Failure {
        let [name, was, is] = [name, was, is].map(str::to_owned);
        let folder = self.path().to_owned();
        Error::Changed {
            folder,
            name,
            was,
            is,
        }
        .into()
    }

    /// Begins the job or goes on with it, and agrees with the other party on which steps are done. A job that
    /// begins is on the disk when this returns.
    ///
    /// # Errors
    /// If the folder or the channel fails, or the other party says what makes no sense.
    pub(crate) fn settle(
        &mut self,
        agreement: &Agreement,
        channel: &mut Channel,
    ) -> Result<(), Failure> {
        if !agreement.goes_on {
            self.begin(agreement)?;
        }
        let plan = &agreement.plan;
        let ours = self.results().runs();
        let mut theirs = vec![NO_RUN; ours.len()];
        channel
            .exchange(
                |outbound| outbound.send(ours.as_flattened()),
                |inbound| inbound.recv(theirs.as_flattened_mut()),
            )
            .map_err(psijoin::Error::from)?;
        let done = done_by_both(&ours, &theirs, plan);
        let is_done = |step: u32| done[step as usize];
        self.results().attempt(&agreement.joint_seed, is_done);
        Ok(())
    }

    fn begin(&mut self, agreement: &Agreement) -> Result<(), Failure> {
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
            protocol: plan.info().name,
            plan: plan.digest(),
            items: [sizes.sender(), sizes.receiver()],
            parts,
            steps: parts::steps(plan),
            bytes: [a_part, total - a_part * u64::from(parts)],
            columns: agreement.columns.kept(),
            given: agreement.given.kept(),
            joint_seed: &agreement.joint_seed,
            command: &command(),
        };
        Ok(self.folder.begin(begun)?)
    }

    /// The seed that the items are digested under.
    ///
    /// # Errors
    /// If the folder is damaged.
    pub(crate) fn joint_seed(&self) -> Result<JointSeed, Failure> {
        Ok(self.folder.joint_seed()?)
    }

    /// What its steps gave, once it has begun.
    pub(crate) fn results(&self) -> &Results {
        self.folder.results().expect("a job that has begun")
    }

    /// Whether all steps are done on this side.
    pub(crate) fn has_all(&self) -> bool {
        let job = self.folder.job();
        job.is_some_and(|job| job.ended.is_none() && self.folder.done() == job.steps)
    }

    /// Whether the other party has confirmed that it has all, too.
    pub(crate) fn is_confirmed(&self) -> bool {
        self.folder.job().is_some_and(|job| job.confirmed)
    }

    /// Notes that it has.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub(crate) fn confirm(&mut self) -> Result<(), Failure> {
        Ok(self.folder.confirm()?)
    }

    /// Whether both parties have signed a record, which this party has written.
    pub(crate) fn is_signed(&self) -> bool {
        self.folder.job().is_some_and(|job| job.signed)
    }

    /// Notes that they have.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub(crate) fn sign(&mut self) -> Result<(), Failure> {
        Ok(self.folder.sign()?)
    }

    /// How many steps are.
    pub(crate) fn done(&self) -> u32 {
        self.folder.done()
    }

    /// How many keys the sender and the receiver have, of a job that has begun, and the columns of numbers.
    pub(crate) fn known(&self) -> ([u64; 2], &[String]) {
        let job = self.folder.job().expect("a job that has begun");
        (job.items, &job.columns)
    }

    /// The columns that are given in a job that has begun.
    ///
    /// # Errors
    /// If this version cannot read what was kept.
    pub(crate) fn given(&self) -> Result<Given, Failure> {
        let job = self.folder.job().expect("a job that has begun");
        Given::recalled(&job.given)
    }

    /// Checks that in a job that goes on these columns are given.
    ///
    /// # Errors
    /// If others were.
    pub(crate) fn check_given(&self, given: &Given) -> Result<(), Failure> {
        let job = self.folder.job().expect("a job that goes on");
        match job.given == given.kept() {
            true => Ok(()),
            false => Err(Error::ChangedSecret {
                folder: self.path().to_owned(),
                name: COLUMNS.to_owned(),
            }
            .into()),
        }
    }

    /// Marks the job as ended, and removes its results.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub(crate) fn end(&mut self, ended: Ended) -> Result<(), Failure> {
        Ok(self.folder.end(ended)?)
    }
}

impl Subject<'_> {
    fn terms(&self, folder: &Folder) -> Vec<Term> {
        let Question {
            asked,
            min_intersection,
            learners,
        } = self.question;
        let mut terms = vec![
            Term::shown("the role", self.role),
            Term::shown(settings::PROTOCOL, self.protocol.info().name),
            // Names of columns may be nobody else's business, but both sides know these.
            Term::shown(settings::OUTPUT, asked),
            Term::shown(settings::LEARNERS, learners),
            Term::shown("the minimum (--min-intersection)", min_intersection),
            Term::shown("the other party", &self.peer),
            Term::shown("the identity", &self.identity),
            folder.secret("a key (--key, --normalize)", |hasher| {
                for column in self.key.columns() {
                    hasher.update(&(column.len() as u64).to_le_bytes());
                    hasher.update(column.as_bytes());
                }
                hasher.update(self.key.normalization().as_bytes());
            }),
            folder.secret(COLUMNS, |hasher| {
                hasher.update(self.trade.canonical().as_bytes());
            }),
        ];
        terms.extend(self.terms.map(|text| Term::shown(settings::TERMS, text)));
        terms
    }
}

/// Which job a party has, and how many of its steps are done.
#[derive(Debug, PartialEq, Eq)]
struct Standing {
    id: Option<String>,
    done: u32,
}

impl std::fmt::Display for Standing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.id {
            None => f.write_str("none"),
            Some(id) => write!(f, "{id} {}", self.done),
        }
    }
}

impl Standing {
    /// What the other party told.
    fn told(peer: &Hello) -> Result<Self, Failure> {
        let malformed = || handshake::Error::Malformed("it did not tell which job it has");
        let told = peer.told(STANDING).ok_or_else(malformed)?;
        if told == "none" {
            return Ok(Self { id: None, done: 0 });
        }
        let (id, done) = told.split_once(' ').ok_or_else(malformed)?;
        Ok(Self {
            id: Some(id.to_owned()),
            done: done.parse().map_err(|_| malformed())?,
        })
    }
}

/// The steps of which both have the same run. What was opened was opened of all parts, so it is done only if they
/// are.
fn done_by_both(ours: &[Run], theirs: &[Run], plan: &Plan) -> Vec<bool> {
    let both = ours.iter().zip(theirs);
    let mut done: Vec<bool> = both
        .map(|(ours, theirs)| ours == theirs && *ours != NO_RUN)
        .collect();
    let parts = plan.parts().map_or(1, |parts| parts.shape.parts);
    let (parts, opened) = done.split_at_mut(parts as usize);
    let are_done = parts.iter().all(|part| *part);
    opened.iter_mut().for_each(|opened| *opened &= are_done);
    done
}

/// The command that this process was started by, as it would be typed.
fn command() -> String {
    let words = env::args_os().map(|word| {
        let word = word.to_string_lossy();
        let is_plain = |c: char| c.is_alphanumeric() || "-_./:,=+%^".contains(c);
        match !word.is_empty() && word.chars().all(is_plain) {
            true => word.into_owned(),
            false => format!("'{}'", word.replace('\'', r"'\''")),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use psijoin::{OutputKind, Request};
    use psijoin_job::results::RUN_BYTES;

    use super::*;

    #[test]
    fn a_standing_is_told_and_understood() {
        let peer = |standing: &str| Hello::new(handshake::Role::Sender, 1).fact(STANDING, standing);
        for standing in [
            Standing { id: None, done: 0 },
            Standing {
                id: Some("00ff".into()),
                done: 7,
            },
        ] {
            assert_eq!(
                Standing::told(&peer(&standing.to_string())).unwrap(),
                standing
            );
        }
        for wrong in ["", "00ff", "00ff -1", "00ff 1 2"] {
            assert!(Standing::told(&peer(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_opened_is_opened_of_all_parts() {
        let protocol = registry::find("rr22-circuit").unwrap();
        let request = Request::rows(100, 100).unwrap().output(OutputKind::Count);
        let plan = parts::in_parts(protocol, &request, 3).unwrap();
        let runs = |of: [u8; 4]| of.map(|run| [run; RUN_BYTES]);
        let done = |ours, theirs| done_by_both(&runs(ours), &runs(theirs), &plan);
        assert_eq!(done([1, 1, 2, 3], [1, 1, 2, 3]), [true; 4]);
        assert_eq!(done([1, 1, 2, 3], [1, 1, 2, 0]), [true, true, true, false]);
        assert_eq!(done([1, 1, 0, 3], [1, 1, 0, 3]), [true, true, false, false]);
        // Of other runs of one part.
        assert_eq!(done([1, 1, 2, 3], [1, 2, 2, 3]), [true, false, true, false]);
    }
}
