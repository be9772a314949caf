//! Profiles of many protocols, measured on one machine.

use std::sync::LazyLock;

use psijoin_psi::OutputKind;
use serde::{Deserialize, Serialize};

use crate::Profile;

/// Profiles of many protocols, measured on one machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// The processor's name.
    pub processor: String,
    /// The version of psijoin.
    pub version: String,
    /// What was measured.
    pub profiles: Vec<Profile>,
}

impl Calibration {
    /// The one that comes with psijoin.
    pub fn shipped() -> &'static Self {
        static SHIPPED: LazyLock<Calibration> = LazyLock::new(|| {
            let text = include_str!("../calibration.json");
            serde_json::from_str(text).expect("a test reads it")
        });
        &SHIPPED
    }

    /// The one of another machine, on which each profile's computing takes `ratio` times as long.
    #[must_use]
    pub fn scaled(&self, ratio: impl Fn(&Profile) -> f64) -> Self {
        let profiles = self.profiles.iter();
        let profiles = profiles.map(|profile| profile.scaled(ratio(profile)));
        Self {
            profiles: profiles.collect(),
            ..self.clone()
        }
    }

    /// The profile of a protocol for this kind of output, whatever its columns and thresholds.
    pub fn profile(&self, protocol: &str, output: &OutputKind) -> Option<&Profile> {
        let kind = kind(output);
        let fits = |profile: &&Profile| profile.protocol == protocol && profile.output == kind;
        self.profiles.iter().find(fits)
    }
}

/// The kind of an output, without columns or numbers.
pub fn kind(output: &OutputKind) -> &'static str {
    match output {
        OutputKind::Rows => "rows",
        OutputKind::Count => "count",
        OutputKind::Threshold(_) => "threshold",
        OutputKind::Sums(_) => "sum",
        OutputKind::Shares(_) => "shares",
        _ => "another",
    }
}
