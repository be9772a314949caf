//! Reads the keys of typed columns.

mod dictionary;

use std::collections::BTreeSet;

use arrow_array::{Array, ArrayRef, cast::AsArray};

use super::{
    Findings, Wanted,
    collect::{Collector, Origin},
    collected::Collected,
    stretch::{Builder, Sought, Stretch},
};
use psijoin_key::{KeyColumns, Place};
use psijoin_source::{
    Progress, Source,
    typed::{Batch, KeyColumn, NumberColumn, Pieces, Selection, Stored, TablePiece},
};

use crate::{Error, in_order::in_order};
use dictionary::DictionaryKeys;

/// Reads what is wanted from a table of typed columns.
pub(super) fn read_typed(
    source: &Source,
    wanted: &Wanted<'_>,
    progress: &Progress,
) -> Result<(Collected, Findings), Error> {
    let schema = source.schema()?;
    let names = source.columns()?;
    let header = source.header(&names);
    let key_columns = header.key_columns(wanted.key)?;
    source.check_key_types(&schema, &key_columns)?;
    let countries = header.country_columns(wanted.key)?;
    let country_columns: Vec<_> = countries.iter().flatten().copied().collect();
    source.check_key_types(&schema, &country_columns)?;
    let number_columns = header.find_all(wanted.beside.numbers)?;
    source.check_number_types(&schema, &number_columns)?;
    let label_columns = header.find_all(&wanted.beside.label_names())?;

    let kinds = key_columns.iter().map(|&column| {
        let field = schema.field(column);
        Stored::of(field).kind(field.data_type())
    });
    let key_names = header.shown_names(wanted.key).into_iter();
    let sought = Sought {
        table: source.name(),
        columns: names.len(),
        key: KeyColumns::new(wanted.key, key_names.zip(kinds)),
        bad_keys: wanted.bad_keys(),
        beside: wanted.beside,
        inspected: wanted.inspected.as_ref(),
        spill: wanted.spill,
    };
    // The batches have the wanted columns in the table's order.
    let columns = key_columns.iter().chain(&country_columns);
    let columns = columns.chain(&number_columns).chain(&label_columns);
    let columns: BTreeSet<_> = columns.copied().collect();
    let place = |column: &usize| columns.range(..column).count();
    let reader = Reader {
        sought: &sought,
        selection: Selection::of(source, &columns)?,
        keys: key_columns.iter().map(place).collect(),
        stored: (key_columns.iter())
            .map(|&key| Stored::of(schema.field(key)))
            .collect(),
        numbers: number_columns.iter().map(place).collect(),
        labels: (label_columns.iter())
            .map(|column| (place(column), Stored::of(schema.field(*column))))
            .collect(),
        countries: (countries.iter())
            .map(|column| column.as_ref().map(place))
            .collect(),
        progress,
    };
    let mut pieces = Pieces::new(&reader.selection, progress);
    let mut collector = Collector::new(&sought);
    in_order(
        &mut || pieces.next(),
        &|| (),
        &|piece, ()| piece.map(|piece| reader.read(piece)),
        &mut |read| {
            let (stretch, origin) = read?;
            collector.take(stretch, &origin)
        },
    )?;
    collector.finish()
}

/// Reads pieces of a table.
struct Reader<'a> {
    sought: &'a Sought<'a>,
    selection: Selection<'a>,
    /// The columns of the batches that are the key's, and the meanings of their values.
    keys: Vec<usize>,
    stored: Vec<Stored>,
    /// The columns of numbers.
    numbers: Vec<usize>,
    /// Those of labels, and the meanings of their values.
    labels: Vec<(usize, Stored)>,
    /// For each of the key, that of the countries of its telephone numbers.
    countries: Vec<Option<usize>>,
    progress: &'a Progress,
}

impl<'a> Reader<'a> {
    /// Returns the rows of a piece, and where they are.
    fn read(&self, piece: TablePiece<'a>) -> (Stretch<'a>, Origin<'a>) {
        let origin = Origin {
            file: piece.file(),
            first: piece.first_row(),
        };
        let mut stretch = Builder::new(self.sought, origin.file);
        stretch.expect(piece.rows());
        let error = self.read_batches(piece, &mut stretch).err();
        (stretch.finish(error), origin)
    }

    fn read_batches(&self, piece: TablePiece<'a>, stretch: &mut Builder<'a>) -> Result<(), Error> {
        let (first_row, rows, bytes) = (piece.first_row(), piece.rows(), piece.bytes());
        let mut known = DictionaryKeys::new(&self.sought.key, self.stored[0]);
        for batch in piece.read(&self.selection)? {
            self.progress.check()?;
            let batch = batch?;
            let broken = || Error::from(batch.broken());
            let numbers = self.columns(&batch, &self.numbers).map(NumberColumn::new);
            let numbers = numbers.map(|column| column.ok_or_else(broken));
            let labels = self.labels.iter().map(|&(place, stored)| {
                KeyColumn::new(batch.rows.column(place), stored).ok_or_else(broken)
            });
            let batch_rows = Rows {
                numbers: numbers.collect::<Result<_, Error>>()?,
                labels: labels.collect::<Result<_, Error>>()?,
                first: batch.first_row() - first_row,
            };
            match self.only_dictionary(&batch) {
                // Most of a larger dictionary would be of no use.
                Some(keys) if keys.as_any_dictionary().values().len() as u64 <= rows => {
                    batch_rows.read_dictionary(keys, &mut known, stretch)?
                }
                _ => {
                    let keys = self.columns(&batch, &self.keys).zip(&self.stored);
                    let keys = keys
                        .map(|(array, &stored)| KeyColumn::new(array, stored).ok_or_else(broken));
                    let keys: Vec<KeyColumn<'_>> = keys.collect::<Result<_, Error>>()?;
                    let country = |place: &Option<usize>| {
                        place
                            .map(|place| {
                                let array = batch.rows.column(place);
                                KeyColumn::new(array, Stored::AsTyped).ok_or_else(broken)
                            })
                            .transpose()
                    };
                    let countries = self.countries.iter().map(country);
                    let countries: Vec<_> = countries.collect::<Result<_, Error>>()?;
                    batch_rows.read((&keys, &countries), batch.rows.num_rows(), stretch)?
                }
            }
        }
        Ok(self.progress.advance(bytes)?)
    }

    fn columns<'b>(
        &self,
        batch: &'b Batch<'_>,
        places: &'b [usize],
    ) -> impl Iterator<Item = &'b ArrayRef> {
        places.iter().map(|&place| batch.rows.column(place))
    }

    /// Returns the key, if it is one dictionary whose values need not be seen row by row.
    fn only_dictionary<'b>(&self, batch: &'b Batch<'_>) -> Option<&'b ArrayRef> {
        match self.keys[..] {
            [only] if self.sought.inspected.is_none() && self.countries[0].is_none() => {
                let keys = batch.rows.column(only);
                keys.as_any_dictionary_opt().map(|_| keys)
            }
            _ => None,
        }
    }
}

/// The rows of a batch.
struct Rows<'a> {
    numbers: Vec<NumberColumn<'a>>,
    labels: Vec<KeyColumn<'a>>,
    /// The number of the piece's rows that come before.
    first: u64,
}

impl Rows<'_> {
    fn read(
        &self,
        (keys, countries): (&[KeyColumn<'_>], &[Option<KeyColumn<'_>>]),
        rows: usize,
        stretch: &mut Builder<'_>,
    ) -> Result<(), Error> {
        let mut buffer = String::new();
        let mut of_country = String::new();
        for row in 0..rows {
            let place = self.place(row);
            for (position, (column, country)) in keys.iter().zip(countries).enumerate() {
                let field = column.text(row, &mut buffer).map(Into::into);
                let country = country
                    .as_ref()
                    .map_or(Ok(""), |countries| countries.text(row, &mut of_country));
                // A value that is no text names no country.
                stretch.key_field(position, field, country.unwrap_or_default(), place);
            }
            if stretch.finish_row(place) {
                self.read_beside(row, &mut buffer, stretch)?;
            }
        }
        Ok(())
    }

    /// Reads rows whose keys are those of a dictionary.
    fn read_dictionary(
        &self,
        keys: &ArrayRef,
        known: &mut DictionaryKeys<'_>,
        stretch: &mut Builder<'_>,
    ) -> Result<(), Error> {
        let mut buffer = String::new();
        for (row, key) in known.learn(keys, stretch).into_iter().enumerate() {
            let place = self.place(row);
            let has_key = match known.key(key) {
                Ok((fingerprint, suspicion)) => {
                    if let Some(suspicion) = suspicion {
                        stretch.suspect(0, *suspicion, place);
                    }
                    stretch.known_row(*fingerprint, place)
                }
                Err(fault) => {
                    stretch.key_field(0, Err(fault.clone()), "", place);
                    stretch.known_row(None, place)
                }
            };
            if has_key {
                self.read_beside(row, &mut buffer, stretch)?;
            }
        }
        Ok(())
    }

    /// Reads the numbers and labels of a row.
    fn read_beside(
        &self,
        row: usize,
        buffer: &mut String,
        stretch: &mut Builder<'_>,
    ) -> Result<(), Error> {
        for (index, column) in self.numbers.iter().enumerate() {
            stretch.number(index, column.read(row, buffer), self.place(row))?;
        }
        for (index, column) in self.labels.iter().enumerate() {
            stretch.label(index, column.text(row, buffer), self.place(row))?;
        }
        Ok(())
    }

    /// Returns where a row is, from the beginning of the piece.
    fn place(&self, row: usize) -> Place {
        Place::Row(self.first + row as u64)
    }
}
