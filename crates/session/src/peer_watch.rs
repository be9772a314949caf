//! Hearing of the other party while lanes run elsewhere.

use psijoin_transport::Watch;

use crate::Error;

/// Hears how a join ends whose lanes run elsewhere, for a thread that sits in it: the process that
/// has met the other party hears at once of all that ends the session, and can stop lanes that wait
/// or compute in vain.
#[derive(Debug, Clone)]
pub struct PeerWatch(Watch);

impl PeerWatch {
    pub(crate) fn new(watch: Watch) -> Self {
        Self(watch)
    }

    /// Waits until [`Agreed::finish`](crate::Agreed::finish) or
    /// [`Agreed::abort`](crate::Agreed::abort) has ended the session, or the other party has said
    /// that it is done.
    ///
    /// # Errors
    /// If it ends before: with the other party's reason if it gives up and tells one; or because
    /// it is gone, cut off or silent, or this party was interrupted.
    pub fn until_over(&self) -> Result<(), Error> {
        Ok(self.0.until_over()?)
    }
}
