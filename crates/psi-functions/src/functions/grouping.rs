//! Totals of groups: a group is the point of a lane, of a distributed point function
//! ([`dpf`](crate::dpf)).
//!
//! The point has the bits of the sender's label, and below them those of the receiver's. Each party
//! knows, or has a share of, either label; so it has a share of the point. Of a lane without a
//! shared item neither the label nor the numbers matter.

use psijoin_block::Prg;
use psijoin_channel::Channel;
use psijoin_circuit::Bits;
use psijoin_psi::{BaseOts, Conversation, Error, Groups, Role, TotalShares};

use crate::dpf::{Dpf, Points, Shape};

/// The groups that lanes are added up by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grouping {
    pub(super) groups: Groups,
    pub(super) lanes: usize,
    pub(super) base_ots: BaseOts,
}

impl Grouping {
    /// Returns what is said offline and online.
    pub(super) fn conversations(self) -> [Conversation; 2] {
        self.shape().conversations(self.base_ots)
    }

    /// The points are all pairs of the sender's labels and numbers of as many bits as the
    /// receiver's labels have.
    fn shape(self) -> Shape {
        Shape {
            lanes: self.lanes,
            points: self.groups.labels.sender.max(1) << self.bits(Role::Receiver),
            values: self.groups.totals(),
        }
    }

    /// Returns the number of bits of a party's label.
    fn bits(self, role: Role) -> u32 {
        self.groups
            .labels
            .of(role)
            .max(1)
            .next_power_of_two()
            .ilog2()
    }

    /// Prepares the sums, for one of the parties.
    pub(super) fn prepare(
        self,
        role: Role,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Grouper, Error> {
        Ok(Grouper {
            grouping: self,
            role,
            dpf: Dpf::prepare(self.shape(), role, self.base_ots, channel, rng)?,
        })
    }
}

/// One party, after the offline phase.
pub(super) struct Grouper {
    grouping: Grouping,
    role: Role,
    dpf: Dpf,
}

impl Grouper {
    /// Returns this party's shares of all totals. It has a share of whether each lane's item is
    /// shared, and of each column that was brought: of the sender's columns, additively, then of
    /// its labels, by XOR. The receiver's columns it has itself, or it is the sender.
    pub(super) fn add_up(
        self,
        shares: &Bits,
        numbers: Vec<Vec<u64>>,
        channel: &mut Channel,
    ) -> Result<TotalShares, Error> {
        let Self {
            grouping,
            role,
            dpf,
        } = self;
        let (groups, lanes) = (grouping.groups, grouping.lanes);
        let mut points = vec![0_u16; lanes];
        // The receiver counts each lane once.
        let one = u64::from(role == Role::Receiver);
        let mut values = vec![vec![one; lanes]];
        let mut numbers = numbers.into_iter();
        for owner in [Role::Sender, Role::Receiver] {
            let columns = (&mut numbers).take(groups.columns.of(owner));
            values.extend(columns);
            if groups.labels.of(owner) > 0 {
                let labels = numbers.next();
                grouping.place(&mut points, owner, &labels.unwrap_or_default());
            }
        }
        values.resize(groups.totals(), vec![0; lanes]);
        let lanes = Points {
            selected: shares,
            points: &points,
            values,
        };
        Ok(grouping.of_groups(&dpf.add_up(lanes, channel)?))
    }
}

impl Grouping {
    /// Puts the bits of labels, or of shares of them, into the points.
    fn place(self, points: &mut [u16], owner: Role, labels: &[u64]) {
        let below = match owner {
            Role::Sender => self.bits(Role::Receiver),
            Role::Receiver => 0,
        };
        let mask = (1 << self.bits(owner)) - 1;
        for (point, label) in points.iter_mut().zip(labels) {
            *point |= ((label & mask) << below) as u16;
        }
    }

    /// Returns the shares at the points that stand for groups.
    fn of_groups(self, sums: &[Vec<u64>]) -> TotalShares {
        let below = 1 << self.bits(Role::Receiver);
        let labels = self.groups.labels.receiver.max(1);
        let of_value = sums.iter().flat_map(|sums| sums.chunks(below));
        TotalShares {
            sums: of_value.flat_map(|sums| &sums[..labels]).copied().collect(),
            count: 0,
        }
    }
}
