use psijoin_channel::joint_seed::JointSeed;
use psijoin_ot::extension::Extension;
use psijoin_params::cuckoo::Shape;
use psijoin_psi::{BaseParams, Conversation, Derived, Dialogue, Error, Plan, Request, parameters};
use psijoin_psi_functions::{
    bins::{self, Keys},
    functions::Function,
};

use super::{INFO, Receiver, SILENT_INFO, Sender};
use crate::{
    opprf::{Opprf, Size},
    psm_co::{Form, Tests},
};

/// All numbers of a run.
#[derive(Debug)]
pub struct Params<F> {
    pub(crate) base: BaseParams,
    /// Bins, without a stash.
    pub(super) bins: Shape,
    /// The values of the sender's keys. They have η bits, as the numbers that are compared.
    pub(crate) opprf: Opprf,
    tests: Tests<F>,
}

impl<F: Form> Params<F> {
    /// Derives them, for a run on this OT extension.
    ///
    /// The failure budget: up to a sixteenth for digests and keys, an eighth each for the Cuckoo
    /// table and for the filter, seven sixteenths for numbers that are equal by chance, and a
    /// quarter for the equality tests' ciphertexts.
    ///
    /// # Errors
    /// If no parameters reach the security level.
    pub fn new(request: &Request, extension: Extension) -> Result<Self, Error> {
        Self::opening(1, request, extension)
    }

    /// Derives them, where this many bits are opened for each bin.
    pub(crate) fn opening(
        opened_bits: usize,
        request: &Request,
        extension: Extension,
    ) -> Result<Self, Error> {
        let sizes = request.sizes;
        let mut base = bins::base_params(request)?;
        let budget = &mut base.budget;
        let bins = bins::without_stash(sizes, budget)?;
        let tests = Tests::derive(bins.bins.into(), opened_bits, budget)?;
        let size = Size {
            programmed: bins::sender_keys(sizes),
            queried: sizes.receiver(),
            uses: 1,
        };
        let extension = extension.on(request.base_ots);
        let opprf = Opprf::derive(size, tests.bits as u32, extension, budget.share(0.125))?;
        opprf.charge(budget)?;
        Ok(Self {
            base,
            bins,
            opprf,
            tests,
        })
    }

    /// Returns the plan of a run with these numbers.
    pub fn plan(self) -> Plan {
        let [function_offline, function_online] = self.function().conversations();
        let online = self.online().then(function_online);
        let info = match self.opprf.extension().is_silent() {
            false => &INFO,
            true => &SILENT_INFO,
        };
        let derived = Derived {
            info,
            base: self.base.clone(),
            parameters: [
                parameters(&[
                    ("digest bytes", self.base.digest_bytes as u64),
                    ("bins", self.bins.bins.into()),
                ]),
                self.opprf.parameters(),
                self.tests.parameters(),
            ]
            .concat(),
            dialogue: Dialogue::new(self.opprf.ots().setup().then(function_offline), online),
        };
        let lanes = self.lanes();
        Plan::new::<Sender<F>, Receiver<F>>(derived, self).places(lanes)
    }

    /// Returns what is said in steps 3 and 4.
    pub(crate) fn online(&self) -> Conversation {
        let tests = self.tests.conversation(self.opprf.ots(), self.lanes());
        self.opprf.conversation().then(tests)
    }

    /// Returns the number of bins. Each is a lane of the equality tests.
    pub(crate) fn lanes(&self) -> usize {
        self.bins.bins as usize
    }

    /// Returns the hash functions of items.
    pub(super) fn keys(&self, joint_seed: &JointSeed) -> Keys {
        let purposes = ["psijoin 2026 kk20 bins", "psijoin 2026 kk20 keys"];
        Keys::new(self.bins, purposes, joint_seed)
    }

    /// Step 4.
    pub(crate) fn tests(&self, joint_seed: &JointSeed) -> Tests<F> {
        let key = joint_seed.key("psijoin 2026 kk20 equality tests");
        self.tests.keyed(key)
    }

    /// Returns what is made of the shares.
    pub(super) fn function(&self) -> Function {
        Function::new(&self.base.request, self.lanes())
    }
}

#[cfg(test)]
mod tests {
    use psijoin_params::{Security, Sizes};
    use psijoin_psi::OutputKind;

    use super::*;
    use crate::psm_co::Tagged;

    /// At every size the bounds are kept, and no stash is needed.
    #[test]
    fn budget_is_kept() {
        for sigma in [40, 80] {
            let sizes = (0..=26).step_by(2);
            for (senders, log2) in sizes.flat_map(|log2| [(1, log2), (1 << (26 - log2), log2)]) {
                let sizes = Sizes::new(senders, 1 << log2).unwrap();
                let security = Security::new(sigma).unwrap();
                let request = Request::of(sizes, security).output(OutputKind::Count);
                let params = Params::<Tagged>::new(&request, Extension::IKNP).unwrap();
                assert_eq!(params.bins.stash, 0);
                assert!(params.base.budget.total() <= request.security.failure());
            }
        }
    }
}
