use std::ops::RangeInclusive;

use psijoin_block::tower::Gf64;
use psijoin_channel::joint_seed::JointSeed;
use psijoin_circuit::equality;
use psijoin_ot::{iknp::SemiHonest, lookup, vole::Base};
use psijoin_params::{cuckoo::Shape, equality as equality_params};
use psijoin_psi::{
    BaseParams, Conversation, Derived, Dialogue, Error, Plan, Request, Role, ots, parameters,
};
use psijoin_psi_functions::{
    bins::{self, Keys},
    functions::Function,
};

use super::{INFO, Receiver, Sender};
use crate::oprf::{CIPHERS, Layout, Width, ciphers, over_base};

/// The parameters of a run.
#[derive(Debug)]
pub struct Params {
    pub(super) base: BaseParams,
    /// Bins, without a stash.
    pub(super) bins: Shape,
    /// The width of B, for the PRF's values.
    pub(super) width: Width,
    /// The width of targets.
    pub(super) target_width: Width,
    /// The number of their lowest bits that are compared.
    pub(super) number_bits: u32,
    /// The store of the receiver's keys.
    pub(super) oprf: Layout,
    /// That of the sender's.
    pub(super) hints: Layout,
}

impl Params {
    /// Derives them.
    ///
    /// The failure budget: up to a quarter for digests, for keys, and for rows that come from
    /// ciphers (one part, one and six), an eighth for the Cuckoo table, two fifths for the width of
    /// B, a sixteenth for each store. Equality tests get what is left: mostly more than half.
    ///
    /// # Errors
    /// If no parameters reach the security level.
    pub fn new(request: &Request) -> Result<Self, Error> {
        let sizes = request.sizes;
        let mut base = bins::base_params(request)?;
        let budget = &mut base.budget;
        let sender_keys = bins::sender_keys(sizes);
        let keys = sender_keys + sizes.receiver();
        // Both stores have rows from ciphers.
        budget.charge(CIPHERS, ciphers(keys, base.digest_bytes).times(2))?;
        let bins = bins::without_stash(sizes, budget)?;

        let width = Width::narrowest(0, sender_keys, budget.share(0.4));
        budget.charge("sender's key in the store", width.dictionary(sender_keys))?;
        let oprf = Layout::derive(
            "store of the receiver's keys",
            sizes.receiver(),
            request.security,
            budget,
        )?
        .on(request.base_ots);
        let hints = Layout::derive(
            "store of the sender's hints",
            sender_keys,
            request.security,
            budget,
        )?;

        let tests = bins.bins.into();
        let least_bits = equality_params::bits(tests, 1, budget.remaining())?;
        let target_width = Width::holding(least_bits);
        let number_bits = cheapest(least_bits..=target_width.bits(), bins.bins as usize);
        budget.charge(
            "equal by chance",
            equality_params::by_chance(tests, number_bits),
        )?;
        Ok(Self {
            base,
            bins,
            width,
            target_width,
            number_bits,
            oprf,
            hints,
        })
    }

    /// Returns the number of bins. Each is a lane of the equality tests.
    pub(super) fn lanes(&self) -> usize {
        self.bins.bins as usize
    }

    /// Returns the number of bits of the numbers that are compared.
    pub(super) fn number_bits(&self) -> usize {
        self.number_bits as usize
    }

    /// Lookups of the equality tests.
    pub(super) fn lookups(&self) -> usize {
        equality::lookups(self.number_bits(), self.lanes())
    }

    /// Returns what is made of the shares.
    pub(super) fn function(&self) -> Function {
        Function::new(&self.base.request, self.lanes())
    }

    /// Returns the hash functions of items.
    pub(super) fn keys(&self, joint_seed: &JointSeed) -> Keys {
        let purposes = [
            "psijoin 2026 rr22 circuit bins",
            "psijoin 2026 rr22 circuit keys",
        ];
        Keys::new(self.bins, purposes, joint_seed)
    }

    /// Returns the plan that follows.
    pub fn plan(self) -> Plan {
        over_base!(self.width, B => self.plan_over::<B>())
    }

    fn plan_over<B: Base>(self) -> Plan {
        let own = parameters(&[
            ("digest bytes", self.base.digest_bytes as u64),
            ("bins", self.bins.bins.into()),
            ("value bits", self.width.bits().into()),
            ("target bits", self.target_width.bits().into()),
            ("compared bits", self.number_bits.into()),
        ]);
        let derived = Derived {
            info: &INFO,
            base: self.base.clone(),
            parameters: [own, self.oprf.parameters(), self.hints.parameters()].concat(),
            dialogue: self.dialogue::<B>(),
        };
        let lanes = self.lanes();
        Plan::new::<Sender<B>, Receiver<B>>(derived, self).places(lanes)
    }

    fn dialogue<B: Base>(&self) -> Dialogue {
        let [function_offline, function_online] = self.function().conversations();
        // Step 1.
        let base = self.base.request.base_ots;
        let lookup_bytes = [
            lookup::setup_sender_bytes(base),
            lookup::setup_receiver_bytes(base),
        ];
        let offline = self
            .oprf
            .setup()
            .then(self.oprf.vole::<SemiHonest, B>())
            .then(ots::setup(base, Role::Sender, lookup_bytes))
            .flights(equality::preparing_flights(self.lookups()))
            .then(function_offline);
        // Steps 3 to 6.
        let targets = over_base!(self.target_width, T => self.hints.bytes::<T>());
        let columns = self.base.request.output.columns().sender as u64;
        let online = Conversation::default()
            .receiver(self.oprf.bytes::<B>())
            .sender(targets + columns * self.hints.bytes::<Gf64>())
            .flights(equality::flights(self.number_bits(), self.lanes()))
            .then(function_online);
        Dialogue::new(offline, online)
    }
}

/// Returns the number of bits whose tests send the fewest bytes, and else the fewest flights: four
/// bits of a digit take less than three that are left over.
fn cheapest(bits: RangeInclusive<u32>, lanes: usize) -> u32 {
    let cost = |bits: &u32| {
        let flights = || equality::flights(*bits as usize, lanes);
        (flights().flatten().sum::<u64>(), flights().count())
    };
    bits.min_by_key(cost).expect("there are some")
}

#[cfg(test)]
mod tests {
    use psijoin_params::{Security, Sizes};
    use psijoin_psi::OutputKind;

    use super::*;

    /// The budget is not exceeded where digests are about to become longer, either.
    #[test]
    fn no_size_needs_a_stash() {
        for sigma in [40, 60, 70, 80] {
            for (senders, log2) in (0..=26).flat_map(|log2| [(1, log2), (1 << log2, log2)]) {
                let sizes = Sizes::new(senders, 1 << log2).unwrap();
                let request = Request::of(sizes, Security::new(sigma).unwrap());
                let params = Params::new(&request.output(OutputKind::Count)).unwrap();
                assert_eq!(params.bins.stash, 0);
            }
        }
    }
}
