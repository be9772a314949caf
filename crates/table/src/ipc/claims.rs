//! Whether a file or stream is whole, and its blocks and compressed buffers may hold as much as
//! they claim.
//!
//! The Arrow reader allocates what a block or buffer claims to hold, and a damaged file can claim
//! anything.

use std::io::{self, Read, Seek, SeekFrom};

use arrow_ipc::{
    Buffer, CompressionType, Endianness, Message, Schema, reader::read_footer_length,
    root_as_footer, root_as_message,
};

use super::{Failure, Known, known_fields};
use crate::{error::ArrowFault, format::ARROW_MESSAGE, section::Section};

/// A buffer begins with the length of what it holds, or -1 if it is not compressed.
const LENGTH_BYTES: u64 = 8;

/// Checks what a file says of itself.
///
/// # Errors
/// If a block claims more than the file holds, a buffer more than its bytes can be decompressed to,
/// or if what follows the rows is not understood.
pub(super) fn check_file(section: &mut Section) -> Result<(), Failure> {
    let mut end = [0; 10];
    let end_at = section.seek(SeekFrom::End(-(end.len() as i64)))?;
    section.read_exact(&mut end)?;
    let length = read_footer_length(end)?;
    let mut footer = Vec::new();
    section.seek(SeekFrom::End(-(end.len() as i64) - length as i64))?;
    section.take(length as u64).read_to_end(&mut footer)?;
    let footer = root_as_footer(&footer).map_err(|_| ArrowFault::Broken)?;
    check_schema(footer.schema().ok_or(ArrowFault::Broken)?)?;
    let dictionaries = footer.dictionaries().into_iter().flatten();
    for block in dictionaries.chain(footer.recordBatches().into_iter().flatten()) {
        let start = u64::try_from(block.offset()).map_err(|_| ArrowFault::Broken)?;
        let length = u64::try_from(block.metaDataLength()).map_err(|_| ArrowFault::Broken)?;
        let mut metadata = Vec::new();
        section.seek(SeekFrom::Start(start))?;
        section.take(length).read_to_end(&mut metadata)?;
        // Before Arrow 0.15 there was no mark before the length.
        let before = match metadata.starts_with(ARROW_MESSAGE) {
            true => 8,
            false => 4,
        };
        let message = metadata.get(before..).ok_or(ArrowFault::Broken)?;
        let message = root_as_message(message).map_err(|_| ArrowFault::Broken)?;
        let body = start.checked_add(length).ok_or(ArrowFault::Broken)?;
        let body_end = body.checked_add_signed(block.bodyLength());
        if body_end.is_none_or(|end| end > end_at) {
            return Err(ArrowFault::Broken.into());
        }
        check_message(section, &message, body)?;
    }
    Ok(())
}

/// Checks what a stream says of itself, from its first message to the mark behind the last.
///
/// # Errors
/// If a message is cut off, or a buffer claims more than its bytes can be decompressed to; if there
/// is no end mark, as the stream could be cut off behind any message then; or if something follows
/// the mark.
pub(super) fn check_stream(section: &mut Section) -> Result<(), Failure> {
    let end = section.seek(SeekFrom::End(0))?;
    let mut at = 0;
    loop {
        let (start, length) = match next(section, at)? {
            Next::Message { start, length } => (start, length),
            Next::Mark { end: mark_end } if at > 0 && mark_end == end => return Ok(()),
            Next::Mark { .. } if at > 0 => return Err(ArrowFault::BehindEnd.into()),
            Next::Nothing if at > 0 => return Err(ArrowFault::NoEndMark.into()),
            Next::Mark { .. } | Next::Nothing => return Err(ArrowFault::Broken.into()),
        };
        let mut metadata = Vec::new();
        section.seek(SeekFrom::Start(start))?;
        section.take(length).read_to_end(&mut metadata)?;
        let message = root_as_message(&metadata).map_err(|_| ArrowFault::Broken)?;
        if at == 0 {
            check_schema(message.header_as_schema().ok_or(ArrowFault::Broken)?)?;
        }
        let body = start.checked_add(length).ok_or(ArrowFault::Broken)?;
        check_message(section, &message, body)?;
        let body_bytes = u64::try_from(message.bodyLength()).map_err(|_| ArrowFault::Broken)?;
        at = body.checked_add(body_bytes).ok_or(ArrowFault::Broken)?;
        if at > end {
            return Err(ArrowFault::Broken.into());
        }
    }
}

/// What comes next in a stream.
enum Next {
    /// A message, whose description begins there and is that long.
    Message {
        start: u64,
        length: u64,
    },
    /// The mark behind the last message: one without a length.
    Mark {
        end: u64,
    },
    Nothing,
}

fn next(section: &mut Section, at: u64) -> Result<Next, Failure> {
    let mut beginning = Vec::new();
    section.seek(SeekFrom::Start(at))?;
    section.take(LENGTH_BYTES).read_to_end(&mut beginning)?;
    if beginning.is_empty() {
        return Ok(Next::Nothing);
    }
    // Before Arrow 0.15 there was no mark before the length.
    let (length, start) = match beginning.strip_prefix(ARROW_MESSAGE) {
        Some(length) => (length, at + 8),
        None => (&beginning[..], at + 4),
    };
    let length = length.first_chunk().ok_or(ArrowFault::Broken)?;
    match u64::try_from(i32::from_le_bytes(*length)) {
        Ok(0) => Ok(Next::Mark { end: start }),
        Ok(length) => Ok(Next::Message { start, length }),
        Err(_) => Err(ArrowFault::Broken.into()),
    }
}

fn check_schema(schema: Schema<'_>) -> Result<(), ArrowFault> {
    if schema.endianness() == Endianness::Big {
        return Err(ArrowFault::BigEndian);
    }
    let fields = schema.fields().into_iter().flatten();
    for (field, known) in fields.zip(known_fields(schema)) {
        if let Known::Not(kind) = known {
            return Err(ArrowFault::UnknownType {
                column: field.name().unwrap_or_default().to_owned(),
                kind,
            });
        }
    }
    Ok(())
}

/// Checks the rows, or values of a dictionary, that a message holds. Its body begins at `body`.
fn check_message(section: &mut Section, message: &Message<'_>, body: u64) -> io::Result<()> {
    let dictionary = message.header_as_dictionary_batch();
    let values = dictionary.and_then(|dictionary| dictionary.data());
    let Some(batch) = message.header_as_record_batch().or(values) else {
        return Ok(());
    };
    let Some(compression) = batch.compression() else {
        return Ok(());
    };
    let most = most_per_byte(compression.codec());
    let filled = |buffer: &&Buffer| buffer.length() > LENGTH_BYTES as i64;
    for buffer in batch.buffers().iter().flatten().filter(filled) {
        let Some(place) = body.checked_add_signed(buffer.offset()) else {
            continue;
        };
        let mut claimed = Vec::new();
        section.seek(SeekFrom::Start(place))?;
        section.take(LENGTH_BYTES).read_to_end(&mut claimed)?;
        let claimed = claimed[..].try_into().map_or(0, i64::from_le_bytes);
        if claimed > buffer.length().saturating_mul(most) {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    Ok(())
}

/// What a byte may be decompressed to at most: 255 bytes with LZ4, which adds up bytes for a
/// length; with Zstandard, blocks of 128 KiB need 4 bytes at least.
fn most_per_byte(codec: CompressionType) -> i64 {
    match codec {
        CompressionType::LZ4_FRAME => 255,
        _ => 1 << 15,
    }
}
