//! The hashing laboratory: how often items find no place, measured, beside the bounds that
//! `psijoin_params` proves and the figures that papers print.
//!
//! ```sh
//! cargo run --release -p psijoin-encode --example hashing [EFFORT]
//! ```
//!
//! EFFORT times the default number of runs (1: a minute on one core). The figures depend on the
//! effort only: run i hashes items 0, 1, 2 … with functions of seed i. docs/hashing.md has the
//! results. The program fails if a rate is above its bound by more than three standard deviations.

#![expect(clippy::print_stdout, reason = "tables are what it is for")]

use std::process::ExitCode;

mod cuckoo;
mod ours;
mod published;
mod random_walk;
mod report;
mod runs;
mod simple;
mod stashes;
mod table_4;
mod two_choice;

use report::Report;
use runs::Effort;

fn main() -> ExitCode {
    let effort = match std::env::args().nth(1).map(|effort| effort.parse()) {
        None => 1.0,
        Some(Ok(effort)) if effort > 0.0 => effort,
        Some(_) => {
            eprintln!("usage: hashing [EFFORT], a number above 0");
            return ExitCode::FAILURE;
        }
    };
    print_tables(Effort(effort)).end()
}

fn print_tables(effort: Effort) -> Report {
    let mut report = Report::default();
    simple::table_10(effort, &mut report);
    table_4::print(effort);
    simple::against_the_bound(effort, &mut report);
    two_choice::against_the_bound(effort, &mut report);
    two_choice::spot19(effort, &mut report);
    cuckoo::against_the_bound(effort, &mut report);
    cuckoo::two_functions(effort);
    stashes::needed(effort);
    stashes::proved();
    report
}

#[test]
fn bounds_are_kept_at_a_thousandth_of_the_runs() {
    assert_eq!(print_tables(Effort(0.001)).end(), ExitCode::SUCCESS);
}
