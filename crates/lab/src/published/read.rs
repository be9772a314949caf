//! Reading the files.
//!
//! A file begins with comments: `# paper: `, `# number: `, `# section: `, `# caption: `, and then
//! notes. The rest is CSV. The files are part of the program, so a fault in one is a panic; a test
//! reads them all.

use std::{fmt::Display, str::FromStr};

use super::{Cells, Row, Table};

/// Returns the names and texts of files as tables.
pub(super) fn all<R>(
    files: &[(&'static str, &'static str)],
    row: fn(Cells) -> Result<R, String>,
) -> Vec<Table<R>> {
    let read = files.iter().map(|(name, text)| table(name, text, row));
    read.collect()
}

fn table<R>(
    name: &'static str,
    text: &'static str,
    row: fn(Cells) -> Result<R, String>,
) -> Table<R> {
    let mut comments = text.lines().map_while(|line| line.strip_prefix("# "));
    let mut head = |key: &str| {
        let line = comments.next().and_then(|line| line.strip_prefix(key));
        line.unwrap_or_else(|| panic!("{name} has no line `# {key}` in its place"))
    };
    let paper = head("paper: ").parse();
    Table {
        name,
        paper: paper.unwrap_or_else(|error| panic!("{name}: {error}")),
        number: head("number: "),
        section: head("section: "),
        caption: head("caption: "),
        notes: comments.collect(),
        rows: lines(text)
            .map(|cells| row(cells).unwrap_or_else(|error| panic!("{name}: {error}")))
            .collect(),
    }
}

fn lines(text: &'static str) -> impl Iterator<Item = Cells> {
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let names = reader.headers().expect("a file has a header").clone();
    reader.into_records().map(move |record| {
        let record = record.expect("a file is CSV");
        let cells = names.iter().zip(&record);
        Cells(
            cells
                .map(|(name, text)| (name.into(), text.into()))
                .collect(),
        )
    })
}

/// Returns the columns that all comparisons have, and what else there is.
pub(super) fn row(mut cells: Cells) -> Result<Row, String> {
    let network = cells.take("network")?;
    Ok(Row {
        protocol: cells.take("protocol")?.ok_or("no name of the protocol")?,
        ours: cells.take("ours")?,
        sender_items: cells.parse("sender_items")?,
        receiver_items: cells.parse("receiver_items")?,
        network: network
            .map(|text| parse("network", &format!("wan:{text}")))
            .transpose()?,
        threads: cells
            .take("threads")?
            .map(|text| parse("threads", &text))
            .transpose()?,
        metric: cells.parse("metric")?,
        value: cells.parse("value")?,
        printed: cells.take("printed")?.ok_or("nothing was printed")?,
        more: cells,
    })
}

impl Cells {
    /// Takes a column out; none if it is empty.
    fn take(&mut self, column: &str) -> Result<Option<String>, String> {
        let place = self.0.iter().position(|(name, _)| name == column);
        let (_, text) = self
            .0
            .remove(place.ok_or_else(|| format!("no column {column}"))?);
        Ok((!text.is_empty()).then_some(text))
    }

    /// Takes a column out that is never empty.
    fn parse<T: FromStr<Err: Display>>(&mut self, column: &str) -> Result<T, String> {
        parse(column, &self.take(column)?.unwrap_or_default())
    }
}

fn parse<T: FromStr<Err: Display>>(column: &str, text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|error| format!("{column} is `{text}`: {error}"))
}
