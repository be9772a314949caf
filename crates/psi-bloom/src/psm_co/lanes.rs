//! A few tests, bit by bit.

use psijoin_block::{Block, Prg, blake3_rows};

use super::{
    Form, Tests,
    form::{Held, Nodes, Pad, select},
};

/// Words of what is hashed: label, string, number of the bit.
const HASHED_WORDS: usize = 5;

/// Tests that follow each other.
pub(super) struct Lanes<'a, F> {
    pub(super) tests: &'a Tests<F>,
    /// The number of the first.
    pub(super) first: usize,
    pub(super) numbers: &'a [Block],
}

impl<F: Form> Lanes<'_, F> {
    /// Appends the ciphertexts of all bits. `strings` has what the receiver gets for a zero, and
    /// for a one, for each bit of each lane in turn.
    pub(super) fn seal(
        &self,
        strings: [&[Block]; 2],
        opened: &[[Block; 2]],
        rng: &mut Prg,
        message: &mut Vec<u8>,
    ) {
        let Tests { form, bits, .. } = *self.tests;
        let [zeros, ones] = strings;
        // The string for the sender's bit, and the other.
        let strings = |lane: usize, bit: usize| {
            let place = lane * bits + bit;
            let own = self.numbers[lane].bit(bit);
            select(own, [zeros[place], ones[place]])
        };
        let mut nodes: Vec<Nodes> = (0..self.numbers.len())
            .map(|lane| {
                let [equal, differs] = strings(lane, 0);
                Nodes {
                    labels: [differs, equal],
                    place: form.first_place(self.numbers[lane].bit(0), rng),
                }
            })
            .collect();
        let mut rows = Vec::with_capacity(4 * nodes.len());
        let mut pads = vec![Pad::default(); 4 * nodes.len()];
        for bit in 1..bits {
            rows.clear();
            for (lane, nodes) in nodes.iter().enumerate() {
                let strings = strings(lane, bit);
                let [differs, equal] = nodes.labels;
                let row = |label, string| self.row(label, string, lane, bit);
                rows.extend(
                    [equal, differs]
                        .into_iter()
                        .flat_map(|label| strings.map(|string| row(label, string))),
                );
            }
            self.hash(&rows, &mut pads);
            let choices = self.numbers.iter().map(|number| number.bit(bit));
            let given = pads.as_chunks().0;
            if bit + 1 < bits {
                form.seal_inner(given, choices, &mut nodes, rng, message);
            } else {
                let bits = self.tests.opened_bits;
                form.seal_last(given, choices, &nodes, (opened, bits), message);
            }
        }
    }

    /// Decrypts what [`seal`](Self::seal) encrypted, with the strings that the receiver chose.
    pub(super) fn open(&self, strings: &[Block], message: &[u8], opened: &mut [Block]) {
        let Tests { form, bits, .. } = *self.tests;
        let lanes = self.numbers.len();
        let mut held: Vec<Held> = (strings.chunks(bits).zip(self.numbers))
            .map(|(strings, number)| Held {
                label: strings[0],
                place: number.bit(0),
            })
            .collect();
        let mut pads = vec![Pad::default(); lanes];
        let mut message = message;
        for bit in 1..bits {
            let rows: Vec<_> = (held.iter().zip(strings.chunks(bits)).enumerate())
                .map(|(lane, (held, strings))| self.row(held.label, strings[bit], lane, bit))
                .collect();
            self.hash(&rows, &mut pads);
            let choices = self.numbers.iter().map(|number| number.bit(bit));
            if bit + 1 < bits {
                let (inner, rest) = message.split_at(form.inner_bytes(lanes));
                form.open_inner(&pads, choices, &mut held, inner);
                message = rest;
            } else {
                let bits = self.tests.opened_bits;
                form.open_last(&pads, choices, &held, (message, bits), opened);
            }
        }
    }

    fn row(&self, label: Block, string: Block, lane: usize, bit: usize) -> [u64; HASHED_WORDS] {
        hashed_row(label, string, (self.first + lane) * Block::BITS + bit)
    }

    fn hash(&self, rows: &[[u64; HASHED_WORDS]], pads: &mut [Pad]) {
        blake3_rows::keyed_hash(&self.tests.key, rows, pads);
    }
}

/// Returns what a pad is the hash of; `number` is that of the test and the bit.
pub(super) fn hashed_row(label: Block, string: Block, number: usize) -> [u64; HASHED_WORDS] {
    let [a, b] = halves(label);
    let [c, d] = halves(string);
    [a, b, c, d, number as u64]
}

fn halves(block: Block) -> [u64; 2] {
    [block.0 as u64, (block.0 >> 64) as u64]
}
