//! The writing thread of a link.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use psijoin_channel::Error;

use super::{Farewell, LINGER, Link, State, UNPOISONED, bond::Bond};
use crate::{
    Pulse, frame,
    wire::{Wire, WireWriter},
};

/// Runs the writing thread, which sends what waits, keep-alives when nothing does, and the
/// farewell.
pub(crate) fn write_until_the_end(link: &Link, wire: Arc<Wire>) {
    let ended = write(link, wire);
    if let Err(error) = ended {
        // The peer may have said why before it went away.
        link.lock().is_writing_broken = true;
        link.tell_everyone();
        let deadline = Instant::now() + LINGER;
        let has_explained = |state: &State| state.has_reader_ended || state.is_stopped;
        link.lose(
            link.wait_for_threads(deadline, has_explained),
            link.blame(error),
        );
    }
    link.lock().has_writer_ended = true;
    link.tell_everyone();
}

fn write(link: &Link, wire: Arc<Wire>) -> Result<(), Error> {
    let mut wire = WireWriter::new(wire, || link.lock().is_stopped);
    let mut spare = None;
    let mut caller = Caller::new(link);
    loop {
        match link.next_work(spare.take(), &mut caller) {
            Work::Buffer(buffer) => {
                wire.write(&buffer)?;
                spare = Some(buffer);
            }
            Work::Answer => wire.answer()?,
            Work::KeepAlive => wire.write(&frame::keep_alive())?,
            Work::Farewell(farewell) => {
                match farewell {
                    Farewell::Bye => {
                        wire.say_last(&frame::bye())?;
                        link.wait_for_peers_bye();
                    }
                    Farewell::Abort(code) => wire.say_last(&frame::abort(code))?,
                    Farewell::Silent => wire.say_last(&[])?,
                }
                return wire.close();
            }
            Work::Stop => {
                // A peer that has ended waits for this. If it is gone, nobody has to be told.
                let _ = wire.say_last(&[]).and_then(|()| wire.close());
                return Ok(());
            }
        }
    }
}

/// The next work of the writing thread.
enum Work {
    Buffer(Vec<u8>),
    Answer,
    KeepAlive,
    Farewell(Farewell),
    Stop,
}

impl Link {
    /// Waits for something to do, taking back the buffer that was written last.
    fn next_work(&self, spare: Option<Vec<u8>>, caller: &mut Caller<'_>) -> Work {
        let mut state = self.lock();
        if let Some(spare) = spare {
            state.outgoing.recycle(spare);
        }
        loop {
            if state.is_stopped || state.ended_there.is_some() {
                return Work::Stop;
            }
            let was_full = state.outgoing.is_full();
            if let Some(buffer) = state.outgoing.pop() {
                if was_full && !state.outgoing.is_full() {
                    self.room_to_send.notify_one();
                }
                return Work::Buffer(buffer);
            }
            if std::mem::take(&mut state.has_answer) {
                return Work::Answer;
            }
            if let Some(farewell) = state.farewell {
                return Work::Farewell(farewell);
            }
            let (woken, timeout) = self
                .work_to_write
                .wait_timeout(state, self.timeouts.keep_alive)
                .expect(UNPOISONED);
            state = woken;
            if timeout.timed_out() && state.outgoing.is_empty() && state.farewell.is_none() {
                // The pulse is the caller's code, which this lock must not depend on.
                drop(state);
                if caller.works() {
                    return Work::KeepAlive;
                }
                state = self.lock();
            }
        }
    }

    /// Waits until the peer is done, too, or one of both has ended otherwise.
    ///
    /// Many a proxy takes the end of one direction for the end of both, and would cut off what the
    /// peer still has to say. So the end is told by a frame, and by TLS, and the connection itself
    /// stays open as long.
    fn wait_for_peers_bye(&self) {
        if self.half_closes {
            return;
        }
        let waits = |state: &mut State| {
            let has_peer_ended = state.peer_is_done || state.ended_there.is_some();
            !has_peer_ended && state.ended_here.is_none() && !state.is_stopped
        };
        let waited = self.work_to_write.wait_while(self.lock(), waits);
        drop(waited.expect(UNPOISONED));
    }
}

/// The caller's signs of life, for which the writing thread vouches.
struct Caller<'a> {
    bond: &'a Bond,
    pulse: Option<&'a Pulse>,
    /// The time for which a pulse may stand still.
    patience: Duration,
    /// The pulse and the number of calls when they were read last.
    progress: (u64, u64),
    worked_at: Instant,
}

impl<'a> Caller<'a> {
    fn new(link: &'a Link) -> Self {
        let pulse = link.pulse.as_ref();
        Self {
            bond: &link.bond,
            pulse,
            patience: link.timeouts.idle / 2,
            progress: (pulse.map_or(0, Pulse::read), 0),
            worked_at: Instant::now(),
        }
    }

    /// Returns whether the caller works, as far as is known.
    fn works(&mut self) -> bool {
        let Some(pulse) = self.pulse else {
            return true;
        };
        let progress = (pulse.read(), self.bond.calls());
        if self.bond.is_waiting() || progress != self.progress {
            self.progress = progress;
            self.worked_at = Instant::now();
        }
        self.worked_at.elapsed() < self.patience
    }
}
