//! The party that garbles.

use psijoin_block::{Block, Prg, crhf};
use psijoin_channel::Channel;
use psijoin_ot::extension::{self, Extension};
use zeroize::Zeroizing;

use super::{
    GATES_PER_MESSAGE, GATES_PER_TASK, Gates, LANES_AT_ONCE, Labels, Layer, common_labels,
    second_tweak,
};
use crate::{Backend, Bits, Error, Lanes, Product, Side, TwoParty};

/// Bytes that the garbler sends in [`Setup::new`], before the setup of the OTs that it is the
/// sender of.
pub const SEED_BYTES: u64 = Block::BYTES as u64;

/// The state that the garbler keeps from one circuit to the next.
pub struct Setup {
    ots: extension::Sender,
    own_labels: Prg,
    gates: u64,
}

impl Setup {
    /// Runs the base OTs; the peer calls [`evaluator::Setup::new`](super::evaluator::Setup::new).
    ///
    /// # Errors
    /// If the channel breaks, or the peer sends an invalid public key.
    pub fn new(extension: Extension, channel: &mut Channel, rng: &mut Prg) -> Result<Self, Error> {
        // Not what the generator draws: this is sent.
        let seed = rng.fork().block();
        channel.send(&seed.to_bytes())?;
        Ok(Self {
            ots: extension.set_up_sender(channel, rng)?,
            own_labels: Prg::from_seed(seed),
            gates: 0,
        })
    }

    /// Returns Δ, the difference of the two labels of each wire, whose lowest bit is 1. Whoever
    /// knows it and a label knows what is garbled.
    pub fn delta(&self) -> Zeroizing<Block> {
        self.ots.delta()
    }
}

/// Garbles. A wire's label is that for 0.
pub struct Garbler<'a> {
    setup: &'a mut Setup,
    delta: Zeroizing<Block>,
    channel: &'a mut Channel,
    layer: Layer,
}

impl<'a> Garbler<'a> {
    /// Returns a garbler; the peer makes an [`Evaluator`](super::Evaluator).
    pub fn new(setup: &'a mut Setup, channel: &'a mut Channel) -> Self {
        Self {
            delta: setup.ots.delta(),
            setup,
            channel,
            layer: Layer::default(),
        }
    }
}

/// Garbles half gates: tables, and the products' labels for 0.
fn garble(delta: &Block, gate: u64, gates: &mut Gates<'_>) {
    let mut hashes = [[Block::ZERO; GATES_PER_TASK]; 4];
    let [a_0, a_1, b_0, b_1] = hashes.each_mut().map(|hashes| &mut hashes[..gates.a.len()]);
    a_0.copy_from_slice(gates.a);
    b_0.copy_from_slice(gates.b);
    for (one, zero) in a_1
        .iter_mut()
        .zip(gates.a)
        .chain(b_1.iter_mut().zip(gates.b))
    {
        *one = *zero ^ *delta;
    }
    crhf::tweakable(gate, a_0);
    crhf::tweakable(gate, a_1);
    crhf::tweakable(second_tweak(gate), b_0);
    crhf::tweakable(second_tweak(gate), b_1);
    for (i, (a, b)) in gates.a.iter().zip(gates.b).enumerate() {
        let (p_a, p_b) = (Block::splat(a.bit(0)), Block::splat(b.bit(0)));
        let of_garbler = a_0[i] ^ a_1[i] ^ (p_b & *delta);
        let of_evaluator = b_0[i] ^ b_1[i] ^ *a;
        gates.tables[i] = [of_garbler, of_evaluator];
        gates.products[i] = a_0[i] ^ (p_a & of_garbler) ^ b_0[i] ^ (p_b & (of_evaluator ^ *a));
    }
}

impl Backend for Garbler<'_> {
    type Wires = Labels;
    type Error = Error;

    fn layers_take_rounds(&self) -> bool {
        false
    }

    fn lanes_at_once(&self) -> usize {
        LANES_AT_ONCE
    }

    fn constant(&self, bit: bool, lanes: usize) -> Labels {
        // The evaluator takes 0 for the label of either bit.
        Labels(vec![*self.delta & Block::splat(bit); lanes])
    }

    fn xor(&self, a: &Labels, b: &Labels) -> Labels {
        a.xor(b)
    }

    fn not(&self, a: &Labels) -> Labels {
        Labels(a.0.iter().map(|label| *label ^ *self.delta).collect())
    }

    fn products(&mut self, layer: &[Product<'_, Labels>]) -> Result<Vec<Vec<Labels>>, Error> {
        self.layer.set_inputs(layer);
        let delta = &self.delta;
        for mut gates in self.layer.gates().chunks(GATES_PER_MESSAGE) {
            let first = self.setup.gates;
            self.setup.gates += gates.a.len() as u64;
            gates.compute(first, &|gate, gates| garble(delta, gate, gates));
            self.channel.send(bytemuck::cast_slice(gates.tables))?;
        }
        Ok(self.layer.outputs(layer))
    }
}

impl TwoParty for Garbler<'_> {
    fn side(&self) -> Side {
        Side::First
    }

    fn own(&mut self, bits: &[Bits]) -> Result<Vec<Labels>, Error> {
        let wires = bits.iter().map(|bits| {
            let mut labels = common_labels(&mut self.setup.own_labels, bits.lanes());
            labels.offset(bits, &self.delta);
            labels
        });
        Ok(wires.collect())
    }

    fn theirs(&mut self, wires: usize, lanes: usize) -> Result<Vec<Labels>, Error> {
        if wires * lanes == 0 {
            return Ok(vec![Labels(Vec::new()); wires]);
        }
        let mut labels = vec![Block::ZERO; wires * lanes];
        (self.setup.ots).send_chosen(&mut labels, self.channel)?;
        Ok(labels
            .chunks(lanes)
            .map(|wire| Labels(wire.to_vec()))
            .collect())
    }

    fn shares(&self, wires: &[Labels]) -> Vec<Bits> {
        wires.iter().map(Labels::lowest_bits).collect()
    }

    fn channel(&mut self) -> &mut Channel {
        self.channel
    }
}
