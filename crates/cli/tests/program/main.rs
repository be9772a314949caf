//! The program as its users see it: real processes, real files, real sockets.

/// The program under test, for [`support`].
const PROGRAM: &str = env!("CARGO_BIN_EXE_psijoin");

#[cfg(target_os = "linux")]
mod answered_once;
mod bad_input;
mod bad_peers;
#[cfg(unix)]
mod budgets;
mod carriers;
mod cheats;
mod commands;
mod consent;
mod documents;
mod ends;
mod fake_peers;
#[cfg(unix)]
mod files;
#[cfg(unix)]
mod first_sessions;
mod from_rust;
mod functions;
#[cfg(target_os = "linux")]
mod given_memory;
mod giving;
mod grid;
mod groups;
mod groups_in_jobs;
mod help;
mod inputs;
mod inviting;
mod jobs;
mod joining;
mod learning;
#[cfg(unix)]
mod lift;
mod line;
mod listener;
#[cfg(target_os = "linux")]
mod meeting_faults;
mod meeting_places;
#[cfg(target_os = "linux")]
mod memory;
mod minimum;
#[path = "../../../transport/tests/loopback/older.rs"]
mod older;
mod passphrases;
mod plan;
mod post_quantum;
mod questions;
mod quotes;
mod records;
mod relays;
mod round_trips;
mod shares;
mod short_keys;
mod spilling;
mod statements;
mod sums;
mod support;
mod terminals;
mod texts;
#[cfg(unix)]
mod tutorial;
mod unlike_keys;
mod usage;
#[cfg(unix)]
mod valve;
#[cfg(unix)]
mod weekly;
mod which_rows;
