//! From the rows of keys to payloads, once both parties know what is given.

use super::{PortionKeys, fault::PortionFault, rows::read_cell};
use crate::{
    Error,
    share::{GivenColumns, PayloadLayout, Projection},
};

/// Puts the rows of keys into payloads.
pub struct Packing {
    layout: PayloadLayout,
    columns: Projection,
}

impl Packing {
    /// Packs rows that were read in these columns, of which the layout has some; `None` if it has
    /// others.
    pub fn new(read: &GivenColumns, layout: PayloadLayout) -> Option<Self> {
        Some(Self {
            columns: Projection::new(layout.columns(), read)?,
            layout,
        })
    }

    /// Returns a payload for each of these keys, one after the other.
    ///
    /// # Errors
    /// [`PortionFault::Given`] if they come without rows; [`PortionFault::Room`] if these are more,
    /// or longer, than was told of all portions.
    pub fn payloads(&mut self, keys: &PortionKeys) -> Result<Vec<u8>, Error> {
        let cells = keys.rows.as_ref().ok_or(PortionFault::Given)?;
        let length = self.layout.payload_bytes();
        let mut payloads = vec![0; cells.len() * length];
        for (key, payload) in payloads.chunks_exact_mut(length).enumerate() {
            self.put(cells.cell(key), payload)?;
        }
        Ok(payloads)
    }

    fn put(&mut self, cell: &[u8], payload: &mut [u8]) -> Result<(), PortionFault> {
        let (_, rows) = read_cell(cell)?;
        let mut count = 0;
        for row in rows {
            let row = self.columns.row(row?).ok_or(PortionFault::Given)?;
            count += 1;
            if count > self.layout.most_rows() || row.len() > self.layout.row_bytes() {
                return Err(PortionFault::Room);
            }
            self.layout.put(payload, row);
        }
        match count {
            0 => Err(PortionFault::Given),
            _ => Ok(()),
        }
    }
}
