//! `pssz`: `psz` with permutation-based hashing, for short items.
//!
//! **Functionality.** The receiver learns which of its items the sender has.
//!
//! **Source.** Pinkas, Schneider, Segev, Zohner (USENIX Security 2015), as KKRT16 describes it (§5,
//! Tables 1, 3 and 5). Steps, OTs and masks are those of [`psz`](crate::psz) with 3-way Cuckoo
//! hashing. The difference is in what is compared: the bin is a part of the item, and only the rest
//! must be spelled, which is log2(n) bits shorter. For 2^20 items of 32 bits that takes two
//! letters, where `psz-cuckoo` takes four.
//!
//! **Deviations.** Those of `psz`, and
//! - Hash function i is a pseudorandom permutation of bins × rests, and not x_L ⊕ f_i(x_R): the
//!   proof of the table's bound needs more than that, and gets it
//!   (`psijoin_params::cuckoo::failure_without_replacement`).
//! - The rest tells by which of its functions an item came to the bin
//!   ([`psijoin_encode::Permutations`]), in three bits that KKRT16's ℓ − log2(n) does not count.
//!   Without them two items that meet in a bin by different functions would be taken for the same:
//!   published code finds thousands of false matches among consecutive numbers. The three bits are
//!   part of what the letters spell. If they were an input of the final hash only, the receiver
//!   could test the other items with the same rest.
//! - A long item is a random digest. No part of it depends on its bin, so the part alone represents
//!   the item there. There are enough letters that items that meet in a place are unlikely to agree
//!   by chance: σ + log2((3 + s)·n_sender) bits and what the budget's share costs, where `psz`
//!   counts all pairs.
//!
//! **Short items** are those of a request for [numbers](psijoin_psi::Request::numbers). Digests do
//! not keep what makes items short.
//!
//! **Security, cost.** As `psz-cuckoo`, with fewer letters.

use psijoin_psi::Protocol;

use crate::psz::{Hashing, Params, Scheme};

/// The protocol.
pub static PSSZ: Protocol = Protocol::new(PERMUTATION.info(), |request| {
    Ok(Params::new(request, &PERMUTATION)?.plan())
})
.on_base_ots();

/// Three bins per item, of one place each, and a stash; the bin is a part of the item.
pub static PERMUTATION: Scheme = Scheme::new(
    Hashing::Permutation,
    "pssz",
    "psz-cuckoo with permutation-based hashing: fewer OTs per item",
    "PSSZ15",
    2,
);
