//! Reads the keys of typed columns.

use std::{borrow::Cow, collections::BTreeSet};

use arrow_schema::Field;

use super::{
    Findings, KeyTable, Wanted,
    collect::{Collector, Origin},
    stretch::{Builder, Sought},
};
use crate::{
    Error, Progress, Source,
    arrow::{KeyColumn, is_uuid},
    error::Place,
    key::{self, KeyColumns},
    meaning::Kind,
    numbers,
    source::Batches,
};

/// Reads what is wanted from a table of typed columns.
pub(super) fn read_typed(
    source: &Source,
    wanted: &Wanted<'_>,
    progress: &Progress,
) -> Result<(KeyTable, Findings), Error> {
    let schema = source.schema()?;
    let names = source.columns()?;
    let header = source.header(&names);
    let key_columns = wanted.key.resolve(&header)?;
    key::check_types(source, &schema, &key_columns)?;
    let number_columns = header.find_all(wanted.numbers)?;
    numbers::check_types(source, &schema, &number_columns)?;

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
    let sought = Sought {
        table: source.name(),
        key: KeyColumns::new(wanted.key, key_names.zip(kinds)),
        numbers: wanted.numbers,
        inspected: wanted.inspected,
    };
    let mut collector = Collector::new(&sought);
    let mut text = String::new();
    for batch in Batches::new(source, Some(&columns), progress)? {
        let batch = batch?;
        let at = |&place: &usize| batch.rows.column(place);
        let key_arrays = key_places.iter().map(at).zip(&key_fields);
        let key_texts = key_arrays
            .map(|(array, field)| {
                KeyColumn::new(array, is_uuid(field)).ok_or_else(|| batch.broken())
            })
            .collect::<Result<Vec<_>, Error>>()?;
        let number_texts = batch.texts(number_places.iter().map(at))?;
        let mut stretch = Builder::new(&sought, batch.part.name());
        let mut read_row = |row: usize| -> Result<(), Error> {
            let place = Place::Row(row as u64);
            for (position, column) in key_texts.iter().enumerate() {
                text.clear();
                let field = column.write(row, &mut text).map(|()| Cow::Borrowed(&*text));
                stretch.key_field(position, field, place)?;
            }
            if !stretch.finish_row(place) {
                return Ok(());
            }
            for (index, column) in number_texts.iter().enumerate() {
                text.clear();
                column.write(row, &mut text);
                stretch.number(index, &text, place)?;
            }
            Ok(())
        };
        let fault = (0..batch.rows.num_rows()).try_for_each(&mut read_row).err();
        let origin = Origin {
            file: batch.part.name(),
            first: batch.first_row(),
        };
        collector.take(stretch.finish(fault), &origin)?;
    }
    collector.finish()
}
