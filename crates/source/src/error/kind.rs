//! The party that has to act on an error.

/// The party that has to act on an [`Error`](crate::Error).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The program was called wrongly, as with a normalisation rule that does not exist.
    Usage,
    /// The input cannot be joined as it is.
    Input,
    /// The output cannot be written.
    Output,
    /// The other party sent what it must not.
    Peer,
    /// Whoever read the output stream went away, as `head` does. Often no failure at all.
    BrokenPipe,
    /// The user stopped the program.
    Interrupted,
}
