//! Products of a shared bit with a number of one party, as shares mod 2^64.
//!
//! The bit is r ⊕ s, of which the *giver* has r, and a number w; the *chooser* has s. Then
//! (r ⊕ s)·w = r·w + s·(1 − 2r)·w: a correlated OT (Gilboa, CRYPTO 1999), in which the chooser gets
//! x, or x + (1 − 2r)·w if s = 1, and the giver keeps r·w − x.
//!
//! OTs of random choices c come from silent OT, with messages m_0 and m_1. The chooser sends
//! c ⊕ s, by which the giver swaps the messages; the giver sends m_0 − m_1 + (1 − 2r)·w, and x is
//! m_0.
//!
//! **Security**: semi-honest. c hides s, and the message that the chooser does not have hides the
//! number. **Cost** of a product: a bit and 64 bits, in two flights, the chooser's first.

use psijoin_block::{Block, Prg, memory::Buffer};
use psijoin_channel::Channel;
use psijoin_circuit::{Bits, Lanes};
use psijoin_ot::{
    extension::{self, Extension, Silent},
    silent::Chosen,
};

use crate::{Error, Traffic};

/// Products that travel together: 64 KiB.
const PER_MESSAGE: usize = 1 << 13;

/// What so many products cost, offline and online, if the chooser is the sender of the PSI, and the
/// last to have spoken before.
pub(super) fn traffic(count: usize) -> [Traffic; 2] {
    [
        Traffic {
            sender_bytes: Silent::SETUP_RECEIVER_BYTES + Silent::receiver_bytes(count),
            receiver_bytes: Silent::SETUP_SENDER_BYTES + Silent::sender_bytes(count),
            rounds: 3,
        },
        Traffic {
            sender_bytes: count.div_ceil(8) as u64,
            receiver_bytes: (count * size_of::<u64>()) as u64,
            rounds: 1,
        },
    ]
}

/// The party with numbers, and OTs to multiply them.
pub(crate) struct Giver {
    rows: Buffer<Block>,
    delta: Block,
}

/// The other party.
pub(crate) struct Chooser(Chosen);

impl Giver {
    /// OTs for `count` products; the peer calls [`Chooser::prepare`].
    pub(super) fn prepare(
        count: usize,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Self, Error> {
        let mut ots = Silent::set_up_sender(channel, rng)?;
        Ok(Self {
            rows: Silent::send(&mut ots, count, channel)?,
            delta: Silent::delta(&ots),
        })
    }

    /// This party's shares of the products of bits, of which it has `shares`, and `numbers`.
    pub(super) fn products(
        self,
        shares: &Bits,
        numbers: impl Iterator<Item = u64>,
        channel: &mut Channel,
    ) -> Result<Vec<u64>, Error> {
        let Self { mut rows, delta } = self;
        let mut swaps = vec![0; rows.len().div_ceil(8)];
        for message in swaps.chunks_mut(PER_MESSAGE) {
            channel.recv(message)?;
        }
        let swaps = Bits::from_bytes(&swaps, rows.len());
        for (row, swap) in rows.iter_mut().zip(swaps.iter()) {
            *row ^= delta & Block::splat(swap);
        }
        let others = extension::random_messages(&mut rows, delta);

        let mut products = Vec::with_capacity(rows.len());
        let mut sent = Vec::with_capacity(rows.len());
        let messages = rows.iter().zip(&*others);
        for (((zero, one), share), number) in messages.zip(shares.iter()).zip(numbers) {
            let (x, other) = (zero.0 as u64, one.0 as u64);
            let mask = u64::from(share).wrapping_neg();
            // −w if the share is one.
            let signed = (number ^ mask).wrapping_sub(mask);
            sent.push(x.wrapping_sub(other).wrapping_add(signed));
            products.push((number & mask).wrapping_sub(x));
        }
        for message in sent.chunks(PER_MESSAGE) {
            channel.send(bytemuck::cast_slice(message))?;
        }
        Ok(products)
    }
}

impl Chooser {
    /// As [`Giver::prepare`].
    pub(super) fn prepare(
        count: usize,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Self, Error> {
        let mut ots = Silent::set_up_receiver(channel, rng)?;
        Ok(Self(Silent::receive(&mut ots, count, channel)?))
    }

    /// This party's shares of the products.
    pub(super) fn products(self, shares: &Bits, channel: &mut Channel) -> Result<Vec<u64>, Error> {
        let Self(Chosen {
            choices,
            mut messages,
        }) = self;
        let choices = Bits::from_blocks(&choices, shares.lanes());
        for message in (&choices ^ shares).to_bytes().chunks(PER_MESSAGE) {
            channel.send(message)?;
        }
        extension::random_message(&mut messages);
        let mut sent = vec![0_u64; messages.len()];
        for message in sent.chunks_mut(PER_MESSAGE) {
            channel.recv(bytemuck::cast_slice_mut(message))?;
        }
        let products =
            (messages.iter().zip(sent).zip(shares.iter())).map(|((own, sent), share)| {
                let mask = u64::from(share).wrapping_neg();
                (own.0 as u64).wrapping_add(sent & mask)
            });
        Ok(products.collect())
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use proptest::{collection::vec, prelude::*};
    use psijoin_channel::memory;

    use super::*;

    fn run(lanes: &[(bool, bool, u64)]) -> Vec<(u64, u64)> {
        let given: Bits = lanes.iter().map(|(r, _, _)| *r).collect();
        let chosen: Bits = lanes.iter().map(|(_, s, _)| *s).collect();
        let numbers = lanes.iter().map(|(_, _, number)| *number);
        let (mut giving, mut choosing) = memory::pair();
        let count = lanes.len();
        let (given, chosen) = thread::scope(|scope| {
            let giver = scope.spawn(move || {
                Giver::prepare(count, &mut giving, &mut Prg::from_os())
                    .and_then(|giver| giver.products(&given, numbers, &mut giving))
                    .unwrap()
            });
            let chosen = Chooser::prepare(count, &mut choosing, &mut Prg::from_os())
                .and_then(|chooser| chooser.products(&chosen, &mut choosing))
                .unwrap();
            (giver.join().unwrap(), chosen)
        });
        given.into_iter().zip(chosen).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn shares_of_products_add_up(lanes in vec(any::<(bool, bool, u64)>(), 1..300)) {
            for ((r, s, number), (given, chosen)) in lanes.iter().zip(run(&lanes)) {
                let product = if r ^ s { *number } else { 0 };
                prop_assert_eq!(given.wrapping_add(chosen), product);
            }
        }
    }

    /// Of 64 random bits each: equal ones are rarer than any failure.
    #[test]
    fn shares_tell_nothing_alone() {
        let shares = run(&[(true, false, 1); 500]);
        for of in [|s: &(u64, u64)| s.0, |s: &(u64, u64)| s.1] {
            let distinct: std::collections::BTreeSet<u64> = shares.iter().map(of).collect();
            assert_eq!(distinct.len(), shares.len());
        }
    }
}
