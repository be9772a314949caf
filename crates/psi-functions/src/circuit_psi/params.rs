//! Everything that both parties derive.

use psijoin_block::Prg;
use psijoin_circuit::plain::Gates;
use psijoin_params::domain;
use psijoin_psi::{BaseParams, Derived, Dialogue, Error, Items, Plan, Request, Role, parameters};

use super::{
    Engine, Entry, Receiver, Sender,
    circuit::{self, Reveals},
};

/// The most items of both parties together. Beyond that, a run takes quarters of an hour and sends
/// a hundred gigabytes or more, and Yao's takes more memory than most machines have.
pub const MOST_ITEMS: u64 = 1 << 20;

/// Bytes of the digests that numbers are parts of.
const DIGEST_BYTES: usize = domain::MAX_BITS as usize / 8;

/// All numbers of a run.
#[derive(Debug)]
pub(super) struct Params {
    entry: &'static Entry,
    base: BaseParams,
    pub(super) reveals: Reveals,
    /// Bits of a number.
    bits: u32,
    pub(super) work: Work,
}

/// The work of a run.
#[derive(Debug)]
pub(super) struct Work {
    /// The gates of each layer.
    pub(super) layers: Vec<Gates>,
    /// All gates.
    pub(super) gates: Gates,
    /// Bits that the receiver puts in.
    pub(super) receiver_bits: usize,
    /// Bits that the receiver learns.
    pub(super) revealed_bits: usize,
}

impl Params {
    /// Derives them. The whole failure budget is for items that have the same number; items that
    /// *are* numbers take nothing of it.
    ///
    /// # Errors
    /// If there is no circuit for the output, or numbers would be longer than a digest.
    pub(super) fn new(entry: &'static Entry, request: &Request) -> Result<Self, Error> {
        let sizes = request.sizes;
        let with_zero = request.item_bits.is_some();
        let reveals =
            Reveals::of(&request.output, with_zero).ok_or_else(|| Error::UnsupportedOutput {
                protocol: entry.info.name,
                output: request.output.to_string(),
            })?;
        let (base, bits) = match request.item_bits {
            Some(bits) => (BaseParams::of_numbers(request, bits)?, bits),
            None => shortened(request)?,
        };
        let (count, revealed_bits) = circuit::count(
            entry.engine.counter(),
            reveals,
            sizes.union() as usize,
            bits as usize,
        );
        Ok(Self {
            entry,
            base,
            reveals,
            bits,
            work: Work {
                layers: count.layers().to_vec(),
                gates: count.gates(),
                receiver_bits: sizes.receiver() as usize * (bits as usize + reveals.column_bits()),
                revealed_bits,
            },
        })
    }

    /// Returns the plan.
    pub(super) fn plan(self) -> Plan {
        let [offline, online] = self.engine().conversations(&self.work);
        let too_many = self.base.request.sizes.union() > MOST_ITEMS;
        let derived = Derived {
            info: &self.entry.info,
            base: self.base.clone(),
            parameters: parameters(&[("bits of a number", self.bits.into())]),
            dialogue: Dialogue::new(offline, online),
        };
        let plan = Plan::new::<Sender, Receiver>(derived, self);
        if too_many {
            return plan.refused(
                "a circuit for more than 2^20 items together would take too long; take another \
                 protocol",
            );
        }
        plan
    }

    /// Returns what evaluates the circuit.
    pub(super) fn engine(&self) -> Engine {
        self.entry.engine.on(self.base.request.base_ots)
    }

    /// Returns the number of bits of a number.
    pub(super) fn bits(&self) -> usize {
        self.bits as usize
    }

    /// Returns the number of bits that the receiver puts in for each of its items.
    pub(super) fn receiver_bits(&self) -> usize {
        self.bits() + self.reveals.column_bits()
    }

    /// Returns how many items a party has.
    pub(super) fn items(&self, role: Role) -> usize {
        role.items(self.base.request.sizes) as usize
    }

    /// Returns how many lanes are shuffled: none if the receiver does not learn rows.
    pub(super) fn shuffled(&self) -> u32 {
        match self.reveals {
            Reveals::Rows { .. } => (self.base.request.sizes.union() / 2) as u32,
            Reveals::Count | Reveals::Threshold(_) | Reveals::Total | Reveals::Sums(_) => 0,
        }
    }

    /// Returns the sender's random number, if a total is revealed with it.
    pub(super) fn blind(&self, rng: &mut Prg) -> Option<u64> {
        (self.reveals == Reveals::Total).then(|| u64::from_le_bytes(rng.bytes()))
    }

    /// Returns a number for each item, and the item's position: ascending.
    pub(super) fn numbers(&self, items: &Items) -> Vec<(u128, u32)> {
        let digests = items.digests();
        let number = |position| {
            let [low, high, ..] = digests.words(position as usize);
            let digest = u128::from(low) | u128::from(high) << 64;
            let number = digest & (u128::MAX >> (domain::MAX_BITS - self.bits));
            (number, position)
        };
        let mut numbers: Vec<_> = (0..digests.len() as u32).map(number).collect();
        numbers.sort_unstable();
        numbers
    }
}

/// Returns the parameters, and the bits of a number, where numbers are parts of digests.
fn shortened(request: &Request) -> Result<(BaseParams, u32), Error> {
    let mut budget = request.failure_budget()?;
    let bits = domain::bits(request.sizes, budget.remaining())?;
    let collision = domain::collision(request.sizes, bits);
    budget.charge("two items with one number", collision)?;
    let base = BaseParams {
        request: request.clone(),
        digest_bytes: DIGEST_BYTES,
        number_bits: None,
        budget,
    };
    Ok((base, bits))
}
