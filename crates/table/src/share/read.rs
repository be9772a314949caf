//! The second pass over a sender's table, for the columns that it gives.

use std::{collections::BTreeSet, iter};

use super::{
    GivenColumns, GivenRows, PayloadLayout,
    encode::{Column, RowBytes, flag_bytes, value_bytes},
    layout::MAX_PAYLOAD_BYTES,
};
use psijoin_source::{
    Progress, Source,
    text::{Layout, Needed, Start},
    typed::{Pieces, Selection, TablePiece},
};

use crate::{
    Error, ShareError,
    in_order::in_order,
    keys::{KnownBlock, KnownBlocks},
    pass::unless_changed,
};

/// The work on each row that is given: its item, and the bytes of its columns.
pub type TakeRow<'t> = &'t mut (dyn FnMut(u32, &[u8]) -> Result<(), Error> + Send);

impl GivenRows<'_> {
    /// Returns the bytes of the longest row in these columns: the shortest slots that have room for
    /// all rows. If it follows from the types, the table is not read.
    ///
    /// # Errors
    /// If the table cannot be read, or has changed since its keys were read; if a row is longer
    /// than any payload.
    pub fn longest_row(
        &self,
        source: &Source,
        columns: &GivenColumns,
        progress: &Progress,
    ) -> Result<usize, Error> {
        let fields = columns.schema().fields();
        let values = fields.iter().map(|field| value_bytes(field.data_type()));
        let flags = flag_bytes(fields.len());
        if let Some(values) = values.sum::<Option<usize>>() {
            return Ok(flags + values);
        }
        let mut longest = flags;
        self.each_row(
            source,
            columns,
            MAX_PAYLOAD_BYTES,
            progress,
            &mut |_, row| {
                longest = longest.max(row.len());
                Ok(())
            },
        )?;
        Ok(longest)
    }

    /// Returns the payloads of all keys, one after the other, in the order of the table's items.
    ///
    /// # Errors
    /// If the table cannot be read, or has changed since its keys were read; if a row is longer
    /// than its slot.
    ///
    /// # Panics
    /// If more rows of a key may be given than the layout has room for.
    pub fn payloads(
        &self,
        source: &Source,
        layout: &PayloadLayout,
        progress: &Progress,
    ) -> Result<Vec<u8>, Error> {
        self.check_room(layout);
        let length = layout.payload_bytes();
        let mut payloads = vec![0; self.payloads * length];
        let columns = layout.columns();
        self.each_row(
            source,
            columns,
            layout.row_bytes(),
            progress,
            &mut |item, row| {
                layout.put(&mut payloads[item as usize * length..][..length], row);
                Ok(())
            },
        )?;
        Ok(payloads)
    }

    /// # Panics
    /// If more rows of a key may be given than the layout has room for.
    pub(super) fn check_room(&self, layout: &PayloadLayout) {
        assert!(
            self.most <= layout.most_rows(),
            "room for all rows of a key"
        );
    }

    /// Calls `take` with each row that is given, in the table's order: with the number of its item,
    /// and the bytes of its columns. The threads of the caller's pool read.
    ///
    /// # Errors
    /// If the table cannot be read, or has changed since its keys were read; if a row has more than
    /// `most_bytes` bytes; and what `take` returns.
    pub fn each_row(
        &self,
        source: &Source,
        columns: &GivenColumns,
        most_bytes: usize,
        progress: &Progress,
        take: TakeRow<'_>,
    ) -> Result<(), Error> {
        let names = source.columns()?;
        let wanted: Vec<String> = columns.names().map(str::to_owned).collect();
        let pass = Pass {
            source,
            rows: self,
            columns,
            found: source.header(&names).find_all(&wanted)?,
            most_bytes,
            progress,
        };
        progress.start(source.bytes());
        unless_changed(source, || match source.layout() {
            None => pass.read_typed(take),
            Some(layout) => pass.read_text(layout, take),
        })
    }
}

struct Pass<'a> {
    source: &'a Source,
    rows: &'a GivenRows<'a>,
    columns: &'a GivenColumns,
    /// Their places in the table.
    found: Vec<usize>,
    most_bytes: usize,
    progress: &'a Progress,
}

/// Rows that were read, in their order.
#[derive(Default)]
struct Encoded {
    /// The item of each, and where its bytes end.
    rows: Vec<(u32, usize)>,
    bytes: Vec<u8>,
    /// The bytes of the source that correspond to them.
    bytes_read: u64,
}

impl Encoded {
    fn each(&self, take: TakeRow<'_>) -> Result<(), Error> {
        let ends = self.rows.iter().map(|(_, end)| *end);
        let starts = iter::once(0).chain(ends);
        self.rows
            .iter()
            .zip(starts)
            .try_for_each(|(&(item, end), start)| take(item, &self.bytes[start..end]))
    }
}

impl Pass<'_> {
    /// Adds a row of the table, if it is given.
    fn add(
        &self,
        encoded: &mut Encoded,
        row: u64,
        write: impl FnOnce(&mut RowBytes<'_>),
    ) -> Result<(), Error> {
        let Some(item) = self.rows.payload_of.get(row) else {
            return Ok(());
        };
        let mut bytes = RowBytes::new(&mut encoded.bytes, self.found.len());
        write(&mut bytes);
        let file = self.source.name();
        let length =
            (bytes.finish()).map_err(|fault| fault.of_this_party(file, self.columns, row))?;
        match length {
            Some(length) if length <= self.most_bytes => {
                encoded.rows.push((item, encoded.bytes.len()));
                Ok(())
            }
            _ => Err(Error::Share(ShareError::LongRow {
                file: file.to_owned(),
                row: Some(row + 1),
                most_bytes: self.most_bytes,
            })),
        }
    }

    fn read_text(&self, layout: Layout, take: TakeRow<'_>) -> Result<(), Error> {
        let last = self.found.iter().max().expect("a column is given");
        let needed = Needed::First(last + 1);
        let mut blocks = KnownBlocks::new(self.source, layout, &self.rows.rows, self.rows.starts)?;
        let mut bytes_left = self.source.bytes();
        in_order(
            &mut || blocks.next_block().transpose(),
            &Vec::new,
            &|block, buffer| self.read_block(block?, needed, buffer),
            &mut |encoded| {
                let encoded = encoded?;
                encoded.each(take)?;
                bytes_left -= encoded.bytes_read;
                Ok(self.progress.advance(encoded.bytes_read)?)
            },
        )?;
        // The other readers have no such rows.
        Ok(self.progress.advance(bytes_left)?)
    }

    fn read_block(
        &self,
        KnownBlock { block, rows, .. }: KnownBlock<'_>,
        needed: Needed,
        buffer: &mut Vec<u8>,
    ) -> Result<Encoded, Error> {
        let mut encoded = Encoded {
            bytes_read: block.bytes.end - block.bytes.start,
            ..Encoded::default()
        };
        let (mut rows, start) = (rows, Start::Known(block.bytes.start));
        let (_, error) = block.each_row(start, needed, buffer, &mut |record| {
            let row = rows.next().ok_or_else(|| self.source.changed())?;
            self.add(&mut encoded, row, |bytes| {
                for &column in &self.found {
                    bytes.variable(record.field(column).as_bytes());
                }
            })
        });
        match error {
            Some(error) => Err(error),
            None if rows.is_empty() => Ok(encoded),
            None => Err(self.source.changed().into()),
        }
    }

    fn read_typed(&self, take: TakeRow<'_>) -> Result<(), Error> {
        let columns: BTreeSet<usize> = self.found.iter().copied().collect();
        let selection = Selection::of(self.source, &columns)?;
        // The batches have the columns in the table's order.
        let places = self.found.iter();
        let places: Vec<usize> = places.map(|found| columns.range(..found).count()).collect();
        let mut pieces = Pieces::new(&selection, self.progress);
        let mut rows = 0;
        let total = self.rows.rows.len();
        let mut next = || -> Result<Option<(TablePiece<'_>, u64)>, Error> {
            for piece in pieces.by_ref() {
                let piece = piece?;
                let start = rows;
                rows += piece.rows();
                if rows > total {
                    return Err(self.source.changed().into());
                }
                if self.rows.rows.any(start..rows) {
                    return Ok(Some((piece, start)));
                }
                self.progress.advance(piece.bytes())?;
            }
            Ok(None)
        };
        in_order(
            &mut || next().transpose(),
            &|| (),
            &|task, ()| {
                let (piece, start) = task?;
                self.read_piece(piece, start, &selection, &places)
            },
            &mut |encoded| {
                let encoded = encoded?;
                encoded.each(take)?;
                Ok(self.progress.advance(encoded.bytes_read)?)
            },
        )?;
        match rows == total {
            true => Ok(()),
            false => Err(self.source.changed().into()),
        }
    }

    /// Reads a piece that begins with this row of the table.
    fn read_piece<'a>(
        &self,
        piece: TablePiece<'a>,
        start: u64,
        selection: &Selection<'a>,
        places: &[usize],
    ) -> Result<Encoded, Error> {
        let mut encoded = Encoded {
            bytes_read: piece.bytes(),
            ..Encoded::default()
        };
        let mut row = start;
        let end = start + piece.rows();
        let fields = self.columns.schema().fields();
        for batch in piece.read(selection)? {
            self.progress.check()?;
            let batch = batch?;
            let columns = places.iter().zip(fields).map(|(&place, field)| {
                let column = Column::new(batch.rows.column(place), field.data_type());
                column.ok_or_else(|| batch.broken())
            });
            let columns: Vec<Column<'_>> = columns.collect::<Result<_, _>>()?;
            for of_batch in 0..batch.rows.num_rows() {
                if row == end {
                    return Err(batch.broken().into());
                }
                self.add(&mut encoded, row, |bytes| {
                    for (number, column) in columns.iter().enumerate() {
                        column.write(of_batch, number, bytes);
                    }
                })?;
                row += 1;
            }
        }
        match row == end {
            true => Ok(encoded),
            false => Err(self.source.changed().into()),
        }
    }
}
