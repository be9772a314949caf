//! Statements of old writers in the footer that they do not mean.

use std::sync::Arc;

use parquet::{
    arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions},
    errors::Result,
    file::metadata::{ColumnChunkMetaData, FileMetaData, ParquetMetaData},
};

use super::pages;
use crate::source::section::Section;

/// parquet-mr counts the headers of dictionaries since this version.
const COUNTS_HEADERS: [u32; 3] = [1, 2, 9];

/// Returns the description of a file as its writer meant it:
///
/// - without dictionaries at the very beginning, where the mark of the format is: parquet-mr 1.12
///   and others meant that there is none;
/// - with the rows of its row groups where it has 0, as the first versions of parquet-rs always
///   did;
/// - with the headers of dictionaries as a part of their column chunks, which parquet-mr before
///   1.2.9 did not count.
pub(super) fn corrected(
    file: ArrowReaderMetadata,
    section: &Section,
) -> Result<ArrowReaderMetadata> {
    let metadata = file.metadata();
    let described = metadata.file_metadata();
    let rows = rows(metadata);
    let says_no_rows = described.num_rows() == 0 && rows > 0;
    let leaves_out_headers = described.created_by().is_some_and(leaves_out_headers);
    let mut chunks = metadata
        .row_groups()
        .iter()
        .flat_map(|group| group.columns());
    if !says_no_rows && !leaves_out_headers && !chunks.any(has_false_dictionary) {
        return Ok(file);
    }
    let described = match says_no_rows {
        true => with_rows(described, rows),
        false => described.clone(),
    };
    let corrected = |chunk: ColumnChunkMetaData| {
        let chunk = without_false_dictionary(chunk)?;
        match leaves_out_headers {
            true => with_dictionary_header(chunk, section),
            false => Ok(chunk),
        }
    };
    let groups = metadata.row_groups().iter().cloned().map(|group| {
        let columns = group.columns().iter().cloned().map(corrected);
        let columns = columns.collect::<Result<_>>()?;
        group.into_builder().set_column_metadata(columns).build()
    });
    let groups = groups.collect::<Result<_>>()?;
    let metadata = ParquetMetaData::new(described, groups);
    ArrowReaderMetadata::try_new(Arc::new(metadata), ArrowReaderOptions::new())
}

/// Returns the number of rows of all row groups together.
pub(super) fn rows(file: &ParquetMetaData) -> i64 {
    let groups = file.row_groups().iter();
    groups.fold(0, |rows, group| rows.saturating_add(group.num_rows()))
}

fn with_rows(described: &FileMetaData, rows: i64) -> FileMetaData {
    FileMetaData::new(
        described.version(),
        rows,
        described.created_by().map(str::to_owned),
        described.key_value_metadata().cloned(),
        described.schema_descr_ptr(),
        described.column_orders().cloned(),
    )
}

fn has_false_dictionary(chunk: &ColumnChunkMetaData) -> bool {
    chunk.dictionary_page_offset() == Some(0)
}

fn without_false_dictionary(chunk: ColumnChunkMetaData) -> Result<ColumnChunkMetaData> {
    match has_false_dictionary(&chunk) {
        true => chunk
            .into_builder()
            .set_dictionary_page_offset(None)
            .build(),
        false => Ok(chunk),
    }
}

/// Returns whether a program of this name is parquet-mr of a version that did not count headers of
/// dictionaries. The first ones did not tell their version.
fn leaves_out_headers(created_by: &str) -> bool {
    let Some(version) = created_by.strip_prefix("parquet-mr") else {
        return false;
    };
    let mut words = version.split_ascii_whitespace();
    let Some(("version", version)) = words.next().zip(words.next()) else {
        return true;
    };
    let numbers = version.split(['.', '-']);
    let numbers = numbers.map_while(|number| number.parse::<u32>().ok());
    numbers.lt(COUNTS_HEADERS)
}

/// Returns a chunk that is longer by the header of its dictionary, if that is where its pages end.
/// One that cannot be read is left to whoever needs it.
fn with_dictionary_header(
    chunk: ColumnChunkMetaData,
    section: &Section,
) -> Result<ColumnChunkMetaData> {
    match pages::uncounted_header(section, &chunk) {
        Ok(Some(bytes)) => {
            let bytes = chunk.compressed_size().saturating_add(bytes);
            chunk
                .into_builder()
                .set_total_compressed_size(bytes)
                .build()
        }
        Ok(None) | Err(_) => Ok(chunk),
    }
}
