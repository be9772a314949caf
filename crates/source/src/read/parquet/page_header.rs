//! The header of a page, in Thrift's compact protocol.

use std::io::{self, Read};

use super::thrift::{kind, malformed, next_field, read_byte, read_number, read_varint};

/// The fields of a page's header that are read.
pub(super) struct PageHeader {
    pub(super) kind: Kind,
    /// The length of the page behind the header, in the file.
    pub(super) bytes: i64,
    /// Its length once it is decompressed.
    pub(super) decompressed_bytes: i64,
}

pub(super) enum Kind {
    Dictionary,
    /// Values, in the first version of the format.
    Data {
        values: i64,
        encoding: i64,
    },
    /// Values, in the second version.
    Data2 {
        values: i64,
        nulls: i64,
        rows: i64,
        /// The lengths of the definition and of the repetition levels.
        level_bytes: [i64; 2],
        encoding: i64,
        is_compressed: bool,
    },
    /// An index, which is in no file that is known.
    Other,
}

/// The number of the encoding that writes how much a value shares with the one before.
const DELTA_BYTE_ARRAY: i64 = 7;

/// The numbers of a structure's fields, from 0 to 8: what is longer is of no interest.
type Fields = [Option<i64>; 9];

/// Structures in structures, at most: statistics are in the header of a page in its header.
const MAX_DEPTH: usize = 8;

impl PageHeader {
    /// # Errors
    /// If there is no such header, or it lacks what it must have.
    pub(super) fn read(input: &mut impl Read) -> io::Result<Self> {
        let mut of_pages: [Option<Fields>; 9] = [None; 9];
        let fields = read_struct(input, MAX_DEPTH, &mut |field, input, depth| {
            let fields = read_struct(input, depth, &mut skip_struct)?;
            if let Some(place) = of_pages.get_mut(usize::from(field)) {
                *place = Some(fields);
            }
            Ok(())
        })?;
        let page = |field: usize| of_pages[field].ok_or_else(malformed);
        Ok(Self {
            kind: match needed(&fields, 1)? {
                0 => Kind::Data {
                    values: needed(&page(5)?, 1)?,
                    encoding: needed(&page(5)?, 2)?,
                },
                2 => Kind::Dictionary,
                3 => Kind::of_second_version(&page(8)?)?,
                _ => Kind::Other,
            },
            decompressed_bytes: needed(&fields, 2)?,
            bytes: needed(&fields, 3)?,
        })
    }

    /// Returns the number of values of its column, nulls among them.
    pub(super) fn values(&self) -> i64 {
        match &self.kind {
            Kind::Data { values, .. } | Kind::Data2 { values, .. } => *values,
            Kind::Dictionary | Kind::Other => 0,
        }
    }
}

impl Kind {
    /// Returns whether values are written as the length that they share with the one before.
    pub(super) fn has_prefixes(&self) -> bool {
        match self {
            Self::Data { encoding, .. } | Self::Data2 { encoding, .. } => {
                *encoding == DELTA_BYTE_ARRAY
            }
            Self::Dictionary | Self::Other => false,
        }
    }

    fn of_second_version(fields: &Fields) -> io::Result<Self> {
        Ok(Self::Data2 {
            values: needed(fields, 1)?,
            nulls: needed(fields, 2)?,
            rows: needed(fields, 3)?,
            level_bytes: [needed(fields, 5)?, needed(fields, 6)?],
            encoding: needed(fields, 4)?,
            is_compressed: fields[7] != Some(0),
        })
    }
}

fn needed(fields: &Fields, field: usize) -> io::Result<i64> {
    fields[field].ok_or_else(malformed)
}

/// Reads a field that is a structure: its number, where it is, and how deep others may lie in it.
type ReadStruct<'a, R> = &'a mut dyn FnMut(u16, &mut R, usize) -> io::Result<()>;

fn skip_struct<R: Read>(_: u16, input: &mut R, depth: usize) -> io::Result<()> {
    read_struct(input, depth, &mut skip_struct).map(|_| ())
}

/// Reads a structure: its fields that are numbers or truth values.
fn read_struct<R: Read>(
    input: &mut R,
    depth: usize,
    in_struct: ReadStruct<'_, R>,
) -> io::Result<Fields> {
    let depth = depth.checked_sub(1).ok_or_else(malformed)?;
    let mut fields = Fields::default();
    let mut field: u16 = 0;
    loop {
        let head = read_byte(input)?;
        if head == 0 {
            return Ok(fields);
        }
        field = next_field(field, head, input)?;
        let value = match head & 15 {
            kind::TRUE => Some(1),
            kind::FALSE => Some(0),
            kind::I16..=kind::I64 => Some(read_number(input)?),
            kind::STRUCT => {
                in_struct(field, input, depth)?;
                None
            }
            other => {
                skip(input, other)?;
                None
            }
        };
        if let Some(place) = fields.get_mut(usize::from(field)) {
            *place = value;
        }
    }
}

/// Skips what is no number, truth value or structure. A page's header has no lists, sets or maps.
fn skip(input: &mut impl Read, of: u8) -> io::Result<()> {
    let bytes = match of {
        kind::BYTE => 1,
        kind::DOUBLE => 8,
        kind::BINARY => read_varint(input)?,
        _ => return Err(malformed()),
    };
    let skipped = io::copy(&mut input.take(bytes), &mut io::sink())?;
    match skipped == bytes {
        true => Ok(()),
        false => Err(malformed()),
    }
}
