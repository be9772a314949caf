/// The reason that a set could not be laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A statistical failure: more items than the stash holds find no bin.
    #[error(
        "the hash functions drawn for this run leave some items without a place, which happens \
         with negligible probability: start a new run, which draws others"
    )]
    NoPlacement,

    /// A statistical failure: the equations of a key-value store contradict each other, or would
    /// for other values.
    #[error(
        "the items cannot be encoded together in the key-value store, which happens with \
         negligible probability if they are distinct: start a new run, which draws another key"
    )]
    DependentRows,

    /// A statistical failure: two points are equal, or one is a place that is computed with.
    #[error(
        "two of the points that a polynomial is to go through coincide, which happens with \
         negligible probability if they are those of distinct items: start a new run, which \
         draws others"
    )]
    UnfitPoints,
}
