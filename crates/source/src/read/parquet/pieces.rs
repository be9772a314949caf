//! Row groups, and stretches of large ones, each to be read on its own.

use arrow_array::RecordBatch;
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReader},
    },
    file::metadata::RowGroupMetaData,
};

use super::{
    damage,
    guard::{contained, fault, in_footer},
    pages, prefixes,
    stretch::Stretch,
};
use crate::{
    Error, ParquetFault,
    read::arrow::{PIECE_BYTES, PIECE_ROWS, Piece},
    source::{section::Section, table_file::Part},
};

/// Rows that are decoded at once, unless these would take more memory.
const BATCH_ROWS: u64 = 1 << 13;
const BATCH_BYTES: u64 = 1 << 22;

/// The pieces of a file.
pub(super) struct Pieces<'a> {
    part: &'a Part,
    section: Section,
    metadata: ArrowReaderMetadata,
    mask: ProjectionMask,
    dictionaries: bool,
    /// `true` if rows cannot be skipped without decoding them, as those of lists.
    has_lists: bool,
    /// The row group that is being cut up.
    group: usize,
    /// The rows of the group that are in earlier pieces.
    rows: u64,
    /// The rows of all groups before.
    rows_before: u64,
}

impl<'a> Pieces<'a> {
    pub(super) fn new(
        part: &'a Part,
        section: Section,
        metadata: ArrowReaderMetadata,
        columns: &[usize],
        dictionaries: bool,
    ) -> Self {
        let schema = metadata.parquet_schema();
        let mask = ProjectionMask::roots(schema, columns.iter().copied());
        let leaves = schema.columns().iter().enumerate();
        let mut read = leaves.filter(|(leaf, _)| mask.leaf_included(*leaf));
        let has_lists = read.any(|(_, column)| column.max_rep_level() > 0);
        Self {
            part,
            section,
            metadata,
            mask,
            dictionaries,
            has_lists,
            group: 0,
            rows: 0,
            rows_before: 0,
        }
    }

    fn next_piece(&mut self) -> Result<Option<Piece<'a>>, Error> {
        let metadata = self.metadata.metadata().clone();
        loop {
            let Some(group) = metadata.row_groups().get(self.group) else {
                return Ok(None);
            };
            // The row groups of a broken file need not have the schema's columns.
            let rows = in_footer(self.part, || Ok(self.rows_of(group)))??;
            if self.rows < rows {
                let row_bytes = self.decoded_bytes(group).div_ceil(rows).max(1);
                let most_rows = match self.has_lists {
                    true => rows,
                    false => PIECE_ROWS.min((PIECE_BYTES / row_bytes).max(1)),
                };
                let until = rows.min(self.rows.saturating_add(most_rows));
                return Ok(Some(self.piece(until, row_bytes)));
            }
            let rows_before = self.rows_before.checked_add(rows);
            self.rows_before = rows_before.ok_or_else(|| fault(self.part, ParquetFault::Rows))?;
            (self.group, self.rows) = (self.group + 1, 0);
        }
    }

    /// Returns how many rows a group has.
    ///
    /// # Errors
    /// If a column that is read disagrees.
    fn rows_of(&self, group: &RowGroupMetaData) -> Result<u64, Error> {
        let columns = group.columns().iter().enumerate();
        let mut read = columns.filter(|(leaf, _)| self.mask.leaf_included(*leaf));
        // Outside of lists a row has one value, which may be null.
        let other = read.find(|(_, chunk)| {
            chunk.column_descr().max_rep_level() == 0 && chunk.num_values() != group.num_rows()
        });
        if let Some((leaf, _)) = other {
            let column = self.metadata.parquet_schema().get_column_root(leaf);
            let column = column.name().to_owned();
            let contradiction = "has another number of values than there are rows";
            let found = ParquetFault::Contradiction {
                column,
                contradiction,
            };
            return Err(fault(self.part, found));
        }
        u64::try_from(group.num_rows()).map_err(|_| fault(self.part, ParquetFault::Rows))
    }

    /// Estimates the bytes of memory of a group's rows: those in the file before they are
    /// compressed.
    fn decoded_bytes(&self, group: &RowGroupMetaData) -> u64 {
        let columns = group.columns().iter().enumerate();
        let read = columns.filter(|(leaf, _)| self.mask.leaf_included(*leaf));
        let bytes = read.map(|(_, chunk)| chunk.uncompressed_size().max(0) as u64);
        bytes.fold(0, u64::saturating_add)
    }

    /// Returns the rows up to this one of the group, each of which takes about this much memory.
    fn piece(&mut self, until: u64, row_bytes: u64) -> Piece<'a> {
        let rows = self.rows..until;
        self.rows = until;
        let stretch = Stretch {
            part: self.part,
            section: self.section.clone(),
            metadata: self.metadata.clone(),
            mask: self.mask.clone(),
            dictionaries: self.dictionaries,
            group: self.group,
            rows: rows.clone(),
            batch_rows: BATCH_ROWS.min((BATCH_BYTES / row_bytes).max(1)),
        };
        let all_rows = self.metadata.metadata().file_metadata().num_rows().max(0) as u64;
        let bytes = |rows| {
            let rows = self.rows_before.saturating_add(rows).min(all_rows);
            (self.part.bytes() as f64 * (rows as f64 / all_rows.max(1) as f64)) as u64
        };
        Piece {
            rows: rows.end - rows.start,
            bytes: bytes(rows.end) - bytes(rows.start),
            memory: row_bytes.saturating_mul(rows.end - rows.start),
            read: Box::new(|| Ok(Box::new(stretch.batches()?))),
        }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Result<Piece<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_piece().transpose()
    }
}

impl<'a> Stretch<'a> {
    fn batches(self) -> Result<Batches<'a>, Error> {
        self.check_pages()?;
        let reader = contained(self.part, || damage::find(&self), || self.reader())?;
        Ok(Batches {
            rows_left: self.count(),
            stretch: self,
            reader,
        })
    }

    /// Checks the statements of the pages of the columns that are read.
    fn check_pages(&self) -> Result<(), Error> {
        let group = self.metadata.metadata().row_group(self.group);
        let created_by = self.metadata.metadata().file_metadata().created_by();
        let columns = group.columns().iter().enumerate();
        for (leaf, chunk) in columns.filter(|(leaf, _)| self.mask.leaf_included(*leaf)) {
            let column = self.metadata.parquet_schema().get_column_root(leaf);
            let found = |contradiction| ParquetFault::Contradiction {
                column: column.name().to_owned(),
                contradiction,
            };
            let headers = contained(
                self.part,
                || found("has a page whose header cannot be read"),
                || Ok(pages::headers(&self.section, chunk, created_by)?),
            )?;
            let contradiction = match headers.contradiction {
                None if headers.has_prefixes => contained(
                    self.part,
                    || found(damage::UNDECODABLE),
                    || prefixes::contradiction(&self.section, chunk, &self.rows),
                )?,
                told => told,
            };
            if let Some(contradiction) = contradiction {
                return Err(fault(self.part, found(contradiction)));
            }
        }
        Ok(())
    }
}

/// The rows of a piece.
struct Batches<'a> {
    stretch: Stretch<'a>,
    reader: ParquetRecordBatchReader,
    /// The number of rows that there must still be.
    rows_left: u64,
}

impl Batches<'_> {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        let Self {
            stretch, reader, ..
        } = self;
        let find = || damage::find(stretch);
        let batch = contained(stretch.part, find, || Ok(reader.next().transpose()?))?;
        let rows = batch.as_ref().map_or(0, |batch| batch.num_rows() as u64);
        let left = self.rows_left.checked_sub(rows);
        match left.filter(|&left| batch.is_some() || left == 0) {
            Some(left) => self.rows_left = left,
            None => return Err(fault(stretch.part, damage::find(stretch))),
        }
        Ok(batch)
    }
}

impl Iterator for Batches<'_> {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}
