//! Tables of typed columns, which the Arrow library's readers of Parquet and Arrow give in batches.

mod cell;
mod key_cell;
mod typed_file;

use std::{borrow::Cow, collections::BTreeSet};

use arrow_schema::{DataType, Field, SchemaRef, extension};

pub(crate) use cell::{Column, has_text};
use key_cell::KeyColumn;
pub(crate) use typed_file::{FileBatches, TypedFile};

use crate::{
    Error, Inspection, Progress, Source,
    meaning::Kind,
    numbers::may_be_numbers,
    source::Batches,
    table::{Builder, Wanted},
};

pub(crate) fn read_keys(
    source: &Source,
    wanted: &Wanted<'_>,
    progress: &Progress,
) -> Result<Inspection, Error> {
    let schema = source.schema()?;
    let names = source.columns()?;
    let header = source.header(&names);
    let key_columns = wanted.key.resolve(&header)?;
    refuse_keys(source, &schema, &key_columns)?;
    let number_columns = header.find_all(wanted.numbers)?;
    refuse_numbers(source, &schema, &number_columns)?;

    // The batches have the wanted columns in the table's order.
    let columns: BTreeSet<_> = key_columns.iter().chain(&number_columns).copied().collect();
    let places = |among: &[usize]| -> Vec<usize> {
        let place = |column| columns.range(..column).count();
        among.iter().map(place).collect()
    };
    let (key_places, number_places) = (places(&key_columns), places(&number_columns));

    let key_fields: Vec<&Field> = key_columns.iter().map(|&key| schema.field(key)).collect();
    let kinds = key_fields
        .iter()
        .map(|field| Kind::of_type(field.data_type(), is_uuid(field)));
    let key_names = header.names_of(&key_columns).into_iter();
    let mut keys = Builder::new(source.name(), wanted, key_names.zip(kinds).collect());
    let mut text = String::new();
    for batch in Batches::new(source, Some(&columns), progress)? {
        let batch = batch?;
        keys.set_file(batch.part.name());
        let at = |&place: &usize| batch.rows.column(place);
        let key_arrays = key_places.iter().map(at).zip(&key_fields);
        let key_texts = key_arrays
            .map(|(array, field)| {
                KeyColumn::new(array, is_uuid(field)).ok_or_else(|| batch.broken())
            })
            .collect::<Result<Vec<_>, Error>>()?;
        let number_texts = batch.texts(number_places.iter().map(at))?;
        for row in 0..batch.rows.num_rows() {
            let place = batch.place(row);
            for (position, column) in key_texts.iter().enumerate() {
                text.clear();
                let field = column.write(row, &mut text).map(|()| Cow::Borrowed(&*text));
                keys.key_field(position, field, place)?;
            }
            let Some(item) = keys.finish_row()? else {
                continue;
            };
            for (index, column) in number_texts.iter().enumerate() {
                text.clear();
                column.write(row, &mut text);
                keys.add_number(index, item, &text, place)?;
            }
        }
    }
    Ok(keys.finish())
}

/// Checks that these columns can be read, and be a key, as far as the schema tells.
pub(crate) fn check_key(source: &Source, key: &[usize]) -> Result<(), Error> {
    refuse_keys(source, &source.schema()?, key)
}

/// As [`crate::check_numbers`], for typed columns.
pub(crate) fn check_numbers(source: &Source, names: &[String]) -> Result<(), Error> {
    let columns = source.columns()?;
    let indices = source.header(&columns).find_all(names)?;
    refuse_numbers(source, &source.schema()?, &indices)
}

/// Whether a column holds UUIDs, of which Arrow's type, binary data of 16 bytes, tells nothing.
fn is_uuid(field: &Field) -> bool {
    field.extension_type_name() == Some(<extension::Uuid as extension::ExtensionType>::NAME)
}

fn refuse_keys(source: &Source, schema: &SchemaRef, key: &[usize]) -> Result<(), Error> {
    source.check_readable(schema, key)?;
    match first_other(schema, key, key_cell::can_be_key) {
        Some((column, data_type)) => Err(Error::KeyType {
            file: source.name().to_owned(),
            column,
            data_type,
        }),
        None => Ok(()),
    }
}

/// A partition column is text, in which numbers are read as in a CSV file.
fn refuse_numbers(source: &Source, schema: &SchemaRef, numbers: &[usize]) -> Result<(), Error> {
    source.check_readable(schema, numbers)?;
    match first_other(schema, &source.in_files(schema, numbers), may_be_numbers) {
        Some((column, data_type)) => Err(Error::NumberType {
            file: source.name().to_owned(),
            column,
            data_type,
        }),
        None => Ok(()),
    }
}

/// The name and the type of the first of these columns whose values are not of a type that fits.
fn first_other(
    schema: &SchemaRef,
    columns: &[usize],
    fits: impl Fn(&DataType) -> bool,
) -> Option<(String, DataType)> {
    columns.iter().find_map(|&index| {
        let field = schema.field(index);
        let data_type = value_type(field);
        (!fits(data_type)).then(|| (field.name().clone(), data_type.clone()))
    })
}

/// The type of a column's values, which a dictionary may hold.
fn value_type(field: &Field) -> &DataType {
    match field.data_type() {
        DataType::Dictionary(_, values) => values,
        other => other,
    }
}
