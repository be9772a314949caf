//! OT of chosen messages: a random OT whose keys mask the sender's messages.
//!
//! Cost on top of the random OT: one flight of 32 bytes per OT from the sender.

use psijoin_block::Block;
use psijoin_channel::Channel;

use crate::{
    Error,
    iknp::{Model, Receiver, Sender},
};

/// OTs whose masked messages travel together: 256 KiB.
const OTS_PER_MESSAGE: usize = 8192;

/// Returns the number of bytes that the sender sends for `count` OTs, on top of those of the random
/// OTs.
pub const fn sender_bytes(count: usize) -> u64 {
    (count * 2 * Block::BYTES) as u64
}

/// Sends one of each pair of messages, not knowing which.
pub fn send<M: Model>(
    messages: &[[Block; 2]],
    ots: &mut Sender<M>,
    channel: &mut Channel,
) -> Result<(), Error> {
    let mut keys = vec![[Block::ZERO; 2]; messages.len()];
    ots.random(&mut keys, channel)?;
    for (key, message) in keys.iter_mut().zip(messages) {
        *key = [key[0] ^ message[0], key[1] ^ message[1]];
    }
    for masked in keys.chunks(OTS_PER_MESSAGE) {
        channel.send(bytemuck::cast_slice(masked))?;
    }
    Ok(())
}

/// Receives, of each pair, the message that the bit of `choices` selects (as in
/// [`Receiver::correlated`]).
///
/// # Panics
/// If there are fewer choices than messages.
pub fn receive<M: Model>(
    choices: &[Block],
    out: &mut [Block],
    ots: &mut Receiver<M>,
    channel: &mut Channel,
) -> Result<(), Error> {
    ots.random(choices, out, channel)?;
    let mut masked = vec![[Block::ZERO; 2]; out.len().min(OTS_PER_MESSAGE)];
    for (chunk, out) in out.chunks_mut(OTS_PER_MESSAGE).enumerate() {
        let masked = &mut masked[..out.len()];
        channel.recv(bytemuck::cast_slice_mut(masked))?;
        for (i, (key, pair)) in out.iter_mut().zip(masked).enumerate() {
            let position = chunk * OTS_PER_MESSAGE + i;
            let choice = choices[position / Block::BITS].bit(position % Block::BITS);
            *key ^= pair[0] ^ (Block::splat(choice) & (pair[0] ^ pair[1]));
        }
    }
    Ok(())
}
