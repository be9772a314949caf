//! Footers that the library cannot read, since a column has an encoding or a compression that came
//! later, or a field that another program put there.
//!
//! The library then refuses the whole file. Here such columns are named, and whoever does not need
//! them can read the others.

use std::io::{self, Read, Seek, SeekFrom};

use parquet::file::{
    FOOTER_SIZE,
    metadata::{FooterTail, ParquetMetaData, ParquetMetaDataReader},
};

use super::thrift::{Struct, Value, kind};
use crate::section::Section;

/// The fields of the format's structures that are looked at, by their numbers in `parquet.thrift`.
mod field {
    pub(super) const ROW_GROUPS: u16 = 4;
    pub(super) const COLUMNS: u16 = 1;
    pub(super) const METADATA: u16 = 3;
    pub(super) const ENCODINGS: u16 = 2;
    pub(super) const CODEC: u16 = 4;
    /// The last of those of a column chunk that must be understood to read it: what follows is
    /// about its values, Bloom filter and the like.
    pub(super) const DICTIONARY_PAGE_OFFSET: u16 = 11;
}

/// The numbers of encodings and codecs that are known.
const ENCODINGS: [i64; 10] = [0, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const CODECS: std::ops::RangeInclusive<i64> = 0..=7;

/// A file's description, and of some leaves in which way they are written that is not known.
pub(super) struct Footer {
    pub(super) metadata: ParquetMetaData,
    pub(super) unknown: Vec<(usize, String)>,
}

/// Reads what can be read of a footer, whatever else is in it.
///
/// # Errors
/// If it cannot be read all the same.
pub(super) fn read_leniently(section: &Section) -> io::Result<Footer> {
    let invalid = |_| io::ErrorKind::InvalidData;
    let mut section = section.clone();
    let mut tail = [0; FOOTER_SIZE];
    let tail_at = section.seek(SeekFrom::End(-(FOOTER_SIZE as i64)))?;
    section.read_exact(&mut tail)?;
    let tail = FooterTail::try_from(tail).map_err(invalid)?;
    let start = tail_at.checked_sub(tail.metadata_length() as u64);
    section.seek(SeekFrom::Start(start.ok_or(io::ErrorKind::InvalidData)?))?;
    let mut bytes = Vec::new();
    section
        .take(tail.metadata_length() as u64)
        .read_to_end(&mut bytes)?;
    let mut footer = Struct::read(&bytes)?;
    let mut unknown = Vec::new();
    for group in footer.structs_mut(field::ROW_GROUPS) {
        for (leaf, chunk) in group.structs_mut(field::COLUMNS).enumerate() {
            let Some(Value::Struct(metadata)) = chunk.get_mut(field::METADATA) else {
                continue;
            };
            let found = take_unknown(metadata);
            unknown.extend(found.map(|found| (leaf, found)));
        }
    }
    bytes.clear();
    footer.write(&mut bytes);
    Ok(Footer {
        metadata: ParquetMetaDataReader::decode_metadata(&bytes).map_err(invalid)?,
        unknown,
    })
}

/// Takes out of the description of a column chunk what is not known, and tells if it cannot be read
/// then.
fn take_unknown(chunk: &mut Struct) -> Option<String> {
    chunk
        .0
        .retain(|(number, ..)| *number <= field::DICTIONARY_PAGE_OFFSET);
    let mut unknown = None;
    if let Some(Value::List(kind::I16..=kind::I64, encodings)) = chunk.get_mut(field::ENCODINGS) {
        encodings.retain(|encoding| match encoding {
            Value::Number(encoding) if !ENCODINGS.contains(encoding) => {
                unknown = Some(format!("encoded in a way (number {encoding})"));
                false
            }
            _ => true,
        });
    }
    match chunk.get_mut(field::CODEC) {
        Some(Value::Number(codec)) if !CODECS.contains(codec) => {
            let found = format!("compressed in a way (number {codec})");
            *codec = 0;
            Some(found)
        }
        _ => unknown,
    }
}
