//! Writes chosen rows of a source, in any format, with the columns that are added to them.

mod added;
mod aligned;
pub(crate) mod alignment;
mod compressed;
mod copy;
pub(crate) mod destination;
pub(crate) mod error;
mod fields;
mod formula;
mod groups;
mod ipc;
mod memory;
mod output;
mod parquet;
pub(crate) mod row_choice;
mod typed;
mod without_formulas;

use std::{borrow::Cow, io::Write, sync::Arc};

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};

use psijoin_key::Place;
use psijoin_source::{
    Format, Progress, Source,
    text::{Layout, Needed, Start},
    typed::{Batch, ENUM, Pieces, Selection, has_text, parquet_type, unknown_meaning},
};

use crate::{Error, WriteError, keys::bitmap::Bitmap, pass::unless_changed};
pub(crate) use added::Added;
use aligned::AlignedRecords;
pub(crate) use aligned::Order;
use compressed::write_compressed;
use fields::{FieldWriter, Lines, Quoted, Records, Unquoted, Widened, WithoutFormulas};
use formula::defused;
use memory::Kept;
pub(crate) use output::{Chosen, Form, Output};
use output::{cannot_write, holds_texts};
use typed::Target;

/// Returns why a format cannot hold the columns of a source, if it cannot.
pub(crate) fn fits(source: &Source, format: Format) -> Result<Option<String>, Error> {
    let names = source.columns()?;
    if source.layout().is_none() {
        source.check_all_readable()?;
    }
    if format == Format::Lines && names.len() != 1 {
        let reason = "a .txt file holds one column; write .csv or .parquet";
        return Ok(Some(reason.to_owned()));
    }
    if format == Format::Tsv
        && source.format() != Format::Tsv
        && let Some(index) = names.iter().position(|name| !fields::fits_unquoted(name))
    {
        let reason = format!(
            "the name of its column {} holds a tab or a line break, which a .tsv file cannot \
             hold; write .csv or .parquet",
            index + 1
        );
        return Ok(Some(reason));
    }
    // The name is not shown: in a text without a header it is a value.
    if !format.is_text()
        && source.format() != format
        && let Some((first, second)) = first_repeated(&names)
    {
        let (first, second) = (first + 1, second + 1);
        return Ok(Some(format!(
            "its columns {first} and {second} would have the same name; write .csv"
        )));
    }
    match source.layout() {
        Some(_) => Ok(None),
        None => {
            let schema = source.schema()?;
            let file = source
                .parquet_schema()?
                .filter(|_| format == Format::Parquet);
            let lost = file.and_then(|file| parquet::first_to_lose(&schema, &file));
            let lost = lost.map(|name| {
                format!(
                    "the column {} would lose what Parquet says about its values, a logical type; leave it out, or convert \
                     it first",
                    psijoin_printable::Quoted(&name)
                )
            });
            Ok(lost
                .or_else(|| first_misunderstood(&schema, format))
                .or_else(|| first_unfit(&schema, source.format(), format)))
        }
    }
}

/// Returns why the columns of a source cannot be kept in memory, if they cannot.
pub(crate) fn fits_in_memory(source: &Source) -> Result<Option<String>, Error> {
    if source.layout().is_some() {
        let repeated = first_repeated(&source.columns()?);
        return Ok(repeated.map(|(first, second)| {
            let (first, second) = (first + 1, second + 1);
            format!("its columns {first} and {second} would have the same name")
        }));
    }
    source.check_all_readable()?;
    let schema = source.schema()?;
    let lost = schema
        .fields()
        .iter()
        .find_map(|field| Some((field, parquet_type(field)?)));
    if let Some((field, meant)) = lost {
        return Ok(Some(format!(
            "the column {} holds values of the type {}, which would be lost: write a file, .parquet",
            psijoin_printable::Quoted(field.name()),
            psijoin_printable::Word(meant)
        )));
    }
    let mut fields = schema.fields().iter();
    let unfit = fields.find(|field| !memory::can_hold(field));
    Ok(unfit.map(|field| {
        let (name, data_type) = (field.name(), field.data_type());
        format!(
            "the column {} holds {data_type}, which cannot be kept without values of other rows",
            psijoin_printable::Quoted(name)
        )
    }))
}

/// Returns why a format cannot hold these columns behind those of a source, if it cannot.
pub(crate) fn fits_added(source: &Source, added: &Schema, format: Format) -> Option<String> {
    if format == Format::Lines {
        let reason = "a .txt file holds one column, and further ones are added; write .csv or \
                      .parquet";
        return Some(reason.to_owned());
    }
    let lacks = |field: &&Arc<Field>| source.encoding().try_encode(field.name()).is_none();
    if source.format() == format
        && format.is_text()
        && let Some(field) = added.fields().iter().find(lacks)
    {
        return Some(format!(
            "{} lacks a character in the name of the added column {}; write .parquet",
            source.encoding(),
            psijoin_printable::Quoted(field.name())
        ));
    }
    // No type is a format's own if it comes from elsewhere.
    first_unfit(added, Format::Csv, format)
}

/// Returns why a format cannot hold the first of these columns whose values mean more than their
/// type tells.
fn first_misunderstood(schema: &Schema, to: Format) -> Option<String> {
    let meant: fn(&Field) -> Option<&str> = match to {
        Format::Parquet => return None,
        Format::Arrow => parquet_type,
        Format::Csv | Format::Tsv | Format::Lines => {
            |field| unknown_meaning(field).filter(|meant| *meant != ENUM)
        }
    };
    let mut fields = schema.fields().iter();
    let (field, meant) = fields.find_map(|field| Some((field, meant(field)?)))?;
    let others = if to == Format::Arrow {
        ""
    } else {
        " or .arrow"
    };
    let others = if parquet_type(field).is_some() {
        ""
    } else {
        others
    };
    Some(format!(
        "the column {} holds values of the type {}, which would be lost; write .parquet{others}",
        psijoin_printable::Quoted(field.name()),
        psijoin_printable::Word(meant),
    ))
}

/// Returns why a format cannot hold the first of these columns that it cannot.
fn first_unfit(schema: &Schema, from: Format, to: Format) -> Option<String> {
    let (fits, why): (fn(&Field) -> bool, _) = match to {
        Format::Parquet if from == Format::Parquet => return None,
        Format::Parquet => (parquet::can_hold, "Parquet does not have; write .arrow"),
        Format::Arrow => (
            ipc::can_hold,
            "cannot go to Arrow files without values of other rows; write .parquet",
        ),
        Format::Csv | Format::Tsv | Format::Lines => (
            |field| has_text(field.data_type()),
            "is not text; write .parquet or .arrow",
        ),
    };
    let field = schema.fields().iter().find(|field| !fits(field))?;
    let (name, data_type) = (field.name(), field.data_type());
    Some(format!(
        "the column {} holds {data_type}, which {why}",
        psijoin_printable::Quoted(name)
    ))
}

/// Returns the first two columns that have one name.
fn first_repeated(names: &[String]) -> Option<(usize, usize)> {
    names.iter().enumerate().find_map(|(second, name)| {
        let first = names[..second].iter().position(|other| other == name)?;
        Some((first, second))
    })
}

/// Writes the chosen rows of `source`.
pub(crate) fn chosen_rows(
    source: &Source,
    chosen: &Chosen<'_>,
    form: Form,
    output: &mut Output<'_>,
    progress: &Progress,
) -> Result<(), Error> {
    start(source, chosen, progress);
    unless_changed(source, || match (source.layout(), form.format.is_text()) {
        (None, false) => typed::filter(source, chosen, Target::file(form.format, output), progress),
        (Some(layout), _) if source.format() == form.format => copy::chosen(
            source,
            (layout, form.quote_formulas),
            chosen,
            output,
            progress,
        ),
        _ => {
            let writer = field_writer(source, chosen, form, output, progress)?;
            as_texts(source, chosen, writer, progress)
        }
    })?;
    output
        .flush()
        .map_err(|source| cannot_write(output.name, source))
}

/// Returns the chosen rows of `source` in memory, and their columns, as Arrow files would have
/// them. Errors call them `name`.
pub(crate) fn chosen_batches(
    source: &Source,
    chosen: &Chosen<'_>,
    name: &str,
    progress: &Progress,
) -> Result<(SchemaRef, Vec<RecordBatch>), Error> {
    start(source, chosen, progress);
    let mut kept = Kept::new(name);
    let target = Target::Memory(&mut kept);
    unless_changed(source, || match source.layout() {
        None => typed::filter(source, chosen, target, progress),
        Some(_) => {
            let (names, added) = (source.columns()?, chosen.cursor());
            let writer = typed::strings(target, &names, added, chosen.order, progress)?;
            as_texts(source, chosen, writer, progress)
        }
    })?;
    Ok((kept.schema, kept.batches))
}

/// Begins the progress of writing chosen rows.
fn start(source: &Source, chosen: &Chosen<'_>, progress: &Progress) {
    // In another order, rows are written when all of them are read.
    let passes = if chosen.order.is_some() { 2 } else { 1 };
    progress.start(passes * source.bytes());
}

/// Writes chosen rows whose fields are read as texts.
fn as_texts(
    source: &Source,
    chosen: &Chosen<'_>,
    mut writer: Box<dyn FieldWriter + '_>,
    progress: &Progress,
) -> Result<(), Error> {
    let mut pass = Pass {
        source,
        chosen: chosen.rows,
        next: 0,
    };
    match source.layout() {
        None => from_typed(source, &mut pass, &mut *writer, progress)?,
        Some(layout) => from_text(source, layout, &mut pass, &mut *writer, progress)?,
    }
    pass.finish()?;
    writer.finish()
}

/// The chosen rows, in step with a pass over them.
struct Pass<'a> {
    source: &'a Source,
    chosen: &'a Bitmap,
    next: u64,
}

impl Pass<'_> {
    /// Returns whether the next row is chosen.
    fn next(&mut self) -> Result<bool, Error> {
        if self.next == self.chosen.len() {
            return Err(self.source.changed().into());
        }
        self.next += 1;
        Ok(self.chosen.get(self.next - 1))
    }

    /// Passes over this many rows if none of them is chosen; returns whether it has.
    fn pass_over(&mut self, rows: u64) -> bool {
        let end = self.next.saturating_add(rows);
        let passes = end <= self.chosen.len() && !self.chosen.any(self.next..end);
        if passes {
            self.next = end;
        }
        passes
    }

    /// Reads typed columns, and gives each batch of them to `take`, which asks for each of its rows
    /// whether it is chosen. Parts without a chosen row are not read, if the file's description
    /// allows to pass over them.
    fn each_batch(
        &mut self,
        selection: &Selection<'_>,
        progress: &Progress,
        take: &mut dyn FnMut(&mut Self, &Batch<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for piece in Pieces::new(selection, progress) {
            let piece = piece?;
            let bytes = piece.bytes();
            if !self.pass_over(piece.rows()) {
                for batch in piece.read(selection)? {
                    progress.check()?;
                    take(self, &batch?)?;
                }
            }
            progress.advance(bytes)?;
        }
        Ok(())
    }

    /// Checks that the number of rows has not changed.
    fn finish(&self) -> Result<(), Error> {
        match self.next == self.chosen.len() {
            true => Ok(()),
            false => Err(self.source.changed().into()),
        }
    }
}

fn from_text(
    source: &Source,
    layout: Layout,
    pass: &mut Pass<'_>,
    writer: &mut dyn FieldWriter,
    progress: &Progress,
) -> Result<(), Error> {
    let mut buffer = Vec::new();
    let (mut next, mut line) = (0, 0);
    for block in source.blocks(layout)? {
        let block = block?;
        let name = block.text.name();
        let nulls = vec![false; block.text.columns().len()];
        if block.is_first() {
            (next, line) = (block.text.rows_start(), block.text.rows_line());
        }
        if next < block.bytes.end {
            let (extent, error) = block.each_row(
                Start::Known(next),
                Needed::First(usize::MAX),
                &mut buffer,
                &mut |row| {
                    if !pass.next()? {
                        return Ok(());
                    }
                    let fields: Vec<Cow<'_, str>> =
                        (0..row.len()).map(|index| row.field(index)).collect();
                    writer
                        .row(&fields, &nulls, Place::Line(line + row.line()))
                        .map_err(|error| in_file(source, name, error))
                },
            );
            error.map_or(Ok(()), |error| Err(error.later(line)))?;
            next = extent.end;
            line += extent.lines;
        }
        progress.advance(block.done_bytes())?;
    }
    Ok(())
}

/// Says which file of several has the row that an output cannot hold.
fn in_file(source: &Source, name: &str, error: Error) -> Error {
    match error {
        Error::Write(WriteError::Unfit { file, reason }) if source.files() > 1 => {
            Error::Write(WriteError::Unfit {
                file,
                reason: format!("in {name}, {reason}"),
            })
        }
        other => other,
    }
}

fn from_typed(
    source: &Source,
    pass: &mut Pass<'_>,
    writer: &mut dyn FieldWriter,
    progress: &Progress,
) -> Result<(), Error> {
    let selection = Selection::all(source)?;
    let mut fields = vec![Cow::Borrowed(""); selection.schema().fields().len()];
    let mut nulls = vec![false; fields.len()];
    pass.each_batch(&selection, progress, &mut |pass, batch| {
        let columns = batch.texts(batch.rows.columns().iter())?;
        for row in 0..batch.rows.num_rows() {
            if pass.next()? {
                for ((column, field), is_null) in columns.iter().zip(&mut fields).zip(&mut nulls) {
                    let text = field.to_mut();
                    text.clear();
                    column.write(row, text);
                    *is_null = column.is_null(row);
                }
                writer
                    .row(&fields, &nulls, batch.place(row))
                    .map_err(|error| in_file(source, batch.file(), error))?;
            }
        }
        Ok(())
    })
}

fn field_writer<'a>(
    source: &Source,
    chosen: &Chosen<'a>,
    form: Form,
    output: &'a mut Output<'_>,
    progress: &'a Progress,
) -> Result<Box<dyn FieldWriter + 'a>, Error> {
    let mut names = source.columns()?;
    let added = chosen.cursor();
    if !form.format.is_text() {
        let target = Target::file(form.format, output);
        return typed::strings(target, &names, added, chosen.order, progress);
    }
    if let Some(added) = &added {
        let fields = added.added().schema.fields().iter();
        names.extend(fields.map(|field| field.name().clone()));
    }
    let has_header = !matches!(
        source.layout(),
        Some(Layout::Delimited(dialect)) if !dialect.header
    );
    if form.quote_formulas {
        names = names
            .into_iter()
            .map(|name| defused(&name).unwrap_or(name))
            .collect();
    }
    let header = has_header.then_some(&*names);
    let records: Box<dyn Records + 'a> = match chosen.order {
        None => Box::new(output),
        Some(order) => Box::new(AlignedRecords::new(order, output, progress)),
    };
    let writer: Box<dyn FieldWriter + 'a> = match form.format {
        Format::Csv => Box::new(Quoted::new(header, form, records)?),
        Format::Tsv => Box::new(Unquoted::new(header, records)?),
        Format::Lines => Box::new(Lines::new(records)),
        Format::Parquet | Format::Arrow => unreachable!("they are no texts"),
    };
    let writer: Box<dyn FieldWriter + 'a> = match form.quote_formulas {
        true => Box::new(WithoutFormulas::new(
            writer,
            are_texts(source, chosen.added)?,
        )),
        false => writer,
    };
    Ok(match added {
        Some(added) => Box::new(Widened::new(writer, added)),
        None => writer,
    })
}

/// Returns which of the columns that are written hold texts.
fn are_texts(source: &Source, added: Option<&Added<'_>>) -> Result<Vec<bool>, Error> {
    let of = |schema: &Schema| -> Vec<bool> {
        let columns = schema.fields().iter();
        columns.map(|column| holds_texts(column)).collect()
    };
    let mut are_texts = match source.layout() {
        Some(_) => vec![true; source.columns()?.len()],
        None => of(&*source.schema()?),
    };
    are_texts.extend(added.map_or(Vec::new(), |added| of(&added.schema)));
    Ok(are_texts)
}
