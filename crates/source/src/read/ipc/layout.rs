//! The places of nulls in a batch of rows.

use arrow_ipc::{Field, RecordBatch, Schema, Type};

/// The numbers of a column's, or an inner column's, node and of the buffer with a bit for each of
/// its values.
pub(super) struct Validity {
    pub(super) node: usize,
    pub(super) buffer: usize,
}

/// Returns the places of such columns in a batch, of those that are read; `None` if the layout of a
/// type is not known.
pub(super) fn validity(
    schema: Schema<'_>,
    columns: &[usize],
    batch: &RecordBatch<'_>,
) -> Option<Vec<Validity>> {
    let mut walk = Walk {
        node: 0,
        buffer: 0,
        more_buffers: batch.variadicBufferCounts().into_iter().flatten(),
        found: Vec::new(),
    };
    for (column, field) in schema.fields().into_iter().flatten().enumerate() {
        let before = walk.found.len();
        walk.pass(field)?;
        if !columns.contains(&column) {
            walk.found.truncate(before);
        }
    }
    Some(walk.found)
}

struct Walk<I> {
    node: usize,
    buffer: usize,
    /// The number of buffers of texts that do not fit into views.
    more_buffers: I,
    found: Vec<Validity>,
}

impl<I: Iterator<Item = i64>> Walk<I> {
    /// Passes a column and those in it.
    fn pass(&mut self, field: Field<'_>) -> Option<()> {
        let buffers = match field.type_type() {
            _ if field.dictionary().is_some() => 2,
            Type::Null | Type::RunEndEncoded => 0,
            Type::Struct_ | Type::FixedSizeList => 1,
            Type::Utf8 | Type::Binary | Type::LargeUtf8 | Type::LargeBinary => 3,
            Type::ListView | Type::LargeListView => 3,
            Type::Utf8View | Type::BinaryView => {
                2 + usize::try_from(self.more_buffers.next()?).ok()?
            }
            Type::List | Type::LargeList | Type::Map | Type::Bool | Type::FixedSizeBinary => 2,
            Type::Int | Type::FloatingPoint | Type::Decimal | Type::Date | Type::Time => 2,
            Type::Timestamp | Type::Interval | Type::Duration => 2,
            // Unions have other buffers in each version.
            _ => return None,
        };
        if buffers > 0 {
            self.found.push(Validity {
                node: self.node,
                buffer: self.buffer,
            });
        }
        self.node += 1;
        self.buffer += buffers;
        match field.dictionary() {
            Some(_) => Some(()),
            None => field
                .children()
                .into_iter()
                .flatten()
                .try_for_each(|child| self.pass(child)),
        }
    }
}
