/// Why a set could not be laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A statistical failure: more items than the stash holds find no bin.
    #[error(
        "the hash functions drawn for this run leave some items without a place, which happens \
         with negligible probability: start a new run, which draws others"
    )]
    NoPlacement,
}
