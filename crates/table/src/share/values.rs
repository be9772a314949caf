//! The values of an encoded row, one by one.

use std::ops::Range;

use super::{
    GivenColumns,
    encode::{RowBytes, flag_bytes, is_null, value_bytes},
};

/// The place of each value in a row, with its length before it if that is not fixed; none for a
/// null.
type Places = Vec<Option<Range<usize>>>;

/// Finds the values in rows of certain columns.
pub(crate) struct Values {
    /// The bytes of each column's values; `None` if a length stands before each.
    widths: Vec<Option<usize>>,
    found: Places,
}

impl Values {
    pub(crate) fn of(columns: &GivenColumns) -> Self {
        let fields = columns.schema().fields().iter();
        Self {
            widths: fields.map(|field| value_bytes(field.data_type())).collect(),
            found: Vec::new(),
        }
    }

    /// Returns where the values of a row are; `None` unless these are the bytes of a row of these
    /// columns, and no more.
    pub(crate) fn find(&mut self, row: &[u8]) -> Option<&[Option<Range<usize>>]> {
        let mut at = flag_bytes(self.widths.len());
        let flags = row.get(..at)?;
        self.found.clear();
        for (column, width) in self.widths.iter().enumerate() {
            if is_null(flags, column) {
                self.found.push(None);
                continue;
            }
            let bytes = match width {
                Some(width) => *width,
                None => {
                    let length = row.get(at..)?.first_chunk()?;
                    size_of::<u16>() + usize::from(u16::from_le_bytes(*length))
                }
            };
            self.found.push(Some(at..at + bytes));
            at += bytes;
        }
        (at == row.len()).then_some(&self.found)
    }
}

/// Makes rows of some columns of rows that have more.
pub(crate) struct Projection {
    of: Values,
    /// The place of each chosen column among all.
    columns: Vec<usize>,
    row: Vec<u8>,
}

impl Projection {
    /// Chooses these columns of those; `None` if some are not among them.
    pub(crate) fn new(chosen: &GivenColumns, of: &GivenColumns) -> Option<Self> {
        let all = of.schema();
        let place = |name| all.index_of(name).ok();
        let columns: Option<Vec<usize>> = chosen.names().map(place).collect();
        Some(Self {
            of: Values::of(of),
            columns: columns?,
            row: Vec::new(),
        })
    }

    /// Returns a row with the chosen columns of this one; `None` if this is none.
    pub(crate) fn row(&mut self, row: &[u8]) -> Option<&[u8]> {
        let values = self.of.find(row)?;
        self.row.clear();
        let mut chosen = RowBytes::new(&mut self.row, self.columns.len());
        for (place, column) in self.columns.iter().enumerate() {
            match &values[*column] {
                Some(value) => chosen.raw(&row[value.clone()]),
                None => chosen.null(place),
            }
        }
        Some(&self.row)
    }
}

impl GivenColumns {
    /// Returns bytes that each row of these columns fits into: as many as follow from the types,
    /// and otherwise no more than the longest value of each column takes, and than `longest`, which
    /// are the bytes of all values of a row in these columns and others.
    pub(crate) fn slot_bytes(&self, most: impl Fn(&str) -> usize, longest: usize) -> usize {
        let fields = self.schema().fields();
        let flags = flag_bytes(fields.len());
        let fixed = fields.iter().map(|field| value_bytes(field.data_type()));
        match fixed.sum::<Option<usize>>() {
            Some(fixed) => flags + fixed,
            None => flags + self.names().map(most).sum::<usize>().min(longest),
        }
    }
}
