//! Parquet files.

mod annotations;
mod chunks;
mod damage;
pub(crate) mod fault;
mod footer;
mod guard;
pub(crate) mod int96;
mod known_types;
mod old_writers;
mod page_header;
mod pages;
mod pieces;
mod prefixes;
mod stretch;
mod thrift;
mod told_types;

use std::io::{Read, Seek, SeekFrom};

use arrow_schema::SchemaRef;
use parquet::{
    arrow::{
        ARROW_SCHEMA_META_KEY,
        arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions},
    },
    file::{FOOTER_SIZE, metadata::FooterTail},
    schema::types::SchemaDescPtr,
};

use crate::{
    Error, ParquetFault,
    read::arrow::{FilePieces, TypedFile},
    source::{section::Section, table_file::Part},
};
use fault::Unknown;
pub(crate) use guard::broken;
use guard::{fault, in_footer};
use known_types::Loaded;
use pieces::Pieces;

/// A Parquet file whose footer has been read.
pub(crate) struct Reader<'a> {
    part: &'a Part,
    section: Section,
    metadata: ArrowReaderMetadata,
    /// The columns with something unknown, and what it is.
    unknown: Vec<(usize, Unknown)>,
    /// The columns, marked with what they are beyond their Arrow types.
    schema: SchemaRef,
    /// The top-level columns that hold timestamps for which no unit has room.
    beyond: Vec<usize>,
}

impl<'a> Reader<'a> {
    pub(crate) fn open(part: &'a Part) -> Result<Self, Error> {
        let mut section = part.open()?;
        check_end(&mut section).map_err(|found| fault(part, found))?;
        let Loaded { metadata, unknown } = known_types::load(part, &section)?;
        let metadata = in_footer(part, || old_writers::corrected(metadata, &section))?;
        let said = metadata.metadata().file_metadata().num_rows();
        if old_writers::rows(metadata.metadata()) != said {
            return Err(fault(part, ParquetFault::Rows));
        }
        let mut beyond = Vec::new();
        let found = part
            .int96
            .get_or_init(|| int96::find(&section, metadata.metadata()));
        let metadata = match found.is_empty() {
            true => metadata,
            false => {
                let is_told = has_arrow_schema(&metadata);
                let schema = int96::with_units(metadata.schema(), found, is_told, &mut beyond);
                read_as(part, &metadata, schema)?
            }
        };
        let told = match told_types::may_lack_zones(metadata.schema()) {
            true => in_footer(part, || Ok(known_types::told(&metadata)))?,
            false => Vec::new(),
        };
        let roots = metadata.parquet_schema().root_schema().get_fields();
        let metadata = match told_types::refined(metadata.schema(), roots, &told) {
            Some(schema) => read_as(part, &metadata, schema)?,
            None => metadata,
        };
        let schema = annotations::marked(metadata.schema(), metadata.parquet_schema());
        Ok(Self {
            part,
            section,
            metadata,
            unknown,
            schema,
            beyond,
        })
    }
}

/// Returns the file, read as these columns.
fn read_as(
    part: &Part,
    file: &ArrowReaderMetadata,
    schema: SchemaRef,
) -> Result<ArrowReaderMetadata, Error> {
    let options = ArrowReaderOptions::new().with_schema(schema);
    let file = file.metadata().clone();
    in_footer(part, || ArrowReaderMetadata::try_new(file, options))
}

/// Returns whether the file has the Arrow schema of the program that wrote it.
fn has_arrow_schema(file: &ArrowReaderMetadata) -> bool {
    let pairs = file.metadata().file_metadata().key_value_metadata();
    pairs.is_some_and(|pairs| pairs.iter().any(|pair| pair.key == ARROW_SCHEMA_META_KEY))
}

/// Checks the end of a file: the length of its footer, and the mark of the format. A file that
/// cannot be read is left to the reader.
fn check_end(section: &mut Section) -> Result<(), ParquetFault> {
    let mut tail = [0; FOOTER_SIZE];
    let read = section
        .seek(SeekFrom::End(-(FOOTER_SIZE as i64)))
        .and_then(|_| section.read_exact(&mut tail));
    if read.is_err_and(|error| error.raw_os_error().is_some()) {
        return Ok(());
    }
    match FooterTail::try_from(tail) {
        Ok(tail) if tail.is_encrypted_footer() => Err(ParquetFault::Encrypted),
        Ok(_) => Ok(()),
        Err(_) => Err(ParquetFault::CutOff),
    }
}

impl<'a> TypedFile<'a> for Reader<'a> {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn parquet_schema(&self) -> Option<SchemaDescPtr> {
        let file = self.metadata.metadata().file_metadata();
        Some(file.schema_descr_ptr())
    }

    fn check(&self, columns: &[usize]) -> Result<(), Error> {
        let unknown = self.unknown.iter().find(|(at, _)| columns.contains(at));
        if let Some((column, unknown)) = unknown {
            let column = self.schema().field(*column).name().clone();
            return Err(fault(self.part, unknown.fault(column)));
        }
        // The row groups of a broken file need not have the schema's columns.
        let unreadable = || Ok(chunks::unreadable(&self.metadata, columns));
        if let Some(beyond) = columns.iter().find(|column| self.beyond.contains(column)) {
            let column = self.schema.field(*beyond).name().clone();
            return Err(fault(self.part, ParquetFault::Int96 { column }));
        }
        match in_footer(self.part, unreadable)? {
            Some(unreadable) => Err(fault(self.part, unreadable)),
            None => Ok(()),
        }
    }

    fn without_dictionaries(&self) -> Result<Vec<usize>, Error> {
        // The row groups of a broken file need not have the schema's columns.
        in_footer(self.part, || {
            Ok(chunks::without_dictionaries(&self.metadata))
        })
    }

    fn pieces(
        self: Box<Self>,
        columns: &[usize],
        dictionaries: bool,
    ) -> Result<FilePieces<'a>, Error> {
        let Self {
            part,
            section,
            metadata,
            ..
        } = *self;
        let pieces = in_footer(part, || {
            Ok(Pieces::new(part, section, metadata, columns, dictionaries))
        })?;
        Ok(Box::new(pieces))
    }
}
