//! Correlated bits from vector OLE over a small field: the heart of SoftSpokenOT (Roy, CRYPTO
//! 2022, §3 and §4), with k = 4.
//!
//! **Functionality.** The sender has Δ ∈ {0,1}^128. The receiver inputs a vector r of bits, as
//! long as it likes; it gets 128 vectors V_c, and the sender gets Q_c with Q_c = V_c ⊕ Δ_c·r. Read
//! across, that is a correlated OT for each bit of r. Read as field elements, with Σ Q_c·e_c and
//! Σ V_c·e_c for the basis e_c of F in which Δ = Σ Δ_c·e_c, it is vector OLE: q = v + Δ·r.
//!
//! 1. Setup: 128 base OTs, in groups of k = 4. From each group's keys the receiver makes 2^k
//!    generators, indexed by x ∈ {0,1}^k; the sender learns all but number Δ_g, the bits of Δ in
//!    the group (`pprf/few.rs`).
//! 2. The receiver expands them all, G_x, and sends u_g ⊕ r with u_g = Σ_x G_x. Its V for
//!    bit b of the group is the sum of the G_x whose x has bit b.
//! 3. The sender adds up the G_x where x ⊕ Δ_g has bit b, without ever needing x = Δ_g: this is
//!    V_b ⊕ (Δ_g)_b·u_g. It adds (Δ_g)_b times the message.
//!
//! Compared with IKNP (k = 1) that is a quarter of the bytes and twice the work. For the few
//! thousand bits that silent OT and VOLE need, the work is negligible.
//!
//! **Security.** The receiver learns nothing about Δ. The sender sees r masked by the generator
//! that it misses in each group. A malicious receiver can use another r in some groups, or make the
//! sender's generators wrong by sending wrong corrections in the setup; both show in the check of
//! `consistency.rs`, which must follow every use. The receiver learns only whether that check
//! passes, and with a wrong message this depends on Δ: passing for a fraction ρ of the possible Δ,
//! the receiver has narrowed Δ down to these, at the risk 1 − ρ of being caught. This is the
//! leakage in SoftSpokenOT's functionality. (The paper checks the generators as well, in the setup.
//! That is not needed here: after the check of the hashes, V and r are fixed except with
//! probability 2^-100, the same for all Δ that pass, whatever the columns were made from.)
//!
//! **Cost.** Setup: 128 base OTs, 96 blocks from the receiver. Then half a byte per bit and
//! group: 4 bytes per bit of r from the receiver.

use psijoin_block::{Block, Prg};
use psijoin_channel::{Channel, MAX_MESSAGE_BYTES};
use psijoin_runtime::parallel;
use zeroize::Zeroizing;

use crate::{
    BaseOts, Error,
    columns::{COLUMNS, ColumnChunk},
    pprf::few,
};

/// k.
const GROUP_BITS: usize = 4;

/// Generators of a group.
const GENERATORS: usize = 1 << GROUP_BITS;

const GROUPS: usize = COLUMNS / GROUP_BITS;

const CORRECTIONS: usize = few::corrections(GROUP_BITS);

/// Returns the number of bytes that the sender sends in the setup.
pub(crate) const fn setup_sender_bytes(base: BaseOts) -> u64 {
    base.receiver_bytes(COLUMNS)
}

/// Returns the number of bytes that the receiver sends in the setup.
pub(crate) const fn setup_receiver_bytes(base: BaseOts) -> u64 {
    base.sender_bytes(COLUMNS) + (GROUPS * CORRECTIONS * size_of::<few::Correction>()) as u64
}

/// Returns the number of bytes that the receiver sends for 128 · `blocks` bits.
pub(crate) const fn receiver_bytes(blocks: usize) -> u64 {
    (GROUPS * blocks * Block::BYTES) as u64
}

/// The side that has Δ.
pub(crate) struct Sender {
    delta: Zeroizing<Block>,
    /// Of each group, number Δ_g ⊕ y at place y; place 0 is not known, and not used.
    generators: Vec<[Prg; GENERATORS]>,
}

/// The side that has r.
pub(crate) struct Receiver {
    generators: Vec<[Prg; GENERATORS]>,
}

impl Sender {
    /// Runs the base OTs; the peer calls [`Receiver::setup`].
    pub(crate) fn setup(
        delta: Zeroizing<Block>,
        base: BaseOts,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Self, Error> {
        let ots = base.receive_by_bits(&delta, channel, rng)?;
        let mut corrections = [[[Block::ZERO; 2]; CORRECTIONS]; GROUPS];
        channel.recv(bytemuck::cast_slice_mut(corrections.as_flattened_mut()))?;
        let generators = ots
            .chunks_exact(GROUP_BITS)
            .zip(&corrections)
            .enumerate()
            .map(|(group, (ots, corrections))| {
                // An OT gives the key of the side of its bit of Δ, which is the side that the
                // path to the missing key does not take.
                let missing = GENERATORS - 1 - path(&delta, group);
                let mut keys = Zeroizing::new([Block::ZERO; GENERATORS]);
                few::puncture(ots, missing, &mut *keys, corrections);
                std::array::from_fn(|y| Prg::from_seed(few::select(&*keys, missing ^ reverse(y))))
            })
            .collect();
        Ok(Self { delta, generators })
    }

    /// Steps 2 and 3: fills the columns of `chunk`, Q.
    pub(crate) fn extend(
        &mut self,
        chunk: &mut ColumnChunk,
        channel: &mut Channel,
    ) -> Result<(), Error> {
        let blocks = chunk.used_per_column();
        if blocks == 0 {
            return Ok(());
        }
        let mut message = vec![Block::ZERO; GROUPS * blocks];
        for part in message.chunks_mut(MAX_MESSAGE_BYTES / Block::BYTES) {
            channel.recv(bytemuck::cast_slice_mut(part))?;
        }
        let mut columns: Vec<&mut [Block]> = chunk.columns_mut().collect();
        let mut groups: Vec<_> = (self.generators.iter_mut())
            .zip(columns.chunks_exact_mut(GROUP_BITS))
            .zip(message.chunks_exact(blocks))
            .collect();
        let delta = &self.delta;
        parallel::each_mut(&mut groups, &|group, ((generators, columns), sent)| {
            for (bit, column) in columns.iter_mut().enumerate() {
                let mask = Block::splat(delta.bit(group * GROUP_BITS + bit));
                for (own, sent) in column.iter_mut().zip(*sent) {
                    *own = *sent & mask;
                }
            }
            let mut stream = Zeroizing::new(vec![Block::ZERO; blocks]);
            for (y, generator) in generators.iter_mut().enumerate().skip(1) {
                generator.fill(&mut stream);
                add_where_bit_is_set(y, &stream, columns);
            }
        });
        Ok(())
    }
}

impl Receiver {
    /// Runs the base OTs; the peer calls [`Sender::setup`].
    pub(crate) fn setup(
        base: BaseOts,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Self, Error> {
        let ots = base.send(COLUMNS, channel, rng)?;
        let mut corrections = [[[Block::ZERO; 2]; CORRECTIONS]; GROUPS];
        let generators = ots
            .chunks_exact(GROUP_BITS)
            .zip(&mut corrections)
            .map(|(ots, corrections)| {
                let mut keys = Zeroizing::new([Block::ZERO; GENERATORS]);
                few::deal(ots, &mut *keys, corrections);
                std::array::from_fn(|x| Prg::from_seed(keys[GENERATORS - 1 - reverse(x)]))
            })
            .collect();
        channel.send(bytemuck::cast_slice(corrections.as_flattened()))?;
        Ok(Self { generators })
    }

    /// Step 2: fills the columns of `chunk`, V. Bit i of r is bit i mod 128 of block i / 128 of
    /// `choices`.
    pub(crate) fn extend(
        &mut self,
        choices: &[Block],
        chunk: &mut ColumnChunk,
        channel: &mut Channel,
    ) -> Result<(), Error> {
        let blocks = chunk.used_per_column();
        if blocks == 0 {
            return Ok(());
        }
        let mut message = vec![Block::ZERO; GROUPS * blocks];
        let mut columns: Vec<&mut [Block]> = chunk.columns_mut().collect();
        let mut groups: Vec<_> = (self.generators.iter_mut())
            .zip(columns.chunks_exact_mut(GROUP_BITS))
            .zip(message.chunks_exact_mut(blocks))
            .collect();
        parallel::each_mut(&mut groups, &|_, ((generators, columns), sent)| {
            sent.copy_from_slice(choices);
            for column in &mut **columns {
                column.fill(Block::ZERO);
            }
            let mut stream = Zeroizing::new(vec![Block::ZERO; blocks]);
            for (x, generator) in generators.iter_mut().enumerate() {
                generator.fill(&mut stream);
                add(&stream, sent);
                add_where_bit_is_set(x, &stream, columns);
            }
        });
        for part in message.chunks(MAX_MESSAGE_BYTES / Block::BYTES) {
            channel.send(bytemuck::cast_slice(part))?;
        }
        Ok(())
    }
}

/// Returns Δ_g as the path in a tree: its first bit, the lowest, leads from the root.
fn path(delta: &Block, group: usize) -> usize {
    reverse((delta.0 >> (group * GROUP_BITS)) as usize % GENERATORS)
}

/// Returns the bits of a group in the other order.
fn reverse(bits: usize) -> usize {
    (0..GROUP_BITS).fold(0, |reversed, bit| reversed << 1 | bits >> bit & 1)
}

fn add_where_bit_is_set(index: usize, stream: &[Block], columns: &mut [&mut [Block]]) {
    for (bit, column) in columns.iter_mut().enumerate() {
        if index >> bit & 1 == 1 {
            add(stream, column);
        }
    }
}

fn add(stream: &[Block], column: &mut [Block]) {
    for (sum, block) in column.iter_mut().zip(stream) {
        *sum ^= *block;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::BASE;
    use psijoin_channel::{count::counted, memory};
    use std::thread;

    /// It compiles only if what is secret is wiped when it is dropped.
    #[test]
    fn secrets_are_wiped() {
        fn wiped<T: zeroize::ZeroizeOnDrop>(_: &T) {}
        let _ = |sender: &Sender, receiver: &Receiver| {
            wiped(&sender.delta);
            wiped(&sender.generators);
            wiped(&receiver.generators);
        };
    }

    #[test]
    fn columns_differ_by_the_choices_where_delta_has_a_one() {
        let (a, mut b) = memory::pair();
        let (mut a, counters) = counted(a);
        let delta = Prg::from_seed(Block(1)).block();
        let rows = [1, 128, 1000, 5000];
        let choices = |rows: usize| {
            let mut choices = vec![Block::ZERO; rows.div_ceil(128)];
            Prg::from_seed(Block(rows as u128)).fill(&mut choices);
            choices
        };
        thread::scope(|scope| {
            let sender = scope.spawn(|| {
                let mut rng = Prg::from_os();
                let mut sender =
                    Sender::setup(Zeroizing::new(delta), BASE, &mut a, &mut rng).unwrap();
                rows.map(|rows| {
                    let mut chunk = ColumnChunk::new(rows);
                    sender.extend(&mut chunk, &mut a).unwrap();
                    chunk
                })
            });
            let mut receiver = Receiver::setup(BASE, &mut b, &mut Prg::from_os()).unwrap();
            let received = rows.map(|rows| {
                let mut chunk = ColumnChunk::new(rows);
                receiver.extend(&choices(rows), &mut chunk, &mut b).unwrap();
                chunk
            });
            for ((rows, q), v) in rows.iter().zip(sender.join().unwrap()).zip(received) {
                for (c, (q, v)) in q.columns().zip(v.columns()).enumerate() {
                    let mask = Block::splat(delta.bit(c));
                    for ((q, v), choice) in q.iter().zip(v).zip(choices(*rows)) {
                        assert!(*q == *v ^ (choice & mask), "column {c} of {rows} rows");
                        assert!(*v != Block::ZERO);
                    }
                }
            }
        });
        let traffic = counters.snapshot();
        let blocks = rows.map(|rows| rows.div_ceil(128)).iter().sum();
        assert_eq!(traffic.sent.bytes, setup_sender_bytes(BASE));
        assert_eq!(
            traffic.received.bytes,
            setup_receiver_bytes(BASE) + receiver_bytes(blocks)
        );
    }
}
