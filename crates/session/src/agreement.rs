//! What both parties have agreed on.

use psijoin::{JointSeed, Ledger, Plan, parts::Remaining};
use psijoin_record::Document;
use psijoin_transport::{Lanes, Timeouts};

use crate::{
    Attempt, Error,
    columns::AgreedColumns,
    labels::AgreedGroups,
    lanes::{LaneTerms, Ways},
    noise::AgreedNoise,
    trade::Given,
};

/// The agreement of both parties.
pub(crate) struct Agreement {
    pub(crate) plan: Plan,
    /// How they run its parts.
    pub(crate) lanes: LaneTerms,
    pub(crate) columns: AgreedColumns,
    pub(crate) groups: AgreedGroups,
    /// The noise in their totals, if there is some.
    pub(crate) noise: Option<AgreedNoise>,
    /// The columns that are given.
    pub(crate) given: Given,
    /// Fresh for each meeting.
    pub(crate) joint_seed: JointSeed,
    /// The content of the record, if one is to be signed.
    pub(crate) document: Option<Document>,
    pub(crate) peer_only_checks: bool,
    /// The attempt in which both meet again if a lane is lost.
    pub(crate) next_attempt: Option<Attempt>,
    /// `true` if a job is resumed.
    pub(crate) goes_on: bool,
}

impl Agreement {
    /// Returns over what it runs. A plan that is not in parts is one conversation.
    pub(crate) fn ways(&self, remaining: Remaining<'_>) -> Ways {
        match self.plan.parts() {
            None => Ways::Meeting,
            Some(_) => self.lanes.ways(remaining.runs()),
        }
    }

    /// Returns the lanes of the session, if there are so many.
    ///
    /// # Errors
    /// If the other side did not tell the key of its own.
    pub(crate) fn lanes(&self, count: u32, timeouts: Timeouts) -> Result<Lanes, Error> {
        Ok(Lanes {
            count,
            joint_seed: self.joint_seed,
            keys: self.lanes.keys()?,
            wait: self.lanes.wait(timeouts),
            are_elsewhere: self.lanes.are_elsewhere(),
        })
    }

    /// Returns what is still to run, if this was done before.
    pub(crate) fn remaining<'a>(&'a self, ledger: Option<&dyn Ledger>) -> Remaining<'a> {
        match ledger {
            None => Remaining::all(&self.plan),
            Some(ledger) => Remaining::after(&self.plan, ledger),
        }
    }
}
