//! `rsa`: PSI from blind RSA signatures.
//!
//! **Functionality.** The receiver learns which of its items the sender has.
//!
//! **Source.** De Cristofaro and Tsudik (FC 2010), Figure 4, as "RSA-based" in PSZ14 §7.
//!
//! *Offline.*
//! 1. The sender makes a key: N = p·q, e, d = 1/e modulo φ(N). It sends N, and the d-th powers of
//!    hashes of N. From these the receiver sees that raising to the power e permutes the units
//!    modulo N.
//! 2. The receiver draws a unit r for each of its items, and keeps r^e and 1/r.
//!
//! *Online.*
//! 3. The receiver sends H(y)·r^e for each of its items y.
//! 4. The sender raises what it got to the power d, which gives H(y)^d·r, and returns that in the
//!    order in which it came. For its own items x it sends masks, hashes of H(x)^d, in random
//!    order.
//! 5. The receiver removes r. Its item y is shared if the mask of H(y)^d is one of the sender's.
//!
//! **Deviations.**
//!
//! - e = 2^16 + 1, and step 1 proves that (N, e) is a permutation. In the paper both follow the
//!   protocol, and nothing is proved; but with an e that divides φ(N), the blinded values would
//!   tell the sender in which coset of the e-th powers each H(y) is. A prime e above N would do
//!   without a proof, since it divides φ(N) for no N, but it would make the receiver's r^e 180
//!   times as costly: more than all the sender's work. The proof is eight numbers
//!   ([`rsa_root_proofs`]).
//! - The receiver demands that each H(y) is a unit modulo N, since it cannot hide a common factor.
//! - Masks are as long as the failure budget asks for, not 2κ bits.
//! - H and the hash that makes masks are keyed from the joint seed, drawn after both sets are
//!   fixed.
//!
//! **Security.** Semi-honest, if the one-more-RSA problem is hard for N of 3,072 bits, and H and
//! the hash that makes masks are random oracles. H is BLAKE3's extendable output of 3,200 bits
//! modulo N: full-domain, uniform up to 2^-128. Each blinded value is a uniform unit, whatever y,
//! since r^e is one: this holds without an assumption, and for every N. Keys are fresh in every
//! run. Both learn the set sizes.
//!
//! **The key at work.** Powers are computed modulo p and q apart, in constant time, and put
//! together (CRT). A fault in one of them would give the receiver a factor of N (Boneh, DeMillo and
//! Lipton, Eurocrypt 1997). So each result is raised to the power e again, and is sent only if this
//! gives back what was signed.
//!
//! **Cost.** Offline one message of 9·384 bytes. Online two flights: 384 bytes per item of the
//! receiver, both ways, and n_sender masks of σ + 1 + log2(n_sender·n_receiver) bits. At 2^20 items
//! each that is 6,225 bits per item. The sender computes a power with d for every item of either
//! party. The receiver computes one with e for each of its own, 1/64 of the work.

use psijoin_channel::stream::Chunks;
use psijoin_params::public_key::{MODULUS_BITS, RSA_PUBLIC_EXPONENT, rsa_root_proofs};
use psijoin_psi::{
    Adversary, Conversation, Dialogue, Info, Plan, Protocol, Role, mask_params::MaskParams,
    parameters,
};

use crate::compare;
use public::PublicKey;
use receiver::Receiver;
use sender::Sender;

mod key;
mod public;
mod receiver;
mod sender;

/// `rsa`.
pub static RSA: Protocol = Protocol::new(&INFO, |request| Ok(plan(MaskParams::new(request)?)));

static INFO: Info = Info {
    name: "rsa",
    summary: "blind RSA signatures: a baseline of the literature",
    paper: "PSZ14 §7, DCT10",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 1,
};

/// Bytes of a number modulo N.
const NUMBER_BYTES: usize = MODULUS_BITS as usize / 8;

/// Numbers in a message, and masks: twenty milliseconds of the sender's.
const NUMBERS_PER_MESSAGE: usize = 16;

fn plan(params: MaskParams) -> Plan {
    let numbers = chunks(&params, Role::Receiver).bytes(|count| count * NUMBER_BYTES);
    let masks = chunks(&params, Role::Sender).bytes(|count| params.masks.packed_bytes(count));
    let dialogue = Dialogue::new(
        Conversation::default().sender(PublicKey::encoded_bytes() as u64),
        Conversation::default()
            .receiver(numbers)
            .sender(numbers)
            .sender(masks),
    );
    let mut all = params.parameters();
    all.extend(parameters(&[
        ("modulus bits", MODULUS_BITS.into()),
        ("public exponent", RSA_PUBLIC_EXPONENT.into()),
        ("roots that prove a permutation", rsa_root_proofs() as u64),
    ]));
    Plan::new::<Sender, Receiver>(params.derived(&INFO, all, dialogue), params)
}

/// Returns how a party's numbers or masks are cut into messages.
fn chunks(params: &MaskParams, owner: Role) -> Chunks {
    compare::chunks(params, owner, NUMBERS_PER_MESSAGE)
}

#[cfg(test)]
mod tests;
