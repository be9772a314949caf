//! f(y ∈ X) as labels of wires: whether an item is shared is an input of a garbled circuit, and
//! nobody sees it.
//!
//! **Functionality.** The sender, which garbles, gets the labels of 0 of one wire for many items.
//! The receiver, which evaluates, gets for each item the label of whether the sender has it: that
//! of 0, or that of 0 with the circuit's Δ added, which is that of 1. So a circuit goes on from
//! there at no further cost; from shares, each bit takes an OT first.
//!
//! **Source.** Karakoç and Küpçü, *Linear Complexity Private Set Intersection for Secure Two-Party
//! Protocols* (CANS 2020), §1: f may give "labels for the corresponding input wires for circuit
//! based secure computation protocols". [`WireLabels::of_items`] is Protocol 2 with such outputs
//! ([`psm`](crate::psm)), [`WireLabels::of_bins`] is Protocol 4 ([`kk20`]): their steps
//! up to the equality tests, which open labels of 128 bits in place of shares
//! ([`Tests::send_labels`](crate::psm_co::Tests::send_labels)).
//!
//! How many of the receiver's items have a flag and are in the sender's set:
//!
//! ```
//! use std::thread;
//!
//! use psijoin_block::Prg;
//! use psijoin_channel::{joint_seed::JointSeed, memory};
//! use psijoin_circuit::{
//!     Backend, Bits, TwoParty, arithmetic,
//!     garble::{Evaluator, Garbler, evaluator, garbler},
//! };
//! use psijoin_ot::extension::Extension;
//! use psijoin_psi::{Context, Error, Items, Request};
//! use psijoin_psi_bloom::labels::WireLabels;
//!
//! // Three items of the sender, and two of the receiver, of which it flags the first.
//! let wires = WireLabels::of_items(&Request::rows(3, 2)?)?;
//! let (senders, receivers) = ([[1; 32], [2; 32], [3; 32]], [[2; 32], [3; 32]]);
//! let flags = Bits::from_iter([true, false]);
//!
//! let (mut garbling, mut evaluating) = memory::pair();
//! let count = thread::scope(|scope| {
//!     let wires = &wires;
//!     scope.spawn(move || {
//!         let channel = &mut garbling;
//!         let seed = JointSeed::agree(channel, true)?;
//!         let items = Items::digest(&senders, &seed, wires.digest_bytes());
//!         let mut setup = garbler::Setup::new(Extension::IKNP, channel, &mut Prg::from_os())?;
//!         let shared = wires.send(&items, &seed, &setup.delta(), &mut Context::new(channel))?;
//!         let mut garbler = Garbler::new(&mut setup, channel);
//!         let flags = garbler.theirs(1, 2)?.remove(0);
//!         let flagged = garbler.and(&shared, &flags)?;
//!         let count = arithmetic::count_ones(&mut garbler, &flagged)?;
//!         garbler.reveal(&count).map_err(Error::from)
//!     });
//!     let channel = &mut evaluating;
//!     let seed = JointSeed::agree(channel, false)?;
//!     let items = Items::digest(&receivers, &seed, wires.digest_bytes());
//!     let mut setup = evaluator::Setup::new(Extension::IKNP, channel, &mut Prg::from_os())?;
//!     let shared = wires.receive(&items, &seed, &mut Context::new(channel))?.labels;
//!     let mut evaluator = Evaluator::new(&mut setup, channel);
//!     let flags = evaluator.own(&[flags])?.remove(0);
//!     let flagged = evaluator.and(&shared, &flags)?;
//!     let count = arithmetic::count_ones(&mut evaluator, &flagged)?;
//!     evaluator.learn(&count).map_err(Error::from)
//! })?;
//! // It is 1: the lowest bit comes first.
//! let bits: Vec<bool> = count.iter().map(|bit| bit.get(0)).collect();
//! assert_eq!(bits, [true, false]);
//! # Ok::<(), psijoin_psi::Error>(())
//! ```
//!
//! **Security.** Semi-honest, that of the protocols. The receiver gets one label of each wire, and
//! it cannot tell which. Δ must be that of one circuit, or of circuits that one
//! [`Setup`](psijoin_circuit::garble::garbler::Setup) garbles, and labels of 0 are fresh.
//!
//! **Cost.** [`WireLabels::conversation`] is exact: that of the protocols, whose last ciphertexts
//! have 128 bits instead of one, and without an output.

use psijoin_block::Block;
use psijoin_channel::joint_seed::JointSeed;
use psijoin_circuit::garble::Labels;
use psijoin_ot::extension::Extension;
use psijoin_params::FailureBudget;
use psijoin_psi::{BaseParams, Context, Conversation, Error, Input, Items, Request, Role};

use crate::{
    kk20,
    opprf::Opprf,
    psm::filter,
    psm_co::{LABEL_BITS, Tagged, Tests},
};

/// Wires that carry whether items are shared, as both parties derive them.
#[derive(Debug)]
pub struct WireLabels(Kind);

/// The protocol.
#[derive(Debug)]
enum Kind {
    Items(filter::Params),
    Bins(kk20::Params<Tagged>),
}

/// The wires as the receiver has them.
pub struct Received {
    /// The label of each lane.
    pub labels: Labels,
    /// The position of the item of each lane. A lane without an item carries 0.
    pub items: Vec<Option<u32>>,
}

impl WireLabels {
    /// Returns a wire with a lane for each of the receiver's items, in their order, each compared
    /// with all of the sender's.
    ///
    /// # Errors
    /// If a set is empty, there are more than [`filter::MOST_PAIRS`] pairs of items, or no
    /// parameters reach the security level.
    pub fn of_items(request: &Request) -> Result<Self, Error> {
        check(request)?;
        if request.sizes.pairs() > filter::MOST_PAIRS {
            return Err(Error::Misuse(filter::TOO_MANY));
        }
        let params = filter::Params::opening(LABEL_BITS, request)?;
        Ok(Self(Kind::Items(params)))
    }

    /// Returns a wire with a lane for each of the bins that the receiver's items are hashed to.
    ///
    /// # Errors
    /// If a set is empty, or too large for one run, or no parameters reach the security level.
    pub fn of_bins(request: &Request) -> Result<Self, Error> {
        check(request)?;
        let params = kk20::Params::opening(LABEL_BITS, request, Extension::IKNP)?;
        Ok(Self(Kind::Bins(params)))
    }

    /// Returns the number of lanes.
    pub fn lanes(&self) -> usize {
        match &self.0 {
            Kind::Items(params) => params.base.request.sizes.receiver() as usize,
            Kind::Bins(params) => params.lanes(),
        }
    }

    /// Returns the number of bytes of an item's digest.
    pub fn digest_bytes(&self) -> usize {
        self.base().digest_bytes
    }

    /// Returns the failure events, and how likely each is at most.
    pub fn budget(&self) -> &FailureBudget {
        &self.base().budget
    }

    /// Returns all that is said.
    pub fn conversation(&self) -> Conversation {
        let online = match &self.0 {
            Kind::Items(params) => params.online(),
            Kind::Bins(params) => params.online(),
        };
        self.opprf().ots().setup().then(online)
    }

    /// Runs the sender, and returns the labels of 0. `delta` is that of the circuit
    /// ([`delta`](psijoin_circuit::garble::garbler::Setup::delta)). The peer calls
    /// [`receive`](Self::receive). If it fails, this tells the peer why.
    ///
    /// # Errors
    /// If the items do not fit, the channel breaks, the peer misbehaves, or luck fails.
    pub fn send(
        &self,
        items: &Items,
        joint_seed: &JointSeed,
        delta: &Block,
        context: &mut Context,
    ) -> Result<Labels, Error> {
        let input = &input(items, joint_seed);
        self.check(Role::Sender, items)
            .and_then(|()| self.send_checked(input, delta, context))
            .inspect_err(|error| error.tell(context.channel))
    }

    fn send_checked(
        &self,
        input: &Input,
        delta: &Block,
        context: &mut Context,
    ) -> Result<Labels, Error> {
        let extension = self.opprf().extension();
        let mut ots = extension.set_up_sender(context.channel, &mut context.rng)?;
        let targets = match &self.0 {
            Kind::Items(params) => params.program(input, &mut ots, context)?,
            Kind::Bins(params) => params.program(input, &mut ots, context)?,
        };
        let (tests, rng) = (self.tests(input.joint_seed), &mut context.rng);
        tests.send_labels(&targets, delta, &mut ots, context.channel, rng)
    }

    /// Runs the receiver. If it fails, this tells the peer why.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn receive(
        &self,
        items: &Items,
        joint_seed: &JointSeed,
        context: &mut Context,
    ) -> Result<Received, Error> {
        let input = &input(items, joint_seed);
        self.check(Role::Receiver, items)
            .and_then(|()| self.receive_checked(input, context))
            .inspect_err(|error| error.tell(context.channel))
    }

    fn receive_checked(&self, input: &Input, context: &mut Context) -> Result<Received, Error> {
        let extension = self.opprf().extension();
        let mut ots = extension.set_up_receiver(context.channel, &mut context.rng)?;
        let (items, numbers) = match &self.0 {
            Kind::Items(params) => {
                let items = (0..input.items.len() as u32).map(Some).collect();
                (items, params.query(input, &mut ots, context)?)
            }
            Kind::Bins(params) => {
                let (table, numbers) = params.query(input, &mut ots, context)?;
                let mut items = vec![None; numbers.len()];
                for placed in &table.placed {
                    items[placed.bin as usize] = Some(placed.item);
                }
                (items, numbers)
            }
        };
        let tests = self.tests(input.joint_seed);
        let labels = tests.receive_labels(&numbers, &mut ots, context.channel)?;
        Ok(Received { labels, items })
    }

    /// Checks that a party's items are those that were agreed on.
    fn check(&self, role: Role, items: &Items) -> Result<(), Error> {
        let BaseParams {
            request,
            digest_bytes,
            ..
        } = self.base();
        if items.len() as u64 != role.items(request.sizes) {
            return Err(Error::Misuse(
                "the number of items is not the one that was agreed on",
            ));
        }
        if items.digest_bytes() != *digest_bytes {
            return Err(Error::Misuse(
                "the item digests do not have the length that was agreed on",
            ));
        }
        Ok(())
    }

    fn base(&self) -> &BaseParams {
        match &self.0 {
            Kind::Items(params) => &params.base,
            Kind::Bins(params) => &params.base,
        }
    }

    fn opprf(&self) -> Opprf {
        match &self.0 {
            Kind::Items(params) => params.opprf,
            Kind::Bins(params) => params.opprf,
        }
    }

    fn tests(&self, joint_seed: &JointSeed) -> Tests<Tagged> {
        match &self.0 {
            Kind::Items(params) => params.tests(joint_seed),
            Kind::Bins(params) => params.tests(joint_seed),
        }
    }
}

/// Checks that there is something to compare, and not too much for one run.
fn check(request: &Request) -> Result<(), Error> {
    if request.sizes.smaller() == 0 {
        return Err(Error::Misuse(
            "a set is empty, so that no item is shared, as both parties know",
        ));
    }
    Ok(request.sizes.at_once()?)
}

fn input<'a>(items: &'a Items, joint_seed: &'a JointSeed) -> Input<'a> {
    Input {
        items,
        columns: &[],
        payloads: &[],
        joint_seed,
    }
}

#[cfg(test)]
mod tests;
