//! Profiles of many protocols, measured on one machine.

use std::sync::LazyLock;

use psijoin_psi::{Columns, OutputKind, Payloads, Plan};
use serde::{Deserialize, Serialize};

use crate::{
    Prediction, Profile, Run,
    memory::{listed, of_groups},
    profile::of_one_run,
};

/// Profiles of many protocols, measured on one machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// The processor's name.
    pub processor: String,
    /// The version of psijoin.
    pub version: String,
    /// The measured profiles.
    pub profiles: Vec<Profile>,
}

/// The reason that something is not a calibration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidCalibration {
    /// It cannot be read.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// No run has sets of equal size, or a number is impossible.
    #[error("nothing can be predicted from the profile of {protocol} for {output}")]
    Profile {
        /// The protocol.
        protocol: String,
        /// The kind of its output.
        output: String,
    },
}

impl Calibration {
    /// Returns the one that comes with psijoin.
    pub fn shipped() -> &'static Self {
        static SHIPPED: LazyLock<Calibration> = LazyLock::new(|| {
            let text = include_bytes!("../calibration.json");
            Calibration::from_json(text).expect("a test reads it")
        });
        &SHIPPED
    }

    /// Returns the one of another machine, on which each profile's computing takes `ratio` times as
    /// long.
    #[must_use]
    pub fn scaled(&self, ratio: impl Fn(&Profile) -> f64) -> Self {
        let profiles = self.profiles.iter();
        let profiles = profiles.map(|profile| profile.scaled(ratio(profile)));
        Self {
            profiles: profiles.collect(),
            ..self.clone()
        }
    }

    /// Lets each party of each run take its time from `other`, another calibration of the same
    /// machine, if it was faster there: what disturbs a machine only adds to a run. Runs that
    /// `other` does not have stay, and so does all memory.
    pub fn take_faster(&mut self, other: &Self) {
        for profile in &mut self.profiles {
            let Some(others) = other.of_kind(&profile.protocol, &profile.output) else {
                continue;
            };
            for run in &mut profile.runs {
                let mut others = others.runs.iter();
                if let Some(other) = others.find(|other| other.items == run.items) {
                    run.take_faster(other);
                }
            }
        }
    }

    /// Reads what was written as JSON.
    ///
    /// # Errors
    /// If it is not a calibration, or nothing can be predicted from it.
    pub fn from_json(text: &[u8]) -> Result<Self, InvalidCalibration> {
        let calibration: Self = serde_json::from_slice(text)?;
        let invalid = |profile: &&Profile| {
            !profile.runs.iter().any(Run::has_equal_sizes)
                || !profile.runs.iter().all(Run::is_possible)
        };
        match calibration.profiles.iter().find(invalid) {
            None => Ok(calibration),
            Some(Profile {
                protocol, output, ..
            }) => Err(InvalidCalibration::Profile {
                protocol: protocol.clone(),
                output: output.clone(),
            }),
        }
    }

    /// Returns what a run of this plan takes, with this many threads per party, and the memory of
    /// one stream; nothing if its protocol and output were not measured. Memory also follows from
    /// [listed](crate::listed_runs) runs. Groups take as long as sums that
    /// [send as much](Profile::predict_by_bytes), and need more memory than a sum.
    pub fn predict(&self, plan: &Plan, threads: usize) -> Option<Prediction> {
        let (protocol, output) = (plan.info().name, &plan.request().output);
        let (profile, groups) = match (self.profile(protocol, output), output) {
            (Some(profile), _) => (profile, None),
            (None, OutputKind::Groups(groups)) => (self.of_kind(protocol, "sum")?, Some(*groups)),
            (None, _) => return None,
        };
        let mut prediction = match groups {
            None => profile.predict(plan),
            Some(_) => profile.predict_by_bytes(plan),
        };
        let memory = profile.memory_with(listed(protocol, &profile.output), plan);
        let with_groups = |bytes: f64| match groups {
            None => bytes,
            Some(groups) => of_groups(of_one_run(plan), groups, bytes),
        };
        prediction.memory_bytes = memory.map(|bytes| bytes.map(with_groups));
        Some(prediction.with_threads(threads))
    }

    /// Returns the profile of a protocol for this kind of output, whatever its columns, thresholds
    /// and lengths of payloads.
    pub fn profile(&self, protocol: &str, output: &OutputKind) -> Option<&Profile> {
        self.of_kind(protocol, kind(output))
    }

    fn of_kind(&self, protocol: &str, kind: &str) -> Option<&Profile> {
        let fits = |profile: &&Profile| profile.protocol == protocol && profile.output == kind;
        self.profiles.iter().find(fits)
    }
}

/// Returns an output of each kind that is measured: with a column of the sender if it has columns,
/// and with payloads of 32 bytes.
pub fn measured_outputs() -> [OutputKind; 7] {
    let column = Columns {
        sender: 1,
        receiver: 0,
    };
    let payloads = |back| {
        OutputKind::Payloads(Payloads {
            from_sender: 32,
            back,
        })
    };
    [
        OutputKind::Rows,
        payloads(None),
        payloads(Some(32)),
        OutputKind::Count,
        OutputKind::Threshold(1),
        OutputKind::Sums(column),
        OutputKind::Shares(column),
    ]
}

/// Returns the kind of an output, without columns or numbers.
pub fn kind(output: &OutputKind) -> &'static str {
    match output {
        OutputKind::Rows => "rows",
        OutputKind::Payloads(Payloads { back: None, .. }) => "payloads",
        OutputKind::Payloads(Payloads { back: Some(_), .. }) => "payloads both ways",
        OutputKind::Count => "count",
        OutputKind::Threshold(_) => "threshold",
        OutputKind::Sums(_) => "sum",
        OutputKind::Shares(_) => "shares",
        _ => "another",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_that_is_shipped_can_be_read() {
        Calibration::shipped();
    }

    #[test]
    fn each_party_takes_its_faster_run() {
        let calibration = |scripts: [&str; 2], on_two_threads: [f64; 2]| {
            let run = |items, scripts: [&str; 2], on_two_threads| Run {
                items: [items; 2],
                scripts: scripts.map(|script| script.parse().unwrap()),
                memory_bytes: [Some(7); 2],
                on_two_threads,
                seconds: Default::default(),
                phases: None,
            };
            let profile = Profile {
                protocol: "dh".into(),
                output: "rows".into(),
                threads: 1,
                runs: vec![
                    run(9, scripts, Some(on_two_threads)),
                    run(8, ["5", "5"], None),
                ],
            };
            Calibration {
                processor: String::new(),
                version: String::new(),
                profiles: vec![profile],
            }
        };
        let mut ours = calibration(["20s8", "30r8"], [2.0, 3.0]);
        let mut theirs = calibration(["10s8", "40r8"], [4.0, 1.0]);
        theirs.profiles[0].runs.truncate(1);
        ours.take_faster(&theirs);
        assert_eq!(ours, calibration(["10s8", "30r8"], [2.0, 1.0]));

        theirs.profiles[0].output = "count".into();
        let before = ours.clone();
        ours.take_faster(&theirs);
        assert_eq!(ours, before);
    }

    #[test]
    fn what_predicts_nothing_is_refused() {
        let run = r#"{"items": [9, 9], "scripts": [[{"work": 1}], []], "memory_bytes": [null, 5]}"#;
        let calibration = |runs: &str| {
            let profile = r#"{"protocol": "dh", "output": "rows", "threads": 1, "runs": "#;
            let text =
                format!(r#"{{"processor": "", "version": "", "profiles": [{profile}[{runs}]}}]}}"#);
            Calibration::from_json(text.as_bytes()).map_err(|error| error.to_string())
        };
        calibration(run).unwrap();
        let refusal = "nothing can be predicted from the profile of dh for rows";
        for (from, to) in [
            (run, ""),
            ("[9, 9]", "[9, 8]"),
            ("[9, 9]", "[0, 0]"),
            ("[{\"work\": 1}]", "[{\"work\": -1}]"),
            ("[{\"work\": 1}]", "[{\"send\": [1e9, 1, 0]}]"),
        ] {
            assert_eq!(calibration(&run.replace(from, to)).unwrap_err(), refusal);
        }
        let broken = calibration("{").unwrap_err();
        assert!(broken.contains("at line 1"), "{broken}");
    }
}
