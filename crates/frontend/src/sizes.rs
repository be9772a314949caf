//! Sizes and times as people write them.

use std::{num::NonZeroUsize, time::Duration};

use psijoin_params::Sizes;
use psijoin_printable::Quoted;

/// More threads than any machine has cores: each takes memory before it computes anything.
pub const MOST_THREADS: usize = 1024;

/// The sizes of both sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetSizes {
    /// Of the sender.
    pub sender: u64,
    /// Of the receiver.
    pub receiver: u64,
}

/// Reads `N` for both parties, or `SENDER:RECEIVER`.
pub fn parse(text: &str) -> Result<SetSizes, String> {
    let (sender, receiver) = text.split_once(':').unwrap_or((text, text));
    Ok(SetSizes {
        sender: size(sender)?,
        receiver: size(receiver)?,
    })
}

/// Reads `65536`, `2^16` or `1e6`.
pub fn size(text: &str) -> Result<u64, String> {
    let power = |base: &str, exponent: &str| {
        let base: u64 = base.parse().ok()?;
        base.checked_pow(exponent.parse().ok()?)
    };
    let value = if let Some((base, exponent)) = text.split_once('^') {
        power(base, exponent)
    } else if let Some((factor, exponent)) = text.split_once(['e', 'E']) {
        let factor: Option<u64> = factor.parse().ok();
        factor.and_then(|factor| factor.checked_mul(power("10", exponent)?))
    } else {
        text.parse().ok()
    };
    match value {
        None => Err(format!(
            "{} is not a size: write 65536, 2^20, 1e6, or 2^10:2^20",
            Quoted(text)
        )),
        Some(value) if value > Sizes::MAX_ITEMS => {
            Err(format!("{} is too large: at most 2^34 items", Quoted(text)))
        }
        Some(value) => Ok(value),
    }
}

/// Reads a number of threads.
pub fn threads(text: &str) -> Result<NonZeroUsize, String> {
    let threads = text.parse().ok().and_then(NonZeroUsize::new);
    let threads = threads.filter(|threads| threads.get() <= MOST_THREADS);
    threads.ok_or_else(|| {
        format!("say 1 to {MOST_THREADS} threads; more than there are cores make nothing faster")
    })
}

/// Reads bytes with a decimal unit, as 500MB or 4GB.
pub fn bytes(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 4] = [
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
    ];
    let with_unit = UNITS.iter().find_map(|(unit, factor)| {
        let number: u64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        number.checked_mul(*factor)
    });
    with_unit.ok_or_else(|| {
        format!(
            "{} is not a number of bytes: write 500MB or 4GB",
            Quoted(text)
        )
    })
}

/// Reads a time with a unit, as 30s, 10m, 24h or 7d.
pub fn duration(text: &str) -> Result<Duration, String> {
    const UNITS: [(char, u64); 4] = [('s', 1), ('m', 60), ('h', 3600), ('d', 24 * 3600)];
    let with_unit = UNITS.iter().find_map(|(unit, factor)| {
        let number: u64 = text.strip_suffix(*unit)?.trim().parse().ok()?;
        number.checked_mul(*factor)
    });
    let seconds = with_unit.filter(|seconds| *seconds <= MOST_SECONDS);
    seconds.map(Duration::from_secs).ok_or_else(|| {
        format!(
            "{} is not a time: write 30s, 10m, 24h or 7d; at most 3650d",
            Quoted(text)
        )
    })
}

/// The longest time that is read: no clock overflows by it.
const MOST_SECONDS: u64 = 3650 * 24 * 3600;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, sender, receiver) in [
            ("65536", 65_536, 65_536),
            ("2^20", 1 << 20, 1 << 20),
            ("1e6", 1_000_000, 1_000_000),
            ("25E5:0", 2_500_000, 0),
            ("2^10:2^26", 1 << 10, 1 << 26),
        ] {
            assert_eq!(parse(text), Ok(SetSizes { sender, receiver }), "{text}");
        }
    }

    #[test]
    fn bytes_have_units() {
        assert_eq!(bytes("500MB"), Ok(500_000_000));
        assert_eq!(bytes("4 GB"), Ok(4_000_000_000));
        for text in ["", "4", "GB", "-1GB", "1.5GB", "99999999999TB"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_have_units() {
        for (text, seconds) in [("0s", 0), ("30s", 30), ("10 m", 600), ("24h", 86_400)] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)));
        }
        assert_eq!(duration("7d"), duration("168h"));
        for text in [
            "",
            "5",
            "s",
            "-1s",
            "1.5h",
            "1w",
            "3651d",
            "99999999999999999999d",
        ] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in [
            "",
            "x",
            "-1",
            "1.5e3",
            "2^",
            "^2",
            "2^99",
            "1e99",
            "1:",
            ":1",
            "1:2:3",
            "2^26:2^35",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
