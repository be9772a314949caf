//! Ciampi and Orlandi's functional test of equality, and of membership in a set: the receiver gets
//! one of two strings of the sender, depending on whether both have the same number. Neither learns
//! which one it was.
//!
//! **Functionality.** In each of many lanes the sender has a number a and strings λ0, λ1, and the
//! receiver a number b. The receiver gets λ1 if a = b, else λ0. With λ1 = λ0 ⊕ 1, a single bit,
//! both have XOR shares of whether the numbers are equal; with strings of κ bits these are wire
//! labels of a circuit.
//!
//! **Source.** Ciampi and Orlandi, *Combining Private Set-Intersection with Secure Two-Party
//! Computation* (SCN 2018), whose set membership for a set of one item is this test. It is used
//! this way by Karakoç and Küpçü, *Linear Complexity Private Set Intersection for Secure Two-Party
//! Protocols* (CANS 2020) §2.6, and here by [`kk20`](crate::kk20). The general protocol is
//! [`Membership`], in which the receiver walks through a tree of the beginnings of the sender's
//! items.
//!
//! The test is a walk through a graph of two nodes per bit, "equal so far" and "differs", each with
//! a label of κ bits. The receiver has one of the two labels:
//!
//! 1. For each bit there is an OT of two random strings of κ bits. The receiver chooses one by its
//!    own bit.
//! 2. After the first bit, that string is the receiver's label: "equal" is the one for the sender's
//!    bit, "differs" the other.
//! 3. At any later bit the sender has four ciphertexts, one for each node and each bit. Their
//!    contents lead from "equal" to "equal" if the bit is the sender's, and to "differs" otherwise.
//!    The receiver can decrypt the one for its label and its string. The ciphertexts of the last
//!    bit hold λ1 and λ0.
//!
//! **Two forms** of ciphertexts, by the type parameter:
//! - [`Tagged`], as published: of the two for its bit, the receiver finds its own by a tag, which
//!   it decrypts to zeros. 4·(κ + c) bits for tags of c bits.
//! - [`Pointed`]: nodes are in an order that is drawn anew after each bit (point and permute,
//!   Beaver, Micali, Rogaway 1990), and each label comes with its node's place. So no tag is
//!   needed. Three of the four ciphertexts hold the same label, so two are enough (Gueron, Lindell,
//!   Nof, Pinkas, *Fast Garbling of Circuits Under Standard Assumptions*, CCS 2015, §3.2). 2·κ + 4
//!   bits.
//!
//! **Deviations.** Messages of the OTs are random, and used as keys, so nothing need be sent for
//! them. The pair that the paper sends by OT travels encrypted under both keys. The first bit takes
//! no ciphertexts.
//!
//! **Security**: semi-honest. A ciphertext is masked by keyed BLAKE3 of label, OT string and number
//! of the test and the bit, as a PRF in either of the first two; so the receiver can read what its
//! label and its choice are for, and nothing else. Labels and order tell nothing about the node.
//! The sender sees what the sender of OTs sees. With [`Tagged`], the wrong ciphertext may pass for
//! the right one, with a probability of 2^-c if it comes first: [`Form::wrong`].
//!
//! **Cost.** For η bits, η OTs, and (η − 1) times four ciphertexts, in the forms above; those of
//! the last bit are as long as λ. 4·(η − 1) hashes for the sender, η − 1 for the receiver. Tests
//! are worked on, and travel, a few dozen at a time, bit by bit.

use std::ops::Range;

use psijoin_block::{Block, Prg};
use psijoin_channel::{
    Channel,
    stream::{self, Chunks},
};
use psijoin_circuit::{Bits, garble::Labels};
use psijoin_ot::extension::{self, Receiver, Sender};
use psijoin_params::{FailureBudget, equality};
use psijoin_psi::{Conversation, Error, Parameter, masks::MaskLength, ots::Ots, parameters};
use psijoin_runtime::memory::Buffer;
use zeroize::Zeroizing;

mod form;
mod lanes;
mod membership;
mod pointed;
mod tagged;

pub use form::Form;
pub use membership::Membership;
pub use pointed::Pointed;
pub use tagged::Tagged;

use lanes::Lanes;

/// Bits of a label of a garbled circuit.
pub const LABEL_BITS: usize = Block::BITS;

/// OTs whose strings a party holds at once: 32 bytes each.
const OTS_AT_ONCE: usize = 1 << 21;

/// Tests that travel together: 100 to 160 KiB.
const LANES_PER_MESSAGE: usize = 32;

fn messages(lanes: usize) -> Chunks {
    Chunks {
        total: lanes,
        per_message: LANES_PER_MESSAGE,
    }
}

/// Returns the lowest bits of numbers, one after the other.
fn choices(numbers: &[Block], bits: usize) -> Vec<Block> {
    let length = MaskLength { bits: bits as u32 };
    let mut packed = Vec::new();
    let cut = numbers.iter().map(|number| length.cut(number.0));
    length.pack(cut, &mut packed);
    let blocks = packed.chunks(Block::BYTES).map(|bytes| {
        let mut block = [0; Block::BYTES];
        block[..bytes.len()].copy_from_slice(bytes);
        Block::from_bytes(block)
    });
    blocks.collect()
}

/// Draws the sender's shares of the results.
fn draw_shares(count: usize, rng: &mut Prg) -> Bits {
    let mut shares = vec![Block::ZERO; count.div_ceil(Block::BITS)];
    // Forked, so that the opened shares do not come from the generator that everything else is
    // drawn from.
    rng.fork().fill(&mut shares);
    Bits::from_blocks(&shares, count)
}

/// Returns λ0 and λ1 for each of the sender's shares: what the receiver's is then.
fn opening(shares: &Bits) -> Vec<[Block; 2]> {
    let pairs = shares.iter().map(|share| [share, !share]);
    pairs
        .map(|pair| pair.map(|bit| Block(bit.into())))
        .collect()
}

/// Returns how often the receivers of this many tests decrypt.
pub fn decryptions(bits: u32, lanes: u64) -> u64 {
    u64::from(bits - 1) * lanes
}

/// The tests that the parties agreed on.
#[derive(Debug, Clone, Copy)]
pub struct Tests<F> {
    /// Of ciphertexts.
    pub form: F,
    /// Bits of a number: 2 to 128.
    pub bits: usize,
    /// Bits of λ0 and λ1: 1 to 128.
    pub opened_bits: usize,
    /// A public key of the hashes.
    pub key: [u8; 32],
}

impl<F: Form> Tests<F> {
    /// Derives tests of this many pairs of numbers, which are random where they are to differ.
    /// Numbers that are equal by chance take up to seven sixteenths of the failure budget,
    /// ciphertexts a quarter. A run sets the [key](Self::keyed).
    ///
    /// # Errors
    /// If no numbers or ciphertexts are long enough.
    pub fn derive(
        lanes: u64,
        opened_bits: usize,
        budget: &mut FailureBudget,
    ) -> Result<Self, Error> {
        let bits = equality::bits(lanes, 1, budget.share(7.0 / 16.0))?;
        budget.charge("equal by chance", equality::by_chance(lanes, bits))?;
        let decryptions = decryptions(bits, lanes);
        let form = F::derive(decryptions, budget.share(0.25))?;
        budget.charge("another ciphertext's tag", form.wrong(decryptions))?;
        Ok(Self {
            form,
            bits: bits as usize,
            opened_bits,
            key: [0; 32],
        })
    }

    /// Returns what both parties must agree on.
    pub fn parameters(&self) -> Vec<Parameter> {
        parameters(&[
            ("compared bits", self.bits as u64),
            ("tag bits", self.form.tag_bits().into()),
        ])
    }

    /// Sets the public key of the hashes.
    #[must_use]
    pub fn keyed(self, key: [u8; 32]) -> Self {
        Self { key, ..self }
    }

    /// Runs the sender, and returns its XOR shares of whether each of the `numbers` is equal to the
    /// receiver's. The peer calls [`receive_shares`](Self::receive_shares).
    ///
    /// # Errors
    /// If the channel breaks.
    pub fn send_shares(
        &self,
        numbers: &[Block],
        ots: &mut Sender,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Bits, Error> {
        let shares = draw_shares(numbers.len(), rng);
        self.send(numbers, &opening(&shares), ots, channel, rng)?;
        Ok(shares)
    }

    /// Runs the receiver, and returns its XOR shares.
    ///
    /// # Errors
    /// If the channel breaks.
    pub fn receive_shares(
        &self,
        numbers: &[Block],
        ots: &mut Receiver,
        channel: &mut Channel,
    ) -> Result<Bits, Error> {
        let opened = self.receive(numbers, ots, channel)?;
        Ok(opened.iter().map(|share| share.bit(0)).collect())
    }

    /// Runs the sender of a garbled circuit's inputs, and returns the labels of 0. The peer calls
    /// [`receive_labels`](Self::receive_labels), and gets those of whether its numbers are equal.
    /// `delta` is the circuit's:
    /// [`garbler::Setup::delta`](psijoin_circuit::garble::garbler::Setup::delta).
    ///
    /// # Errors
    /// If the channel breaks.
    ///
    /// # Panics
    /// Unless 128 bits are opened.
    pub fn send_labels(
        &self,
        numbers: &[Block],
        delta: &Block,
        ots: &mut Sender,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Labels, Error> {
        assert_eq!(self.opened_bits, LABEL_BITS, "a label is a block");
        let mut labels = vec![Block::ZERO; numbers.len()];
        // As the sender's shares.
        rng.fork().fill(&mut labels);
        let pairs = labels.iter().map(|label| [*label, *label ^ *delta]);
        let opened = Zeroizing::new(pairs.collect::<Vec<_>>());
        self.send(numbers, &opened, ots, channel, rng)?;
        Ok(Labels::new(labels))
    }

    /// Runs the receiver, and returns the labels of the bits.
    ///
    /// # Errors
    /// If the channel breaks.
    pub fn receive_labels(
        &self,
        numbers: &[Block],
        ots: &mut Receiver,
        channel: &mut Channel,
    ) -> Result<Labels, Error> {
        Ok(Labels::new(self.receive(numbers, ots, channel)?))
    }

    /// Returns what is said, in these OTs and after them.
    pub fn conversation(&self, ots: Ots, lanes: usize) -> Conversation {
        self.groups(lanes)
            .fold(Conversation::default(), |talk, group| {
                let ciphertexts = messages(group.len()).bytes(|lanes| self.message_bytes(lanes));
                talk.then(ots.chosen(group.len() * self.bits))
                    .says(ots.sender, ciphertexts)
            })
    }

    /// Runs the sender: `opened` has λ0 and λ1 for each of its `numbers`, in their lowest bits. The
    /// peer calls [`receive`](Self::receive).
    ///
    /// # Errors
    /// If the channel breaks.
    ///
    /// # Panics
    /// If there are not as many pairs as numbers, or numbers have fewer than two bits.
    pub fn send(
        &self,
        numbers: &[Block],
        opened: &[[Block; 2]],
        ots: &mut Sender,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<(), Error> {
        assert_eq!(numbers.len(), opened.len(), "a pair for each number");
        for group in self.groups(numbers.len()) {
            let mut zeros = Buffer::zeroed(group.len() * self.bits);
            ots.send_chosen(&mut zeros, channel)?;
            let ones = extension::random_messages(&mut zeros, &ots.delta());
            let seeds = rng.fork();
            stream::send(
                channel.halves().0,
                messages(group.len()),
                &|range, message| {
                    let mut seed = [Block::ZERO];
                    seeds.fill_at(range.start as u128, &mut seed);
                    let first = group.start + range.start;
                    let strings = range.start * self.bits..range.end * self.bits;
                    let lanes = self.lanes(first, &numbers[first..][..range.len()]);
                    let opened = &opened[first..][..range.len()];
                    let strings = [&zeros[strings.clone()], &ones[strings]];
                    lanes.seal(strings, opened, &mut Prg::from_seed(seed[0]), message);
                },
            )?;
        }
        Ok(())
    }

    /// Runs the receiver: what is opened for each of its numbers.
    ///
    /// # Errors
    /// If the channel breaks.
    ///
    /// # Panics
    /// If numbers have fewer than two bits.
    pub fn receive(
        &self,
        numbers: &[Block],
        ots: &mut Receiver,
        channel: &mut Channel,
    ) -> Result<Vec<Block>, Error> {
        let mut opened = vec![Block::ZERO; numbers.len()];
        for group in self.groups(numbers.len()) {
            let choices = choices(&numbers[group.clone()], self.bits);
            let mut strings = Buffer::zeroed(group.len() * self.bits);
            ots.receive_chosen(&choices, &mut strings, channel)?;
            extension::random_message(&mut strings);
            stream::receive_into(
                channel.halves().1,
                messages(group.len()),
                &|lanes| self.message_bytes(lanes),
                &mut opened[group.clone()],
                &|| (),
                &|range, message, opened, ()| {
                    let first = group.start + range.start;
                    let lanes = self.lanes(first, &numbers[first..][..range.len()]);
                    let strings = &strings[range.start * self.bits..range.end * self.bits];
                    lanes.open(strings, message, opened);
                },
            )?;
        }
        Ok(opened)
    }

    /// Returns some tests, beginning with this number.
    fn lanes<'a>(&'a self, first: usize, numbers: &'a [Block]) -> Lanes<'a, F> {
        Lanes {
            tests: self,
            first,
            numbers,
        }
    }

    /// Tests whose OTs are made at once.
    fn groups(&self, lanes: usize) -> impl Iterator<Item = Range<usize>> + use<F> {
        assert!(self.bits >= 2, "numbers have two bits or more");
        let at_once = (OTS_AT_ONCE / self.bits).max(1);
        Chunks {
            total: lanes,
            per_message: at_once,
        }
        .ranges()
    }

    /// Returns the number of bytes of the ciphertexts of this many tests.
    fn message_bytes(&self, lanes: usize) -> usize {
        (self.bits - 2) * self.form.inner_bytes(lanes)
            + self.form.last_bytes(lanes, self.opened_bits)
    }
}

#[cfg(test)]
mod tests;
