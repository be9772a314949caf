//! One spelling for one value: the texts that typed columns and rules give as keys.
//!
//! # One spelling for one value
//!
//! Two tables can hold the same keys, in other types and formats, and share none. The measures
//! against that:
//!
//! - *Canonical texts.* A key is compared as a text that depends on its value, not on its type.
//!   Typed columns have such a text, which the crate `table` writes by [`typed`]; texts stay as
//!   they are, unless a rule reads them (here, one module per type). A rule gives exactly what the
//!   typed column has, so a rule is needed only on the side of the text. Rows are written with
//!   other texts, which keep what a type shows: the two never meet in the code.
//! - *Meanings.* A `Meaning` is a kind (text, number, date, …) and the rules that still matter for
//!   it: a number is a number, by its type or by the rule `number`, however much it was trimmed
//!   before. Each side tells its meanings as facts of the handshake, both compare them
//!   (`key_facts` in the crate `session`) and warn in the same cases; `--strict` makes errors of
//!   that. The kinds come from the schema and the command line, with one exception: whether a
//!   text's timestamps have a zone, and telephone numbers a country code, is seen while the table
//!   is read.
//! - *Order.* Names of key columns may differ, and are private. But `--key k,v` against `--key v,k`
//!   is the most likely mistake. So with several columns each side tells eight bits of a hash of
//!   each name, which show a permutation, but hardly a name.
//! - *Nothing is guessed.* If a table is not read in the usual way of its format, the program
//!   prints that. Anything odd is a doubt: the program prints that, too, and `--strict` refuses it.
//! - *No silent zero.* A receiver that finds next to nothing gets a warning with advice; `psijoin
//!   keys` shows its side, offline; `psijoin check` compares both sides before any data moves.

pub(crate) mod bytes;
pub(crate) mod calendar;
pub(crate) mod date_format;
pub(crate) mod mailbox;
pub(crate) mod moment;
pub(crate) mod null_words;
pub mod number;
pub(crate) mod phone;
pub(crate) mod serial;
pub(crate) mod sha256;
pub(crate) mod truth;
pub mod typed;
pub(crate) mod uuid;
pub(crate) mod zone;

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn two_digits(text: &str) -> Option<i64> {
    let is_number = text.len() == 2 && is_digits(text);
    is_number.then(|| text.parse().ok())?
}
