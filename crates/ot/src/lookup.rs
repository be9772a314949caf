//! Silent 1-out-of-16 OT of random bits. With it, a party looks up a secret place in a table that
//! the other party keeps secret.
//!
//! **Functionality.** In each OT the sender gets 16 random bits, a [`Table`]; the receiver gets a
//! random place r and the bit there.
//!
//! It is silent vector OLE ([`vole`]), c = b + Δ·a, over the 16 elements x of GF(2^64) that have
//! their four lowest bits only: a_j is the place r_j. Bit x of the table is the lowest bit of
//! H(b_j + x·Δ), and the receiver's bit is that of H(c_j).
//!
//! One entry of vector OLE does the work of four of silent OT, from which the same lookup could be
//! made as well.
//!
//! **Security.** For semi-honest parties. Dual LPN with values that are uniform in a space of 2^4
//! elements ([`NoiseValues::Uniform`](psijoin_params::lpn::NoiseValues): its bound sums over all
//! linear functions of the values, and uses nothing else of a field). The receiver knows π(x) ⊕ x
//! at c_j, which is the point of table j for r_j; the other points of that table differ from it by
//! multiples of Δ by public elements other than zero, so each is uniform for the receiver.
//! With a random permutation their bits are random unless it guesses a point, or two tables share
//! one, which has probability 2^-128 for each guess and each pair of points.
//!
//! **Cost.** 126 to 231 KB in all per call of up to 2^21 OTs, in two flights: [`sender_bytes`],
//! [`receiver_bytes`].

use psijoin_block::{
    Block, Prg, crhf,
    tower::{Gf64, Subspace, Tower},
};
use psijoin_channel::Channel;
use psijoin_runtime::{memory::Buffer, parallel};
use zeroize::{Zeroize, Zeroizing};

use crate::{
    BaseOts, Error,
    block_accumulate::Last,
    iknp::SemiHonest,
    small_field,
    vole::{
        self,
        noise::{self, Uniform},
    },
};

/// Places of a table.
pub const PLACES: usize = 16;

/// Bits that name a place.
pub const PLACE_BITS: usize = 4;

/// A bit at each place, that at place 0 the lowest.
pub type Table = u16;

/// Returns the number of bytes that the sender sends in its setup.
pub const fn setup_sender_bytes(base: BaseOts) -> u64 {
    small_field::setup_sender_bytes(base)
}

/// Returns the number of bytes that the receiver sends in its setup.
pub const fn setup_receiver_bytes(base: BaseOts) -> u64 {
    small_field::setup_receiver_bytes(base)
}

/// Returns the number of bytes that the sender sends for `count` OTs, after the setup.
pub fn sender_bytes(count: usize) -> u64 {
    noise::sender_bytes::<SemiHonest, Uniform<Place>>(2 * count)
}

/// Returns the number of bytes that the receiver sends for `count` OTs, after the setup.
pub fn receiver_bytes(count: usize) -> u64 {
    noise::receiver_bytes::<SemiHonest, Uniform<Place>>(2 * count)
}

/// A place as an element.
type Place = Subspace<Gf64, { PLACE_BITS as u32 }>;

/// The party with tables.
pub struct Sender {
    noise: noise::Sender<SemiHonest>,
}

/// The party with places.
pub struct Receiver {
    noise: noise::Receiver<SemiHonest>,
}

/// The receiver's result.
#[derive(Clone, Copy, Default, PartialEq, Eq, Zeroize)]
pub struct Lookup {
    /// The place: below [`PLACES`].
    pub place: u8,
    /// The bit there.
    pub bit: bool,
}

/// Entries that a task hashes.
const ENTRIES_PER_TASK: usize = 1 << 10;

impl Sender {
    /// Runs the base OTs; the peer calls [`Receiver::setup`]. The result serves any number of
    /// calls, also over other channels to the same peer, until one fails.
    ///
    /// # Errors
    /// If the channel breaks, or the peer sends an invalid public key.
    pub fn setup(base: BaseOts, channel: &mut Channel, rng: &mut Prg) -> Result<Self, Error> {
        Ok(Self {
            noise: noise::Sender::setup(Zeroizing::new(rng.block()), base, channel, rng)?,
        })
    }

    /// Returns random tables. Calls of one count share the code.
    ///
    /// # Errors
    /// If the channel breaks.
    pub fn tables(
        &mut self,
        count: usize,
        code: &mut Last,
        channel: &mut Channel,
    ) -> Result<Zeroizing<Vec<Table>>, Error> {
        let entries = self.noise.extend::<Uniform<Place>>(2 * count, channel)?;
        let code = code.for_outputs(entries.len() / 2);
        let entries: Buffer<Block> = vole::compress(code, entries, count);
        let delta = self.noise.delta();
        let delta: &Tower = bytemuck::cast_ref(&*delta);
        let offsets: Zeroizing<[Block; PLACES]> = Zeroizing::new(std::array::from_fn(|place| {
            bytemuck::cast(*delta * Gf64(place as u64).into())
        }));
        let mut tables = Zeroizing::new(vec![0; count]);
        parallel::chunks_mut(&mut tables, ENTRIES_PER_TASK, &|range, tables| {
            for (table, entry) in tables.iter_mut().zip(&entries[range]) {
                let mut keys = [*entry; PLACES];
                for (key, offset) in keys.iter_mut().zip(&*offsets) {
                    *key ^= *offset;
                }
                crhf::correlation_robust(&mut keys);
                *table = (keys.iter().rev()).fold(0, |table, key| table << 1 | key.0 as u16 & 1);
            }
        });
        Ok(tables)
    }
}

impl Receiver {
    /// Runs the base OTs; the peer calls [`Sender::setup`].
    ///
    /// # Errors
    /// If the channel breaks, or the peer sends an invalid public key.
    pub fn setup(base: BaseOts, channel: &mut Channel, rng: &mut Prg) -> Result<Self, Error> {
        Ok(Self {
            noise: noise::Receiver::setup(base, channel, rng)?,
        })
    }

    /// Returns random places, and the bits there. Calls of one count share the code.
    ///
    /// # Errors
    /// If the channel breaks.
    pub fn lookups(
        &mut self,
        count: usize,
        code: &mut Last,
        channel: &mut Channel,
    ) -> Result<Zeroizing<Vec<Lookup>>, Error> {
        let planted = self.noise.plant::<Uniform<Place>>(2 * count, channel)?;
        let code = code.for_outputs(planted.noise().len() / 2);
        let places: Buffer<Place> = vole::compressed_points(code, planted.noise(), count);
        let mut lookups = Zeroizing::new(vec![Lookup::default(); count]);
        parallel::chunks_mut(&mut lookups, ENTRIES_PER_TASK, &|range, lookups| {
            for (lookup, place) in lookups.iter_mut().zip(&places[range]) {
                lookup.place = Tower::from(*place).low.0 as u8;
            }
        });
        drop(places);
        let mut entries = Buffer::zeroed(planted.noise().len());
        planted.verify(&mut entries, channel)?;
        let mut keys: Buffer<Block> = vole::compress(code, entries, count);
        let mut tasks: Vec<_> = (lookups.chunks_mut(ENTRIES_PER_TASK))
            .zip(keys.chunks_mut(ENTRIES_PER_TASK))
            .collect();
        parallel::each_mut(&mut tasks, &|_, (lookups, keys)| {
            crhf::correlation_robust(keys);
            for (lookup, key) in lookups.iter_mut().zip(keys.iter()) {
                lookup.bit = key.bit(0);
            }
        });
        Ok(lookups)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use psijoin_channel::{count::counted, memory};

    use super::*;
    use crate::base::BASE;

    #[test]
    fn the_receiver_has_one_bit_of_each_table() {
        let counts = [1, 1000, 50_000];
        let (a, mut b) = memory::pair();
        let (mut a, counters) = counted(a);
        let (tables, lookups) = thread::scope(|scope| {
            let tables = scope.spawn(move || {
                let mut sender = Sender::setup(BASE, &mut a, &mut Prg::from_os()).unwrap();
                counts.map(|count| sender.tables(count, &mut Last::default(), &mut a).unwrap())
            });
            let mut receiver = Receiver::setup(BASE, &mut b, &mut Prg::from_os()).unwrap();
            let code = &mut Last::default();
            let lookups = counts.map(|count| receiver.lookups(count, code, &mut b).unwrap());
            (tables.join().unwrap(), lookups)
        });
        let mut ones = 0;
        let mut places = [0_u32; PLACES];
        for (tables, lookups) in tables.iter().zip(&lookups) {
            assert_eq!(tables.len(), lookups.len());
            for (table, Lookup { place, bit }) in tables.iter().zip(lookups.iter()) {
                assert_eq!(table >> place & 1 == 1, *bit);
                places[usize::from(*place)] += 1;
                ones += table.count_ones();
            }
        }
        // 51,001 tables. Standard deviations 452 and 54.
        assert!(ones.abs_diff(51_001 * 8) < 6 * 452, "{ones} ones");
        for count in places {
            assert!(count.abs_diff(51_001 / 16) < 6 * 54, "{places:?}");
        }
        let traffic = counters.snapshot();
        let sent = counts.map(sender_bytes).iter().sum::<u64>();
        let received = counts.map(receiver_bytes).iter().sum::<u64>();
        assert_eq!(traffic.sent.bytes, setup_sender_bytes(BASE) + sent);
        assert_eq!(
            traffic.received.bytes,
            setup_receiver_bytes(BASE) + received
        );
    }

    /// As this module and `docs/protocols/vole.md` say.
    #[test]
    fn large_calls_take_231_kilobytes() {
        let count = 1 << 21;
        assert_eq!(sender_bytes(count) + receiver_bytes(count), 231_424);
    }
}
