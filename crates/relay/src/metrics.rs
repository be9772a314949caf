//! Counters, as Prometheus reads them.

use std::{
    fmt::Write,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

use crate::refusal::Refusal;

pub(crate) mod page;

/// The number of reasons to turn somebody away.
const REASONS: usize = Refusal::REASONS.len();

/// The time between two lines about those who were turned away.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// See the [module](self).
#[derive(Default)]
pub(crate) struct Metrics {
    /// Connections that came.
    pub(crate) connections: AtomicU64,
    /// Pairs that were joined.
    pub(crate) joined: AtomicU64,
    /// Bytes that pairs have moved.
    pub(crate) bytes: AtomicU64,
    /// Parties that wait now.
    pub(crate) waiting: AtomicU64,
    /// Pairs that run now.
    pub(crate) running: AtomicU64,
    /// 1 once the relay takes nobody more.
    pub(crate) draining: AtomicU64,
    refusals: [AtomicU64; REASONS],
}

impl Metrics {
    pub(crate) fn refused(&self, refusal: &Refusal) {
        self.refusals[refusal.reason()].fetch_add(1, Relaxed);
    }

    fn refusals(&self) -> [u64; REASONS] {
        self.refusals.each_ref().map(|count| count.load(Relaxed))
    }

    /// Returns all of them, in the text format of Prometheus, version 0.0.4.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for (name, kind, help, value) in [
            (
                "connections_total",
                "counter",
                "Connections that came.",
                &self.connections,
            ),
            (
                "pairs_total",
                "counter",
                "Pairs of connections that were joined.",
                &self.joined,
            ),
            (
                "bytes_total",
                "counter",
                "Bytes that pairs have moved, both ways together.",
                &self.bytes,
            ),
            ("waiting", "gauge", "Parties that wait.", &self.waiting),
            ("pairs", "gauge", "Pairs that run.", &self.running),
            (
                "draining",
                "gauge",
                "1 if the relay takes nobody more.",
                &self.draining,
            ),
        ] {
            let name = format!("psijoin_relay_{name}");
            let value = value.load(Relaxed);
            append(&mut text, &name, kind, help);
            let _ = writeln!(text, "{name} {value}");
        }
        let name = "psijoin_relay_refusals_total";
        append(
            &mut text,
            name,
            "counter",
            "Connections that were turned away.",
        );
        for (reason, count) in Refusal::REASONS.iter().zip(self.refusals()) {
            let _ = writeln!(text, "{name}{{reason=\"{reason}\"}} {count}");
        }
        text
    }
}

fn append(text: &mut String, name: &str, kind: &str, help: &str) {
    // Writing to a text does not fail.
    let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
}

/// Logs how many were turned away, no more often than a person can read.
pub(crate) struct RefusalLog {
    logged: [u64; REASONS],
    at: Instant,
}

impl RefusalLog {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            logged: [0; REASONS],
            at: now,
        }
    }

    pub(crate) fn log_if_due(&mut self, metrics: &Metrics, now: Instant) {
        if now.saturating_duration_since(self.at) < LOG_INTERVAL {
            return;
        }
        self.at = now;
        if let Some(line) = self.line(metrics.refusals()) {
            tracing::info!("{line}");
        }
    }

    fn line(&mut self, refusals: [u64; REASONS]) -> Option<String> {
        let before = std::mem::replace(&mut self.logged, refusals);
        let reasons = Refusal::REASONS.iter().zip(refusals.iter().zip(before));
        let new: Vec<_> = reasons
            .map(|(reason, (now, before))| (reason, now - before))
            .filter(|(_, count)| *count > 0)
            .collect();
        let sum: u64 = new.iter().map(|(_, count)| count).sum();
        let each: Vec<_> = new
            .iter()
            .map(|(reason, count)| format!("{count} for {reason}"))
            .collect();
        (sum > 0).then(|| format!("turned away {sum}: {}", each.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_has_each_counter_once_with_its_kind() {
        let metrics = Metrics::default();
        metrics.bytes.store(7, Relaxed);
        metrics.refused(&Refusal::Crowd);
        let text = metrics.text();
        assert!(text.contains("\npsijoin_relay_bytes_total 7\n"), "{text}");
        let one = "\npsijoin_relay_refusals_total{reason=\"crowd\"} 1\n";
        assert!(text.contains(one), "{text}");
        let mut names: Vec<_> = text
            .lines()
            .filter_map(|line| line.strip_prefix("# TYPE "))
            .collect();
        let count = names.len();
        assert!(names.iter().all(|line| match line.split_once(' ') {
            Some((name, "counter")) => name.ends_with("_total"),
            Some((name, "gauge")) => !name.ends_with("_total"),
            _ => false,
        }));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn a_line_tells_what_is_new() {
        let metrics = Metrics::default();
        let mut log = RefusalLog::new(Instant::now());
        assert_eq!(log.line(metrics.refusals()), None);
        for refusal in [Refusal::Crowd, Refusal::Queue(8), Refusal::Crowd] {
            metrics.refused(&refusal);
        }
        let line = log.line(metrics.refusals());
        let expected = "turned away 3: 2 for crowd, 1 for queue";
        assert_eq!(line.as_deref(), Some(expected));
        assert_eq!(log.line(metrics.refusals()), None);
    }

    #[test]
    fn each_refusal_has_a_reason_of_its_own() {
        let mut reasons = Refusal::REASONS.to_vec();
        reasons.sort_unstable();
        reasons.dedup();
        assert_eq!(reasons.len(), REASONS);
        assert_eq!(Refusal::REASONS[Refusal::Draining.reason()], "draining");
        assert_eq!(Refusal::REASONS[Refusal::NoKey.reason()], "no_key");
    }
}
