//! Whether the blocks and compressed buffers of a file may hold as much as they claim.
//!
//! The Arrow reader allocates what a block or buffer claims to hold, and a damaged file can claim
//! anything.

use std::io::{self, Read, Seek, SeekFrom};

use arrow_ipc::{
    Buffer, CompressionType, Message, reader::read_footer_length, root_as_footer, root_as_message,
};
use arrow_schema::ArrowError;

use crate::{format::ARROW_MESSAGE, section::Section};

/// A buffer begins with the length of what it holds, or -1 if it is not compressed.
const LENGTH_BYTES: u64 = 8;

/// # Errors
/// If a block claims more than the file holds, a buffer more than its bytes can be decompressed to,
/// or if what follows the rows is not understood.
pub(super) fn check_file(section: &mut Section) -> Result<(), ArrowError> {
    let mut end = [0; 10];
    let end_at = section.seek(SeekFrom::End(-(end.len() as i64)))?;
    section.read_exact(&mut end)?;
    let length = read_footer_length(end)?;
    let mut footer = Vec::new();
    section.seek(SeekFrom::End(-(end.len() as i64) - length as i64))?;
    section.take(length as u64).read_to_end(&mut footer)?;
    let broken = || ArrowError::from(io::Error::from(io::ErrorKind::InvalidData));
    let footer = root_as_footer(&footer).map_err(|_| broken())?;
    let dictionaries = footer.dictionaries().into_iter().flatten();
    for block in dictionaries.chain(footer.recordBatches().into_iter().flatten()) {
        let start = u64::try_from(block.offset()).map_err(|_| broken())?;
        let length = u64::try_from(block.metaDataLength()).map_err(|_| broken())?;
        let mut metadata = Vec::new();
        section.seek(SeekFrom::Start(start))?;
        section.take(length).read_to_end(&mut metadata)?;
        // Before Arrow 0.15 there was no mark before the length.
        let before = match metadata.starts_with(ARROW_MESSAGE) {
            true => 8,
            false => 4,
        };
        let message = metadata.get(before..).ok_or_else(broken)?;
        let message = root_as_message(message).map_err(|_| broken())?;
        let body = start.checked_add(length).ok_or_else(broken)?;
        let body_end = body.checked_add_signed(block.bodyLength());
        if body_end.is_none_or(|end| end > end_at) {
            return Err(broken());
        }
        check_message(section, &message, body)?;
    }
    Ok(())
}

/// # Errors
/// If a buffer of a stream claims more than its bytes can be decompressed to. What is not
/// understood is left to the reader.
pub(super) fn check_stream(section: &mut Section) -> io::Result<()> {
    let mut at = 0;
    while let Some(metadata) = metadata(section, at)? {
        let Ok(message) = root_as_message(&metadata) else {
            break;
        };
        // It was read, so the end is no overflow.
        let body = at + LENGTH_BYTES + metadata.len() as u64;
        check_message(section, &message, body)?;
        let Some(next) = body.checked_add_signed(message.bodyLength()) else {
            break;
        };
        at = next;
    }
    Ok(())
}

/// What describes the message that begins here; `None` at the end.
fn metadata(section: &mut Section, at: u64) -> io::Result<Option<Vec<u8>>> {
    let mut beginning = Vec::new();
    section.seek(SeekFrom::Start(at))?;
    section.take(LENGTH_BYTES).read_to_end(&mut beginning)?;
    let Some((ARROW_MESSAGE, length)) = beginning.split_at_checked(ARROW_MESSAGE.len()) else {
        return Ok(None);
    };
    let length = length.try_into().map_or(0, i32::from_le_bytes);
    let Ok(length @ 1..) = u64::try_from(length) else {
        return Ok(None);
    };
    let mut metadata = Vec::new();
    section.take(length).read_to_end(&mut metadata)?;
    Ok((metadata.len() as u64 == length).then_some(metadata))
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
