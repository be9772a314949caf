//! Columns that one party gives to the other, for the keys that they share.
//!
//! A protocol carries one *payload* for each key of the sender, all of one length, and hands the
//! receiver those of its shared keys. This is the way of rows into payloads and back. The meaning
//! of a payload is told beside the protocol, as a [`PayloadLayout`].
//!
//! The sender:
//!
//! ```no_run
//! # use psijoin_table::{Error, Progress, Source, TableKeys, share::*};
//! # fn send(source: &Source, keys: &TableKeys, names: &[String], wanted: &[String]) -> Result<(), Error> {
//! # let progress = Progress::default();
//! let offered = GivenColumns::of(source, names)?; // The receiver gets its bytes, and answers with names.
//! let columns = offered.take(wanted)?;
//! let repeated = RepeatedKeys::Refuse;
//! let rows = keys.given(repeated)?;
//! let row_bytes = rows.longest_row(source, &columns, &progress)?;
//! let layout = PayloadLayout::new(columns, row_bytes, repeated)?; // The receiver gets its bytes, too.
//! let payloads = rows.payloads(source, &layout, &progress)?; // One for each of the items.
//! # Ok(())
//! # }
//! ```
//!
//! The receiver:
//!
//! ```no_run
//! # use psijoin_files::spill::Spill;
//! # use psijoin_table::{Destination, Error, Progress, SharedKeys, Source, TableKeys, share::*};
//! # fn receive(
//! #     (told, bytes): (&[u8], Vec<u8>),
//! #     source: &Source,
//! #     keys: &TableKeys,
//! #     first_rows: Vec<u32>,
//! #     destination: Destination,
//! # ) -> Result<(), Error> {
//! # let progress = Progress::default();
//! let layout = PayloadLayout::from_bytes(told)?;
//! let destination = destination.adding(layout.columns(), "partner_", source)?;
//! let shared = SharedKeys::InMemory { first_rows, payloads: bytes }; // One for each shared key.
//! let (rows, payloads) = keys.partners(shared, &layout, &Spill::in_memory())?;
//! destination.stage_joined(source, &rows, &payloads, &progress)?.commit()?;
//! # Ok(())
//! # }
//! ```
//!
//! # Columns
//!
//! Columns have types: texts, integers, decimals, floating-point numbers of 32 and 64 bits,
//! booleans, dates, timestamps, times of day and binary data. They arrive with the type that they
//! have in Parquet or Arrow, except that a dictionary arrives as its values. UUIDs and JSON stay
//! such. Columns of CSV, TSV and lines are texts without nulls. Other types, and extension types,
//! are an error.
//!
//! # Bytes
//!
//! A row is a flag for each column, set for a null, in as many bytes as they take, the lowest bit
//! of each first; and then the values that are not null. Values of a fixed width are in little
//! endian, a boolean is a byte, and a text or binary data has its length before it, in two bytes.
//! So the end of a row follows from it. The rest of its slot is zeros.
//!
//! Whatever a sender has put into a payload, the receiver gets values of the agreed types, or an
//! error. A payload is refused if a value is cut off, a text is not UTF-8, a boolean is neither 0
//! nor 1, a null stands where none can, a decimal has too many digits, a time of day is outside of
//! the day, a number of rows is not between 1 and K, or anything but zeros follows.
//!
//! # How rows come and go
//!
//! nothing of their contents. The module's documentation has the encoding byte by byte. The
//! following is about the sender; the receiver gives in the same way, after the sender.
//!
//! - *Two things are told.* The sender offers columns (`GivenColumns`), and the receiver takes some
//!   by name. Both know the taken ones then, so nothing else is encoded. With them comes how rows
//!   stand in payloads (`PayloadLayout`): the bytes of a row's slot, and how many slots a list has.
//!   Both are told in one canonical form with a version. Reading it allocates for what is there,
//!   never for what a length claims.
//! - *One length.* A slot has room for the longest row that occurs, or for the sender's number of
//!   bytes. If all types have a fixed width, the length follows from them; otherwise
//!   `GivenRows::longest_row` reads the table once for it, before any payload is made. The length
//!   is told, so it reveals that of the longest row; a number that the sender chooses reveals
//!   nothing.
//! - *A second pass.* Keys are read first. Then it is known which item each row has, and the given
//!   columns are read again: in parallel, by known blocks (`table::known_blocks`) or pieces of
//!   typed files, and taken in order. Rows without a key are not encoded, and blocks without a
//!   given row are not read.
//! - *Repeated keys* of the sender are refused, or the first row is given, or a list of up to K
//!   rows. A repeated key of the receiver is nothing special: each of its rows gets the same
//!   payload.
//! - *Nothing of a payload is believed.* Values are checked as they are decoded. A sender can still
//!   give other values than its table has, as it can have any table.
//! - *Rows are widened where they are written.* `write::added` computes the added columns of chosen
//!   rows, a thousand at a time: whether a row is shared, and the partner's columns. All formats
//!   take them from there. A typed batch is repeated by `take`, in parallel; a text in its own
//!   format gets them behind the bytes of each row, by block; other texts, one row after the other.
//!   So the file is the same for any number of threads, and plain rows are copied as before.
//!
//! | fault | consequence |
//! |---|---|
//! | a column of a type that cannot be given, or with a name that cannot be shown | an error names the column and what to do, before anybody is met |
//! | a taken column that is not offered | an error lists what is offered |
//! | rows that repeat a key, or more than K of them | an error with how many, and the number of the first such row |
//! | a row that is longer than its slot | an error with the row's number, never with its content |
//! | the table changes between the passes | an error, as for rows that are written |
//! | a malformed offer or payload | an error of the kind `Peer`; an output file does not appear, since it is staged |
//! | a name that the receiver's table has | the prefix `partner_`, as often as it takes |
//! | a text that the output's dialect or encoding cannot hold | an error with the row's number, and a format that can |
//!
//! The program connects both (`session::giving`): after the hellos, and before anything is
//! confirmed, the sender offers columns, the receiver takes some, and the sender tells their layout
//! in payloads. The plan follows from the length; the layout is confirmed with it. A job keeps the
//! layouts, and a hash of the values that this party gives.
//!
//! *The order of results.* If only the receiver learns, the last message is the sender's, and the
//! receiver has its result whatever the sender does then. If both learn, it is the receiver's: so
//! the receiver waits until the transport of the sender confirms that it has everything, before it
//! writes. With a job, both confirm, as for shares (`OutputKind::is_for_both`).
//!
//! *Data that exceed memory.* In a plan in parts, a party's payloads are kept by the partitions of
//! its keys, within the budget (`share::PartitionedPayloads`), and distributed among the parts with
//! them. The payloads that it gets arrive by parts, and spill by ranges of first rows
//! (`psi_parts::Given`). The writer goes through the rows in order, and so takes one range after
//! the other (`share::PayloadRanges`): a range is in memory from the first of its rows that is
//! asked for until the last one. A row that repeats a key would need the range of an earlier row
//! again, so its payload is copied to its own range first: once, range by range, and only where
//! keys repeat. In memory stay 4 bytes per row of a party that gives, for the number of its
//! payload, and a bit per row.

mod appended;
mod columns;
mod decode;
mod encode;
pub(crate) mod error;
mod fault;
mod layout;
mod partitioned;
mod payloads;
mod ranges;
mod read;
mod rows;
mod unpacking;
mod values;
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
pub use unpacking::{TAKEN, Unpacking};
pub(crate) use values::{Projection, Values};
