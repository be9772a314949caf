//! Rows of a row group, and how they are read.

use std::{ops::Range, sync::Arc};

use arrow_schema::{DataType, Schema};
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{
            ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
            ParquetRecordBatchReaderBuilder,
        },
    },
    basic::ConvertedType,
    errors::ParquetError,
    file::metadata::ColumnChunkMetaData,
};

use super::chunks;
use crate::source::{section::Section, table_file::Part};

/// A piece: where it is, and all that is needed to read it.
#[derive(Clone)]
pub(super) struct Stretch<'a> {
    pub(super) part: &'a Part,
    pub(super) section: Section,
    pub(super) metadata: ArrowReaderMetadata,
    pub(super) mask: ProjectionMask,
    pub(super) dictionaries: bool,
    pub(super) group: usize,
    pub(super) rows: Range<u64>,
    /// Rows that are decoded at once.
    pub(super) batch_rows: u64,
}

impl Stretch<'_> {
    /// Returns how many rows there are.
    pub(super) fn count(&self) -> u64 {
        self.rows.end - self.rows.start
    }

    /// Returns these rows with other columns.
    pub(super) fn with_mask(&self, mask: ProjectionMask) -> Self {
        Self {
            mask,
            ..self.clone()
        }
    }

    /// Starts to read the rows.
    pub(super) fn reader(&self) -> Result<ParquetRecordBatchReader, ParquetError> {
        let metadata = match self.dictionaries {
            true => with_dictionaries(&self.metadata, self.group, &self.mask),
            false => self.metadata.clone(),
        };
        // A large group has its later rows skipped page by page, without decompressing them.
        ParquetRecordBatchReaderBuilder::new_with_metadata(self.section.clone(), metadata)
            .with_projection(self.mask.clone())
            .with_row_groups(vec![self.group])
            .with_offset(self.rows.start as usize)
            .with_limit(self.count() as usize)
            .with_batch_size(self.batch_rows as usize)
            .build()
    }
}

/// Returns the file's columns, with a dictionary of texts for each that has nothing else in this
/// group.
fn with_dictionaries(
    file: &ArrowReaderMetadata,
    group: usize,
    mask: &ProjectionMask,
) -> ArrowReaderMetadata {
    let parquet_schema = file.parquet_schema();
    let chunks = file
        .metadata()
        .row_group(group)
        .columns()
        .iter()
        .enumerate();
    let dictionaries: Vec<usize> = chunks
        .filter(|(leaf, chunk)| mask.leaf_included(*leaf) && is_dictionary_of_texts(chunk))
        .map(|(leaf, _)| parquet_schema.get_column_root_idx(leaf))
        .collect();
    if dictionaries.is_empty() {
        return file.clone();
    }
    let fields = file.schema().fields().iter().enumerate();
    let fields = fields.map(|(index, field)| match field.data_type() {
        DataType::Utf8 if dictionaries.contains(&index) => {
            let texts = DataType::Dictionary(DataType::Int32.into(), DataType::Utf8.into());
            Arc::new(field.as_ref().clone().with_data_type(texts))
        }
        _ => field.clone(),
    });
    let schema =
        Schema::new_with_metadata(fields.collect::<Vec<_>>(), file.schema().metadata().clone());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    // Texts that do not come as dictionaries are only slower.
    ArrowReaderMetadata::try_new(file.metadata().clone(), options).unwrap_or_else(|_| file.clone())
}

/// Returns whether all of a chunk's values are in its dictionary: the reader would make a
/// dictionary of others too, which takes longer than to read them as they are. It checks texts for
/// UTF-8 only if they are called that.
fn is_dictionary_of_texts(chunk: &ColumnChunkMetaData) -> bool {
    chunk.column_descr().converted_type() == ConvertedType::UTF8
        && chunks::is_only_dictionary(chunk)
}
