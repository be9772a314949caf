//! The runs that are made in a given time: the cheapest first.
//!
//! So each protocol gets about as long a last run, and cheap ones get to large sets. The time left
//! can be foretold, as the next size takes about [`GROWTH`] times as long as the one before.

use std::time::Instant;

use psijoin::{Plan, Protocol, registry};
use psijoin_forecast::{FIRST_ITEMS, GROWTH, Run, Script};

use super::{Journal, JournalError, Measurement, Need, Session};

/// The limits of runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// Seconds for all of them together, with those that the journal has already. The smallest size
    /// of each protocol is run in any case.
    pub seconds: f64,
    /// The least number of times that each party runs alone.
    pub repeats: usize,
    /// Bytes of memory, if there is a limit.
    pub memory_bytes: Option<u64>,
}

/// Runs that are still to be made.
#[derive(Debug)]
pub struct Campaign {
    budget: Budget,
    tasks: Vec<Task>,
    spent_seconds: f64,
}

/// A run to be made.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Step {
    /// The need that it serves.
    pub need: Need,
    /// Items of the larger set.
    pub items: u64,
    task: usize,
}

/// About how much is left.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Left {
    /// Runs.
    pub runs: usize,
    /// Seconds.
    pub seconds: f64,
}

/// The reason that nothing was measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// The file of results cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A run failed.
    #[error("cannot measure {protocol}: {source}")]
    Run {
        /// The protocol.
        protocol: String,
        /// The error.
        source: psijoin::Error,
    },
    /// There is no protocol with this name.
    #[error("there is no protocol `{0}`")]
    Unknown(String),
}

/// A protocol, and how far it is.
#[derive(Debug)]
struct Task {
    need: Need,
    protocol: &'static Protocol,
    /// Items of the larger set of the largest run that is wanted: beyond it, the program runs
    /// parts.
    most_items: u64,
    largest: Option<Made>,
    /// Items of the larger set of the next run; none if nothing larger is wanted or possible.
    next: Option<u64>,
}

/// The largest run that was made.
#[derive(Debug, Clone, Copy)]
struct Made {
    items: u64,
    measuring_seconds: f64,
    computing_seconds: f64,
    /// Of both parties, if it is known.
    memory_bytes: Option<u64>,
}

/// The assumed time of the smallest run, before anything is known.
const GUESS_SECONDS: f64 = 0.2;

/// So long a run is repeated at most, beyond what has to be: a moment's disturbance would count too
/// much in a shorter one.
const SHORT_SECONDS: f64 = 1.0;

/// The most repetitions.
const MOST_REPEATS: usize = 5;

/// The copies of a message in memory: it is recorded, and handed out again.
const COPIES: u64 = 3;

impl Campaign {
    /// Returns what is missing of `needs`, where the journal's runs of the same machine, version,
    /// commit and campaign count as made.
    ///
    /// # Errors
    /// If there is no such protocol, or it cannot compute such an output.
    pub fn new(
        needs: Vec<Need>,
        journal: &Journal,
        session: &Session,
        budget: Budget,
    ) -> Result<Self, MeasureError> {
        let mut campaign = Self {
            budget,
            tasks: Vec::new(),
            spent_seconds: 0.0,
        };
        let known = journal.measurements().iter();
        let known = known.filter(|known| {
            known.session.is_like(session) && known.session.campaign == session.campaign
        });
        let known = Vec::from_iter(known);
        for need in needs {
            let own = known.iter().filter(|known| is_for(&need, known));
            campaign.spent_seconds += own.clone().map(|run| run.measuring_seconds).sum::<f64>();
            let largest = own.max_by_key(|run| run.run.items[0]);
            let task = Task::new(need, largest.map(|run| Made::of(run)), &budget)?;
            campaign.tasks.push(task);
        }
        Ok(campaign)
    }

    /// Returns the run that is made next, if there is time for one.
    pub fn next(&self) -> Option<Step> {
        let tasks = self.tasks.iter().enumerate();
        let open = tasks.filter_map(|(place, task)| Some((place, task.next?)));
        let seconds = |place: usize| self.tasks[place].seconds().unwrap_or(0.0);
        let (task, items) = open.min_by(|(a, _), (b, _)| seconds(*a).total_cmp(&seconds(*b)))?;
        let is_first = self.tasks[task].largest.is_none();
        let has_time = self.spent_seconds + seconds(task) <= self.budget.seconds;
        (is_first || has_time).then(|| Step {
            need: self.tasks[task].need.clone(),
            items,
            task,
        })
    }

    /// Makes a run, and writes it down.
    ///
    /// # Errors
    /// If it fails, or the journal cannot be written.
    ///
    /// # Panics
    /// As [`psijoin_forecast::measure`](fn@psijoin_forecast::measure).
    pub fn make(
        &mut self,
        step: &Step,
        journal: &mut Journal,
        session: &Session,
    ) -> Result<(), MeasureError> {
        let task = &mut self.tasks[step.task];
        let plan = task.plan(step.items)?;
        let started = Instant::now();
        let run = psijoin_forecast::measure(&plan, task.need.threads, task.repeats(&self.budget));
        let measurement = Measurement {
            session: session.clone(),
            protocol: task.need.protocol.clone(),
            output: task.need.described(),
            threads: task.need.threads,
            run: run.map_err(task.need.failed())?,
            measuring_seconds: started.elapsed().as_secs_f64(),
        };
        self.spent_seconds += measurement.measuring_seconds;
        task.advance(Made::of(&measurement), &self.budget)?;
        Ok(journal.append(measurement)?)
    }

    /// Returns the work that is left, at the present pace.
    pub fn left(&self) -> Left {
        let guess = self.smallest_seconds().unwrap_or(GUESS_SECONDS);
        let open = self.tasks.iter().filter_map(|task| {
            let seconds = task.seconds().unwrap_or(guess);
            Some((seconds, task.next?, task.most_items))
        });
        let mut open = Vec::from_iter(open);
        let mut left = Left {
            runs: 0,
            seconds: 0.0,
        };
        let by_seconds = |a: &(f64, u64, u64), b: &(f64, u64, u64)| a.0.total_cmp(&b.0);
        loop {
            open.sort_by(by_seconds);
            let Some((seconds, items, most)) = open.first_mut() else {
                break;
            };
            let is_first = *items == FIRST_ITEMS;
            if !is_first && self.spent_seconds + left.seconds + *seconds > self.budget.seconds {
                break;
            }
            left.runs += 1;
            left.seconds += *seconds;
            match next_size(*items, *most) {
                Some(next) => {
                    *seconds *= next as f64 / *items as f64;
                    *items = next;
                }
                None => {
                    open.remove(0);
                }
            }
        }
        left
    }

    /// Returns what the smallest runs took in the mean.
    fn smallest_seconds(&self) -> Option<f64> {
        let made = self.tasks.iter().filter_map(|task| task.largest);
        let smallest = made.filter(|made| made.items == FIRST_ITEMS);
        let seconds = Vec::from_iter(smallest.map(|made| made.measuring_seconds));
        (!seconds.is_empty()).then(|| seconds.iter().sum::<f64>() / seconds.len() as f64)
    }
}

impl Task {
    fn new(need: Need, largest: Option<Made>, budget: &Budget) -> Result<Self, MeasureError> {
        let protocol = registry::find(&need.protocol);
        let protocol = protocol.ok_or_else(|| MeasureError::Unknown(need.protocol.clone()))?;
        let mut task = Self {
            most_items: largest_run(protocol, &need).map_err(need.failed())?,
            need,
            protocol,
            largest,
            next: None,
        };
        task.next = task.larger(budget)?;
        Ok(task)
    }

    fn advance(&mut self, made: Made, budget: &Budget) -> Result<(), MeasureError> {
        self.largest = Some(made);
        self.next = self.larger(budget)?;
        Ok(())
    }

    /// Returns the next size, if it is wanted and possible.
    fn larger(&self, budget: &Budget) -> Result<Option<u64>, MeasureError> {
        let next = match self.largest {
            None => Some(FIRST_ITEMS),
            Some(made) => next_size(made.items, self.most_items),
        };
        let Some(items) = next else {
            return Ok(None);
        };
        let plan = self.plan(items)?;
        let has_room = match (budget.memory_bytes, self.memory_bytes(&plan)) {
            (Some(most), Some(taken)) => taken <= most,
            _ => true,
        };
        Ok((plan.feasible().is_ok() && has_room).then_some(items))
    }

    fn plan(&self, items: u64) -> Result<Plan, MeasureError> {
        let Need {
            variant, output, ..
        } = &self.need;
        let request = variant.request(variant.sizes(items), output);
        let plan = request.and_then(|request| self.protocol.plan(&request));
        plan.map_err(self.need.failed())
    }

    /// Returns what the next size will take in memory: as the parties grow, with their messages.
    fn memory_bytes(&self, plan: &Plan) -> Option<u64> {
        let parties = self.largest?.memory_bytes?.saturating_mul(GROWTH);
        let messages = plan.cost().total.total_bytes().saturating_mul(COPIES);
        Some(parties.saturating_add(messages))
    }

    /// Returns what the next size will take; none for the first one.
    fn seconds(&self) -> Option<f64> {
        let made = self.largest?;
        let growth = self.next.unwrap_or(made.items * GROWTH) as f64 / made.items as f64;
        Some(made.measuring_seconds * growth)
    }

    fn repeats(&self, budget: &Budget) -> usize {
        let computing = self.largest.map_or(0.0, |made| made.computing_seconds);
        repeats(computing * GROWTH as f64, budget.repeats)
    }
}

/// Returns the size of the run after one of this size: four times as large, or else as large as is
/// wanted.
fn next_size(items: u64, most: u64) -> Option<u64> {
    (items < most).then(|| most.min(items * GROWTH))
}

/// Returns the size of the largest run that a need comes down to: that of a part
/// follows from it, if the program runs larger sets in parts.
fn largest_run(protocol: &'static Protocol, need: &Need) -> Result<u64, psijoin::Error> {
    let mut items = need.most_items.max(FIRST_ITEMS);
    let Need {
        variant, output, ..
    } = need;
    if variant.item_bits.is_some() {
        return Ok(items);
    }
    loop {
        let request = variant.request(variant.sizes(items), output)?;
        let is_in_parts = |plan: Plan| plan.parts().is_some();
        match psijoin::plan(protocol, &request).is_ok_and(is_in_parts) {
            true => items /= 2,
            false => return Ok(items),
        }
    }
}

/// Returns how often a run is repeated that takes so long, if it has to be `least` times.
fn repeats(computing_seconds: f64, least: usize) -> usize {
    let fitting = (SHORT_SECONDS / computing_seconds) as usize;
    fitting.min(MOST_REPEATS).max(least)
}

impl Made {
    fn of(measurement: &Measurement) -> Self {
        let Run {
            items,
            scripts,
            memory_bytes,
            ..
        } = &measurement.run;
        let [sender, receiver] = memory_bytes;
        Self {
            items: items[0],
            measuring_seconds: measurement.measuring_seconds,
            computing_seconds: scripts.iter().map(Script::computing).sum(),
            memory_bytes: sender.zip(*receiver).map(|(a, b)| a.saturating_add(b)),
        }
    }
}

impl Need {
    fn failed(&self) -> impl Fn(psijoin::Error) -> MeasureError {
        let protocol = self.protocol.clone();
        move |source| MeasureError::Run {
            protocol: protocol.clone(),
            source,
        }
    }
}

/// Returns whether a run is what somebody needs.
fn is_for(need: &Need, measurement: &Measurement) -> bool {
    let sizes = need.variant.sizes(measurement.run.items[0]);
    let is = (&measurement.protocol, measurement.threads) == (&need.protocol, need.threads);
    is && measurement.output == need.described() && measurement.run.items == sizes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variants::Variant;

    #[test]
    fn short_runs_are_repeated() {
        let seconds = [0.0, 0.1, 0.3, 0.45, 10.0];
        assert_eq!(seconds.map(|seconds| repeats(seconds, 1)), [5, 5, 3, 2, 1]);
        assert_eq!(seconds.map(|seconds| repeats(seconds, 3)), [5, 5, 3, 3, 3]);
    }

    #[test]
    fn sizes_grow_to_the_largest_run() {
        assert_eq!(next_size(256, 1 << 12), Some(1024));
        assert_eq!(next_size(1 << 20, 1 << 21), Some(1 << 21));
        assert_eq!(next_size(1 << 21, 1 << 21), None);
        let largest = |name: &str, log2: u32| {
            let need = Need {
                protocol: name.into(),
                output: psijoin::OutputKind::Rows,
                variant: Variant::default(),
                threads: 1,
                most_items: 1 << log2,
            };
            largest_run(registry::find(name).unwrap(), &need).unwrap()
        };
        assert_eq!(largest("rr22", 18), 1 << 18);
        assert_eq!(largest("rr22", 24), 1 << 21);
    }
}
