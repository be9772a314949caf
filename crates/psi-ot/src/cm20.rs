//! `cm20`: masks of the values of the [multi-point oblivious PRF](crate::multi_point_oprf) of CM20.
//!
//! **Functionality.** The receiver learns which of its items the sender has.
//!
//! **Source.** Chase and Miao (CRYPTO 2020), Figure 3. Sender = P1, receiver = P2.
//!
//! *Offline.*
//! 1. The oblivious PRF's OTs.
//!
//! *Online.*
//! 2. Both get the values of the oblivious PRF at their items (steps 1 to 3a).
//! 3. The sender sends a mask of each of its values, sorted (step 3b). y is shared if its own mask
//!    is among them (step 3c).
//!
//! **Deviations.** Those of the oblivious PRF, and
//! - *H1* is the item digest: 256 bits against a malicious sender, 128 otherwise.
//! - *Masks* are sorted and coded as differences: the order of the input stays hidden; the authors'
//!   code shows it.
//! - m is 1.4 times the receiver's items by default, not 1: fewer columns, which take most of the
//!   time, for 1 % more bytes. See [`Params::with_rows`].
//!
//! **Security.** Semi-honest, as the oblivious PRF is, within the failure budget.
//! `cm20-malicious-sender`: also against a malicious sender. H1 and H2 are random oracles, and OT
//! extension has its check. Then a receiver that follows the protocol has in its result only what
//! the sender put in, that is, queried H1 for. See `docs/protocols/ot.md` for the length of the
//! masks. Both learn the set sizes.
//!
//! **Cost.** Four flights, or six: those of the oblivious PRF, and the masks, of about
//! σ + log2(n_receiver) + 2 bits each (malicious: 64 + σ − log2(n_sender) + log2(n_receiver) + 2).

use psijoin_psi::{Adversary, Info, Protocol};

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
    Protocol::new(&INFO, |request| Ok(Params::semi_honest(request)?.plan())).on_base_ots();

/// The protocol for a sender that may be malicious.
pub static CM20_MALICIOUS_SENDER: Protocol = Protocol::new(&MALICIOUS_SENDER_INFO, |request| {
    Ok(Params::malicious_sender(request)?.plan())
})
.on_base_ots();

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
