//! Columns of the sender that the receiver takes: what both agree on before data moves.
//!
//! The sender offers columns; the receiver says which of them it takes; and the sender, which reads its table once more if
//! texts are among them, tells how they stand in payloads. So only what is taken is given, and both know its length.

use psijoin_channel::{Channel, MAX_MESSAGE_BYTES};
use psijoin_table::given::{GivenColumns, GivenRows, PayloadLayout, RepeatedKeys};

use super::{Party, Table, Task};
use crate::exit::Failure;

/// What stands before the name of a taken column that the receiver's own table has, too.
const PREFIX: &str = "partner_";

/// What a party gives or takes.
#[derive(Debug, Clone)]
pub(crate) enum Giving {
    /// Columns of this party.
    Give(Give),
    /// Columns of the other one.
    Take(Taken),
}

/// What a sender gives.
#[derive(Debug, Clone)]
pub(crate) struct Give {
    /// The columns that it offers.
    pub(crate) columns: Vec<String>,
    /// How many bytes a row may take, if that is said.
    pub(crate) row_bytes: Option<usize>,
    /// What becomes of rows that have one key.
    pub(crate) repeated: RepeatedKeys,
}

/// What a receiver takes.
#[derive(Debug, Clone)]
pub(crate) enum Taken {
    /// All that is offered.
    All,
    /// The columns of these names.
    Named(Vec<String>),
}

/// A flag per column that is offered.
const LEFT: u8 = 0;
const TAKEN: u8 = 1;

impl Party<'_> {
    /// Checks what can be checked of the columns alone.
    ///
    /// # Errors
    /// If the table does not have them, or they cannot be given.
    pub(super) fn check_giving(&self) -> Result<(), Failure> {
        match &self.giving {
            Some(Giving::Give(give)) => {
                Ok(GivenColumns::of(&self.source, &give.columns).map(drop)?)
            }
            _ => Ok(()),
        }
    }

    /// Agrees with the other party on what is given, if anything is. Rows are written with it from then on.
    ///
    /// # Errors
    /// If the table cannot give what is taken, or the receiver cannot write it; if the channel breaks, or the other party says
    /// what makes no sense.
    pub(super) fn agree_on_columns(
        &mut self,
        table: &Table,
        channel: &mut Channel,
    ) -> Result<Option<PayloadLayout>, Failure> {
        match self.giving.clone() {
            None => Ok(None),
            Some(Giving::Give(give)) => self.offer(&give, table, channel).map(Some),
            Some(Giving::Take(taken)) => self.take(&taken, channel).map(Some),
        }
    }

    fn offer(
        &self,
        give: &Give,
        table: &Table,
        channel: &mut Channel,
    ) -> Result<PayloadLayout, Failure> {
        let rows = table.given(give.repeated)?;
        let offered = GivenColumns::of(&self.source, &give.columns)?;
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
        let row_bytes = self.row_bytes(give, &rows, &columns)?;
        let layout = PayloadLayout::new(columns, row_bytes, give.repeated)?;
        say(channel, &layout.to_bytes())?;
        Ok(layout)
    }

    /// How many bytes a row takes; as many as the user says, if all rows fit.
    fn row_bytes(
        &self,
        give: &Give,
        rows: &GivenRows<'_>,
        columns: &GivenColumns,
    ) -> Result<usize, Failure> {
        let (source, progress) = (&self.source, self.progress);
        let measured = self.console.during(
            "measuring the columns that are given",
            || progress.bytes(),
            || {
                self.pool.run(|| match give.row_bytes {
                    None => rows.longest_row(source, columns, progress),
                    Some(most) => {
                        let fits = &mut |_, _: &[u8]| Ok(());
                        rows.each_row(source, columns, most, progress, fits)?;
                        Ok(most)
                    }
                })
            },
        );
        Ok(measured?)
    }

    fn take(&mut self, taken: &Taken, channel: &mut Channel) -> Result<PayloadLayout, Failure> {
        let offered = self.console.during(
            "waiting for the other party to offer its columns",
            || (0, 0),
            || hear(channel),
        )?;
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
        self.write_with(&layout)?;
        Ok(layout)
    }

    /// Lets the rows be written with the columns that are taken.
    fn write_with(&mut self, layout: &PayloadLayout) -> Result<(), Failure> {
        let task = std::mem::replace(&mut self.task, Task::Learn);
        self.task = match task {
            Task::Receive(destination) => {
                let with = destination.adding(layout.columns(), PREFIX, &self.source);
                Task::Receive(with?)
            }
            other => other,
        };
        Ok(())
    }

    /// Reads what is given of the table, if anything is, into the order in which the protocol takes items.
    ///
    /// # Errors
    /// If the table cannot be read, or has changed.
    pub(super) fn read_payloads(
        &self,
        layout: Option<&PayloadLayout>,
        table: &mut Table,
    ) -> Result<(), Failure> {
        let (Some(layout), Some(Giving::Give(give))) = (layout, &self.giving) else {
            return Ok(());
        };
        let (source, progress) = (&self.source, self.progress);
        let rows = table.given(give.repeated)?;
        let payloads = self.console.during(
            "reading the columns that are given",
            || progress.bytes(),
            || self.pool.run(|| rows.payloads(source, layout, progress)),
        )?;
        table.give(payloads);
        Ok(())
    }
}

/// Says how many bytes come, and then these.
fn say(channel: &mut Channel, bytes: &[u8]) -> Result<(), Failure> {
    let said = channel
        .send(&(bytes.len() as u32).to_le_bytes())
        .and_then(|()| channel.send(bytes));
    Ok(said.map_err(psijoin::Error::from)?)
}

/// Hears what the other party [says](say).
fn hear(channel: &mut Channel) -> Result<Vec<u8>, Failure> {
    let length = channel.recv_array().map_err(psijoin::Error::from)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_MESSAGE_BYTES {
        return Err(psijoin::Error::Peer("it tells more of its columns than anybody can").into());
    }
    let mut bytes = vec![0; length];
    channel.recv(&mut bytes).map_err(psijoin::Error::from)?;
    Ok(bytes)
}
