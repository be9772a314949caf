//! Random circuits, run by two parties.

use std::thread;

use psijoin_block::{Block, Prg};
use psijoin_channel::{
    Channel,
    count::{Snapshot, counted},
    memory,
};

use crate::{
    Backend, Bits, Error, Product, Side, TwoParty, arithmetic, compare,
    plain::{Gates, Plain},
    select,
};

/// Lanes of the inputs, `OWN` wires of either party.
pub(crate) struct Case {
    pub(crate) seed: u64,
    pub(crate) lanes: usize,
}

const OWN: usize = 3;
const STEPS: usize = 12;

impl Case {
    fn inputs(&self, party: u128) -> Vec<Bits> {
        let mut rng = Prg::from_seed(Block(u128::from(self.seed) << 1 | party));
        (0..OWN)
            .map(|_| {
                let mut blocks = vec![Block::ZERO; self.lanes.div_ceil(Block::BITS)];
                rng.fill(&mut blocks);
                Bits::from_blocks(&blocks, self.lanes)
            })
            .collect()
    }

    /// Returns what the circuit gives in the clear, and how many gates it has.
    pub(crate) fn expected(&self, mut plain: Plain) -> (Vec<Bits>, Gates) {
        let inputs = [self.inputs(0), self.inputs(1)].concat();
        let outputs = self.circuit(&mut plain, inputs).unwrap();
        (outputs, plain.gates().clone())
    }

    /// Returns a circuit that the seed chooses: each step makes wires of earlier ones.
    fn circuit<B: Backend>(
        &self,
        backend: &mut B,
        mut wires: Vec<B::Wires>,
    ) -> Result<Vec<B::Wires>, B::Error> {
        let mut rng = Prg::from_seed(Block(self.seed.into()));
        for _ in 0..STEPS {
            let mut any = || wires[rng.block().0 as usize % wires.len()].clone();
            let (a, b, c, d, e) = (any(), any(), any(), any(), any());
            let (left, right) = ([a.clone(), b.clone()], [c.clone(), d.clone()]);
            let new = match rng.block().0 % 8 {
                0 => vec![backend.xor(&a, &b)],
                1 => vec![backend.not(&a), backend.constant(true, self.lanes)],
                2 => vec![backend.and(&a, &b)?],
                3 => {
                    let vectors = [[b, c, d], [e.clone(), e.clone(), a.clone()]];
                    let layer = [(&a, &vectors[0]), (&e, &vectors[1])];
                    let layer = layer.map(|(bit, vector)| Product { bit, vector });
                    backend.products(&layer)?.concat()
                }
                4 => select::select(backend, &e, &left, &right)?,
                5 => select::swap(backend, &e, &left, &right)?.concat(),
                6 => arithmetic::add(backend, &left, &right)?,
                _ => vec![
                    compare::greater(backend, &left, &right)?,
                    compare::equal(backend, &left, &right)?,
                ],
            };
            wires.extend(new);
        }
        Ok(wires)
    }

    /// Returns one party: what the wires carry, which both learn.
    pub(crate) fn run<P: TwoParty>(&self, mut party: P) -> Result<Vec<Bits>, Error> {
        let (wires, learned) = match party.side() {
            Side::First => {
                let own = party.own(&self.inputs(0))?;
                let wires = [own, party.theirs(OWN, self.lanes)?].concat();
                let outputs = self.circuit(&mut party, wires)?;
                party.reveal(&outputs)?;
                let learned = party.learn(&outputs)?;
                (outputs, learned)
            }
            Side::Second => {
                let theirs = party.theirs(OWN, self.lanes)?;
                let wires = [theirs, party.own(&self.inputs(1))?].concat();
                let outputs = self.circuit(&mut party, wires)?;
                let learned = party.learn(&outputs)?;
                party.reveal(&outputs)?;
                (outputs, learned)
            }
        };
        // Shares can be put in again.
        let shares = party.shares(&wires);
        let again = party.share_in(&shares)?;
        match party.side() {
            Side::First => party.reveal(&again)?,
            Side::Second => assert!(party.learn(&again)? == learned),
        }
        Ok(learned)
    }
}

/// Runs both parties: what each gives, and what passed, as seen from the first.
pub(crate) fn both<A: Send, B>(
    first: impl FnOnce(&mut Channel) -> A + Send,
    second: impl FnOnce(&mut Channel) -> B,
) -> (A, B, Snapshot) {
    let (a, mut b) = memory::pair();
    let (mut a, counters) = counted(a);
    let (first, second) = thread::scope(|scope| {
        let first = scope.spawn(move || first(&mut a));
        let second = second(&mut b);
        (first.join().unwrap(), second)
    });
    (first, second, counters.snapshot())
}
