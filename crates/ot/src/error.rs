/// The reason that an oblivious transfer failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The channel broke, or the peer's message has the wrong length.
    #[error(transparent)]
    Channel(#[from] psijoin_channel::Error),

    /// The peer sent bytes that do not encode a group element, or the neutral element.
    #[error("the other party sent an invalid group element: its message was forged or damaged")]
    InvalidPoint,

    /// The peer sent bytes that do not encode a public key of ML-KEM.
    #[error("the other party sent an invalid public key: its message was forged or damaged")]
    InvalidPublicKey,

    /// The peer's answer to the consistency check is wrong: it tried to cheat, or its
    /// messages were damaged.
    #[error(
        "the other party failed a consistency check: it tried to cheat, or its messages were damaged"
    )]
    ConsistencyCheck,
}
