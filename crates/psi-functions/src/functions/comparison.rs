//! Comparison of a count with K. Each party has a share of the count. A garbled circuit adds them,
//! compares, and shows one bit; it has two gates per bit of the count.

use psijoin_channel::Channel;
use psijoin_circuit::{
    Backend, Bits, TwoParty, arithmetic, compare,
    count::{Count, Width},
    garble::{AND_BYTES, Evaluator, Garbler, Labels, evaluator, garbler},
};
use psijoin_ot::extension::Extension;
use psijoin_psi::{BaseOts, Conversation, Error};

use crate::garbling;

/// Bytes that reveal whether K is reached.
const REVEALED_BYTES: u64 = 1;

/// The comparison, and who learns its result.
#[derive(Debug, Clone, Copy)]
pub(super) struct Comparison {
    /// K.
    pub(super) least: u64,
    /// The upper bound of the count.
    pub(super) most: u64,
    /// `true` if the sender learns the result too.
    pub(super) both_learn: bool,
    /// The base OTs.
    pub(super) base_ots: BaseOts,
}

impl Comparison {
    /// Returns what is said offline and online.
    pub(super) fn conversations(self) -> [Conversation; 2] {
        let online = garbling::ots(self.base_ots)
            .chosen(self.bits())
            .sender(AND_BYTES * self.gates() + REVEALED_BYTES)
            .receiver(if self.both_learn { REVEALED_BYTES } else { 0 });
        [garbling::setup(self.base_ots), online]
    }

    /// Returns the OTs by which the receiver gets labels for its share.
    pub(super) fn extension(self) -> Extension {
        garbling::ots(self.base_ots).extension
    }

    /// Returns the number of bits of the count, and of each share of it.
    fn bits(self) -> usize {
        (self.most.ilog2() + 1) as usize
    }

    /// Returns the wires of either party's share.
    fn wires(self, share: u64) -> Vec<Bits> {
        Bits::transposed(&[share.into()], self.bits())
    }

    /// Returns whether the sum of both shares is at least K.
    fn circuit<B: Backend>(
        self,
        backend: &mut B,
        senders: &[B::Wires],
        receivers: &[B::Wires],
    ) -> Result<B::Wires, B::Error> {
        let mut count = arithmetic::add(backend, senders, receivers)?;
        count.truncate(senders.len());
        compare::at_least(backend, &count, self.least)
    }

    /// Returns the AND gates of the circuit.
    fn gates(self) -> u64 {
        let mut count = Count::small();
        let share = vec![Width(1); self.bits()];
        let Ok(_) = self.circuit(&mut count, &share, &share);
        count.gates().ands()
    }

    /// Returns whether the sum of both shares is large enough, if the sender, which garbles, is to
    /// learn it. The peer calls [`evaluate`](Self::evaluate).
    pub(super) fn garble(
        self,
        mut circuit: garbler::Setup,
        share: u64,
        channel: &mut Channel,
    ) -> Result<Option<bool>, Error> {
        let own = self.wires(share);
        let mut garbler: &mut dyn TwoParty<Wires = Labels> =
            &mut Garbler::new(&mut circuit, channel);
        let senders = garbler.own(&own)?;
        let receivers = garbler.theirs(own.len(), 1)?;
        let reached = [self.circuit(&mut garbler, &senders, &receivers)?];
        garbler.reveal(&reached)?;
        if !self.both_learn {
            return Ok(None);
        }
        Ok(Some(garbler.learn(&reached)?[0].get(0)))
    }

    /// Returns whether it is large enough, for the receiver; the peer calls
    /// [`garble`](Self::garble).
    pub(super) fn evaluate(
        self,
        mut circuit: evaluator::Setup,
        share: u64,
        channel: &mut Channel,
    ) -> Result<bool, Error> {
        let own = self.wires(share);
        let mut evaluator: &mut dyn TwoParty<Wires = Labels> =
            &mut Evaluator::new(&mut circuit, channel);
        let senders = evaluator.theirs(own.len(), 1)?;
        let receivers = evaluator.own(&own)?;
        let reached = [self.circuit(&mut evaluator, &senders, &receivers)?];
        let learned = evaluator.learn(&reached)?[0].get(0);
        if self.both_learn {
            evaluator.reveal(&reached)?;
        }
        Ok(learned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_has_two_gates_a_bit() {
        for (most, gates) in [(1, 2), (1_300_000, 42), (1 << 34, 70)] {
            let comparison = Comparison {
                least: most / 2 + 1,
                most,
                both_learn: false,
                base_ots: BaseOts::DiffieHellman,
            };
            assert_eq!(comparison.gates(), gates, "{most}");
        }
    }
}
