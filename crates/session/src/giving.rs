//! Columns that one party gives, and the other takes: what both agree on before data moves.
//!
//! One offers columns; the other chooses those that it takes; and the first, which reads its table
//! once more if texts are among them, tells their layout in payloads. So only taken columns are
//! given, and both know their length. If both parties learn their rows, the receiver gives columns
//! in the same way after the sender.

use psijoin::Role;
use psijoin_channel::{Channel, MAX_MESSAGE_BYTES};
use psijoin_handshake::Hello;
use psijoin_table::share::{GivenColumns, PayloadLayout};

use crate::{
    Error,
    event::{Work, waiting},
    own_table::OwnTable,
    party::Party,
    settings::{RECEIVERS_COLUMNS, SENDERS_COLUMNS},
    trade::{GIVERS, Give, Given, Taken, Trade},
};

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
pub(super) fn say(channel: &mut Channel, bytes: &[u8]) -> Result<(), Error> {
    let said = channel
        .send(&(bytes.len() as u32).to_le_bytes())
        .and_then(|()| channel.send(bytes));
    Ok(said.map_err(psijoin::Error::from)?)
}

/// Receives what the other party [sends](say).
pub(super) fn hear(channel: &mut Channel) -> Result<Vec<u8>, Error> {
    let length = channel.recv_array().map_err(psijoin::Error::from)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_MESSAGE_BYTES {
        return Err(psijoin::Error::Peer("it tells more of its columns than anybody can").into());
    }
    let mut bytes = vec![0; length];
    channel.recv(&mut bytes).map_err(psijoin::Error::from)?;
    Ok(bytes)
}
