use psijoin_block::{
    Block, Prg,
    aes::Aes128,
    positions::{self, POSITIONS},
};
use psijoin_encode::Digests;

/// Bytes of an item that F takes: longer digests are folded.
pub const INPUT_BYTES: usize = Block::BYTES;

/// Blocks that are encrypted at once.
const BATCH: usize = 128;

/// Returns how many ciphers F has for this many columns.
pub(super) fn ciphers(columns: usize) -> usize {
    1 + columns.div_ceil(POSITIONS)
}

/// F: a digest to a row of its bin in each column (CM20 §4.2): F(x) = G_1(z) ‖ … ‖ G_t(z), where
/// G_i is AES under a key of its own, and z is x, or G_0(x_0) ⊕ x_1 for x = x_0 ‖ x_1 of 256 bits.
/// Each block of G_i is the rows of eight columns, a *group*.
pub(super) struct Function {
    first: Aes128,
    groups: Vec<Aes128>,
    bin_rows: u16,
}

impl Function {
    /// Returns F for this many columns, with keys drawn from `key`.
    pub(super) fn new(mut key: Prg, columns: usize, bin_rows: u32) -> Self {
        let mut next = || Aes128::new(key.block());
        Self {
            first: next(),
            groups: (1..ciphers(columns)).map(|_| next()).collect(),
            bin_rows: bin_rows.try_into().expect("16 bits pick a row"),
        }
    }

    /// Returns the number of groups.
    pub(super) fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Sets `inputs` to the z of these digests.
    pub(super) fn inputs(&self, digests: Digests<'_>, inputs: &mut Vec<Block>) {
        inputs.resize(digests.len(), Block::ZERO);
        digests.fold(&self.first, inputs);
    }

    /// Computes the rows that these inputs pick in the columns of a group.
    pub(super) fn rows(&self, group: usize, inputs: &[Block], rows: &mut Rows) {
        rows.resize(inputs.len());
        let mut blocks = [Block::ZERO; BATCH];
        for (batch, inputs) in inputs.chunks(BATCH).enumerate() {
            let blocks = &mut blocks[..inputs.len()];
            blocks.copy_from_slice(inputs);
            self.groups[group].encrypt(blocks);
            positions::scale(blocks, self.bin_rows, batch * BATCH, &mut rows.rows);
        }
    }
}

/// For each column of a group, the row of each item.
#[derive(Default)]
pub(super) struct Rows {
    rows: Vec<u16>,
    items: usize,
    stride: usize,
}

impl Rows {
    fn resize(&mut self, items: usize) {
        /// Columns whose distance is a multiple of 4 KiB would meet in one set of the cache.
        const PADDING: usize = 32;
        self.items = items;
        self.stride = items.next_multiple_of(PADDING) + PADDING;
        self.rows.resize(POSITIONS * self.stride, 0);
    }

    /// Returns the rows of column `column` of the group.
    pub(super) fn column(&self, column: usize) -> &[u16] {
        &self.rows[column * self.stride..][..self.items]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function() -> Function {
        Function::new(Prg::from_seed(Block(1)), 20, 1000)
    }

    /// Returns all rows of each digest, one column after the other.
    fn all_rows(digests: Digests<'_>) -> Vec<Vec<u16>> {
        let function = function();
        let (mut inputs, mut rows) = (Vec::new(), Rows::default());
        function.inputs(digests, &mut inputs);
        let mut all = Vec::new();
        for group in 0..function.groups() {
            function.rows(group, &inputs, &mut rows);
            all.extend((0..POSITIONS).map(|column| rows.column(column).to_vec()));
        }
        all
    }

    fn encrypt(key: Block, mut block: [Block; 1]) -> u128 {
        Aes128::new(key).encrypt(&mut block);
        block[0].0
    }

    #[test]
    fn follows_its_definition() {
        let mut keys = [Block::ZERO; 4];
        Prg::from_seed(Block(1)).fill(&mut keys);
        let digests: Vec<[u8; 32]> = (0..300_u16)
            .map(|i| *blake3::hash(&i.to_le_bytes()).as_bytes())
            .collect();
        let halves = digests.iter().map(|digest| {
            [0, 16].map(|i| Block::from_bytes(digest[i..i + 16].try_into().unwrap()))
        });
        let long = all_rows(Digests::Long(&digests));
        let short: Vec<[u8; 16]> = halves.clone().map(|[half, _]| half.to_bytes()).collect();
        let short = all_rows(Digests::Short(&short));
        assert_eq!(long.len(), 24);
        for (item, [x0, x1]) in halves.enumerate() {
            let z = Block(encrypt(keys[0], [x0]) ^ x1.0);
            for column in 0..24 {
                let row = |z| {
                    let block = encrypt(keys[1 + column / 8], [z]);
                    let word = (block >> (16 * (column % 8))) as u16;
                    ((u32::from(word) * 1000) >> 16) as u16
                };
                assert_eq!(long[column][item], row(z));
                assert_eq!(short[column][item], row(x0));
            }
        }
    }
}
