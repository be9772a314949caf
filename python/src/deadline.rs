//! The time that a join has in a process that does not end with it. (The program's own deadline
//! ends the process: see the guard.)

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread,
    time::{Duration, Instant},
};

use psijoin_channel::AbortCode;
use psijoin_frontend::Failure;
use psijoin_session::{ErrorKind, Stop};

/// Stops a join when its time is over, unless it is lifted before.
pub(crate) struct Deadline {
    seconds: u32,
    watch: Arc<Watch>,
}

#[derive(Default)]
struct Watch {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Runs,
    Lifted,
    Passed,
}

impl Deadline {
    /// Stops the joins that have `stop` after this many seconds; the other party is told why.
    ///
    /// # Errors
    /// [`Failure::OUT_OF_MEMORY`] if the system gives no more threads.
    pub(crate) fn set(seconds: u32, stop: &Stop) -> Result<Self, Failure> {
        let watch = Arc::<Watch>::default();
        let (watching, stop) = (watch.clone(), stop.clone());
        let end = Instant::now() + Duration::from_secs(seconds.into());
        let thread = thread::Builder::new().name("psijoin-deadline".to_owned());
        let started = thread.spawn(move || {
            if watching.passes(end) {
                stop.progress().interrupt();
                stop.abort(AbortCode::DeadlinePassed);
            }
        });
        started.map_err(|_| Failure::OUT_OF_MEMORY)?;
        Ok(Self { seconds, watch })
    }

    /// Lifts the deadline, as the result is about to be handed out.
    pub(crate) fn lift(&self) {
        let mut state = self.watch.state();
        if *state == State::Runs {
            *state = State::Lifted;
        }
        self.watch.changed.notify_all();
    }

    /// Returns how a join failed that failed with this: by the deadline, if that has stopped it.
    pub(crate) fn reason(&self, failure: Failure) -> Failure {
        match &failure {
            Failure::Session(error)
                if error.kind() == ErrorKind::Interrupted
                    && *self.watch.state() == State::Passed =>
            {
                Failure::Deadline(self.seconds)
            }
            _ => failure,
        }
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        self.lift();
    }
}

impl Watch {
    /// Waits until then, and returns whether nobody has lifted the deadline.
    fn passes(&self, end: Instant) -> bool {
        let mut state = self.state();
        while *state == State::Runs {
            let Some(left) = end.checked_duration_since(Instant::now()) else {
                *state = State::Passed;
                break;
            };
            let waited = self.changed.wait_timeout(state, left);
            state = waited.expect(UNPOISONED).0;
        }
        *state == State::Passed
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect(UNPOISONED)
    }
}

const UNPOISONED: &str = "nobody panics who holds this lock";
