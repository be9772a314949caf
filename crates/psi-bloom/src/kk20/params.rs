use psijoin_channel::Channel;
use psijoin_encode::bloom::Cells;
use psijoin_params::{
    FailureBudget, bloom,
    cuckoo::Shape,
    equality,
    garbled_bloom::{self, dependent, stuck},
};

use super::{Receiver, Sender, Variant};
use crate::{
    Context, Cost, Error, Info, Input, Parameter, Party, Plan, Request, Role, Traffic,
    bins::{self, Keys},
    functions::Function,
    garbled::{Bands, Strings},
    masks::MaskLength,
    psm_co::{Form, Tests, decryptions},
};

/// All numbers of a run.
#[derive(Debug, Clone)]
pub struct Params<O: Variant> {
    pub(super) request: Request,
    digest_bytes: usize,
    /// Bins, without a stash.
    pub(super) bins: Shape,
    /// The filter of the sender's keys.
    pub(super) filter: bloom::Shape,
    /// η: bits of targets, of strings, and of numbers that are compared.
    pub(super) number_bits: u32,
    /// Ciphertexts of the equality tests.
    form: O::Form,
    budget: FailureBudget,
}

impl<O: Variant> Params<O> {
    /// Derives them.
    ///
    /// The failure budget: up to a sixteenth for digests and keys, an eighth each for the Cuckoo table and
    /// for the filter, seven sixteenths for numbers that are equal by chance, and a quarter for the
    /// equality tests' ciphertexts.
    ///
    /// # Errors
    /// If a set is empty, or no parameters reach the security level.
    pub fn new(request: &Request) -> Result<Self, Error> {
        let sizes = request.sizes;
        if sizes.pairs() == 0 {
            return Err(Error::Misuse("an empty set needs no protocol"));
        }
        let mut budget = FailureBudget::new(request.security);
        let digest_bytes = bins::digest_bytes(sizes, &mut budget)?;
        let bins = bins::without_stash(sizes, &mut budget)?;

        let (keys, seen) = (bins::sender_keys(sizes), sizes.receiver());
        let filter = garbled_bloom::programmed(keys, seen, budget.share(0.125))?;
        budget.charge("hidden keys that cancel out", dependent(keys, seen, filter))?;
        budget.charge("keys without cells of their own", stuck(keys, filter))?;

        let tests = bins.bins.into();
        let number_bits = equality::bits(tests, 1, budget.share(7.0 / 16.0))?;
        budget.charge("equal by chance", equality::by_chance(tests, number_bits))?;
        let decryptions = decryptions(number_bits, tests);
        let form = O::Form::derive(decryptions, budget.share(0.25))?;
        budget.charge("another ciphertext's tag", form.wrong(decryptions))?;
        Ok(Self {
            request: request.clone(),
            digest_bytes,
            bins,
            filter,
            number_bits,
            form,
            budget,
        })
    }

    /// Bins, of which each is a lane of the equality tests.
    pub(super) fn lanes(&self) -> usize {
        self.bins.bins as usize
    }

    pub(super) fn bands(&self) -> Bands {
        Bands(self.filter)
    }

    pub(super) fn strings(&self) -> Strings {
        Strings(MaskLength {
            bits: self.number_bits,
        })
    }

    /// Hash functions of items.
    pub(super) fn keys(&self, input: &Input<'_>) -> Keys {
        let purposes = ["psijoin 2026 kk20 bins", "psijoin 2026 kk20 keys"];
        Keys::new(self.bins, purposes, input)
    }

    /// The cells of keys.
    pub(super) fn cells(&self, input: &Input<'_>) -> Cells {
        let seed = input.joint_key("psijoin 2026 kk20 cells");
        Cells::new(*seed.first_chunk().expect("16 of 32 bytes"), self.filter)
    }

    /// Step 4.
    pub(super) fn tests(&self, input: &Input<'_>) -> Tests<O::Form> {
        self.tests_with(input.joint_key("psijoin 2026 kk20 equality tests"))
    }

    fn tests_with(&self, key: [u8; 32]) -> Tests<O::Form> {
        Tests {
            form: self.form,
            bits: self.number_bits as usize,
            opened_bits: 1,
            key,
        }
    }

    /// What is made of the shares.
    pub(super) fn function(&self) -> Function {
        Function::new(&self.request, self.lanes())
    }

    /// σ.
    pub(super) fn sigma(&self) -> u32 {
        self.request.security.statistical_bits()
    }

    /// What the filter and the tests cost.
    fn shares_traffic(&self) -> Traffic {
        let (bands, strings) = (self.bands(), self.strings());
        let (tests, lanes) = (self.tests_with([0; 32]), self.lanes());
        Traffic {
            sender_bytes: bands.bytes(|cells| O::sender_bytes(cells) + strings.bytes(cells))
                + tests.sender_bytes::<O>(lanes),
            receiver_bytes: bands.bytes(O::chosen_receiver_bytes)
                + tests.receiver_bytes::<O>(lanes),
            rounds: (O::chosen_flights(1) + 1) * bands.count() + tests.flights::<O>(lanes),
        }
    }
}

impl<O: Variant> Plan for Params<O> {
    fn info(&self) -> &'static Info {
        O::INFO
    }

    fn request(&self) -> &Request {
        &self.request
    }

    fn parameters(&self) -> Vec<Parameter> {
        [
            ("digest bytes", self.digest_bytes as u64),
            ("bins", self.bins.bins.into()),
            ("hash functions of the filter", self.filter.slices.into()),
            ("cells a hash function", self.filter.slice_cells.into()),
            ("cells a band", self.bands().longest() as u64),
            ("compared bits", self.number_bits.into()),
            ("tag bits", self.form.tag_bits().into()),
        ]
        .map(|(name, value)| Parameter { name, value })
        .into()
    }

    fn budget(&self) -> &FailureBudget {
        &self.budget
    }

    fn cost(&self) -> Cost {
        let setup = Traffic {
            sender_bytes: O::SETUP_SENDER_BYTES,
            receiver_bytes: O::SETUP_RECEIVER_BYTES,
            rounds: 1,
        };
        let function = self.function();
        let [function_offline, function_online] = function.traffic();
        Cost {
            offline: setup + function_offline,
            online: self.shares_traffic() + function_online,
            // The receiver's choices follow what it said last to prepare the function.
            saved_rounds: u64::from(function.receiver_ends_offline()),
        }
    }

    fn digest_bytes(&self) -> usize {
        self.digest_bytes
    }

    fn offline(
        &self,
        role: Role,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Box<dyn Party>, Error> {
        Ok(match role {
            Role::Sender => Box::new(Sender::<O>::offline(self, channel, context)?),
            Role::Receiver => Box::new(Receiver::<O>::offline(self, channel, context)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use psijoin_ot::extension::Iknp;
    use psijoin_params::{Security, Sizes};

    use super::*;
    use crate::OutputKind;

    /// At every size the bounds are kept, and no stash is needed.
    #[test]
    fn budget_is_kept() {
        for sigma in [40, 80] {
            let sizes = (0..=26).step_by(2);
            for (senders, log2) in sizes.flat_map(|log2| [(1, log2), (1 << (26 - log2), log2)]) {
                let request = Request {
                    sizes: Sizes::new(senders, 1 << log2).unwrap(),
                    security: Security::new(sigma).unwrap(),
                    output: OutputKind::Count,
                    min_intersection: 0,
                };
                let params = Params::<Iknp>::new(&request).unwrap();
                assert_eq!(params.bins.stash, 0);
                assert!(params.budget().total() <= request.security.failure());
            }
        }
    }
}
