//! Columns whose Arrow type is not known, or that are written in a way that is not.
//!
//! Writers keep the Arrow schema beside that of Parquet, and it may hold types that only they know,
//! as the integers of 128 bits of Polars. Whoever needs such a column is told; the others are read.

use std::sync::Arc;

use arrow_ipc::root_as_message;
use arrow_schema::{Field, Schema};
use base64::{Engine, prelude::BASE64_STANDARD};
use parquet::{
    arrow::{
        ARROW_SCHEMA_META_KEY,
        arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions},
        encode_arrow_schema,
    },
    file::metadata::{FileMetaData, KeyValue, ParquetMetaData},
};

use super::{
    fault::Unknown,
    footer::{self, Footer},
    guard::{fault, in_footer},
};
use crate::{
    Error, ParquetFault,
    read::ipc::{Known, known_fields},
    source::{section::Section, table_file::Part},
};

/// A file's description, and its statements about columns whose type is not known.
pub(super) struct Loaded {
    pub(super) metadata: ArrowReaderMetadata,
    /// The number of each such column, and what is not known.
    pub(super) unknown: Vec<(usize, Unknown)>,
}

/// Reads a file's footer.
pub(super) fn load(part: &Part, section: &Section) -> Result<Loaded, Error> {
    let error = match in_footer(part, || {
        ArrowReaderMetadata::load(section, ArrowReaderOptions::new())
    }) {
        Ok(metadata) => {
            return Ok(Loaded {
                metadata,
                unknown: Vec::new(),
            });
        }
        Err(error) => error,
    };
    let Ok(Footer { metadata, unknown }) = in_footer(part, || Ok(footer::read_leniently(section)?))
    else {
        return Err(error);
    };
    let file = Arc::new(metadata);
    let leaves = file.file_metadata().schema_descr_ptr();
    if leaves.num_columns() == 0 {
        return Err(fault(part, ParquetFault::NoColumns));
    }
    let unknown = unknown.into_iter();
    let unknown = unknown.map(|(leaf, what)| (leaves.get_column_root_idx(leaf), what));
    let mut unknown: Vec<_> = unknown.collect();
    let described =
        |options| in_footer(part, || ArrowReaderMetadata::try_new(file.clone(), options));
    if let Ok(metadata) = described(ArrowReaderOptions::new()) {
        return Ok(Loaded { metadata, unknown });
    }
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let Ok(plain) = described(options) else {
        return Err(error);
    };
    let fields = in_footer(part, || Ok(arrow_fields(&plain)))?.unwrap_or_default();
    let known = fields.into_iter().zip(plain.schema().fields());
    let known = known
        .enumerate()
        .map(|(column, (field, plain))| match field {
            Known::Field(field) => field,
            Known::Not(kind) => {
                unknown.push((column, Unknown::Type(kind)));
                plain.as_ref().clone()
            }
        });
    let known: Vec<Field> = known.collect();
    let schema = (known.len() == plain.schema().fields().len()).then(|| Schema::new(known));
    let metadata = in_footer(part, || {
        let metadata = with_arrow_schema(plain.metadata(), schema.as_ref());
        ArrowReaderMetadata::try_new(Arc::new(metadata), ArrowReaderOptions::new())
    })?;
    Ok(Loaded { metadata, unknown })
}

/// Returns the Arrow schema's statements about the columns, those whose type is known; nothing if
/// there is none.
pub(super) fn told(file: &ArrowReaderMetadata) -> Vec<Option<Field>> {
    let fields = arrow_fields(file).unwrap_or_default().into_iter();
    let fields = fields.map(|field| match field {
        Known::Field(field) => Some(field),
        Known::Not(_) => None,
    });
    let fields: Vec<_> = fields.collect();
    match fields.len() == file.schema().fields().len() {
        true => fields,
        false => Vec::new(),
    }
}

/// Returns the columns as the Arrow schema in the file describes them, if it can be read at all.
fn arrow_fields(file: &ArrowReaderMetadata) -> Option<Vec<Known>> {
    let pairs = file.metadata().file_metadata().key_value_metadata()?;
    let pair = pairs
        .iter()
        .find(|pair| pair.key == ARROW_SCHEMA_META_KEY)?;
    let message = BASE64_STANDARD.decode(pair.value.as_ref()?).ok()?;
    // Before the message stand a mark, if at all, and its length.
    let message = match &message[..] {
        [0xff, 0xff, 0xff, 0xff, _, _, _, _, message @ ..] => message,
        message => message,
    };
    Some(known_fields(
        root_as_message(message).ok()?.header_as_schema()?,
    ))
}

/// Returns the description of a file with this Arrow schema in it, or none.
fn with_arrow_schema(file: &ParquetMetaData, schema: Option<&Schema>) -> ParquetMetaData {
    let described = file.file_metadata();
    let pairs = described.key_value_metadata().into_iter().flatten();
    let others = pairs
        .filter(|pair| pair.key != ARROW_SCHEMA_META_KEY)
        .cloned();
    let told = schema.map(|schema| {
        KeyValue::new(
            ARROW_SCHEMA_META_KEY.to_owned(),
            encode_arrow_schema(schema),
        )
    });
    let described = FileMetaData::new(
        described.version(),
        described.num_rows(),
        described.created_by().map(str::to_owned),
        Some(others.chain(told).collect()),
        described.schema_descr_ptr(),
        described.column_orders().cloned(),
    );
    ParquetMetaData::new(described, file.row_groups().to_vec())
}
