use psijoin_transport::Fingerprint;

use crate::Role;

/// The reason that there is no record, or that one is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A text is no record at all, or one of another format.
    #[error("it is not a record of psijoin, or one of another version ({0})")]
    NotARecord(String),

    /// A text holds a record, and is written in another way than records are.
    #[error(
        "it is not in canonical form: the record was edited after it was signed (even spaces and the order of keys \
         count)"
    )]
    NotCanonical,

    /// A text is longer than any record.
    #[error("it is longer than any record")]
    TooLong,

    /// A signature is not by the key that the record names.
    #[error(
        "the signature of the {0} does not fit: the record was changed, or was never signed by {1}"
    )]
    Signature(Role, Fingerprint),

    /// A party's key and its fingerprint do not belong together.
    #[error("the {0}'s key does not match its fingerprint {1}")]
    Key(Role, Fingerprint),

    /// A key is one that nobody can have.
    #[error(
        "a key in it is no sound Ed25519 key: nobody has it, and anybody can make signatures that fit it"
    )]
    UnsoundKey,

    /// One party stands on both sides.
    #[error("both of its parties are {0}: a record is of two parties")]
    OneParty(Fingerprint),

    /// A number is too large for JSON.
    #[error("a number is too large for a record: {0}")]
    Number(u64),

    /// A text would not be shown as it is.
    #[error("a text in it has control, format or separator characters, which no record has")]
    Unprintable,

    /// This party's identity cannot sign.
    #[error("this side's identity cannot sign a record, as it is no Ed25519 key: take one that is")]
    CannotSign,

    /// The other party's identity cannot sign.
    #[error(
        "the other party's identity cannot sign a record, as it is no Ed25519 key: take one that is"
    )]
    PeerCannotSign,

    /// The other party has signed something else.
    #[error(
        "the other party has signed another record of this session than this side would sign: use the same release of \
         psijoin on both sides"
    )]
    OtherDocument,

    /// The other party's signature is wrong.
    #[error("the other party's signature of the record is wrong")]
    WrongSignature,

    /// The connection broke before the other party had signed.
    #[error("the other party has not signed the record: {0}")]
    Channel(#[from] psijoin_channel::Error),

    /// Terms that nobody can agree to.
    #[error("there is nothing in them to agree to: the text is empty")]
    EmptyTerms,

    /// Terms that are too long.
    #[error("they are longer than {} bytes", crate::MAX_TERMS_BYTES)]
    LongTerms,
}
