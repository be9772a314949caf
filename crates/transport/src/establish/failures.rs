//! The attempts that failed while a party waits.

use std::{
    fmt::Display,
    mem::{self, Discriminant},
};

use super::{gate::Reporter, tells};
use crate::{Attempt, Error, Sight};

/// The failed attempts so far.
#[derive(Default)]
pub(super) struct Failures {
    most_telling: Option<Attempt>,
    logged: Vec<Discriminant<Error>>,
    /// Notes them instead.
    reporter: Option<Reporter>,
}

impl Failures {
    /// Returns those of a thread that reports them to a gate.
    pub(super) fn reported_to(reporter: Reporter) -> Self {
        Self {
            reporter: Some(reporter),
            ..Self::default()
        }
    }

    /// Returns how much they tell.
    pub(super) fn tell(&self) -> u8 {
        self.most_telling
            .as_ref()
            .map_or(0, |attempt| tells(&attempt.why))
    }

    /// Notes one, on the way to a place. The first of each kind is logged, and told to `sees`:
    /// there are few kinds, and as many attempts as there is time.
    pub(super) fn note(&mut self, error: Error, place: impl Display, sees: &dyn Fn(Sight)) {
        if let Some(reporter) = &self.reporter {
            return reporter.attempt_failed(error);
        }
        let kind = mem::discriminant(&error);
        if !self.logged.contains(&kind) {
            self.logged.push(kind);
            tracing::warn!("the other party was not met at {place} yet, trying again: {error}");
            sees(Sight::Trouble(error.to_string()));
        }
        match &mut self.most_telling {
            Some(other) if tells(&other.why) > tells(&error) => other.is_last = false,
            most_telling => {
                *most_telling = Some(Attempt {
                    why: Box::new(error),
                    is_last: true,
                });
            }
        }
    }

    pub(super) fn into_most_telling(self) -> Option<Attempt> {
        self.most_telling
    }
}
