//! Reads the keys of texts.

use super::{
    BlockStart, Findings, Wanted,
    collect::{Collector, Origin},
    collected::Collected,
    stretch::{Builder, Sought, Stretch},
};
use psijoin_key::{KeyColumns, Kind, Place};
use psijoin_source::{
    Number, Progress, ReadError, Source,
    text::{Block, Extent, Layout, Needed, Record, Start},
};

use crate::{Error, in_order::in_order};

/// Reads what is wanted from a table that is text: its blocks in parallel.
pub(super) fn read_text(
    source: &Source,
    layout: Layout,
    wanted: &Wanted<'_>,
    progress: &Progress,
) -> Result<(Collected, Findings), Error> {
    let mut blocks = source.blocks(layout)?;
    let header = blocks.text().header();
    let key = header.key_columns(wanted.key)?;
    let countries = header.country_columns(wanted.key)?;
    let numbers = header.find_all(wanted.beside.numbers)?;
    let labels = header.find_all(&wanted.beside.label_names())?;
    let key_names = header.shown_names(wanted.key).into_iter();
    let key_texts = key_names.map(|name| (name, Kind::Text));
    let sought = Sought {
        table: source.name(),
        columns: header.names.len(),
        key: KeyColumns::new(wanted.key, key_texts).below_header(layout.has_header()),
        bad_keys: wanted.bad_keys(),
        beside: wanted.beside,
        inspected: wanted.inspected.as_ref(),
        spill: wanted.spill,
    };
    let columns = key.iter().chain(countries.iter().flatten());
    let columns = columns.chain(&numbers).chain(&labels).max();
    let reader = Reader {
        sought: &sought,
        layout,
        needed: Needed::First(columns.map_or(0, |last| last + 1)),
        key,
        countries,
        numbers,
        labels,
    };
    let mut verified = Verified::new(&reader);
    in_order(
        &mut || blocks.next(),
        &Vec::new,
        &|block, buffer| block.map(|block| reader.read(block, Start::Guessed, buffer)),
        &mut |read| {
            let read = read?;
            let done_bytes = read.block.done_bytes();
            verified.take(read)?;
            Ok(progress.advance(done_bytes)?)
        },
    )?;
    verified.collector.finish()
}

/// Reads the blocks of a table.
struct Reader<'a> {
    sought: &'a Sought<'a>,
    layout: Layout,
    /// The columns of the key, those of numbers, and those of labels.
    key: Vec<usize>,
    numbers: Vec<usize>,
    labels: Vec<usize>,
    /// For each of the key, that of the countries of its telephone numbers.
    countries: Vec<Option<usize>>,
    /// The columns that they are among.
    needed: Needed,
}

/// The content of a block, if its rows begin at the stated or guessed place.
struct Read<'a> {
    block: Block<'a>,
    extent: Extent,
    stretch: Stretch<'a>,
}

impl<'a> Reader<'a> {
    fn read(&self, block: Block<'a>, start: Start, buffer: &mut Vec<u8>) -> Read<'a> {
        let mut stretch = Builder::new(self.sought, block.text.name());
        // After a wrong guess, rows are likely to have other fields, and not worth to be read on.
        let is_known = matches!(start, Start::Known(_));
        let (extent, error) = block.each_record(start, self.needed, buffer, &mut |row| {
            if block.has_all_fields(row) {
                return self.read_row(row, &mut stretch);
            }
            if !is_known {
                return Err(block.ragged(row).into());
            }
            stretch.ragged(row.len(), Place::Line(row.line()));
            Ok(())
        });
        Read {
            block,
            extent,
            stretch: stretch.finish(error),
        }
    }

    fn read_row(&self, row: &Record<'_>, stretch: &mut Builder<'_>) -> Result<(), Error> {
        let place = Place::Line(row.line());
        for (position, &column) in self.key.iter().enumerate() {
            let field = row.field(column);
            let has_quotes = self.layout.has_stray_quotes(&field);
            stretch.stray(has_quotes, self.layout.is_stray_null(&field));
            let country = self.countries[position].map(|column| row.field(column));
            stretch.key_field(position, Ok(field), &country.unwrap_or_default(), place);
        }
        if !stretch.finish_row(place) {
            return Ok(());
        }
        for (index, &column) in self.numbers.iter().enumerate() {
            let number = Number::parse(&row.field(column));
            stretch.number(index, number, place)?;
        }
        for (index, &column) in self.labels.iter().enumerate() {
            stretch.label(index, Ok(&*row.field(column)), place)?;
        }
        Ok(())
    }
}

/// Takes blocks in order, and checks where their rows begin: what was read after a wrong guess is
/// read again.
struct Verified<'a> {
    reader: &'a Reader<'a>,
    collector: Collector<'a>,
    /// The beginning of the next row in its text, and its line, from 1.
    next: u64,
    line: u64,
    /// `true` if the line before it ends in CRLF.
    is_after_crlf: bool,
    buffer: Vec<u8>,
}

impl<'a> Verified<'a> {
    fn new(reader: &'a Reader<'a>) -> Self {
        Self {
            reader,
            collector: Collector::new(reader.sought),
            next: 0,
            line: 0,
            is_after_crlf: false,
            buffer: Vec::new(),
        }
    }

    fn take(&mut self, read: Read<'a>) -> Result<(), Error> {
        let text = &read.block.text;
        if read.block.is_first() {
            self.next = text.rows_start();
            self.line = text.rows_line();
            self.is_after_crlf = text.raw_header().ends_with("\r\n");
        }
        if self.next >= read.block.bytes.end {
            // The row before continues behind the block.
            return Ok(());
        }
        let was_guessed = read.extent.start == Some(self.next)
            && !matches!(
                read.stretch.error,
                Some(Error::Read(ReadError::Ragged { .. }))
            );
        let read = match was_guessed {
            true => read,
            false => self
                .reader
                .read(read.block, Start::Known(self.next), &mut self.buffer),
        };
        let origin = Origin {
            file: read.block.text.name(),
            first: self.line,
        };
        if let Some(ends_in_crlf) = read.extent.ends_in_crlf {
            self.collector.block_starts(BlockStart {
                part: read.block.part,
                byte: self.next,
                row: self.collector.rows(),
                is_after_crlf: self.is_after_crlf,
            });
            self.is_after_crlf = ends_in_crlf;
        }
        self.collector.take(read.stretch, &origin)?;
        self.next = read.extent.end;
        self.line += read.extent.lines;
        Ok(())
    }
}
