//! The receiver, which adds its shares to what the sender opens.

use psijoin_block::Prg;
use psijoin_channel::Channel;
use psijoin_circuit::{Bits, Lanes, garble::evaluator};
use psijoin_psi::{Error, Output, OutputKind, Role, Shares};

use super::{Function, Prepared, products, receive, sums};

/// What the receiver needs, after the offline phase.
pub struct Receiver(Prepared<evaluator::Setup>);

/// What the receiver has when its items are compared with the sender's.
pub struct Compared<'a> {
    /// Its shares of whether they are shared, a bit per lane.
    pub shares: Bits,
    /// The lane and the position of each of its items.
    pub placed: &'a mut dyn Iterator<Item = (u32, u32)>,
    /// How many items there are.
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
        let set_up = evaluator::Setup::new;
        let prepared = Prepared::offline(function, Role::Receiver, set_up, channel, rng)?;
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
            circuit,
        } = self.0;
        let Compared { shares, items, .. } = compared;
        let placed: Vec<(u32, u32)> = compared.placed.collect();
        let mut numbers = compared.numbers;
        for column in compared.columns {
            numbers.push(by_lane(column, &placed, function.lanes));
        }
        if function.counts() {
            numbers.push(vec![1; function.lanes]);
        }
        let theirs = function.factors(Role::Sender);
        let mut products = products::multiply(multipliers, &shares, numbers, theirs, channel)?;
        let count = function.take_count(&mut products);
        let reached = function
            .comparison
            .zip(circuit)
            .map(|(comparison, circuit)| comparison.evaluate(circuit, count, channel))
            .transpose()?;
        match (&function.output, reached) {
            (OutputKind::Threshold(_), reached) => Ok(Output::Reached(reached == Some(true))),
            (_, Some(false)) => Ok(Output::TooFew),
            (OutputKind::Count, _) => open_count(count, function.most, channel),
            (OutputKind::Sums(_), _) => open_sums(&products, channel),
            (OutputKind::Shares(_), _) => {
                let items = items_by_lane(&placed, function.lanes);
                Ok(Output::Shares(Shares::new(shares, products, Some(items))))
            }
            _ => open_rows(&shares, placed, items, channel),
        }
    }
}

/// The number of the item in each lane; 0 where there is none.
fn by_lane(column: &[i64], placed: &[(u32, u32)], lanes: usize) -> Vec<u64> {
    let mut numbers = vec![0; lanes];
    for (lane, item) in placed {
        numbers[*lane as usize] = column[*item as usize] as u64;
    }
    numbers
}

/// The position of the item in each lane.
fn items_by_lane(placed: &[(u32, u32)], lanes: usize) -> Vec<Option<u32>> {
    let mut items = vec![None; lanes];
    for (lane, item) in placed {
        items[*lane as usize] = Some(*item);
    }
    items
}

fn open_rows(
    shares: &Bits,
    mut placed: Vec<(u32, u32)>,
    items: usize,
    channel: &mut Channel,
) -> Result<Output, Error> {
    let lanes = shares.lanes();
    let mut theirs = vec![0; lanes.div_ceil(8)];
    receive(&mut theirs, channel)?;
    let shared = shares ^ &Bits::from_bytes(&theirs, lanes);
    placed.retain(|(lane, _)| shared.get(*lane as usize));
    let found = placed.into_iter().map(|(_, item)| item);
    Ok(Output::rows(found, items))
}

fn open_count(share: u64, most: u64, channel: &mut Channel) -> Result<Output, Error> {
    let mut theirs = [0_u64];
    receive(bytemuck::cast_slice_mut(&mut theirs), channel)?;
    let count = share.wrapping_add(theirs[0]);
    if count > most {
        return Err(Error::Peer(
            "it revealed that more items are shared than a party has",
        ));
    }
    Ok(Output::Count(count))
}

fn open_sums(products: &[Vec<u64>], channel: &mut Channel) -> Result<Output, Error> {
    let mut theirs = vec![0_u64; products.len()];
    receive(bytemuck::cast_slice_mut(&mut theirs), channel)?;
    let sums = sums(products).into_iter().zip(theirs);
    let sums = sums.map(|(ours, theirs)| ours.wrapping_add(theirs) as i64);
    Ok(Output::Sums(sums.collect()))
}
