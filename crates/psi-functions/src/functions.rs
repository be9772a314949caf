//! What the parties learn from shared bits: XOR shares of whether each of the receiver's items is
//! shared, one bit per *lane*, become an [`OutputKind`].
//!
//! - **Rows**: the sender opens its shares.
//! - **Count**: each bit is multiplied by 1, which gives shares modulo 2^64 (`products.rs`). Each
//!   party adds its shares up, and the sender opens its sum.
//! - **Threshold**: the two sums are added and compared with K in a garbled circuit
//!   (`comparison.rs`).
//! - **Sums**: each bit is multiplied by a number v per column, and the products are added up as for
//!   the count. The receiver gives its own v: that of its item in the lane. The sender's v is shared
//!   beforehand: where the item is shared, v = w + u, the receiver has w, and the sender u. Where it
//!   is not, w and u may be anything, since the bit is 0.
//! - **Shares**: each party keeps its shares of the bits and of the products.
//!
//! If the output is to be withheld when too few items are shared, their number is compared as for a
//! threshold before anything is opened. Both learn the result of that.
//!
//! Otherwise the sender learns nothing. The receiver sees only shares of what was not asked for.

use psijoin_block::Prg;
use psijoin_channel::Channel;
use psijoin_psi::{Conversation, Error, OutputKind, Request, Role};

use crate::garbling::{EXTENSION, SetUp};

mod comparison;
mod products;
mod receiver;
mod sender;

use comparison::Comparison;
use products::Multiplier;

pub use receiver::{Compared, Receiver};
pub use sender::Sender;

/// Bytes that travel together.
const BYTES_PER_MESSAGE: usize = 1 << 16;

/// What is to be made of the bits of the lanes.
#[derive(Debug, Clone)]
pub struct Function {
    output: OutputKind,
    lanes: usize,
    /// No more items than this can be shared.
    most: u64,
    comparison: Option<Comparison>,
}

impl Function {
    /// What the request asks for, of the bits of this many lanes.
    pub fn new(request: &Request, lanes: usize) -> Self {
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

    /// What is said offline and online, after what makes the shares.
    pub fn conversations(&self) -> [Conversation; 2] {
        let products = self
            .givers()
            .map(|giver| products::conversations(giver, self.lanes, self.factors(giver)));
        let comparison = self.comparison.map(Comparison::conversations);
        let [offline, online] = products.chain(comparison).fold(
            [Conversation::default(), Conversation::default()],
            |[offline, online], [before, after]| [offline.then(before), online.then(after)],
        );
        [offline, online.sender(self.opened_bytes() as u64)]
    }

    /// Whether shared items are counted, whichever party is to learn the number.
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

    /// Whose numbers the bits are multiplied by, in order. If the sender's are among them, the
    /// receiver's come first, and are not fewer.
    fn givers(&self) -> impl Iterator<Item = Role> {
        [Role::Receiver, Role::Sender]
            .into_iter()
            .filter(|giver| self.factors(*giver) > 0)
    }

    /// The bytes that the sender opens at the end.
    fn opened_bytes(&self) -> usize {
        match self.output {
            OutputKind::Rows => self.lanes.div_ceil(8),
            OutputKind::Count => size_of::<u64>(),
            OutputKind::Sums(columns) => columns.total() * size_of::<u64>(),
            // A threshold is opened by the comparison, and shares are not opened at all. There is no
            // function for any other output.
            _ => 0,
        }
    }

    /// Takes this party's shares of the products with 1 away, and adds them up: its share of the
    /// count. It is 0 if nothing is counted.
    fn take_count(&self, products: &mut Vec<Vec<u64>>) -> u64 {
        let ones = self.counts().then(|| products.pop()).flatten();
        ones.map_or(0, |ones| sum(&ones))
    }
}

/// What a party needs, after the offline phase. S is its half of a garbled circuit.
struct Prepared<S> {
    function: Function,
    multipliers: Vec<Multiplier>,
    /// If there is a comparison.
    circuit: Option<S>,
}

impl<S> Prepared<S> {
    /// Prepares the function, for one of the parties.
    fn offline(
        function: Function,
        role: Role,
        set_up: SetUp<S>,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Self, Error> {
        let multipliers = Multiplier::prepare(&function, role, channel, rng)?;
        let circuit = function
            .comparison
            .map(|_| set_up(EXTENSION, channel, rng))
            .transpose()?;
        Ok(Self {
            function,
            multipliers,
            circuit,
        })
    }
}

fn sum(shares: &[u64]) -> u64 {
    shares.iter().fold(0, |sum, share| sum.wrapping_add(*share))
}

fn sums(columns: &[Vec<u64>]) -> Vec<u64> {
    columns.iter().map(|column| sum(column)).collect()
}

fn send(bytes: &[u8], channel: &mut Channel) -> Result<(), Error> {
    (bytes.chunks(BYTES_PER_MESSAGE)).try_for_each(|part| Ok(channel.send(part)?))
}

fn receive(bytes: &mut [u8], channel: &mut Channel) -> Result<(), Error> {
    (bytes.chunks_mut(BYTES_PER_MESSAGE)).try_for_each(|part| Ok(channel.recv(part)?))
}
