//! The sending side's view of a [`Channel::exchange`](crate::Channel::exchange).

use std::sync::atomic::{AtomicBool, Ordering};

use crate::{AbortCode, Error, Outbound};

/// Stops sending once the receiving side has failed, and remembers whether it was the
/// channel that failed rather than the code that fills it.
pub(crate) struct ExchangeOutbound<'a> {
    pub(crate) inner: &'a mut dyn Outbound,
    pub(crate) receiving_failed: &'a AtomicBool,
    pub(crate) is_broken: bool,
}

impl Outbound for ExchangeOutbound<'_> {
    fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        let sent = if self.receiving_failed.load(Ordering::Relaxed) {
            Err(Error::Closed)
        } else {
            self.inner.send(message)
        };
        self.is_broken |= sent.as_ref().is_err_and(|error| !error.is_refusal());
        sent
    }

    fn abort(&mut self, code: AbortCode) {
        self.inner.abort(code);
    }
}
