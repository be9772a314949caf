//! Settings and terms of jobs that users do something about, told apart by their names.

use psijoin::settings::*;
use psijoin_handshake::DERIVED_PARAMETERS;

/// The fewest shared keys, as a job is bound to them.
pub(crate) const JOB_MINIMUM: &str = "the minimum";

/// The other party of a job.
pub(crate) const JOB_PEER: &str = "the other party";

/// This party's identity in a job.
pub(crate) const JOB_IDENTITY: &str = "the identity";

/// The form of the written result of a job.
pub(crate) const JOB_OUTPUT: &str = "what is written";

/// The key of a job's table, with its rules.
pub(crate) const JOB_KEY: &str = "a key";

/// Whether the answer of a job is taken from a budget.
pub(crate) const JOB_BUDGET: &str = "the use of a budget";

/// The columns that a job gives or takes.
pub(crate) const JOB_COLUMNS: &str = "the columns that are given or taken";

/// A setting that an error names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// [`PROTOCOL`].
    Protocol,
    /// [`JOB`].
    Job,
    /// [`TERMS`].
    Terms,
    /// [`RECORD`].
    Record,
    /// [`LEARNERS`].
    Learners,
    /// [`ALIGNED`].
    Aligned,
    /// [`POST_QUANTUM`].
    PostQuantum,
    /// [`SENDERS_COLUMNS`].
    SendersColumns,
    /// [`RECEIVERS_COLUMNS`].
    ReceiversColumns,
    /// [`OUTPUT`].
    Output,
    /// [`GROUP_BY`].
    GroupBy,
    /// [`GROUP_LISTS`].
    GroupLists,
    /// [`MIN_GROUP`].
    MinGroup,
    /// [`NOISE`].
    Noise,
    /// [`MINIMUM`].
    Minimum,
    /// [`KEY_COLUMNS`].
    KeyColumns,
    /// [`ITEM_BITS`].
    ItemBits,
    /// [`PROTOCOL_VERSION`], [`STATISTICAL_SECURITY`] or [`SPELLING`].
    Release,
    /// The parameters that both sides derive from everything else.
    DerivedParameters,
}

impl Setting {
    /// Returns the setting of this name, if this version knows it.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            PROTOCOL => Self::Protocol,
            JOB => Self::Job,
            TERMS => Self::Terms,
            RECORD => Self::Record,
            LEARNERS => Self::Learners,
            ALIGNED => Self::Aligned,
            POST_QUANTUM => Self::PostQuantum,
            SENDERS_COLUMNS => Self::SendersColumns,
            RECEIVERS_COLUMNS => Self::ReceiversColumns,
            OUTPUT => Self::Output,
            GROUP_BY => Self::GroupBy,
            GROUP_LISTS => Self::GroupLists,
            MIN_GROUP => Self::MinGroup,
            NOISE => Self::Noise,
            MINIMUM => Self::Minimum,
            KEY_COLUMNS => Self::KeyColumns,
            ITEM_BITS => Self::ItemBits,
            PROTOCOL_VERSION | STATISTICAL_SECURITY | SPELLING => Self::Release,
            DERIVED_PARAMETERS => Self::DerivedParameters,
            _ => return None,
        })
    }

    /// Returns the settings of these names that this version knows, without those that follow from
    /// another one of them.
    pub fn all_named<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Self> {
        let names: Vec<_> = names.collect();
        // Another protocol has another version.
        let follows = |name: &str| name == PROTOCOL_VERSION && names.contains(&PROTOCOL);
        let told = names.iter().filter(|name| !follows(name));
        told.filter_map(|name| Self::named(name)).collect()
    }
}

/// A setting to which a job is bound: it must not change while the job lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobTerm {
    /// The protocol.
    Protocol,
    /// The output.
    Output,
    /// The columns whose values name groups.
    GroupBy,
    /// The lists of their labels.
    GroupLists,
    /// The fewest shared keys of a group that is shown.
    MinGroup,
    /// The noise in the totals of groups.
    Noise,
    /// The parties that learn it.
    Learners,
    /// The terms of both.
    Terms,
    /// The record, if both sign one.
    Record,
    /// Whether the answer is taken from a budget.
    Budget,
    /// The fewest shared keys.
    Minimum,
    /// Security against quantum computers.
    PostQuantum,
    /// The other party.
    Peer,
    /// This party's identity.
    Identity,
    /// The key, with its rules.
    Key,
    /// The columns that are given or taken.
    Columns,
    /// The form of the written result.
    Written,
}

impl JobTerm {
    /// Returns the term of this name, if users say it.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            PROTOCOL => Self::Protocol,
            OUTPUT => Self::Output,
            GROUP_BY => Self::GroupBy,
            GROUP_LISTS => Self::GroupLists,
            MIN_GROUP => Self::MinGroup,
            NOISE => Self::Noise,
            LEARNERS => Self::Learners,
            TERMS => Self::Terms,
            RECORD => Self::Record,
            JOB_BUDGET => Self::Budget,
            JOB_MINIMUM => Self::Minimum,
            POST_QUANTUM => Self::PostQuantum,
            JOB_PEER => Self::Peer,
            JOB_IDENTITY => Self::Identity,
            JOB_KEY => Self::Key,
            JOB_COLUMNS => Self::Columns,
            JOB_OUTPUT => Self::Written,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_follows_from_the_protocol_is_left_out() {
        let named = |names: &[&'static str]| Setting::all_named(names.iter().copied());
        assert_eq!(named(&[PROTOCOL, PROTOCOL_VERSION]), [Setting::Protocol]);
        assert_eq!(named(&[PROTOCOL_VERSION]), [Setting::Release]);
        assert_eq!(named(&["what only a later release knows"]), []);
    }
}
