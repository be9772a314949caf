//! Experiments and verdicts, on made-up runs with known answers, and on a few real ones.

mod experiments;
mod made_up;
mod measurements;
mod report;
mod verdicts;
