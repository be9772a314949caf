use std::fmt;

use crate::{Error, Log2Prob, Security};

/// Rounding in the last bits of a sum must not reject shares whose sum is exactly 2^-σ.
const ROUNDING_LOG2: f64 = 1e-9;

/// One way in which a run can fail, and how likely it is at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event {
    /// The event, in a few words.
    pub name: &'static str,
    /// A bound on its probability.
    pub bound: Log2Prob,
}

/// The statistical failures of one run, which by the union bound stay below 2^-σ
/// together.
///
/// Its `Display` is a table of the events.
#[derive(Debug, Clone, PartialEq)]
pub struct FailureBudget {
    allowed: Log2Prob,
    events: Vec<Event>,
}

impl FailureBudget {
    /// Returns a budget of 2^-σ, with nothing spent.
    pub fn new(security: Security) -> Self {
        Self {
            allowed: security.failure(),
            events: Vec::new(),
        }
    }

    /// This fraction of the whole budget, whatever was spent of it.
    ///
    /// # Panics
    /// Unless 0 < `fraction` ≤ 1.
    pub fn share(&self, fraction: f64) -> Log2Prob {
        assert!(
            fraction > 0.0 && fraction <= 1.0,
            "a share is a fraction of the budget"
        );
        self.allowed.and(Log2Prob::from_log2(fraction.log2()))
    }

    /// Returns what no event has taken yet.
    pub fn remaining(&self) -> Log2Prob {
        self.allowed.minus(self.total())
    }

    /// Books an event under the bound that the derived parameters reach for it.
    ///
    /// # Errors
    /// If all events together are then likelier than 2^-σ.
    pub fn charge(&mut self, name: &'static str, bound: Log2Prob) -> Result<(), Error> {
        let total = self.total().or(bound);
        if total.log2() > self.allowed.log2() + ROUNDING_LOG2 {
            return Err(Error::BudgetExceeded {
                event: name,
                total,
                allowed: self.allowed,
            });
        }
        self.events.push(Event { name, bound });
        Ok(())
    }

    /// Returns the events booked so far.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Returns a bound on any of the events happening.
    pub fn total(&self) -> Log2Prob {
        self.events
            .iter()
            .fold(Log2Prob::ZERO, |sum, event| sum.or(event.bound))
    }
}

impl fmt::Display for FailureBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut row =
            |name: &str, bound: Log2Prob| writeln!(f, "{name:<32} {:>14}", bound.to_string());
        for event in &self.events {
            row(event.name, event.bound)?;
        }
        row("any of these", self.total())?;
        row("allowed", self.allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(log2: f64) -> Log2Prob {
        Log2Prob::from_log2(log2)
    }

    #[test]
    fn four_quarters_fit_and_a_fifth_does_not() {
        let mut budget = FailureBudget::new(Security::default());
        for name in ["a", "b", "c", "d"] {
            budget.charge(name, budget.share(0.25)).unwrap();
        }
        assert!((budget.total().log2() + 40.0).abs() < 1e-9);
        let error = budget.charge("e", p(-60.0)).unwrap_err();
        assert!(
            matches!(error, Error::BudgetExceeded { event: "e", .. }),
            "{error}"
        );
        assert_eq!(budget.events().len(), 4, "a refused event is not booked");
    }

    #[test]
    fn the_last_event_may_take_all_that_remains() {
        let mut budget = FailureBudget::new(Security::new(60).unwrap());
        budget.charge("first", p(-61.5)).unwrap();
        budget.charge("rest", budget.remaining()).unwrap();
        assert!((budget.total().log2() + 60.0).abs() < 1e-9);
    }

    #[test]
    fn prints_a_table() {
        let mut budget = FailureBudget::new(Security::default());
        budget.charge("Cuckoo hashing", p(-60.1)).unwrap();
        budget.charge("mask collision", p(-40.5)).unwrap();
        let table = budget.to_string();
        let rows: Vec<Vec<&str>> = table
            .lines()
            .map(|line| {
                line.split("  ")
                    .filter(|cell| !cell.is_empty())
                    .map(str::trim)
                    .collect()
            })
            .collect();
        assert_eq!(
            rows,
            [
                ["Cuckoo hashing", "2^-60.10"],
                ["mask collision", "2^-40.50"],
                ["any of these", "2^-40.50"],
                ["allowed", "2^-40.00"],
            ]
        );
    }
}
