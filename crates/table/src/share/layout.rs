use std::{num::NonZeroU16, str::FromStr};

use super::{
    GivenColumns,
    encode::{flag_bytes, value_bytes},
    fault::Fault,
    wire::Reader,
};
use crate::{Error, ShareError};

/// The longest payload.
pub const MAX_PAYLOAD_BYTES: usize = u16::MAX as usize;

/// The bytes of a count of rows.
const COUNT_BYTES: usize = 2;

/// The treatment of several rows that have one key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RepeatedKeys {
    /// They are an error.
    #[default]
    Refuse,
    /// The first of them is given.
    First,
    /// All of them are given, up to this many.
    List(NonZeroU16),
}

impl FromStr for RepeatedKeys {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let list = |most: &str| most.parse::<NonZeroU16>().ok().map(Self::List);
        match (text, text.strip_prefix("list:").and_then(list)) {
            ("refuse", _) => Ok(Self::Refuse),
            ("first", _) => Ok(Self::First),
            (_, Some(list)) => Ok(list),
            _ => Err("say refuse, first or list:K, as in list:3".to_owned()),
        }
    }
}

impl RepeatedKeys {
    /// Returns how many rows a payload has room for.
    pub(super) fn slots(self) -> u16 {
        match self {
            Self::Refuse | Self::First => 1,
            Self::List(most) => most.get(),
        }
    }

    /// Returns how many rows there can be if their number stands before them.
    pub(crate) fn listed(self) -> u16 {
        match self {
            Self::Refuse | Self::First => 0,
            Self::List(most) => most.get(),
        }
    }
}

/// The layout of rows in a payload.
///
/// A row takes a *slot*, all of one length; what it does not need is zeros. A payload is one slot,
/// or, with [`RepeatedKeys::List`], a count in two bytes and a slot for each row that there can be,
/// the last ones zeros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayloadLayout {
    columns: GivenColumns,
    row_bytes: u16,
    /// The most rows of a list; 0 if there is one row, without a count.
    listed: u16,
}

impl PayloadLayout {
    /// Payloads of these columns, in which each row has a slot of `row_bytes` bytes.
    ///
    /// # Errors
    /// If they are longer than [`MAX_PAYLOAD_BYTES`], or a row without any text does not fit.
    pub fn new(
        columns: GivenColumns,
        row_bytes: usize,
        repeated: RepeatedKeys,
    ) -> Result<Self, Error> {
        Self::checked(columns, row_bytes, repeated.listed()).ok_or(Error::Share(
            ShareError::PayloadBytes {
                row_bytes,
                rows: repeated.slots(),
            },
        ))
    }

    fn checked(columns: GivenColumns, row_bytes: usize, listed: u16) -> Option<Self> {
        let least = flag_bytes(columns.schema().fields().len());
        let layout = Self {
            row_bytes: row_bytes.try_into().ok()?,
            columns,
            listed,
        };
        let fits = row_bytes >= least && layout.payload_bytes() <= MAX_PAYLOAD_BYTES;
        fits.then_some(layout)
    }

    /// Returns the columns of each row.
    pub fn columns(&self) -> &GivenColumns {
        &self.columns
    }

    /// Returns the bytes of a row's slot.
    pub fn row_bytes(&self) -> usize {
        self.row_bytes.into()
    }

    /// Checks that each key gets one row, as it does in [aligned](crate::Destination::aligning)
    /// rows.
    ///
    /// # Errors
    /// If there are lists of rows: a party that aligns its rows gives none.
    pub fn check_alignable(&self) -> Result<(), Error> {
        match self.listed {
            0 => Ok(()),
            _ => Err(Error::Share(ShareError::MalformedOffer(
                "has lists of rows, though aligned rows are one per key",
            ))),
        }
    }

    /// Returns how many rows a payload has room for.
    pub fn most_rows(&self) -> u16 {
        self.listed.max(1)
    }

    /// Returns the most bytes that a row takes as typed columns, which can be many times those of
    /// its slot: a null takes the room of a value.
    pub(crate) fn decoded_row_bytes(&self) -> u64 {
        /// The offset of a text, and whether it is null.
        const TEXT: usize = 5;
        let fields = self.columns.schema().fields().iter();
        let values =
            fields.map(|field| value_bytes(field.data_type()).map_or(TEXT, |fixed| fixed + 1));
        (self.row_bytes() + values.sum::<usize>()) as u64
    }

    /// Returns the bytes of each payload.
    pub fn payload_bytes(&self) -> usize {
        match usize::from(self.listed) {
            0 => self.row_bytes(),
            listed => COUNT_BYTES + listed * self.row_bytes(),
        }
    }

    /// Encodes the layout for the other party. Equal layouts are equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let numbers = [self.row_bytes, self.listed].map(u16::to_le_bytes);
        [numbers.as_flattened(), &self.columns.to_bytes()].concat()
    }

    /// Returns the layout that the other party told of.
    ///
    /// # Errors
    /// Unless these are the very bytes that [`to_bytes`](Self::to_bytes) gives for some layout.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes);
        let (row_bytes, listed) = (reader.number()?.into(), reader.number()?);
        let columns = GivenColumns::read(&mut reader)?;
        reader.finish()?;
        let layout = Self::checked(columns, row_bytes, listed);
        layout.ok_or(Error::Share(ShareError::MalformedOffer(
            "has rows that do not fit into its payloads",
        )))
    }

    /// Adds a row to a payload, behind those that are there.
    ///
    /// # Panics
    /// If the row does not fit, or there is no room for a further one.
    pub(crate) fn put(&self, payload: &mut [u8], row: &[u8]) {
        let slots = match self.listed {
            0 => payload,
            _ => {
                let (count, slots) = payload.split_at_mut(COUNT_BYTES);
                let rows = u16::from_le_bytes([count[0], count[1]]);
                count.copy_from_slice(&(rows + 1).to_le_bytes());
                &mut slots[usize::from(rows) * self.row_bytes()..]
            }
        };
        slots[..self.row_bytes()][..row.len()].copy_from_slice(row);
    }

    /// Returns the slots of a payload that have rows: at least one.
    ///
    /// # Errors
    /// If there is something in the others, or there are none, or more than there is room for.
    pub(super) fn slots<'p>(
        &self,
        payload: &'p [u8],
    ) -> Result<impl Iterator<Item = &'p [u8]> + use<'p>, Fault> {
        let (rows, slots) = match self.listed {
            0 => (1, payload),
            _ => {
                let (count, slots) = payload.split_at(COUNT_BYTES);
                (u16::from_le_bytes([count[0], count[1]]), slots)
            }
        };
        if rows == 0 || rows > self.most_rows() {
            return Err(Fault::new("has a number of rows that cannot be"));
        }
        let (used, unused) = slots.split_at(usize::from(rows) * self.row_bytes());
        check_zeros(unused)?;
        Ok(used.chunks_exact(self.row_bytes()))
    }
}

/// Checks that nothing is left.
pub(super) fn check_zeros(bytes: &[u8]) -> Result<(), Fault> {
    match bytes.iter().all(|byte| *byte == 0) {
        true => Ok(()),
        false => Err(Fault::new("goes on behind its end")),
    }
}
