//! Texts and bytes that are written as how much they share with the value before, and what follows
//! that (DELTA_BYTE_ARRAY).
//!
//! The library takes the length that is shared at its word: where the value before is shorter than
//! that, it reads another value than was written.

use std::{ops::Range, sync::Arc};

use parquet::{
    basic::Encoding,
    column::page::{Page, PageReader},
    errors::Result,
    file::{metadata::ColumnChunkMetaData, serialized_reader::SerializedPageReader},
    schema::types::ColumnDescriptor,
};

use super::thrift::{read_number, read_varint};
use crate::source::section::Section;

/// Returns the contradiction in the pages of a chunk with these of its rows, if there is one.
///
/// # Errors
/// If a page cannot be read or decompressed.
pub(super) fn contradiction(
    section: &Section,
    chunk: &ColumnChunkMetaData,
    rows: &Range<u64>,
) -> Result<Option<&'static str>> {
    let all = usize::try_from(chunk.num_values()).unwrap_or(usize::MAX);
    let mut pages = SerializedPageReader::new(Arc::new(section.clone()), chunk, all, None)?;
    let column = chunk.column_descr();
    let is_flat = column.max_rep_level() == 0;
    let mut end = 0;
    while let Some(next) = pages.peek_next_page()? {
        let start = end;
        end += next.num_levels.or(next.num_rows).unwrap_or(0) as u64;
        let is_elsewhere = is_flat && (end <= rows.start || rows.end <= start);
        if next.is_dict || is_elsewhere {
            pages.skip_next_page()?;
            continue;
        }
        let page = pages.get_next_page()?;
        let values = page.as_ref().and_then(|page| values(page, column));
        if !values.is_none_or(|(values, count)| do_lengths_agree(values, count)) {
            return Ok(Some(
                "has a value that shares more with the value before than that is long",
            ));
        }
    }
    Ok(None)
}

/// Returns the values of a page, behind its levels, and their number at most; `None` if they are
/// written otherwise. Values that cannot be found are left to the reader.
fn values<'a>(page: &'a Page, column: &ColumnDescriptor) -> Option<(&'a [u8], u64)> {
    if page.encoding() != Encoding::DELTA_BYTE_ARRAY {
        return None;
    }
    let count = page.num_values();
    let mut values = &page.buffer()[..];
    match page {
        Page::DataPage {
            rep_level_encoding,
            def_level_encoding,
            ..
        } => {
            let levels = [
                (column.max_rep_level(), rep_level_encoding),
                (column.max_def_level(), def_level_encoding),
            ];
            for (most, encoding) in levels.into_iter().filter(|(most, _)| *most > 0) {
                let bytes = match encoding {
                    Encoding::RLE => 4 + u32::from_le_bytes(*values.first_chunk()?) as usize,
                    _ => (count as usize * bits_of(most)).div_ceil(8),
                };
                values = values.get(bytes..)?;
            }
        }
        Page::DataPageV2 {
            rep_levels_byte_len,
            def_levels_byte_len,
            ..
        } => values = values.get((rep_levels_byte_len + def_levels_byte_len) as usize..)?,
        Page::DictionaryPage { .. } => return None,
    }
    Some((values, count.into()))
}

/// Returns the number of bits of a level of at most this.
fn bits_of(most: i16) -> usize {
    (i16::BITS - most.leading_zeros()) as usize
}

/// Returns whether each value is at least as long as the part that the next one shares with it.
/// Lengths that cannot be read are left to the reader.
fn do_lengths_agree(values: &[u8], count: u64) -> bool {
    let shared_and_own =
        lengths(values, count).and_then(|(shared, rest)| Some((shared, lengths(rest, count)?.0)));
    let Some((shared, own)) = shared_and_own else {
        return true;
    };
    let mut before = 0;
    shared.into_iter().zip(own).all(|(shared, own)| {
        let agree = (0..=before).contains(&shared) && own >= 0;
        before = shared.saturating_add(own);
        agree
    })
}

/// Reads numbers that are packed as what each adds to the one before (DELTA_BINARY_PACKED), and
/// what follows them. `None` if they are not written so, or are more than this.
fn lengths(mut bytes: &[u8], most: u64) -> Option<(Vec<i32>, &[u8])> {
    let mut header = || read_varint(&mut bytes).ok();
    let (block, parts, count) = (header()?, header()?, header()?);
    let mut last = i32::try_from(read_number(&mut bytes).ok()?).ok()?;
    let of_part = usize::try_from(block.checked_div(parts)?).ok()?;
    let parts = usize::try_from(parts).ok()?;
    if count > most || of_part == 0 || !of_part.is_multiple_of(32) {
        return None;
    }
    let count = count as usize;
    let mut lengths = Vec::new();
    if count > 0 {
        lengths.push(last);
    }
    while lengths.len() < count {
        let least = i32::try_from(read_number(&mut bytes).ok()?).ok()?;
        let widths;
        (widths, bytes) = bytes.split_at_checked(parts)?;
        for width in widths.iter().map(|&width| usize::from(width)) {
            let left = count - lengths.len();
            if left == 0 {
                // Writers may state any width for missing values.
                break;
            }
            if width > 32 {
                return None;
            }
            let packed_bytes = width.checked_mul(of_part)? / 8;
            let packed;
            (packed, bytes) = bytes.split_at(packed_bytes.min(bytes.len()));
            for number in 0..of_part.min(left) {
                let added = packed_number(packed, number * width, width);
                last = last.wrapping_add(least).wrapping_add(added as i32);
                lengths.push(last);
            }
        }
    }
    Some((lengths, bytes))
}

/// Returns the number of this many bits, 32 at most, that begins at a bit.
fn packed_number(packed: &[u8], at: usize, bits: usize) -> u32 {
    let mut word = [0; 8];
    let bytes = packed.get(at / 8..).unwrap_or_default();
    let length = bytes.len().min(word.len());
    word[..length].copy_from_slice(&bytes[..length]);
    let word = u64::from_le_bytes(word) >> (at % 8);
    (word & ((1 << bits) - 1)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_numbers_are_read_and_what_follows_them() {
        // The example of the format: 1 to 5, each one more than the one before.
        let bytes = [128, 1, 4, 5, 2, 2, 0, 0, 0, 0, 77];
        assert_eq!(lengths(&bytes, 5), Some((vec![1, 2, 3, 4, 5], &[77][..])));
        assert_eq!(lengths(&bytes, 4), None);
        // 7, 5, 3, 1, 2, 3, 4, 5: the least is -2, and the others take two bits.
        let packed = [0b1100_0000, 0b0011_1111, 0, 0, 0, 0, 0, 0];
        let bytes = [&[128, 1, 4, 8, 14, 3, 2, 9, 9, 9][..], &packed, &[77]].concat();
        let read = vec![7, 5, 3, 1, 2, 3, 4, 5];
        assert_eq!(lengths(&bytes, 100), Some((read, &[77][..])));
        assert_eq!(
            lengths(&[128, 1, 4, 0, 0, 77], 5),
            Some((vec![], &[77][..]))
        );
        for broken in [&[][..], &[128, 1, 0, 5, 2], &[128, 1, 4, 5, 2, 2, 0]] {
            assert_eq!(lengths(broken, 5), None);
        }
    }

    #[test]
    fn a_level_takes_as_many_bits_as_the_greatest() {
        assert_eq!([1, 2, 3, 4].map(bits_of), [1, 2, 2, 3]);
    }
}
