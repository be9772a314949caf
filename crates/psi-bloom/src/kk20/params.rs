use psijoin_channel::joint_seed::JointSeed;
use psijoin_ot::extension::Extension;
use psijoin_params::{
    cuckoo::Shape,
    equality,
    garbled_bloom::{self, dependent, stuck},
};
use psijoin_psi::{
    BaseParams, Derived, Dialogue, Error, Plan, Request, Role, masks::MaskLength, ots::Ots,
    parameters,
};
use psijoin_psi_functions::{
    bins::{self, Keys},
    functions::Function,
};

use super::{INFO, Receiver, SILENT_INFO, Sender};
use crate::{
    filter_ot::FilterOt,
    garbled_transfer::GarbledTransfer,
    psm_co::{Form, Tests, decryptions},
};

/// All numbers of a run.
#[derive(Debug)]
pub struct Params<F> {
    pub(super) base: BaseParams,
    /// Bins, without a stash.
    pub(super) bins: Shape,
    /// The filter of the sender's keys. Its strings have η bits, as targets and numbers that are
    /// compared.
    pub(super) transfer: GarbledTransfer,
    /// Ciphertexts of the equality tests.
    form: F,
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
        let sizes = request.sizes;
        let mut base = bins::base_params(request)?;
        let budget = &mut base.budget;
        let bins = bins::without_stash(sizes, budget)?;

        let (keys, seen) = (bins::sender_keys(sizes), sizes.receiver());
        let filter = garbled_bloom::programmed(keys, seen, budget.share(0.125))?;
        budget.charge("hidden keys that cancel out", dependent(keys, seen, filter))?;
        budget.charge("keys without cells of their own", stuck(keys, filter))?;

        let tests = bins.bins.into();
        let number_bits = equality::bits(tests, 1, budget.share(7.0 / 16.0))?;
        budget.charge("equal by chance", equality::by_chance(tests, number_bits))?;
        let decryptions = decryptions(number_bits, tests);
        let form = F::derive(decryptions, budget.share(0.25))?;
        budget.charge("another ciphertext's tag", form.wrong(decryptions))?;
        Ok(Self {
            base,
            bins,
            transfer: GarbledTransfer {
                filter: FilterOt {
                    shape: filter,
                    extension,
                },
                strings: MaskLength { bits: number_bits },
            },
            form,
        })
    }

    /// Returns the plan of a run with these numbers.
    pub fn plan(self) -> Plan {
        let [function_offline, function_online] = self.function().conversations();
        let tests = self.tests_with([0; 32]);
        let online = (self.transfer.conversation())
            .then(tests.conversation(self.ots(), self.lanes()))
            .then(function_online);
        let GarbledTransfer { filter, strings } = self.transfer;
        let derived = Derived {
            info: filter.info(&INFO, &SILENT_INFO),
            base: self.base.clone(),
            parameters: [
                parameters(&[
                    ("digest bytes", self.base.digest_bytes as u64),
                    ("bins", self.bins.bins.into()),
                ]),
                filter.parameters("hash functions of the filter"),
                parameters(&[
                    ("compared bits", strings.bits.into()),
                    ("tag bits", self.form.tag_bits().into()),
                ]),
            ]
            .concat(),
            dialogue: Dialogue::new(filter.setup().then(function_offline), online),
        };
        let lanes = self.lanes();
        Plan::new::<Sender<F>, Receiver<F>>(derived, self).places(lanes)
    }

    fn ots(&self) -> Ots {
        Ots {
            extension: self.transfer.filter.extension,
            sender: Role::Sender,
        }
    }

    /// Returns the number of bins. Each is a lane of the equality tests.
    pub(super) fn lanes(&self) -> usize {
        self.bins.bins as usize
    }

    /// Returns the hash functions of items.
    pub(super) fn keys(&self, joint_seed: &JointSeed) -> Keys {
        let purposes = ["psijoin 2026 kk20 bins", "psijoin 2026 kk20 keys"];
        Keys::new(self.bins, purposes, joint_seed)
    }

    /// Step 4.
    pub(super) fn tests(&self, joint_seed: &JointSeed) -> Tests<F> {
        self.tests_with(joint_seed.key("psijoin 2026 kk20 equality tests"))
    }

    fn tests_with(&self, key: [u8; 32]) -> Tests<F> {
        Tests {
            form: self.form,
            bits: self.transfer.strings.bits as usize,
            opened_bits: 1,
            key,
        }
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
                let params = Params::<Tagged>::new(&request, Extension::Iknp).unwrap();
                assert_eq!(params.bins.stash, 0);
                assert!(params.base.budget.total() <= request.security.failure());
            }
        }
    }
}
