//! The rows of files, and of tables in memory: texts as records, all others as batches of Arrow.

pub(crate) mod arrow;
pub(crate) mod columns;
pub(crate) mod doubt;
pub(crate) mod error;
pub(crate) mod frame;
pub(crate) mod header;
pub(crate) mod ipc;
pub(crate) mod key_columns;
pub(crate) mod parquet;
pub(crate) mod ragged;
pub(crate) mod row_claims;
pub(crate) mod row_numbers;
pub(crate) mod text;
