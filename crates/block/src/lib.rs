//! The kernels that every protocol stands on, on 128-bit [`Block`]s.
//!
//! | module or type | contents |
//! |---|---|
//! | [`aes`] | AES-128 under one key, many blocks at a time |
//! | [`Prg`] | pseudorandom generator: AES in counter mode; randomness from the operating system |
//! | [`crhf`] | (tweakable circular) correlation-robust hashes from fixed-key AES |
//! | [`blake3_rows`] | BLAKE3 of many short rows at once: random oracle, PRF, pseudorandom code |
//! | [`gf128`] | GF(2^128) |
//! | [`gf2k`] | GF(2^w) of any width w up to 63, and its quadratic extension |
//! | [`additive_fft`] | polynomials over these: between coefficients and values |
//! | [`subproducts`] | the pointwise steps of subproduct trees over these |
//! | [`tower`] | GF(2^64), GF(2^128) as its quadratic extension, and spaces between them |
//! | [`transpose`] | bit-matrix transposition |
//! | [`positions`] | positions in tables from pseudorandom blocks |
//! | [`cells`] | bits that are read at random, one byte per bit |
//! | [`scatter`] | distributing elements among buckets |
//! | [`select`] | sums of rows that bits select |
//! | [`marks`] | the places of a byte in a text, a bit per byte |
//!
//! Kernels do no I/O and know no threads: slices in, slices out. Each one
//! dispatches once per call, at run time, to the widest instruction set that the processor has; the
//! portable version is always there and is what the others are tested against.
//!
//! # Choices
//!
//! - **One source per kernel.** The generic kernel is compiled for each instruction set by
//!   `cpu::multiversion!`; intrinsics only where the compiler does not vectorise, in a small file
//!   beside. Backends: portable, AVX2, AVX-512 (F, BW, DQ, VL). GFNI, IFMA and VAES paths are left
//!   out of our own kernels, since they could not be tested on the available machines (the `aes`
//!   crate has its own VAES path).
//! - **BLAKE3, one row per lane**, is the pseudorandom code, the item digest, and the random oracle
//!   of masks. The paper's four AES calls are faster, but no random oracle. It equals the `blake3`
//!   crate's keyed hash bit for bit. The fingerprints of keys are the same kernel in key derivation
//!   mode, where the length differs from lane to lane.
//! - **Scatter and gather instructions are avoided**: with those that the compiler chose,
//!   transposition was much slower.
//! - **Huge pages.** Tables that are read at random (OT matrix rows, the mask index) lie in
//!   `runtime::memory::Buffer`, and the lines that are needed next are prefetched a batch ahead.

mod block;

pub mod additive_fft;
pub mod aes;
pub mod blake3_rows;
pub mod cells;
mod cpu;
pub mod crhf;
pub mod gf128;
pub mod gf2k;
pub mod marks;
pub mod positions;
mod prg;
pub mod scatter;
pub mod select;
pub mod subproducts;
pub mod tower;
pub mod transpose;

pub use block::Block;
pub use prg::Prg;

/// Its example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
