//! What is learned of shared bits: from XOR shares of whether each of the receiver's items is shared,
//! in as many *lanes*, to an [`OutputKind`].
//!
//! - **Rows**: the sender opens its shares.
//! - **Count**: each bit is multiplied by 1, as shares mod 2^64 ([`products`]), which either adds up;
//!   the sender opens its sum.
//! - **Threshold**: the sums are added, and compared with K, in a garbled circuit
//!   ([`comparison`]).
//! - **Sums**: each bit is multiplied by a number v of each column, and the products are added up, as
//!   for the count. The receiver's v is that of its item in the lane, of which it is the giver. The
//!   sender's is shared beforehand: where the item is shared, v = w + u of which the receiver has w
//!   and the sender u; where it is not, w and u may be anything, as the bit is 0.
//! - **Shares**: either party keeps its shares of the bits and of the products.
//!
//! If the output is to be withheld where too few items are shared, it is compared as for a
//! threshold before anything is opened, and both learn the result of that.
//!
//! Otherwise the sender learns nothing. Of what is not asked for, the receiver sees shares only.

use psijoin_block::Prg;
use psijoin_channel::Channel;
use psijoin_circuit::Bits;

use crate::{Error, Output, OutputKind, Request, Role, Shares, Traffic, protocol};

mod comparison;
mod products;

use comparison::Comparison;
use products::{Chooser, Giver};

/// Bytes that travel together.
const BYTES_PER_MESSAGE: usize = 1 << 16;

/// What is to be made of the bits of so many lanes.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    output: OutputKind,
    lanes: usize,
    /// No more items than this can be shared.
    most: u64,
    comparison: Option<Comparison>,
}

impl Function {
    pub(crate) fn new(request: &Request, lanes: usize) -> Self {
        let least = match request.output {
            OutputKind::Threshold(least) => Some((least, false)),
            _ => (request.min_intersection > 0).then_some((request.min_intersection, true)),
        };
        Self {
            output: request.output.clone(),
            lanes,
            most: request.sizes.smaller(),
            comparison: least.map(|(least, both_learn)| Comparison {
                least,
                most: lanes,
                both_learn,
            }),
        }
    }

    /// Whether shared items are counted, whoever is to learn how many they are.
    fn counts(&self) -> bool {
        self.output == OutputKind::Count || self.comparison.is_some()
    }

    /// How many numbers of a party each bit is multiplied by.
    fn factors(&self, giver: Role) -> usize {
        let columns = self.output.columns();
        match giver {
            Role::Sender => columns.sender,
            Role::Receiver => columns.total() + usize::from(self.counts()),
        }
    }

    /// Who helps the other to products first, if bits are multiplied by anything at all.
    fn givers(&self) -> impl Iterator<Item = Role> {
        [Role::Receiver, Role::Sender]
            .into_iter()
            .filter(|giver| self.factors(*giver) > 0)
    }

    /// What it costs, offline and online, after what makes the shares, in which the sender has the
    /// last word.
    pub(crate) fn traffic(&self) -> [Traffic; 2] {
        let [mut offline, mut online] = [Traffic::default(); 2];
        let mut rounds = Flights::after(Role::Sender);
        let mut add = |[before, after]: [Traffic; 2], flights: &[Role]| {
            offline = offline + before;
            online = online + after;
            flights.iter().for_each(|role| rounds.add(*role));
        };
        for giver in self.givers() {
            let products = products::traffic(giver, self.lanes, self.factors(giver));
            add(products, &[giver.other(), giver]);
        }
        if let Some(comparison) = self.comparison {
            add(comparison.traffic(), &[Role::Receiver, Role::Sender]);
            if comparison.both_learn {
                add([Traffic::default(); 2], &[Role::Receiver]);
            }
        }
        let opened = Traffic {
            sender_bytes: self.opened_bytes() as u64,
            ..Traffic::default()
        };
        if opened.sender_bytes > 0 {
            add([Traffic::default(), opened], &[Role::Sender]);
        }
        online.rounds = rounds.count;
        // The sender begins to prepare the comparison: a flight, unless it had the last word.
        let begins = self.comparison.is_some() && self.givers().last() == Some(Role::Receiver);
        offline.rounds += u64::from(begins);
        [offline, online]
    }

    /// Whether the receiver has the last word offline.
    pub(crate) fn receiver_ends_offline(&self) -> bool {
        self.comparison.is_some() || self.givers().last() == Some(Role::Receiver)
    }

    /// What the sender opens at the end.
    fn opened_bytes(&self) -> usize {
        match self.output {
            OutputKind::Rows => self.lanes.div_ceil(8),
            OutputKind::Count => size_of::<u64>(),
            OutputKind::Threshold(_) | OutputKind::Shares(_) => 0,
            OutputKind::Sums(columns) => columns.total() * size_of::<u64>(),
        }
    }
}

/// Counts flights: messages of one party after the other are one.
struct Flights {
    last: Role,
    count: u64,
}

impl Flights {
    fn after(last: Role) -> Self {
        Self { last, count: 0 }
    }

    fn add(&mut self, speaker: Role) {
        self.count += u64::from(speaker != self.last);
        self.last = speaker;
    }
}

/// What the sender needs, after the offline phase.
pub(crate) struct Sender {
    function: Function,
    chooser: Option<Chooser>,
    giver: Option<Giver>,
    comparison: Option<comparison::Sender>,
}

/// What the receiver needs, after the offline phase.
pub(crate) struct Receiver {
    function: Function,
    giver: Option<Giver>,
    chooser: Option<Chooser>,
    comparison: Option<comparison::Receiver>,
}

impl Sender {
    pub(crate) fn offline(
        function: Function,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Self, Error> {
        let (mut chooser, mut giver) = (None, None);
        for role in function.givers() {
            match role {
                Role::Receiver => chooser = Some(Chooser::prepare(function.lanes, channel, rng)?),
                Role::Sender => giver = Some(Giver::prepare(function.lanes, channel, rng)?),
            }
        }
        let comparison = function
            .comparison
            .map(|comparison| comparison::Sender::prepare(comparison, channel, rng))
            .transpose()?;
        Ok(Self {
            function,
            chooser,
            giver,
            comparison,
        })
    }

    /// Lets the receiver learn what it is to. `numbers` has a column u, a number a lane, for each of
    /// its columns.
    pub(crate) fn release(
        self,
        shares: Bits,
        mut numbers: Vec<Vec<u64>>,
        channel: &mut Channel,
    ) -> Result<Output, Error> {
        let Self { function, .. } = self;
        let mut products = match self.chooser {
            Some(chooser) => {
                chooser.multiply(&shares, function.factors(Role::Receiver), channel)?
            }
            None => Vec::new(),
        };
        if let Some(giver) = self.giver {
            giver.multiply(&shares, &mut numbers, channel)?;
            add(&mut products, &numbers);
        }
        let count = function.counts().then(|| products.pop()).flatten();
        let count = count.map_or(0, |ones| sum(&ones));
        if let Some(comparison) = self.comparison
            && comparison.compare(count, channel)? == Some(false)
        {
            return Ok(Output::TooFew);
        }
        match function.output {
            OutputKind::Rows => send(&shares.to_bytes(), channel)?,
            OutputKind::Count => send(&count.to_le_bytes(), channel)?,
            OutputKind::Threshold(_) => {}
            OutputKind::Sums(_) => send(bytemuck::cast_slice(&sums(&products)), channel)?,
            OutputKind::Shares(_) => {
                return Ok(Output::Shares(Shares::new(shares, products, None)));
            }
        }
        Ok(Output::Nothing)
    }
}

/// What the receiver has when its items are compared with the sender's.
pub(crate) struct Compared<'a> {
    /// Its shares of whether they are shared.
    pub(crate) shares: Bits,
    /// The lane of each of its items, and the item.
    pub(crate) placed: &'a mut dyn Iterator<Item = (u32, u32)>,
    /// How many items there are.
    pub(crate) items: usize,
    /// For each column of the sender w, a number a lane.
    pub(crate) numbers: Vec<Vec<u64>>,
    /// Its own columns, a number an item.
    pub(crate) columns: &'a [Vec<i64>],
}

impl Receiver {
    pub(crate) fn offline(
        function: Function,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Self, Error> {
        let (mut giver, mut chooser) = (None, None);
        for role in function.givers() {
            match role {
                Role::Receiver => giver = Some(Giver::prepare(function.lanes, channel, rng)?),
                Role::Sender => chooser = Some(Chooser::prepare(function.lanes, channel, rng)?),
            }
        }
        let comparison = function
            .comparison
            .map(|comparison| comparison::Receiver::prepare(comparison, channel, rng))
            .transpose()?;
        Ok(Self {
            function,
            giver,
            chooser,
            comparison,
        })
    }

    /// Learns it.
    pub(crate) fn learn(
        self,
        compared: Compared<'_>,
        channel: &mut Channel,
    ) -> Result<Output, Error> {
        let Self { function, .. } = self;
        let Compared { shares, items, .. } = compared;
        let mut placed: Vec<(u32, u32)> = compared.placed.collect();
        let mut products = compared.numbers;
        for column in compared.columns {
            products.push(by_lane(column, &placed, function.lanes));
        }
        if function.counts() {
            products.push(vec![1; function.lanes]);
        }
        if let Some(giver) = self.giver {
            giver.multiply(&shares, &mut products, channel)?;
        }
        if let Some(chooser) = self.chooser {
            let more = chooser.multiply(&shares, function.factors(Role::Sender), channel)?;
            add(&mut products, &more);
        }
        let count = function.counts().then(|| products.pop()).flatten();
        let count = count.map_or(0, |ones| sum(&ones));
        let reached = self
            .comparison
            .map(|comparison| comparison.compare(count, channel))
            .transpose()?;
        match (function.output, reached) {
            (OutputKind::Threshold(_), reached) => Ok(Output::Reached(reached == Some(true))),
            (_, Some(false)) => Ok(Output::TooFew),
            (OutputKind::Rows, _) => {
                let mut theirs = vec![0; function.lanes.div_ceil(8)];
                receive(&mut theirs, channel)?;
                let shared = &shares ^ &Bits::from_bytes(&theirs, function.lanes);
                placed.retain(|(lane, _)| shared.get(*lane as usize));
                let found = placed.into_iter().map(|(_, item)| item);
                Ok(protocol::rows(found, items))
            }
            (OutputKind::Count, _) => {
                let mut theirs = [0_u64];
                receive(bytemuck::cast_slice_mut(&mut theirs), channel)?;
                let count = count.wrapping_add(theirs[0]);
                if count > function.most {
                    return Err(Error::Peer(
                        "it revealed that more items are shared than a party has",
                    ));
                }
                Ok(Output::Count(count))
            }
            (OutputKind::Sums(columns), _) => {
                let mut theirs = vec![0_u64; columns.total()];
                receive(bytemuck::cast_slice_mut(&mut theirs), channel)?;
                let sums = sums(&products).into_iter().zip(theirs);
                let sums = sums.map(|(ours, theirs)| ours.wrapping_add(theirs) as i64);
                Ok(Output::Sums(sums.collect()))
            }
            (OutputKind::Shares(_), _) => {
                let mut items = vec![None; function.lanes];
                for (lane, item) in placed {
                    items[lane as usize] = Some(item);
                }
                Ok(Output::Shares(Shares::new(shares, products, Some(items))))
            }
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

fn sum(shares: &[u64]) -> u64 {
    shares.iter().fold(0, |sum, share| sum.wrapping_add(*share))
}

fn sums(columns: &[Vec<u64>]) -> Vec<u64> {
    columns.iter().map(|column| sum(column)).collect()
}

/// Adds as many columns as there are in `more` to the first of `columns`.
fn add(columns: &mut [Vec<u64>], more: &[Vec<u64>]) {
    for (column, more) in columns.iter_mut().zip(more) {
        for (share, more) in column.iter_mut().zip(more) {
            *share = share.wrapping_add(*more);
        }
    }
}

fn send(bytes: &[u8], channel: &mut Channel) -> Result<(), Error> {
    (bytes.chunks(BYTES_PER_MESSAGE)).try_for_each(|part| Ok(channel.send(part)?))
}

fn receive(bytes: &mut [u8], channel: &mut Channel) -> Result<(), Error> {
    (bytes.chunks_mut(BYTES_PER_MESSAGE)).try_for_each(|part| Ok(channel.recv(part)?))
}
