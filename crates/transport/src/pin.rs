//! The keys that the other side may have.

use crate::Fingerprint;

/// A key that the other side may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pin {
    /// Its name.
    pub fingerprint: Fingerprint,
    /// The end of the time for which it counts, in seconds since 1970, if the other party has
    /// replaced it. Nothing follows such a key: it has been followed.
    pub until: Option<u64>,
}

impl From<Fingerprint> for Pin {
    /// Returns a key that counts for good.
    fn from(fingerprint: Fingerprint) -> Self {
        Self {
            fingerprint,
            until: None,
        }
    }
}

impl Pin {
    /// Returns whether it counts at this time.
    pub(crate) fn counts(&self, now: u64) -> bool {
        self.until.is_none_or(|until| now <= until)
    }
}
