//! The output that the parties ask for, and the output they get.

use std::{fmt, ops::Range};

use psijoin_runtime::memory::prefetch;

use crate::{Group, Groups, Role, Shares, TotalShares, positions::PositionSet};

/// The output that the parties ask for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OutputKind {
    /// The receiver learns which of its items are shared.
    Rows,
    /// The receiver learns which of its items are shared, and gets the sender's payload of each;
    /// the sender perhaps learns as much.
    Payloads(Payloads),
    /// The receiver learns how many items are shared.
    Count,
    /// The receiver learns whether at least this many items are shared.
    Threshold(u64),
    /// The receiver learns the sum of each of these columns over the shared items.
    Sums(Columns),
    /// Each party gets [`Shares`] of one bit per item (shared or not), and of these columns.
    Shares(Columns),
    /// Each party gets [`TotalShares`] of what is added up over the shared items.
    Totals(Totals),
    /// The receiver learns the totals of each group of the shared items.
    Groups(Groups),
    /// Each party gets [`TotalShares`] of the totals of all groups, and none is withheld: of the
    /// counts of all groups, then of the sums of each column, group by group.
    GroupTotals(Groups),
}

impl OutputKind {
    /// Returns the columns of numbers that the parties bring.
    pub fn columns(&self) -> Columns {
        match self {
            Self::Rows | Self::Payloads(_) | Self::Count | Self::Threshold(_) => Columns::NONE,
            Self::Sums(columns) | Self::Shares(columns) => *columns,
            Self::Totals(totals) => totals.columns,
            Self::Groups(groups) | Self::GroupTotals(groups) => groups.brought(),
        }
    }

    /// Returns the groups whose totals are asked for.
    pub fn groups(&self) -> Option<Groups> {
        match self {
            Self::Groups(groups) | Self::GroupTotals(groups) => Some(*groups),
            _ => None,
        }
    }

    /// Returns the number of bytes of the payload that a party brings for each of its items.
    pub fn payload_bytes(&self, role: Role) -> usize {
        match self {
            Self::Payloads(payloads) => payloads.bytes(role),
            _ => 0,
        }
    }

    /// Returns the number of numbers of [noise](crate::Context::noise) that a party brings.
    pub fn noise(&self, role: Role) -> usize {
        match (self, role) {
            (Self::Groups(groups), Role::Sender) => groups.noise(),
            _ => 0,
        }
    }

    /// Returns whether both parties get something: the receiver and the sender.
    pub fn is_for_both(&self) -> bool {
        match self {
            Self::Payloads(payloads) => payloads.back.is_some(),
            Self::Shares(_) | Self::Totals(_) | Self::GroupTotals(_) => true,
            Self::Rows | Self::Count | Self::Threshold(_) | Self::Sums(_) | Self::Groups(_) => {
                false
            }
        }
    }

    /// Returns whether it can be withheld if too few items are shared
    /// ([`Request::min_intersection`](crate::Request::min_intersection)). A threshold already tells
    /// only whether they are too few, and shares tell nothing.
    pub fn can_be_withheld(&self) -> bool {
        matches!(self, Self::Rows | Self::Count | Self::Sums(_))
    }
}

impl fmt::Display for OutputKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows => f.write_str("rows"),
            Self::Payloads(payloads) => payloads.fmt(f),
            Self::Count => f.write_str("count"),
            Self::Threshold(items) => write!(f, "threshold:{items}"),
            Self::Sums(columns) => write!(f, "sums of {columns}"),
            Self::Shares(columns) => write!(f, "shares and {columns}"),
            Self::Totals(Totals { columns, counted }) => {
                let count = if *counted { "a count and " } else { "" };
                write!(f, "shares of {count}sums of {columns}")
            }
            Self::Groups(groups) => groups.fmt(f),
            Self::GroupTotals(groups) => write!(f, "shares of {groups}"),
        }
    }
}

/// The payloads that travel with the shared items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Payloads {
    /// Bytes of the sender's payload of each of its items; none if 0.
    pub from_sender: u32,
    /// `Some` if the sender, too, learns which of its items are shared, and then this many bytes of
    /// the receiver's payload of each.
    pub back: Option<u32>,
}

impl Payloads {
    /// The longest payload of an item.
    pub const MAX_BYTES: u32 = 1 << 16;

    /// Returns the number of bytes of the payload that a party brings for each of its items.
    pub fn bytes(self, role: Role) -> usize {
        let bytes = match role {
            Role::Sender => self.from_sender,
            Role::Receiver => self.back.unwrap_or(0),
        };
        bytes as usize
    }
}

impl fmt::Display for Payloads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from_sender, back } = self;
        match back {
            None => write!(f, "rows with {from_sender} bytes of the sender"),
            Some(bytes) => write!(
                f,
                "rows for both with {from_sender} bytes of the sender and {bytes} of the receiver"
            ),
        }
    }
}

/// The totals over the shared items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Totals {
    /// The numbers in these columns.
    pub columns: Columns,
    /// One per item.
    pub counted: bool,
}

/// The number of columns of numbers that each party brings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Columns {
    /// The sender's.
    pub sender: usize,
    /// The receiver's.
    pub receiver: usize,
}

impl Columns {
    /// No columns.
    pub const NONE: Self = Self {
        sender: 0,
        receiver: 0,
    };

    /// Returns the number of a party's columns.
    pub fn of(self, role: Role) -> usize {
        match role {
            Role::Sender => self.sender,
            Role::Receiver => self.receiver,
        }
    }

    /// Returns the number of both parties' columns.
    pub fn total(self) -> usize {
        self.sender + self.receiver
    }
}

impl fmt::Display for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sender, receiver } = self;
        write!(
            f,
            "{sender} columns of the sender and {receiver} of the receiver"
        )
    }
}

/// The output of a run for one party.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output {
    /// Nothing but what was known before.
    Nothing,
    /// The positions of its own items that the other party has too, ascending.
    Rows(Vec<u32>),
    /// Its own items that the other party has too, each with the other's payload.
    Matched(Matched),
    /// The number of shared items.
    Count(u64),
    /// `true` if at least the requested number of items are shared.
    Reached(bool),
    /// The sum of each column over the shared items: the sender's columns, then the receiver's.
    Sums(Vec<i64>),
    /// Its shares, item by item.
    Shares(Shares),
    /// Its shares of totals.
    Totals(TotalShares),
    /// The totals of each group, and nothing of those that are withheld.
    Groups(Vec<Option<Group>>),
    /// That fewer items are shared than
    /// [`Request::min_intersection`](crate::Request::min_intersection), which both parties learn.
    TooFew,
}

/// The shared items of a party, with what the other one gives for each.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Matched {
    /// The positions of its shared items, ascending.
    pub rows: Vec<u32>,
    /// The other party's payload of each, one after the other, all of the same length.
    pub payloads: Vec<u8>,
}

impl Matched {
    /// Returns rows and payloads in the order of rows, among `items` items, each row once: from
    /// positions in any order, with a payload of `bytes` bytes for each, one after the other.
    ///
    /// # Panics
    /// If there are fewer payloads, or a position is beyond the items.
    pub fn in_order(
        positions: impl IntoIterator<Item = u32>,
        items: usize,
        payloads: &[u8],
        bytes: usize,
    ) -> Self {
        let positions: Vec<u32> = positions.into_iter().collect();
        let mut arranged = Arranged::new(&positions, items, bytes);
        arranged.put(0..positions.len(), payloads);
        Self {
            rows: ascending(positions, items),
            payloads: arranged.payloads,
        }
    }
}

/// Payloads in the order of their rows, as they come in another order.
pub(crate) struct Arranged {
    /// All of them, one after the other.
    pub(crate) payloads: Vec<u8>,
    /// The place of each, in the order in which they come. None if they are empty.
    places: Vec<u32>,
    /// Bytes of a payload.
    bytes: usize,
}

/// The number of payloads between fetching a place and using it.
const AHEAD: usize = 16;

impl Arranged {
    /// Makes an order for payloads of these positions among `items` items, which will come in this
    /// order.
    ///
    /// # Panics
    /// If a position is beyond the items.
    pub(crate) fn new(positions: &[u32], items: usize, bytes: usize) -> Self {
        let positions = if bytes == 0 { &[] } else { positions };
        let rows = PositionSet::new(positions.iter().copied(), items);
        Self {
            payloads: vec![0; rows.len() * bytes],
            places: rows.ranks(positions),
            bytes,
        }
    }

    /// Takes the payloads of these positions, by their numbers, one after the other.
    ///
    /// # Panics
    /// If there are fewer.
    pub(crate) fn put(&mut self, numbers: Range<usize>, payloads: &[u8]) {
        let (bytes, all) = (self.bytes, &mut self.payloads);
        if bytes == 0 {
            return;
        }
        let places = &self.places[numbers];
        let start = |place: u32| place as usize * bytes;
        for (i, place) in places.iter().enumerate() {
            if let Some(later) = places.get(i + AHEAD) {
                prefetch(&all[start(*later)]);
            }
            all[start(*place)..][..bytes].copy_from_slice(&payloads[i * bytes..][..bytes]);
        }
    }
}

/// Payloads are not shown.
impl fmt::Debug for Matched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, bytes) = (&self.rows, self.payloads.len());
        write!(f, "Matched({rows:?}, {bytes} bytes)")
    }
}

impl Output {
    /// Returns the rows of a receiver of `items` items, from the positions that it found, in any
    /// order and perhaps more than once.
    pub fn rows(found: impl IntoIterator<Item = u32>, items: usize) -> Self {
        Self::Rows(ascending(found, items))
    }
}

/// Returns positions among `items`, each once, from positions in any order.
pub fn ascending(found: impl IntoIterator<Item = u32>, items: usize) -> Vec<u32> {
    PositionSet::new(found, items).ascending()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_go_where_their_rows_go() {
        let payloads = b"a2b0c3d0";
        let matched = Matched::in_order([2, 0, 3, 0], 4, payloads, 2);
        assert_eq!(
            (&*matched.rows, &*matched.payloads),
            (&[0, 2, 3][..], &b"d0a2c3"[..])
        );
        let matched = Matched::in_order([1, 0], 2, &[], 0);
        assert_eq!((&*matched.rows, &*matched.payloads), (&[0, 1][..], &[][..]));
    }

    #[test]
    fn rows_ascend_and_are_told_once() {
        let found = [130, 0, 63, 64, 0, 129, 63];
        assert_eq!(
            Output::rows(found, 131),
            Output::Rows(vec![0, 63, 64, 129, 130])
        );
        assert_eq!(Output::rows([], 0), Output::Rows(vec![]));
    }
}
