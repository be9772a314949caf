//! Carrying bytes through a buffer, from any framing to any other.

use psijoin_transport::websocket::{Decoder, Event};

use super::{PIECE_BYTES, Pair, Why};

/// Carries what comes from one side until it ends. `decoder` is that of its framing, if it has one.
pub(super) fn through_buffer(
    pair: &Pair,
    from: usize,
    mut decoder: Option<Decoder>,
) -> Result<(), Why> {
    let to = 1 - from;
    let mut buffer = vec![0; PIECE_BYTES];
    loop {
        pair.check(from)?;
        pair.answer_ping(to)?;
        let length = match pair.read(from, &mut buffer)? {
            None => continue,
            Some(0) => return Ok(()),
            Some(length) => length,
        };
        pair.moves(from, length);
        let Some(decoder) = &mut decoder else {
            pair.write(to, &buffer[..length])?;
            continue;
        };
        let mut input = &mut buffer[..length];
        while let Some(event) = decoder.next_event(&mut input).map_err(|_| Why::Malformed)? {
            match event {
                Event::Data(bytes) => pair.write(to, bytes)?,
                Event::Ping(content) => pair.is_pinged(from, content),
                Event::Pong(_) => {}
                Event::Close(_) => return Ok(()),
            }
        }
    }
}
