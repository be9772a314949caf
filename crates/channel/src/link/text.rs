//! The text form of a link.

use std::{fmt, str::FromStr, time::Duration};

use super::Link;

/// The reason that a text or a pair of numbers is not a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidLink {
    /// Neither `lan` nor `RATE,RTT`.
    #[error("a network is written `lan` or `RATE,RTT`, for example `100mbps,80ms`")]
    Form,
    /// The rate cannot be read or is out of range.
    #[error("a rate is a number with bps, kbps, mbps or gbps, from 1bps to 1000gbps")]
    Rate,
    /// The round-trip time cannot be read or is out of range.
    #[error("a round-trip time is a number with us, ms or s, up to 3600s")]
    RoundTrip,
}

/// Largest first, so that the first one that fits reads best; but `bps` ends like the others,
/// which [`parse_quantity`] takes care of.
const RATES: [(&str, f64); 4] = [("gbps", 1e9), ("mbps", 1e6), ("kbps", 1e3), ("bps", 1.0)];
/// In nanoseconds.
const TIMES: [(&str, f64); 3] = [("s", 1e9), ("ms", 1e6), ("us", 1e3)];

impl FromStr for Link {
    type Err = InvalidLink;

    fn from_str(text: &str) -> Result<Self, InvalidLink> {
        let text = text.to_ascii_lowercase();
        if text == "lan" {
            return Ok(Self::LAN);
        }
        let text = text.strip_prefix("wan:").unwrap_or(&text);
        let parts = text.split_once(',').filter(|_| !text.contains(':'));
        let (rate, round_trip) = parts.ok_or(InvalidLink::Form)?;
        let rate = parse_quantity(rate, &RATES).ok_or(InvalidLink::Rate)?;
        let nanoseconds = parse_quantity(round_trip, &TIMES).ok_or(InvalidLink::RoundTrip)?;
        // The cast saturates, and `new` refuses what is far too long.
        Self::new(rate, Duration::from_nanos(nanoseconds.round() as u64))
    }
}

/// Returns a number, an optional space and a unit, as a non-negative multiple of the base unit.
fn parse_quantity(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim();
    let number_bytes = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(number_bytes);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    let number: f64 = number.trim_end().parse().ok()?;
    (number >= 0.0).then_some(number * factor)
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::LAN {
            return f.write_str("lan");
        }
        f.write_str("wan:")?;
        write_quantity(f, self.bits_per_second, &RATES)?;
        f.write_str(",")?;
        write_quantity(f, self.round_trip.as_nanos() as f64, &TIMES)
    }
}

/// Writes it in the largest unit that gives at least 1 and reads back exactly, otherwise in the
/// smallest.
fn write_quantity(f: &mut fmt::Formatter<'_>, quantity: f64, units: &[(&str, f64)]) -> fmt::Result {
    let fits = |factor: f64| quantity >= factor && quantity / factor * factor == quantity;
    let (name, factor) = units
        .iter()
        .find(|(_, factor)| fits(*factor))
        .unwrap_or(&units[units.len() - 1]);
    write!(f, "{}{name}", quantity / factor)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_and_writes_the_usual_links() {
        let wan = Link::new(1e8, Duration::from_millis(80)).unwrap();
        for (text, link, written) in [
            ("lan", Link::LAN, "lan"),
            ("LAN", Link::LAN, "lan"),
            ("wan:10gbps,0.2ms", Link::LAN, "lan"),
            ("wan:100mbps,80ms", wan, "wan:100mbps,80ms"),
            ("100mbps,80ms", wan, "wan:100mbps,80ms"),
            ("WAN:0.1 Gbps, 80000 us", wan, "wan:100mbps,80ms"),
            (
                "wan:56kbps,1.5s",
                Link::new(56e3, Duration::from_millis(1500)).unwrap(),
                "wan:56kbps,1.5s",
            ),
            (
                "wan:1bps,0s",
                Link::new(1.0, Duration::ZERO).unwrap(),
                "wan:1bps,0us",
            ),
        ] {
            assert_eq!(text.parse(), Ok(link), "{text}");
            assert_eq!(link.to_string(), written);
        }
    }

    #[test]
    fn says_what_is_wrong() {
        for text in ["", "lan:", "wan", "wan:", "wan:100mbps", "man:1mbps,1ms"] {
            assert_eq!(text.parse::<Link>(), Err(InvalidLink::Form), "{text}");
        }
        for rate in [
            "", "100", "mbps", "-1mbps", "0bps", "nanbps", "infbps", "1mb", "1e3mbps", "2000gbps",
        ] {
            let text = format!("wan:{rate},1ms");
            assert_eq!(text.parse::<Link>(), Err(InvalidLink::Rate), "{text}");
        }
        for time in ["", "5", "ms", "-1ms", "5min", "1ms,2ms", "9999999999999s"] {
            let text = format!("wan:1mbps,{time}");
            assert_eq!(text.parse::<Link>(), Err(InvalidLink::RoundTrip), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(rate in 1.0..1e12, nanoseconds in 0u64..3_600_000_000_000) {
            let link = Link::new(rate, Duration::from_nanos(nanoseconds)).unwrap();
            prop_assert_eq!(link.to_string().parse(), Ok(link));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC*") {
            let _ = text.parse::<Link>();
            let _ = format!("wan:{text}").parse::<Link>();
        }
    }
}
