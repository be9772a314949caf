//! Equality tests between numbers of the two parties, with results as XOR shares: one test per
//! lane, many lanes at once.
//!
//! It is GMW with AND gates of four inputs. Goldreich, Micali and Wigderson evaluate a gate by
//! 1-out-of-4 OT from a table that one party masks; here tables have 16 entries (as in Dessouky et
//! al., NDSS 2017), and the OTs are silent ([`lookup`]). Numbers are cut into digits of four bits,
//! and up to three bits that are left over:
//!
//! 1. For each digit the receiver chooses by its own digit y among 16 bits of the sender: s, or s ⊕
//!    1 where y is the sender's digit. The bit that it gets and s are shares of whether the digits
//!    are equal. For a bit that is left over, x ⊕ 1 and y are such shares.
//! 2. Four such bits at a time are multiplied the same way: the receiver chooses by its shares, and
//!    the sender's digit is the one at which all four bits are one. Two or three that are left over
//!    are multiplied so, too; a single one waits for the next layer. This is repeated until one is
//!    left.
//!
//! For its digit y and a random OT with place r, the receiver sends y ⊕ r, and the sender turns its
//! table by that. The sender takes the s that makes the entry at 0 vanish, so it need not send that
//! entry.
//!
//! **Security**: semi-honest. The receiver's digits are masked by r, which only it knows. The
//! receiver can read one of the sender's entries, and s masks it.
//!
//! **Cost** of a test of ℓ bits: about ℓ/3 lookups, of 19 bits each, in about 2·log4 ℓ flights,
//! the receiver's first. With bit triples from silent OT it would be ℓ − 1 triples of two OTs each.

use std::iter;

use bytemuck::{Pod, bytes_of};
use psijoin_block::Prg;
use psijoin_channel::Channel;
use psijoin_ot::{
    BaseOts,
    lookup::{self, Lookup, PLACE_BITS, PLACES, Table},
};
use psijoin_runtime::parallel;
use zeroize::Zeroizing;

use crate::{Bits, Error};

/// Lookups that are made at once: silent OT needs 100 bytes for each while it runs.
const AT_ONCE: usize = 1 << 21;

/// Tables that are sent together, of 15 entries each: in as many words of 16 bits as they have
/// bits. Each table left over at the end takes one word.
const PACKED: usize = 16;
const PACKED_WORDS: usize = PLACES - 1;

/// Lookups that a task does: whole packs.
const LOOKUPS_PER_TASK: usize = 256 * PACKED;

/// Returns the words that `tables` tables take.
fn packed_words(tables: usize) -> usize {
    tables / PACKED * PACKED_WORDS + tables % PACKED
}

/// Lookups whose entries travel together: 60 KiB.
const LOOKUPS_PER_MESSAGE: usize = 1 << 15;

/// Returns how many digits are compared, or gates evaluated, layer by layer, for a number of `bits`
/// bits.
fn layers(bits: usize) -> impl Iterator<Item = usize> {
    let digits = bits / PLACE_BITS;
    let factors = |bits: &usize| Some(bits.div_ceil(PLACE_BITS));
    let gates = iter::successors(Some(digits + bits % PLACE_BITS), factors)
        .take_while(|factors| *factors > 1)
        .map(|factors| multiplied(factors).div_ceil(PLACE_BITS));
    iter::once(digits).chain(gates)
}

/// Returns how many of a lane's factors a layer multiplies: not one that is left over.
fn multiplied(factors: usize) -> usize {
    factors - usize::from(factors % PLACE_BITS == 1)
}

/// Lookups that tests of `lanes` pairs of numbers take.
pub fn lookups(bits: usize, lanes: usize) -> usize {
    layers(bits).sum::<usize>() * lanes
}

/// Returns the bytes that the sender and the receiver send in tests, flight by flight; lookups are
/// prepared.
pub fn flights(bits: usize, lanes: usize) -> impl Iterator<Item = [u64; 2]> {
    layers(bits).flat_map(move |digits| {
        let lookups = digits * lanes;
        let entries = packed_words(lookups) * size_of::<Table>();
        [[0, lookups.div_ceil(2) as u64], [entries as u64, 0]]
    })
}

/// Returns the bytes that the sender and the receiver send to prepare lookups, flight by flight.
pub fn preparing_flights(count: usize) -> impl Iterator<Item = [u64; 2]> {
    calls(count).flat_map(|count| {
        [
            [0, lookup::receiver_bytes(count)],
            [lookup::sender_bytes(count), 0],
        ]
    })
}

fn calls(count: usize) -> impl Iterator<Item = usize> {
    (0..count)
        .step_by(AT_ONCE)
        .map(move |first| AT_ONCE.min(count - first))
}

/// Numbers of a party, one per lane, cut into digits.
pub struct Numbers {
    lanes: usize,
    /// The lowest digit of each lane, then the next of each.
    digits: Zeroizing<Vec<u8>>,
    /// Bits above these, in the same order.
    left_over: Zeroizing<Vec<u8>>,
}

impl Numbers {
    /// Takes the lowest `bits` bits of numbers, which are little endian.
    ///
    /// # Panics
    /// If the numbers have fewer bits, or `bits` are not enough for a digit.
    pub fn new<N: Pod>(numbers: &[N], bits: usize) -> Self {
        assert!(bits >= PLACE_BITS, "numbers have a digit");
        let part = |first: usize, bits: usize| {
            let bytes = numbers
                .iter()
                .map(move |number| bytes_of(number)[first / 8]);
            bytes.map(move |byte| (byte >> (first % 8)) & ((1 << bits) - 1))
        };
        let whole = bits - bits % PLACE_BITS;
        let digits = (0..whole).step_by(PLACE_BITS);
        Self {
            lanes: numbers.len(),
            digits: Zeroizing::new(digits.flat_map(|first| part(first, PLACE_BITS)).collect()),
            left_over: Zeroizing::new((whole..bits).flat_map(|bit| part(bit, 1)).collect()),
        }
    }
}

/// Joins four bits of a lane to a digit; missing ones are zero.
fn joined(bits: &[u8], lanes: usize) -> Vec<u8> {
    let mut digits = vec![0; (bits.len() / lanes).div_ceil(PLACE_BITS) * lanes];
    for (i, bits) in bits.chunks(lanes).enumerate() {
        let group = i / PLACE_BITS * lanes;
        for (digit, bit) in digits[group..].iter_mut().zip(bits) {
            *digit |= bit << (i % PLACE_BITS);
        }
    }
    digits
}

/// The party with tables.
pub struct Sender {
    ots: lookup::Sender,
    tables: Zeroizing<Vec<Table>>,
}

/// The party that looks up.
pub struct Receiver {
    ots: lookup::Receiver,
    lookups: Zeroizing<Vec<Lookup>>,
}

impl Sender {
    /// Runs the base OTs; the peer calls [`Receiver::set_up`].
    ///
    /// # Errors
    /// If the channel breaks, or the peer sends an invalid public key.
    pub fn set_up(base: BaseOts, channel: &mut Channel, rng: &mut Prg) -> Result<Self, Error> {
        Ok(Self {
            ots: lookup::Sender::setup(base, channel, rng)?,
            tables: Zeroizing::default(),
        })
    }

    /// Makes what `count` [`lookups`] take, before the numbers are known.
    ///
    /// # Errors
    /// If the channel breaks.
    pub fn prepare(&mut self, count: usize, channel: &mut Channel) -> Result<(), Error> {
        self.tables.reserve_exact(count);
        for count in calls(count) {
            self.tables
                .extend_from_slice(&self.ots.tables(count, channel)?);
        }
        Ok(())
    }

    /// This party's shares of whether its numbers equal those of the peer, which calls
    /// [`Receiver::equal`].
    ///
    /// # Errors
    /// If the channel breaks.
    ///
    /// # Panics
    /// If too few lookups were prepared.
    pub fn equal(&mut self, numbers: &Numbers, channel: &mut Channel) -> Result<Bits, Error> {
        let lanes = numbers.lanes;
        let mut shares = self.layer(&numbers.digits, channel)?;
        shares.extend(opposite(&numbers.left_over));
        while shares.len() > lanes {
            let waiting = shares.split_off(multiplied(shares.len() / lanes) * lanes);
            // All bits are one where the receiver's shares are the opposite of these.
            let opposite: Vec<u8> = opposite(&shares).collect();
            shares = self.layer(&joined(&opposite, lanes), channel)?;
            shares.extend(waiting);
        }
        Ok(shares.iter().map(|share| *share == 1).collect())
    }

    /// This party's shares of whether its digits equal those of the peer.
    fn layer(&mut self, digits: &[u8], channel: &mut Channel) -> Result<Vec<u8>, Error> {
        let left = self.tables.len() - digits.len();
        let tables = Zeroizing::new(self.tables.split_off(left));
        let turns = receive_turns(digits.len(), channel)?;
        answer(digits, &turns, tables, channel)
    }
}

fn opposite(bits: &[u8]) -> impl Iterator<Item = u8> {
    bits.iter().map(|bit| 1 - bit)
}

impl Receiver {
    /// Runs the base OTs; the peer calls [`Sender::set_up`].
    ///
    /// # Errors
    /// If the channel breaks, or the peer sends an invalid public key.
    pub fn set_up(base: BaseOts, channel: &mut Channel, rng: &mut Prg) -> Result<Self, Error> {
        Ok(Self {
            ots: lookup::Receiver::setup(base, channel, rng)?,
            lookups: Zeroizing::default(),
        })
    }

    /// As [`Sender::prepare`].
    ///
    /// # Errors
    /// If the channel breaks.
    pub fn prepare(&mut self, count: usize, channel: &mut Channel) -> Result<(), Error> {
        self.lookups.reserve_exact(count);
        for count in calls(count) {
            self.lookups
                .extend_from_slice(&self.ots.lookups(count, channel)?);
        }
        Ok(())
    }

    /// As [`Sender::equal`].
    ///
    /// # Errors
    /// If the channel breaks.
    ///
    /// # Panics
    /// If too few lookups were prepared.
    pub fn equal(&mut self, numbers: &Numbers, channel: &mut Channel) -> Result<Bits, Error> {
        let lanes = numbers.lanes;
        let mut shares = self.layer(&numbers.digits, channel)?;
        shares.extend_from_slice(&numbers.left_over);
        while shares.len() > lanes {
            let waiting = shares.split_off(multiplied(shares.len() / lanes) * lanes);
            shares = self.layer(&joined(&shares, lanes), channel)?;
            shares.extend(waiting);
        }
        Ok(shares.iter().map(|share| *share == 1).collect())
    }

    /// This party's shares of whether its digits equal those of the peer.
    fn layer(&mut self, digits: &[u8], channel: &mut Channel) -> Result<Vec<u8>, Error> {
        let left = self.lookups.len() - digits.len();
        let lookups = Zeroizing::new(self.lookups.split_off(left));
        send_turns(digits, &lookups, channel)?;
        read(digits, &lookups, channel)
    }
}

/// Sends y ⊕ r, two per byte.
fn send_turns(digits: &[u8], lookups: &[Lookup], channel: &mut Channel) -> Result<(), Error> {
    let turns: Vec<u8> = (digits.iter().zip(lookups))
        .map(|(digit, lookup)| digit ^ lookup.place)
        .collect();
    for turns in turns.chunks(2 * LOOKUPS_PER_MESSAGE) {
        let packed = turns
            .chunks(2)
            .map(|pair| pair[0] | pair.get(1).unwrap_or(&0) << PLACE_BITS);
        channel.send(&packed.collect::<Vec<u8>>())?;
    }
    Ok(())
}

fn receive_turns(count: usize, channel: &mut Channel) -> Result<Vec<u8>, Error> {
    let mut packed = vec![0; count.div_ceil(2)];
    for message in packed.chunks_mut(LOOKUPS_PER_MESSAGE) {
        channel.recv(message)?;
    }
    let turns = packed
        .iter()
        .flat_map(|pair| [pair % PLACES as u8, pair >> PLACE_BITS]);
    Ok(turns.take(count).collect())
}

/// Sends entries of tables; the sender's shares.
fn answer(
    digits: &[u8],
    turns: &[u8],
    mut tables: Zeroizing<Vec<Table>>,
    channel: &mut Channel,
) -> Result<Vec<u8>, Error> {
    let mut shares = vec![0; digits.len()];
    let mut tasks: Vec<_> = (tables.chunks_mut(LOOKUPS_PER_TASK))
        .zip(shares.chunks_mut(LOOKUPS_PER_TASK))
        .collect();
    parallel::each_mut(&mut tasks, &|task, (tables, shares)| {
        let first = task * LOOKUPS_PER_TASK;
        let inputs = digits[first..].iter().zip(&turns[first..]);
        for ((table, share), (digit, turn)) in tables.iter_mut().zip(&mut **shares).zip(inputs) {
            let entries = turned(*table, *turn) ^ 1 << digit;
            *share = (entries & 1) as u8;
            *table = (entries ^ (entries & 1).wrapping_neg()) >> 1;
        }
        tables.chunks_mut(PACKED).for_each(pack);
    });
    let packed: Vec<Table> = (tables.chunks(PACKED))
        .flat_map(|tables| &tables[..packed_words(tables.len())])
        .copied()
        .collect();
    for message in packed.chunks(LOOKUPS_PER_MESSAGE / PACKED * PACKED_WORDS) {
        channel.send(bytemuck::cast_slice(message))?;
    }
    Ok(shares)
}

/// Receives entries of tables, and reads one of each: the receiver's shares.
fn read(digits: &[u8], lookups: &[Lookup], channel: &mut Channel) -> Result<Vec<u8>, Error> {
    let mut packed: Vec<Table> = vec![0; packed_words(digits.len())];
    for message in packed.chunks_mut(LOOKUPS_PER_MESSAGE / PACKED * PACKED_WORDS) {
        channel.recv(bytemuck::cast_slice_mut(message))?;
    }
    let mut shares = vec![0; digits.len()];
    parallel::chunks_mut(&mut shares, LOOKUPS_PER_TASK, &|range, shares| {
        let packed = packed[packed_words(range.start)..].chunks(PACKED_WORDS);
        let inputs = (digits[range.clone()].chunks(PACKED)).zip(lookups[range].chunks(PACKED));
        let packs = shares.chunks_mut(PACKED).zip(packed).zip(inputs);
        for ((shares, packed), (digits, lookups)) in packs {
            let entries = unpack(packed);
            for (i, share) in shares.iter_mut().enumerate() {
                // At place 0 there is none: it is zero.
                *share = (entries[i] << 1 >> digits[i] & 1) as u8 ^ u8::from(lookups[i].bit);
            }
        }
    });
    Ok(shares)
}

/// Returns a table with t\[place\] where `table` has t\[place ⊕ turn\].
fn turned(table: Table, turn: u8) -> Table {
    const HALVES: [(u32, Table); PLACE_BITS] = [(1, 0x5555), (2, 0x3333), (4, 0x0f0f), (8, 0x00ff)];
    let mut table = table;
    for (bit, (distance, low)) in HALVES.into_iter().enumerate() {
        let swapped = (table & low) << distance | table >> distance & low;
        let mask = Table::from(turn >> bit & 1).wrapping_neg();
        table ^= (table ^ swapped) & mask;
    }
    table
}

/// Packs 16 tables of 15 entries into the first 15 words: the last table's entries become the
/// highest bits of the others. Fewer tables stay as they are.
fn pack(tables: &mut [Table]) {
    if let [tables @ .., last] = tables
        && tables.len() == PACKED_WORDS
    {
        for (i, table) in tables.iter_mut().enumerate() {
            *table |= *last >> i << PACKED_WORDS;
        }
    }
}

fn unpack(packed: &[Table]) -> [Table; PACKED] {
    const ENTRIES: Table = Table::MAX >> 1;
    let mut tables = [0; PACKED];
    for (i, word) in packed.iter().enumerate() {
        tables[i] = word & ENTRIES;
        tables[PACKED_WORDS] |= word >> PACKED_WORDS << i;
    }
    tables
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::testing::both;

    const BASE: BaseOts = BaseOts::DiffieHellman;

    /// Returns shares of both. The traffic is checked.
    fn run(numbers: &[(u128, u128)], bits: usize) -> (Bits, Bits) {
        let (ours, theirs): (Vec<u128>, Vec<u128>) = numbers.iter().copied().unzip();
        let count = lookups(bits, numbers.len());
        let (sender, receiver, traffic) = both(
            |channel| {
                let mut sender = Sender::set_up(BASE, channel, &mut Prg::from_os()).unwrap();
                sender.prepare(count, channel).unwrap();
                let shares = sender.equal(&Numbers::new(&ours, bits), channel).unwrap();
                assert!(sender.tables.is_empty(), "each is used");
                shares
            },
            |channel| {
                let mut receiver = Receiver::set_up(BASE, channel, &mut Prg::from_os()).unwrap();
                receiver.prepare(count, channel).unwrap();
                let shares = receiver
                    .equal(&Numbers::new(&theirs, bits), channel)
                    .unwrap();
                assert!(receiver.lookups.is_empty(), "each is used");
                shares
            },
        );
        let setup = [
            lookup::setup_sender_bytes(BASE),
            lookup::setup_receiver_bytes(BASE),
        ];
        let flights: Vec<_> = preparing_flights(count)
            .chain(flights(bits, numbers.len()))
            .collect();
        let announced = [0, 1].map(|party| {
            let bytes = flights.iter().map(|flight| flight[party]);
            setup[party] + bytes.sum::<u64>()
        });
        assert_eq!([traffic.sent.bytes, traffic.received.bytes], announced);
        assert_eq!(traffic.flights, 1 + flights.len() as u64);
        (sender, receiver)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn shares_say_what_is_equal(
            pairs in vec((any::<u128>(), any::<u128>(), 0..3_u32), 1..100),
            bits in PLACE_BITS..=128,
        ) {
            // Some are equal, some differ in one bit. Bits above those that are compared differ.
            let mask = u128::MAX >> (128 - bits);
            let pairs: Vec<_> = pairs.iter().map(|&(a, b, how)| match how {
                0 => (a, a & mask | b & !mask),
                1 => (a, a ^ 1 << (b % bits as u128)),
                _ => (a, b),
            }).collect();
            let (sender, receiver) = run(&pairs, bits);
            let equal: Bits = pairs.iter().map(|(a, b)| (a ^ b) & mask == 0).collect();
            prop_assert!(&sender ^ &receiver == equal);
        }
    }

    #[test]
    fn shares_alone_show_nothing() {
        let same: Vec<(u128, u128)> = (0..4096).map(|i| (i * i, i * i)).collect();
        for shares in [run(&same, 61).0, run(&same, 61).1] {
            // Standard deviation 32.
            assert!(shares.count_ones().abs_diff(2048) < 6 * 32);
        }
    }

    #[test]
    fn tables_turn_and_pack() {
        let table: Table = 0b1011_0010_1110_0001;
        for turn in 0..16 {
            let turned = turned(table, turn);
            for place in 0..16 {
                assert_eq!(turned >> place & 1, table >> (place ^ turn) & 1);
            }
        }
        let entries: [Table; PACKED] =
            std::array::from_fn(|i| (i as Table).wrapping_mul(40_503) >> 1);
        let mut packed = entries;
        pack(&mut packed);
        assert_eq!(unpack(&packed[..PACKED_WORDS]), entries);
        let mut few = [entries[0], entries[1]];
        pack(&mut few);
        assert_eq!(unpack(&few)[..2], entries[..2]);
    }

    #[test]
    fn a_number_of_61_bits_takes_20_lookups() {
        let layers = |bits| layers(bits).collect::<Vec<_>>();
        assert_eq!(layers(60), [15, 4, 1]);
        // A bit left over takes none.
        assert_eq!(layers(61), [15, 4, 1]);
        assert_eq!(layers(62), [15, 4, 1, 1]);
        assert_eq!(layers(64), [16, 4, 1]);
        assert_eq!(layers(65), [16, 4, 1, 1]);
        assert_eq!(layers(66), [16, 5, 1, 1]);
        assert_eq!(layers(4), [1]);
        assert_eq!(layers(5), [1, 1]);
        assert_eq!(layers(7), [1, 1]);
        assert_eq!(lookups(61, 3), 60);
        assert_eq!(flights(61, 1).count(), 6);
    }

    /// Every number of a digit, or of a digit and bits that are left over.
    #[test]
    fn each_pair_of_small_numbers() {
        for bits in 4..=7 {
            let pairs: Vec<(u128, u128)> = (0..1 << (2 * bits))
                .map(|pair| (pair >> bits, pair % (1 << bits)))
                .collect();
            let (sender, receiver) = run(&pairs, bits);
            let equal: Bits = pairs.iter().map(|(a, b)| a == b).collect();
            assert!(&sender ^ &receiver == equal, "{bits} bits");
        }
    }
}
