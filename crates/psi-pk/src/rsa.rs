//! `rsa`: PSI from blind RSA signatures.
//!
//! **Functionality.** The receiver learns which of its items the sender has.
//!
//! **Source.** De Cristofaro and Tsudik (FC 2010), Figure 4, as "RSA-based" in PSZ14 §7.
//!
//! Offline:
//!
//! 1. The sender makes a key: N = p·q, e, d = 1/e modulo φ(N). It sends N, and the d-th powers of hashes
//!    of N, from which the receiver sees that raising to e permutes the units modulo N.
//! 2. The receiver draws a unit r for each of its items, and keeps r^e and 1/r.
//!
//! Online:
//!
//! 3. The receiver sends H(y)·r^e for each of its items y.
//! 4. The sender raises what it got to the d: these are H(y)^d·r. It returns them in the order in which they
//!    came; and masks, hashes of H(x)^d, for its own items x, in random order.
//! 5. The receiver takes off the r. Its item y is shared if the mask of H(y)^d is one of the sender's.
//!
//! **Deviations.**
//!
//! - e = 2^16 + 1, and step 1 proves that (N, e) is a permutation. In the paper both follow the protocol, and
//!   nothing is proved; but with an e that divides φ(N), the blinded values would tell the sender in which
//!   coset of the e-th powers each H(y) is. A prime e above N would do without a proof, since it does not
//!   divide φ(N) whatever N, and would make the receiver's r^e 180 times as costly: more than
//!   all that the sender does. The proof is eight numbers
//!   ([`rsa_root_proofs`]).
//! - The receiver demands that each H(y) is a unit modulo N, since it cannot hide a common factor.
//! - Masks are as long as the failure budget asks for, not 2κ bits.
//! - H and the hash that makes masks are keyed from the joint seed, drawn after both sets are fixed.
//!
//! **Security.** Semi-honest, if the one-more-RSA problem is hard for N of 3,072 bits, and H and the hash
//! that makes masks are random oracles. H is BLAKE3's extendable output of 3,200 bits modulo N:
//! full-domain, uniform but for 2^-128. Each blinded value is a uniform unit, whatever y, since r^e is one:
//! this holds without an assumption, and whatever N. Keys are fresh in every run. Both learn the set sizes.
//!
//! **The key at work.** Powers are computed modulo p and q apart, in constant time, and put together (CRT). A fault
//! in one of them would give the receiver a factor of N (Boneh, DeMillo and Lipton, Eurocrypt 1997): so each
//! result is raised to the e again, and none leaves that does not give back what was signed.
//!
//! **Cost.** Offline one message of 9·384 bytes. Online two rounds: 384 bytes for each of the receiver's
//! items, both ways, and n_sender masks of σ + 1 + log2(n_sender·n_receiver) bits: 6,225 bits an item at
//! 2^20 each. The sender: a power with d for every item of either. The receiver: one with e for each of
//! its own, 1/64 of the work.

use psijoin_channel::Channel;
use psijoin_params::{
    FailureBudget,
    public_key::{MODULUS_BITS, RSA_PUBLIC_EXPONENT, rsa_root_proofs},
};

use crate::{
    Adversary, Context, Cost, Error, Info, Parameter, Request, Role, Traffic,
    basis::Basis,
    protocol::{Party, Plan, Protocol},
    stream::Chunks,
};

use public::PublicKey;
use receiver::Receiver;
use sender::Sender;

mod key;
mod public;
mod receiver;
mod sender;

/// The entry of the registry.
pub struct Rsa;

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

/// All numbers of a run.
#[derive(Debug, Clone)]
struct Params(Basis);

impl Params {
    /// Derives them.
    ///
    /// # Errors
    /// If the masks would be longer than a hash.
    fn new(request: &Request) -> Result<Self, Error> {
        Ok(Self(Basis::new(request)?))
    }

    /// How a party's numbers or masks travel.
    fn chunks(&self, owner: Role) -> Chunks {
        Chunks {
            total: owner.items(self.0.sizes()) as usize,
            per_message: NUMBERS_PER_MESSAGE,
        }
    }
}

impl Protocol for Rsa {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(Params::new(request)?))
    }
}

impl Plan for Params {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn request(&self) -> &Request {
        &self.0.request
    }

    fn parameters(&self) -> Vec<Parameter> {
        let mut parameters = self.0.parameters();
        parameters.extend([
            Parameter {
                name: "modulus bits",
                value: MODULUS_BITS.into(),
            },
            Parameter {
                name: "public exponent",
                value: RSA_PUBLIC_EXPONENT.into(),
            },
            Parameter {
                name: "roots that prove a permutation",
                value: rsa_root_proofs() as u64,
            },
        ]);
        parameters
    }

    fn budget(&self) -> &FailureBudget {
        &self.0.budget
    }

    fn cost(&self) -> Cost {
        let numbers = self
            .chunks(Role::Receiver)
            .bytes(|count| count * NUMBER_BYTES);
        let masks = self
            .chunks(Role::Sender)
            .bytes(|count| self.0.masks.packed_bytes(count));
        Cost {
            offline: Traffic {
                sender_bytes: PublicKey::encoded_bytes() as u64,
                receiver_bytes: 0,
                rounds: 1,
            },
            online: Traffic {
                sender_bytes: numbers + masks,
                receiver_bytes: numbers,
                rounds: 2,
            },
            ..Cost::default()
        }
    }

    fn digest_bytes(&self) -> usize {
        self.0.digest_bytes
    }

    fn offline(
        &self,
        role: Role,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Box<dyn Party>, Error> {
        Ok(match role {
            Role::Sender => Box::new(Sender::offline(self, channel, context)?),
            Role::Receiver => Box::new(Receiver::offline(self, channel, context)?),
        })
    }
}

#[cfg(test)]
mod tests;
