//! The output from shared bits: XOR shares of one bit per *lane*, set if the receiver's item there
//! is shared, become an [`OutputKind`].
//!
//! - **Rows**: the sender opens its shares.
//! - **Count**: each bit is multiplied by 1, which gives shares modulo 2^(8·k) (`products`), with
//!   as few bytes k as the count can have. Each party adds its shares up, and the sender opens its
//!   sum.
//! - **Threshold**: the two sums are added and compared with K in a garbled circuit
//!   (`comparison.rs`).
//! - **Sums**: each bit is multiplied by a number v per column, and the products are added up as
//!   for the count. The receiver gives its own v: that of its item in the lane. The sender's v is
//!   shared beforehand: where the item is shared, v = w + u, the receiver has w, and the sender u.
//!   Where it is not, w and u may be anything, since the bit is 0.
//! - **Shares**: each party keeps its shares of the bits and of the products.
//! - **Totals**: each party keeps its shares of the sums. The parts of a large session end with
//!   this, and their sums are opened in the end ([`opening`]). So these shares of a count have the
//!   bytes of the largest session.
//!
//! - **Groups**: a distributed point function of each lane adds up ones and numbers by group
//!   (`grouping.rs`). Group totals are the parties' shares of that. Groups that are large enough
//!   are shown by a garbled circuit (`shown.rs`); if all are, the sender opens its shares.
//!
//! If the output is to be withheld when too few items are shared, their number is compared as for a
//! threshold before anything is opened. Both learn the result of that.
//!
//! Otherwise the sender learns nothing. The receiver sees only shares of what was not asked for.

use std::iter;

use psijoin_block::Prg;
use psijoin_channel::Channel;
use psijoin_params::Sizes;
use psijoin_psi::{BaseOts, Conversation, Error, OutputKind, Request, Role, TotalShares, Totals};

mod comparison;
mod grouping;
pub mod opening;
mod receiver;
mod sender;
mod shown;

use crate::products::{self, Multiplier, WHOLE};
use grouping::{Grouper, Grouping};
use opening::Opening;

pub use receiver::{Compared, Receiver};
pub use sender::Sender;

/// Returns the fewest bytes of numbers up to `most`.
fn bytes_up_to(most: u64) -> usize {
    most.checked_ilog2().map_or(1, |log2| 1 + log2 as usize / 8)
}

/// Returns the lowest bytes of a number.
fn lowest_bytes(number: u64, bytes: usize) -> u64 {
    number & u64::MAX >> (8 * (WHOLE - bytes))
}

/// The function that is computed from the bits of the lanes.
#[derive(Debug, Clone)]
pub struct Function {
    output: OutputKind,
    lanes: usize,
    base_ots: BaseOts,
    totals: Totals,
    /// If the parties do not keep their shares.
    opening: Option<Opening>,
}

impl Function {
    /// Returns what the request asks for, of the bits of this many lanes.
    pub fn new(request: &Request, lanes: usize) -> Self {
        let output = request.output.clone();
        let (totals, opening) = match output {
            OutputKind::Shares(columns) => {
                let counted = false;
                (Totals { columns, counted }, None)
            }
            OutputKind::Totals(totals) => (totals, None),
            OutputKind::GroupTotals(_) => (Totals::default(), None),
            _ => {
                let opening = Opening::new(request);
                (opening.totals(), Some(opening))
            }
        };
        Self {
            output,
            lanes,
            base_ots: request.base_ots,
            totals,
            opening,
        }
    }

    /// Returns what is said offline and online, after what makes the shares.
    pub fn conversations(&self) -> [Conversation; 2] {
        let [offline, online] = match self.grouping() {
            Some(grouping) => grouping.conversations(),
            None => Default::default(),
        };
        let products = self.givers().map(|giver| {
            let extension = products::extension(self.base_ots);
            products::conversations(extension, giver, self.lanes, &self.widths(giver))
        });
        let opening = (self.opening.as_ref()).map(|opening| opening.conversations(&[self.lanes]));
        products
            .chain(opening)
            .fold([offline, online], |[offline, online], [before, after]| {
                [offline.then(before), online.then(after)]
            })
    }

    /// Returns the width of the products with 1, and of the shares of the count.
    fn count_bytes(&self) -> usize {
        match &self.opening {
            Some(opening) => opening.count_bytes(),
            // Shares of several parts are added up.
            None => bytes_up_to(Sizes::MAX_ITEMS),
        }
    }

    /// Returns the groups that lanes are added up by.
    fn grouping(&self) -> Option<Grouping> {
        self.output.groups().map(|groups| Grouping {
            groups,
            lanes: self.lanes,
            base_ots: self.base_ots,
        })
    }

    /// Returns the widths of the numbers of a party that each bit is multiplied by, in bytes.
    fn widths(&self, giver: Role) -> Vec<usize> {
        let Totals { columns, counted } = self.totals;
        match giver {
            Role::Sender => vec![WHOLE; columns.sender],
            Role::Receiver => {
                let ones = counted.then_some(self.count_bytes());
                iter::repeat_n(WHOLE, columns.total()).chain(ones).collect()
            }
        }
    }

    /// Returns whose numbers the bits are multiplied by, in order. If the sender's are among them,
    /// the receiver's come first, and are not fewer.
    fn givers(&self) -> impl Iterator<Item = Role> {
        [Role::Receiver, Role::Sender]
            .into_iter()
            .filter(|giver| !self.widths(*giver).is_empty())
    }

    /// This party's shares of the totals, from those of the products. Products with 1 come last, if
    /// items are counted.
    fn add_up(&self, products: &[Vec<u64>]) -> TotalShares {
        let (columns, ones) = products.split_at(self.totals.columns.total());
        TotalShares {
            sums: columns.iter().map(|column| sum(column)).collect(),
            count: (ones.iter())
                .map(|ones| lowest_bytes(sum(ones), self.count_bytes()))
                .sum(),
        }
    }
}

/// The state of a party after the offline phase. O is its half of the opening.
struct Prepared<O> {
    function: Function,
    multipliers: Vec<Multiplier>,
    grouper: Option<Grouper>,
    opening: Option<O>,
}

impl<O> Prepared<O> {
    /// Prepares the function, for one of the parties.
    fn offline(
        function: Function,
        role: Role,
        prepare: fn(Opening, &mut Channel, &mut Prg) -> Result<O, Error>,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Self, Error> {
        let grouper = (function.grouping())
            .map(|grouping| grouping.prepare(role, channel, rng))
            .transpose()?;
        let multipliers = Multiplier::prepare(
            function.givers(),
            function.lanes,
            function.base_ots,
            role,
            channel,
            rng,
        )?;
        let opening = (function.opening.clone())
            .map(|opening| prepare(opening, channel, rng))
            .transpose()?;
        Ok(Self {
            function,
            multipliers,
            grouper,
            opening,
        })
    }
}

fn sum(shares: &[u64]) -> u64 {
    shares.iter().fold(0, |sum, share| sum.wrapping_add(*share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_has_the_bytes_that_it_needs() {
        for (most, bytes) in [(0, 1), (255, 1), (256, 2), ((1 << 24) - 1, 3), (1 << 24, 4)] {
            assert_eq!(bytes_up_to(most), bytes);
            assert_eq!(lowest_bytes(most, bytes), most);
        }
        assert_eq!(bytes_up_to(Sizes::MAX_ITEMS), 5);
        assert_eq!(lowest_bytes(u64::MAX, 5), (1 << 40) - 1);
        assert_eq!(lowest_bytes(u64::MAX, WHOLE), u64::MAX);
    }
}
