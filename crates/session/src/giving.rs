//! Columns that one party gives, and the other takes: what both agree on before data moves.
//!
//! One offers columns; the other chooses those that it takes; and the first, which reads its table
//! once more if texts are among them, tells their layout in payloads. So only taken columns are
//! given, and both know their length. If both parties learn their rows, the receiver gives columns
//! in the same way after the sender.

use std::str::FromStr;

use psijoin::Role;
use psijoin_channel::{Channel, MAX_MESSAGE_BYTES};
use psijoin_handshake::Hello;
use psijoin_table::{
    WhichRows,
    share::{GivenColumns, PayloadLayout, RepeatedKeys},
};

use crate::{
    Error, Learners, SpecFault,
    agreement::OwnTable,
    event::{Work, waiting},
    fault::TooMuchGiven,
    names,
    party::Party,
    settings::{RECEIVERS_COLUMNS, SENDERS_COLUMNS},
};

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
    sender: Option<PayloadLayout>,
    receiver: Option<PayloadLayout>,
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
const GIVERS: [Role; 2] = [Role::Sender, Role::Receiver];

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
    fn check(self, layout: &PayloadLayout) -> Result<(), Error> {
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

/// A flag per column that is offered.
const LEFT: u8 = 0;
const TAKEN: u8 = 1;

impl Party<'_> {
    /// Adds to a hello who gives columns, on which both must agree.
    pub(super) fn tell_trade(&self, hello: Hello) -> Hello {
        let Trade { gives, takes, .. } = &self.trade;
        let (senders, receivers) = match self.role {
            Role::Sender => (gives.is_some(), takes.is_some()),
            Role::Receiver => (takes.is_some(), gives.is_some()),
        };
        let mut hello = hello;
        if senders {
            hello = hello.setting(SENDERS_COLUMNS, "yes");
        }
        if receivers {
            hello = hello.setting(RECEIVERS_COLUMNS, "yes");
        }
        hello
    }

    /// Agrees with the other party on what is given, if anything is. Rows are written with it from
    /// then on.
    ///
    /// # Errors
    /// If a table cannot give the taken columns, or they cannot be written; if the channel breaks,
    /// or the other party's message is invalid.
    pub(super) fn agree_on_columns(
        &self,
        table: &mut dyn OwnTable,
        channel: &mut Channel,
    ) -> Result<Given, Error> {
        let [first, second] = GIVERS;
        let given = Given {
            sender: self.given_by(first, table, channel)?,
            receiver: self.given_by(second, table, channel)?,
        };
        table.take(self.role, &given)?;
        Ok(given)
    }

    fn given_by(
        &self,
        giver: Role,
        table: &mut dyn OwnTable,
        channel: &mut Channel,
    ) -> Result<Option<PayloadLayout>, Error> {
        match (giver == self.role, &self.trade.gives, &self.trade.takes) {
            (true, Some(give), _) => self.offer(give, table, channel).map(Some),
            (false, _, Some(taken)) => self.take(taken, channel).map(Some),
            _ => Ok(None),
        }
    }

    fn offer(
        &self,
        give: &Give,
        table: &mut dyn OwnTable,
        channel: &mut Channel,
    ) -> Result<PayloadLayout, Error> {
        let offered = table.offer(give)?;
        say(channel, &offered.to_bytes())?;
        let names: Vec<&str> = offered.names().collect();
        let mut flags = vec![LEFT; names.len()];
        channel.recv(&mut flags).map_err(psijoin::Error::from)?;
        if flags.iter().any(|flag| ![LEFT, TAKEN].contains(flag)) || !flags.contains(&TAKEN) {
            return Err(psijoin::Error::Peer("it takes what is not offered").into());
        }
        let taken = names.iter().zip(flags).filter(|(_, flag)| *flag == TAKEN);
        let taken: Vec<String> = taken.map(|(name, _)| (*name).to_owned()).collect();
        let columns = offered.take(&taken)?;
        let row_bytes = table.row_bytes(self, give, &columns)?;
        let layout = PayloadLayout::new(columns, row_bytes, give.repeated)?;
        say(channel, &layout.to_bytes())?;
        Ok(layout)
    }

    fn take(&self, taken: &Taken, channel: &mut Channel) -> Result<PayloadLayout, Error> {
        let offered = waiting(self.watcher, Work::WaitingForColumns, || hear(channel))?;
        let offered = GivenColumns::from_bytes(&offered)?;
        let names: Vec<String> = offered.names().map(str::to_owned).collect();
        let wanted = match taken {
            Taken::All => offered.clone(),
            Taken::Named(wanted) => offered.take(wanted)?,
        };
        let is_wanted = |name: &String| wanted.names().any(|wanted| wanted == name);
        let taken: Vec<String> = names
            .iter()
            .filter(|name| is_wanted(name))
            .cloned()
            .collect();
        let flags: Vec<u8> = names.iter().map(|name| is_wanted(name).into()).collect();
        channel.send(&flags).map_err(psijoin::Error::from)?;
        let layout = PayloadLayout::from_bytes(&hear(channel)?)?;
        if *layout.columns() != offered.take(&taken)? {
            return Err(psijoin::Error::Peer("it gives other columns than were taken").into());
        }
        self.trade.at_most.check(&layout)?;
        Ok(layout)
    }
}

/// Says how many bytes come, and then these.
fn say(channel: &mut Channel, bytes: &[u8]) -> Result<(), Error> {
    let said = channel
        .send(&(bytes.len() as u32).to_le_bytes())
        .and_then(|()| channel.send(bytes));
    Ok(said.map_err(psijoin::Error::from)?)
}

/// Receives what the other party [sends](say).
fn hear(channel: &mut Channel) -> Result<Vec<u8>, Error> {
    let length = channel.recv_array().map_err(psijoin::Error::from)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_MESSAGE_BYTES {
        return Err(psijoin::Error::Peer("it tells more of its columns than anybody can").into());
    }
    let mut bytes = vec![0; length];
    channel.recv(&mut bytes).map_err(psijoin::Error::from)?;
    Ok(bytes)
}
