//! Faults of Arrow files and streams.

use psijoin_printable::Quoted;

/// A fault of an Arrow file or stream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArrowFault {
    /// Its end is missing.
    #[error("it is cut off, or neither an Arrow file nor a stream (get it again)")]
    CutOff,
    /// The description of its columns, or of a block of rows, makes no sense.
    #[error(
        "the description of its columns, or of a block of rows, is damaged, or it is neither an \
         Arrow file nor a stream (get it again)"
    )]
    Description,
    /// A block or buffer is said to be longer than it can be.
    #[error(
        "a block of rows, or a part of it, is said to be longer than it can be: it is damaged or \
         cut off (get it again)"
    )]
    Claims,
    /// It holds an array of several dimensions, and no table.
    #[error("it holds a tensor, and no table (write it as a table of columns first)")]
    Tensor,
    /// Rows cannot be decoded.
    #[error(
        "a block of rows, or a dictionary, cannot be decoded, as it is damaged (get it again, or \
         write it again)"
    )]
    Rows,
    /// Texts are something else.
    #[error("a column of texts holds some that are not UTF-8 (write it again as binary data)")]
    NotUtf8,
    /// Its rows do not fit their description.
    #[error("its columns hold other types than its schema says (write it again, or get it again)")]
    Types,
    /// A stream ends behind a whole message, and without the mark that ends it.
    #[error(
        "it is a stream without an end mark, so rows may be missing that nobody would miss (if it is whole, write it \
         again as an Arrow file or as Parquet, or close its writer, which writes the mark)"
    )]
    NoEndMark,
    /// Something follows the mark that ends a stream.
    #[error(
        "its stream has an end mark, and something follows, perhaps another stream (write each to a file of its own, \
         and name them all)"
    )]
    BehindEnd,
    /// A file's footer does not list the blocks, or the columns, that are in it.
    #[error(
        "its footer lists other columns or blocks of rows than are in it (write it again, or get it again)"
    )]
    Footer,
    /// The buffers of a block do not lie one behind the other.
    #[error(
        "the buffers of a block of rows overlap, or there is something between them (write it again, or get it again)"
    )]
    Buffers,
    /// A column has nulls, and counts none.
    #[error("a column has nulls, and says that it has none (write it again, or get it again)")]
    Nulls,
    /// Its numbers are in the other byte order.
    #[error(
        "its numbers are big-endian, which is not read (write it again on another machine, or as Parquet)"
    )]
    BigEndian,
    /// A column that is needed has a type that is not known.
    #[error(
        "its column {} holds {kind}, a type that is not known (cast it to a decimal or to text, or leave it out)",
        Quoted(.column)
    )]
    UnknownType {
        /// The column.
        column: String,
        /// Its type.
        kind: String,
    },
    /// A column has a type of unknown layout, so the columns behind it cannot be found.
    #[error(
        "its column {} holds {kind}, and the columns behind it cannot be found (write the table again without it, or as \
         Parquet)",
        Quoted(.column)
    )]
    UnknownLayout {
        /// The column.
        column: String,
        /// Its type.
        kind: String,
    },
}
