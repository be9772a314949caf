use psijoin_block::{Block, Prg};
use psijoin_params::{Log2Prob, mask};
use psijoin_psi::Error;

use super::form::{
    Form, Held, Nodes, Pad, arranged, at, block, contents, pack_all, packed, unpack_all,
};

/// Ciphertexts as published: with zeros at the end, which show the receiver its own.
#[derive(Debug, Clone, Copy)]
pub struct Tagged {
    /// The number of zeros.
    pub tag_bits: u32,
}

impl Tagged {
    /// Returns the number of bytes of contents of `bits` bits with their tags.
    fn bytes(self, lanes: usize, bits: usize) -> usize {
        packed(bits).packed_bytes(4 * lanes)
            + packed(self.tag_bits as usize).packed_bytes(4 * lanes)
    }

    fn seal(
        self,
        pads: &[[Pad; 4]],
        choices: impl Iterator<Item = bool>,
        nodes: &[Nodes],
        (opened, bits): (impl Iterator<Item = [Block; 2]>, usize),
        message: &mut Vec<u8>,
    ) {
        let (mut texts, mut tags) = (Vec::new(), Vec::new());
        for (((pads, choice), nodes), opened) in pads.iter().zip(choices).zip(nodes).zip(opened) {
            let contents = contents(opened);
            let text = std::array::from_fn(|i| block(&pads[i], 0) ^ contents[i]);
            texts.push(arranged(text, choice, nodes));
            let tag = pads.each_ref().map(|pad| block(pad, 1));
            tags.push(arranged(tag, choice, nodes));
        }
        pack_all(bits, &texts, message);
        pack_all(self.tag_bits as usize, &tags, message);
    }

    /// Returns what the receivers' ciphertexts hold.
    fn open(
        self,
        pads: &[Pad],
        choices: impl Iterator<Item = bool>,
        (message, bits): (&[u8], usize),
    ) -> impl Iterator<Item = Block> {
        let lanes = pads.len();
        let texts = unpack_all(bits, lanes, message);
        let (length, tag_length) = (packed(bits), packed(self.tag_bits as usize));
        let message = &message[length.packed_bytes(4 * lanes)..];
        let tags = unpack_all(self.tag_bits as usize, lanes, message);
        let tests = texts.into_iter().zip(tags).zip(pads).zip(choices);
        tests.map(move |(((texts, tags), pad), choice)| {
            let tag = at(choice, [tags[0], tags[1]]);
            let is_second = tag_length.cut(tag.0 ^ block(pad, 1).0) != 0;
            let texts = [0, 2].map(|node| at(choice, [texts[node], texts[node + 1]]));
            Block(length.cut((at(is_second, texts) ^ block(pad, 0)).0))
        })
    }
}

impl Form for Tagged {
    fn derive(decryptions: u64, share: Log2Prob) -> Result<Self, Error> {
        let tag_bits = mask::bits(first_and_wrong(decryptions), share)?;
        Ok(Self { tag_bits })
    }

    fn wrong(self, decryptions: u64) -> Log2Prob {
        mask::collision(first_and_wrong(decryptions), self.tag_bits)
    }

    fn tag_bits(self) -> u32 {
        self.tag_bits
    }

    fn inner_bytes(self, lanes: usize) -> usize {
        self.bytes(lanes, Block::BITS)
    }

    fn last_bytes(self, lanes: usize, opened_bits: usize) -> usize {
        self.bytes(lanes, opened_bits)
    }

    fn first_place(self, _choice: bool, rng: &mut Prg) -> bool {
        rng.block().bit(0)
    }

    fn seal_inner(
        self,
        pads: &[[Pad; 4]],
        choices: impl Iterator<Item = bool>,
        nodes: &mut [Nodes],
        rng: &mut Prg,
        message: &mut Vec<u8>,
    ) {
        let mut places = [Block::ZERO];
        rng.fill(&mut places);
        let mut labels = vec![[Block::ZERO; 2]; nodes.len()];
        rng.fill(labels.as_flattened_mut());
        let opened = (labels.iter().copied(), Block::BITS);
        self.seal(pads, choices, nodes, opened, message);
        for (lane, (nodes, labels)) in nodes.iter_mut().zip(labels).enumerate() {
            let place = places[0].bit(lane);
            *nodes = Nodes { labels, place };
        }
    }

    fn seal_last(
        self,
        pads: &[[Pad; 4]],
        choices: impl Iterator<Item = bool>,
        nodes: &[Nodes],
        (opened, bits): (&[[Block; 2]], usize),
        message: &mut Vec<u8>,
    ) {
        let opened = (opened.iter().copied(), bits);
        self.seal(pads, choices, nodes, opened, message);
    }

    fn open_inner(
        self,
        pads: &[Pad],
        choices: impl Iterator<Item = bool>,
        held: &mut [Held],
        message: &[u8],
    ) {
        let labels = self.open(pads, choices, (message, Block::BITS));
        for (held, label) in held.iter_mut().zip(labels) {
            held.label = label;
        }
    }

    fn open_last(
        self,
        pads: &[Pad],
        choices: impl Iterator<Item = bool>,
        _held: &[Held],
        message: (&[u8], usize),
        opened: &mut [Block],
    ) {
        for (opened, content) in opened.iter_mut().zip(self.open(pads, choices, message)) {
            *opened = content;
        }
    }
}

/// Tags that are looked at though another ciphertext is the right one: half of the time that stands
/// second.
fn first_and_wrong(decryptions: u64) -> u128 {
    decryptions.div_ceil(2).into()
}
