//! `psz-none`, `psz-simple`, `psz-balanced`, `psz-cuckoo`: private equality tests, set inclusion and
//! intersection from 1-out-of-256 random OT, with each hashing scheme of the paper.
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
//!    - *none*: each in a place of its own, that all items of the sender are compared with;
//!    - *simple*: in any of c places of bin h(y);
//!    - *balanced*: in any of c places of bin h_0(y) or h_1(y);
//!    - *Cuckoo*: in one of the bins h_0(y), h_1(y), h_2(y), of one place each, or in one of the
//!      few places of the stash, which all items of the sender are compared with.
//! 3. For each place the receiver chooses the t letters of its item in t OTs, and gets
//!    m_y = ⊕_i s_i\[y_i\] (§5.1). In an empty place it chooses none of the strings.
//! 4. For each of its items x and each place that x is compared with, the sender computes
//!    m_x = ⊕_i s_i\[x_i\] (§5.2, §5.3).
//! 5. The sender sends the masks H(m_x) of its items, and of nothing else, in sorted order (§6.2).
//!    y is shared if its own mask is among them.
//!
//! **Items.** A long item is a random digest, of which the first t bytes are the letters: as many
//! as make it unlikely that any of the n_sender·n_receiver pairs agrees by chance (Appendix A).
//! Short items, numbers of up to 64 bits, can be spelled as they are ([`Params::short`],
//! [`Items::numbers`](crate::Items::numbers)): four letters for 32 bits, and no two agree.
//!
//! **Deviations.**
//! - §5.2 has one part of every OT's string for each of the sender's items, so that masks of items
//!   with letters in common are independent. Here the XOR goes through one more hash, π(m) ⊕ m, as
//!   KKRT16 §5.1 has it. Strings of different OTs are different by H's tweak, so that the m of all
//!   words are distinct and unknown but for those of the receiver's own; in the random-permutation
//!   model their hashes are random.
//! - Places without an item choose a 257th code word ("blank"), at distance 128 or more from all
//!   letters. A dummy item in place of it would be compared like any other: in a dense domain
//!   the receiver would learn whether the sender has it.
//! - Simple hashing: the sender sends c masks an item, one for each place of its bin. Table 4 counts
//!   one; but each place has OTs of its own, so that one mask cannot answer for all. The number of
//!   bins is the one at which OTs and masks together are shortest, and c is the largest load by
//!   an exact union bound (`psijoin_params::simple`) instead of Appendix E's (d_c + 1)·ln b.
//! - Balanced allocations: the set is known beforehand, so that an item does not go to the emptier of
//!   its bins once and for all. Items move until no bin has too many, if that is possible at all
//!   ([`TwoChoiceTable`](psijoin_encode::TwoChoiceTable)), which [`psijoin_params::two_choice`]
//!   proves: 1.06 to 1.22 places an item, where the paper has 2.9·ln ln n. An
//!   item's two bins differ. If they could agree, the sender's masks for the two would, too, and
//!   the receiver would see it; and a bin of few places would be filled by a few items that have no
//!   other. 2c masks an item, as with simple hashing.
//! - Cuckoo hashing has three functions with a proved bound (`psijoin_params::cuckoo`): 1.23 bins
//!   an item and no stash from a few thousand items on, where the paper has two functions, 2.4 bins
//!   and a stash of 4, whose bound is asymptotic.
//! - Masks are sorted and coded as differences. The receiver compares each with all of its own, for
//!   which they are long enough, and learns nothing of their order.
//! - Seeds of the hash functions come from the joint seed, fixed after both sets.
//!
//! **Security.** Semi-honest; H of the OTs is correlation robust for KK13's code. Both learn the
//! set sizes.
//!
//! **Cost.** Four rounds. Offline 12 KiB; online 32·t bytes a place, of which there are n_receiver
//! (none), b·c (simple, balanced) or 1.23·n_receiver and the stash (Cuckoo), and n_receiver, c, 2c or
//! 3 + s masks for each item of the sender. `psz-none` refuses more than 2^28 pairs of items.

use crate::{Adversary, Error, Info, Plan, Protocol, Request};

mod functions;
mod layout;
mod params;
mod receiver;
mod sender;

pub use params::Params;
pub use receiver::Receiver;
pub use sender::Sender;

/// The most pairs of items that are compared without hashing.
pub const MOST_PAIRS: u128 = 1 << 28;

/// How items are hashed to the places where they are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scheme {
    /// All with all (PSZ14 §5.3).
    None,
    /// One bin an item, of many places (PSZ14 §6.1).
    Simple,
    /// Two bins an item, of several places each (PSZ14 §6.1).
    Balanced,
    /// Three bins an item, of one place each, and a stash (PSZ14 §6.1).
    Cuckoo,
    /// The same, where the bin is a part of the item ([`pssz`](crate::pssz)).
    Permutation,
}

impl Scheme {
    pub(crate) fn info(self) -> &'static Info {
        match self {
            Self::None => &NONE,
            Self::Simple => &SIMPLE,
            Self::Balanced => &BALANCED,
            Self::Cuckoo => &CUCKOO,
            Self::Permutation => &crate::pssz::INFO,
        }
    }
}

/// The entry of the registry for [`Scheme::None`].
pub struct PszNone;

/// The entry of the registry for [`Scheme::Simple`].
pub struct PszSimple;

/// The entry of the registry for [`Scheme::Balanced`].
pub struct PszBalanced;

/// The entry of the registry for [`Scheme::Cuckoo`].
pub struct PszCuckoo;

static NONE: Info = Info {
    name: "psz-none",
    summary: "equality tests by 1-of-256 OT of every pair of items: at most 2^28 pairs",
    paper: "PSZ14 §5",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 1,
};

static SIMPLE: Info = Info {
    name: "psz-simple",
    summary: "equality tests by 1-of-256 OT, in bins of simple hashing",
    paper: "PSZ14 §6",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 1,
};

static BALANCED: Info = Info {
    name: "psz-balanced",
    summary: "equality tests by 1-of-256 OT, in bins of balanced allocations",
    paper: "PSZ14 §6",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 1,
};

static CUCKOO: Info = Info {
    name: "psz-cuckoo",
    summary: "equality tests by 1-of-256 OT, in bins of Cuckoo hashing",
    paper: "PSZ14 §6",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 1,
};

macro_rules! protocol {
    ($entry:ident, $scheme:expr) => {
        impl Protocol for $entry {
            fn info(&self) -> &'static Info {
                $scheme.info()
            }

            fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
                Ok(Box::new(Params::new(request, $scheme)?))
            }
        }
    };
}

protocol!(PszNone, Scheme::None);
protocol!(PszSimple, Scheme::Simple);
protocol!(PszBalanced, Scheme::Balanced);
protocol!(PszCuckoo, Scheme::Cuckoo);

#[cfg(test)]
mod tests;
