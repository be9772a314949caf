//! The limits of a wait.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::{Error, Interrupt, bridge::Stop, link::Link};

/// The time between two checks whether a wait is to end.
pub(crate) const POLL: Duration = Duration::from_millis(50);

/// See the [module](self).
#[derive(Clone, Copy)]
pub(crate) struct Patience<'a> {
    pub(crate) started: Instant,
    pub(crate) limit: Duration,
    pub(crate) interrupt: &'a Interrupt,
    /// The session that the wait is for, if its failure ends the wait, too.
    pub(crate) session: Option<&'a Link>,
    /// Ends it as if its time were over.
    pub(crate) stop: Option<&'a Stop>,
}

impl<'a> Patience<'a> {
    pub(crate) fn new(limit: Duration, interrupt: &'a Interrupt) -> Self {
        Self {
            started: Instant::now(),
            limit,
            interrupt,
            session: None,
            stop: None,
        }
    }

    /// Returns a wait of another length that the same things end.
    pub(crate) fn anew(&self, limit: Duration) -> Self {
        Self {
            started: Instant::now(),
            limit,
            ..*self
        }
    }

    /// Returns what is left, or nothing if it is over.
    ///
    /// # Errors
    /// [`Error::Interrupted`], and why the session has failed.
    pub(crate) fn left(&self) -> Result<Option<Duration>, Error> {
        if self.interrupt.is_triggered() {
            return Err(Error::Interrupted);
        }
        if let Some(failed) = self.session.and_then(Link::failed) {
            return Err(failed.into());
        }
        if self.stop.is_some_and(Stop::is_stopped) {
            return Ok(None);
        }
        let left = self.limit.saturating_sub(self.started.elapsed());
        Ok((!left.is_zero()).then_some(left))
    }

    /// Does nothing for this long, or until patience ends.
    ///
    /// # Errors
    /// As [`left`](Self::left).
    pub(crate) fn rest(&self, how_long: Duration) -> Result<(), Error> {
        let rest = self.anew(how_long);
        while let (Some(_), Some(left)) = (self.left()?, rest.left()?) {
            thread::sleep(POLL.min(left));
        }
        Ok(())
    }
}
