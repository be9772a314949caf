//! Stopping a session from another thread.

use std::{
    sync::{Arc, Mutex, MutexGuard, OnceLock, Weak},
    time::Instant,
};

use psijoin_channel::AbortCode;

use crate::link::{LINGER, Link};

/// A handle that stops every wait of the sessions it was given to: a handler of Ctrl-C holds
/// a clone.
///
/// Once [triggered](Interrupt::trigger), whatever waits (to connect, to send, to receive)
/// returns an error within a fifth of a second, and the peers of established connections hear about
/// it.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// The reason, once it was triggered.
    reason: OnceLock<AbortCode>,
    links: Mutex<Vec<Weak<Link>>>,
}

impl Interrupt {
    /// Returns a handle that was not triggered yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the sessions, now and for good.
    pub fn trigger(&self) {
        self.stop(AbortCode::Interrupted);
    }

    /// Stops the sessions, now and for good, as [`trigger`](Self::trigger), and tells the peers
    /// `code`. It waits until they have heard it, for at most a second.
    ///
    /// It can be called from any thread, whatever the threads of a session are stuck in. If there
    /// are several reasons, a peer gets the first.
    pub fn abort(&self, code: AbortCode) {
        let links = self.stop(code);
        let deadline = Instant::now() + LINGER;
        for link in links {
            link.wait_until_told(deadline);
        }
    }

    fn stop(&self, code: AbortCode) -> Vec<Arc<Link>> {
        let code = *self.0.reason.get_or_init(|| code);
        let links: Vec<_> = self.links().iter().filter_map(Weak::upgrade).collect();
        for link in &links {
            link.interrupt(code);
        }
        links
    }

    /// Returns whether it was triggered.
    pub fn is_triggered(&self) -> bool {
        self.reason().is_some()
    }

    /// Returns why it was triggered, if it was.
    pub(crate) fn reason(&self) -> Option<AbortCode> {
        self.0.reason.get().copied()
    }

    /// Stops `link` too when triggered, or now if that is past.
    pub(crate) fn watch(&self, link: &Arc<Link>) {
        let mut links = self.links();
        links.retain(|link| link.strong_count() > 0);
        links.push(Arc::downgrade(link));
        drop(links);
        // Looked at after the link was entered, so that no trigger falls between.
        if let Some(code) = self.reason() {
            link.interrupt(code);
        }
    }

    fn links(&self) -> MutexGuard<'_, Vec<Weak<Link>>> {
        self.0
            .links
            .lock()
            .expect("no thread panics while it holds this lock")
    }
}
