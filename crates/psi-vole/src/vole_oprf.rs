//! The oblivious PRF of RR22 for itself, for semi-honest parties.
//!
//! **Functionality.** The receiver brings a set of digests, and gets the value of a pseudorandom
//! function at each. The sender gets the function. Here it brings digests of its own beforehand,
//! and gets the values at these, as the receiver's store arrives.
//!
//! **Source.** Raghuraman and Rindal (CCS 2022), Figure 11 without its last comparison. The steps,
//! deviations and assumptions are those of [`rr22`](crate::rr22), which stands on this code. There,
//! the two phases run at once.
//!
//! **Security.** Semi-honest, as `rr22`. The value at an item that the receiver does not have is
//! pseudorandom for it, except with the probability of [`Params::in_the_store`] for any of the
//! sender's items. Items must be fixed before the joint seed is drawn.
//!
//! **Cost.** [`Params::setup`] and [`Params::online_bytes`]: about 400 kilobytes, and 1.1 elements
//! of 58 bits or more per item of the receiver.

use psijoin_channel::joint_seed::JointSeed;
use psijoin_encode::Digests;
use psijoin_ot::{iknp::SemiHonest, vole::Base};
use psijoin_params::{FailureBudget, Log2Prob, Security, Sizes};
use psijoin_psi::{Context, Conversation, Error, output_hash::Outputs};

use crate::oprf::{self, CIPHERS, Inputs, Layout, Width, ciphers, over_base};

/// The numbers that both parties must agree on.
#[derive(Debug)]
pub struct Params {
    layout: Layout,
    width: Width,
    sizes: Sizes,
    budget: FailureBudget,
}

impl Params {
    /// Derives them for sets of these sizes, of digests of 16 or 32 bytes that are all different.
    ///
    /// The failure budget: what ciphers take, up to a half for the width of values in the store,
    /// and a sixteenth for the store.
    ///
    /// # Errors
    /// If no parameters reach the security level.
    pub fn new(sizes: Sizes, digest_bytes: usize, security: Security) -> Result<Self, Error> {
        let mut budget = FailureBudget::new(security);
        budget.charge(CIPHERS, ciphers(sizes.union(), digest_bytes))?;
        let width = Width::narrowest(0, sizes.sender(), budget.share(0.5));
        budget.charge(
            "sender's item in the store",
            width.dictionary(sizes.sender()),
        )?;
        let name = "store of the receiver's items";
        let layout = Layout::derive(name, sizes.receiver(), security, &mut budget)?;
        Ok(Self {
            layout,
            width,
            sizes,
            budget,
        })
    }

    /// Returns a bound on the value at any of the sender's items being known to a receiver that
    /// does not have it.
    pub fn in_the_store(&self) -> Log2Prob {
        self.width.dictionary(self.sizes.sender())
    }

    /// Returns the failure events, and how likely each is at most.
    pub fn budget(&self) -> &FailureBudget {
        &self.budget
    }

    /// Returns what is said offline.
    pub fn setup(&self) -> Conversation {
        over_base!(self.width, B => {
            self.layout.setup().then(self.layout.vole::<SemiHonest, B>())
        })
    }

    /// Returns the number of bytes that the receiver sends online.
    pub fn online_bytes(&self) -> u64 {
        over_base!(self.width, B => self.layout.bytes::<B>())
    }

    fn inputs(&self, items: Digests<'_>, joint_seed: &JointSeed) -> Inputs<'_> {
        Inputs::new::<SemiHonest>(&self.layout, items, joint_seed)
    }
}

/// Returns the values at the receiver's items, in their order. The sender calls [`send`].
///
/// # Errors
/// If the channel breaks, the peer misbehaves, or luck fails.
///
/// # Panics
/// If there are more items than were planned.
pub fn receive(
    params: &Params,
    items: Digests<'_>,
    joint_seed: &JointSeed,
    context: &mut Context,
) -> Result<Vec<u128>, Error> {
    assert_eq!(items.len() as u64, params.sizes.receiver(), "as planned");
    fn receive<B: Base>(
        params: &Params,
        inputs: &Inputs<'_>,
        context: &mut Context,
    ) -> Result<Vec<u128>, Error> {
        let oprf = oprf::Receiver::<B>::offline::<SemiHonest>(&params.layout, context)?;
        let values = oprf.evaluate(inputs, context)?;
        Ok(in_order(inputs, &values))
    }
    let inputs = &params.inputs(items, joint_seed);
    over_base!(params.width, B => receive::<B>(params, inputs, context))
}

/// Returns the values at the sender's items, in their order. The receiver calls [`receive`].
///
/// # Errors
/// If the channel breaks, or the peer misbehaves.
///
/// # Panics
/// If there are more items than were planned.
pub fn send(
    params: &Params,
    items: Digests<'_>,
    joint_seed: &JointSeed,
    context: &mut Context,
) -> Result<Vec<u128>, Error> {
    assert_eq!(items.len() as u64, params.sizes.sender(), "as planned");
    fn send<B: Base>(
        params: &Params,
        inputs: &Inputs<'_>,
        context: &mut Context,
    ) -> Result<Vec<u128>, Error> {
        let oprf = oprf::Sender::<B>::offline::<SemiHonest>(&params.layout, context)?;
        let outputs = Outputs::hashes(inputs.items.digests().len());
        let inbound = context.channel.halves().1;
        let outputs = oprf.evaluate(inputs, inbound, outputs)?;
        Ok(in_order(inputs, &outputs.hashes))
    }
    let inputs = &params.inputs(items, joint_seed);
    over_base!(params.width, B => send::<B>(params, inputs, context))
}

/// Returns values in the order of the items that a party brought.
fn in_order(inputs: &Inputs<'_>, by_bin: &[u128]) -> Vec<u128> {
    let mut values = vec![0; by_bin.len()];
    for (position, value) in inputs.items.positions().iter().zip(by_bin) {
        values[*position as usize] = *value;
    }
    values
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, ops::Range, thread};

    use psijoin_channel::{count::counted, memory};

    use super::*;

    fn digests(numbers: Range<u64>) -> Vec<[u8; 16]> {
        let hash = |number: u64| *blake3::hash(&number.to_le_bytes()).as_bytes();
        let digest = |number| *hash(number).first_chunk().expect("32 bytes");
        numbers.map(digest).collect()
    }

    #[test]
    fn both_get_the_same_values_at_the_same_items_and_only_there() {
        let joint_seed = &JointSeed::insecure_fixed([42; 32]);
        for (senders, receivers, shared) in [(900, 700, 300), (20_000, 30_000, 19_999), (1, 1, 1)] {
            let sizes = Sizes::new(senders, receivers).unwrap();
            let params = Params::new(sizes, 16, Security::default()).unwrap();
            assert!(params.budget().total() <= Security::default().failure());
            assert!(params.in_the_store().log2() < -40.0);
            let first = senders - shared;
            let (own, theirs) = (digests(0..senders), digests(first..first + receivers));
            let (sender, mut receiver) = memory::pair();
            let (mut sender, counters) = counted(sender);
            let [sent, received] = thread::scope(|scope| {
                let sent = scope.spawn(|| {
                    let mut context = Context::new(&mut sender);
                    send(&params, Digests::Short(&own), joint_seed, &mut context).unwrap()
                });
                let mut context = Context::new(&mut receiver);
                let items = Digests::Short(&theirs);
                let received = receive(&params, items, joint_seed, &mut context).unwrap();
                [sent.join().unwrap(), received]
            });
            assert_eq!(sent[first as usize..], received[..shared as usize]);
            let all: HashSet<_> = sent.iter().chain(&received).collect();
            assert_eq!(all.len() as u64, senders + receivers - shared);
            let planned = params.setup().receiver(params.online_bytes()).traffic();
            let traffic = counters.snapshot();
            assert_eq!(traffic.sent.bytes, planned.sender_bytes);
            assert_eq!(traffic.received.bytes, planned.receiver_bytes);
        }
    }
}
