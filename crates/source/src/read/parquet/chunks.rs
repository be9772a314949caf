//! The footer's description of column chunks: those that cannot be read, and those that have a
//! dictionary.

use parquet::{
    arrow::arrow_reader::ArrowReaderMetadata,
    basic::{Compression, Encoding},
    file::metadata::ColumnChunkMetaData,
};

use super::annotations::has_intervals;
use crate::ParquetFault;

/// Returns what is wrong with the first chunk of these top-level columns that cannot be read, if
/// any.
pub(super) fn unreadable(file: &ArrowReaderMetadata, columns: &[usize]) -> Option<ParquetFault> {
    let schema = file.parquet_schema();
    let roots = schema.root_schema().get_fields();
    let mut intervals = columns.iter().filter_map(|&column| roots.get(column));
    if let Some(column) = intervals.find(|column| has_intervals(column)) {
        let column = column.name().to_owned();
        return Some(ParquetFault::Interval { column });
    }
    let groups = file.metadata().row_groups().iter();
    groups
        .flat_map(|group| group.columns().iter().enumerate())
        .filter(|(leaf, _)| columns.contains(&schema.get_column_root_idx(*leaf)))
        .find_map(|(leaf, chunk)| fault(chunk, schema.get_column_root(leaf).name()))
}

fn fault(chunk: &ColumnChunkMetaData, column: &str) -> Option<ParquetFault> {
    let column = || column.to_owned();
    // The footer need not describe an encrypted chunk further.
    if chunk.crypto_metadata().is_some() {
        return Some(ParquetFault::EncryptedColumn { column: column() });
    }
    match chunk.compression() {
        Compression::LZO => Some(ParquetFault::Lzo { column: column() }),
        _ => None,
    }
}

/// Returns the columns, apart from nested ones, that are a dictionary alone in none of the row
/// groups.
pub(super) fn without_dictionaries(file: &ArrowReaderMetadata) -> Vec<usize> {
    let schema = file.parquet_schema();
    let groups = file.metadata().row_groups();
    let leaves = schema.columns().iter().enumerate();
    let not_nested = leaves.filter(|(_, column)| column.path().parts().len() == 1);
    not_nested
        .filter(|(leaf, _)| groups.iter().all(|group| has_others(group.column(*leaf))))
        .map(|(leaf, _)| schema.get_column_root_idx(leaf))
        .collect()
}

/// Returns whether some of a chunk's values are not in a dictionary for sure.
fn has_others(chunk: &ColumnChunkMetaData) -> bool {
    let is_known = chunk.page_encoding_stats_mask().is_some();
    chunk.dictionary_page_offset().is_none() || (is_known && !is_only_dictionary(chunk))
}

/// Returns whether all of a chunk's values are in its dictionary for sure.
pub(super) fn is_only_dictionary(chunk: &ColumnChunkMetaData) -> bool {
    let is_only = |encoding| {
        let mask = chunk.page_encoding_stats_mask();
        mask.is_some_and(|mask| mask.is_only(encoding))
    };
    chunk.dictionary_page_offset().is_some()
        && (is_only(Encoding::PLAIN_DICTIONARY) || is_only(Encoding::RLE_DICTIONARY))
}
