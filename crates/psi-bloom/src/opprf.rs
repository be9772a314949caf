//! One-time oblivious programmable PRFs from a garbled Bloom filter: the receiver gets the values
//! of its keys that the sender has programmed, and random ones for the others.
//!
//! **Functionality.** The sender has keys, with a value of up to 128 bits each. The receiver has
//! keys of its own. For each that the sender has too it gets the sender's value, and otherwise a
//! random number. The sender learns nothing, and the receiver does not learn which is which. The
//! values of all keys that the receiver may have must be uniform and independent of each other,
//! since it gets them as they are: of the keys with one value, it may have one. That makes it
//! *one-time*.
//!
//! **Source.** Karakoç and Küpçü, *Linear Complexity Private Set Intersection for Secure Two-Party
//! Protocols* (CANS 2020), Functionalities 4 and 5:
//! - Protocol 1, the one-time OPPRF: the sender's keys are items, and the receiver has one.
//! - Protocol 3, the batch one-time OPPRF: there are β sets of the sender, and the receiver has an
//!   item for each. Item x of set i has the key H(x, i) ([`KeyHash`]). One filter holds all keys.
//!
//! Both are the same steps:
//!
//! 1. The sender makes a garbled Bloom filter, in which the strings in the cells of each key sum up
//!    to its value ([`psijoin_encode::garbled_bloom`]).
//! 2. The receiver marks the cells of its keys in a Bloom filter.
//! 3. OT of each cell: the receiver gets its string if it has marked the cell.
//! 4. For each key, the receiver adds up the strings in its cells.
//!
//! Protocol 1, for a set of three items:
//!
//! ```
//! use std::thread;
//!
//! use psijoin_block::{Block, Prg};
//! use psijoin_channel::memory;
//! use psijoin_encode::Digests;
//! use psijoin_ot::extension::Extension;
//! use psijoin_params::Log2Prob;
//! use psijoin_psi_bloom::opprf::{Opprf, Size};
//!
//! let size = Size { programmed: 3, queried: 1, uses: 1 };
//! let opprf = Opprf::derive(size, 64, Extension::IKNP, Log2Prob::from_log2(-40.0))?;
//! // Both know this key, and it was drawn after the sets were fixed: here it was not.
//! let key = [7; 32];
//! let (mut sending, mut receiving) = memory::pair();
//! let learned = thread::scope(|scope| {
//!     scope.spawn(move || {
//!         let rng = &mut Prg::from_os();
//!         let mut ots = opprf.extension().set_up_sender(&mut sending, rng)?;
//!         let items = Digests::Short(&[[1; 16], [2; 16], [3; 16]]);
//!         let values = vec![Block(100), Block(200), Block(300)];
//!         opprf.nth(0).send(key, items, values, &mut ots, &mut sending, rng)
//!     });
//!     let rng = &mut Prg::from_os();
//!     let mut ots = opprf.extension().set_up_receiver(&mut receiving, rng)?;
//!     let item = Digests::Short(&[[2; 16]]);
//!     opprf.nth(0).receive(key, item, &mut ots, &mut receiving)
//! })?;
//! assert!(learned == [Block(200)]);
//! # Ok::<(), psijoin_psi::Error>(())
//! ```
//!
//! Protocol 3, for sets {a, b} and {b, c}, whose values are those of the set. The receiver asks for
//! b in the first, and for a in the second:
//!
//! ```
//! use std::thread;
//!
//! use psijoin_block::{Block, Prg};
//! use psijoin_channel::memory;
//! use psijoin_encode::Digests;
//! use psijoin_ot::extension::Extension;
//! use psijoin_params::Log2Prob;
//! use psijoin_psi_bloom::opprf::{KeyHash, Opprf, Size};
//!
//! let size = Size { programmed: 4, queried: 2, uses: 1 };
//! let opprf = Opprf::derive(size, 64, Extension::SILENT, Log2Prob::from_log2(-40.0))?;
//! // Both from one seed of both parties.
//! let (key, keys) = ([7; 32], &KeyHash::new([8; 32]));
//! let [a, b, c] = [[1; 16], [2; 16], [3; 16]];
//! let (mut sending, mut receiving) = memory::pair();
//! let learned = thread::scope(|scope| {
//!     scope.spawn(move || {
//!         let rng = &mut Prg::from_os();
//!         let mut ots = opprf.extension().set_up_sender(&mut sending, rng)?;
//!         // An item and the number of its set.
//!         let placed = [(0, 0), (1, 0), (1, 1), (2, 1)];
//!         let keys = keys.keys(Digests::Short(&[a, b, c]), 4, &|i| placed[i]);
//!         let values = placed.map(|(_, set)| Block(100 + u128::from(set))).to_vec();
//!         opprf.nth(0).send(key, keys.as_digests(), values, &mut ots, &mut sending, rng)
//!     });
//!     let rng = &mut Prg::from_os();
//!     let mut ots = opprf.extension().set_up_receiver(&mut receiving, rng)?;
//!     let keys = keys.keys(Digests::Short(&[b, a]), 2, &|i| (i, i as u64));
//!     opprf.nth(0).receive(key, keys.as_digests(), &mut ots, &mut receiving)
//! })?;
//! assert!(learned[0] == Block(100));
//! assert!(learned[1] != Block(101));
//! # Ok::<(), psijoin_psi::Error>(())
//! ```
//!
//! **Deviations.**
//! - The paper sends a pair (0, string) for each cell. Here the message for an unmarked cell is
//!   random, and the receiver adds it to nothing; so only the string is sent, under the random
//!   message for a marked cell.
//! - The filter has fewer cells: [`psijoin_params::garbled_bloom::programmed`].
//! - "H_i" is one set of functions of keys (x, i) instead of a set of functions for each i.
//!
//! **Security.** Semi-honest. The sender sees what the sender of OTs sees. The receiver sees the
//! filter in the cells of its own keys. Let the sender's other keys be linearly independent in the
//! other cells, which fails with the probability of [`Opprf::dependent`]: then what the receiver
//! sees fits equally many fillings of those cells, for any values of those keys. So it is uniform,
//! except for the sums of the keys that both have, which are their values. A simulator that has the
//! outputs draws the rest. The filter's functions are AES under keys derived from a key that both
//! know. It must be drawn after both parties have fixed their keys, and serve once.
//!
//! **Cost.** For m cells and values of ℓ bits, m OTs and m·ℓ bits from the sender. m is about 3 for
//! each programmed key if the receiver has few, and at most 1.44·k for each of the receiver's,
//! k ≈ σ + log2 of the programmed ones.

use psijoin_block::{Block, Prg};
use psijoin_channel::Channel;
use psijoin_encode::{Digests, bloom::Cells};
use psijoin_ot::extension::{Extension, Receiver, Sender};
use psijoin_params::{
    FailureBudget, Log2Prob,
    bloom::Shape,
    garbled_bloom::{self, programmed},
};
use psijoin_psi::{Conversation, Error, Parameter, Role, masks::MaskLength, ots::Ots};
pub use psijoin_psi_functions::bins::KeyHash;

use crate::{filter_ot::FilterOt, garbled_transfer::GarbledTransfer};

/// The size of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// The most keys that the sender programs in a use.
    pub programmed: u64,
    /// The most keys that the receiver has in a use.
    pub queried: u64,
    /// The number of uses in a session, with one setup of the OTs.
    pub uses: u64,
}

/// The parameters of a function.
#[derive(Debug, Clone, Copy)]
pub struct Opprf {
    size: Size,
    pub(crate) transfer: GarbledTransfer,
    /// All uses fail with a probability of at most 2^-sigma.
    sigma: u32,
}

impl Opprf {
    /// Derives the smallest filter for values of 1 to 128 bits on this OT extension. All uses
    /// together fail, or show more than they should, with a probability of at most `share`.
    ///
    /// # Errors
    /// If there is none.
    pub fn derive(
        size: Size,
        bits: u32,
        extension: Extension,
        share: Log2Prob,
    ) -> Result<Self, Error> {
        let of_use = Log2Prob::from_log2(share.log2() - (size.uses as f64).log2());
        let shape = programmed(size.programmed, size.queried, of_use)?;
        Ok(Self {
            size,
            transfer: GarbledTransfer {
                filter: FilterOt::new(shape, extension),
                strings: MaskLength { bits },
            },
            sigma: -share.log2() as u32,
        })
    }

    /// Returns a bound on the receiver seeing more than its outputs in any use: on hidden keys that
    /// cancel out where it does not see the filter.
    pub fn dependent(self) -> Log2Prob {
        let Size {
            programmed,
            queried,
            uses,
        } = self.size;
        garbled_bloom::dependent(programmed, queried, self.shape()).times(uses.into())
    }

    /// Returns a bound on there being no filter in any use.
    pub fn stuck(self) -> Log2Prob {
        let Size {
            programmed, uses, ..
        } = self.size;
        garbled_bloom::stuck(programmed, self.shape()).times(uses.into())
    }

    /// Books both events.
    ///
    /// # Errors
    /// If the budget does not have that much left.
    pub fn charge(self, budget: &mut FailureBudget) -> Result<(), Error> {
        budget.charge("hidden keys that cancel out", self.dependent())?;
        budget.charge("keys without cells of their own", self.stuck())?;
        Ok(())
    }

    /// Returns what both must agree on.
    pub fn parameters(self) -> Vec<Parameter> {
        (self.transfer.filter).parameters("hash functions of the filter")
    }

    /// Returns the filter's shape.
    pub fn shape(self) -> Shape {
        self.transfer.filter.shape
    }

    /// Returns the OT extension that it was derived for.
    pub fn extension(self) -> Extension {
        self.transfer.filter.extension
    }

    /// Returns the OTs between the parties.
    pub fn ots(self) -> Ots {
        Ots {
            extension: self.extension(),
            sender: Role::Sender,
        }
    }

    /// Returns what is said in a use, after the setup of the OTs.
    pub fn conversation(self) -> Conversation {
        self.transfer.conversation()
    }

    /// Returns what is to be used the `number`-th time after one setup of the OTs, counted from 0,
    /// on both sides.
    #[must_use]
    pub fn nth(self, number: usize) -> Self {
        let filter = self.transfer.filter.after(number);
        let transfer = GarbledTransfer {
            filter,
            ..self.transfer
        };
        Self { transfer, ..self }
    }

    /// Runs the sender: `values` has the value of each of its keys, in its lowest bits. The peer
    /// calls [`receive`](Self::receive). Both have the same fresh key of the hash functions.
    ///
    /// # Errors
    /// If the channel breaks; [`Error::BadLuck`] if there is no filter ([`stuck`](Self::stuck)).
    ///
    /// # Panics
    /// If there is not one value for each key.
    pub fn send(
        self,
        key: [u8; 32],
        keys: Digests<'_>,
        values: Vec<Block>,
        ots: &mut Sender,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<(), Error> {
        // Step 1.
        let cells = self.cells(key);
        let filter = (self.transfer).garble(&cells, keys, values, self.sigma, rng)?;
        // Step 3.
        self.transfer.send(&filter, ots, channel)
    }

    /// Runs the receiver: the value of each of its keys, in the lowest bits.
    ///
    /// # Errors
    /// If the channel breaks.
    pub fn receive(
        self,
        key: [u8; 32],
        keys: Digests<'_>,
        ots: &mut Receiver,
        channel: &mut Channel,
    ) -> Result<Vec<Block>, Error> {
        // Steps 2 to 4.
        let mut sums = (self.transfer).receive(&self.cells(key), keys, ots, channel)?;
        for sum in &mut sums {
            *sum = Block(self.transfer.strings.cut(sum.0));
        }
        Ok(sums)
    }

    pub(crate) fn cells(self, key: [u8; 32]) -> Cells {
        Cells::new(*key.first_chunk().expect("16 of 32 bytes"), self.shape())
    }
}

#[cfg(test)]
mod tests;
