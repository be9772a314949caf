//! Watching a session whose work is done elsewhere.

use std::sync::Arc;

use crate::{Error, link::Link};

/// Hears how a session ends, for a thread of its own: while nobody receives, as other processes run
/// the lanes, nobody else would hear that the peer has given up, is gone or is silent.
///
/// It keeps nothing alive. Whoever only watches does not work, so the peer is not told that this
/// party does.
#[derive(Debug, Clone)]
pub struct Watch(Arc<Link>);

impl Watch {
    pub(crate) fn new(link: Arc<Link>) -> Self {
        Self(link)
    }

    /// Waits until this party has ended the session in whatever way, or the peer has said that it
    /// is done.
    ///
    /// # Errors
    /// [`Error::Channel`] if the session ends before: with the peer's reason, if it gives up and
    /// tells one; that the connection is lost; that nothing was heard of the peer for
    /// [`Timeouts::idle`](crate::Timeouts::idle), which the peer is told; or that this party was
    /// interrupted.
    pub fn until_over(&self) -> Result<(), Error> {
        Ok(self.0.wait_until_over()?)
    }
}
