//! What old writers say in the footer and do not mean.

use std::sync::Arc;

use parquet::{
    arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions},
    errors::Result,
    file::metadata::{ColumnChunkMetaData, FileMetaData, ParquetMetaData, RowGroupMetaData},
};

/// The description of a file as its writer meant it:
///
/// - without dictionaries at the very beginning, where the mark of the format is: parquet-mr 1.12
///   and others meant that there is none;
/// - with the rows of its row groups where it says 0, as the first versions of parquet-rs always
///   did.
pub(super) fn corrected(file: ArrowReaderMetadata) -> Result<ArrowReaderMetadata> {
    let metadata = file.metadata();
    let described = metadata.file_metadata();
    let rows = rows(metadata);
    let says_no_rows = described.num_rows() == 0 && rows > 0;
    let mut chunks = metadata
        .row_groups()
        .iter()
        .flat_map(|group| group.columns());
    if !says_no_rows && !chunks.any(has_false_dictionary) {
        return Ok(file);
    }
    let described = match says_no_rows {
        true => with_rows(described, rows),
        false => described.clone(),
    };
    let groups = metadata.row_groups().iter().cloned().map(corrected_group);
    let groups = groups.collect::<Result<_>>()?;
    let metadata = ParquetMetaData::new(described, groups);
    ArrowReaderMetadata::try_new(Arc::new(metadata), ArrowReaderOptions::new())
}

/// How many rows the row groups have together.
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

fn corrected_group(group: RowGroupMetaData) -> Result<RowGroupMetaData> {
    let columns = group
        .columns()
        .iter()
        .cloned()
        .map(|chunk| match has_false_dictionary(&chunk) {
            true => chunk
                .into_builder()
                .set_dictionary_page_offset(None)
                .build(),
            false => Ok(chunk),
        });
    let columns = columns.collect::<Result<_>>()?;
    group.into_builder().set_column_metadata(columns).build()
}
