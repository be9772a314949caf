//! A party, as the other one meets it: what it asks for, and what it lets the other one do. It
//! knows no table.

use std::{num::NonZeroU32, path::PathBuf, sync::Arc};

use psijoin::{Protocol, Role};
use psijoin_handshake::Versions;
use psijoin_record::Terms;
use psijoin_source::Doubt;
use psijoin_table::{KeySpec, share::RepeatedKeys};
use psijoin_transport::{Connection, PublicKey};
use zeroize::Zeroizing;

use crate::{
    Attempt, Error, Watcher,
    agreement::Agreement,
    budget::{Answer, Budget, Disclosed},
    event::{Event, Warning, Work, waiting},
    fault::SpecFault,
    job::Job,
    limits::MaxPeerKeys,
    question::{Learners, Question},
    recording::Recording,
    requested_output::RequestedOutput,
    spending::Spending,
    trade::Trade,
};

/// A party of a join.
pub(crate) struct Party<'a> {
    /// The role of the party.
    pub(crate) role: Role,
    /// The protocol that it runs.
    pub(crate) protocol: &'static Protocol,
    /// The output that it asks for.
    pub(crate) question: Question,
    /// Limits on the other party.
    pub(crate) consent: Consent,
    /// A text that both agree to.
    pub(crate) terms: Option<Terms>,
    /// The budget from which the answer is taken.
    pub(crate) budget: Option<OwnBudget>,
    /// The record that is to be signed.
    pub(crate) recording: Option<Arc<Recording>>,
    /// The key of its table.
    pub(crate) key: KeySpec,
    /// The columns that it gives and takes.
    pub(crate) trade: Trade,
    /// The treatment of its rows that repeat a key, if both write rows in a common order.
    pub(crate) aligned: Option<RepeatedKeys>,
    /// The extent of the session.
    pub(crate) mode: Mode,
    /// The number of parts, if that does not follow from the sizes.
    pub(crate) parts: Option<u32>,
    /// The versions of the session that it speaks.
    pub(crate) versions: Versions,
    /// The number of lanes that it runs, if its table lies elsewhere.
    pub(crate) lanes: Option<NonZeroU32>,
    /// The attempt that this is, if it makes more of them when lanes are lost.
    pub(crate) attempt: Option<Attempt>,
    /// The number of threads that the other party is told.
    pub(crate) threads: usize,
    /// The bytes of memory for one run, if the user has set a limit for everything.
    pub(crate) of_one_run: Option<u64>,
    /// Hears what happens.
    pub(crate) watcher: &'a dyn Watcher,
}

/// The budget of a party.
pub(crate) struct OwnBudget {
    /// The file.
    pub(crate) path: PathBuf,
    /// The name by which the other party is known.
    pub(crate) name: Option<String>,
    /// What keys are told apart by, if groups have to differ. The party's own.
    pub(crate) secret: Zeroizing<[u8; 32]>,
}

/// Limits of one party on what the other may do.
#[derive(Debug, Clone, Copy, Default)]
pub struct Consent {
    /// The largest set that the other party may have.
    pub max_peer_keys: MaxPeerKeys,
    /// Allows a sum of the receiver's columns, which can reveal keys.
    pub receiver_sums: bool,
    /// Refuses keys that differ in kind, or are doubtful.
    pub strict: bool,
}

/// The extent of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// To the result.
    Join,
    /// Until both parties have agreed.
    Check,
}

impl Party<'_> {
    /// Checks that whoever records the connection will not read it, if nothing is to rest on what a
    /// quantum computer is known to break. Without TLS, anybody reads it as it is.
    ///
    /// # Errors
    /// [`Error::KeyExchange`].
    pub(crate) fn check_key_exchange(&self, connection: &Connection) -> Result<(), Error> {
        match connection.key_exchange() {
            Some(exchange) if self.question.post_quantum && !exchange.is_post_quantum() => {
                Err(Error::KeyExchange(exchange))
            }
            _ => Ok(()),
        }
    }

    /// Takes the answer from the budget, if there is one, in the session of this name: [at once, or
    /// in a step of the job](crate::spending). An answer that follows from the sizes costs nothing.
    /// If groups have to differ from those of earlier answers, `disclosed` tells the groups of this
    /// one, by a secret and the least change.
    ///
    /// # Errors
    /// [`Error::Budget`], and that of `disclosed`.
    pub(crate) fn spend(
        &self,
        partner: Option<PublicKey>,
        agreement: &Agreement,
        session: String,
        job: Option<&Job>,
        disclosed: impl FnOnce(&Zeroizing<[u8; 32]>, u32) -> Result<Disclosed, Error>,
    ) -> Result<Option<Spending>, Error> {
        let Some(OwnBudget { path, name, secret }) = &self.budget else {
            return Ok(None);
        };
        if agreement.plan.request().is_decided() {
            return Ok(None);
        }
        let partner = partner.ok_or(SpecFault::BudgetWithoutIdentities)?;
        let partner = partner.fingerprint();
        let epsilon = agreement.noise.as_ref().map(|noise| noise.total);
        let mut answer = Answer::now(partner, name.clone(), epsilon, session);
        if let Some(least) = Budget::read(path)?.limits.least_change {
            answer.disclosed = Some(disclosed(secret, least)?);
        }
        Ok(Some(match job {
            None => Spending::at_once(path, answer)?,
            Some(job) => Spending::of_job(path, answer, job.results())?,
        }))
    }

    /// Warns of what is doubtful about a table, which is called so.
    ///
    /// # Errors
    /// [`Error::DoubtfulTable`] if something is, and the user is strict.
    pub(crate) fn doubt(&self, name: &str, doubts: &[Doubt]) -> Result<(), Error> {
        let doubts = doubts.iter().map(|doubt| Warning::Doubtful { name, doubt });
        self.warn_of(doubts, Error::DoubtfulTable)
    }

    /// Tells the user all of these warnings. The error is for those who are strict.
    pub(crate) fn warn_of<'w>(
        &self,
        warnings: impl Iterator<Item = Warning<'w>>,
        error: Error,
    ) -> Result<(), Error> {
        let count = warnings.map(|warning| self.warn(warning)).count();
        match self.consent.strict && count > 0 {
            true => Err(error),
            false => Ok(()),
        }
    }

    /// Tells the user a warning.
    pub(crate) fn warn(&self, warning: Warning<'_>) {
        self.watcher.hear(Event::Warning(warning));
    }

    /// Ends the session.
    ///
    /// A party that helps waits for the other to confirm that it has all, unless it has a receipt.
    /// Shares are useful only if both have theirs, so both wait. Whoever has its result after the
    /// last message has it whatever the other does: the receiver, or the sender if it learns, too.
    pub(crate) fn leave(&self, connection: Connection, has_receipt: bool) -> Result<(), Error> {
        if self.learns_last() {
            return Ok(());
        }
        match (self.wait_for_end(connection), has_receipt) {
            (_, true) => Ok(()),
            (ended, false) => ended,
        }
    }

    /// Ends the session of a side whose table lies elsewhere. `comes_again` if both sides meet
    /// again should a lane be lost.
    ///
    /// The other side may lose one that has answered, but not reported. So whoever has its result
    /// waits, too. It has that whatever the other side does but meet again.
    pub(crate) fn leave_elsewhere(
        &self,
        connection: Connection,
        comes_again: bool,
    ) -> Result<(), Error> {
        if !(self.learns_last() && comes_again) {
            return self.leave(connection, false);
        }
        match self.wait_for_end(connection) {
            Err(error) if error.is_lane_lost() => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns whether this party has its result after the last message, alone.
    fn learns_last(&self) -> bool {
        let learns_last = match self.question.learners {
            Learners::Receiver => Role::Receiver,
            Learners::Both => Role::Sender,
        };
        let gets_shares = matches!(self.question.asked, RequestedOutput::Shares(_));
        self.role == learns_last && !gets_shares
    }

    fn wait_for_end(&self, connection: Connection) -> Result<(), Error> {
        Ok(waiting(self.watcher, Work::WaitingForEnd, || {
            connection.finish()
        })?)
    }
}
