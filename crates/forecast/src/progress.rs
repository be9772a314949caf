//! The progress of a run, and the time that it will still take.
//!
//! A [`Timeline`] gives the bytes moved at each time of a modelled run. The running one tells how
//! many it has moved. That gives the *position* in modelled time: where as many bytes had moved,
//! and from there as far as time has passed since, for a party may compute for a while without
//! sending anything; but not beyond the moment at which more bytes should have moved.
//!
//! The *pace* is the time that a modelled second takes. The recent past counts more than the
//! distant one. At the very first it is 1, as if a little of the run had passed as modelled.
//! Overdue work is taken to last as long again.

use std::time::Duration;

use crate::Timeline;

/// The position of a run, told by a model and corrected by what has happened.
#[derive(Debug, Clone)]
pub struct Progress {
    timeline: Timeline,
    pace: Pace,
    /// The last moment of the timeline that has come.
    past: Past,
    /// The share that was told last.
    done: f64,
}

/// The forecast of the rest of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlook {
    /// The share of the time that is over: never less than before, and never 1.
    pub done: f64,
    /// The time left: never less than a second.
    pub left: Duration,
}

#[derive(Debug, Clone, Copy, Default)]
struct Past {
    /// The time at which it came, in seconds.
    elapsed: f64,
    /// The time at which it should have come.
    seconds: f64,
}

/// The share that is told at most before the end.
const MOST: f64 = 0.99;

/// The time left that is told at least before the end.
const LEAST: Duration = Duration::from_secs(1);

/// By how much of all bytes a model may be wrong about where a wait begins: what is said at any
/// size, such as base OT, is scaled with the rest.
const SLACK: f64 = 0.04;

/// Bytes that are lost by rounding.
const ROUNDING: f64 = 0.5;

impl Progress {
    /// Makes the progress of a run that begins.
    pub fn new(timeline: Timeline) -> Self {
        Self {
            pace: Pace::new(timeline.seconds()),
            timeline,
            past: Past::default(),
            done: 0.0,
        }
    }

    /// Returns the outlook after this time, with this many bytes sent and received in sum.
    pub fn at(&mut self, elapsed: Duration, bytes: u64) -> Outlook {
        let (elapsed, bytes) = (elapsed.as_secs_f64(), bytes as f64);
        self.catch_up(elapsed, bytes);
        let waited = elapsed - self.past.elapsed;
        let until_next = self.next(bytes) - self.past.seconds;
        let pace = self.pace.ratio();
        let position = self.past.seconds + (waited / pace).min(until_next);
        let overdue = (waited - until_next * pace).max(0.0);
        let all = self.timeline.seconds();
        let done = if all > 0.0 { position / all } else { 0.0 };
        self.done = self.done.max(done).min(MOST);
        let left = (all - position) * pace + overdue;
        Outlook {
            done: self.done,
            left: Duration::try_from_secs_f64(left.max(0.0))
                .unwrap_or(Duration::MAX)
                .max(LEAST),
        }
    }

    /// Goes to the last moment that has come.
    fn catch_up(&mut self, elapsed: f64, bytes: f64) {
        let moments = self.timeline.moments();
        let come = moments.partition_point(|moment| moment.bytes <= bytes + ROUNDING);
        let Some(last) = come.checked_sub(1).map(|last| moments[last]) else {
            return;
        };
        let passed = last.seconds - self.past.seconds;
        if passed > 0.0 {
            self.pace = self.pace.after(elapsed - self.past.elapsed, passed);
            self.past = Past {
                elapsed,
                seconds: last.seconds,
            };
        }
    }

    /// Returns when more bytes than these should have moved, clearly.
    fn next(&self, bytes: f64) -> f64 {
        let clearly = bytes + SLACK * self.timeline.bytes();
        let moments = self.timeline.moments();
        let next = moments.partition_point(|moment| moment.bytes <= clearly);
        match moments.get(next) {
            Some(moment) => moment.seconds,
            None => self.timeline.seconds(),
        }
    }
}

/// The time that a modelled second takes: the seconds that have passed over those that should have,
/// both fading with time.
#[derive(Debug, Clone, Copy)]
struct Pace {
    passed: f64,
    modelled: f64,
    /// The age in modelled seconds at which a second counts a third.
    memory: f64,
}

impl Pace {
    /// The share of a run in which the past fades.
    const MEMORY: f64 = 0.25;

    /// The share of a run that is taken to have gone on as modelled before it begins.
    const PRIOR: f64 = 0.05;

    fn new(all: f64) -> Self {
        Self {
            passed: Self::PRIOR * all,
            modelled: Self::PRIOR * all,
            memory: Self::MEMORY * all,
        }
    }

    fn ratio(self) -> f64 {
        /// A run that is faster than this needs no pace.
        const FASTEST: f64 = 1e-3;
        let ratio = self.passed / self.modelled;
        // Not a number, if nothing takes any time.
        if ratio > FASTEST { ratio } else { FASTEST }
    }

    /// Returns the pace after more seconds have passed, and the modelled ones that should have:
    /// more than none.
    fn after(self, passed: f64, modelled: f64) -> Self {
        let age = modelled / self.memory;
        let fading = (-age).exp();
        // A long time fades while it passes.
        let counts = (1.0 - fading) / age;
        Self {
            passed: self.passed * fading + passed * counts,
            modelled: self.modelled * fading + modelled * counts,
            memory: self.memory,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::Moment;

    /// Seconds, and bytes that have moved by then; the last are the end.
    type Said = [(f64, f64)];

    fn timeline(said: &Said) -> Timeline {
        let (end, moments) = said.split_last().unwrap();
        let moment = |&(seconds, bytes): &(f64, f64)| Moment { seconds, bytes };
        Timeline::new(moments.iter().map(moment).collect(), end.0)
    }

    /// Returns a run as it really goes.
    fn bytes(run: &Said, elapsed: f64) -> u64 {
        let come = run.iter().rev().find(|(seconds, _)| *seconds <= elapsed);
        come.map_or(0, |(_, bytes)| *bytes as u64)
    }

    /// Returns what is told during a run, ten times a second, with the seconds that have passed.
    fn told(model: &Said, run: &Said) -> Vec<(f64, Outlook)> {
        let mut progress = Progress::new(timeline(model));
        let ticks = (run.last().unwrap().0 * 10.0).round() as u64;
        let ticks = (0..ticks).map(|tick| Duration::from_millis(100 * tick));
        ticks
            .map(|elapsed| {
                let seconds = elapsed.as_secs_f64();
                (seconds, progress.at(elapsed, bytes(run, seconds)))
            })
            .collect()
    }

    /// Asserts what holds for any run.
    #[track_caller]
    fn assert_sane(told: &[(f64, Outlook)]) {
        for (_, outlook) in told {
            assert!((0.0..=MOST).contains(&outlook.done));
            assert!(outlook.left >= LEAST);
        }
        assert!(told.is_sorted_by(|(_, one), (_, next)| one.done <= next.done));
    }

    #[track_caller]
    fn assert_left(told: &[(f64, Outlook)], at: f64, expected: f64, error: f64) {
        let outlook = |(seconds, outlook): &(f64, Outlook)| (*seconds >= at).then_some(*outlook);
        let left = told.iter().find_map(outlook).unwrap().left.as_secs_f64();
        assert!(
            (left / expected - 1.0).abs() <= error,
            "{left} s and not {expected} s are left after {at} s"
        );
    }

    /// Returns a model that computes, sends a little, computes for long, and sends the rest bit by
    /// bit.
    fn model() -> Vec<(f64, f64)> {
        let bits = (1..=20).map(|bit| (20.0 + f64::from(bit), 100.0 + 50.0 * f64::from(bit)));
        let first = [(5.0, 50.0), (10.0, 100.0)];
        let end = [(50.0, 1100.0)];
        first.into_iter().chain(bits).chain(end).collect()
    }

    /// Stretches the seconds until the first bit, and those from there on.
    fn slower(model: &Said, before: f64, after: f64) -> Vec<(f64, f64)> {
        let slow = |&(seconds, bytes): &(f64, f64)| match seconds <= 20.0 {
            true => (seconds * before, bytes),
            false => (20.0 * before + (seconds - 20.0) * after, bytes),
        };
        model.iter().map(slow).collect()
    }

    #[test]
    fn a_run_as_modelled_goes_as_time_does() {
        let told = told(&model(), &model());
        assert_sane(&told);
        for (seconds, outlook) in told {
            let done = (seconds / 50.0).min(MOST);
            let left = (50.0 - seconds).max(1.0);
            assert!((outlook.done - done).abs() < 1e-6, "{seconds}: {outlook:?}");
            assert!((outlook.left.as_secs_f64() - left).abs() < 1e-6);
        }
    }

    #[test]
    fn a_run_that_is_twice_as_slow_is_found_out() {
        let told = told(&model(), &slower(&model(), 2.0, 2.0));
        assert_sane(&told);
        assert_left(&told, 0.0, 50.0, 1e-6);
        // 10 s should have been 5. With 0.05 and 0.25 of 50 s the pace is (2.5 e^-0.4 + 2 c) / (2.5
        // e^-0.4 + c), where c = 12.5 (1 - e^-0.4) = 4.121.
        assert_left(&told, 10.0, 45.0 * (1.676 + 8.242) / (1.676 + 4.121), 1e-3);
        assert_left(&told, 20.0, 80.0, 0.1);
        for (at, error) in [(40.0, 0.1), (60.0, 0.02), (80.0, 0.01), (90.0, 0.01)] {
            assert_left(&told, at, 100.0 - at, error);
        }
    }

    #[test]
    fn a_run_that_is_twice_as_fast_is_found_out() {
        let told = told(&model(), &slower(&model(), 0.5, 0.5));
        assert_sane(&told);
        for at in [5.0, 10.0, 15.0, 20.0] {
            assert_left(&told, at, 25.0 - at, 0.2);
        }
    }

    #[test]
    fn a_network_that_is_slower_than_the_computing_is_found_out() {
        // Nothing can be known before the first bit of the rest.
        let told = told(&model(), &slower(&model(), 1.0, 3.0));
        assert_sane(&told);
        assert_left(&told, 20.0, 30.0, 1e-6);
        for (at, error) in [(35.0, 0.5), (50.0, 0.35), (80.0, 0.15)] {
            assert_left(&told, at, 110.0 - at, error);
        }
    }

    #[test]
    fn a_network_that_is_a_hundred_times_slower_is_found_out_soon() {
        let bits = (1..=100).map(|bit| (f64::from(bit), 100.0 * f64::from(bit)));
        let model: Vec<_> = bits.collect();
        let run: Vec<_> = model
            .iter()
            .map(|&(at, bytes)| (100.0 * at, bytes))
            .collect();
        let told = told(&model, &run);
        assert_sane(&told);
        for (at, error) in [(500.0, 0.55), (1000.0, 0.35), (5000.0, 0.05)] {
            assert_left(&told, at, 10_000.0 - at, error);
        }
    }

    #[test]
    fn a_stall_stops_at_the_next_moment_and_makes_the_rest_longer() {
        let run = [(5.0, 50.0), (10.0, 100.0), (300.0, 1100.0)];
        let told = told(&model(), &run);
        assert_sane(&told);
        // The next bytes were to come after 21 s of 50.
        let stalled: Vec<_> = told.iter().filter(|(at, _)| *at >= 21.0).collect();
        for (at, outlook) in &stalled {
            assert!((outlook.done - 0.42).abs() < 1e-6, "{at}: {outlook:?}");
        }
        assert!(stalled.is_sorted_by(|(_, one), (_, next)| one.left < next.left));
    }

    #[test]
    fn bytes_at_slightly_other_places_stop_nothing() {
        // The model's message before it computes is one byte too long.
        let mut run = model();
        run[1].1 = 99.0;
        let told = told(&model(), &run);
        assert_sane(&told);
        for (seconds, outlook) in told.iter().filter(|(at, _)| *at < 20.0) {
            assert!(
                (outlook.done - seconds / 50.0).abs() < 1e-6,
                "{seconds}: {outlook:?}"
            );
        }
    }

    #[test]
    fn more_or_fewer_bytes_than_modelled_do_no_harm() {
        for factor in [0.0, 0.5, 1.5] {
            let run: Vec<_> = model()
                .iter()
                .map(|&(at, bytes)| (at, bytes * factor))
                .collect();
            assert_sane(&told(&model(), &run));
        }
    }

    #[test]
    fn a_run_that_should_take_no_time_is_told_all_the_same() {
        assert_sane(&told(&[(0.0, 100.0), (0.0, 100.0)], &model()));
        let mut nothing = Progress::new(Timeline::default());
        let outlook = nothing.at(Duration::ZERO, 0);
        assert_eq!(outlook.done, 0.0);
    }
}
