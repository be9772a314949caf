//! A sender's budget for its answers about a table: how much each partner may have.
//!
//! It is a file of the owner alone, which only grows. Its first line has the limits, and each
//! further one an answer. A line is on the disk before anything of the answer is sent, so a process
//! that is killed has spent too much rather than too little. A line without an end was never
//! answered: the next answer takes its place. Whoever reads and writes holds the file's lock.
//!
//! If groups have to differ from those of earlier answers, each answer has a [sketch](sketch) of
//! the sender's keys in each group, whose elements nobody can tell from keys without a secret of
//! the sender's identity.
//!
//! A file stands for one table, as only its owner knows which files are one: paths and contents
//! change with each export. Within it, answers are added up by partner. A partner is known by its
//! key, and by the name under which it may replace that: all keys and names that stand together in
//! an answer are one partner.

use std::{
    collections::HashSet,
    io::{self, ErrorKind::InvalidData},
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use psijoin_printable::humanize;
use psijoin_transport::Fingerprint;

use crate::{epsilon::Epsilon, recording::clock};

mod disclosed;
mod file;
mod sketch;

pub use disclosed::Disclosed;
pub(crate) use disclosed::Grouper;
use file::BudgetFile;

/// The limits of a budget, for each partner. There is one at least.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// The privacy loss of all answers together. Answers without noise are refused then.
    pub epsilon: Option<Epsilon>,
    /// The number of answers.
    pub answers: Option<u64>,
    /// The fewest of the sender's keys, or of their numbers, by which a group of an answer differs
    /// from those of earlier ones, unless it is one of them.
    pub least_change: Option<u32>,
}

/// An answer that a partner got, or may have got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The partner's key.
    pub partner: Fingerprint,
    /// The name by which it was called, if it was.
    pub name: Option<String>,
    /// Its privacy loss; `None` if it had no noise.
    pub epsilon: Option<Epsilon>,
    /// The name of the session.
    pub session: String,
    /// The name of its draw of noise, if a job keeps that.
    pub draw: Option<String>,
    /// When it was spent (RFC 3339, universal time).
    pub at: String,
    /// The groups that it is about, if these have to [differ](Limits::least_change).
    pub disclosed: Option<Disclosed>,
}

/// All that a budget holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// Its limits.
    pub limits: Limits,
    /// The answers, in their order.
    pub answers: Vec<Answer>,
}

/// The part of a budget that a partner has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Balance {
    /// The limits.
    pub limits: Limits,
    /// The privacy loss of the partner's answers.
    pub spent: Epsilon,
    /// Their number.
    pub answers: u64,
}

/// The reason that a budget does not allow an answer, or cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BudgetError {
    /// The file cannot be used.
    #[error("cannot use the budget {}: {source}", psijoin_printable::path(path))]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The answer's loss is more than what is left.
    #[error(
        "this answer would cost ε = {cost}, and the budget has ε = {left} left for this partner, of \
         {limit}; nothing was done"
    )]
    Epsilon {
        /// Its loss.
        cost: Epsilon,
        /// The loss that is left.
        left: Epsilon,
        /// The limit.
        limit: Epsilon,
    },
    /// The partner has had all answers.
    #[error(
        "this partner has had all of the {} that the budget allows; nothing was done",
        humanize::counted(*.0, "answer")
    )]
    Answers(u64),
    /// The budget limits privacy losses, and the answer has no noise.
    #[error(
        "the budget is of ε, and an answer without noise has none that is finite; nothing was done"
    )]
    Exact,
    /// A group is too much like one of an earlier answer.
    #[error(
        "a group of this question and one of an earlier answer to this partner differ in fewer than \
         {} of this side's table, or in their numbers: the difference would tell about these; \
         nothing was done",
        humanize::counted((*.0).into(), "key")
    )]
    TooLike(u32),
    /// The earlier answers cannot be compared.
    #[error(
        "the earlier answers of the budget were given by another identity, so that their groups \
         cannot be compared with these; nothing was done"
    )]
    OtherIdentity,
}

impl BudgetError {
    /// Returns whether the budget forbids the answer; otherwise its file cannot be used.
    pub fn is_refusal(&self) -> bool {
        !matches!(self, Self::File { .. })
    }
}

impl Budget {
    /// Makes the file of a budget. Nothing is spent.
    ///
    /// # Errors
    /// If there is such a file, or it cannot be written.
    pub fn create(path: &Path, limits: Limits) -> Result<(), BudgetError> {
        file::create(path, limits).map_err(of_file(path))
    }

    /// Reads a budget.
    ///
    /// # Errors
    /// If the file cannot be read, is not its owner's alone, or is damaged.
    pub fn read(path: &Path) -> Result<Self, BudgetError> {
        let read = || BudgetFile::open(path)?.read();
        read().map_err(of_file(path))
    }

    /// Spends an answer, unless the budget does not allow it, and returns the partner's balance
    /// then. When this returns, it is on the disk. An answer of a session that was spent before is
    /// the same one, unless its noise was drawn anew.
    ///
    /// # Errors
    /// As [`read`](Self::read), if it cannot be written, and if the budget does not allow it.
    pub(crate) fn spend(path: &Path, answer: Answer) -> Result<Balance, BudgetError> {
        let failed = of_file(path);
        let mut file = BudgetFile::open(path).map_err(&failed)?;
        let mut budget = file.read().map_err(&failed)?;
        if !budget.has(&answer) {
            budget.allow(&answer)?;
            file.append(&answer).map_err(&failed)?;
            budget.answers.push(answer.clone());
        }
        Ok(budget.balance(&answer))
    }

    /// Returns whether an answer was spent.
    fn has(&self, answer: &Answer) -> bool {
        let of = |answer: &Answer| (answer.partner, answer.session.clone(), answer.draw.clone());
        self.answers.iter().any(|known| of(known) == of(answer))
    }

    /// Checks that the budget allows an answer, if it was not spent.
    ///
    /// # Errors
    /// If it does not.
    pub(crate) fn allow(&self, answer: &Answer) -> Result<(), BudgetError> {
        match self.has(answer) {
            true => Ok(()),
            false => {
                self.balance(answer).check(answer.epsilon)?;
                self.check_change(answer)
            }
        }
    }

    /// Checks that the groups of an answer differ enough from those of earlier ones.
    fn check_change(&self, answer: &Answer) -> Result<(), BudgetError> {
        let Some((least, own)) = self.limits.least_change.zip(answer.disclosed.as_ref()) else {
            return Ok(());
        };
        let earlier = self
            .of_partner(answer)
            .filter_map(|it| it.disclosed.as_ref());
        for earlier in earlier {
            if !own.is_comparable(earlier) {
                return Err(BudgetError::OtherIdentity);
            }
            if own.is_too_like(earlier) {
                return Err(BudgetError::TooLike(least));
            }
        }
        Ok(())
    }

    /// Returns the balance of the partner that gets this answer, without it unless it was spent.
    pub(crate) fn balance(&self, of: &Answer) -> Balance {
        let mut balance = Balance {
            limits: self.limits,
            spent: Epsilon::default(),
            answers: 0,
        };
        for answer in self.of_partner(of) {
            balance.answers += 1;
            let spent = balance.spent.plus(answer.epsilon.unwrap_or_default());
            balance.spent = spent.unwrap_or(Epsilon::MAX);
        }
        balance
    }

    /// Returns all answers of the partner that gets this one.
    fn of_partner<'a>(&'a self, of: &'a Answer) -> impl Iterator<Item = &'a Answer> {
        let mut keys = HashSet::from([of.partner]);
        let mut names: HashSet<&String> = of.name.iter().collect();
        loop {
            let known = keys.len() + names.len();
            for answer in &self.answers {
                let is_called_so = (answer.name.iter()).any(|name| names.contains(name));
                if is_called_so || keys.contains(&answer.partner) {
                    keys.insert(answer.partner);
                    names.extend(&answer.name);
                }
            }
            if keys.len() + names.len() == known {
                break;
            }
        }
        let answers = self.answers.iter();
        answers.filter(move |answer| keys.contains(&answer.partner))
    }

    /// Returns the partners that have had answers, each with the key and name of its last one, and
    /// its balance.
    pub fn partners(&self) -> Vec<(&Answer, Balance)> {
        let mut partners: Vec<(&Answer, Balance)> = Vec::new();
        for answer in self.answers.iter().rev() {
            let is_same = |known: &&Answer| self.of_partner(known).any(|it| it == answer);
            if !partners.iter().any(|(known, _)| is_same(known)) {
                partners.push((answer, self.balance(answer)));
            }
        }
        partners.reverse();
        partners
    }
}

impl Balance {
    /// Returns the privacy loss that is left, if that is limited.
    pub fn epsilon_left(&self) -> Option<Epsilon> {
        let limit = self.limits.epsilon?;
        Some(limit.minus(self.spent).unwrap_or_default())
    }

    /// Returns the number of answers that are left, if that is limited.
    pub fn answers_left(&self) -> Option<u64> {
        Some(self.limits.answers?.saturating_sub(self.answers))
    }

    /// Checks that there is enough left for an answer of this loss.
    fn check(&self, cost: Option<Epsilon>) -> Result<(), BudgetError> {
        if self.answers_left() == Some(0) {
            return Err(BudgetError::Answers(
                self.limits.answers.unwrap_or_default(),
            ));
        }
        match (self.limits.epsilon.zip(self.epsilon_left()), cost) {
            (Some(_), None) => Err(BudgetError::Exact),
            (Some((limit, left)), Some(cost)) if cost > left => {
                Err(BudgetError::Epsilon { cost, left, limit })
            }
            _ => Ok(()),
        }
    }
}

impl Answer {
    /// Returns an answer of this moment.
    pub(crate) fn now(
        partner: Fingerprint,
        name: Option<String>,
        epsilon: Option<Epsilon>,
        session: String,
    ) -> Self {
        Self {
            partner,
            name,
            epsilon,
            session,
            draw: None,
            at: clock(Timestamp::now()),
            disclosed: None,
        }
    }
}

fn of_file(path: &Path) -> impl Fn(io::Error) -> BudgetError {
    let path = path.to_owned();
    move |source| BudgetError::File {
        path: path.clone(),
        source,
    }
}

/// Returns the error of a file that holds something else.
fn damaged(line: usize) -> io::Error {
    io::Error::new(InvalidData, format!("line {line} is none of a budget"))
}

#[cfg(test)]
mod tests;
