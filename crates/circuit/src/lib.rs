//! Boolean circuits, and two ways for two parties to compute them on inputs that they keep to
//! themselves.
//!
//! A circuit is a *function over a [`Backend`]*: it is never built, only run. Gates come by
//! layers, and a gate works on many *lanes* at once, so that memory is that of the wires that
//! live, whatever the number of gates.
//!
//! | module or type | contents |
//! |---|---|
//! | [`Backend`], [`TwoParty`] | the interface for circuits: wires of many lanes, XOR, NOT, and products |
//! | [`Bits`] | one bit per lane, packed |
//! | [`plain`] | evaluation in the clear, and the count of gates |
//! | [`count`] | the count of gates alone, layer by layer |
//! | [`compare`] | equality; greater-than, small or shallow |
//! | [`select`] | multiplexers and conditional swaps |
//! | [`arithmetic`] | adders, and the number of ones |
//! | [`merge`] | bitonic merging of two sorted lists |
//! | [`duplicates`] | equal neighbours of a sorted list |
//! | [`waksman`] | any permutation, with its switches set by one party |
//! | [`equality`] | equality of numbers of either party, as shares |
//! | [`garble`] | Yao: half gates, free XOR |
//! | [`gmw`] | Goldreich, Micali and Wigderson: XOR shares and multiplication triples |
//!
//! An example: which of the first party's numbers are greater than the second party's. Only the
//! second party learns it. Both run the same function; one garbles it, the other evaluates it:
//!
//! ```
//! use std::thread;
//!
//! use psijoin_block::Prg;
//! use psijoin_channel::memory;
//! use psijoin_circuit::{
//!     Bits, Error, Side, TwoParty, compare,
//!     garble::{Evaluator, Garbler, evaluator, garbler},
//! };
//! use psijoin_ot::extension::Extension;
//!
//! /// What this party learns. Numbers have 8 bits.
//! fn first_is_greater(mut party: impl TwoParty, numbers: &[u128]) -> Result<Vec<Bits>, Error> {
//!     let (bits, lanes) = (Bits::transposed(numbers, 8), numbers.len());
//!     let (first, second) = match party.side() {
//!         Side::First => (party.own(&bits)?, party.theirs(8, lanes)?),
//!         Side::Second => (party.theirs(8, lanes)?, party.own(&bits)?),
//!     };
//!     let greater = [compare::greater(&mut party, &first, &second)?];
//!     match party.side() {
//!         Side::First => party.reveal(&greater).map(|()| Vec::new()),
//!         Side::Second => party.learn(&greater),
//!     }
//! }
//!
//! let (mut a, mut b) = memory::pair();
//! let first = thread::spawn(move || {
//!     let mut setup = garbler::Setup::new(Extension::IKNP, &mut a, &mut Prg::from_os())?;
//!     first_is_greater(Garbler::new(&mut setup, &mut a), &[200, 5, 7])
//! });
//! let mut setup = evaluator::Setup::new(Extension::IKNP, &mut b, &mut Prg::from_os())?;
//! let learned = first_is_greater(Evaluator::new(&mut setup, &mut b), &[100, 50, 7])?;
//! assert!(first.join().expect("no panic")?.is_empty());
//! assert!(learned[0].iter().eq([true, false, false]));
//! # Ok::<(), Error>(())
//! ```
//!
//! # How it is built
//!
//! - *A circuit is a function* that asks a `Backend` for gates; it is never built, so it takes only
//!   the memory of the live wires. Plain evaluation, which also counts gates and layers, garbling
//!   and GMW are backends.
//! - *Lanes.* A wire has many lanes, the instances of a circuit on many inputs: labels in a slice
//!   for garbling, packed bits for GMW. A gate works on all of them, in batches that stay in the
//!   cache.
//! - *Products.* The one gate that costs something multiplies a vector of wires by one wire.
//!   Multiplexers, swaps and the shallow comparator are products, so that GMW takes a vector triple
//!   for each; an AND gate is a product with a vector of one.
//! - *Small or shallow.* A backend tells whether a layer takes a flight; the comparator has both
//!   forms.
//! - *Counting is a backend too.* `circuit::count` runs a circuit on wires that have lanes but no
//!   bits; it gives the gates of each layer, from which a plan derives its cost to the byte.
//! - *One protocol, several engines* (`psi-functions`' `circuit_psi`). Sort, compare and shuffle
//!   are written once; an `Engine` sets up garbling or GMW, and tells the cost.
//! - *Two extensions, one interface.* `ot::extension` gives correlated OT from IKNP, as in the
//!   papers, or from silent OT; garbling, triples and what comes after take it as a value.

#![forbid(unsafe_code)]

pub mod arithmetic;
mod backend;
mod bits;
pub mod compare;
pub mod count;
pub mod duplicates;
pub mod equality;
pub mod garble;
pub mod gmw;
pub mod merge;
pub mod plain;
pub mod select;
pub mod waksman;

mod error;

#[cfg(test)]
mod testing;

pub use backend::{Backend, Lanes, Product, Side, TwoParty};
pub use bits::Bits;
pub use error::Error;
