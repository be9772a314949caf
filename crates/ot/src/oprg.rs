//! Oblivious pseudorandom generator (PSZ14 §4.3): at each place the sender gets a random string,
//! and the receiver gets it too where its choice is one. The sender does not learn the choices;
//! the receiver knows nothing about the other strings.
//!
//! It is random OT with one message of each pair never looked at: the sender computes only that for
//! choice one, H(q_j ⊕ Δ), and the receiver ignores what it gets for choice zero. Bytes and
//! security are those of the [extension](crate::extension) under it, which is semi-honest and has
//! 127 secret bits of Δ. Places are numbered, so that no two of a session are hashed alike.

use psijoin_block::Block;
use psijoin_channel::Channel;
use psijoin_runtime::parallel;

use crate::{
    Error,
    extension::{Receiver, Sender},
    iknp::{Model, ROWS_PER_TASK, SemiHonest, hash_rows},
};

/// Writes a string for each place of `out`. The first place has the number `first`.
///
/// # Errors
/// If the channel breaks.
pub fn send(
    sender: &mut Sender,
    first: usize,
    out: &mut [Block],
    channel: &mut Channel,
) -> Result<(), Error> {
    sender.send_chosen(out, channel)?;
    let delta = sender.delta();
    parallel::chunks_mut(out, ROWS_PER_TASK, &|range, rows| {
        rows.iter_mut().for_each(|row| *row ^= *delta);
        SemiHonest::hash((first + range.start) as u64, rows);
    });
    Ok(())
}

/// Writes the sender's string at each place of `out` where the choice (bit j mod 128 of block j /
/// 128) is one, and a string that the sender does not look at elsewhere.
///
/// # Errors
/// If the channel breaks.
///
/// # Panics
/// If the number of blocks is not what the choices take.
pub fn receive(
    receiver: &mut Receiver,
    first: usize,
    choices: &[Block],
    out: &mut [Block],
    channel: &mut Channel,
) -> Result<(), Error> {
    receiver.receive_chosen(choices, out, channel)?;
    hash_rows::<SemiHonest>(first as u64, out);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::thread;

    use psijoin_block::Prg;
    use psijoin_channel::{count::counted, memory};

    use super::*;
    use crate::extension::Extension;

    /// Tests two calls after one setup.
    fn check(extension: Extension) {
        for count in [1, 127, 128, 9000_usize] {
            let (sender, mut receiver) = memory::pair();
            let (mut sender, counters) = counted(sender);
            let mut choices = vec![Block::ZERO; count.div_ceil(Block::BITS)];
            Prg::from_seed(Block(1)).fill(&mut choices);
            let choices = &choices;
            let (sent, received) = thread::scope(|scope| {
                let senders = scope.spawn(move || {
                    let rng = &mut Prg::from_seed(Block(2));
                    let mut ots = extension.set_up_sender(&mut sender, rng).unwrap();
                    [0, count].map(|first| {
                        let mut strings = vec![Block::ZERO; count];
                        send(&mut ots, first, &mut strings, &mut sender).unwrap();
                        strings
                    })
                });
                let rng = &mut Prg::from_seed(Block(3));
                let mut ots = extension.set_up_receiver(&mut receiver, rng).unwrap();
                let received = [0, count].map(|first| {
                    let mut strings = vec![Block::ZERO; count];
                    receive(&mut ots, first, choices, &mut strings, &mut receiver).unwrap();
                    strings
                });
                (senders.join().unwrap(), received)
            });
            assert!(sent[0] != sent[1], "fresh strings");
            for (sent, received) in sent.iter().zip(&received) {
                for (j, (sent, received)) in sent.iter().zip(received).enumerate() {
                    assert_eq!(sent == received, choices[j / 128].bit(j % 128), "{j}");
                }
            }
            assert_eq!(counters.snapshot().flights, 1 + extension.chosen_flights(2));
        }
    }

    #[test]
    fn both_have_the_same_strings_where_the_receiver_chose_them() {
        check(Extension::IKNP);
        check(Extension::SILENT);
    }
}
