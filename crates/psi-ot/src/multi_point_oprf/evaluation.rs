use psijoin_block::{
    blake3_rows,
    transpose::{ROW_GROUP, transpose},
};

/// The most columns that H2 takes.
pub(super) const MAX_COLUMNS: usize = 1024;

/// The bits that some items meet in the columns of their bin, and the hash of them: the end of
/// steps 4 and 5.
#[derive(Default)]
pub(super) struct Evaluation {
    items: usize,
    /// Column by column, one bit per item.
    bits: Vec<u64>,
    narrow: Vec<[u64; MAX_COLUMNS / 128]>,
    wide: Vec<[u64; MAX_COLUMNS / 64]>,
}

impl Evaluation {
    /// Makes room for the items and columns.
    pub(super) fn resize(&mut self, items: usize, columns: usize) {
        self.items = items;
        self.bits.resize(columns * self.stride(), 0);
    }

    /// Returns the number of words of a column.
    fn stride(&self) -> usize {
        self.items.next_multiple_of(ROW_GROUP) / 64
    }

    /// Returns the bits that the items meet in this column.
    pub(super) fn column_mut(&mut self, column: usize) -> &mut [u64] {
        let stride = self.stride();
        &mut self.bits[column * stride..][..stride]
    }

    /// Computes H2 of the bits that each item met.
    pub(super) fn hash(&mut self, key: &[u8; 32], outputs: &mut [u128]) {
        if self.items == 0 {
            return;
        }
        let columns = self.bits.len() / self.stride();
        if columns <= MAX_COLUMNS / 2 {
            hash_rows(key, &self.bits, &mut self.narrow, outputs);
        } else {
            hash_rows(key, &self.bits, &mut self.wide, outputs);
        }
    }
}

fn hash_rows<const WORDS: usize>(
    key: &[u8; 32],
    bits: &[u64],
    rows: &mut Vec<[u64; WORDS]>,
    outputs: &mut [u128],
) {
    rows.resize(outputs.len().next_multiple_of(ROW_GROUP), [0; WORDS]);
    transpose(bits, rows);
    let outputs: &mut [[u64; 2]] = bytemuck::cast_slice_mut(outputs);
    blake3_rows::keyed_hash(key, &rows[..outputs.len()], outputs);
}
