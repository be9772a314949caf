use psijoin_block::{Block, Prg};
use psijoin_params::Log2Prob;
use psijoin_psi::Error;

use super::form::{
    Form, Held, Nodes, Pad, arranged, at, block, contents, pack_all, packed, unpack_all,
};

/// Two blocks per test and bit, and the place of the next node.
///
/// The receiver's label is its pad, to which it adds the first block if its node stands second, and
/// the second block if its bit is one. The sender chooses the blocks so that three of the four
/// agree, and takes what they agree on for "differs".
#[derive(Debug, Clone, Copy)]
pub struct Pointed;

/// Returns the blocks of a test, and the labels of the nodes after it.
fn reduced(pads: &[Pad; 4], choice: bool, nodes: &Nodes) -> ([Block; 2], [Block; 2]) {
    let [equal, other_bit, other_node, neither] = pads.each_ref().map(|pad| block(pad, 0));
    let by_node = other_bit ^ neither;
    let by_bit = other_node ^ neither;
    let label = |pad, place, choice| {
        pad ^ (by_node & Block::splat(place)) ^ (by_bit & Block::splat(choice))
    };
    let labels = [
        label(neither, !nodes.place, !choice),
        label(equal, nodes.place, choice),
    ];
    ([by_node, by_bit], labels)
}

impl Form for Pointed {
    fn derive(_decryptions: u64, _share: Log2Prob) -> Result<Self, Error> {
        Ok(Self)
    }

    fn wrong(self, _decryptions: u64) -> Log2Prob {
        Log2Prob::ZERO
    }

    fn tag_bits(self) -> u32 {
        0
    }

    fn inner_bytes(self, lanes: usize) -> usize {
        lanes * size_of::<[Block; 2]>() + packed(1).packed_bytes(4 * lanes)
    }

    fn last_bytes(self, lanes: usize, opened_bits: usize) -> usize {
        packed(opened_bits).packed_bytes(4 * lanes)
    }

    /// Returns the receiver's own bit as the place, as it knows nothing else.
    fn first_place(self, choice: bool, _rng: &mut Prg) -> bool {
        choice
    }

    fn seal_inner(
        self,
        pads: &[[Pad; 4]],
        choices: impl Iterator<Item = bool>,
        nodes: &mut [Nodes],
        rng: &mut Prg,
        message: &mut Vec<u8>,
    ) {
        let mut next_places = [Block::ZERO];
        rng.fill(&mut next_places);
        let mut places = Vec::with_capacity(nodes.len());
        let tests = pads.iter().zip(choices).zip(nodes).enumerate();
        for (lane, ((pads, choice), nodes)) in tests {
            let (blocks, labels) = reduced(pads, choice, nodes);
            message.extend_from_slice(bytemuck::cast_slice(&blocks));
            let place = next_places[0].bit(lane);
            let next = contents([!place, place].map(|place| Block(place.into())));
            let masked = std::array::from_fn(|i| block(&pads[i], 1) ^ next[i]);
            places.push(arranged(masked, choice, nodes));
            *nodes = Nodes { labels, place };
        }
        pack_all(1, &places, message);
    }

    fn seal_last(
        self,
        pads: &[[Pad; 4]],
        choices: impl Iterator<Item = bool>,
        nodes: &[Nodes],
        (opened, bits): (&[[Block; 2]], usize),
        message: &mut Vec<u8>,
    ) {
        let tests = pads.iter().zip(choices).zip(nodes).zip(opened);
        let texts = tests.map(|(((pads, choice), nodes), opened)| {
            let contents = contents(*opened);
            let masked = std::array::from_fn(|i| block(&pads[i], 0) ^ contents[i]);
            arranged(masked, choice, nodes)
        });
        pack_all(bits, &texts.collect::<Vec<_>>(), message);
    }

    fn open_inner(
        self,
        pads: &[Pad],
        choices: impl Iterator<Item = bool>,
        held: &mut [Held],
        message: &[u8],
    ) {
        let (blocks, places) = message.split_at(held.len() * size_of::<[Block; 2]>());
        let places = unpack_all(1, held.len(), places);
        let blocks: Vec<Block> = bytemuck::pod_collect_to_vec(blocks);
        let tests = pads
            .iter()
            .zip(choices)
            .zip(blocks.as_chunks().0)
            .zip(places);
        for (held, (((pad, choice), [by_node, by_bit]), places)) in held.iter_mut().zip(tests) {
            let next = own(places, choice, held) ^ block(pad, 1);
            held.label = block(pad, 0)
                ^ (*by_node & Block::splat(held.place))
                ^ (*by_bit & Block::splat(choice));
            held.place = next.bit(0);
        }
    }

    fn open_last(
        self,
        pads: &[Pad],
        choices: impl Iterator<Item = bool>,
        held: &[Held],
        (message, bits): (&[u8], usize),
        opened: &mut [Block],
    ) {
        let texts = unpack_all(bits, held.len(), message);
        let tests = pads.iter().zip(choices).zip(texts).zip(held);
        for (opened, (((pad, choice), texts), held)) in opened.iter_mut().zip(tests) {
            let content = own(texts, choice, held) ^ block(pad, 0);
            *opened = Block(packed(bits).cut(content.0));
        }
    }
}

/// Returns the receiver's one of four ciphertexts.
fn own(texts: [Block; 4], choice: bool, held: &Held) -> Block {
    let of_node = [0, 1].map(|bit| at(held.place, [texts[bit], texts[2 + bit]]));
    at(choice, of_node)
}
