//! The columns that a table in portions can give, and what is known of its rows in them.

use std::ops::Range;

use super::{
    bytes::{Unread, write_bytes},
    fault::PortionFault,
};
use crate::{
    ShareError,
    share::{GivenColumns, RepeatedKeys},
};

/// The columns that a table offers to the other party, and the bytes that its rows take in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offered {
    columns: GivenColumns,
    repeated: RepeatedKeys,
    /// The most bytes of a value of each column.
    most: Vec<u32>,
    /// The most bytes of all values of a row.
    longest: u32,
}

impl Offered {
    /// Of no row.
    pub(super) fn new(columns: GivenColumns, repeated: RepeatedKeys) -> Self {
        Self {
            most: vec![0; columns.names().count()],
            longest: 0,
            columns,
            repeated,
        }
    }

    /// Adds a row, whose values are at these places.
    pub(super) fn add(&mut self, values: &[Option<Range<usize>>]) {
        let bytes = values
            .iter()
            .map(|value| value.as_ref().map_or(0, Range::len) as u32);
        for (most, bytes) in self.most.iter_mut().zip(bytes.clone()) {
            *most = bytes.max(*most);
        }
        self.longest = self.longest.max(bytes.sum());
    }

    /// Adds what is known of other rows.
    ///
    /// # Errors
    /// [`PortionFault::OtherGiven`].
    pub(super) fn merge(&mut self, other: &Self) -> Result<(), PortionFault> {
        let columns = self.columns.merged(&other.columns);
        let columns = columns.filter(|_| self.repeated == other.repeated);
        self.columns = columns.ok_or(PortionFault::OtherGiven)?;
        for (most, others) in self.most.iter_mut().zip(&other.most) {
            *most = (*most).max(*others);
        }
        self.longest = self.longest.max(other.longest);
        Ok(())
    }

    /// Checks the number of rows that have the key of another one.
    pub(super) fn check_repeats(&self, rows: u64) -> Result<(), ShareError> {
        match self.repeated {
            RepeatedKeys::Refuse if rows > 0 => Err(ShareError::RepeatedKeys { rows, first: None }),
            _ => Ok(()),
        }
    }

    /// Returns the columns.
    pub fn columns(&self) -> &GivenColumns {
        &self.columns
    }

    /// Returns the treatment of several rows that have one key.
    pub fn repeated(&self) -> RepeatedKeys {
        self.repeated
    }

    /// Returns the bytes of a slot that has room for each row of the table in some of the columns.
    ///
    /// They are those of the longest row if all columns are taken, or if the types of those that
    /// are taken have fixed widths, as of a table that is in one place. Otherwise rows would have
    /// to be measured again, so the longest value of each column counts. If the first row of a key
    /// is given, that of each portion counts.
    ///
    /// # Panics
    /// If one of the columns is not offered.
    pub fn row_bytes(&self, taken: &GivenColumns) -> usize {
        let all = self.columns.schema();
        let most = |name: &str| self.most[all.index_of(name).expect("an offered column")] as usize;
        taken.slot_bytes(most, self.longest as usize)
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        let refused = self.repeated == RepeatedKeys::Refuse;
        bytes.push(refused.into());
        bytes.extend(self.repeated.listed().to_le_bytes());
        write_bytes(bytes, &self.columns.to_bytes());
        let numbers = self.most.iter().chain([&self.longest]);
        bytes.extend(numbers.flat_map(|number| number.to_le_bytes()));
    }

    pub(super) fn read(unread: &mut Unread<'_>) -> Option<Self> {
        let [refused] = unread.chunk()?;
        let listed = u16::from_le_bytes(unread.chunk()?).try_into();
        let repeated = match (refused, listed) {
            (1, Err(_)) => RepeatedKeys::Refuse,
            (0, Err(_)) => RepeatedKeys::First,
            (0, Ok(most)) => RepeatedKeys::List(most),
            _ => return None,
        };
        let columns = GivenColumns::from_bytes(unread.bytes()?).ok()?;
        let most = columns.names().map(|_| unread.u32());
        Some(Self {
            most: most.collect::<Option<_>>()?,
            longest: unread.u32()?,
            columns,
            repeated,
        })
    }
}
