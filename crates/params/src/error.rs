use crate::Log2Prob;

/// The reason that a parameter could not be derived.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The statistical security parameter is out of range.
    #[error("a statistical security of {0} bits is not supported: choose 40 to 80")]
    StatisticalSecurity(u32),

    /// A set is larger than this version supports.
    #[error("the {party} has {items} items, but at most {max} are supported: split the set", max = crate::Sizes::MAX_ITEMS)]
    TooManyItems {
        /// The owner of the set: `"sender"` or `"receiver"`.
        party: &'static str,
        /// Its size.
        items: u64,
    },

    /// A set is too large for one run, and this one cannot be cut into parts.
    #[error("a set has {items} items, but one run serves at most {max}", max = crate::Sizes::MAX_AT_ONCE)]
    TooManyAtOnce {
        /// Its size.
        items: u64,
    },

    /// No value that this version supports keeps the failure within its share.
    #[error(
        "no {parameter} of supported size keeps its failure within {share}: use smaller sets or fewer bits of statistical security"
    )]
    Unreachable {
        /// The parameter that was to be derived.
        parameter: &'static str,
        /// The bound that it had to keep.
        share: Log2Prob,
    },

    /// All failure events together are likelier than the security level allows.
    #[error(
        "with the event \"{event}\" the run may fail with probability {total}, but at most {allowed} is allowed"
    )]
    BudgetExceeded {
        /// The event that did not fit.
        event: &'static str,
        /// The bound on all events, this one included.
        total: Log2Prob,
        /// The failure probability that the security level allows.
        allowed: Log2Prob,
    },
}
