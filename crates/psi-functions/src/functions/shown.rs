//! The groups that are large enough to be shown, by a garbled circuit. Each party has shares of the
//! totals of all groups. The circuit adds them, compares each count with K, and multiplies the
//! totals of smaller groups by zero. All groups are opened at once.
//!
//! With noise, which is in the sender's shares, a count is a number of 64 bits with a sign.

use psijoin_channel::Channel;
use psijoin_circuit::{
    Backend, Bits, TwoParty, arithmetic, compare,
    count::{Count, Width},
    garble::{AND_BYTES, Evaluator, Garbler, Labels, evaluator, garbler},
    select,
};
use psijoin_ot::extension::Extension;
use psijoin_psi::{BaseOts, Conversation, Error, Group, Groups};
use zeroize::Zeroizing;

use crate::garbling;

/// Bits of a sum.
const SUM_BITS: usize = u64::BITS as usize;

/// The groups, and what is shown of them. A group is a lane of the circuit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown {
    pub(super) groups: Groups,
    /// The upper bound of a count.
    pub(super) most: u64,
    /// The base OTs.
    pub(super) base_ots: BaseOts,
}

impl Shown {
    /// Returns what is said offline and online.
    pub(super) fn conversations(self) -> [Conversation; 2] {
        let (lanes, gates) = (self.groups.count(), self.gates());
        let revealed = (1 + self.wires()) * lanes;
        let online = garbling::ots(self.base_ots)
            .chosen(self.wires() * lanes)
            .sender(AND_BYTES * gates + revealed.div_ceil(8) as u64);
        [garbling::setup(self.base_ots), online]
    }

    /// Returns the OTs by which the receiver gets labels for its shares.
    pub(super) fn extension(self) -> Extension {
        garbling::ots(self.base_ots).extension
    }

    /// Returns the number of bits of a count, and of each share of it.
    fn count_bits(self) -> usize {
        match self.groups.noisy {
            true => SUM_BITS,
            false => (self.most.ilog2() + 1) as usize,
        }
    }

    /// Returns whether counts are large enough.
    fn at_least<B: Backend>(
        self,
        backend: &mut B,
        counts: &[B::Wires],
    ) -> Result<B::Wires, B::Error> {
        let least = self.groups.least;
        let (Some((sign, below)), true) = (counts.split_last(), self.groups.noisy) else {
            return compare::at_least(backend, counts, least);
        };
        // In the order of numbers with a sign, 2^63 more are numbers without one.
        let positive = backend.not(sign);
        let shifted = [below, &[positive]].concat();
        compare::at_least(backend, &shifted, least.saturating_add(1 << (SUM_BITS - 1)))
    }

    /// Returns the number of wires of all totals.
    fn wires(self) -> usize {
        self.count_bits() + self.groups.columns.total() * SUM_BITS
    }

    /// Returns the wires of a party's shares: of counts, then of the sums of each column.
    fn bits(self, shares: &[u64]) -> Zeroizing<Vec<Bits>> {
        let mut wires = Vec::with_capacity(self.wires());
        for (total, shares) in shares.chunks(self.groups.count()).enumerate() {
            let numbers = shares.iter().map(|share| u128::from(*share));
            let numbers = Zeroizing::new(numbers.collect::<Vec<u128>>());
            let bits = if total == 0 {
                self.count_bits()
            } else {
                SUM_BITS
            };
            wires.extend(Bits::transposed(&numbers, bits));
        }
        Zeroizing::new(wires)
    }

    /// Returns whether a group is shown, and its totals, or zeros.
    fn circuit<B: Backend>(
        self,
        backend: &mut B,
        senders: &[B::Wires],
        receivers: &[B::Wires],
    ) -> Result<Vec<B::Wires>, B::Error> {
        let (senders_count, senders_sums) = senders.split_at(self.count_bits());
        let (receivers_count, receivers_sums) = receivers.split_at(self.count_bits());
        let mut totals = arithmetic::add(backend, senders_count, receivers_count)?;
        totals.truncate(self.count_bits());
        let shown = self.at_least(backend, &totals)?;
        let sums = senders_sums
            .chunks(SUM_BITS)
            .zip(receivers_sums.chunks(SUM_BITS));
        for (ours, theirs) in sums {
            let sum = arithmetic::add(backend, ours, theirs)?;
            totals.extend_from_slice(&sum[..SUM_BITS]);
        }
        let mut outputs = select::mask(backend, &shown, &totals)?;
        outputs.insert(0, shown);
        Ok(outputs)
    }

    /// Returns the AND gates of the circuit, those of all lanes.
    fn gates(self) -> u64 {
        let mut count = Count::small();
        let shares = vec![Width(self.groups.count()); self.wires()];
        let Ok(_) = self.circuit(&mut count, &shares, &shares);
        count.gates().ands()
    }

    /// Shows the groups to the peer, which calls [`evaluate`](Self::evaluate).
    pub(super) fn garble(
        self,
        mut circuit: garbler::Setup,
        shares: &[u64],
        channel: &mut Channel,
    ) -> Result<(), Error> {
        let own = self.bits(shares);
        let mut garbler: &mut dyn TwoParty<Wires = Labels> =
            &mut Garbler::new(&mut circuit, channel);
        let senders = garbler.own(&own)?;
        let receivers = garbler.theirs(own.len(), self.groups.count())?;
        let outputs = self.circuit(&mut garbler, &senders, &receivers)?;
        Ok(garbler.reveal(&outputs)?)
    }

    /// Returns the groups; the peer calls [`garble`](Self::garble).
    pub(super) fn evaluate(
        self,
        mut circuit: evaluator::Setup,
        shares: &[u64],
        channel: &mut Channel,
    ) -> Result<Vec<Option<Group>>, Error> {
        let own = self.bits(shares);
        let mut evaluator: &mut dyn TwoParty<Wires = Labels> =
            &mut Evaluator::new(&mut circuit, channel);
        let senders = evaluator.theirs(own.len(), self.groups.count())?;
        let receivers = evaluator.own(&own)?;
        let outputs = self.circuit(&mut evaluator, &senders, &receivers)?;
        let opened = evaluator.learn(&outputs)?;
        let (shown, totals) = opened.split_first().expect("a bit and a count");
        let (counts, sums) = totals.split_at(self.count_bits());
        let sums: Vec<Vec<u128>> = sums.chunks(SUM_BITS).map(Bits::numbers).collect();
        let groups = shown.iter().zip(Bits::numbers(counts)).enumerate();
        let group = |(i, (is_shown, count)): (usize, (bool, u128))| {
            is_shown.then(|| Group {
                count: count as i64,
                sums: sums.iter().map(|sums| sums[i] as i64).collect(),
            })
        };
        Ok(groups.map(group).collect())
    }
}
