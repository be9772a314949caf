//! Equality of a number of either party, lane by lane, by a circuit under GMW: as shares of a bit.
//!
//! The XOR of both numbers is shared without a word: each party's number is its share. One AND of
//! all of its negated bits tells whether it is zero: η − 1 gates for η bits, in ⌈log2 η⌉ layers.
//! This is the comparison of PSTY19 and PSWW18. [`psijoin_circuit::equality`] does the same by a
//! third as many lookups in tables.

use psijoin_channel::Channel;
use psijoin_circuit::{
    Backend, Bits, Side, compare,
    count::{Count, Width},
    gmw::{self, triples::Multiplication},
};
use psijoin_ot::extension::Extension;
use psijoin_psi::{BaseOts, Context, Conversation, Error};
use zeroize::Zeroizing;

use crate::gmw::Gmw;

/// The comparisons that both parties agreed on.
#[derive(Debug, Clone, Copy)]
pub struct Equality {
    gmw: Gmw,
    bits: usize,
    lanes: usize,
}

impl Equality {
    /// Compares numbers of this many bits, 1 to 128, in each of some lanes. Triples are from IKNP's
    /// OT extension, one for each AND gate.
    pub fn new(bits: usize, lanes: usize, base: BaseOts) -> Self {
        let gmw = Gmw {
            extension: Extension::IKNP.on(base),
            multiplication: Multiplication::Bitwise,
        };
        Self { gmw, bits, lanes }
    }

    /// Returns the number of bits that are compared.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// Returns what is said offline and online.
    pub fn conversations(&self) -> [Conversation; 2] {
        let count = self.count();
        [
            self.gmw.triples(&count.gates()),
            self.gmw.openings(count.layers()),
        ]
    }

    fn count(&self) -> Count {
        let mut count = Count::shallow();
        let Ok(_) = circuit(&mut count, &vec![Width(self.lanes); self.bits]);
        count
    }

    /// Makes the triples. The sender is the first side; the peer calls this too, with the other
    /// side.
    ///
    /// # Errors
    /// If the channel breaks, or the peer misbehaves.
    pub fn set_up(&self, side: Side, context: &mut Context) -> Result<gmw::Setup, Error> {
        self.gmw.set_up(side, &self.count().gates(), context)
    }

    /// Returns this party's shares of whether its numbers are equal to the peer's, lane by lane, in
    /// their lowest bits.
    ///
    /// # Errors
    /// If the channel breaks.
    ///
    /// # Panics
    /// If there is not a number for each lane.
    pub fn equal(
        &self,
        numbers: &[u128],
        setup: &mut gmw::Setup,
        channel: &mut Channel,
    ) -> Result<Bits, Error> {
        assert_eq!(numbers.len(), self.lanes, "a number for each lane");
        let wires = Zeroizing::new(Bits::transposed(numbers, self.bits));
        Ok(circuit(&mut gmw::Gmw::new(setup, channel), &wires)?)
    }
}

/// Returns whether no bit is one.
fn circuit<B: Backend>(backend: &mut B, bits: &[B::Wires]) -> Result<B::Wires, B::Error> {
    let zeros = bits.iter().map(|bit| backend.not(bit)).collect();
    compare::all(backend, zeros)
}

#[cfg(test)]
mod tests {
    use psijoin_circuit::plain::Plain;

    use super::*;

    #[test]
    fn differences_of_zero_are_found() {
        let differences = [0_u128, 1, 1 << 60, 1 << 61, u128::MAX, 0];
        let wires = Bits::transposed(&differences, 61);
        let Ok(equal) = circuit(&mut Plain::shallow(), &wires);
        // Bit 61 does not count.
        assert!(equal.iter().eq([true, false, false, true, false, true]));
    }

    #[test]
    fn gates_are_those_of_the_paper() {
        let count = Equality::new(61, 10, BaseOts::default()).count();
        assert_eq!(count.gates().ands(), 600);
        assert_eq!(count.layers().len(), 6);
    }
}
