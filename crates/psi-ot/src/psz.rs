//! `psz-none`, `psz-simple`, `psz-balanced`, `psz-cuckoo`: private equality tests, set inclusion
//! and intersection from 1-out-of-256 random OT, with each hashing scheme of the paper.
//!
//! **Functionality.** The receiver learns which of its items the sender has.
//!
//! **Source.** Pinkas, Schneider, Zohner (USENIX Security 2014), §5 and §6, Appendices A and E;
//! sender = P1, receiver = P2. The OTs are those of Kolesnikov and Kumaresan (CRYPTO 2013,
//! [`psijoin_ot::kk13`]). An item is spelled by t letters of eight bits.
//!
//! *Offline.*
//! 1. The seeds of the OT matrix, from 256 random OTs (IKNP, on 128 base OTs).
//!
//! *Online.*
//! 2. Both expand hash functions from the joint seed (§6.1). The receiver puts each item y in a
//!    place:
//!    - *none*: each in a place of its own, which is compared with all items of the sender;
//!    - *simple*: in any of c places of bin h(y);
//!    - *balanced*: in any of c places of bin h_0(y) or h_1(y);
//!    - *Cuckoo*: in one of the bins h_0(y), h_1(y), h_2(y), which have one place each, or in one
//!      of the few places of the stash, which are compared with all items of the sender.
//! 3. For each place the receiver chooses the t letters of its item in t OTs, and gets
//!    m_y = ⊕_i s_i\[y_i\] (§5.1). In an empty place it chooses none of the strings.
//! 4. For each of its items x and each place that x is compared with, the sender computes
//!    m_x = ⊕_i s_i\[x_i\] (§5.2, §5.3).
//! 5. The sender sends the masks H(m_x) of its items, and of nothing else, in sorted order (§6.2).
//!    y is shared if its own mask is among them.
//!
//! **Items.** A long item is a random digest, and its first t bytes are the letters: enough that
//! none of the n_sender·n_receiver pairs is likely to agree by chance (Appendix A). Items that are
//! [numbers](psijoin_psi::Request::numbers) of at most 64 bits are spelled as they are: four
//! letters for 32 bits, and no two agree.
//!
//! **Deviations.**
//! - §5.2 has one part of every OT's string for each of the sender's items, so that masks of items
//!   with letters in common are independent. Here the XOR goes through one more hash, π(m) ⊕ m, as
//!   KKRT16 §5.1 has it. H's tweak makes the strings of different OTs different. So the m of all
//!   words are distinct, and the receiver knows only those of its own words. In the
//!   random-permutation model their hashes are random.
//! - Places without an item choose a 257th code word ("blank"), at distance 128 or more from all
//!   letters. A dummy item in place of it would be compared like any other: in a dense domain
//!   the receiver would learn whether the sender has it.
//! - Simple hashing: the sender sends c masks per item, one for each place of its bin. Table 4
//!   counts one. But each place has OTs of its own, so one mask cannot answer for all. The number
//!   of bins is the one at which OTs and masks together are shortest, and c is the largest load by
//!   an exact union bound (`psijoin_params::simple`) instead of Appendix E's (d_c + 1)·ln b.
//! - Balanced allocations: the set is known beforehand, so an item need not go to the emptier of
//!   its bins once and for all. Items move until no bin has too many, if that is possible at all
//!   ([`TwoChoiceTable`](psijoin_encode::TwoChoiceTable)), which [`psijoin_params::two_choice`]
//!   proves: 1.06 to 1.22 places per item, where the paper has 2.9·ln ln n. An
//!   item's two bins differ. If they could agree, so would the sender's masks for the two, and
//!   the receiver would see it; and a bin of few places would be filled by a few items that have no
//!   other. 2c masks per item, as with simple hashing.
//! - Cuckoo hashing has three functions with a proved bound (`psijoin_params::cuckoo`): 1.23 bins
//!   per item and no stash from a few thousand items on. The paper has two functions, 2.4 bins
//!   and a stash of 4, and its bound is asymptotic.
//! - Masks are sorted and coded as differences. The receiver compares each with all of its own.
//!   They are long enough for that. It learns nothing about their order.
//! - Seeds of the hash functions come from the joint seed, fixed after both sets.
//!
//! **Letters of other lengths.** [`Params::with_letter_bits`] has letters of one bit (1-out-of-2
//! OT) to eight. The code is that of eight bits, of whose words fewer are used: they differ in 128
//! places or more, and so do they from the blank's. (Two strings could have a code of 128 bits, but
//! no blank is far enough from both of its words.) So each letter takes 256 bits, as in Table 9,
//! and letters of eight bits are cheapest.
//!
//! **Security.** Semi-honest; H of the OTs is correlation robust for KK13's code. Both learn the
//! set sizes.
//!
//! **Cost.** Four flights. Offline 12 KiB. Online 32·t bytes per place: there are n_receiver places
//! (none), b·c (simple, balanced) or 1.23·n_receiver and the stash (Cuckoo). In addition there are
//! n_receiver, c, 2c or 3 + s masks for each item of the sender. `psz-none` refuses more than 2^28
//! pairs of items.

use psijoin_psi::{Adversary, Info, Protocol};

mod functions;
mod layout;
mod masker;
mod params;
mod places;
mod receiver;
mod sender;
mod spelling;
#[cfg(test)]
mod tests;

pub use params::Params;
use receiver::Receiver;
use sender::Sender;

/// The most pairs of items that are compared without hashing.
pub const MOST_PAIRS: u128 = 1 << 28;

/// Bins per item with balanced allocations.
const TWO: usize = 2;

/// `psz-none`, by [`NONE`].
pub static PSZ_NONE: Protocol = Protocol::new(NONE.info(), |request| {
    Ok(Params::new(request, &NONE)?.plan())
})
.on_base_ots();

/// `psz-simple`, by [`SIMPLE`].
pub static PSZ_SIMPLE: Protocol = Protocol::new(SIMPLE.info(), |request| {
    Ok(Params::new(request, &SIMPLE)?.plan())
})
.on_base_ots();

/// `psz-balanced`, by [`BALANCED`].
pub static PSZ_BALANCED: Protocol = Protocol::new(BALANCED.info(), |request| {
    Ok(Params::new(request, &BALANCED)?.plan())
})
.on_base_ots();

/// `psz-cuckoo`, by [`CUCKOO`].
pub static PSZ_CUCKOO: Protocol = Protocol::new(CUCKOO.info(), |request| {
    Ok(Params::new(request, &CUCKOO)?.plan())
})
.on_base_ots();

/// All with all (PSZ14 §5.3).
pub static NONE: Scheme = Scheme::new(
    Hashing::None,
    "psz-none",
    "equality tests by 1-of-256 OT of every pair of items: at most 2^28 pairs",
    "PSZ14 §5",
    1,
);

/// One bin per item, of many places (PSZ14 §6.1).
pub static SIMPLE: Scheme = Scheme::new(
    Hashing::Simple,
    "psz-simple",
    "equality tests by 1-of-256 OT, in bins of simple hashing",
    "PSZ14 §6",
    1,
);

/// Two bins per item, of several places each (PSZ14 §6.1).
pub static BALANCED: Scheme = Scheme::new(
    Hashing::Balanced,
    "psz-balanced",
    "equality tests by 1-of-256 OT, in bins of balanced allocations",
    "PSZ14 §6",
    1,
);

/// Three bins per item, of one place each, and a stash (PSZ14 §6.1).
pub static CUCKOO: Scheme = Scheme::new(
    Hashing::Cuckoo,
    "psz-cuckoo",
    "equality tests by 1-of-256 OT, in bins of Cuckoo hashing",
    "PSZ14 §6",
    1,
);

/// The way items are hashed to the places where they are compared, and the protocol that does so.
#[derive(Debug)]
pub struct Scheme {
    hashing: Hashing,
    info: Info,
}

/// The way items are hashed to places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hashing {
    /// Not at all: all are compared with all.
    None,
    /// To one bin.
    Simple,
    /// To two bins.
    Balanced,
    /// To three bins, or the stash.
    Cuckoo,
    /// Cuckoo hashing, where the bin is a part of the item ([`pssz`](crate::pssz)).
    Permutation,
}

impl Scheme {
    pub(crate) const fn new(
        hashing: Hashing,
        name: &'static str,
        summary: &'static str,
        paper: &'static str,
        version: u32,
    ) -> Self {
        Self {
            hashing,
            info: Info {
                name,
                summary,
                paper,
                adversary: Adversary::SemiHonest,
                leaks: "set sizes",
                version,
            },
        }
    }

    /// Returns what the protocol is.
    pub const fn info(&'static self) -> &'static Info {
        &self.info
    }
}
