//! Shares of the intersection, to go on computing with: [`evaluate`] takes a circuit over them.
//!
//! ```
//! use std::thread;
//! use psijoin_channel::{Channel, memory};
//! use psijoin_circuit::{Backend, Bits, arithmetic, compare};
//! use psijoin_psi::{BaseOts, Context, Role, Shares};
//! use psijoin_psi_functions::shares::{self, Circuit, Places};
//!
//! /// How many shared items have a number of at least 100.
//! struct Large;
//!
//! impl Circuit for Large {
//!     fn outputs<B: Backend>(
//!         &self,
//!         backend: &mut B,
//!         places: &Places<B::Wires>,
//!     ) -> Result<Vec<B::Wires>, B::Error> {
//!         let (sign, number) = places.columns[0].split_last().expect("64 wires");
//!         let positive = backend.not(sign);
//!         let large = compare::at_least(backend, number, 100)?;
//!         let counted = backend.and(&positive, &large)?;
//!         arithmetic::count_ones(backend, &counted)
//!     }
//! }
//!
//! // A run whose output is `OutputKind::Shares` gives a party its shares. These are of three places:
//! // the items of the first two are shared, and their numbers are 250 and 99.
//! let senders = Shares::new(
//!     Bits::from_iter([true, false, true]),
//!     vec![vec![7, 1000, 5]],
//!     None,
//! );
//! let receivers = Shares::new(
//!     Bits::from_iter([false, true, true]),
//!     vec![vec![243, 99_u64.wrapping_sub(1000), 5_u64.wrapping_neg()]],
//!     Some(vec![Some(1), Some(0), None]),
//! );
//! let party = |role, shares: &Shares, mut channel: Channel| {
//!     let base_ots = BaseOts::DiffieHellman;
//!     shares::evaluate(&Large, role, base_ots, shares, &mut Context::new(&mut channel))
//! };
//! let (sending, receiving) = memory::pair();
//! let learned = thread::scope(|scope| {
//!     let sent = scope.spawn(|| party(Role::Sender, &senders, sending));
//!     let learned = party(Role::Receiver, &receivers, receiving)?;
//!     assert!(sent.join().expect("no panic")?.is_none());
//!     Ok::<_, psijoin_psi::Error>(learned)
//! })?;
//! // A wire per bit of the count, the lowest first: it is 1.
//! let bits: Vec<bool> = learned.expect("the receiver's").iter().map(|bit| bit.get(0)).collect();
//! assert_eq!(bits, [true, false, false]);
//! # Ok::<(), psijoin_psi::Error>(())
//! ```

use psijoin_circuit::{
    Backend, Bits, Side, TwoParty, arithmetic,
    garble::{Evaluator, Garbler, Labels, evaluator, garbler},
};
use psijoin_psi::{BaseOts, Context, Error, Role, Shares};
use zeroize::Zeroizing;

use crate::garbling;

/// Wires for a number.
const NUMBER_BITS: usize = u64::BITS as usize;

/// A function of shared items.
pub trait Circuit {
    /// Computes the outputs; nobody learns anything else. Both parties run it on the same number of
    /// places, and must get the same gates.
    ///
    /// # Errors
    /// As [`Backend::products`].
    fn outputs<B: Backend>(
        &self,
        backend: &mut B,
        places: &Places<B::Wires>,
    ) -> Result<Vec<B::Wires>, B::Error>;
}

/// The inputs of a [`Circuit`]. Its wires have a lane per place.
#[derive(Debug)]
pub struct Places<W> {
    /// 1 if the place's item is shared.
    pub shared: W,
    /// For each column, the sender's first, the item's number if it is shared, and otherwise 0: 64
    /// wires in two's complement, the lowest bit first.
    pub columns: Vec<Vec<W>>,
}

/// Evaluates a circuit over both parties' shares. The receiver gets its outputs, the sender `None`.
///
/// The sender garbles it, so that it takes few flights. It costs 32 bytes per AND gate, and 16
/// bytes per bit of the receiver's shares; putting a number together takes 64 gates. While a wire
/// lives, it takes 16 bytes of memory per place, and a column takes a kilobyte per place. Parties
/// are semi-honest. Both name the same base OTs.
///
/// # Errors
/// If the channel breaks, or the peer misbehaves, or has shares of another shape.
pub fn evaluate<C: Circuit>(
    circuit: &C,
    role: Role,
    base_ots: BaseOts,
    shares: &Shares,
    context: &mut Context<'_>,
) -> Result<Option<Vec<Bits>>, Error> {
    let extension = garbling::ots(base_ots).extension;
    let mut run = || match role {
        Role::Sender => {
            let mut setup = garbler::Setup::new(extension, context.channel, &mut context.rng)?;
            let mut party = Garbler::new(&mut setup, context.channel);
            let outputs = outputs(circuit, shares, &mut party)?;
            party.reveal(&outputs)?;
            Ok(None)
        }
        Role::Receiver => {
            let mut setup = evaluator::Setup::new(extension, context.channel, &mut context.rng)?;
            let mut party = Evaluator::new(&mut setup, context.channel);
            let outputs = outputs(circuit, shares, &mut party)?;
            Ok(Some(party.learn(&outputs)?))
        }
    };
    run().inspect_err(|error: &Error| context.channel.abort(error.abort_code()))
}

fn outputs<C: Circuit>(
    circuit: &C,
    shares: &Shares,
    mut party: &mut dyn TwoParty<Wires = Labels>,
) -> Result<Vec<Labels>, psijoin_circuit::Error> {
    let shared = party.share_in(std::slice::from_ref(shares.membership()))?;
    let columns = shares.columns().iter().map(|column| number(party, column));
    let places = Places {
        columns: columns.collect::<Result<_, _>>()?,
        shared: shared.into_iter().next().expect("a wire for one"),
    };
    circuit.outputs(&mut party, &places)
}

/// Returns the sum of both parties' shares modulo 2^64.
fn number(
    mut party: &mut dyn TwoParty<Wires = Labels>,
    shares: &[u64],
) -> Result<Vec<Labels>, psijoin_circuit::Error> {
    let shares: Vec<u128> = shares.iter().map(|share| u128::from(*share)).collect();
    let shares = Zeroizing::new(shares);
    let own = Zeroizing::new(Bits::transposed(&shares, NUMBER_BITS));
    let (senders, receivers) = match party.side() {
        Side::First => (party.own(&own)?, party.theirs(NUMBER_BITS, shares.len())?),
        Side::Second => {
            let theirs = party.theirs(NUMBER_BITS, shares.len())?;
            (theirs, party.own(&own)?)
        }
    };
    let mut number = arithmetic::add(&mut party, &senders, &receivers)?;
    number.truncate(NUMBER_BITS);
    Ok(number)
}

#[cfg(test)]
mod tests;
