//! From the texts of a key to its fingerprint.
//!
//! ```
//! use psijoin_key::KeySpec;
//!
//! let key = KeySpec::new(vec!["mail".into()], vec!["mail=email".parse()?])?;
//! let fingerprint = key.fingerprint(&[" Ann@Example.org"])?;
//! assert_eq!(fingerprint, key.fingerprint(&["ann@example.org"])?);
//! assert!(fingerprint.is_some());
//! assert_eq!(key.fingerprint(&[" "])?, None, "no key");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it promises
//!
//! - A fingerprint depends on the key's columns, in their order, and on nothing else: not on the
//!   table, its format, the other rows, or the machine. Each field becomes a canonical text by its
//!   column's rules ([`Rule`]), in their order, and by no others. The texts, each after its length
//!   as 64 bits in little-endian order, are hashed by BLAKE3 with the context
//!   `psijoin 2026-01 table key fingerprint v1`, so that `("ab", "c")` is not `("a", "bc")`.
//! - A row without all fields of its key has no fingerprint: a field is none if it is empty once
//!   the rules are applied.
//! - A text that a rule cannot read is a [`KeyFault`], which holds nothing of the text.
//! - [`SPELLING_VERSION`] changes whenever any value gets another text. Rules that rest on tables
//!   of others (Unicode, time zones, numbering plans) tell their versions, which parties compare.
//! - What a column means ([`Meaning`]) tells neither names nor values.
//! - Nothing here knows files, or the Arrow format. Who reads typed columns writes their values by
//!   [`typed`], so that a typed value has the text that a rule gives to it.
//!
//! [`Fingerprinter`] does all of it for many rows at once, in the order of [`KeyColumns`], and
//! collects what [`KeySpec::fingerprint`] does not: what a column means, and what is suspicious.

#![forbid(unsafe_code)]

pub mod bad_cells;
pub mod bad_keys;
mod byte_words;
pub mod column_names;
mod columns;
mod error;
mod fault;
mod fingerprint;
mod fingerprinter;
mod meaning;
mod observed;
pub mod panics;
mod places;
mod rules;
mod spec;
mod spelling;
mod suspicion;

pub use bad_cells::BadCells;
pub use bad_keys::{BadCellsOfKey, BadKeys};
pub use columns::{KeyColumn, KeyColumns};
pub use error::Error;
pub use fault::KeyFault;
pub use fingerprinter::Fingerprinter;
pub use meaning::{Kind, Meaning};
pub use observed::{Look, Observed, Seen};
pub use panics::is_panic_contained;
pub use places::{Located, Place, Places};
pub use rules::{ColumnRules, Rule, SPELLING_VERSION};
pub use spec::KeySpec;
pub use spelling::{
    date_format::DateFormat, null_words::NullWords, number, phone::Country, serial::UnixUnit,
    typed, zone::Zone,
};
pub use suspicion::{Suspects, Suspicion};
