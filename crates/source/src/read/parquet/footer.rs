//! Footers that the library cannot read, since a column has a type, an encoding or a compression
//! that came later or went earlier, or since another program put there what the format does not
//! have.
//!
//! The library then refuses the whole file. Here such columns are named, and whoever does not need
//! them can read the others.

use std::io::{self, Read, Seek, SeekFrom};

use parquet::file::{
    FOOTER_SIZE,
    metadata::{FooterTail, ParquetMetaData, ParquetMetaDataReader},
};

use super::{
    fault::Unknown,
    thrift::{Struct, Value, kind},
};
use crate::source::section::Section;

/// The fields of the format's structures that are looked at, by their numbers in `parquet.thrift`.
mod field {
    pub(super) const SCHEMA: u16 = 2;
    /// Of an element of the schema.
    pub(super) const CHILDREN: u16 = 5;
    pub(super) const CONVERTED_TYPE: u16 = 6;
    pub(super) const LOGICAL_TYPE: u16 = 10;
    /// Of a logical type: all values are null.
    pub(super) const UNKNOWN: u16 = 11;
    pub(super) const KEY_VALUES: u16 = 5;
    pub(super) const ROW_GROUPS: u16 = 4;
    pub(super) const COLUMNS: u16 = 1;
    pub(super) const METADATA: u16 = 3;
    pub(super) const ENCODINGS: u16 = 2;
    pub(super) const CODEC: u16 = 4;
    /// The last of those of a column chunk that must be understood to read it: what follows is
    /// about its values, Bloom filter and the like.
    pub(super) const DICTIONARY_PAGE_OFFSET: u16 = 11;
}

/// The numbers of converted types, encodings and codecs that are known.
const CONVERTED_TYPES: std::ops::RangeInclusive<i64> = 0..=21;
const ENCODINGS: [i64; 10] = [0, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const CODECS: std::ops::RangeInclusive<i64> = 0..=7;

/// The converted type of a column of nulls alone, as early versions of parquet-cpp wrote it. The
/// format never had it.
const NULLS_ALONE: i64 = 24;

/// A file's description, and what of some leaves is not known.
pub(super) struct Footer {
    pub(super) metadata: ParquetMetaData,
    pub(super) unknown: Vec<(usize, Unknown)>,
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
    if let Some(Value::List(_, pairs)) = footer.get_mut(field::KEY_VALUES) {
        pairs.retain(is_pair_of_texts);
    }
    let mut unknown = take_unknown_types(&mut footer);
    for group in footer.structs_mut(field::ROW_GROUPS) {
        if let Some(Value::List(kind, columns)) = group.get_mut(field::COLUMNS)
            && columns.is_empty()
        {
            // Some programs leave the kind out where there is nothing.
            *kind = kind::STRUCT;
        }
        for (leaf, chunk) in group.structs_mut(field::COLUMNS).enumerate() {
            let Some(Value::Struct(metadata)) = chunk.get_mut(field::METADATA) else {
                continue;
            };
            let found = take_unknown(metadata);
            unknown.extend(found.map(|found| (leaf, Unknown::Form(found))));
        }
    }
    bytes.clear();
    footer.write(&mut bytes);
    Ok(Footer {
        metadata: ParquetMetaDataReader::decode_metadata(&bytes).map_err(invalid)?,
        unknown,
    })
}

/// Returns whether this is what the format has for a key and its value: fastparquet wrote numbers,
/// too.
fn is_pair_of_texts(pair: &Value) -> bool {
    let Value::Struct(pair) = pair else {
        return false;
    };
    let mut fields = pair.0.iter();
    fields.all(|(_, kind, value)| *kind == kind::BINARY && value.is_text())
}

/// Takes the converted types that are not known out of the description of columns, and tells which
/// leaves had one.
fn take_unknown_types(footer: &mut Struct) -> Vec<(usize, Unknown)> {
    let mut unknown = Vec::new();
    let mut leaf = 0;
    for element in footer.structs_mut(field::SCHEMA).skip(1) {
        if matches!(element.get_mut(field::CHILDREN), Some(Value::Number(1..))) {
            continue;
        }
        unknown.extend(take_unknown_type(element).map(|found| (leaf, Unknown::Type(found))));
        leaf += 1;
    }
    unknown
}

fn take_unknown_type(element: &mut Struct) -> Option<String> {
    let number = match element.get_mut(field::CONVERTED_TYPE) {
        Some(Value::Number(number)) if !CONVERTED_TYPES.contains(number) => *number,
        _ => return None,
    };
    (element.0).retain(|(field, ..)| *field != field::CONVERTED_TYPE);
    if number != NULLS_ALONE {
        return Some(format!("converted type {number}"));
    }
    let nothing = Value::Struct(Struct::default());
    let nulls = Struct(vec![(field::UNKNOWN, kind::STRUCT, nothing)]);
    (element.0).push((field::LOGICAL_TYPE, kind::STRUCT, Value::Struct(nulls)));
    None
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
