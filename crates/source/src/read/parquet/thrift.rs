//! Values in Thrift's compact protocol, whatever they mean.

use std::io::{self, Read};

/// Structures and lists in each other, at most.
const MAX_DEPTH: usize = 32;

/// The kinds of values that are told apart here, as the protocol numbers them.
pub(super) mod kind {
    pub(in super::super) const TRUE: u8 = 1;
    pub(in super::super) const FALSE: u8 = 2;
    pub(in super::super) const BYTE: u8 = 3;
    pub(in super::super) const I16: u8 = 4;
    pub(in super::super) const I64: u8 = 6;
    pub(in super::super) const DOUBLE: u8 = 7;
    pub(in super::super) const BINARY: u8 = 8;
    pub(in super::super) const LIST: u8 = 9;
    pub(in super::super) const SET: u8 = 10;
    pub(in super::super) const STRUCT: u8 = 12;
}

/// A value. Those that nobody asks for are kept as their bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// A number of 16, 32 or 64 bits.
    Number(i64),
    Bytes(Vec<u8>),
    /// Values of one kind.
    List(u8, Vec<Value>),
    Struct(Struct),
}

/// The fields of a structure in their order: number, kind and value.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Struct(pub(super) Vec<(u16, u8, Value)>);

impl Struct {
    /// # Errors
    /// If there is no structure.
    pub(super) fn read(mut input: &[u8]) -> io::Result<Self> {
        read_struct(&mut input, MAX_DEPTH)
    }

    pub(super) fn get_mut(&mut self, number: u16) -> Option<&mut Value> {
        let mut fields = self.0.iter_mut();
        fields.find_map(|(of, _, value)| (*of == number).then_some(value))
    }

    /// Returns the structures in a list that is a field.
    pub(super) fn structs_mut(&mut self, number: u16) -> impl Iterator<Item = &mut Struct> {
        let items = match self.get_mut(number) {
            Some(Value::List(_, items)) => items.as_mut_slice(),
            _ => &mut [],
        };
        items.iter_mut().filter_map(|item| match item {
            Value::Struct(fields) => Some(fields),
            _ => None,
        })
    }

    pub(super) fn write(&self, output: &mut Vec<u8>) {
        let mut before = 0;
        for (number, kind, value) in &self.0 {
            match number.checked_sub(before) {
                Some(further @ 1..=15) => output.push((further as u8) << 4 | kind),
                _ => {
                    output.push(*kind);
                    write_number(i64::from(*number), output);
                }
            }
            before = *number;
            value.write(output);
        }
        output.push(0);
    }
}

impl Value {
    /// Returns whether this value of the kind of bytes, with their length before them, is a text.
    pub(super) fn is_text(&self) -> bool {
        let Self::Bytes(bytes) = self else {
            return false;
        };
        let mut text = &bytes[..];
        read_varint(&mut text).is_ok() && str::from_utf8(text).is_ok()
    }

    fn write(&self, output: &mut Vec<u8>) {
        match self {
            Self::Number(number) => write_number(*number, output),
            Self::Bytes(bytes) => output.extend(bytes),
            Self::List(kind, items) => {
                match u8::try_from(items.len()) {
                    Ok(length @ 0..=14) => output.push(length << 4 | kind),
                    _ => {
                        output.push(0xf0 | kind);
                        write_varint(items.len() as u64, output);
                    }
                }
                items.iter().for_each(|item| item.write(output));
            }
            Self::Struct(fields) => fields.write(output),
        }
    }
}

fn read_struct(input: &mut &[u8], depth: usize) -> io::Result<Struct> {
    let depth = depth.checked_sub(1).ok_or_else(malformed)?;
    let mut fields = Struct::default();
    let mut number = 0;
    loop {
        let head = read_byte(input)?;
        if head == 0 {
            return Ok(fields);
        }
        number = next_field(number, head, input)?;
        let kind = head & 15;
        let value = match kind {
            // The type of the field tells which it is.
            kind::TRUE | kind::FALSE => Value::Bytes(Vec::new()),
            kind => read_value(kind, input, depth)?,
        };
        fields.0.push((number, kind, value));
    }
}

/// Returns the number of the field that begins with this byte, behind that of another number.
///
/// # Errors
/// If there is none, or it cannot be read.
pub(super) fn next_field(before: u16, head: u8, input: &mut impl Read) -> io::Result<u16> {
    match head >> 4 {
        0 => u16::try_from(read_number(input)?).map_err(|_| malformed()),
        further => before.checked_add(further.into()).ok_or_else(malformed),
    }
}

fn read_value(kind: u8, input: &mut &[u8], depth: usize) -> io::Result<Value> {
    Ok(match kind {
        kind::TRUE | kind::FALSE | kind::BYTE => Value::Bytes(take(input, 1)?.to_vec()),
        kind::I16..=kind::I64 => Value::Number(read_number(input)?),
        kind::DOUBLE => Value::Bytes(take(input, 8)?.to_vec()),
        kind::BINARY => {
            let whole = *input;
            let length = read_varint(input)?;
            take(input, length)?;
            let bytes = whole.len() - input.len();
            Value::Bytes(whole[..bytes].to_vec())
        }
        kind::LIST | kind::SET => {
            let depth = depth.checked_sub(1).ok_or_else(malformed)?;
            let head = read_byte(input)?;
            let length = match head >> 4 {
                15 => read_varint(input)?,
                length => length.into(),
            };
            let kind = head & 15;
            let items = (0..length).map(|_| read_value(kind, input, depth));
            Value::List(kind, items.collect::<io::Result<_>>()?)
        }
        kind::STRUCT => Value::Struct(read_struct(input, depth)?),
        _ => return Err(malformed()),
    })
}

fn take<'a>(input: &mut &'a [u8], bytes: u64) -> io::Result<&'a [u8]> {
    let bytes = usize::try_from(bytes).map_err(|_| malformed())?;
    let (taken, rest) = input.split_at_checked(bytes).ok_or_else(malformed)?;
    *input = rest;
    Ok(taken)
}

pub(super) fn malformed() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

pub(super) fn read_byte(input: &mut impl Read) -> io::Result<u8> {
    let mut byte = [0];
    input
        .read_exact(&mut byte)
        .map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => malformed(),
            _ => error,
        })?;
    Ok(byte[0])
}

pub(super) fn read_varint(input: &mut impl Read) -> io::Result<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = read_byte(input)?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(malformed())
}

fn write_varint(mut value: u64, output: &mut Vec<u8>) {
    while value >= 0x80 {
        output.push(value as u8 | 0x80);
        value >>= 7;
    }
    output.push(value as u8);
}

/// Returns numbers of either sign, zigzag.
pub(super) fn read_number(input: &mut impl Read) -> io::Result<i64> {
    let value = read_varint(input)?;
    Ok((value >> 1) as i64 ^ -((value & 1) as i64))
}

fn write_number(value: i64, output: &mut Vec<u8>) {
    write_varint(((value << 1) ^ (value >> 63)) as u64, output);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written_again() {
        let long: Vec<u8> = [&[0x19, 0xf5, 20][..], &[0x7f; 20]].concat();
        for fields in [
            &b""[..],
            b"\x15\x02\x16\xff\x01\x18\x03abc",
            b"\x11\x12\x13\x05\x17eightbyt",
            b"\x19\x2c\x15\x04\x00\x00\x1c\x00\x05\x80\x02\x07",
            b"\x19\x22\x01\x02\x1a\x05",
            &long,
        ] {
            let bytes = [fields, &[0]].concat();
            let mut written = Vec::new();
            Struct::read(&bytes).unwrap().write(&mut written);
            assert_eq!(written, bytes);
            assert!(Struct::read(fields).is_err());
        }
        assert!(Struct::read(&[0x1c; 100]).is_err());
        assert!(Struct::read(&[0x19, 0xfc, 0xff, 0xff, 0xff, 0x7f]).is_err());
    }
}
