//! Checks that a file or stream is whole, that its repeated statements agree, and that its blocks
//! and compressed buffers may hold as much as they claim.
//!
//! The Arrow reader allocates what a block or buffer claims to hold, and a damaged file can claim
//! anything.

use std::io::{Read, Seek, SeekFrom};

use arrow_ipc::{
    Block, Buffer, CompressionType, Endianness, Field, Footer, Message, MessageHeader,
    MetadataVersion, RecordBatch, Schema, Type, reader::read_footer_length, root_as_footer,
    root_as_message,
};

use super::{Failure, Known, Unknown, known_fields, layout};
use crate::{
    ArrowFault,
    source::{format::ARROW_MESSAGE, section::Section},
};

/// If buffers are compressed, each begins with the length of its content, or this.
const LENGTH_BYTES: u64 = 8;
const NOT_COMPRESSED: i64 = -1;

/// Buffers begin at multiples of one of these.
const ALIGNMENTS: [u64; 4] = [8, 16, 32, MOST_ALIGNED];
const MOST_ALIGNED: u64 = 64;

/// Checks a file's claims about itself, and about these columns' rows; finds the columns whose
/// types are not known.
///
/// # Errors
/// If its footer does not list the blocks that there are, a buffer claims more than its bytes can
/// be decompressed to, or if what follows the rows is not understood.
pub(super) fn check_file(section: &mut Section, columns: &[usize]) -> Result<Unknown, Failure> {
    let mut end = [0; 10];
    let end_at = section.seek(SeekFrom::End(-(end.len() as i64)));
    end_at.map_err(|_| ArrowFault::CutOff)?;
    section.read_exact(&mut end)?;
    let length = read_footer_length(end).map_err(|_| ArrowFault::CutOff)?;
    let mut footer = Vec::new();
    let footer_at = section.seek(SeekFrom::End(-(end.len() as i64) - length as i64));
    let footer_at = footer_at.map_err(|_| ArrowFault::Description)?;
    section.take(length as u64).read_to_end(&mut footer)?;
    let footer = root_as_footer(&footer).map_err(|_| ArrowFault::Description)?;
    let schema = footer.schema().ok_or(ArrowFault::Description)?;
    let mut found = check_schema(schema, footer_at)?;
    found.replaced.extend(
        true_version(section, footer)?.map(|(place, version)| (footer_at + place, version)),
    );
    check_blocks(section, footer, footer_at, columns)?;
    Ok(found)
}

/// Checks the messages of a file, which are all that its footer lists.
fn check_blocks(
    section: &mut Section,
    footer: Footer<'_>,
    footer_at: u64,
    columns: &[usize],
) -> Result<(), Failure> {
    let schema = footer.schema().ok_or(ArrowFault::Description)?;
    let mut dictionaries = footer.dictionaries().into_iter().flatten();
    let mut batches = footer.recordBatches().into_iter().flatten();
    let mut at = first_message(section, footer, footer_at)?;
    // Not all writers put a mark behind the last one.
    while at < footer_at {
        let Next::Message(place) = next(section, at)? else {
            break;
        };
        let metadata = place.metadata(section)?;
        let message = root_as_message(&metadata).map_err(|_| ArrowFault::Description)?;
        let is_listed = match message.header_type() {
            MessageHeader::Schema => {
                let said = message.header_as_schema().ok_or(ArrowFault::Description)?;
                are_alike(schema, said)
            }
            MessageHeader::DictionaryBatch => place.is_in(at, &message, dictionaries.next()),
            MessageHeader::RecordBatch => place.is_in(at, &message, batches.next()),
            _ => true,
        };
        if !is_listed {
            return Err(ArrowFault::Footer.into());
        }
        check_message(section, &message, place.body, schema, columns)?;
        at = place.end(&message)?;
        if at > footer_at {
            return Err(ArrowFault::Claims.into());
        }
    }
    match dictionaries.next().or(batches.next()) {
        None => Ok(()),
        Some(_) => Err(ArrowFault::Footer.into()),
    }
}

/// Returns the place in a footer where its version of the format differs from that of its rows, and
/// theirs: PyArrow puts the latest there, whichever it writes. The reader trusts the footer.
fn true_version(section: &mut Section, footer: Footer<'_>) -> Result<Option<(u64, u8)>, Failure> {
    let place = footer._tab.vtable().get(Footer::VT_VERSION);
    let Some(first) = footer
        .recordBatches()
        .and_then(|blocks| blocks.iter().next())
    else {
        return Ok(None);
    };
    let start = u64::try_from(first.offset()).map_err(|_| ArrowFault::Description)?;
    let Next::Message(message) = next(section, start)? else {
        return Ok(None);
    };
    let metadata = message.metadata(section)?;
    let message = root_as_message(&metadata).map_err(|_| ArrowFault::Description)?;
    let version = u8::try_from(message.version().0).ok();
    let is_other = place > 0 && message.version() != footer.version();
    let place = footer._tab.loc() as u64 + u64::from(place);
    Ok(version.filter(|_| is_other).map(|version| (place, version)))
}

/// Returns the place of the first message of a file: that of its schema, or, as Polars does not say
/// how long that is, the first that the footer lists.
fn first_message(
    section: &mut Section,
    footer: Footer<'_>,
    footer_at: u64,
) -> Result<u64, Failure> {
    let start = stream_start(section)?;
    if let Ok(Next::Message(place)) = next(section, start)
        && root_as_message(&place.metadata(section)?)
            .is_ok_and(|message| message.header_type() == MessageHeader::Schema)
    {
        return Ok(start);
    }
    let dictionaries = footer.dictionaries().into_iter().flatten();
    let listed = dictionaries.chain(footer.recordBatches().into_iter().flatten());
    let first = listed.map(Block::offset).min();
    let first = first.unwrap_or(footer_at.cast_signed());
    Ok(u64::try_from(first).map_err(|_| ArrowFault::Description)?)
}

/// Returns the beginning of the stream that a file is behind the mark of its format and the zeros
/// that pad it.
fn stream_start(section: &mut Section) -> Result<u64, Failure> {
    let mut beginning = Vec::new();
    section.rewind()?;
    section
        .take(MOST_ALIGNED + LENGTH_BYTES)
        .read_to_end(&mut beginning)?;
    let words = beginning.chunks(LENGTH_BYTES as usize).skip(1);
    let zeros = words.take_while(|word| word.iter().all(|&byte| byte == 0));
    Ok(LENGTH_BYTES * (1 + zeros.count() as u64))
}

/// Returns whether two schemas have the same columns.
fn are_alike(one: Schema<'_>, other: Schema<'_>) -> bool {
    let (one, other) = (known_fields(one), known_fields(other));
    let alike = |pair: (&Known, &Known)| match pair {
        (Known::Field(one), Known::Field(other)) => one == other,
        (Known::Not(one), Known::Not(other)) => one == other,
        _ => false,
    };
    one.len() == other.len() && one.iter().zip(&other).all(alike)
}

/// Checks a stream's claims about itself, from its first message to the mark behind the last, and
/// about these columns' rows; finds the columns whose types are not known.
///
/// # Errors
/// If a message is cut off, or a buffer claims more than its bytes can be decompressed to; if there
/// is no end mark, as the stream could be cut off behind any message then; or if something follows
/// the mark.
pub(super) fn check_stream(section: &mut Section, columns: &[usize]) -> Result<Unknown, Failure> {
    let end = section.seek(SeekFrom::End(0))?;
    let Next::Message(first) = next(section, 0)? else {
        return Err(ArrowFault::Description.into());
    };
    let beginning = first.metadata(section)?;
    let message = root_as_message(&beginning).map_err(|_| ArrowFault::Description)?;
    let schema = message.header_as_schema().ok_or(no_rows(&message))?;
    let unknown = check_schema(schema, first.start)?;
    let mut at = first.end(&message)?;
    loop {
        if at > end {
            return Err(ArrowFault::CutOff.into());
        }
        let place = match next(section, at)? {
            Next::Message(place) => place,
            Next::Mark { end: mark_end } if mark_end == end => return Ok(unknown),
            Next::Mark { .. } => return Err(ArrowFault::BehindEnd.into()),
            Next::Nothing => return Err(ArrowFault::NoEndMark.into()),
        };
        let metadata = place.metadata(section)?;
        let message = root_as_message(&metadata).map_err(|_| ArrowFault::Description)?;
        check_message(section, &message, place.body, schema, columns)?;
        at = place.end(&message)?;
    }
}

/// The next thing in a stream.
enum Next {
    Message(Place),
    /// The mark behind the last message: one without a length.
    Mark {
        end: u64,
    },
    Nothing,
}

/// The place of a message: its description, and its body behind that.
struct Place {
    start: u64,
    body: u64,
}

impl Place {
    fn metadata(&self, section: &mut Section) -> Result<Vec<u8>, Failure> {
        let mut metadata = Vec::new();
        section.seek(SeekFrom::Start(self.start))?;
        let bytes = self.body - self.start;
        section.take(bytes).read_to_end(&mut metadata)?;
        if (metadata.len() as u64) < bytes {
            return Err(ArrowFault::CutOff.into());
        }
        match has_message_within(&metadata) {
            true => Err(ArrowFault::Description.into()),
            false => Ok(metadata),
        }
    }

    fn end(&self, message: &Message<'_>) -> Result<u64, ArrowFault> {
        let body_bytes = u64::try_from(message.bodyLength()).map_err(|_| ArrowFault::Claims)?;
        self.body.checked_add(body_bytes).ok_or(ArrowFault::Claims)
    }

    /// Returns whether the next block that a footer lists is this message, which begins at `at`.
    fn is_in(&self, at: u64, message: &Message<'_>, listed: Option<&Block>) -> bool {
        let here = [at, self.body - at].map(u64::cast_signed);
        listed.is_some_and(|block| {
            [block.offset(), block.metaDataLength().into()] == here
                && block.bodyLength() == message.bodyLength()
        })
    }
}

/// Returns whether there is another message within the stated description of one: then the stated
/// length is too large, and nobody would miss the rows in between.
fn has_message_within(description: &[u8]) -> bool {
    let mut places = (0..description.len()).step_by(LENGTH_BYTES as usize);
    places.any(|place| {
        let marked = description[place..].strip_prefix(ARROW_MESSAGE);
        let message = marked.and_then(|marked| marked.get(4..));
        message.is_some_and(|message| root_as_message(message).is_ok())
    })
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
    let length = length.first_chunk().ok_or(ArrowFault::CutOff)?;
    match u64::try_from(i32::from_le_bytes(*length)) {
        Ok(0) => Ok(Next::Mark { end: start }),
        Ok(length) => Ok(Next::Message(Place {
            start,
            body: start + length,
        })),
        Err(_) => Err(ArrowFault::Description.into()),
    }
}

/// Checks the schema of a message that begins at `start`.
fn check_schema(schema: Schema<'_>, start: u64) -> Result<Unknown, ArrowFault> {
    if schema.endianness() == Endianness::Big {
        return Err(ArrowFault::BigEndian);
    }
    Unknown::find(schema, start)
        .map_err(|(column, kind)| ArrowFault::UnknownLayout { column, kind })
}

/// Tells that a message holds neither columns nor rows.
fn no_rows(message: &Message<'_>) -> ArrowFault {
    match message.header_type() {
        MessageHeader::Tensor | MessageHeader::SparseTensor => ArrowFault::Tensor,
        _ => ArrowFault::Description,
    }
}

/// Checks the rows, or values of a dictionary, that a message holds. Its body begins at `body`.
fn check_message(
    section: &mut Section,
    message: &Message<'_>,
    body: u64,
    schema: Schema<'_>,
    columns: &[usize],
) -> Result<(), Failure> {
    let rows = message.header_as_record_batch();
    let dictionary = message.header_as_dictionary_batch();
    let values = dictionary.and_then(|dictionary| dictionary.data());
    let Some(batch) = rows.or(values) else {
        // The reader passes over what it does not know, with the rows that may be in it.
        return match message.header_type() {
            MessageHeader::Schema => Ok(()),
            _ => Err(no_rows(message).into()),
        };
    };
    if message.version() < MetadataVersion::V5
        && let Some(column) = schema.fields().into_iter().flatten().find(has_runs)
    {
        // Programs that write them all the same lay them out in more than one way.
        return Err(ArrowFault::UnknownLayout {
            column: column.name().unwrap_or_default().to_owned(),
            kind: "runs, which its version of Arrow lacks".to_owned(),
        }
        .into());
    }
    check_places(&batch, message.bodyLength())?;
    if let Some(compression) = batch.compression() {
        check_compressed(section, &batch, body, compression.codec())?;
    }
    match rows {
        Some(rows) => check_nulls(section, &rows, body, schema, columns),
        None => Ok(()),
    }
}

fn has_runs(field: &Field<'_>) -> bool {
    field.type_type() == Type::RunEndEncoded
        || field
            .children()
            .into_iter()
            .flatten()
            .any(|inner| has_runs(&inner))
}

/// Checks that the buffers lie one behind the other, as all writers have them: where they do not,
/// one is read in place of another.
fn check_places(batch: &RecordBatch<'_>, body_bytes: i64) -> Result<(), ArrowFault> {
    let mut end = 0_u64;
    for buffer in filled(batch, 0) {
        let place = u64::try_from(buffer.offset()).map_err(|_| ArrowFault::Buffers)?;
        let is_next = |alignment: &u64| end.next_multiple_of(*alignment) == place;
        if !ALIGNMENTS.iter().any(is_next) {
            return Err(ArrowFault::Buffers);
        }
        end = place.saturating_add(buffer.length().cast_unsigned());
        if end > body_bytes.cast_unsigned() {
            return Err(ArrowFault::Claims);
        }
    }
    Ok(())
}

/// Returns the buffers that are longer than this.
fn filled<'a>(batch: &RecordBatch<'a>, bytes: u64) -> impl Iterator<Item = &'a Buffer> {
    let buffers = batch.buffers().into_iter().flatten();
    buffers.filter(move |buffer| buffer.length() > bytes.cast_signed())
}

fn check_compressed(
    section: &mut Section,
    batch: &RecordBatch<'_>,
    body: u64,
    codec: CompressionType,
) -> Result<(), Failure> {
    let most = most_per_byte(codec);
    for buffer in filled(batch, LENGTH_BYTES) {
        let Some(place) = body.checked_add_signed(buffer.offset()) else {
            continue;
        };
        let mut claimed = Vec::new();
        section.seek(SeekFrom::Start(place))?;
        section.take(LENGTH_BYTES).read_to_end(&mut claimed)?;
        let claimed = claimed[..].try_into().map_or(0, i64::from_le_bytes);
        if claimed > buffer.length().saturating_mul(most) {
            return Err(ArrowFault::Claims.into());
        }
    }
    Ok(())
}

/// Checks that there are no nulls in these columns where none are counted: the reader does not
/// look. Bits that are compressed are not looked at here either.
fn check_nulls(
    section: &mut Section,
    batch: &RecordBatch<'_>,
    body: u64,
    schema: Schema<'_>,
    columns: &[usize],
) -> Result<(), Failure> {
    let (Some(nodes), Some(buffers)) = (batch.nodes(), batch.buffers()) else {
        return Ok(());
    };
    for at in layout::validity(schema, columns, batch).unwrap_or_default() {
        if at.node >= nodes.len() || at.buffer >= buffers.len() {
            return Err(ArrowFault::Description.into());
        }
        let (node, buffer) = (nodes.get(at.node), buffers.get(at.buffer));
        if node.null_count() > 0 || buffer.length() == 0 {
            continue;
        }
        let values = u64::try_from(node.length()).map_err(|_| ArrowFault::Description)?;
        let place = body.checked_add_signed(buffer.offset());
        section.seek(SeekFrom::Start(place.ok_or(ArrowFault::Description)?))?;
        if batch.compression().is_some() {
            let mut length = [0; LENGTH_BYTES as usize];
            section.read_exact(&mut length)?;
            if i64::from_le_bytes(length) != NOT_COMPRESSED {
                continue;
            }
        }
        let mut bits = Vec::new();
        section
            .by_ref()
            .take(values.div_ceil(8))
            .read_to_end(&mut bits)?;
        if let (Some(last), rest @ 1..) = (bits.last_mut(), values % 8) {
            *last |= 0xff << rest;
        }
        if bits.iter().any(|&byte| byte != 0xff) {
            return Err(ArrowFault::Nulls.into());
        }
    }
    Ok(())
}

/// Returns the most bytes that a byte may be decompressed to: 255 with LZ4, which adds up bytes for
/// a length; with Zstandard, blocks of 128 KiB need 4 bytes at least.
fn most_per_byte(codec: CompressionType) -> i64 {
    match codec {
        CompressionType::LZ4_FRAME => 255,
        _ => 1 << 15,
    }
}
