use serde::{Deserialize, Serialize};

/// The first fields of a job in every layout.
#[derive(Deserialize)]
pub(crate) struct Head {
    #[serde(rename = "psijoin job")]
    pub(crate) format: u32,
    pub(crate) program: String,
}

/// The agreement of both parties when a job was started, and what this party needs to resume it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The layout of the folder.
    #[serde(rename = "psijoin job")]
    pub(crate) format: u32,
    /// The version of the program that began it.
    pub program: String,
    /// The time at which it was started, in seconds since 1970. For people only.
    pub begun: u64,
    /// The settings, all of which have to be the same whenever it is resumed.
    pub terms: Vec<Term>,
    /// Keyed hashes of the table, as far as it was read. They have to be equal.
    pub data: Vec<Term>,
    /// The protocol that was taken.
    pub protocol: String,
    /// The digest of the plan, in hexadecimal digits.
    pub plan: String,
    /// The numbers of distinct items of the sender and the receiver.
    pub items: [u64; 2],
    /// The number of its parts; 1 if it is one run.
    pub parts: u32,
    /// The number of its steps.
    pub steps: u32,
    /// The bytes that a part moves, and those of the opening in the end.
    pub bytes: [u64; 2],
    /// The [`Columns`], sealed.
    pub(crate) columns: String,
    /// The name that both parties use for it: a hash of the seed.
    pub id: String,
    /// The seed that items are digested under, sealed; nothing once it has ended.
    pub(crate) seed: Option<String>,
    /// The command that resumes it, sealed.
    pub(crate) command: Option<String>,
    /// `true` if the other party has confirmed that it has all that it needs.
    pub confirmed: bool,
    /// `true` if both parties have signed a record of it, which this party has written.
    pub signed: bool,
    /// The way it ended.
    pub ended: Option<Ended>,
    /// The salt that the owner's secret is mixed with.
    pub(crate) salt: String,
    /// A keyed hash of all this, without the hash.
    pub(crate) seal: String,
}

/// The agreement of both parties about columns, as the caller writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Columns {
    /// Those whose numbers count.
    pub numbers: Vec<String>,
    /// The columns that the sender and the receiver share.
    pub given: [Vec<u8>; 2],
    /// The labels of each column whose values name groups; null is one, too.
    #[serde(default)]
    pub labels: Vec<Vec<Option<String>>>,
}

/// A setting that has to be the same whenever a job is resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Term {
    /// Its name, with its article: `the output`.
    pub name: String,
    /// Its value, or a keyed hash of it.
    pub value: String,
    /// `true` if the value is a keyed hash.
    pub secret: bool,
}

impl Term {
    /// Returns a setting that may be shown.
    pub fn shown(name: impl Into<String>, value: impl ToString) -> Self {
        Self {
            name: name.into(),
            value: value.to_string(),
            secret: false,
        }
    }
}

/// The way a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Well.
    Done,
    /// Fewer items are shared than the minimum that both parties demanded.
    TooFew,
}
