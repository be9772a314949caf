//! The headers of pages, compared with the footer's description of their column chunk.
//!
//! The Parquet reader takes the header of a page at its word, and old writers and damaged files
//! have headers that are wrong: a compressed page that is said not to be would be read as values.

use std::io::{self, BufReader, Read};

use parquet::{basic::Compression, file::metadata::ColumnChunkMetaData};

use super::page_header::{Kind, PageHeader};
use crate::source::section::Section;

/// The bytes that are read at once of a page's header, which is short unless it has long
/// statistics.
const HEADER_BYTES: usize = 256;

/// The name of PyArrow before 3.0. It compressed pages of the second version, and stated that it
/// did not.
const COMPRESSES_ALWAYS: &str = "parquet-cpp version";

/// The facts in the headers of a chunk's pages.
#[derive(Default)]
pub(super) struct Headers {
    /// The contradiction among them or with the footer, if there is one.
    pub(super) contradiction: Option<&'static str>,
    /// `true` if values are written as the length that they share with the one before.
    pub(super) has_prefixes: bool,
}

/// Reads the headers of a chunk's pages, up to one that contradicts others.
///
/// # Errors
/// If the chunk cannot be read, or a header is none.
pub(super) fn headers(
    section: &Section,
    chunk: &ColumnChunkMetaData,
    created_by: Option<&str>,
) -> io::Result<Headers> {
    let (start, length) = chunk.byte_range();
    let end = start.saturating_add(length);
    let (mut at, mut values, mut pages) = (start, 0, 0);
    let mut headers = Headers::default();
    let ends = Some("ends before all of its values have come");
    while values < chunk.num_values() {
        if at >= end {
            headers.contradiction = ends;
            return Ok(headers);
        }
        let page = Page::read(section, at)?;
        headers.contradiction = header_contradiction(&page.header, chunk, created_by, pages);
        if headers.contradiction.is_some() {
            return Ok(headers);
        }
        headers.has_prefixes |= page.header.kind.has_prefixes();
        at = page.end();
        values += page.header.values();
        pages += 1;
    }
    let is_more = values > chunk.num_values();
    let more = is_more.then_some("has more values in its pages than it is said to have");
    headers.contradiction = if at > end { ends } else { more };
    Ok(headers)
}

/// Returns the length of the header of a chunk's dictionary, if it has one and its pages exceed
/// their stated length by that header.
///
/// # Errors
/// If the chunk cannot be read, or a header is none.
pub(super) fn uncounted_header(
    section: &Section,
    chunk: &ColumnChunkMetaData,
) -> io::Result<Option<i64>> {
    let (start, length) = chunk.byte_range();
    let first = Page::read(section, start)?;
    let header_bytes = first.header_bytes;
    if !matches!(first.header.kind, Kind::Dictionary) {
        return Ok(None);
    }
    let end = start.saturating_add(length).saturating_add(header_bytes);
    let (mut at, mut values) = (first.end(), 0);
    while values < chunk.num_values() && at < end {
        let page = Page::read(section, at)?;
        at = page.end();
        values += page.header.values();
    }
    Ok((values == chunk.num_values() && at == end).then_some(header_bytes as i64))
}

/// A page whose header has been read.
struct Page {
    start: u64,
    header_bytes: u64,
    header: PageHeader,
}

impl Page {
    fn read(section: &Section, start: u64) -> io::Result<Self> {
        let mut input = Counted {
            input: BufReader::with_capacity(HEADER_BYTES, section.at(start)),
            bytes: 0,
        };
        let header = PageHeader::read(&mut input)?;
        Ok(Self {
            start,
            header_bytes: input.bytes,
            header,
        })
    }

    /// Returns where the next page begins; behind everything if its length is negative.
    fn end(&self) -> u64 {
        let bytes = u64::try_from(self.header.bytes).unwrap_or(u64::MAX);
        self.start
            .saturating_add(self.header_bytes)
            .saturating_add(bytes)
    }
}

/// Returns the fault of a header by itself, as that of the page of this number of its chunk.
fn header_contradiction(
    header: &PageHeader,
    chunk: &ColumnChunkMetaData,
    created_by: Option<&str>,
    page: u64,
) -> Option<&'static str> {
    let is_chunk_compressed = chunk.compression() != Compression::UNCOMPRESSED;
    if header.bytes < 0 || header.decompressed_bytes < 0 || header.values() < 0 {
        return Some("has a page of a negative length");
    }
    let is_said_compressed = match &header.kind {
        Kind::Dictionary if page > 0 => return Some("has a dictionary behind other pages"),
        Kind::Data2 {
            values,
            nulls,
            rows,
            level_bytes,
            is_compressed,
            ..
        } => {
            let is_flat = chunk.column_descr().max_rep_level() == 0;
            if !(0..=*values).contains(nulls) || *rows < 0 || (is_flat && rows != values) {
                return Some("has a page whose counts of rows, values and nulls do not agree");
            }
            if level_bytes.iter().any(|&bytes| bytes < 0)
                || level_bytes.iter().sum::<i64>() > header.bytes
            {
                return Some("has a page that is shorter than a part of it");
            }
            *is_compressed
        }
        Kind::Data { .. } | Kind::Dictionary | Kind::Other => true,
    };
    if is_chunk_compressed && is_said_compressed {
        return None;
    }
    let is_old = created_by.is_some_and(|name| name.starts_with(COMPRESSES_ALWAYS));
    if header.bytes != header.decompressed_bytes || (is_chunk_compressed && is_old) {
        return Some(
            "has a page that is said not to be compressed, and is: PyArrow before 3.0 wrote such, and PyArrow reads \
             them",
        );
    }
    None
}

/// Counts the bytes that are read.
struct Counted<R> {
    input: R,
    bytes: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.input.read(buffer)?;
        self.bytes += bytes as u64;
        Ok(bytes)
    }
}
