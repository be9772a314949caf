//! The facts about those who connected and were not the peer.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use super::tells;
use crate::{Error, error::Strangers};

/// The number that are logged at once, one by one.
const LOGGED_AT_ONCE: u32 = 3;

/// The time between the lines about all others.
const LOG_INTERVAL: Duration = Duration::from_secs(5);

/// Counts those who were turned away, remembers the most telling reason, and logs no more
/// than a person can read, however many there are.
#[derive(Default)]
pub(super) struct TurnedAway {
    count: u64,
    most_telling: Option<(SocketAddr, Error)>,
    lines: u32,
    last_line: Option<Instant>,
    unlogged: u64,
    /// The one that the next line names.
    last: Option<(SocketAddr, String)>,
}

impl TurnedAway {
    pub(super) fn note(&mut self, from: SocketAddr, error: Error) {
        self.count += 1;
        self.unlogged += 1;
        self.last = Some((from, error.to_string()));
        self.log_if_due();
        let so_far = self.most_telling.as_ref().map(|(_, error)| tells(error));
        if so_far.is_none_or(|so_far| so_far <= tells(&error)) {
            self.most_telling = Some((from, error));
        }
    }

    /// Logs what there is to log, if the last line was long enough ago.
    pub(super) fn log_if_due(&mut self) {
        let is_due = self.lines < LOGGED_AT_ONCE
            || self.last_line.is_none_or(|at| at.elapsed() >= LOG_INTERVAL);
        if is_due {
            self.log();
        }
    }

    /// Logs what there is to log.
    pub(super) fn log(&mut self) {
        let Some((from, why)) = self.last.take() else {
            return;
        };
        match self.unlogged {
            1 => tracing::warn!("turned away {from}, who connected: {why}"),
            more => tracing::warn!(
                "turned away {more} more who connected; the last of them, {from}: {why}"
            ),
        }
        self.unlogged = 0;
        self.lines = self.lines.saturating_add(1);
        self.last_line = Some(Instant::now());
    }

    /// Returns what is reported in the end, after what is still to be logged.
    pub(super) fn into_strangers(mut self) -> Option<Strangers> {
        self.log();
        let (from, why) = self.most_telling?;
        Some(Strangers {
            count: self.count,
            from,
            why: Box::new(why),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(port: u16) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, 1], port))
    }

    #[test]
    fn many_make_few_lines() {
        let mut turned_away = TurnedAway::default();
        for port in 0..1000 {
            turned_away.note(from(port), Error::ClosedDuringSetup);
        }
        assert_eq!((turned_away.lines, turned_away.unlogged), (3, 997));
        turned_away.last_line = Instant::now().checked_sub(LOG_INTERVAL);
        turned_away.log_if_due();
        assert_eq!((turned_away.lines, turned_away.unlogged), (4, 0));
        assert_eq!(turned_away.into_strangers().unwrap().count, 1000);
    }

    #[test]
    fn the_last_of_the_most_telling_is_told() {
        let mut turned_away = TurnedAway::default();
        let mistake = || Error::Encryption {
            ours: "some",
            theirs: "none",
        };
        for (port, error) in [
            (1, Error::ClosedDuringSetup),
            (2, mistake()),
            (3, mistake()),
            (4, Error::NotPsijoin("it is a browser")),
            (5, Error::SetupTimedOut(LOG_INTERVAL)),
        ] {
            turned_away.note(from(port), error);
        }
        let text = turned_away.into_strangers().unwrap().to_string();
        assert_eq!(
            text,
            "; 5 connections were turned away, the most telling one from 192.0.2.1:3: the two \
             sides disagree on encryption: this side has `some`, the other side has `none`"
        );
    }

    #[test]
    fn nobody_is_nobody() {
        assert!(TurnedAway::default().into_strangers().is_none());
    }
}
