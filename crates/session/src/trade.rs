//! The columns that a party gives and takes, as it asks for them, and as both have agreed.

use std::str::FromStr;

use psijoin::Role;
use psijoin_table::{
    WhichRows,
    share::{PayloadLayout, RepeatedKeys},
};

use crate::{Error, Learners, SpecFault, fault::TooMuchGiven, names};

/// The prefix of a taken column whose name the party's own table has, too.
pub(crate) const PREFIX: &str = "partner_";

/// The columns that a party gives, and those that it takes.
#[derive(Debug, Clone, Default)]
pub struct Trade {
    /// Columns of its own.
    pub gives: Option<Give>,
    /// Columns of the other party.
    pub takes: Option<Taken>,
    /// The most that it takes.
    pub at_most: AtMost,
}

impl Trade {
    /// Checks that columns are given to a party that learns rows, in this role here, and taken for
    /// rows that have a partner.
    ///
    /// # Errors
    /// If not.
    pub fn check(&self, role: Role, learners: Learners, rows: WhichRows) -> Result<(), SpecFault> {
        match (learners, role) {
            (Learners::Receiver, Role::Receiver) if self.gives.is_some() => {
                Err(SpecFault::ReceiverGives)
            }
            (Learners::Receiver, Role::Sender) if self.takes.is_some() => {
                Err(SpecFault::SenderTakes)
            }
            _ if self.takes.is_some() && rows == WhichRows::Unshared => {
                Err(SpecFault::TakesForUnshared)
            }
            _ => Ok(()),
        }
    }

    /// Returns a text that is another one for any other trade.
    pub(crate) fn canonical(&self) -> String {
        // The limits of a trade do not change it.
        let Self { gives, takes, .. } = self;
        format!("{gives:?} {takes:?}")
    }
}

/// The columns that both agreed to give.
#[derive(Debug, Clone, Default)]
pub struct Given {
    pub(crate) sender: Option<PayloadLayout>,
    pub(crate) receiver: Option<PayloadLayout>,
}

impl Given {
    /// Returns the layout of a party's columns in payloads, if it gives any.
    pub fn by(&self, giver: Role) -> Option<&PayloadLayout> {
        match giver {
            Role::Sender => self.sender.as_ref(),
            Role::Receiver => self.receiver.as_ref(),
        }
    }

    /// Returns what a job keeps of it, for the sender and for the receiver: nothing if it gives
    /// none.
    pub(crate) fn kept(&self) -> [Vec<u8>; 2] {
        GIVERS.map(|giver| {
            self.by(giver)
                .map_or_else(Vec::new, PayloadLayout::to_bytes)
        })
    }

    /// Returns what was [kept](Self::kept).
    ///
    /// # Errors
    /// If that is nothing that this version keeps.
    pub(crate) fn recalled([sender, receiver]: &[Vec<u8>; 2]) -> Result<Self, Error> {
        let layout = |kept: &[u8]| match kept {
            [] => Ok(None),
            kept => PayloadLayout::from_bytes(kept).map(Some),
        };
        Ok(Self {
            sender: layout(sender)?,
            receiver: layout(receiver)?,
        })
    }

    /// Returns how many bytes a party's columns take per key.
    pub(super) fn bytes(&self, giver: Role) -> u32 {
        self.by(giver).map_or(0, PayloadLayout::payload_bytes) as u32
    }

    /// Returns all that is given, and by whom.
    pub fn all(&self) -> impl Iterator<Item = (Role, &PayloadLayout)> {
        GIVERS
            .into_iter()
            .filter_map(|giver| Some((giver, self.by(giver)?)))
    }
}

/// The parties, in the order in which they offer columns.
pub(crate) const GIVERS: [Role; 2] = [Role::Sender, Role::Receiver];

/// The columns that a party gives.
#[derive(Debug, Clone)]
pub struct Give {
    /// The columns that it offers.
    pub columns: Vec<String>,
    /// The bytes of a row at most, if set.
    pub row_bytes: Option<usize>,
    /// The treatment of rows that have one key.
    pub repeated: RepeatedKeys,
}

/// The columns that a party takes.
#[derive(Debug, Clone)]
pub enum Taken {
    /// All that is offered.
    All,
    /// The columns of these names.
    Named(Vec<String>),
}

impl FromStr for Taken {
    type Err = String;

    /// Reads `all`, or a list of [names].
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Self::All),
            names => names::parse(names).map(Self::Named),
        }
    }
}

/// The most that a party takes for each key.
#[derive(Debug, Clone, Copy, Default)]
pub struct AtMost {
    /// Rows for a key.
    pub rows: Option<u16>,
    /// Bytes for a row.
    pub row_bytes: Option<usize>,
}

impl AtMost {
    /// Checks what the other party tells of its payloads.
    ///
    /// # Errors
    /// [`Error::TooMuchGiven`].
    pub(crate) fn check(self, layout: &PayloadLayout) -> Result<(), Error> {
        let (rows, bytes) = (layout.most_rows(), layout.row_bytes());
        if let Some(most) = self.rows.filter(|most| rows > *most) {
            return Err(Error::TooMuchGiven(TooMuchGiven::Rows {
                given: rows,
                most,
            }));
        }
        if let Some(most) = self.row_bytes.filter(|most| bytes > *most) {
            return Err(Error::TooMuchGiven(TooMuchGiven::RowBytes {
                given: bytes,
                most,
            }));
        }
        Ok(())
    }
}
