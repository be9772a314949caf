use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::schema::types::SchemaDescPtr;

use crate::Error;

/// A file of typed columns whose schema has been read.
pub(crate) trait TypedFile<'a> {
    fn schema(&self) -> &SchemaRef;

    /// Returns the schema of a Parquet file, as it has it.
    fn parquet_schema(&self) -> Option<SchemaDescPtr> {
        None
    }

    /// Checks that these columns can be read, as far as the file's own description tells: in most
    /// formats, it does not.
    fn check(&self, _columns: &[usize]) -> Result<(), Error> {
        Ok(())
    }

    /// Returns the columns that are in no part of the file made of a dictionary alone, as far as it
    /// tells: looking for equal values in them again would take long, in vain. If a format does not
    /// tell, a column without dictionaries may still have few values.
    fn without_dictionaries(&self) -> Result<Vec<usize>, Error> {
        Ok(Vec::new())
    }

    /// Reads these columns, which are in the file's order, in pieces for several threads. With
    /// `dictionaries`, texts may come as such where the file has them.
    fn pieces(
        self: Box<Self>,
        columns: &[usize],
        dictionaries: bool,
    ) -> Result<FilePieces<'a>, Error>;
}

/// The pieces of a file in the order of their rows.
pub(crate) type FilePieces<'a> = Box<dyn Iterator<Item = Result<Piece<'a>, Error>> + Send + 'a>;

/// The rows of a piece, some thousand at a time.
pub(crate) type PieceBatches<'a> = Box<dyn Iterator<Item = Result<RecordBatch, Error>> + Send + 'a>;

/// Some rows of a file that follow each other, which any thread can read.
pub(crate) struct Piece<'a> {
    pub(crate) rows: u64,
    /// The bytes of the file that correspond to the rows.
    pub(crate) bytes: u64,
    /// Estimates the memory of the rows, as far as the file tells; 0 if they are decoded.
    pub(crate) memory: u64,
    /// Gives the rows.
    pub(crate) read: Box<dyn FnOnce() -> Result<PieceBatches<'a>, Error> + Send + 'a>,
}

/// The rows after which a piece ends, unless the file demands another end: its keys take about 5
/// MiB.
pub const PIECE_ROWS: u64 = 1 << 17;

/// A piece also ends when its rows take about this much memory, since each thread holds some.
pub const PIECE_BYTES: u64 = 1 << 24;
