//! Times, in seconds since 1970.

use std::time::SystemTime;

use jiff::Timestamp;

/// Returns this machine's time.
pub fn now() -> u64 {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since_1970.map_or(0, |time| time.as_secs())
}

/// Returns a time for people.
pub fn date(seconds: u64) -> String {
    written(seconds, "%Y-%m-%d %H:%M UTC")
}

/// Returns a time as files have it.
pub(crate) fn to_text(seconds: u64) -> String {
    written(seconds, "%Y-%m-%dT%H:%M:%SZ")
}

/// Reads a time as files have it.
pub(crate) fn from_text(text: &str) -> Option<u64> {
    let time: Timestamp = text.parse().ok()?;
    time.as_second().try_into().ok()
}

fn written(seconds: u64, format: &str) -> String {
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    let time = Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX);
    time.strftime(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_written() {
        for seconds in [0, 1_795_000_000, u64::from(u32::MAX)] {
            assert_eq!(from_text(&to_text(seconds)), Some(seconds));
        }
        assert_eq!(to_text(1_795_000_000), "2026-11-18T11:06:40Z");
        assert_eq!(date(1_795_000_000), "2026-11-18 11:06 UTC");
        assert!(date(u64::MAX).starts_with("9999-12-"));
        for text in ["", "yesterday", "1969-12-31T00:00:00Z"] {
            assert_eq!(from_text(text), None, "{text}");
        }
    }
}
