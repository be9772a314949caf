//! Boolean circuits, and two ways for two parties to compute them on inputs that they keep to
//! themselves.
//!
//! A circuit is a *function over a [`Backend`]*: it is never built, only run. Gates come by
//! layers, and a gate works on many *lanes* at once, so that memory is that of the wires that
//! live, whatever the number of gates.
//!
//! | module | what |
//! |---|---|
//! | [`backend`] | what a circuit is written against: wires of many lanes, XOR, NOT, and products |
//! | [`bits`] | a bit a lane, packed |
//! | [`plain`] | evaluation in the clear, and the count of gates |
//! | [`count`] | the count of gates alone, layer by layer |
//! | [`compare`] | equality; greater-than, small or shallow |
//! | [`select`] | multiplexers and conditional swaps |
//! | [`arithmetic`] | adders, and the number of ones |
//! | [`merge`] | bitonic merging of two sorted lists |
//! | [`duplicates`] | equal neighbours of a sorted list |
//! | [`waksman`] | any permutation, with its switches set by one party |
//! | [`equality`] | whether numbers of either party are equal, as shares |
//! | [`garble`] | Yao: half gates, free XOR |
//! | [`gmw`] | Goldreich, Micali and Wigderson: XOR shares and multiplication triples |

pub mod arithmetic;
pub mod backend;
pub mod bits;
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
