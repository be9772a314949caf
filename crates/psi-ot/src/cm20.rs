//! `cm20`: a multi-point oblivious PRF from OT extension and a bit matrix.
//!
//! **Functionality.** The receiver learns which of its items the sender has.
//!
//! **Source.** Chase and Miao (CRYPTO 2020), Figure 3 with Figure 4 for its step 2, and F of §4.2.
//! Sender = P1, receiver = P2. The matrices have m rows, in bins, and w columns:
//!
//! *Offline.*
//! 1. The sender draws s ∈ {0,1}^w. By w random OTs (IKNP, on 128 base OTs) it gets one seed of
//!    each pair of the receiver's: Figure 4, step 1.
//!
//! *Online.*
//! 2. The receiver draws a nonce and sends it (step 3a). It and the joint seed give both the
//!    key of F, and from each OT's seed the key of a column: Figure 4's r_i.
//! 3. For each of its items y the receiver computes v = F(y), and clears D_i\[v_i\] for each column
//!    i of a matrix D of ones. With A_i and A'_i expanded from the keys of column i it sends
//!    Δ_i = A_i ⊕ D_i ⊕ A'_i. The sender gets C_i, which is A_i if s_i = 0, else A_i ⊕ D_i.
//! 4. For each of its items x the sender computes v = F(x) and H2(C_1\[v_1\] ‖ … ‖ C_w\[v_w\]), and
//!    sends a mask of each, sorted (step 3b).
//! 5. The receiver's own value is H2(A_1\[v_1\] ‖ … ‖ A_w\[v_w\]): y is shared if its mask is among
//!    them (step 3c).
//!
//! Steps 3 to 5 run bin by bin: while one bin is on its way, the receiver computes the next, and
//! the sender evaluates the last.
//!
//! **Deviations.**
//! - *Bins.* The matrix is cut into bins of at most 2^13 rows. The digest of an item chooses its
//!   bin, and F picks a row of that bin in each column: v ranges over a part of the paper's
//!   \[m\]^w. A column of a bin fits the first-level cache, all columns of a bin fit into a
//!   message, and no party ever holds more than a bin of its matrix. It costs 1.4 % more columns;
//!   the proof is in [`psijoin_params::cm20`]. Up to 2^13 rows there is one bin, and F is the
//!   paper's.
//! - *The nonce*, instead of the key itself: the key of F is a hash of it and of the joint
//!   seed, so that both parties contribute to it and it is drawn after the OTs, as the proof for a
//!   malicious sender requires. It travels before the first bin and costs no flight. Column keys
//!   are hashes of nonce and OT seed, since base OTs let a malicious party choose its own seeds.
//! - *H1* is the item digest: 256 bits against a malicious sender, 128 otherwise.
//! - *H2* is keyed BLAKE3, one row per lane.
//! - *Masks* are sorted and coded as differences: the order of the input stays hidden; the authors'
//!   code shows it.
//! - m is 1.4 times the receiver's items by default, not 1: fewer columns, which take most of the
//!   time, for 1 % more bytes. See [`Params::with_rows`].
//!
//! **Security.** Semi-honest: F (AES) is a PRF, H2 Hamming correlation robust. Each item of the
//! sender that is not shared meets at least κ = 128 ones of D, within the failure budget.
//! `cm20-malicious-sender`: also against a malicious sender. H1 and H2 are random oracles, and OT
//! extension has its check. Then a receiver that follows the protocol has in its result only what
//! the sender put in, that is, queried H1 for. See `docs/protocols/ot.md` for the length of the
//! masks. Both learn the set sizes. Rows are looked up at positions that depend on a party's own
//! items: see SECURITY.md on what is not constant time.
//!
//! **Cost.** Four flights, or six. Offline 8.3 KiB and 16 bytes per column (malicious: 4 KiB more);
//! online m·w bits and 32 bytes from the receiver, and about σ + log2(n_receiver) + 2 bits per mask
//! (malicious: 64 + σ − log2(n_sender) + log2(n_receiver) + 2).
//!
//! # How it is made fast
//!
//! - *Bins again.* Each column of the matrix is read and written at a pseudorandom row for each
//!   item, 450 times per item. Cut into bins of 2^13 rows, a column stays in the first-level cache;
//!   and a bin is the unit of threads and of messages, so that memory does not depend on the
//!   matrix.
//! - *One byte per bit.* A column of these bits is unpacked to bytes while it is in use
//!   (`block::cells`): then a lookup is one load, and clearing is one store. AVX-512 masks pack and
//!   unpack 64 of them per instruction.
//! - *Positions* come from AES, eight per block, transposed in vectors (`block::positions`). AES
//!   takes a third of the time.

use psijoin_psi::{Adversary, Info, Protocol};

mod columns;
mod evaluation;
mod function;
mod keys;
mod params;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

pub use params::Params;
use receiver::Receiver;
use sender::Sender;

/// The protocol for semi-honest parties.
pub static CM20: Protocol =
    Protocol::new(&INFO, |request| Ok(Params::semi_honest(request)?.plan()));

/// The protocol for a sender that may be malicious.
pub static CM20_MALICIOUS_SENDER: Protocol = Protocol::new(&MALICIOUS_SENDER_INFO, |request| {
    Ok(Params::malicious_sender(request)?.plan())
});

static INFO: Info = Info {
    name: "cm20",
    summary: "OT extension with a bit matrix: less traffic than kkrt",
    paper: "CM20",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 1,
};

static MALICIOUS_SENDER_INFO: Info = Info {
    name: "cm20-malicious-sender",
    summary: "cm20, secure if the sender cheats",
    paper: "CM20",
    adversary: Adversary::MaliciousSender,
    leaks: "set sizes",
    version: 1,
};
