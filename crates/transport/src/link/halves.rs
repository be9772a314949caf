//! The caller's side of a link.

use std::{sync::Arc, time::Instant};

use psijoin_channel::{AbortCode, Error, Inbound, Outbound, turns};

use super::{Link, State};
use crate::frame::encode_data;

/// The sending half of a connection's channel.
pub(crate) struct LinkOutbound(pub(crate) Arc<Link>);

/// The receiving half of a connection's channel.
pub(crate) struct LinkInbound(pub(crate) Arc<Link>);

impl Outbound for LinkOutbound {
    fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        let link = &*self.0;
        link.bond.has_called();
        turns::give_way(message.len());
        let mut state = link.lock();
        if let Some(error) = no_sending(&state) {
            return Err(error);
        }
        if state.outgoing.is_full() {
            drop(state);
            turns::while_waiting_to_send(|| link.wait_for_room())?;
            state = link.lock();
        }
        if state
            .outgoing
            .gather(message.len(), |buffer| encode_data(message, buffer))
        {
            return Ok(());
        }
        let mut buffer = state.outgoing.take_spare();
        // The lock is not held for a copy that may be long. Room is not lost meanwhile: this
        // half is the only one that sends.
        drop(state);
        encode_data(message, &mut buffer);
        let mut state = link.lock();
        if let Some(error) = no_sending(&state) {
            // The frames before it may have been dropped.
            return Err(error);
        }
        let was_empty = state.outgoing.is_empty();
        state.outgoing.push(buffer);
        if was_empty {
            link.work_to_write.notify_one();
        }
        Ok(())
    }

    fn abort(&mut self, code: AbortCode) {
        self.0.abort(code);
    }
}

impl Link {
    /// Waits until something can be sent. Nobody else sends, so there is room afterwards.
    fn wait_for_room(&self) -> Result<(), Error> {
        let (started, mut state) = (Instant::now(), self.lock());
        loop {
            if let Some(error) = no_sending(&state) {
                return Err(error);
            }
            if !state.outgoing.is_full() {
                return Ok(());
            }
            state = self.wait_for_peer(state, &self.room_to_send, started)?;
        }
    }

    /// Returns the next message; `None` if there is none yet.
    fn take_message(&self, state: &mut State) -> Option<Result<Vec<u8>, Error>> {
        if let Some(error) = &state.ended_here {
            return Some(Err(error.clone()));
        }
        let was_full = state.incoming.is_full();
        if let Some(received) = state.incoming.pop() {
            if was_full && !state.incoming.is_full() {
                self.room_to_receive.notify_one();
            }
            return Some(Ok(received));
        }
        let ended = state.ended_there.clone();
        let ended = ended.or(state.peer_is_done.then_some(Error::Closed));
        ended.map(Err)
    }

    /// Waits for the next message.
    fn wait_for_message(&self) -> Result<Vec<u8>, Error> {
        let (started, mut state) = (Instant::now(), self.lock());
        loop {
            if let Some(taken) = self.take_message(&mut state) {
                return taken;
            }
            state = self.wait_for_peer(state, &self.arrival, started)?;
        }
    }
}

/// Returns why nothing can be sent, if so.
fn no_sending(state: &State) -> Option<Error> {
    let ended = state.ended_here.as_ref().or(state.ended_there.as_ref());
    ended
        .cloned()
        .or((state.peer_is_done || state.farewell.is_some()).then_some(Error::Closed))
}

impl Inbound for LinkInbound {
    fn recv(&mut self, message: &mut [u8]) -> Result<(), Error> {
        let received = self.next()?;
        if received.len() != message.len() {
            return Err(Error::MessageLength {
                expected: message.len(),
                received: received.len(),
            });
        }
        message.copy_from_slice(&received);
        self.0.lock().incoming.recycle(received);
        Ok(())
    }
}

impl LinkInbound {
    fn next(&mut self) -> Result<Vec<u8>, Error> {
        let link = &*self.0;
        link.bond.has_called();
        let taken = link.take_message(&mut link.lock());
        match taken {
            Some(taken) => taken,
            None => turns::while_waiting(|| link.wait_for_message()),
        }
    }
}
