//! The reading thread of a link.

use std::{sync::Arc, time::Instant};

use psijoin_channel::Error;

use super::{Link, UNPOISONED};
use crate::{
    frame::{Decoder, Frame},
    wire::{Received, Wire, WireReader},
};

/// Runs the reading thread, which takes the peer's frames until nothing more comes or is wanted.
pub(crate) fn read_until_the_end(link: &Link, wire: Arc<Wire>) {
    let ended = read(link, WireReader::new(wire));
    let mut state = link.lock();
    state.has_reader_ended = true;
    match ended {
        Ok(()) => drop(state),
        Err(error) => link.lose(state, link.blame(error)),
    }
    link.tell_everyone();
}

fn read(link: &Link, mut wire: WireReader) -> Result<(), Error> {
    let mut decoder = Decoder::new();
    loop {
        match wire.read()? {
            Received::Bytes(mut bytes) => {
                link.lock().last_heard = Instant::now();
                while let Some(frame) = decoder.next_frame(&mut bytes).map_err(Error::Malformed)? {
                    if let Some(spare) = link.take(frame)? {
                        decoder.recycle(spare);
                    }
                }
            }
            Received::Nothing if link.lock().is_stopped => return Ok(()),
            Received::Nothing => {}
            Received::End if link.lock().peer_is_done => return Ok(()),
            Received::End => return Err(Error::Closed),
        }
        if wire.has_answer() {
            link.lock().has_answer = true;
            link.work_to_write.notify_one();
        }
    }
}

impl Link {
    /// Takes one frame from the peer, and gives a buffer to reuse if it has one.
    fn take(&self, frame: Frame) -> Result<Option<Vec<u8>>, Error> {
        match frame {
            Frame::Data(message) => self.deliver(message),
            Frame::KeepAlive => Ok(None),
            Frame::Abort(code) => Err(Error::PeerAborted(code)),
            Frame::Bye => {
                self.lock().peer_is_done = true;
                self.tell_everyone();
                Ok(None)
            }
        }
    }

    /// Puts a message into the incoming lane as soon as there is room.
    fn deliver(&self, message: Vec<u8>) -> Result<Option<Vec<u8>>, Error> {
        let mut state = self.lock();
        if state.peer_is_done {
            return Err(Error::Malformed("a message after the peer's last"));
        }
        if state.incoming.is_full() {
            state = self
                .room_to_receive
                .wait_while(state, |state| state.incoming.is_full() && !state.discards())
                .expect(UNPOISONED);
            // The silence was this party's own.
            state.last_heard = Instant::now();
        }
        if state.discards() {
            return Ok(Some(message));
        }
        let was_empty = state.incoming.is_empty();
        state.incoming.push(message);
        if was_empty {
            self.arrival.notify_one();
        }
        Ok(Some(state.incoming.take_spare()))
    }
}
