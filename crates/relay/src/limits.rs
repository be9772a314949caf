//! The limits of what strangers can use up.

use std::{num::NonZeroU64, time::Duration};

/// The limits of a relay. Made by [`default`](Self::default), and changed field by field.
///
/// An address is one of IPv4, or a network of 64 bits of IPv6. Whoever proves an access key does
/// not count for its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The longest time until a party has said whom it meets. 10 s by default.
    pub greeting: Duration,
    /// The time between two signs of life to a party that waits. 15 s by default: proxies and load
    /// balancers end connections that are silent for a minute.
    pub sign_of_life: Duration,
    /// The number of parties that wait. 10,000 by default.
    pub waiting: usize,
    /// The number of them from one address. 64 by default.
    pub waiting_per_address: usize,
    /// The number of them on each side of one token. 8 by default.
    pub waiting_per_side: usize,
    /// The number of pairs. 1,000 by default.
    pub pairs: usize,
    /// The number of pairs whose TLS client is at one address. 256 by default.
    pub pairs_per_address: usize,
    /// The longest time until the TLS client of a pair has sent something. 3 s by default.
    pub first_words: Duration,
    /// The longest time in which a pair moves no byte either way. 5 min by default.
    pub idle: Duration,
    /// The longest time for which a pair runs. 7 days by default.
    pub age: Duration,
    /// The bytes that a pair may move in a second, both ways together. No limit by default.
    pub bytes_per_second: Option<NonZeroU64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            greeting: Duration::from_secs(10),
            sign_of_life: Duration::from_secs(15),
            waiting: 10_000,
            waiting_per_address: 64,
            waiting_per_side: 8,
            pairs: 1000,
            pairs_per_address: 256,
            first_words: Duration::from_secs(3),
            idle: Duration::from_secs(5 * 60),
            age: Duration::from_secs(7 * 24 * 3600),
            bytes_per_second: None,
        }
    }
}
