//! Verdicts on the papers' conclusions, computed from figures: ours, or the paper's own.
//!
//! The conclusions are quoted in `published/conclusions.md` of this crate. Each is a [`Claim`]
//! here, by the same id, and a relation between quantities; or it has the reason why runs cannot
//! confirm it. `rule` says how relations decide.

mod claim;
mod cm20;
mod kk20;
mod kkrt16;
mod psz14;
mod relation;
mod rule;
mod spot19;
mod tally;
mod term;

pub use claim::{Claim, Outcome, Verdict};

/// Returns all claims, paper by paper.
pub fn claims() -> impl Iterator<Item = &'static Claim> {
    let papers = [
        psz14::CLAIMS,
        kkrt16::CLAIMS,
        spot19::CLAIMS,
        cm20::CLAIMS,
        kk20::CLAIMS,
    ];
    papers.into_iter().flatten()
}

/// Returns the claims that belong to an experiment.
pub fn of(experiment: &str) -> impl Iterator<Item = &'static Claim> {
    claims().filter(move |claim| claim.experiment == experiment)
}
