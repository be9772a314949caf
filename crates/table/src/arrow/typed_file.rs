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

    /// Reads these columns, which are in the file's order, in pieces for several threads. Texts
    /// may come as dictionaries where the file has such.
    fn pieces(self: Box<Self>, columns: &[usize]) -> Result<FilePieces<'a>, Error>;
}

/// Rows, and how many bytes of the file lie before those that follow.
pub(crate) type FileBatches<'a> = Box<dyn Iterator<Item = Result<(RecordBatch, u64), Error>> + 'a>;

/// The pieces of a file in the order of their rows.
pub(crate) type FilePieces<'a> = Box<dyn Iterator<Item = Result<Piece<'a>, Error>> + Send + 'a>;

/// The rows of a piece, some thousand at a time.
pub(crate) type PieceBatches<'a> = Box<dyn Iterator<Item = Result<RecordBatch, Error>> + 'a>;

/// Some rows of a file that follow each other, which any thread can read.
pub(crate) struct Piece<'a> {
    pub(crate) rows: u64,
    /// The bytes of the file that correspond to the rows.
    pub(crate) bytes: u64,
    /// Gives the rows.
    pub(crate) read: Box<dyn FnOnce() -> Result<PieceBatches<'a>, Error> + Send + 'a>,
}

/// A piece ends after this many rows at the latest: what is kept of it takes a few MiB.
pub(crate) const PIECE_ROWS: u64 = 1 << 17;
