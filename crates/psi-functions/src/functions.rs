//! The output from shared bits: XOR shares of one bit per *lane*, set if the receiver's item there
//! is shared, become an [`OutputKind`].
//!
//! - **Rows**: the sender opens its shares.
//! - **Count**: each bit is multiplied by 1, which gives shares modulo 2^64 (`products`). Each
//!   party adds its shares up, and the sender opens its sum.
//! - **Threshold**: the two sums are added and compared with K in a garbled circuit
//!   (`comparison.rs`).
//! - **Sums**: each bit is multiplied by a number v per column, and the products are added up as
//!   for the count. The receiver gives its own v: that of its item in the lane. The sender's v is
//!   shared beforehand: where the item is shared, v = w + u, the receiver has w, and the sender u.
//!   Where it is not, w and u may be anything, since the bit is 0.
//! - **Shares**: each party keeps its shares of the bits and of the products.
//! - **Totals**: each party keeps its shares of the sums. The parts of a large session end with
//!   this, and their sums are opened in the end ([`opening`]).
//!
//! - **Groups**: a distributed point function of each lane adds up ones and numbers by group
//!   (`grouping.rs`). Group totals are the parties' shares of that. Groups that are large enough
//!   are shown by a garbled circuit (`shown.rs`); if all are, the sender opens its shares.
//!
//! If the output is to be withheld when too few items are shared, their number is compared as for a
//! threshold before anything is opened. Both learn the result of that.
//!
//! Otherwise the sender learns nothing. The receiver sees only shares of what was not asked for.

use psijoin_block::Prg;
use psijoin_channel::Channel;
use psijoin_psi::{BaseOts, Conversation, Error, OutputKind, Request, Role, TotalShares, Totals};

mod comparison;
mod grouping;
pub mod opening;
mod receiver;
mod sender;
mod shown;

use crate::products::{self, Multiplier};
use grouping::{Grouper, Grouping};
use opening::Opening;

pub use receiver::{Compared, Receiver};
pub use sender::Sender;

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
            products::conversations(extension, giver, self.lanes, self.factors(giver))
        });
        let opening = (self.opening.as_ref()).map(|opening| opening.conversations(&[self.lanes]));
        products
            .chain(opening)
            .fold([offline, online], |[offline, online], [before, after]| {
                [offline.then(before), online.then(after)]
            })
    }

    /// Returns the groups that lanes are added up by.
    fn grouping(&self) -> Option<Grouping> {
        self.output.groups().map(|groups| Grouping {
            groups,
            lanes: self.lanes,
            base_ots: self.base_ots,
        })
    }

    /// Returns how many numbers of a party each bit is multiplied by.
    fn factors(&self, giver: Role) -> usize {
        let Totals { columns, counted } = self.totals;
        match giver {
            Role::Sender => columns.sender,
            Role::Receiver => columns.total() + usize::from(counted),
        }
    }

    /// Returns whose numbers the bits are multiplied by, in order. If the sender's are among them,
    /// the receiver's come first, and are not fewer.
    fn givers(&self) -> impl Iterator<Item = Role> {
        [Role::Receiver, Role::Sender]
            .into_iter()
            .filter(|giver| self.factors(*giver) > 0)
    }

    /// This party's shares of the totals, from those of the products. Products with 1 come last, if
    /// items are counted.
    fn add_up(&self, products: &[Vec<u64>]) -> TotalShares {
        let (columns, ones) = products.split_at(self.totals.columns.total());
        TotalShares {
            sums: columns.iter().map(|column| sum(column)).collect(),
            count: ones.iter().map(|ones| sum(ones)).sum(),
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
