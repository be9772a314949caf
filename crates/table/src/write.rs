//! Writes the matching rows of a source, in any format.

mod fields;
mod parquet;

use std::{
    borrow::Cow,
    io::{self, Write},
};

use crate::{
    Error, Format, Progress, Source,
    dialect::Layout,
    error::Place,
    parquet::{Batches, check_columns, columns, has_text, open, texts},
    text,
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
    if source.format() == Format::Parquet {
        check_columns(source)?;
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
    Ok(match (source.format(), format) {
        (Format::Parquet, Format::Parquet) => None,
        (Format::Parquet, _) => open(source)?
            .schema()
            .fields()
            .iter()
            .find(|field| !has_text(field.data_type()))
            .map(|field| {
                let (name, data_type) = (field.name(), field.data_type());
                format!("the column `{name}` holds {data_type}, which is no text; write .parquet")
            }),
        // The name is not told: in a text without a header it is a value.
        (_, Format::Parquet) => first_repeated(&names).map(|(first, second)| {
            format!(
                "its columns {} and {} would have the same name; write .csv",
                first + 1,
                second + 1
            )
        }),
        _ => None,
    })
}

/// The first two columns that have one name.
fn first_repeated(names: &[String]) -> Option<(usize, usize)> {
    names.iter().enumerate().find_map(|(second, name)| {
        let first = names[..second].iter().position(|other| other == name)?;
        Some((first, second))
    })
}

/// Writes those rows of `source` of which `matches` says so, and returns their number. In CSV,
/// `quote_empty` tells empty texts from nulls.
pub(crate) fn matching_rows(
    source: &Source,
    matches: impl Iterator<Item = bool>,
    format: Format,
    quote_empty: bool,
    output: &mut Output<'_>,
    progress: &Progress,
) -> Result<u64, Error> {
    progress.start(source.bytes());
    let mut matches = Matches {
        source,
        flags: matches,
        matching: 0,
    };
    let rows = source.unchanged_by(|| {
        match (source.format(), format) {
            (Format::Parquet, Format::Parquet) => {
                parquet::filter(source, &mut matches, output, progress)
            }
            (from, to) if from == to => copy(source, &mut matches, output, progress),
            (from, _) => {
                let names = source.columns()?;
                let has_header = !matches!(
                    source.layout(),
                    Some(Layout::Delimited(dialect)) if !dialect.header
                );
                let mut writer = field_writer(format, &names, has_header, quote_empty, output)?;
                match from {
                    Format::Parquet => from_parquet(source, &mut matches, &mut *writer, progress)?,
                    _ => from_text(source, &mut matches, &mut *writer, progress)?,
                }
                writer.finish()
            }
        }?;
        matches.finish()
    })?;
    output
        .flush()
        .map_err(|source| cannot_write(output.name, source))?;
    Ok(rows)
}

/// Which rows match, in step with a pass over them.
struct Matches<'a, I> {
    source: &'a Source,
    flags: I,
    matching: u64,
}

impl<I: Iterator<Item = bool>> Matches<'_, I> {
    /// Whether the next row matches.
    fn next(&mut self) -> Result<bool, Error> {
        let matches = self.flags.next().ok_or_else(|| self.source.changed())?;
        self.matching += u64::from(matches);
        Ok(matches)
    }

    /// The number of matching rows, if the rows are as many as they were.
    fn finish(&mut self) -> Result<u64, Error> {
        match self.flags.next() {
            None => Ok(self.matching),
            Some(_) => Err(self.source.changed()),
        }
    }
}

/// Copies records byte for byte.
fn copy(
    source: &Source,
    matches: &mut Matches<'_, impl Iterator<Item = bool>>,
    output: &mut Output<'_>,
    progress: &Progress,
) -> Result<(), Error> {
    let mut table = open_text(source, progress)?;
    output.put(table.preamble())?;
    while let Some(row) = table.next_row()? {
        if matches.next()? {
            output.put(row.raw().as_bytes())?;
        }
    }
    Ok(())
}

fn from_text(
    source: &Source,
    matches: &mut Matches<'_, impl Iterator<Item = bool>>,
    writer: &mut dyn FieldWriter,
    progress: &Progress,
) -> Result<(), Error> {
    let mut table = open_text(source, progress)?;
    let nulls = vec![false; table.columns().len()];
    while let Some(row) = table.next_row()? {
        if matches.next()? {
            let fields: Vec<Cow<'_, str>> = (0..row.len()).map(|index| row.field(index)).collect();
            writer.row(&fields, &nulls, Place::Line(row.line()))?;
        }
    }
    Ok(())
}

fn from_parquet(
    source: &Source,
    matches: &mut Matches<'_, impl Iterator<Item = bool>>,
    writer: &mut dyn FieldWriter,
    progress: &Progress,
) -> Result<(), Error> {
    let reader = open(source)?;
    let mut fields = vec![Cow::Borrowed(""); columns(&reader).len()];
    let mut nulls = vec![false; fields.len()];
    let mut rows = 0;
    for batch in Batches::new(source, reader, progress)? {
        let batch = batch?;
        let columns = texts(source, batch.columns().iter())?;
        for row in 0..batch.num_rows() {
            rows += 1;
            if matches.next()? {
                for ((column, field), is_null) in columns.iter().zip(&mut fields).zip(&mut nulls) {
                    let text = field.to_mut();
                    text.clear();
                    column.write(row, text);
                    *is_null = column.is_null(row);
                }
                writer.row(&fields, &nulls, Place::Row(rows))?;
            }
        }
    }
    Ok(())
}

fn open_text<'a>(
    source: &'a Source,
    progress: &'a Progress,
) -> Result<text::Table<'a, &'a std::fs::File>, Error> {
    let layout = source.layout().expect("only texts are read as text");
    text::Table::open(source.rewound()?, source.name(), layout, progress)
}

fn field_writer<'a>(
    format: Format,
    columns: &[String],
    has_header: bool,
    quote_empty: bool,
    output: &'a mut Output<'_>,
) -> Result<Box<dyn FieldWriter + 'a>, Error> {
    let header = has_header.then_some(columns);
    Ok(match format {
        Format::Csv => Box::new(Quoted::new(header, quote_empty, output)?),
        Format::Tsv => Box::new(Unquoted::new(header, output)?),
        Format::Lines => Box::new(Lines::new(output)),
        Format::Parquet => Box::new(parquet::Strings::new(columns, output)?),
    })
}
