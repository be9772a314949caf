//! Checks that the files of a table fit each other.

mod metadata;

use std::{collections::BTreeMap, sync::Arc};

use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::{Planned, Source, text_columns, typed};
use crate::{
    Difference, Error, Progress, SourceError,
    read::arrow::said_of_type,
    source::{dialect::Layout, table_file::Part},
};

/// The columns of all parts together.
#[derive(Debug)]
pub(super) struct Common {
    pub(super) schema: SchemaRef,
    /// Of columns whose types differ: the first part that has another one, and which.
    differing: BTreeMap<usize, (usize, Difference)>,
}

impl Common {
    /// # Errors
    /// If one of these columns has different types in the parts.
    pub(super) fn check(&self, parts: &[Part], columns: &[usize]) -> Result<(), Error> {
        let mut differing = columns
            .iter()
            .filter_map(|column| self.differing.get(column));
        match differing.next() {
            Some((part, difference)) => Err(differs(&parts[*part], &parts[0], difference.clone())),
            None => Ok(()),
        }
    }
}

/// # Errors
/// If the files are not of one format.
pub(super) fn check_formats(files: &[Planned]) -> Result<(), Error> {
    let first = &files[0];
    match files.iter().find(|file| file.format != first.format) {
        None => Ok(()),
        Some(other) => Err(Error::Source(SourceError::MixedFormats {
            file: other.name.clone(),
            format: other.format,
            first: first.name.clone(),
            first_format: first.format,
        })),
    }
}

/// Returns the partition columns.
///
/// # Errors
/// If the files do not all have the same ones.
pub(super) fn partition_columns(files: &[Planned]) -> Result<Vec<String>, Error> {
    let names = |file: &Planned| -> Vec<String> {
        let partitions = file.listed.partitions();
        partitions.iter().map(|(name, _)| name.clone()).collect()
    };
    let first = names(&files[0]);
    match files.iter().find(|file| names(file) != first) {
        None => Ok(first),
        Some(other) => Err(Error::Source(SourceError::DifferentParts {
            file: other.name.clone(),
            first: files[0].name.clone(),
            difference: Difference::Partition,
        })),
    }
}

/// Compares the columns of the parts, and those that folders' names tell with them. Gives the
/// table's schema if there was something to compare. That types differ matters to who needs the
/// column.
///
/// # Errors
/// If a header or footer cannot be read; if the parts' columns differ, or a partition column has
/// the name of another.
pub(super) fn check_columns(source: &Source, progress: &Progress) -> Result<Option<Common>, Error> {
    if source.parts.len() == 1 && source.partition_columns.is_empty() {
        return Ok(None);
    }
    let first = &source.parts[0];
    let is_other = |part: &&Part| part.encoding() != first.encoding();
    if let Some(other) = source.parts.iter().find(is_other) {
        return Err(differs(other, first, Difference::Encoding));
    }
    match source.layout {
        Some(layout) => check_texts(&source.parts, layout, progress).map(|()| None),
        None => common_schema(source, progress).map(Some),
    }
}

fn check_texts(parts: &[Part], layout: Layout, progress: &Progress) -> Result<(), Error> {
    let expected = text_columns(&parts[0], layout)?;
    for part in &parts[1..] {
        progress.check()?;
        let found = text_columns(part, layout)?;
        if let Some(difference) = names_differ(&found, &expected) {
            return Err(differs(part, &parts[0], difference));
        }
    }
    Ok(())
}

fn common_schema(source: &Source, progress: &Progress) -> Result<Common, Error> {
    let (parts, format) = (&source.parts, source.format);
    let schema = typed::open(&parts[0], format)?.schema().clone();
    let mut fields: Vec<Field> = schema
        .fields()
        .iter()
        .map(|field| (**field).clone())
        .collect();
    let mut told = schema.metadata().clone();
    let mut differing = BTreeMap::new();
    for (index, part) in parts.iter().enumerate().skip(1) {
        progress.check()?;
        let found = typed::open(part, format)?.schema().clone();
        let types = merge(&mut fields, &found);
        let types = types.map_err(|difference| differs(part, &parts[0], difference))?;
        let places = metadata::differing_places(schema.metadata(), found.metadata(), &fields);
        for difference in types.into_iter().chain(places) {
            if let Difference::Type { column, .. } = difference {
                differing.entry(column - 1).or_insert((index, difference));
            }
        }
        metadata::keep_common(&mut told, found.metadata());
    }
    for name in &source.partition_columns {
        if fields.iter().any(|field| field.name() == name) {
            return Err(Error::Source(SourceError::PartitionColumn {
                file: parts[0].name().to_owned(),
                column: name.clone(),
            }));
        }
        fields.push(Field::new(name, DataType::Utf8, true));
    }
    Ok(Common {
        schema: Arc::new(Schema::new_with_metadata(fields, told)),
        differing,
    })
}

fn differs(part: &Part, first: &Part, difference: Difference) -> Error {
    Error::Source(SourceError::DifferentParts {
        file: part.name().to_owned(),
        first: first.name().to_owned(),
        difference,
    })
}

/// Returns the difference between the columns of these names and those expected.
fn names_differ<T: PartialEq>(found: &[T], expected: &[T]) -> Option<Difference> {
    if found.len() != expected.len() {
        return Some(Difference::Count {
            found: found.len(),
            expected: expected.len(),
        });
    }
    let index = found.iter().zip(expected).position(|(a, b)| a != b)?;
    Some(Difference::Name { column: index + 1 })
}

/// Makes the fields hold what a file of this schema holds too: the same columns. Some may have
/// nulls only there. Gives those whose types differ.
fn merge(fields: &mut [Field], found: &Schema) -> Result<Vec<Difference>, Difference> {
    let found_names: Vec<_> = found.fields().iter().map(|field| field.name()).collect();
    let names: Vec<_> = fields.iter().map(|field| field.name()).collect();
    names_differ(&found_names, &names).map_or(Ok(()), Err)?;
    let mut differing = Vec::new();
    for (index, (field, found)) in fields.iter_mut().zip(found.fields()).enumerate() {
        let is_same_type =
            field.data_type() == found.data_type() && said_of_type(field) == said_of_type(found);
        if !is_same_type {
            differing.push(Difference::Type {
                column: index + 1,
                found: type_shown(found),
                expected: type_shown(field),
            });
        }
        field.set_nullable(field.is_nullable() || found.is_nullable());
        metadata::keep_common(field.metadata_mut(), found.metadata());
    }
    Ok(differing)
}

/// Returns a column's type as errors show it, with its meaning, as a UUID.
fn type_shown(field: &Field) -> String {
    let said: Vec<&str> = said_of_type(field).into_iter().flatten().collect();
    match &said[..] {
        [] => field.data_type().to_string(),
        said => format!("{} ({})", field.data_type(), said.join(" ")),
    }
}
