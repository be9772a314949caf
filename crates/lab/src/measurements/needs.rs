//! What has to be measured.

use psijoin::{OutputKind, Protocol, registry};
use psijoin_forecast::{Effort, Profile, Run, next_plan};

use super::{Journal, JournalError, Measured, Measurement, Session, grouped};

/// What has to be measured of a protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// The protocol's name.
    pub protocol: String,
    /// What is learned.
    pub output: OutputKind,
    /// Threads per party.
    pub threads: usize,
    /// Items per party of the largest run that somebody asks for.
    pub most_items: u64,
}

/// Why nothing was measured.
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
        /// What happened.
        source: psijoin::Error,
    },
    /// There is no such protocol.
    #[error("there is no protocol `{0}`")]
    Unknown(String),
}

impl Need {
    fn find(&self) -> Result<&'static Protocol, MeasureError> {
        registry::find(&self.protocol).ok_or_else(|| MeasureError::Unknown(self.protocol.clone()))
    }

    fn effort(&self, effort: Effort) -> Effort {
        Effort {
            most_items: effort.most_items.min(self.most_items),
            ..effort
        }
    }

    fn known(&self, measured: Option<&Measured>) -> Vec<Run> {
        let output = self.output.to_string();
        let profile = |measured: &Measured| {
            let profile = measured.profile(&self.protocol, &output, self.threads);
            profile.map(|profile: &Profile| profile.runs.clone())
        };
        measured.and_then(profile).unwrap_or_default()
    }

    fn failed(&self) -> impl Fn(psijoin::Error) -> MeasureError {
        let protocol = self.protocol.clone();
        move |source| MeasureError::Run {
            protocol: protocol.clone(),
            source,
        }
    }
}

/// The needs of which a run is missing yet.
///
/// # Errors
/// If there is no such protocol, or it cannot compute such an output.
pub fn missing(
    needs: &[Need],
    measured: Option<&Measured>,
    effort: Effort,
) -> Result<Vec<Need>, MeasureError> {
    let mut missing = Vec::new();
    for need in needs {
        let known = need.known(measured);
        let next = next_plan(need.find()?, &need.output, need.effort(effort), &known);
        if next.map_err(need.failed())?.is_some() {
            missing.push(need.clone());
        }
    }
    Ok(missing)
}

/// Measures what is missing of a need, and writes each run down. `tell` hears of it.
///
/// What the journal has of the same machine and version counts as measured.
///
/// # Errors
/// If there is no such protocol, a run fails, or the journal cannot be written.
///
/// # Panics
/// As [`psijoin_forecast::measure`](fn@psijoin_forecast::measure).
pub fn measure(
    journal: &mut Journal,
    session: &Session,
    need: &Need,
    effort: Effort,
    mut tell: impl FnMut(&Run),
) -> Result<(), MeasureError> {
    let groups = grouped(journal.measurements());
    let mut runs = need.known(groups.iter().find(|group| group.is_of(session)));
    let (protocol, effort) = (need.find()?, need.effort(effort));
    while let Some(plan) =
        next_plan(protocol, &need.output, effort, &runs).map_err(need.failed())?
    {
        let run = psijoin_forecast::measure(&plan, need.threads, effort.repeats);
        let run = run.map_err(need.failed())?;
        journal.append(Measurement {
            session: session.clone(),
            protocol: need.protocol.clone(),
            output: need.output.to_string(),
            threads: need.threads,
            run: run.clone(),
        })?;
        tell(&run);
        runs.push(run);
    }
    Ok(())
}
