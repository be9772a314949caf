//! `pssz`: `psz` with permutation-based hashing, for short items.
//!
//! **Functionality.** The receiver learns which of its items the sender has.
//!
//! **Source.** Pinkas, Schneider, Segev, Zohner (USENIX Security 2015), as KKRT16 describes it (§5,
//! Tables 1, 3 and 5); steps, OTs and masks are those of [`psz`](crate::psz) with 3-way Cuckoo
//! hashing. What differs is what is compared: the bin is a part of the item, and only the rest
//! must be spelled, log2(n) bits less. For 2^20 items of 32 bits that takes two letters, for
//! `psz-cuckoo` four.
//!
//! **Deviations.** Those of `psz`, and
//! - Hash function i is a pseudorandom permutation of bins × rests, and not x_L ⊕ f_i(x_R): the
//!   proof of the table's bound needs more than that, and gets it
//!   (`psijoin_params::cuckoo::failure_without_replacement`).
//! - The rest says by which of its functions an item came to the bin
//!   ([`psijoin_encode::Permutations`]), in three bits that KKRT16's ℓ − log2(n) does not count.
//!   Without them two items that meet in a bin by different functions would be taken for the same:
//!   published code finds thousands of false matches among consecutive numbers. It is part of
//!   what the letters spell: a tag that only the final hash had would let the receiver test the
//!   other items with the same rest.
//! - A long item is a random digest. Any part of it has nothing to do with its bin, so that a part
//!   is what is left of it there: as many letters as make it unlikely that any of the items that
//!   meet in a place agree by chance, σ + log2((3 + s)·n_sender) bits and what the budget's share
//!   costs, where `psz` counts all pairs.
//!
//! **Short items.** Digests have lost what makes items short, so that the program has no use of it
//! yet: [`psz::Params::short`](crate::psz::Params::short) with [`Scheme::Permutation`] makes the plan,
//! [`Items::numbers`](crate::Items::numbers) its input.
//!
//! **Security, cost.** As `psz-cuckoo`, with fewer letters.

use crate::{
    Adversary, Error, Info, Plan, Protocol, Request,
    psz::{Params, Scheme},
};

/// The entry of the registry.
pub struct Pssz;

pub(crate) static INFO: Info = Info {
    name: "pssz",
    summary: "psz-cuckoo with permutation-based hashing: fewer OTs an item",
    paper: "PSSZ15",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 1,
};

impl Protocol for Pssz {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(Params::new(request, Scheme::Permutation)?))
    }
}
