//! Equality tests between random numbers of one party, its *targets*, and numbers of the other
//! party, with results as XOR shares: one test per lane, many lanes at once.
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
//! In step 2, for its digit y and a random OT with place r, the receiver sends d = y ⊕ r, and the
//! sender turns its table by that. The sender takes the s that makes the entry at 0 vanish, so it
//! need not send that entry: 15 bits.
//!
//! **Targets for nothing.** In step 1 a table takes 11 bits, as it chooses the sender's digit t.
//! Write it as a polynomial over GF(2) in the bits of a place, T(r) = Σ_S τ_S·r^S. Let a_i be the
//! coefficient of the product of all bits but bit i; then bit i of t is a_i ⊕ 1. The receiver sends
//! d = y ⊕ r, too. Now
//!
//! > \[y = t\] = Π_i (y_i ⊕ a_i) = y_0·y_1·y_2·y_3 ⊕ h, and \[y = 15\] = y_0·y_1·y_2·y_3,
//!
//! where h is a polynomial in y of degree 3, whose coefficients of that degree are the a_i. As a
//! polynomial in r = y ⊕ d it has the same, whatever d is. So T ⊕ h lacks them, and its coefficient
//! of degree 4 is that of T. The sender keeps its constant as the share s, and sends the other 11
//! coefficients. From these the receiver gets T(r) ⊕ h(r) ⊕ s. It adds T(r) and \[y = 15\], which
//! it knows, and has \[y = t\] ⊕ s.
//!
//! *Proof that this shows nothing.* The receiver may have learnt something of t before it chooses
//! y; so let y be any function of t, for each r. Then τ ↦ (t, T(r), the 11 coefficients) is
//! injective: t gives y, d and h, and four coefficients of T; with h and the 11, all others follow
//! but the constant, which T(r) gives. There are 16 bits on either side, so it is a bijection. The
//! table is uniform, and y depends on it by t only. So t is uniform, and T(r) and the 11
//! coefficients are uniform and independent of it and of all that depends on it. The sender sees d,
//! which r masks. ∎
//!
//! **Security**: semi-honest. The receiver's digits are masked by r, which only it knows. In step 1
//! see the proof; in step 2 the receiver can read one of the sender's entries, and s masks it.
//! Targets are uniform, and so are their bits above those that are compared: to somebody who learns
//! a target it looks like any other number.
//!
//! **Cost** of a test of ℓ bits: about ℓ/4 lookups of 15 bits each, and ℓ/12 of 19 bits, in about
//! 2·log4 ℓ flights, the receiver's first. With bit triples from silent OT it would be ℓ − 1
//! triples of two OTs each.

use std::iter;

use bytemuck::{Pod, bytes_of, bytes_of_mut};
use psijoin_block::{Prg, tower::Element};
use psijoin_channel::Channel;
use psijoin_ot::{
    BaseOts,
    block_accumulate::Last,
    lookup::{self, Lookup, PLACE_BITS, PLACES, Table},
};
use psijoin_runtime::{memory::Buffer, parallel};
use zeroize::Zeroizing;

use crate::{Bits, Error};

/// Lookups that are made at once: silent OT needs 100 bytes for each while it runs.
const AT_ONCE: usize = 1 << 21;

/// Bits that are sent of the table of a gate: its entries at all places but 0.
const GATE_BITS: usize = PLACES - 1;

/// Bits that are sent of the table of a target's digit: its coefficients that do not vanish.
const TARGET_BITS: usize = GATE_BITS - PLACE_BITS;

/// Tables that are sent together: in as many words of 16 bits as there are bits to be sent of each.
/// Each table left over at the end takes one word.
const PACKED: usize = 16;

/// Lookups that a task does: whole packs.
const LOOKUPS_PER_TASK: usize = 256 * PACKED;

/// Returns the words that `tables` tables take, of `bits` bits each.
fn packed_words(tables: usize, bits: usize) -> usize {
    tables / PACKED * bits + tables % PACKED
}

/// Lookups whose entries travel together: 44 or 60 KiB.
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
    let sent_bits = iter::once(TARGET_BITS).chain(iter::repeat(GATE_BITS));
    layers(bits).zip(sent_bits).flat_map(move |(digits, bits)| {
        let lookups = digits * lanes;
        let entries = packed_words(lookups, bits) * size_of::<Table>();
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

/// Numbers of the receiver, one per lane, cut into digits.
pub struct Numbers {
    lanes: usize,
    /// The lowest digit of each lane, then the next of each.
    digits: Zeroizing<Vec<u8>>,
    /// Bits above these, in the same order.
    left_over: Zeroizing<Vec<u8>>,
}

/// What tests need to know of [`targets`](Sender::targets).
pub struct Targets {
    lanes: usize,
    /// Digits of all lanes together, which the tables have.
    digits: usize,
    /// Bits above these, as those of [`Numbers`].
    left_over: Zeroizing<Vec<u8>>,
}

impl Numbers {
    /// Takes the lowest `bits` bits of numbers, which are little endian.
    ///
    /// # Panics
    /// If the numbers have fewer bits, or `bits` are not enough for a digit.
    pub fn new<N: Pod>(numbers: &[N], bits: usize) -> Self {
        assert!(bits >= PLACE_BITS, "numbers have a digit");
        let digits = (0..bits / PLACE_BITS)
            .flat_map(|digit| parts(numbers, digit * PLACE_BITS, PLACE_BITS))
            .collect();
        Self {
            lanes: numbers.len(),
            digits: Zeroizing::new(digits),
            left_over: left_over(numbers, bits),
        }
    }
}

/// Returns the bits that are left over by the cut into digits.
fn left_over<N: Pod>(numbers: &[N], bits: usize) -> Zeroizing<Vec<u8>> {
    let left_over = bits - bits % PLACE_BITS..bits;
    Zeroizing::new(left_over.flat_map(|bit| parts(numbers, bit, 1)).collect())
}

/// Returns some bits of each number, all of one byte.
fn parts<N: Pod>(numbers: &[N], first: usize, bits: usize) -> impl Iterator<Item = u8> {
    numbers
        .iter()
        .map(move |number| bytes_of(number)[first / 8] >> (first % 8) & ((1 << bits) - 1))
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
        let mut code = Last::default();
        for count in calls(count) {
            self.tables
                .extend_from_slice(&self.ots.tables(count, &mut code, channel)?);
        }
        Ok(())
    }

    /// Returns uniform numbers. The digits of their lowest `bits` bits are those of the lookups
    /// that [`equal`](Self::equal) takes next; nothing is used up.
    ///
    /// # Panics
    /// If too few lookups were prepared, or the numbers have fewer bits, or `bits` are not enough
    /// for a digit.
    pub fn targets<E: Element>(
        &self,
        bits: usize,
        lanes: usize,
        rng: &mut Prg,
    ) -> (Buffer<E>, Targets) {
        assert!(bits >= PLACE_BITS, "numbers have a digit");
        assert!(bits <= E::BITS as usize, "numbers have as many bits");
        let mut numbers: Buffer<E> = Buffer::zeroed(lanes);
        E::fill(&mut numbers, rng);
        let digits = bits / PLACE_BITS;
        let tables = &self.tables[self.tables.len() - digits * lanes..];
        parallel::chunks_mut(&mut numbers, LOOKUPS_PER_TASK, &|range, numbers| {
            for digit in 0..digits {
                let (byte, shift) = (digit / 2, digit % 2 * PLACE_BITS);
                let tables = &tables[digit * lanes..][range.clone()];
                for (number, table) in numbers.iter_mut().zip(tables) {
                    let byte = &mut bytes_of_mut(number)[byte];
                    *byte &= !(0xf << shift);
                    *byte |= target(polynomial(*table)) << shift;
                }
            }
        });
        let targets = Targets {
            lanes,
            digits: digits * lanes,
            left_over: left_over(&numbers, bits),
        };
        (numbers, targets)
    }

    /// This party's shares of whether its targets equal the numbers of the peer, which calls
    /// [`Receiver::equal`].
    ///
    /// # Errors
    /// If the channel breaks.
    ///
    /// # Panics
    /// If too few lookups were prepared.
    pub fn equal(&mut self, targets: &Targets, channel: &mut Channel) -> Result<Bits, Error> {
        let lanes = targets.lanes;
        let hide = |_, table, turn| hide_target(table, turn);
        let mut shares = self.layer(targets.digits, TARGET_BITS, &hide, channel)?;
        shares.extend(opposite(&targets.left_over));
        while shares.len() > lanes {
            let waiting = shares.split_off(multiplied(shares.len() / lanes) * lanes);
            // All bits are one where the receiver's shares are the opposite of these.
            let opposite: Vec<u8> = opposite(&shares).collect();
            let digits = joined(&opposite, lanes);
            let hide = |i: usize, table, turn| hide_gate(digits[i], table, turn);
            shares = self.layer(digits.len(), GATE_BITS, &hide, channel)?;
            shares.extend(waiting);
        }
        Ok(shares.iter().map(|share| *share == 1).collect())
    }

    /// This party's shares of whether its digits equal those of the peer. `hide` gives this share,
    /// and the `bits` bits that are sent, for the number of a digit, its table and its turn.
    fn layer(
        &mut self,
        digits: usize,
        bits: usize,
        hide: &(impl Fn(usize, Table, u8) -> (u8, Table) + Sync),
        channel: &mut Channel,
    ) -> Result<Vec<u8>, Error> {
        let left = self.tables.len() - digits;
        let mut tables = Zeroizing::new(self.tables.split_off(left));
        let turns = receive_turns(digits, channel)?;
        let mut shares = vec![0; digits];
        let mut tasks: Vec<_> = (tables.chunks_mut(LOOKUPS_PER_TASK))
            .zip(shares.chunks_mut(LOOKUPS_PER_TASK))
            .collect();
        parallel::each_mut(&mut tasks, &|task, (tables, shares)| {
            let inputs = (task * LOOKUPS_PER_TASK..).zip(&turns[task * LOOKUPS_PER_TASK..]);
            for ((table, share), (i, turn)) in tables.iter_mut().zip(&mut **shares).zip(inputs) {
                (*share, *table) = hide(i, *table, *turn);
            }
            tables
                .chunks_mut(PACKED)
                .for_each(|tables| pack(tables, bits));
        });
        let packed: Vec<Table> = (tables.chunks(PACKED))
            .flat_map(|tables| &tables[..packed_words(tables.len(), bits)])
            .copied()
            .collect();
        for message in packed.chunks(LOOKUPS_PER_MESSAGE / PACKED * bits) {
            channel.send(bytemuck::cast_slice(message))?;
        }
        Ok(shares)
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
        let mut code = Last::default();
        for count in calls(count) {
            self.lookups
                .extend_from_slice(&self.ots.lookups(count, &mut code, channel)?);
        }
        Ok(())
    }

    /// This party's shares of whether its numbers equal the targets of the peer, which calls
    /// [`Sender::equal`].
    ///
    /// # Errors
    /// If the channel breaks.
    ///
    /// # Panics
    /// If too few lookups were prepared.
    pub fn equal(&mut self, numbers: &Numbers, channel: &mut Channel) -> Result<Bits, Error> {
        let lanes = numbers.lanes;
        let mut shares = self.layer(&numbers.digits, TARGET_BITS, &read_target, channel)?;
        shares.extend_from_slice(&numbers.left_over);
        while shares.len() > lanes {
            let waiting = shares.split_off(multiplied(shares.len() / lanes) * lanes);
            shares = self.layer(&joined(&shares, lanes), GATE_BITS, &read_gate, channel)?;
            shares.extend(waiting);
        }
        Ok(shares.iter().map(|share| *share == 1).collect())
    }

    /// This party's shares of whether its digits equal those of the peer.
    /// `read` gives this share for a digit, its lookup, and the `bits` bits that were sent.
    fn layer(
        &mut self,
        digits: &[u8],
        bits: usize,
        read: &(impl Fn(u8, Lookup, Table) -> u8 + Sync),
        channel: &mut Channel,
    ) -> Result<Vec<u8>, Error> {
        let left = self.lookups.len() - digits.len();
        let lookups = Zeroizing::new(self.lookups.split_off(left));
        send_turns(digits, &lookups, channel)?;
        let mut packed: Vec<Table> = vec![0; packed_words(digits.len(), bits)];
        for message in packed.chunks_mut(LOOKUPS_PER_MESSAGE / PACKED * bits) {
            channel.recv(bytemuck::cast_slice_mut(message))?;
        }
        let mut shares = vec![0; digits.len()];
        parallel::chunks_mut(&mut shares, LOOKUPS_PER_TASK, &|range, shares| {
            let mut packed = &packed[packed_words(range.start, bits)..];
            let inputs = (digits[range.clone()].chunks(PACKED)).zip(lookups[range].chunks(PACKED));
            for (shares, (digits, lookups)) in shares.chunks_mut(PACKED).zip(inputs) {
                let (pack, rest) = packed.split_at(packed_words(shares.len(), bits));
                packed = rest;
                let sent = unpack(pack, bits);
                for (i, share) in shares.iter_mut().enumerate() {
                    *share = read(digits[i], lookups[i], sent[i]);
                }
            }
        });
        Ok(shares)
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

/// Returns the sender's share for a digit, and its entries at all places but 0.
fn hide_gate(digit: u8, table: Table, turn: u8) -> (u8, Table) {
    let entries = turned(table, turn) ^ 1 << digit;
    let share = entries & 1;
    (share as u8, (entries ^ share.wrapping_neg()) >> 1)
}

/// Returns the receiver's share for a digit.
fn read_gate(digit: u8, lookup: Lookup, sent: Table) -> u8 {
    // At place 0 there is none: it is zero.
    (sent << 1 >> digit & 1) as u8 ^ u8::from(lookup.bit)
}

/// The digit at which the product of all bits is one.
const LAST: u8 = PLACES as u8 - 1;

/// Returns the sender's share for the [`target`] of its table, and the other coefficients that may
/// differ from zero: T ⊕ h.
fn hide_target(table: Table, turn: u8) -> (u8, Table) {
    let coefficients = polynomial(table);
    let h = 1 << (target(coefficients) ^ turn) ^ 1 << (LAST ^ turn);
    let hidden = coefficients ^ polynomial(h);
    ((hidden & 1) as u8, squeezed(hidden))
}

/// Returns the receiver's share for a digit.
fn read_target(digit: u8, lookup: Lookup, sent: Table) -> u8 {
    let value = polynomial(spread(sent)) >> lookup.place & 1;
    value as u8 ^ u8::from(lookup.bit) ^ u8::from(digit == LAST)
}

/// For each distance of places that differ in one bit, the places that lack this bit.
const HALVES: [(u32, Table); PLACE_BITS] = [(1, 0x5555), (2, 0x3333), (4, 0x0f0f), (8, 0x00ff)];

/// Returns the coefficients of the polynomial over GF(2) that a table is in the bits of a place:
/// that of the product of the bits in S at place S. It is its own inverse.
fn polynomial(table: Table) -> Table {
    (HALVES.into_iter()).fold(table, |table, (distance, low)| {
        table ^ (table & low) << distance
    })
}

/// Returns the digit that a table with these coefficients has for its target: the opposite of those
/// of the products of three bits, at the place of the bit that is missing.
fn target(coefficients: Table) -> u8 {
    let missing = |bit: u32| !(coefficients >> (LAST ^ 1 << bit)) & 1;
    (missing(0) | missing(1) << 1 | missing(2) << 2 | missing(3) << 3) as u8
}

/// Returns coefficients 1 to 6, 8 to 10, 12 and 15: those between them are zero.
fn squeezed(coefficients: Table) -> Table {
    coefficients >> 1 & 0x3f
        | (coefficients >> 8 & 7) << 6
        | (coefficients >> 12 & 1) << 9
        | coefficients >> 15 << 10
}

/// Returns what [`squeezed`] was given, without coefficient 0.
fn spread(squeezed: Table) -> Table {
    (squeezed & 0x3f) << 1
        | (squeezed >> 6 & 7) << 8
        | (squeezed >> 9 & 1) << 12
        | squeezed >> 10 << 15
}

/// Returns a table with t\[place\] where `table` has t\[place ⊕ turn\].
fn turned(table: Table, turn: u8) -> Table {
    let mut table = table;
    for (bit, (distance, low)) in HALVES.into_iter().enumerate() {
        let swapped = (table & low) << distance | table >> distance & low;
        let mask = Table::from(turn >> bit & 1).wrapping_neg();
        table ^= (table ^ swapped) & mask;
    }
    table
}

/// Packs 16 tables of `bits` bits into the first `bits` words: the others become the highest bits
/// of these. Fewer tables stay as they are.
fn pack(tables: &mut [Table], bits: usize) {
    if tables.len() == PACKED {
        let (words, others) = tables.split_at_mut(bits);
        for (i, word) in words.iter_mut().enumerate() {
            for (j, other) in others.iter().enumerate() {
                *word |= (other >> i & 1) << (bits + j);
            }
        }
    }
}

fn unpack(packed: &[Table], bits: usize) -> [Table; PACKED] {
    let mut tables = [0; PACKED];
    for (i, word) in packed.iter().enumerate() {
        tables[i] = word & ((1 << bits) - 1);
        if i < bits {
            for (j, other) in tables[bits..].iter_mut().enumerate() {
                *other |= (word >> (bits + j) & 1) << i;
            }
        }
    }
    tables
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use proptest::{collection::vec, prelude::*};
    use psijoin_block::tower::Tower;

    use super::*;
    use crate::testing::both;

    const BASE: BaseOts = BaseOts::DiffieHellman;

    /// Returns shares of both, and targets. The receiver's numbers are the targets with these
    /// differences. The traffic is checked.
    fn run(differences: &[u128], bits: usize) -> (Bits, Bits, Vec<u128>) {
        let lanes = differences.len();
        let count = lookups(bits, lanes);
        let (tell, told) = mpsc::channel::<Vec<u128>>();
        let ((sender, targets), receiver, traffic) = both(
            move |channel| {
                let rng = &mut Prg::from_os();
                let mut sender = Sender::set_up(BASE, channel, rng).unwrap();
                sender.prepare(count, channel).unwrap();
                let (numbers, targets) = sender.targets::<Tower>(bits, lanes, rng);
                let numbers = bytemuck::cast_slice(&numbers).to_vec();
                tell.send(numbers.clone()).unwrap();
                let shares = sender.equal(&targets, channel).unwrap();
                assert!(sender.tables.is_empty(), "each is used");
                (shares, numbers)
            },
            move |channel| {
                let mut receiver = Receiver::set_up(BASE, channel, &mut Prg::from_os()).unwrap();
                receiver.prepare(count, channel).unwrap();
                let pairs = told.recv().unwrap().into_iter().zip(differences);
                let numbers: Vec<u128> = pairs.map(|(target, other)| target ^ other).collect();
                let numbers = Numbers::new(&numbers, bits);
                let shares = receiver.equal(&numbers, channel).unwrap();
                assert!(receiver.lookups.is_empty(), "each is used");
                shares
            },
        );
        let setup = [
            lookup::setup_sender_bytes(BASE),
            lookup::setup_receiver_bytes(BASE),
        ];
        let flights: Vec<_> = preparing_flights(count)
            .chain(flights(bits, lanes))
            .collect();
        let announced = [0, 1].map(|party| {
            let bytes = flights.iter().map(|flight| flight[party]);
            setup[party] + bytes.sum::<u64>()
        });
        assert_eq!([traffic.sent.bytes, traffic.received.bytes], announced);
        assert_eq!(traffic.flights, 1 + flights.len() as u64);
        (sender, receiver, targets)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn shares_say_what_is_equal(
            differences in vec((any::<u128>(), 0..3_u32), 1..100),
            bits in PLACE_BITS..=128,
        ) {
            // Some are equal, some differ in one bit. Bits above those that are compared differ.
            let mask = u128::MAX >> (128 - bits);
            let differences: Vec<_> = differences.iter().map(|&(any, how)| match how {
                0 => any & !mask,
                1 => any & !mask | 1 << (any % bits as u128),
                _ => any,
            }).collect();
            let (sender, receiver, _) = run(&differences, bits);
            let equal: Bits = differences.iter().map(|other| other & mask == 0).collect();
            prop_assert!(&sender ^ &receiver == equal);
        }
    }

    #[test]
    fn shares_alone_show_nothing() {
        let (sender, receiver, _) = run(&[0; 4096], 61);
        for shares in [sender, receiver] {
            // Standard deviation 32.
            assert!(shares.count_ones().abs_diff(2048) < 6 * 32);
        }
    }

    /// Those of digits, those left over, and those that are not compared.
    #[test]
    fn each_bit_of_targets_is_random() {
        let (_, _, targets) = run(&[0; 4096], 63);
        for bit in 0..128 {
            let ones = targets.iter().filter(|target| *target >> bit & 1 == 1);
            assert!(ones.count().abs_diff(2048) < 6 * 32, "bit {bit}");
        }
    }

    /// All tables, places and digits: shares are right. And whatever the receiver's digit is,
    /// target, bit and message take each value for one table: so the receiver's view is independent
    /// of the target, and uniform.
    #[test]
    fn each_table_for_a_target() {
        for (place, digit) in (0..16).flat_map(|place| (0..16).map(move |digit| (place, digit))) {
            let mut views = vec![false; 1 << 16];
            for table in 0..=Table::MAX {
                let (bit, target) = (table >> place & 1, target(polynomial(table)));
                let (share, sent) = hide_target(table, digit ^ place);
                assert!(sent < 1 << TARGET_BITS);
                let lookup = Lookup {
                    place,
                    bit: bit == 1,
                };
                let other = read_target(digit, lookup, sent);
                assert_eq!(share ^ other, u8::from(target == digit));
                let view = usize::from(target) << 12 | usize::from(bit << 11 | sent);
                assert!(!views[view], "a view twice");
                views[view] = true;
            }
        }
    }

    #[test]
    fn coefficients_of_tables() {
        let bits = |places: &[u32]| places.iter().fold(0, |bits, place| bits | 1 << place);
        // The product of all bits, and that of their opposites.
        assert_eq!(polynomial(bits(&[15])), bits(&[15]));
        assert_eq!(polynomial(bits(&[0])), 0xffff);
        // Bit 1 and bit 3, and one where both are one: their OR.
        assert_eq!(polynomial(0xffcc), bits(&[2, 8, 10]));
        assert_eq!(target(bits(&[14, 11])), 0b1010);
        // For the target 0 all coefficients of degree 3 are one.
        assert_eq!(target(0xffff), 0);
        let coefficients = bits(&[1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15]);
        assert_eq!(squeezed(coefficients), (1 << TARGET_BITS) - 1);
        assert_eq!(spread((1 << TARGET_BITS) - 1), coefficients);
        for table in 0..=Table::MAX {
            assert_eq!(polynomial(polynomial(table)), table);
            let kept = table & coefficients;
            assert_eq!(spread(squeezed(kept)), kept);
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
        for bits in [TARGET_BITS, GATE_BITS] {
            let entries: [Table; PACKED] =
                std::array::from_fn(|i| (i as Table).wrapping_mul(40_503) >> (PACKED - bits));
            for count in 0..=PACKED {
                let mut packed = entries[..count].to_vec();
                pack(&mut packed, bits);
                let unpacked = unpack(&packed[..packed_words(count, bits)], bits);
                assert_eq!(unpacked[..count], entries[..count], "{count}");
            }
        }
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
        // 16 tables of 15 digits take 11 words each, and 16 of 5 gates take 15.
        let sent: u64 = flights(61, 16).map(|[sender, _]| sender).sum();
        assert_eq!(sent, 2 * (15 * 11 + 5 * 15));
        assert_eq!(flights(61, 1).count(), 6);
    }

    /// Every difference of a digit, or of a digit and bits that are left over.
    #[test]
    fn each_difference_of_small_numbers() {
        for bits in 4..=7 {
            let differences: Vec<u128> = (0..1000).map(|i| i % (1 << bits)).collect();
            let (sender, receiver, _) = run(&differences, bits);
            let equal: Bits = differences.iter().map(|other| *other == 0).collect();
            assert!(&sender ^ &receiver == equal, "{bits} bits");
        }
    }
}
