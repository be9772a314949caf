//! Column chunks that cannot be read, according to the footer.

use parquet::{
    arrow::arrow_reader::ArrowReaderMetadata, basic::Compression,
    file::metadata::ColumnChunkMetaData,
};

use crate::error::ParquetFault;

/// What is wrong with the first chunk of these top-level columns that cannot be read, if any.
pub(super) fn unreadable(file: &ArrowReaderMetadata, columns: &[usize]) -> Option<ParquetFault> {
    let schema = file.parquet_schema();
    let groups = file.metadata().row_groups().iter();
    groups
        .flat_map(|group| group.columns().iter().enumerate())
        .filter(|(leaf, _)| columns.contains(&schema.get_column_root_idx(*leaf)))
        .find_map(|(leaf, chunk)| fault(chunk, schema.get_column_root(leaf).name()))
}

fn fault(chunk: &ColumnChunkMetaData, column: &str) -> Option<ParquetFault> {
    let column = || column.to_owned();
    // The footer need not say more about an encrypted chunk.
    if chunk.crypto_metadata().is_some() {
        return Some(ParquetFault::EncryptedColumn { column: column() });
    }
    match chunk.compression() {
        Compression::LZO => Some(ParquetFault::Lzo { column: column() }),
        _ => None,
    }
}
