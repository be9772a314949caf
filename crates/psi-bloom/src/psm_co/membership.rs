//! The general form: whether an item of the receiver is in a set of the sender, for some items, one
//! walk after the other.
//!
//! After each bit the graph has a node for each beginning of an item of the set, and one for "not
//! in the set". They are filled up to the largest possible number, the smaller of 2^bits and the
//! number of items, with nodes that nothing leads to. All are in an order that is drawn anew. So
//! neither their number nor the receiver's place tells anything about the set. A bit takes two
//! ciphertexts for each node before it, of κ bits and a place. Each item of the receiver has a
//! graph of its own.

use std::ops::Range;

use psijoin_block::{Block, Prg, blake3_rows};
use psijoin_channel::{
    Channel,
    stream::{self, Chunks},
};
use psijoin_circuit::Bits;
use psijoin_ot::extension::{self, Receiver, Sender};
use psijoin_psi::{Conversation, Error, ots::Ots};
use psijoin_runtime::memory::Buffer;
use zeroize::Zeroizing;

use super::{
    OTS_AT_ONCE, choices, draw_shares,
    form::{Pad, at, block, packed},
    lanes::hashed_row,
    opening,
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
    depth: usize,
    labels: Vec<Block>,
    /// The targets of a zero and a one: a place after the next bit, or λ0 or λ1.
    children: Vec<[Block; 2]>,
    /// What the next nodes' labels are.
    next_labels: Vec<Block>,
    /// The strings of the OT of this bit.
    strings: [Block; 2],
}

/// Where the receiver is.
#[derive(Default)]
struct Position {
    label: Block,
    /// The place of the node, or at last λ0 or λ1.
    place: Block,
}

const ASTRAY: Error = Error::Peer("it led to a node that is not there");

/// Returns the number of a bit of a walk.
fn number(walk: usize, depth: usize) -> usize {
    walk * Block::BITS + depth
}

impl Membership {
    /// Returns what is said in walks for this many items of the receiver, in these OTs and after
    /// them.
    pub fn conversation(&self, ots: Ots, walks: usize) -> Conversation {
        let levels = (0..self.bits).map(|depth| {
            let bytes = |nodes| self.message_bytes(depth, nodes);
            self.messages(depth).bytes(bytes)
        });
        let of_walk: u64 = levels.sum();
        self.groups(walks)
            .fold(Conversation::default(), |talk, group| {
                talk.then(ots.chosen(group.len() * self.bits))
                    .says(ots.sender, group.len() as u64 * of_walk)
            })
    }

    /// Runs the sender, and returns its XOR shares of whether each of the receiver's items is in
    /// the set. The peer calls [`receive_shares`](Self::receive_shares).
    ///
    /// # Errors
    /// If the channel breaks.
    ///
    /// # Panics
    /// As [`send`](Self::send), and unless one bit is opened.
    pub fn send_shares(
        &self,
        set: &[Block],
        walks: usize,
        ots: &mut Sender,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Bits, Error> {
        assert_eq!(self.opened_bits, 1, "a share is a bit");
        let shares = draw_shares(walks, rng);
        self.send(set, &opening(&shares), ots, channel, rng)?;
        Ok(shares)
    }

    /// Runs the receiver, and returns its XOR shares.
    ///
    /// # Errors
    /// As [`receive`](Self::receive).
    pub fn receive_shares(
        &self,
        items: &[Block],
        ots: &mut Receiver,
        channel: &mut Channel,
    ) -> Result<Bits, Error> {
        let opened = self.receive(items, ots, channel)?;
        Ok(opened.iter().map(|share| share.bit(0)).collect())
    }

    /// Lets the receiver have λ1 for each of its items that is in the set, and λ0 for the others:
    /// the lowest bits of `opened`. The peer calls [`receive`](Self::receive).
    ///
    /// # Errors
    /// If the channel breaks.
    ///
    /// # Panics
    /// If there are more items than agreed on.
    pub fn send(
        &self,
        set: &[Block],
        opened: &[[Block; 2]],
        ots: &mut Sender,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<(), Error> {
        assert!(set.len() <= self.items, "as many items as agreed on");
        // Bit 0 is the highest, so that items with the same beginning are neighbours.
        let set = set.iter().map(|item| self.turned(item.0));
        let mut set: Zeroizing<Vec<u128>> = Zeroizing::new(set.collect());
        set.sort_unstable();
        // Items that are the same in the bits that count have one node.
        set.dedup();
        for group in self.groups(opened.len()) {
            let mut zeros = Buffer::zeroed(group.len() * self.bits);
            ots.send_chosen(&mut zeros, channel)?;
            let ones = extension::random_messages(&mut zeros, &ots.delta());
            for (i, walk) in group.enumerate() {
                let bits = i * self.bits..(i + 1) * self.bits;
                let strings = [&zeros[bits.clone()], &ones[bits]];
                self.send_walk(&set, walk, opened[walk], strings, channel, rng)?;
            }
        }
        Ok(())
    }

    /// Sends the graph of one of the receiver's items.
    fn send_walk(
        &self,
        set: &[u128],
        walk: usize,
        opened: [Block; 2],
        [zeros, ones]: [&[Block]; 2],
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<(), Error> {
        let mut places = vec![0; self.nodes(0)];
        let mut labels = vec![Block::ZERO; self.nodes(0)];
        let mut message = Vec::new();
        for depths in self.runs() {
            let levels: Vec<Level> = (depths.clone())
                .map(|depth| {
                    let next_places = rng.permutation(self.nodes(depth + 1) as u32);
                    let children = self.children(depth, set, &places, &next_places, opened);
                    let mut next_labels = vec![Block::ZERO; next_places.len()];
                    rng.fill(&mut next_labels);
                    places = next_places;
                    Level {
                        depth,
                        labels: std::mem::replace(&mut labels, next_labels.clone()),
                        children,
                        next_labels,
                        strings: [zeros[depth], ones[depth]],
                    }
                })
                .collect();
            if let [level] = &levels[..] {
                let messages = self.messages(level.depth);
                stream::send(channel.halves().0, messages, &|nodes, message| {
                    self.seal(walk, level, nodes, message);
                })?;
            } else {
                message.clear();
                for level in &levels {
                    self.seal(walk, level, 0..level.labels.len(), &mut message);
                }
                channel.send(&message)?;
            }
        }
        Ok(())
    }

    /// Returns what is opened for each of these items.
    ///
    /// # Errors
    /// If the channel breaks, or the peer leads to a node that is not there.
    pub fn receive(
        &self,
        items: &[Block],
        ots: &mut Receiver,
        channel: &mut Channel,
    ) -> Result<Vec<Block>, Error> {
        let mut opened = Vec::with_capacity(items.len());
        for group in self.groups(items.len()) {
            let choices = choices(&items[group.clone()], self.bits);
            let mut strings = Buffer::zeroed(group.len() * self.bits);
            ots.receive_chosen(&choices, &mut strings, channel)?;
            extension::random_message(&mut strings);
            for (strings, walk) in strings.chunks(self.bits).zip(group) {
                opened.push(self.receive_walk(items[walk], walk, strings, channel)?);
            }
        }
        Ok(opened)
    }

    /// Walks for one item.
    fn receive_walk(
        &self,
        item: Block,
        walk: usize,
        strings: &[Block],
        channel: &mut Channel,
    ) -> Result<Block, Error> {
        let mut position = Position::default();
        let mut message = Vec::new();
        let step = |position: &Position, depth: usize, message: &[u8], nodes: Range<usize>| {
            let pad = self.pad(position.label, strings[depth], walk, depth);
            let own = (
                (position.place.0 as usize).wrapping_sub(nodes.start),
                item.bit(depth),
            );
            let is_here = own.0 < nodes.len();
            is_here.then(|| self.open(depth, message, nodes.len(), own, &pad))
        };
        for depths in self.runs() {
            let mut reached = None;
            if depths.len() == 1 {
                let depth = depths.start;
                for nodes in self.messages(depth).ranges() {
                    message.resize(self.message_bytes(depth, nodes.len()), 0);
                    channel.recv(&mut message)?;
                    reached = step(&position, depth, &message, nodes).or(reached);
                }
            } else {
                let bytes = |depth| self.message_bytes(depth, self.nodes(depth));
                message.resize(depths.clone().map(bytes).sum(), 0);
                channel.recv(&mut message)?;
                let mut rest = &message[..];
                for depth in depths {
                    let (level, later) = rest.split_at(bytes(depth));
                    rest = later;
                    let from = reached.as_ref().unwrap_or(&position);
                    reached = Some(step(from, depth, level, 0..self.nodes(depth)).ok_or(ASTRAY)?);
                }
            }
            position = reached.ok_or(ASTRAY)?;
        }
        Ok(position.place)
    }

    /// Walks whose OTs are made at once.
    fn groups(&self, walks: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        Chunks {
            total: walks,
            per_message: (OTS_AT_ONCE / self.bits).max(1),
        }
        .ranges()
    }

    /// Returns the depths of levels that travel together: small ones in one message, a larger one
    /// in several.
    pub(super) fn runs(&self) -> Vec<Range<usize>> {
        let mut runs = Vec::new();
        let (mut start, mut nodes) = (0, 0);
        for depth in 0..self.bits {
            nodes += self.nodes(depth);
            if nodes > NODES_PER_MESSAGE && depth > start {
                runs.push(start..depth);
                (start, nodes) = (depth, self.nodes(depth));
            }
        }
        runs.push(start..self.bits);
        runs
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

    fn pad(&self, label: Block, string: Block, walk: usize, depth: usize) -> Pad {
        let mut pad = [Pad::default()];
        let row = hashed_row(label, string, number(walk, depth));
        blake3_rows::keyed_hash(&self.key, &[row], &mut pad);
        pad[0]
    }

    /// Appends the ciphertexts of some nodes.
    fn seal(&self, walk: usize, level: &Level, nodes: Range<usize>, message: &mut Vec<u8>) {
        let number = number(walk, level.depth);
        let rows: Vec<_> = (level.labels[nodes.clone()].iter())
            .flat_map(|label| (level.strings).map(|string| hashed_row(*label, string, number)))
            .collect();
        let mut pads = vec![Pad::default(); rows.len()];
        blake3_rows::keyed_hash(&self.key, &rows, &mut pads);
        let targets = level.children[nodes].as_flattened();
        if !self.is_last(level.depth) {
            for (pad, target) in pads.iter().zip(targets) {
                let text = block(pad, 0) ^ level.next_labels[target.0 as usize];
                message.extend_from_slice(&text.to_bytes());
            }
        }
        let length = packed(self.place_bits(level.depth));
        let texts = pads.iter().zip(targets);
        let texts = texts.map(|(pad, target)| length.cut((block(pad, 1) ^ *target).0));
        length.pack(texts, message);
    }

    /// Returns where one of the nodes leads for a bit, from the ciphertexts of some.
    fn open(
        &self,
        depth: usize,
        message: &[u8],
        nodes: usize,
        (node, bit): (usize, bool),
        pad: &Pad,
    ) -> Position {
        let (labels, places) = message.split_at(2 * nodes * self.label_bytes(depth));
        let label = labels.as_chunks().0.as_chunks().0.get(node);
        let label = label.map_or(Block::ZERO, |pair: &[[u8; Block::BYTES]; 2]| {
            at(bit, pair.map(Block::from_bytes)) ^ block(pad, 0)
        });
        let length = packed(self.place_bits(depth));
        let mut places = length.unpack(places, 2 * nodes).skip(2 * node).map(Block);
        let pair = [0, 1].map(|_| places.next().unwrap_or_default());
        let place = at(bit, pair) ^ block(pad, 1);
        Position {
            label,
            place: Block(length.cut(place.0)),
        }
    }
}
