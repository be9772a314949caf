//! The general form: whether the receiver's item is in a set of the sender.
//!
//! After each bit the graph has a node for each beginning of an item of the set, and one for "not
//! in the set". They are filled up to the largest possible number, the smaller of 2^bits and the
//! number of items, with nodes that nothing leads to. All are in an order that is drawn anew. So
//! neither their number nor the receiver's place tells anything about the set. A bit takes two
//! ciphertexts for each node before it, of κ bits and a place.

use std::ops::Range;

use psijoin_block::{Block, Prg, blake3_rows};
use psijoin_channel::{
    Channel,
    stream::{self, Chunks},
};
use psijoin_ot::extension::{self, Receiver, Sender};
use psijoin_psi::{Conversation, Error, ots::Ots};
use psijoin_runtime::memory::Buffer;

use super::{
    form::{Pad, at, block, packed},
    lanes::hashed_row,
};

/// Nodes whose ciphertexts travel together: about 70 KiB.
const NODES_PER_MESSAGE: usize = 1 << 11;

/// The parameters that the parties agreed on.
#[derive(Debug, Clone, Copy)]
pub struct Membership {
    /// Items of the sender, one or more.
    pub items: usize,
    /// Bits of an item: 1 to 128.
    pub bits: usize,
    /// Bits of λ0 and λ1: 1 to 128.
    pub opened_bits: usize,
    /// A public key of the hashes.
    pub key: [u8; 32],
}

/// The nodes after some bits, by their places.
struct Level {
    labels: Vec<Block>,
    /// The targets of a zero and a one: a place after the next bit, or λ0 or λ1.
    children: Vec<[Block; 2]>,
}

impl Membership {
    /// Returns what is said, in these OTs and after them.
    pub fn conversation(&self, ots: Ots) -> Conversation {
        let levels = (0..self.bits).map(|depth| {
            let bytes = |nodes| self.message_bytes(depth, nodes);
            self.messages(depth).bytes(bytes)
        });
        ots.chosen(self.bits).says(ots.sender, levels.sum())
    }

    /// Lets the receiver have λ1 if its item is in the set, otherwise λ0: the lowest bits of
    /// `opened`. The peer calls [`receive`](Self::receive).
    ///
    /// # Errors
    /// If the channel breaks.
    ///
    /// # Panics
    /// If there are not as many items as agreed on, all different in the bits that count.
    pub fn send(
        &self,
        set: &[Block],
        opened: [Block; 2],
        ots: &mut Sender,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<(), Error> {
        let mut zeros = Buffer::zeroed(self.bits);
        ots.send_chosen(&mut zeros, channel)?;
        let ones = extension::random_messages(&mut zeros, &ots.delta());
        // Bit 0 is the highest, so that items with the same beginning are neighbours.
        let mut set: Vec<u128> = set.iter().map(|item| self.turned(item.0)).collect();
        set.sort_unstable();
        set.dedup();
        assert_eq!(set.len(), self.items, "as many items as agreed on");

        let mut places = vec![0; self.nodes(0)];
        let mut labels = vec![Block::ZERO; self.nodes(0)];
        for depth in 0..self.bits {
            let next_places = rng.permutation(self.nodes(depth + 1) as u32);
            let children = self.children(depth, &set, &places, &next_places, opened);
            let mut next_labels = vec![Block::ZERO; next_places.len()];
            rng.fill(&mut next_labels);
            let level = Level { labels, children };
            let strings = [zeros[depth], ones[depth]];
            let outbound = channel.halves().0;
            stream::send(outbound, self.messages(depth), &|nodes, message| {
                self.seal(depth, &level, nodes, strings, &next_labels, message);
            })?;
            (places, labels) = (next_places, next_labels);
        }
        Ok(())
    }

    /// Returns what is opened for this item.
    ///
    /// # Errors
    /// If the channel breaks, or the peer leads to a node that is not there.
    pub fn receive(
        &self,
        item: Block,
        ots: &mut Receiver,
        channel: &mut Channel,
    ) -> Result<Block, Error> {
        let mut strings = Buffer::zeroed(self.bits);
        let mask = u128::MAX >> (Block::BITS - self.bits);
        ots.receive_chosen(&[Block(item.0 & mask)], &mut strings, channel)?;
        extension::random_message(&mut strings);
        let (mut label, mut place) = (Block::ZERO, Block::ZERO);
        let mut message = Vec::new();
        for depth in 0..self.bits {
            let (pad, node) = (self.pad(label, strings[depth], depth), place.0 as usize);
            for nodes in self.messages(depth).ranges() {
                message.resize(self.message_bytes(depth, nodes.len()), 0);
                channel.recv(&mut message)?;
                if nodes.contains(&node) {
                    let own = (node - nodes.start, item.bit(depth));
                    (label, place) = self.open(depth, &message, nodes.len(), own, &pad);
                }
            }
            if !self.is_last(depth) && place.0 >= self.nodes(depth + 1) as u128 {
                return Err(Error::Peer("it led to a node that is not there"));
            }
        }
        Ok(place)
    }

    /// Nodes after this many bits: beginnings, and "not in the set".
    fn nodes(&self, depth: usize) -> usize {
        match depth {
            0 => 1,
            _ => self.items.min(1 << depth.min(60)) + 1,
        }
    }

    fn messages(&self, depth: usize) -> Chunks {
        Chunks {
            total: self.nodes(depth),
            per_message: NODES_PER_MESSAGE,
        }
    }

    /// Returns the number of bits of what comes with a label: a place, or λ at the end, without a
    /// label.
    fn place_bits(&self, depth: usize) -> usize {
        if self.is_last(depth) {
            return self.opened_bits;
        }
        (usize::BITS - (self.nodes(depth + 1) - 1).leading_zeros()) as usize
    }

    fn is_last(&self, depth: usize) -> bool {
        depth + 1 == self.bits
    }

    fn label_bytes(&self, depth: usize) -> usize {
        if self.is_last(depth) { 0 } else { Block::BYTES }
    }

    fn message_bytes(&self, depth: usize, nodes: usize) -> usize {
        2 * nodes * self.label_bytes(depth) + packed(self.place_bits(depth)).packed_bytes(2 * nodes)
    }

    /// Returns an item with bit 0 as the highest, and nothing after the bits that count.
    fn turned(&self, item: u128) -> u128 {
        item.reverse_bits() >> (Block::BITS - self.bits)
    }

    /// Returns the beginnings of `depth` bits, ascending.
    fn beginnings(&self, set: &[u128], depth: usize) -> Vec<u128> {
        let mut beginnings: Vec<u128> = (set.iter())
            .map(|item| item.checked_shr((self.bits - depth) as u32).unwrap_or(0))
            .collect();
        beginnings.dedup();
        beginnings
    }

    /// Returns where all nodes lead, by their places. Beginnings have the first places, "not in the
    /// set" has the one after them, and nodes that nothing leads to have the rest: they lead where
    /// that one does.
    fn children(
        &self,
        depth: usize,
        set: &[u128],
        places: &[u32],
        next_places: &[u32],
        opened: [Block; 2],
    ) -> Vec<[Block; 2]> {
        let next = self.beginnings(set, depth + 1);
        let target = |found: Result<usize, usize>| match (self.is_last(depth), found) {
            (true, found) => opened[usize::from(found.is_ok())],
            (false, Ok(found)) => Block(next_places[found].into()),
            (false, Err(_)) => Block(next_places[next.len()].into()),
        };
        let mut children = vec![[target(Err(0)); 2]; places.len()];
        for (beginning, place) in self.beginnings(set, depth).into_iter().zip(places) {
            let after = |bit: u128| target(next.binary_search(&(beginning << 1 | bit)));
            children[*place as usize] = [after(0), after(1)];
        }
        children
    }

    fn pad(&self, label: Block, string: Block, depth: usize) -> Pad {
        let mut pad = [Pad::default()];
        blake3_rows::keyed_hash(&self.key, &[hashed_row(label, string, depth)], &mut pad);
        pad[0]
    }

    /// Appends the ciphertexts of some nodes.
    fn seal(
        &self,
        depth: usize,
        level: &Level,
        nodes: Range<usize>,
        strings: [Block; 2],
        next_labels: &[Block],
        message: &mut Vec<u8>,
    ) {
        let rows: Vec<_> = (level.labels[nodes.clone()].iter())
            .flat_map(|label| strings.map(|string| hashed_row(*label, string, depth)))
            .collect();
        let mut pads = vec![Pad::default(); rows.len()];
        blake3_rows::keyed_hash(&self.key, &rows, &mut pads);
        let targets = level.children[nodes].as_flattened();
        if !self.is_last(depth) {
            for (pad, target) in pads.iter().zip(targets) {
                let text = block(pad, 0) ^ next_labels[target.0 as usize];
                message.extend_from_slice(&text.to_bytes());
            }
        }
        let length = packed(self.place_bits(depth));
        let texts = pads.iter().zip(targets);
        let texts = texts.map(|(pad, target)| length.cut((block(pad, 1) ^ *target).0));
        length.pack(texts, message);
    }

    /// Returns the label, and the place in a message, for one of the nodes and a bit.
    fn open(
        &self,
        depth: usize,
        message: &[u8],
        nodes: usize,
        (node, bit): (usize, bool),
        pad: &Pad,
    ) -> (Block, Block) {
        let (labels, places) = message.split_at(2 * nodes * self.label_bytes(depth));
        let label = labels.as_chunks().0.as_chunks().0.get(node);
        let label = label.map_or(Block::ZERO, |pair: &[[u8; Block::BYTES]; 2]| {
            at(bit, pair.map(Block::from_bytes)) ^ block(pad, 0)
        });
        let length = packed(self.place_bits(depth));
        let mut places = length.unpack(places, 2 * nodes).skip(2 * node).map(Block);
        let pair = [0, 1].map(|_| places.next().unwrap_or_default());
        let place = at(bit, pair) ^ block(pad, 1);
        (label, Block(length.cut(place.0)))
    }
}
