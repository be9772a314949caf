//! Products of a shared bit with numbers of one party, as shares mod 2^64, or modulo less.
//!
//! The bit is r ⊕ s. The *giver* has r and a number w, the *chooser* has s. Then
//! (r ⊕ s)·w = r·w + s·(1 − 2r)·w, which takes a correlated OT (Gilboa, CRYPTO 1999): the chooser
//! gets x, or x + (1 − 2r)·w if s = 1, and the giver keeps r·w − x. One OT serves one bit, whatever
//! the number of its factors: messages are stretched to one word per factor.
//!
//! OTs of random choices c come from silent OT, with messages m_0 and m_1. The chooser sends
//! c ⊕ s, and the giver swaps the messages by it. For factor k the giver sends
//! G_k(m_0) − G_k(m_1) + (1 − 2r)·w_k, and x_k is G_k(m_0). Of that it sends the lowest bytes, as
//! many as the factor is *wide*: shares modulo 2^(8·width) need no others.
//!
//! **Security**: semi-honest. c hides s, and the message that the chooser does not have hides the
//! numbers. **Cost** per bit: one bit, and the width of each factor, in two flights. The chooser's
//! comes first.

use std::iter;

use psijoin_block::{Block, Prg, crhf};
use psijoin_channel::Channel;
use psijoin_circuit::{Bits, Lanes};
use psijoin_ot::extension::{self, Extension};
use psijoin_psi::{BaseOts, Conversation, Error, Role, ots::Ots};
use psijoin_runtime::memory::Buffer;
use zeroize::Zeroizing;

/// Words, or bytes of packed bits, that travel together: 64 KiB of words.
const PER_MESSAGE: usize = 1 << 13;

/// The width of a factor whose products are shared modulo 2^64.
pub(crate) const WHOLE: usize = size_of::<u64>();

/// Returns the OTs. Their choices are random, so silent OT makes them almost for nothing.
pub(crate) fn extension(base: BaseOts) -> Extension {
    Extension::SILENT.on(base)
}

/// OTs that are made at once: silent OT needs 100 bytes per OT while it runs.
const AT_ONCE: usize = 1 << 21;

/// Returns how many OTs each call makes, for `count` in all.
pub(crate) fn calls(count: usize) -> impl Iterator<Item = usize> {
    (0..count)
        .step_by(AT_ONCE)
        .map(move |first| AT_ONCE.min(count - first))
}

/// Returns what is said offline and online to multiply `bits` bits by numbers of the `giver`, a
/// factor of each of these widths, in bytes.
pub(crate) fn conversations(
    extension: Extension,
    giver: Role,
    bits: usize,
    widths: &[usize],
) -> [Conversation; 2] {
    let ots = Ots {
        extension,
        sender: giver,
    };
    let offline = calls(bits).map(|count| ots.random(count));
    let offline = offline.fold(ots.setup(), Conversation::then);
    let online = Conversation::default()
        .says(giver.other(), bits.div_ceil(8) as u64)
        .says(giver, (bits * widths.iter().sum::<usize>()) as u64);
    [offline, online]
}

/// One party's part in the products of bits with the numbers of either.
pub(crate) enum Multiplier {
    /// The numbers are its own.
    Giver(Giver),
    /// They are the peer's.
    Chooser(Chooser),
}

impl Multiplier {
    /// Prepares the products of `bits` bits with numbers of each of the `givers`, for one of the
    /// parties.
    pub(crate) fn prepare(
        givers: impl Iterator<Item = Role>,
        bits: usize,
        base: BaseOts,
        role: Role,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Vec<Self>, Error> {
        let extension = extension(base);
        givers
            .map(|giver| {
                Ok(if giver == role {
                    Self::Giver(Giver::prepare(extension, AT_ONCE, bits, channel, rng)?)
                } else {
                    Self::Chooser(Chooser::prepare(extension, AT_ONCE, bits, channel, rng)?)
                })
            })
            .collect()
    }
}

/// This party's shares of the products of bits with `own` numbers, one column each, and with the
/// columns of the peer. `widths` are those of the own columns, and of the peer's. The receiver's
/// columns come first, and the sender's are added to the first of them.
pub(crate) fn multiply(
    multipliers: Vec<Multiplier>,
    shares: &Bits,
    mut own: Vec<Vec<u64>>,
    widths: [&[usize]; 2],
    channel: &mut Channel,
) -> Result<Vec<Vec<u64>>, Error> {
    let mut products = Vec::new();
    for multiplier in multipliers {
        let more = match multiplier {
            Multiplier::Giver(giver) => {
                giver.multiply(shares, &mut own, widths[0], channel)?;
                std::mem::take(&mut own)
            }
            Multiplier::Chooser(chooser) => chooser.multiply(shares, widths[1], channel)?,
        };
        if products.is_empty() {
            products = more;
        } else {
            add(&mut products, &more);
        }
    }
    Ok(products)
}

/// Adds `more` columns to the first of `columns`.
fn add(columns: &mut [Vec<u64>], more: &[Vec<u64>]) {
    for (column, more) in columns.iter_mut().zip(more) {
        for (share, more) in column.iter_mut().zip(more) {
            *share = share.wrapping_add(*more);
        }
    }
}

/// The party with numbers, and OTs to multiply them.
pub(crate) struct Giver {
    rows: Buffer<Block>,
    delta: Zeroizing<Block>,
}

/// The other party.
pub(crate) struct Chooser {
    choices: Bits,
    messages: Buffer<Block>,
}

impl Giver {
    /// Returns OTs for `count` bits, at most `at_once` at once; the peer calls
    /// [`Chooser::prepare`].
    fn prepare(
        extension: Extension,
        at_once: usize,
        count: usize,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Self, Error> {
        let mut ots = extension.set_up_sender(channel, rng)?;
        let mut rows = Buffer::zeroed(count);
        for rows in rows.chunks_mut(at_once) {
            rows.copy_from_slice(&ots.send(rows.len(), channel)?);
        }
        Ok(Self {
            rows,
            delta: ots.delta(),
        })
    }

    /// Replaces the `factors` by this party's shares of their products with the bits that it has
    /// `shares` of.
    fn multiply(
        self,
        shares: &Bits,
        factors: &mut [Vec<u64>],
        widths: &[usize],
        channel: &mut Channel,
    ) -> Result<(), Error> {
        let Self { mut rows, delta } = self;
        let mut swaps = vec![0; rows.len().div_ceil(8)];
        for message in swaps.chunks_mut(PER_MESSAGE) {
            channel.recv(message)?;
        }
        let swaps = Bits::from_bytes(&swaps, rows.len());
        for (row, swap) in rows.iter_mut().zip(swaps.iter()) {
            *row ^= *delta & Block::splat(swap);
        }
        let others = extension::random_messages(&mut rows, &delta);

        let mut sent = Vec::with_capacity(PER_MESSAGE * WHOLE);
        for first in (0..rows.len()).step_by(PER_MESSAGE) {
            let part = first..rows.len().min(first + PER_MESSAGE);
            for (k, (factors, width)) in factors.iter_mut().zip(widths).enumerate() {
                let factors = &mut factors[part.clone()];
                let words = words(k, &rows[part.clone()]).zip(words(k, &others[part.clone()]));
                let shares = part.clone().map(|lane| shares.get(lane));
                for ((factor, (x, other)), share) in factors.iter_mut().zip(words).zip(shares) {
                    let mask = u64::from(share).wrapping_neg();
                    // −w if the share is one.
                    let signed = (*factor ^ mask).wrapping_sub(mask);
                    let word = x.wrapping_sub(other).wrapping_add(signed);
                    sent.extend_from_slice(&word.to_le_bytes()[..*width]);
                    *factor = (*factor & mask).wrapping_sub(x);
                }
                channel.send(&sent)?;
                sent.clear();
            }
        }
        Ok(())
    }
}

impl Chooser {
    /// As [`Giver::prepare`].
    fn prepare(
        extension: Extension,
        at_once: usize,
        count: usize,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Self, Error> {
        let mut ots = extension.set_up_receiver(channel, rng)?;
        let (mut choices, mut messages) = (Bits::default(), Buffer::zeroed(count));
        for messages in messages.chunks_mut(at_once) {
            let chosen = ots.receive(messages.len(), channel)?;
            choices.append(&Bits::from_blocks(&chosen.choices, messages.len()));
            messages.copy_from_slice(&chosen.messages);
        }
        Ok(Self { choices, messages })
    }

    /// This party's shares of the products with each of the peer's factors, of these widths.
    fn multiply(
        self,
        shares: &Bits,
        widths: &[usize],
        channel: &mut Channel,
    ) -> Result<Vec<Vec<u64>>, Error> {
        let Self {
            choices,
            mut messages,
        } = self;
        for message in (&choices ^ shares).to_bytes().chunks(PER_MESSAGE) {
            channel.send(message)?;
        }
        extension::random_message(&mut messages);
        let lanes = messages.len();
        let mut products: Vec<Vec<u64>> = iter::repeat_with(|| Vec::with_capacity(lanes))
            .take(widths.len())
            .collect();
        let mut sent = vec![0; lanes.min(PER_MESSAGE) * WHOLE];
        for first in (0..lanes).step_by(PER_MESSAGE) {
            let part = first..lanes.min(first + PER_MESSAGE);
            for (k, (products, width)) in products.iter_mut().zip(widths).enumerate() {
                let sent = &mut sent[..part.len() * width];
                channel.recv(sent)?;
                let sent = sent.chunks_exact(*width).map(|bytes| {
                    let mut word = [0; WHOLE];
                    word[..*width].copy_from_slice(bytes);
                    u64::from_le_bytes(word)
                });
                let shares = part.clone().map(|lane| shares.get(lane));
                let words = words(k, &messages[part.clone()]);
                products.extend(words.zip(sent).zip(shares).map(|((word, sent), share)| {
                    word.wrapping_add(sent & u64::from(share).wrapping_neg())
                }));
            }
        }
        Ok(products)
    }
}

/// Returns G_k of messages: pairwise different inputs of the hash, as the messages are random.
fn words(k: usize, messages: &[Block]) -> impl Iterator<Item = u64> {
    let stretched = messages.iter().map(|m| *m ^ Block(k as u128)).collect();
    let mut stretched: Zeroizing<Vec<Block>> = Zeroizing::new(stretched);
    crhf::correlation_robust(&mut stretched);
    (0..messages.len()).map(move |i| stretched[i].0 as u64)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use proptest::{collection::vec, prelude::*};
    use psijoin_channel::memory;

    use super::*;

    const OTS: Extension = Extension::SILENT;

    /// Returns the shares of the products of r ⊕ s with two numbers, lane by lane, giver first.
    fn run(at_once: usize, lanes: &[(bool, bool, [u64; 2])]) -> Vec<[[u64; 2]; 2]> {
        run_wide([WHOLE; 2], at_once, lanes)
    }

    /// As [`run`], for factors of these widths.
    fn run_wide(
        widths: [usize; 2],
        at_once: usize,
        lanes: &[(bool, bool, [u64; 2])],
    ) -> Vec<[[u64; 2]; 2]> {
        let given: Bits = lanes.iter().map(|(r, _, _)| *r).collect();
        let chosen: Bits = lanes.iter().map(|(_, s, _)| *s).collect();
        let mut factors = [0, 1].map(|k| lanes.iter().map(|lane| lane.2[k]).collect());
        let (mut giving, mut choosing) = memory::pair();
        let count = lanes.len();
        let (given, chosen) = thread::scope(|scope| {
            let giver = scope.spawn(move || {
                Giver::prepare(OTS, at_once, count, &mut giving, &mut Prg::from_os())
                    .and_then(|giver| giver.multiply(&given, &mut factors, &widths, &mut giving))
                    .unwrap();
                factors
            });
            let chosen = Chooser::prepare(OTS, at_once, count, &mut choosing, &mut Prg::from_os())
                .and_then(|chooser| chooser.multiply(&chosen, &widths, &mut choosing))
                .unwrap();
            (giver.join().unwrap(), chosen)
        });
        (0..count)
            .map(|lane| {
                [
                    [given[0][lane], given[1][lane]],
                    [chosen[0][lane], chosen[1][lane]],
                ]
            })
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn shares_of_products_add_up(lanes in vec(any::<(bool, bool, [u64; 2])>(), 1..300)) {
            for ((r, s, numbers), [given, chosen]) in lanes.iter().zip(run(AT_ONCE, &lanes)) {
                for k in [0, 1] {
                    let product = if r ^ s { numbers[k] } else { 0 };
                    prop_assert_eq!(given[k].wrapping_add(chosen[k]), product);
                }
            }
        }
    }

    #[test]
    fn narrow_shares_add_up_modulo_their_width() {
        let lanes: Vec<_> = (0..300_u64)
            .map(|i| (i % 3 == 0, i % 5 < 2, [1, i.wrapping_mul(0x0123_4567_89ab)]))
            .collect();
        for widths in [[5, 8], [1, 3]] {
            let shares = run_wide(widths, AT_ONCE, &lanes);
            for ((r, s, numbers), [given, chosen]) in lanes.iter().zip(shares) {
                for k in [0, 1] {
                    let product = if r ^ s { numbers[k] } else { 0 };
                    let sum = given[k].wrapping_add(chosen[k]);
                    let beyond = 8 * (WHOLE - widths[k]);
                    assert_eq!(sum << beyond, product << beyond, "{widths:?}");
                }
            }
        }
    }

    #[test]
    fn shares_of_more_than_are_made_at_once_add_up() {
        const FEW: usize = 256;
        for count in [FEW - 1, FEW, FEW + 1, 2 * FEW + 1] {
            let lanes: Vec<_> = (0..count as u64)
                .map(|i| (i % 3 == 0, i % 5 < 2, [i, !i]))
                .collect();
            for ((r, s, numbers), [given, chosen]) in lanes.iter().zip(run(FEW, &lanes)) {
                let sums = [0, 1].map(|k| given[k].wrapping_add(chosen[k]));
                assert_eq!(sums, if r ^ s { *numbers } else { [0, 0] });
            }
        }
    }

    /// Of 64 random bits each: equal ones are rarer than any failure.
    #[test]
    fn shares_tell_nothing_alone() {
        let shares = run(AT_ONCE, &[(true, false, [1, 1]); 500]);
        for party in [0, 1] {
            let distinct: std::collections::BTreeSet<u64> =
                shares.iter().flat_map(|shares| shares[party]).collect();
            assert_eq!(distinct.len(), 2 * shares.len());
        }
    }
}
