//! The bond of the links of one session: they end together, and one works if any does.
//!
//! When a link ends, whoever ended it, the others of this side end at once, for the same reason,
//! and tell it to the peer, which may be waiting on any of them. The first reason counts.
//!
//! A link whose peer has said goodbye is through. Losing it afterwards is no reason.
//!
//! A thread that has one link may wait for its turn behind a thread that waits for the peer on
//! another. So each link's keep-alives vouch for all threads of the caller together. The price: a
//! thread that hangs is noticed only when no other waits for the peer.

use std::sync::{
    Arc, Mutex, Weak,
    atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
};

use psijoin_channel::{AbortCode, Error};

use super::{Farewell, Link, UNPOISONED};

/// See the [module](self).
#[derive(Debug, Default)]
pub(crate) struct Bond {
    members: Mutex<Members>,
    /// The number of threads of the caller that wait for the peer.
    waiting: AtomicU32,
    /// The number of times that the caller has called, and stopped waiting.
    calls: AtomicU64,
}

#[derive(Debug, Default)]
struct Members {
    links: Vec<Weak<Link>>,
    /// The end of the first of them.
    end: Option<End>,
}

/// The end that a link comes to because another has ended.
#[derive(Clone, Debug)]
pub(super) struct End {
    /// The error for this side's callers.
    pub(super) reason: Error,
    /// The last frame for the peer.
    pub(super) farewell: Farewell,
}

impl End {
    /// Returns an end: nothing more comes from the peer on one link, for this reason.
    pub(super) fn lost(reason: Error) -> Self {
        let farewell = match &reason {
            // It ends its other links itself.
            Error::PeerAborted(_) => Farewell::Silent,
            Error::Malformed(_) => Farewell::Abort(AbortCode::ProtocolViolation),
            _ => Farewell::Abort(AbortCode::ConnectionLost),
        };
        Self { reason, farewell }
    }
}

impl Bond {
    /// Lets `link` share the fate of the others, also if that is sealed.
    pub(super) fn join(&self, link: &Arc<Link>) {
        let mut members = self.members.lock().expect(UNPOISONED);
        members.links.push(Arc::downgrade(link));
        let end = members.end.clone();
        drop(members);
        if let Some(end) = end {
            link.end_too(end);
        }
    }

    /// Seals the fate of all links, if it is not sealed yet, and gives it. Later events on a link
    /// are no reason any more: before a link tells the peer that it has ended, so that the peer may
    /// end the others, the fate is sealed.
    pub(super) fn seal(&self, end: End) -> End {
        let mut members = self.members.lock().expect(UNPOISONED);
        members.end.get_or_insert(end).clone()
    }

    /// Ends all links but this one, which has ended, by this end. The caller holds no link's lock.
    pub(super) fn end_others(&self, ended: &Link, end: &End) {
        for link in self.links() {
            if !std::ptr::eq(&*link, ended) {
                link.end_too(end.clone());
            }
        }
    }

    pub(super) fn links(&self) -> Vec<Arc<Link>> {
        let members = self.members.lock().expect(UNPOISONED);
        members.links.iter().filter_map(Weak::upgrade).collect()
    }

    pub(super) fn has_called(&self) {
        self.calls.fetch_add(1, Relaxed);
    }

    /// Returns what `wait` gives, which waits for the peer.
    pub(crate) fn waits<T>(&self, wait: impl FnOnce() -> T) -> T {
        self.waiting.fetch_add(1, Relaxed);
        let waited = wait();
        self.waiting.fetch_sub(1, Relaxed);
        self.has_called();
        waited
    }

    /// Returns whether any thread of the caller waits for the peer.
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting.load(Relaxed) > 0
    }

    /// Returns how often the caller has called, and stopped waiting.
    pub(super) fn calls(&self) -> u64 {
        self.calls.load(Relaxed)
    }
}
