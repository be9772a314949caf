use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::Error;

/// A file of typed columns whose schema has been read.
pub(crate) trait TypedFile<'a> {
    fn schema(&self) -> &SchemaRef;

    /// Checks that these columns can be read, as far as the file's own description tells.
    fn check(&self, columns: &[usize]) -> Result<(), Error>;

    /// Reads these columns, which are in the file's order.
    fn batches(self: Box<Self>, columns: &[usize]) -> Result<FileBatches<'a>, Error>;
}

/// Rows, and how many bytes of the file lie before those that follow.
pub(crate) type FileBatches<'a> = Box<dyn Iterator<Item = Result<(RecordBatch, u64), Error>> + 'a>;
