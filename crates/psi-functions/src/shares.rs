//! Shares of the intersection, to go on computing with: [`evaluate`] takes a
//! circuit over them.
//!
//! ```
//! use std::thread;
//! use psijoin_channel::memory;
//! use psijoin_circuit::{Backend, arithmetic, compare};
//! use psijoin_psi::{
//!     Columns, Context, Input, Items, Output, OutputKind, Request, Role, registry,
//!     shares::{self, Circuit, Places},
//! };
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
//! let request = Request {
//!     output: OutputKind::Shares(Columns { sender: 1, receiver: 0 }),
//!     ..Request::rows(3, 3)?
//! };
//! let plan = registry::plan(registry::AUTO, &request)?;
//! let party = |role, names: [&str; 3], columns: &[Vec<i64>], channel| {
//!     let fingerprints = names.map(|name| *blake3::hash(name.as_bytes()).as_bytes());
//!     // Both parties draw it together: `psijoin_transport::handshake`.
//!     let joint_seed = &[7; 32];
//!     let items = &Items::digest(&fingerprints, joint_seed, plan.digest_bytes());
//!     let input = Input { items, columns, joint_seed };
//!     let (mut channel, mut context) = (channel, Context::new());
//!     let output = psijoin_psi::run(&*plan, role, input, &mut channel, &mut context)?;
//!     let Output::Shares(shares) = output else { unreachable!("shares were asked for") };
//!     shares::evaluate(&Large, role, &shares, &mut channel, &mut context)
//! };
//! let (sender, receiver) = memory::pair();
//! let columns = [vec![250, 99, 100]];
//! let learned = thread::scope(|scope| {
//!     let sent = scope.spawn(|| party(Role::Sender, ["ann", "bob", "eve"], &columns, sender));
//!     let learned = party(Role::Receiver, ["bob", "joe", "ann"], &[], receiver)?;
//!     assert!(sent.join().expect("no panic")?.is_none());
//!     Ok::<_, psijoin_psi::Error>(learned)
//! })?;
//! // A wire for each bit of the count, the lowest first: it is 1.
//! let bits: Vec<bool> = learned.expect("the receiver's").iter().map(|bit| bit.get(0)).collect();
//! assert_eq!(bits, [true, false, false]);
//! # Ok::<(), psijoin_psi::Error>(())
//! ```

use psijoin_channel::Channel;
use psijoin_circuit::{
    Backend, Bits, Lanes, Side, TwoParty, arithmetic,
    garble::{Evaluator, Garbler, evaluator, garbler},
};
use psijoin_ot::extension::Extension;
use psijoin_psi::{Context, Error, Role, Shares};
use zeroize::Zeroizing;

/// Wires for a number.
const NUMBER_BITS: usize = u64::BITS as usize;

/// A function of shared items.
pub trait Circuit {
    /// Its outputs, which are all that anybody learns. Both parties run it, on the same number
    /// of places, and must come to the same gates.
    ///
    /// # Errors
    /// As [`Backend::products`].
    fn outputs<B: Backend>(
        &self,
        backend: &mut B,
        places: &Places<B::Wires>,
    ) -> Result<Vec<B::Wires>, B::Error>;
}

/// What a [`Circuit`] computes with: a lane for each place.
#[derive(Debug)]
pub struct Places<W> {
    /// Whether the place's item is shared.
    pub shared: W,
    /// For each column, the sender's first, the item's number if it is shared, and else 0: 64
    /// wires in two's complement, the lowest bit first.
    pub columns: Vec<Vec<W>>,
}

/// Evaluates a circuit over both parties' shares. The receiver gets its outputs, the sender `None`.
///
/// It is garbled by the sender, so that it takes few flights: 32 bytes an AND gate, of which putting
/// together a number takes 64; and 16 bytes for each bit of the receiver's shares. A wire takes
/// 16 bytes of memory a place while it lives: a column, a kilobyte a place. Parties are semi-honest.
///
/// # Errors
/// If the channel breaks, or the peer misbehaves, or has shares of another shape.
pub fn evaluate<C: Circuit>(
    circuit: &C,
    role: Role,
    shares: &Shares,
    channel: &mut Channel,
    context: &mut Context<'_>,
) -> Result<Option<Vec<Bits>>, Error> {
    let mut run = || match role {
        Role::Sender => {
            let mut setup = garbler::Setup::<Iknp>::new(channel, &mut context.rng)?;
            let mut party = Garbler::new(&mut setup, channel);
            let outputs = outputs(circuit, shares, &mut party)?;
            party.reveal(&outputs)?;
            Ok(None)
        }
        Role::Receiver => {
            let mut setup = evaluator::Setup::<Iknp>::new(channel, &mut context.rng)?;
            let mut party = Evaluator::new(&mut setup, channel);
            let outputs = outputs(circuit, shares, &mut party)?;
            Ok(Some(party.learn(&outputs)?))
        }
    };
    run().inspect_err(|error: &Error| channel.abort(error.abort_code()))
}

fn outputs<C: Circuit, P: TwoParty>(
    circuit: &C,
    shares: &Shares,
    party: &mut P,
) -> Result<Vec<P::Wires>, psijoin_circuit::Error> {
    let shared = party.share_in(std::slice::from_ref(&shares.membership))?;
    let columns = shares.columns.iter().map(|column| number(party, column));
    let places = Places {
        columns: columns.collect::<Result<_, _>>()?,
        shared: shared.into_iter().next().expect("a wire for one"),
    };
    circuit.outputs(party, &places)
}

/// The sum of both parties' shares modulo 2^64.
fn number<P: TwoParty>(
    party: &mut P,
    shares: &[u64],
) -> Result<Vec<P::Wires>, psijoin_circuit::Error> {
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
    let mut number = arithmetic::add(party, &senders, &receivers)?;
    number.truncate(NUMBER_BITS);
    Ok(number)
}

#[cfg(test)]
mod tests;
