//! Stopping a session from another thread.

use std::sync::{
    Arc, Mutex, MutexGuard, Weak,
    atomic::{AtomicBool, Ordering},
};

use crate::link::Link;

/// A handle that stops every wait of the sessions it was given to: a handler of Ctrl-C holds
/// a clone.
///
/// Once [triggered](Interrupt::trigger), whatever waits (to connect, to send, to receive)
/// returns an error within a fifth of a second, and the peers of established connections are
/// told.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    is_triggered: AtomicBool,
    links: Mutex<Vec<Weak<Link>>>,
}

impl Interrupt {
    /// A handle that was not triggered yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the sessions, now and for good.
    pub fn trigger(&self) {
        self.0.is_triggered.store(true, Ordering::SeqCst);
        for link in self.links().drain(..).filter_map(|link| link.upgrade()) {
            link.interrupt();
        }
    }

    /// Whether it was triggered.
    pub fn is_triggered(&self) -> bool {
        self.0.is_triggered.load(Ordering::SeqCst)
    }

    /// Stops `link` too when triggered, or now if that is past.
    pub(crate) fn watch(&self, link: &Arc<Link>) {
        let mut links = self.links();
        links.retain(|link| link.strong_count() > 0);
        links.push(Arc::downgrade(link));
        drop(links);
        // Looked at after the link was entered, so that no trigger falls between.
        if self.is_triggered() {
            link.interrupt();
        }
    }

    fn links(&self) -> MutexGuard<'_, Vec<Weak<Link>>> {
        self.0
            .links
            .lock()
            .expect("no thread panics while it holds this lock")
    }
}
