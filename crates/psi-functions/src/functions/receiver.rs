//! The receiver, which puts its own numbers into the lanes of its items.

use psijoin_block::Prg;
use psijoin_channel::Channel;
use psijoin_circuit::Bits;
use psijoin_psi::{Error, Output, OutputKind, Role, Shares};

use super::{
    Function, Prepared,
    opening::{self, Opened},
};
use crate::products;

/// The receiver's state after the offline phase.
pub struct Receiver(Prepared<opening::Receiver>);

/// The receiver's state when its items have been compared with the sender's.
pub struct Compared<'a> {
    /// Its shares of whether they are shared, a bit per lane.
    pub shares: Bits,
    /// The lane and the position of each of its items.
    pub placed: &'a mut dyn Iterator<Item = (u32, u32)>,
    /// The number of items.
    pub items: usize,
    /// A column w for each of the sender's columns, with one number per lane.
    pub numbers: Vec<Vec<u64>>,
    /// Its own columns, with one number per item.
    pub columns: &'a [Vec<i64>],
}

impl Receiver {
    /// Prepares the function; the peer calls [`Sender::offline`](super::Sender::offline).
    ///
    /// # Errors
    /// If the channel breaks or the peer misbehaves.
    pub fn offline(
        function: Function,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Self, Error> {
        let prepare = opening::Receiver::offline;
        let prepared = Prepared::offline(function, Role::Receiver, prepare, channel, rng)?;
        Ok(Self(prepared))
    }

    /// Learns the output; the peer calls [`Sender::release`](super::Sender::release).
    ///
    /// # Errors
    /// If the channel breaks or the peer misbehaves.
    pub fn learn(self, compared: Compared<'_>, channel: &mut Channel) -> Result<Output, Error> {
        let Prepared {
            function,
            multipliers,
            grouper,
            opening,
        } = self.0;
        let Compared { shares, items, .. } = compared;
        let placed: Vec<(u32, u32)> = compared.placed.collect();
        let mut numbers = compared.numbers;
        for column in compared.columns {
            numbers.push(by_lane(column, &placed, function.lanes));
        }
        if function.totals.counted {
            numbers.push(vec![1; function.lanes]);
        }
        let [own, theirs] = [Role::Receiver, Role::Sender].map(|giver| function.widths(giver));
        let (totals, products) = match grouper {
            Some(grouper) => (grouper.add_up(&shares, numbers, channel)?, Vec::new()),
            None => {
                let widths = [&own[..], &theirs];
                let products = products::multiply(multipliers, &shares, numbers, widths, channel)?;
                (function.add_up(&products), products)
            }
        };
        let Some(opening) = opening else {
            let places = items_by_lane(&placed, function.lanes);
            return Ok(match function.output {
                OutputKind::Shares(_) => {
                    Output::Shares(Shares::new(shares, products, Some(places)))
                }
                _ => Output::Totals(totals),
            });
        };
        match opening.learn(&totals, &[shares], channel)? {
            Opened::Output(output) => Ok(output),
            Opened::Bits(shared) => Ok(rows(&shared[0], &placed, items)),
        }
    }
}

/// Returns the number of the item in each lane; 0 where there is none.
fn by_lane(column: &[i64], placed: &[(u32, u32)], lanes: usize) -> Vec<u64> {
    let mut numbers = vec![0; lanes];
    for (lane, item) in placed {
        numbers[*lane as usize] = column[*item as usize] as u64;
    }
    numbers
}

/// Returns the position of the item in each lane.
fn items_by_lane(placed: &[(u32, u32)], lanes: usize) -> Vec<Option<u32>> {
    let mut items = vec![None; lanes];
    for (lane, item) in placed {
        items[*lane as usize] = Some(*item);
    }
    items
}

fn rows(shared: &Bits, placed: &[(u32, u32)], items: usize) -> Output {
    let found = placed.iter().filter(|(lane, _)| shared.get(*lane as usize));
    Output::rows(found.map(|(_, item)| *item), items)
}
