//! Columns that one party gives to the other, for the keys that they share.
//!
//! A protocol carries one *payload* for each key of the sender, all of one length, and hands the receiver
//! those of its shared keys. This is the way of rows into payloads and back. What a payload means is told
//! beside the protocol, as a [`PayloadLayout`].
//!
//! The sender:
//!
//! ```no_run
//! # use psijoin_table::{Error, KeyTable, Progress, Source, given::*};
//! # fn send(source: &Source, keys: &KeyTable, names: &[String], wanted: &[String]) -> Result<(), Error> {
//! # let progress = Progress::default();
//! let offered = GivenColumns::of(source, names)?; // The receiver gets its bytes, and answers with names.
//! let columns = offered.take(wanted)?;
//! let repeated = RepeatedKeys::Refuse;
//! let rows = keys.rows.given(repeated)?;
//! let row_bytes = rows.longest_row(source, &columns, &progress)?;
//! let layout = PayloadLayout::new(columns, row_bytes, repeated)?; // The receiver gets its bytes, too.
//! let payloads = rows.payloads(source, &layout, &progress)?; // One for each of keys.fingerprints.
//! # Ok(())
//! # }
//! ```
//!
//! The receiver:
//!
//! ```no_run
//! # use psijoin_table::{Destination, Error, KeyTable, Progress, Source, given::*};
//! # fn receive(
//! #     (told, bytes): (&[u8], Vec<u8>),
//! #     source: &Source,
//! #     keys: &KeyTable,
//! #     shared: &[u32],
//! #     destination: Destination,
//! # ) -> Result<(), Error> {
//! # let progress = Progress::default();
//! let layout = PayloadLayout::from_bytes(told)?;
//! let destination = destination.adding(layout.columns(), "partner_", source)?;
//! let payloads = Payloads::new(layout, bytes); // One for each of the shared items.
//! let rows = keys.rows.partners(shared);
//! destination.stage_joined(source, &rows, &payloads, &progress)?.commit()?;
//! # Ok(())
//! # }
//! ```
//!
//! # Columns
//!
//! Columns have types: texts, integers, decimals, floating-point numbers of 32 and 64 bits, booleans, dates,
//! timestamps, times of day and binary data. They arrive with the type that they have in Parquet or Arrow,
//! except that a dictionary arrives as its values. UUIDs and JSON stay such. Columns of CSV, TSV and lines are
//! texts without nulls. Other types, and extension types, are an error.
//!
//! # Bytes
//!
//! A row is a flag for each column, set for a null, in as many bytes as they take, the lowest bit of each first;
//! and then the values that are not null. Values of a fixed width are in little endian, a boolean is a byte, and a
//! text or binary data has its length before it, in two bytes. So a row says where it ends. The rest of its slot is
//! zeros.
//!
//! Whatever a sender has put into a payload, the receiver gets values of the agreed types, or an error. A payload
//! is refused if a value is cut off, a text is not UTF-8, a boolean is neither 0 nor 1, a null stands where
//! none can, a decimal has too many digits, a time of day is outside of the day, a number of rows is not between 1 and K,
//! or anything but zeros follows.

mod appended;
mod columns;
mod decode;
mod encode;
mod fault;
mod layout;
mod partitioned;
mod payloads;
mod ranges;
mod read;
mod rows;
mod wire;

pub use columns::{GivenColumns, MAX_GIVEN_COLUMNS, MAX_GIVEN_NAME_BYTES};
pub use layout::{MAX_PAYLOAD_BYTES, PayloadLayout, RepeatedKeys};
pub use partitioned::PartitionedPayloads;
pub(crate) use payloads::Partner;
pub use payloads::{PartnerRows, Payloads};
pub use ranges::PayloadRanges;
pub(crate) use ranges::RowPayloads;
pub use read::TakeRow;
pub use rows::GivenRows;
pub(crate) use rows::PayloadOfRow;
