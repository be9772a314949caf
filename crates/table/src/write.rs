//! Writes the matching rows of a source, in any format.

mod copy;
mod fields;
mod groups;
mod ipc;
mod parquet;
mod typed;

use std::{
    borrow::Cow,
    io::{self, Write},
};

use arrow_schema::{Field, Schema};

use crate::{
    Error, Format, MatchingRows, Progress, Source,
    arrow::has_text,
    dialect::Layout,
    error::Place,
    source::{Batch, Pieces, Selection},
    table::bitmap::Bitmap,
    text::{Needed, Start},
};
use fields::{FieldWriter, Lines, Quoted, Unquoted};

/// Where rows are written, and how errors call it.
pub(crate) struct Output<'a> {
    pub(crate) name: &'a str,
    pub(crate) writer: &'a mut (dyn Write + Send),
}

impl Output<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.write_all(bytes)
            .map_err(|source| cannot_write(self.name, source))
    }
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

fn cannot_write(file: &str, source: io::Error) -> Error {
    Error::Write {
        file: file.to_owned(),
        source,
    }
}

/// Why a format cannot hold the columns of a source, if it cannot.
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
        None => Ok(first_unfit(&*source.schema()?, source.format(), format)),
    }
}

/// Why a format cannot hold the first of these columns that it cannot.
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
        "the column `{name}` holds {data_type}, which {why}"
    ))
}

/// The first two columns that have one name.
fn first_repeated(names: &[String]) -> Option<(usize, usize)> {
    names.iter().enumerate().find_map(|(second, name)| {
        let first = names[..second].iter().position(|other| other == name)?;
        Some((first, second))
    })
}

/// Writes the rows of `source` that match, and returns their number. In CSV, `quote_empty` tells
/// empty texts from nulls.
pub(crate) fn matching_rows(
    source: &Source,
    matching: &MatchingRows<'_>,
    format: Format,
    quote_empty: bool,
    output: &mut Output<'_>,
    progress: &Progress,
) -> Result<u64, Error> {
    progress.start(source.bytes());
    let mut matches = Matches {
        source,
        rows: &matching.rows,
        next: 0,
    };
    source.unchanged_by(|| match (source.layout(), format.is_text()) {
        (None, false) => typed::filter(source, &matching.rows, format, output, progress),
        (Some(layout), _) if source.format() == format => {
            copy::matching(source, layout, matching, output, progress)
        }
        (layout, _) => {
            let names = source.columns()?;
            let has_header = !matches!(
                layout,
                Some(Layout::Delimited(dialect)) if !dialect.header
            );
            let mut writer =
                field_writer(format, &names, has_header, quote_empty, output, progress)?;
            match layout {
                None => from_typed(source, &mut matches, &mut *writer, progress)?,
                Some(layout) => from_text(source, layout, &mut matches, &mut *writer, progress)?,
            }
            writer.finish()?;
            matches.finish()
        }
    })?;
    output
        .flush()
        .map_err(|source| cannot_write(output.name, source))?;
    Ok(matching.count())
}

/// Which rows match, in step with a pass over them.
struct Matches<'a> {
    source: &'a Source,
    rows: &'a Bitmap,
    next: u64,
}

impl Matches<'_> {
    /// Whether the next row matches.
    fn next(&mut self) -> Result<bool, Error> {
        if self.next == self.rows.len() {
            return Err(self.source.changed());
        }
        self.next += 1;
        Ok(self.rows.get(self.next - 1))
    }

    /// Passes over this many rows if none of them matches; says whether it has.
    fn pass_over(&mut self, rows: u64) -> bool {
        let end = self.next.saturating_add(rows);
        let passes = end <= self.rows.len() && !self.rows.any(self.next..end);
        if passes {
            self.next = end;
        }
        passes
    }

    /// Reads typed columns, and gives each batch of them to `take`, which asks for each of its rows
    /// whether it matches. What has no matching row is not read, where the file's description
    /// says enough to pass over it.
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
        match self.next == self.rows.len() {
            true => Ok(()),
            false => Err(self.source.changed()),
        }
    }
}

fn from_text(
    source: &Source,
    layout: Layout,
    matches: &mut Matches<'_>,
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
                    if !matches.next()? {
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
        Error::Unfit { file, reason } if source.files() > 1 => Error::Unfit {
            file,
            reason: format!("in {name}, {reason}"),
        },
        other => other,
    }
}

fn from_typed(
    source: &Source,
    matches: &mut Matches<'_>,
    writer: &mut dyn FieldWriter,
    progress: &Progress,
) -> Result<(), Error> {
    let selection = Selection::all(source)?;
    let mut fields = vec![Cow::Borrowed(""); selection.schema().fields().len()];
    let mut nulls = vec![false; fields.len()];
    matches.each_batch(&selection, progress, &mut |matches, batch| {
        let columns = batch.texts(batch.rows.columns().iter())?;
        for row in 0..batch.rows.num_rows() {
            if matches.next()? {
                for ((column, field), is_null) in columns.iter().zip(&mut fields).zip(&mut nulls) {
                    let text = field.to_mut();
                    text.clear();
                    column.write(row, text);
                    *is_null = column.is_null(row);
                }
                writer
                    .row(&fields, &nulls, batch.place(row))
                    .map_err(|error| in_file(source, batch.part.name(), error))?;
            }
        }
        Ok(())
    })
}

fn field_writer<'a>(
    format: Format,
    columns: &[String],
    has_header: bool,
    quote_empty: bool,
    output: &'a mut Output<'_>,
    progress: &'a Progress,
) -> Result<Box<dyn FieldWriter + 'a>, Error> {
    let header = has_header.then_some(columns);
    Ok(match format {
        Format::Csv => Box::new(Quoted::new(header, quote_empty, output)?),
        Format::Tsv => Box::new(Unquoted::new(header, output)?),
        Format::Lines => Box::new(Lines::new(output)),
        Format::Parquet | Format::Arrow => typed::strings(format, columns, output, progress)?,
    })
}
