use psijoin_block::tower::{Element, Gf64, Tower};
use psijoin_channel::Channel;
use psijoin_circuit::equality;
use psijoin_encode::okvs::RowHasher;
use psijoin_ot::{
    iknp::SemiHonest,
    lookup::{self, PLACE_BITS},
    vole::{self, Base},
};
use psijoin_params::{FailureBudget, cuckoo::Shape, equality as equality_params};

use super::{INFO, Receiver, Sender};
use crate::{
    Context, Cost, Error, Info, Input, Parameter, Party, Plan, Request, Role, Traffic,
    bins::{self, Keys},
    functions::Function,
    oprf::{CIPHERS, Layout, ciphers, dictionary},
};

/// All numbers of a run.
#[derive(Debug, Clone)]
pub struct Params {
    pub(super) request: Request,
    digest_bytes: usize,
    /// Bins, without a stash.
    pub(super) bins: Shape,
    /// Bits of B: of the PRF's values, and of targets.
    base_bits: u32,
    /// How many of them are compared.
    number_bits: u32,
    /// The store of the receiver's keys.
    pub(super) oprf: Layout,
    /// That of the sender's.
    pub(super) hints: Layout,
    budget: FailureBudget,
}

impl Params {
    /// Derives them.
    ///
    /// The failure budget: up to a quarter for digests, for keys, and for rows that come from ciphers
    /// (one part, one and six), an eighth for the Cuckoo table, up to a quarter each for the width of B in the PRF and in the equality tests, a
    /// sixteenth for each store.
    ///
    /// # Errors
    /// If a set is empty, or no parameters reach the security level.
    pub fn new(request: &Request) -> Result<Self, Error> {
        let sizes = request.sizes;
        if sizes.pairs() == 0 {
            return Err(Error::Misuse("an empty set needs no protocol"));
        }
        let mut budget = FailureBudget::new(request.security);
        // Both stores have rows from ciphers.
        let digest_bytes = bins::digest_bytes(sizes, &mut budget)?;
        let sender_keys = bins::sender_keys(sizes);
        let keys = sender_keys + sizes.receiver();
        // Both stores have rows from ciphers.
        budget.charge(CIPHERS, ciphers(keys, digest_bytes).times(2))?;
        let bins = bins::without_stash(sizes, &mut budget)?;

        let (share, tests) = (budget.share(0.25), bins.bins.into());
        let number_bits = equality_params::bits(tests, PLACE_BITS as u32, share)?;
        let base_bits = match dictionary(sender_keys, Gf64::BITS) <= share {
            true if number_bits <= Gf64::BITS => Gf64::BITS,
            _ => Tower::BITS,
        };
        let bound = dictionary(sender_keys, base_bits);
        budget.charge("sender's key in the store", bound)?;
        budget.charge(
            "equal by chance",
            equality_params::by_chance(tests, number_bits),
        )?;
        let oprf = Layout::derive(
            "store of the receiver's keys",
            sizes.receiver(),
            request.security,
            &mut budget,
        )?;
        let hints = Layout::derive(
            "store of the sender's hints",
            sender_keys,
            request.security,
            &mut budget,
        )?;
        Ok(Self {
            request: request.clone(),
            digest_bytes,
            bins,
            base_bits,
            number_bits,
            oprf,
            hints,
            budget,
        })
    }

    /// Bins, of which each is a lane of the equality tests.
    pub(super) fn lanes(&self) -> usize {
        self.bins.bins as usize
    }

    /// Bits of the numbers that are compared.
    pub(super) fn number_bits(&self) -> usize {
        self.number_bits as usize
    }

    /// Lookups of the equality tests.
    pub(super) fn lookups(&self) -> usize {
        equality::lookups(self.number_bits(), self.lanes())
    }

    /// The rows of the hints.
    pub(super) fn hint_rows(&self, input: &Input<'_>) -> RowHasher {
        let key = input.joint_key("psijoin 2026 rr22 circuit hints");
        RowHasher::pseudorandom(key, self.hints.shape)
    }

    /// What is made of the shares.
    pub(super) fn function(&self) -> Function {
        Function::new(&self.request, self.lanes())
    }

    /// Hash functions of items.
    pub(super) fn keys(&self, input: &Input<'_>) -> Keys {
        let purposes = [
            "psijoin 2026 rr22 circuit bins",
            "psijoin 2026 rr22 circuit keys",
        ];
        Keys::new(self.bins, purposes, input)
    }

    /// σ.
    pub(super) fn sigma(&self) -> u32 {
        self.request.security.statistical_bits()
    }

    fn traffic<B: Base>(&self) -> Cost {
        let (oprf, hints) = (self.oprf.shape.len(), self.hints.shape.len());
        let [lookups_sent, lookups_received] = equality::preparing_bytes(self.lookups());
        let offline = Traffic {
            sender_bytes: vole::SETUP_SENDER_BYTES
                + vole::sender_bytes::<SemiHonest, B>(oprf)
                + lookup::SETUP_SENDER_BYTES
                + lookups_sent,
            receiver_bytes: vole::SETUP_RECEIVER_BYTES
                + vole::receiver_bytes::<SemiHonest, B>(oprf)
                + lookup::SETUP_RECEIVER_BYTES
                + lookups_received,
            rounds: 3 + equality::preparing_flights(self.lookups()),
        };
        let columns = self.request.output.columns().sender;
        let online = Traffic {
            sender_bytes: (hints * (size_of::<B>() + columns * size_of::<Gf64>())) as u64
                + equality::sender_bytes(self.number_bits(), self.lanes()),
            receiver_bytes: (oprf * size_of::<B>()) as u64
                + equality::receiver_bytes(self.number_bits(), self.lanes()),
            rounds: 2 + equality::flights(self.number_bits()),
        };
        let function = self.function();
        let [function_offline, function_online] = function.traffic();
        Cost {
            offline: offline + function_offline,
            online: online + function_online,
            // The receiver's store follows what it said last to prepare the function.
            saved_rounds: u64::from(function.receiver_ends_offline()),
        }
    }
}

impl Plan for Params {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn request(&self) -> &Request {
        &self.request
    }

    fn parameters(&self) -> Vec<Parameter> {
        [
            ("digest bytes", self.digest_bytes as u64),
            ("bins", self.bins.bins.into()),
            ("value bits", self.base_bits.into()),
            ("compared bits", self.number_bits.into()),
        ]
        .map(|(name, value)| Parameter { name, value })
        .into_iter()
        .chain(self.oprf.parameters())
        .chain(self.hints.parameters())
        .collect()
    }

    fn budget(&self) -> &FailureBudget {
        &self.budget
    }

    fn cost(&self) -> Cost {
        match self.base_bits {
            Gf64::BITS => self.traffic::<Gf64>(),
            _ => self.traffic::<Tower>(),
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
        match self.base_bits {
            Gf64::BITS => offline::<Gf64>(self, role, channel, context),
            _ => offline::<Tower>(self, role, channel, context),
        }
    }
}

fn offline<B: Base>(
    params: &Params,
    role: Role,
    channel: &mut Channel,
    context: &mut Context,
) -> Result<Box<dyn Party>, Error> {
    Ok(match role {
        Role::Sender => Box::new(Sender::<B>::offline(params, channel, context)?),
        Role::Receiver => Box::new(Receiver::<B>::offline(params, channel, context)?),
    })
}

#[cfg(test)]
mod tests {
    use psijoin_params::{Security, Sizes};

    use super::*;

    /// Nor is the budget exceeded where digests are about to become longer.
    #[test]
    fn no_size_needs_a_stash() {
        for sigma in [40, 60, 70, 80] {
            for (senders, log2) in (0..=26).flat_map(|log2| [(1, log2), (1 << log2, log2)]) {
                let request = Request {
                    sizes: Sizes::new(senders, 1 << log2).unwrap(),
                    security: Security::new(sigma).unwrap(),
                    output: crate::OutputKind::Count,
                    min_intersection: 0,
                };
                let params = Params::new(&request).unwrap();
                assert_eq!(params.bins.stash, 0);
            }
        }
    }
}
