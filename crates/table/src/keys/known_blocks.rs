//! The rows of a text once more, when it is known where its blocks begin.

use std::{iter::Peekable, ops::Range, slice, sync::Arc};

use super::{BlockStart, bitmap::Bitmap};
use psijoin_source::{
    Source,
    text::{Block, Layout, Text},
};

use crate::Error;

/// The blocks that have chosen rows, in order.
pub(crate) struct KnownBlocks<'a> {
    source: &'a Source,
    layout: Layout,
    chosen: &'a Bitmap,
    /// The text that was opened last, and which one of the table it is.
    text: Arc<Text<'a>>,
    part: u32,
    starts: Peekable<slice::Iter<'a, BlockStart>>,
}

impl<'a> KnownBlocks<'a> {
    pub(crate) fn new(
        source: &'a Source,
        layout: Layout,
        chosen: &'a Bitmap,
        starts: &'a [BlockStart],
    ) -> Result<Self, Error> {
        Ok(Self {
            source,
            layout,
            chosen,
            text: Arc::new(source.text(0, layout)?),
            part: 0,
            starts: starts.iter().peekable(),
        })
    }

    /// Returns the text whose block came last; at the beginning the first one.
    pub(crate) fn text(&self) -> &Text<'a> {
        &self.text
    }

    pub(crate) fn next_block(&mut self) -> Result<Option<KnownBlock<'a>>, Error> {
        while let Some(start) = self.starts.next() {
            let next = self.starts.peek();
            let rows = start.row..next.map_or(self.chosen.len(), |next| next.row);
            if !self.chosen.any(rows.clone()) {
                continue;
            }
            if self.part != start.part {
                self.text = Arc::new(self.source.text(start.part as usize, self.layout)?);
                self.part = start.part;
            }
            let in_text = next.filter(|next| next.part == start.part);
            let end = in_text.map_or(self.text.bytes(), |next| next.byte);
            let text = self.text.clone();
            return Ok(Some(KnownBlock {
                block: Block::new(text, start.part, start.byte..end),
                rows,
                is_after_crlf: start.is_after_crlf,
            }));
        }
        Ok(None)
    }
}

/// Rows of a text that follow each other.
pub(crate) struct KnownBlock<'a> {
    pub(crate) block: Block<'a>,
    /// The rows, of the table, from 0.
    pub(crate) rows: Range<u64>,
    /// `true` if the line before them ends in CRLF.
    pub(crate) is_after_crlf: bool,
}
