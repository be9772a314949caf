/// The reason that a circuit could not be evaluated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The channel broke, or the peer's message has the wrong length.
    #[error(transparent)]
    Channel(#[from] psijoin_channel::Error),

    /// An oblivious transfer failed.
    #[error(transparent)]
    Ot(#[from] psijoin_ot::Error),
}
