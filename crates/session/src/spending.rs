//! The moment at which an answer is taken from a budget.
//!
//! Without a job, that is before the protocol runs. A job spends when the step begins that answers:
//! the first one that runs, or, if the answer has noise, the one that adds it, as the shares of the
//! parts before it tell nothing. By then the job's folder has the step's seed and its noise, so the
//! job can only go on from there, and nothing of the step has been said. Whoever is killed in
//! between spends when the job goes on; whoever is killed later finds the answer spent. An answer
//! is known by its session and by the draw of its noise: a folder that has lost its draw, such as
//! an old copy, draws anew, and that is another answer.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard},
};

use psijoin::{
    Error as PsiError, Ledger, Output,
    ledger::{Attempt, RunName},
};
use psijoin_job::Results;

use crate::{
    Error,
    budget::{Answer, Balance, Budget, BudgetError},
};

/// An answer, and the budget from which it is taken.
pub(crate) struct Spending {
    path: PathBuf,
    answer: Answer,
    state: Mutex<State>,
}

struct State {
    /// Whether this process has made sure that it is spent.
    is_spent: bool,
    /// The other party's balance.
    balance: Balance,
}

impl Spending {
    /// Spends an answer without a job. When this returns, that is on the disk.
    ///
    /// # Errors
    /// As [`Budget::spend`].
    pub(crate) fn at_once(path: &Path, answer: Answer) -> Result<Self, BudgetError> {
        let balance = Budget::spend(path, answer.clone())?;
        Ok(Self::new(path, answer, balance, true))
    }

    /// Returns what spends the answer of a job, if the budget allows it.
    ///
    /// # Errors
    /// As [`Budget::read`], and if it does not.
    pub(crate) fn of_job(
        path: &Path,
        mut answer: Answer,
        results: &Results,
    ) -> Result<Self, BudgetError> {
        answer.draw = results.draw();
        let budget = Budget::read(path)?;
        budget.allow(&answer)?;
        let balance = budget.balance(&answer);
        Ok(Self::new(path, answer, balance, false))
    }

    fn new(path: &Path, answer: Answer, balance: Balance, is_spent: bool) -> Self {
        Self {
            path: path.to_owned(),
            answer,
            state: Mutex::new(State { is_spent, balance }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it spends")
    }

    /// Returns the other party's balance.
    pub(crate) fn balance(&self) -> Balance {
        self.state().balance
    }

    /// Returns whether the answer has noise.
    fn has_noise(&self) -> bool {
        self.answer.epsilon.is_some()
    }

    /// Makes sure that the answer with this draw of noise is spent. Steps that begin at the same
    /// time wait for that.
    fn spend(&self, draw: Option<String>) -> Result<(), BudgetError> {
        let state = &mut *self.state();
        if !state.is_spent {
            let answer = Answer {
                draw,
                ..self.answer.clone()
            };
            state.balance = Budget::spend(&self.path, answer)?;
            state.is_spent = true;
        }
        Ok(())
    }
}

/// The results of a job that spends its answer.
pub(crate) struct Spends<'a> {
    pub(crate) results: &'a Results,
    pub(crate) spending: &'a Spending,
}

impl Spends<'_> {
    /// Returns why a step could not begin, if that was the budget's fault.
    pub(crate) fn refusal(error: Error) -> Error {
        match error {
            Error::Psi(PsiError::Ledger(source)) => match source.downcast::<BudgetError>() {
                Ok(refused) => refused.into(),
                Err(source) => PsiError::Ledger(source).into(),
            },
            error => error,
        }
    }
}

impl Ledger for Spends<'_> {
    fn has(&self, step: u32) -> bool {
        self.results.has(step)
    }

    fn output(&self, step: u32) -> Result<Output, PsiError> {
        self.results.output(step)
    }

    fn begin(&self, step: u32, noise: &[u64]) -> Result<Attempt, PsiError> {
        let attempt = self.results.begin(step, noise)?;
        let answers = self.spending.has_noise() != attempt.noise.is_empty();
        if answers {
            let spent = self.spending.spend(self.results.draw());
            spent.map_err(|error| PsiError::Ledger(io::Error::other(error)))?;
        }
        Ok(attempt)
    }

    fn keep(&self, step: u32, output: Option<&Output>, run: RunName) -> Result<(), PsiError> {
        self.results.keep(step, output, run)
    }
}

#[cfg(test)]
mod tests;
