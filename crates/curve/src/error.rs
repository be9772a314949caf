/// The reason that bytes were refused as a group element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// They are not the canonical encoding of any element.
    #[error("number {index} of the received points is not an encoding of an element of the group")]
    NotAnElement {
        /// Position of such bytes in the slice.
        index: usize,
    },

    /// They encode the identity, whose multiples tell nothing about the scalar: no honest party
    /// sends it.
    #[error("number {index} of the received points is the identity of the group")]
    Identity {
        /// Position of such bytes in the slice.
        index: usize,
    },
}
