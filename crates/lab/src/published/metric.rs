//! The metric of a figure.

use std::{fmt, str::FromStr};

/// The metric of a figure, and its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Metric {
    /// Seconds from the start to the result.
    Seconds,
    /// Seconds before the inputs are needed.
    OfflineSeconds,
    /// Seconds from then on.
    OnlineSeconds,
    /// Bytes that both parties send.
    Bytes,
    /// Bytes that the sender of the protocol sends.
    SenderBytes,
    /// Bytes that the receiver of the protocol sends.
    ReceiverBytes,
    /// Bits that both parties send, divided by the size of a set.
    BitsPerItem,
    /// Bits of OT extension per instance of an oblivious PRF.
    OtBits,
    /// US dollars for a thousand runs.
    UsdPer1000Runs,
    /// The speed, relative to that with one thread.
    Speedup,
    /// The most memory that the sender takes beyond its input, in bytes.
    SenderMemoryBytes,
    /// The most memory that the receiver takes beyond its input, in bytes.
    ReceiverMemoryBytes,
}

impl Metric {
    const ALL: [Self; 12] = [
        Self::Seconds,
        Self::OfflineSeconds,
        Self::OnlineSeconds,
        Self::Bytes,
        Self::SenderBytes,
        Self::ReceiverBytes,
        Self::BitsPerItem,
        Self::OtBits,
        Self::UsdPer1000Runs,
        Self::Speedup,
        Self::SenderMemoryBytes,
        Self::ReceiverMemoryBytes,
    ];

    /// As the files write it: `offline_seconds`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::OfflineSeconds => "offline_seconds",
            Self::OnlineSeconds => "online_seconds",
            Self::Bytes => "bytes",
            Self::SenderBytes => "sender_bytes",
            Self::ReceiverBytes => "receiver_bytes",
            Self::BitsPerItem => "bits_per_item",
            Self::OtBits => "ot_bits",
            Self::UsdPer1000Runs => "usd_per_1000_runs",
            Self::Speedup => "speedup",
            Self::SenderMemoryBytes => "sender_memory_bytes",
            Self::ReceiverMemoryBytes => "receiver_memory_bytes",
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Metric {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|metric| metric.name() == text);
        known.ok_or("no such metric")
    }
}
