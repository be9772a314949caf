//! The state of one connection that a caller, a reading thread and a writing thread share.
//!
//! The caller's messages wait in the outgoing [`Lane`] for the writing thread, the peer's in
//! the incoming lane for the caller. Both are bounded: a caller that is too fast waits, and
//! a peer that is too fast finds its socket full.
//!
//! # Whose end counts
//! This party's decisions (abort, interrupt, close) count at once. Those of the peer count after
//! the messages that it had sent before.
//!
//! # Time
//! A wait for the peer ends after [`Timeouts::idle`](crate::Timeouts::idle) without a single
//! byte from it. A peer that works is never silent for that long, since its writing thread sends
//! keep-alives.
//!
//! The writing thread runs even if the caller is stuck, so it vouches only for a caller that makes
//! progress: one that waits for the peer, calls the channel, or has a [`Pulse`] that changes.
//!
//! # Several links
//! The links of one session share a [`Bond`].

use std::{
    fmt,
    sync::{Arc, Condvar, Mutex, MutexGuard},
    time::{Duration, Instant},
};

use psijoin_channel::{AbortCode, Error};

use crate::{Pulse, Timeouts};

use bond::End;
use lane::Lane;

mod bond;
mod countdown;
mod halves;
mod lane;
mod reader;
mod writer;

pub(crate) use bond::Bond;
pub(crate) use countdown::Countdown;
pub(crate) use halves::{LinkInbound, LinkOutbound};
pub(crate) use reader::read_until_the_end;
pub(crate) use writer::write_until_the_end;

/// The time for which a party that ends a connection waits for its last words to reach the peer.
pub(crate) const LINGER: Duration = Duration::from_secs(1);

/// See the [module](self).
pub(crate) struct Link {
    timeouts: Timeouts,
    pulse: Option<Pulse>,
    bond: Arc<Bond>,
    /// `true` if nobody stands between the parties, as far as is known.
    is_direct: bool,
    /// `true` if one direction may end before the other on all of the way.
    half_closes: bool,
    state: Mutex<State>,
    /// Notified when the outgoing lane is no longer full.
    room_to_send: Condvar,
    /// Notified when the writing thread has something to do.
    work_to_write: Condvar,
    /// Notified when the incoming lane is no longer empty.
    arrival: Condvar,
    /// Notified when the incoming lane is no longer full.
    room_to_receive: Condvar,
    /// Notified, with all who wait, when a side or a thread has ended.
    end: Condvar,
}

struct State {
    outgoing: Lane,
    incoming: Lane,
    last_heard: Instant,
    /// `true` if TLS has something to send.
    has_answer: bool,
    /// The last frame of this party.
    farewell: Option<Farewell>,
    /// The reason that this party has ended the link.
    ended_here: Option<Error>,
    /// The reason that nothing more comes from the peer, or goes to it.
    ended_there: Option<Error>,
    /// The peer has said that it is done.
    peer_is_done: bool,
    /// `true` if nothing goes to the peer any more; reading continues, to learn why.
    is_writing_broken: bool,
    /// The threads are to end, whatever they do.
    is_stopped: bool,
    has_reader_ended: bool,
    has_writer_ended: bool,
}

/// The last frame of a party.
#[derive(Clone, Copy, Debug)]
enum Farewell {
    /// It is done.
    Bye,
    /// It gives up.
    Abort(AbortCode),
    /// Nothing.
    Silent,
}

impl State {
    /// Returns whether what the peer sends is no longer of use.
    fn discards(&self) -> bool {
        self.ended_here.is_some() || self.is_writing_broken || self.is_stopped
    }

    /// Ends the link on behalf of this party, if it has not ended yet.
    fn end_here(&mut self, reason: Error, farewell: Farewell) {
        self.ended_here.get_or_insert(reason);
        self.farewell.get_or_insert(farewell);
    }

    fn have_threads_ended(&self) -> bool {
        self.has_reader_ended && self.has_writer_ended
    }
}

impl Link {
    /// Returns a link of the session of `bond`.
    pub(crate) fn new(
        timeouts: Timeouts,
        pulse: Option<Pulse>,
        bond: &Arc<Bond>,
        is_direct: bool,
        half_closes: bool,
    ) -> Arc<Self> {
        let link = Arc::new(Self {
            timeouts,
            pulse,
            bond: bond.clone(),
            is_direct,
            half_closes,
            state: Mutex::new(State {
                outgoing: Lane::default(),
                incoming: Lane::default(),
                last_heard: Instant::now(),
                has_answer: false,
                farewell: None,
                ended_here: None,
                ended_there: None,
                peer_is_done: false,
                is_writing_broken: false,
                is_stopped: false,
                has_reader_ended: false,
                has_writer_ended: false,
            }),
            room_to_send: Condvar::new(),
            work_to_write: Condvar::new(),
            arrival: Condvar::new(),
            room_to_receive: Condvar::new(),
            end: Condvar::new(),
        });
        bond.join(&link);
        link
    }

    /// Gives up, and waits a moment until the peer has heard.
    pub(crate) fn abort(&self, code: AbortCode) {
        let end = self.bond.seal(End {
            reason: Error::EndedElsewhere,
            farewell: Farewell::Abort(code),
        });
        self.lock().end_here(Error::Closed, end.farewell);
        self.tell_everyone();
        self.bond.end_others(self, &end);
        let deadline = Instant::now() + LINGER;
        for link in self.bond.links() {
            link.wait_until_told(deadline);
        }
    }

    /// Ends at once because another link of the session has, without what still waits to be sent;
    /// with it if this party was done already.
    fn end_too(&self, End { reason, farewell }: End) {
        let mut state = self.lock();
        if state.farewell.is_none() {
            state.outgoing.clear();
        }
        state.end_here(reason, farewell);
        self.tell_everyone();
    }

    /// Returns why the session has ended, if it has not ended well. A peer that is done has done
    /// its part.
    pub(crate) fn failed(&self) -> Option<Error> {
        let state = self.lock();
        let lost = state.ended_there.as_ref().filter(|_| !state.peer_is_done);
        state.ended_here.as_ref().or(lost).cloned()
    }

    /// Returns how the session has ended: well, if the peer is done. `None` while it lasts.
    pub(crate) fn ended(&self) -> Option<Result<(), Error>> {
        let state = self.lock();
        let failed = state.ended_here.as_ref().or(state.ended_there.as_ref());
        match state.peer_is_done {
            true => Some(Ok(())),
            false => failed.cloned().map(Err),
        }
    }

    /// Gives up at once, without what still waits to be sent.
    pub(crate) fn interrupt(&self, code: AbortCode) {
        let farewell = Farewell::Abort(code);
        // The others are interrupted as well, but the peer may be quicker.
        self.bond.seal(End {
            reason: Error::Interrupted,
            farewell,
        });
        let mut state = self.lock();
        if !state.outgoing.is_empty() {
            state.outgoing.clear();
            // A party that drops messages is not done, even if it was about to tell the peer so.
            if let Some(done @ Farewell::Bye) = &mut state.farewell {
                *done = farewell;
            }
        }
        state.end_here(Error::Interrupted, farewell);
        self.tell_everyone();
    }

    /// Waits until the peer has heard how this party ended the link, at most until
    /// `deadline`.
    pub(crate) fn wait_until_told(&self, deadline: Instant) {
        drop(self.wait_for_threads(deadline, |state| state.has_writer_ended));
    }

    /// Says that this party is done, after all that waits to be sent, and does not wait for
    /// that.
    pub(crate) fn say_bye(&self) {
        let mut state = self.lock();
        if state.ended_here.is_none() && state.farewell.is_none() {
            state.farewell = Some(Farewell::Bye);
            // A caller that waits for room to send waits in vain.
            self.tell_everyone();
        }
    }

    /// Says that this party is done, for [`finish`](Self::finish) to wait for the peer.
    pub(crate) fn take_leave(&self) -> Result<(), Error> {
        self.leave(self.lock()).map(drop)
    }

    /// Tells the peer that this party is done, and waits until the peer is done too.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        let mut state = self.lock();
        let started = Instant::now();
        loop {
            state = self.leave(state)?;
            if state.peer_is_done {
                // The peer needs this party's word too, but has got all data without it.
                drop(state);
                self.wait_until_told(Instant::now() + LINGER);
                return Ok(());
            }
            if let Some(error) = &state.ended_there {
                return Err(error.clone());
            }
            state = self.wait_for_peer(state, &self.arrival, started)?;
        }
    }

    /// Says that this party is done, unless it ended otherwise, or the peer has said too much.
    fn leave<'a>(&self, mut state: MutexGuard<'a, State>) -> Result<MutexGuard<'a, State>, Error> {
        if let Some(error) = &state.ended_here {
            return Err(error.clone());
        }
        if !state.incoming.is_empty() {
            let reason = Error::Malformed("a message after the end of the protocol");
            return Err(self.give_up(state, reason, AbortCode::ProtocolViolation));
        }
        if state.farewell.is_none() {
            state.farewell = Some(Farewell::Bye);
            self.work_to_write.notify_all();
        }
        Ok(state)
    }

    /// Ends this link and all others for this reason, unless there was one before. Gives the
    /// reason.
    fn give_up(&self, mut state: MutexGuard<'_, State>, reason: Error, code: AbortCode) -> Error {
        let farewell = Farewell::Abort(code);
        let end = self.bond.seal(End { reason, farewell });
        state.end_here(end.reason.clone(), end.farewell);
        self.tell_everyone();
        drop(state);
        self.bond.end_others(self, &end);
        end.reason
    }

    /// Ends the link without a word if it has not ended yet.
    pub(crate) fn hang_up(&self) {
        self.lock().end_here(Error::Closed, Farewell::Silent);
        self.tell_everyone();
    }

    /// Waits until the peer has taken what was sent, at most until `deadline`. After that the
    /// threads are ending.
    pub(crate) fn close(&self, deadline: Instant) {
        // Closing a socket with unread bytes would destroy what is on its way to the peer.
        self.wait_for_threads(deadline, State::have_threads_ended)
            .is_stopped = true;
        self.tell_everyone();
    }

    /// Notes that nothing more comes from the peer, or goes to it.
    fn lose(&self, mut state: MutexGuard<'_, State>, error: Error) {
        // An event after an end is no reason for another one.
        if state.ended_here.is_some() || state.peer_is_done {
            state.ended_there.get_or_insert(error);
            return;
        }
        let end = self.bond.seal(End::lost(error));
        state.ended_there.get_or_insert_with(|| end.reason.clone());
        drop(state);
        self.bond.end_others(self, &end);
    }

    /// Returns an error of the connection as one of this link: who has hung up is not known where
    /// somebody stands between.
    fn blame(&self, error: Error) -> Error {
        match error {
            Error::Closed if !self.is_direct => Error::Cut,
            error => error,
        }
    }

    /// Waits for a change that `condvar` reports, or fails after hearing nothing for too long
    /// since the wait has `started`.
    fn wait_for_peer<'a>(
        &self,
        state: MutexGuard<'a, State>,
        condvar: &Condvar,
        started: Instant,
    ) -> Result<MutexGuard<'a, State>, Error> {
        let idle = self.timeouts.idle;
        let quiet_since = started.max(state.last_heard);
        let left = idle.saturating_sub(quiet_since.elapsed());
        if left.is_zero() {
            return Err(self.give_up(state, Error::TimedOut(idle), AbortCode::TimedOut));
        }
        let wait = || condvar.wait_timeout(state, left).expect(UNPOISONED).0;
        Ok(self.bond.waits(wait))
    }

    /// Waits until the link is over, because this party has ended it or the peer is done. Fails if
    /// it ends otherwise, or after hearing nothing for too long.
    ///
    /// Whoever waits so waits for nothing that the peer has to do next, so it vouches for nobody.
    pub(crate) fn wait_until_over(&self) -> Result<(), Error> {
        let (mut listens_since, mut state) = (Instant::now(), self.lock());
        loop {
            match &state.ended_here {
                Some(Error::Closed | Error::EndedElsewhere) => return Ok(()),
                Some(error) => return Err(error.clone()),
                None if state.peer_is_done => return Ok(()),
                None => {}
            }
            if let Some(error) = &state.ended_there {
                return Err(error.clone());
            }
            if !state.incoming.is_empty() {
                // Nothing more may be read until the caller takes that.
                listens_since = Instant::now();
            }
            let idle = self.timeouts.idle;
            let quiet_since = listens_since.max(state.last_heard);
            let left = idle.saturating_sub(quiet_since.elapsed());
            if left.is_zero() {
                return Err(self.give_up(state, Error::TimedOut(idle), AbortCode::TimedOut));
            }
            state = self.end.wait_timeout(state, left).expect(UNPOISONED).0;
        }
    }

    /// Waits until the threads are as far as `is_enough` demands, at most until `deadline`.
    fn wait_for_threads(
        &self,
        deadline: Instant,
        is_enough: impl Fn(&State) -> bool,
    ) -> MutexGuard<'_, State> {
        let limit = deadline.saturating_duration_since(Instant::now());
        self.end
            .wait_timeout_while(self.lock(), limit, |state| !is_enough(state))
            .expect(UNPOISONED)
            .0
    }

    fn tell_everyone(&self) {
        for condvar in [
            &self.room_to_send,
            &self.work_to_write,
            &self.arrival,
            &self.room_to_receive,
            &self.end,
        ] {
            condvar.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect(UNPOISONED)
    }
}

const UNPOISONED: &str = "no thread panics while it holds this lock";

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").finish_non_exhaustive()
    }
}
