//! What both parties have agreed on.

use psijoin::{JointSeed, Ledger, Plan, parts::Remaining};
use psijoin_record::Document;

use crate::{columns::AgreedColumns, trade::Given};

/// The agreement of both parties.
pub(crate) struct Agreement {
    pub(crate) plan: Plan,
    /// With how many threads each side computes.
    pub(crate) threads: [usize; 2],
    pub(crate) columns: AgreedColumns,
    /// The columns that are given.
    pub(crate) given: Given,
    /// Fresh for each meeting.
    pub(crate) joint_seed: JointSeed,
    /// The content of the record, if one is to be signed.
    pub(crate) document: Option<Document>,
    pub(crate) peer_only_checks: bool,
    /// `true` if a job is resumed.
    pub(crate) goes_on: bool,
}

impl Agreement {
    /// Returns what is still to run, if this was done before.
    pub(crate) fn remaining<'a>(&'a self, ledger: Option<&dyn Ledger>) -> Remaining<'a> {
        match ledger {
            None => Remaining::all(&self.plan),
            Some(ledger) => Remaining::after(&self.plan, ledger),
        }
    }
}
