use serde::{Deserialize, Serialize};

/// What a job begins with in every layout.
#[derive(Deserialize)]
pub(crate) struct Head {
    #[serde(rename = "psijoin job")]
    pub(crate) format: u32,
    pub(crate) program: String,
}

/// What both parties agreed on when a job was begun, and what this party needs to go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The layout of the folder.
    #[serde(rename = "psijoin job")]
    pub(crate) format: u32,
    /// The version of the program that began it.
    pub program: String,
    /// When it was begun, in seconds since 1970. For people only.
    pub begun: u64,
    /// What has to be the same whenever it goes on: all settings.
    pub terms: Vec<Term>,
    /// What has to be equal of the table, as far as it was read: keyed hashes.
    pub data: Vec<Term>,
    /// The protocol that was taken.
    pub protocol: String,
    /// The digest of the plan, in hexadecimal digits.
    pub plan: String,
    /// How many distinct items the sender and the receiver have.
    pub items: [u64; 2],
    /// How many parts it has; 1 if it is one run.
    pub parts: u32,
    /// How many steps it has.
    pub steps: u32,
    /// What a part moves, in bytes, and what is opened in the end.
    pub bytes: [u64; 2],
    /// The [`Columns`], sealed.
    pub(crate) columns: String,
    /// What both parties call it: a hash of the seed.
    pub id: String,
    /// The seed that items are digested under, sealed; nothing once it has ended.
    pub(crate) seed: Option<String>,
    /// The command that goes on, sealed.
    pub(crate) command: Option<String>,
    /// Whether the other party has confirmed that it has all that it needs.
    pub confirmed: bool,
    /// Whether both parties have signed a record of it, which this party has written.
    pub signed: bool,
    /// How it ended.
    pub ended: Option<Ended>,
    /// What the owner's secret is mixed with.
    pub(crate) salt: String,
    /// A keyed hash of all this, without the hash.
    pub(crate) seal: String,
}

/// What both parties agreed on about columns, as the caller writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Columns {
    /// Those whose numbers count.
    pub numbers: Vec<String>,
    /// What the sender and the receiver give with shared items.
    pub given: [Vec<u8>; 2],
}

/// Something that has to be the same whenever a job goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Term {
    /// What it is, with its article: `the output`.
    pub name: String,
    /// Its value, or a keyed hash of it.
    pub value: String,
    /// Whether the value is a keyed hash.
    pub secret: bool,
}

impl Term {
    /// Something that may be shown.
    pub fn shown(name: impl Into<String>, value: impl ToString) -> Self {
        Self {
            name: name.into(),
            value: value.to_string(),
            secret: false,
        }
    }
}

/// How a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Well.
    Done,
    /// Fewer items are shared than the minimum that both parties demanded.
    TooFew,
}
