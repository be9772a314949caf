//! Halves of a channel that show each message once it has passed.

use crate::{AbortCode, Error, Inbound, Outbound};

/// A half, and what it shows its messages to.
pub(crate) struct Observed<H, F> {
    pub(crate) inner: H,
    pub(crate) show: F,
}

impl<F: FnMut(&[u8]) + Send> Outbound for Observed<Box<dyn Outbound>, F> {
    fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        self.inner.send(message)?;
        (self.show)(message);
        Ok(())
    }

    fn abort(&mut self, code: AbortCode) {
        self.inner.abort(code);
    }
}

impl<F: FnMut(&[u8]) + Send> Inbound for Observed<Box<dyn Inbound>, F> {
    fn recv(&mut self, message: &mut [u8]) -> Result<(), Error> {
        self.inner.recv(message)?;
        (self.show)(message);
        Ok(())
    }
}
