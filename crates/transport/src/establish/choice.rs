//! The choice of the party that is met, where several may be, each in another way.

use std::sync::{Arc, Mutex, MutexGuard};

/// Held by whoever is about to tell somebody that it is the one. So nobody hears that in vain,
/// though several come at once.
#[derive(Clone, Default)]
pub(super) struct Choice(Arc<Mutex<bool>>);

/// The right to choose.
pub(super) struct Right<'a>(MutexGuard<'a, bool>);

impl Choice {
    /// Waits for the right to choose; nothing comes if somebody was chosen.
    pub(super) fn take(&self) -> Option<Right<'_>> {
        let right = self.0.lock().expect("no thread panics while it holds this");
        (!*right).then_some(Right(right))
    }

    /// Returns the right to choose, if nobody has it and nobody was chosen.
    pub(super) fn take_if_free(&self) -> Option<Right<'_>> {
        let right = self.0.try_lock().ok()?;
        (!*right).then_some(Right(right))
    }
}

impl Right<'_> {
    /// Chooses the party that was greeted.
    pub(super) fn choose(mut self) {
        *self.0 = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_chosen() {
        let choice = Choice::default();
        let right = choice.take().unwrap();
        assert!(choice.take_if_free().is_none());
        // The one that was greeted was not the peer.
        drop(right);
        choice.take_if_free().unwrap().choose();
        assert!(choice.take().is_none());
        assert!(choice.take_if_free().is_none());
    }
}
