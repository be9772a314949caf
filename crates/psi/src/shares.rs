use std::fmt;

use psijoin_circuit::{Bits, Lanes};
use zeroize::Zeroize;

/// A party's shares of the intersection, place by place. A place holds one item of the receiver,
/// or none. Both parties have the same number of places, and none at all if a set is empty. Alone,
/// a party's shares are random numbers.
///
/// With both parties' shares together, the XOR of [`membership`](Self::membership) is whether the
/// place's item is shared, and the sum modulo 2^64 of a column is the item's number in that column
/// if it is shared, or otherwise 0.
#[derive(Clone, PartialEq, Eq)]
pub struct Shares {
    membership: Bits,
    columns: Vec<Vec<u64>>,
    items: Option<Vec<Option<u32>>>,
}

impl Shares {
    /// Makes shares: one of a bit, and one of a number of each column, for each place.
    ///
    /// # Panics
    /// If they are not of as many places.
    pub fn new(membership: Bits, columns: Vec<Vec<u64>>, items: Option<Vec<Option<u32>>>) -> Self {
        let places = membership.lanes();
        assert!(columns.iter().all(|column| column.len() == places));
        assert!(items.iter().all(|items| items.len() == places));
        Self {
            membership,
            columns,
            items,
        }
    }

    /// Returns the number of places.
    pub fn places(&self) -> usize {
        self.membership.lanes()
    }

    /// Returns for each place the XOR share of whether its item is shared.
    pub fn membership(&self) -> &Bits {
        &self.membership
    }

    /// Returns for each column, the sender's first, and each place the additive share of the
    /// number.
    pub fn columns(&self) -> &[Vec<u64>] {
        &self.columns
    }

    /// Returns for each place the position of the item there, which the receiver knows, and the
    /// sender does not.
    pub fn items(&self) -> Option<&[Option<u32>]> {
        self.items.as_deref()
    }

    /// Returns them without the numbers of columns.
    #[must_use]
    pub fn without_columns(mut self) -> Self {
        self.columns.zeroize();
        self
    }

    /// Moves the item of each place to another position, or to none.
    #[must_use]
    pub fn at_positions(mut self, position: impl Fn(u32) -> Option<u32>) -> Self {
        for item in self.items.iter_mut().flatten() {
            *item = item.and_then(&position);
        }
        self
    }
}

/// Sizes only.
impl fmt::Debug for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shares")
            .field("places", &self.places())
            .field("columns", &self.columns.len())
            .finish_non_exhaustive()
    }
}

impl Drop for Shares {
    fn drop(&mut self) {
        self.membership.zeroize();
        self.columns.zeroize();
    }
}

/// A party's additive shares of what is added up over the shared items. Alone they are random
/// numbers.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct TotalShares {
    /// Of the sum of each column, the sender's columns first, modulo 2^64.
    pub sums: Vec<u64>,
    /// Of the number of shared items, modulo 2^40 at least; 0 if they are not counted.
    pub count: u64,
}

impl TotalShares {
    /// Returns those of an empty intersection.
    pub fn zero(columns: usize) -> Self {
        Self {
            sums: vec![0; columns],
            count: 0,
        }
    }

    /// Adds shares of other totals, of as many columns: then they are shares of both together.
    pub fn add(&mut self, other: &Self) {
        for (sum, other) in self.sums.iter_mut().zip(&other.sums) {
            *sum = sum.wrapping_add(*other);
        }
        self.count = self.count.wrapping_add(other.count);
    }
}

/// Prints the number of columns only: the shares are secret.
impl fmt::Debug for TotalShares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TotalShares")
            .field("columns", &self.sums.len())
            .finish_non_exhaustive()
    }
}

impl Drop for TotalShares {
    fn drop(&mut self) {
        self.sums.zeroize();
        self.count.zeroize();
    }
}
