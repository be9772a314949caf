//! Listeners to the events that a channel's halves cannot see by themselves.

use std::{sync::Arc, time::Instant};

/// Hears about exchanges, and about a thread that waits for what another one reads ahead.
pub(crate) trait Listener: Send + Sync {
    /// Called when both halves begin to be used at the same time.
    fn exchange_begins(&self);

    /// Called when one half of the exchange has done its work.
    fn half_ends(&self, _half: Half) {}

    /// Called when the exchange is over.
    fn exchange_ends(&self);

    /// Called when the sending side of an exchange has waited since then for one more message that
    /// was read ahead.
    fn taken_ahead(&self, _since: Instant, _message: &[u8]) {}
}

/// A half of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Half {
    Outbound,
    Inbound,
}

/// An exchange, which is over when this is dropped.
pub(crate) struct Exchange(Vec<Arc<dyn Listener>>);

impl Exchange {
    pub(crate) fn begin(listeners: &[Arc<dyn Listener>]) -> Self {
        for listener in listeners {
            listener.exchange_begins();
        }
        Self(listeners.to_vec())
    }

    pub(crate) fn half_ends(&self, half: Half) {
        for listener in &self.0 {
            listener.half_ends(half);
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        for listener in &self.0 {
            listener.exchange_ends();
        }
    }
}
