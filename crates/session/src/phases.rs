//! The time of each phase of a run.

use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

use psijoin::Observer;
use serde::Serialize;

/// One phase and its time.
#[derive(Debug, Clone, Serialize)]
pub struct Phase {
    /// Its name.
    pub name: &'static str,
    /// The time that it took.
    pub seconds: f64,
}

impl Phase {
    /// Returns the time as a duration.
    pub fn duration(&self) -> Duration {
        Duration::from_secs_f64(self.seconds)
    }
}

/// Notes when phases begin.
#[derive(Debug, Default)]
pub struct Phases(Mutex<Vec<(&'static str, Instant)>>);

impl Phases {
    /// Notes that a phase begins now.
    pub fn begin(&self, name: &'static str) {
        self.phase(name, Instant::now());
    }

    /// Ends the last phase, and returns all. A name that came up several times is listed once, with
    /// the sum of its times.
    pub fn end(self) -> Vec<Phase> {
        let starts = self
            .0
            .into_inner()
            .expect("nothing panics while it notes a phase");
        let ends = starts
            .iter()
            .skip(1)
            .map(|&(_, start)| start)
            .chain([Instant::now()]);
        let mut phases: Vec<Phase> = Vec::new();
        for (&(name, start), end) in starts.iter().zip(ends) {
            let seconds = end.duration_since(start).as_secs_f64();
            match phases.iter_mut().find(|phase| phase.name == name) {
                Some(phase) => phase.seconds += seconds,
                None => phases.push(Phase { name, seconds }),
            }
        }
        phases
    }
}

impl Observer for Phases {
    fn phase(&self, name: &'static str, now: Instant) {
        self.0
            .lock()
            .expect("nothing panics while it notes a phase")
            .push((name, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_lasts_until_the_next_and_repeats_add_up() {
        let phases = Phases::default();
        let start = Instant::now() - Duration::from_secs(10);
        for (name, second) in [("a", 0), ("b", 1), ("a", 3), ("c", 7)] {
            phases.phase(name, start + Duration::from_secs(second));
        }
        let phases = phases.end();
        let names: Vec<_> = phases.iter().map(|phase| phase.name).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert_eq!((phases[0].seconds, phases[1].seconds), (5.0, 2.0));
        assert!(phases[2].seconds >= 3.0);
    }
}
