//! The party that evaluates.

use psijoin_block::{Block, Prg, crhf};
use psijoin_channel::Channel;
use psijoin_ot::extension::{self, Extension};

use super::{
    GATES_PER_MESSAGE, GATES_PER_TASK, Gates, LANES_AT_ONCE, Labels, Layer, common_labels,
    second_tweak,
};
use crate::{Backend, Bits, Error, Lanes, Product, Side, TwoParty};

/// The state that the evaluator keeps from one circuit to the next.
pub struct Setup {
    ots: extension::Receiver,
    their_labels: Prg,
    gates: u64,
}

impl Setup {
    /// Runs the base OTs; the peer calls [`garbler::Setup::new`](super::garbler::Setup::new).
    ///
    /// # Errors
    /// If the channel breaks, or the peer sends an invalid public key.
    pub fn new(extension: Extension, channel: &mut Channel, rng: &mut Prg) -> Result<Self, Error> {
        let seed = Block::from_bytes(channel.recv_array()?);
        Ok(Self {
            ots: extension.set_up_receiver(channel, rng)?,
            their_labels: Prg::from_seed(seed),
            gates: 0,
        })
    }
}

/// Evaluates what the peer garbles. A wire's label is that of the bit that it carries.
pub struct Evaluator<'a> {
    setup: &'a mut Setup,
    channel: &'a mut Channel,
    layer: Layer,
}

impl<'a> Evaluator<'a> {
    /// Returns an evaluator; the peer makes a [`Garbler`](super::Garbler).
    pub fn new(setup: &'a mut Setup, channel: &'a mut Channel) -> Self {
        Self {
            setup,
            channel,
            layer: Layer::default(),
        }
    }
}

/// Evaluates half gates: the products' labels.
fn evaluate(gate: u64, gates: &mut Gates<'_>) {
    let mut hashes = [[Block::ZERO; GATES_PER_TASK]; 2];
    let [of_a, of_b] = hashes.each_mut().map(|hashes| &mut hashes[..gates.a.len()]);
    of_a.copy_from_slice(gates.a);
    of_b.copy_from_slice(gates.b);
    crhf::tweakable(gate, of_a);
    crhf::tweakable(second_tweak(gate), of_b);
    for (i, (a, b)) in gates.a.iter().zip(gates.b).enumerate() {
        let (s_a, s_b) = (Block::splat(a.bit(0)), Block::splat(b.bit(0)));
        let [of_garbler, of_evaluator] = gates.tables[i];
        gates.products[i] = of_a[i] ^ (s_a & of_garbler) ^ of_b[i] ^ (s_b & (of_evaluator ^ *a));
    }
}

impl Backend for Evaluator<'_> {
    type Wires = Labels;
    type Error = Error;

    fn layers_take_rounds(&self) -> bool {
        false
    }

    fn lanes_at_once(&self) -> usize {
        LANES_AT_ONCE
    }

    fn constant(&self, _bit: bool, lanes: usize) -> Labels {
        Labels(vec![Block::ZERO; lanes])
    }

    fn xor(&self, a: &Labels, b: &Labels) -> Labels {
        a.xor(b)
    }

    fn not(&self, a: &Labels) -> Labels {
        a.clone()
    }

    fn products(&mut self, layer: &[Product<'_, Labels>]) -> Result<Vec<Vec<Labels>>, Error> {
        self.layer.set_inputs(layer);
        for mut gates in self.layer.gates().chunks(GATES_PER_MESSAGE) {
            let first = self.setup.gates;
            self.setup.gates += gates.a.len() as u64;
            self.channel.recv(bytemuck::cast_slice_mut(gates.tables))?;
            gates.compute(first, &evaluate);
        }
        Ok(self.layer.outputs(layer))
    }
}

impl TwoParty for Evaluator<'_> {
    fn side(&self) -> Side {
        Side::Second
    }

    fn own(&mut self, bits: &[Bits]) -> Result<Vec<Labels>, Error> {
        let all = Bits::concat(bits);
        if all.lanes() == 0 {
            return Ok(vec![Labels(Vec::new()); bits.len()]);
        }
        let mut labels = vec![Block::ZERO; all.lanes()];
        (self.setup.ots).receive_chosen(&all.to_blocks(), &mut labels, self.channel)?;
        let mut labels = &labels[..];
        let wires = bits.iter().map(|bits| {
            let (wire, rest) = labels.split_at(bits.lanes());
            labels = rest;
            Labels(wire.to_vec())
        });
        Ok(wires.collect())
    }

    fn theirs(&mut self, wires: usize, lanes: usize) -> Result<Vec<Labels>, Error> {
        let seed = &mut self.setup.their_labels;
        Ok((0..wires).map(|_| common_labels(seed, lanes)).collect())
    }

    fn shares(&self, wires: &[Labels]) -> Vec<Bits> {
        wires.iter().map(Labels::lowest_bits).collect()
    }

    fn channel(&mut self) -> &mut Channel {
        self.channel
    }
}
