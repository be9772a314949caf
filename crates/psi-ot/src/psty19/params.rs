use psijoin_block::gf2k::Field;
use psijoin_channel::joint_seed::JointSeed;
use psijoin_params::{
    Error as ParamsError, Log2Prob, cuckoo, equality,
    simple::{self, Shape},
};
use psijoin_psi::{
    BaseParams, Conversation, Derived, Dialogue, Error, Plan, Request, masks::MaskLength,
    parameters,
};
use psijoin_psi_functions::{
    bins::{self, Keys},
    functions::Function,
    gmw_equality::Equality,
};

use super::{INFO, Receiver, Sender, hints::Polynomials};
use crate::batched_oprf;

/// Keys of a polynomial, in the mean: interpolation takes quadratic time.
const MEAN_KEYS: u64 = 64;

/// Values of the oblivious PRF: longer than an element of the widest field.
const VALUES: MaskLength = MaskLength { bits: u128::BITS };

/// All numbers of a run.
#[derive(Debug)]
pub struct Params {
    pub(super) base: BaseParams,
    /// Bins, without a stash.
    pub(super) bins: cuckoo::Shape,
    pub(super) oprf: batched_oprf::Params,
    pub(super) polynomials: Polynomials,
    pub(super) equality: Equality,
}

impl Params {
    /// Derives them.
    ///
    /// The failure budget: up to a sixteenth for digests and keys, an eighth each for the Cuckoo
    /// table, for code words of the PRF, and for polynomials with too many keys, a sixteenth for
    /// points that are equal, and seven sixteenths for numbers that are equal by chance.
    ///
    /// # Errors
    /// If no parameters reach the security level.
    pub fn new(request: &Request) -> Result<Self, Error> {
        let (sizes, base_ots) = (request.sizes, request.base_ots);
        let mut base = bins::base_params(request)?;
        let budget = &mut base.budget;
        let bins = bins::without_stash(sizes, budget)?;
        let (keys, lanes) = (bins::sender_keys(sizes), bins.bins as usize);

        let oprf = batched_oprf::Params::new(lanes, keys, VALUES, budget.share(0.125))?;
        budget.charge("code distance", oprf.near_code_words(keys))?;

        let count = keys.div_ceil(MEAN_KEYS) as u32;
        let shape = simple::of_bins(keys, count, budget.share(0.125));
        budget.charge(
            "too many keys of a polynomial",
            simple::failure(keys, shape),
        )?;

        let bits = equality::bits(lanes as u64, 1, budget.share(7.0 / 16.0))?;
        budget.charge("equal by chance", equality::by_chance(lanes as u64, bits))?;
        let share = budget.share(1.0 / 16.0);
        let fits = |width: &u32| 2 * width >= bits && equal_points(shape, *width) <= share;
        let field_bits = Field::widths().find(fits).ok_or(ParamsError::Unreachable {
            parameter: "field of the polynomials",
            share,
        })?;
        budget.charge("equal points", equal_points(shape, field_bits))?;
        Ok(Self {
            base,
            bins,
            oprf: oprf.on(base_ots),
            polynomials: Polynomials { shape, field_bits },
            equality: Equality::new(bits as usize, lanes, base_ots),
        })
    }

    /// Returns the plan of a run with these numbers.
    pub fn plan(self) -> Plan {
        let [function_offline, function_online] = self.function().conversations();
        let [triples, openings] = self.equality.conversations();
        let offline = self.oprf.setup().then(triples).then(function_offline);
        let online = Conversation::default()
            .receiver(self.oprf.online_bytes())
            .sender(self.polynomials.bytes())
            .then(openings)
            .then(function_online);
        let Polynomials { shape, field_bits } = self.polynomials;
        let derived = Derived {
            info: &INFO,
            base: self.base.clone(),
            parameters: parameters(&[
                ("digest bytes", self.base.digest_bytes as u64),
                ("bins", self.bins.bins.into()),
                ("code bits", self.oprf.code_bits as u64),
                ("polynomials", shape.bins.into()),
                ("coefficients", shape.capacity.into()),
                ("bits of a coefficient", 2 * u64::from(field_bits)),
                ("compared bits", self.equality.bits() as u64),
            ]),
            dialogue: Dialogue::new(offline, online),
        };
        let lanes = self.lanes();
        Plan::new::<Sender, Receiver>(derived, self).places(lanes)
    }

    /// Returns the number of bins. Each is a lane of the comparisons.
    pub(super) fn lanes(&self) -> usize {
        self.bins.bins as usize
    }

    /// Returns the hash functions of items.
    pub(super) fn keys(&self, joint_seed: &JointSeed) -> Keys {
        let purposes = ["psijoin 2026 psty19 bins", "psijoin 2026 psty19 keys"];
        Keys::new(self.bins, purposes, joint_seed)
    }

    /// Returns what is made of the shares.
    pub(super) fn function(&self) -> Function {
        Function::new(&self.base.request, self.lanes())
    }
}

/// Returns a bound on two points of a polynomial being equal, all of which are random.
fn equal_points(shape: Shape, field_bits: u32) -> Log2Prob {
    let capacity = u128::from(shape.capacity);
    let pairs = u128::from(shape.bins) * (capacity * (capacity - 1) / 2);
    Log2Prob::from_log2(-2.0 * f64::from(field_bits)).times(pairs)
}
