//! Cells of a column that have one fault.

use std::fmt;

use psijoin_printable::Quoted;

use crate::{KeyFault, Places};

/// The cells of a column, of the key or of numbers, that have one fault.
///
/// The text names their places and the fault, and holds no value of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadCells<Fault = KeyFault> {
    /// The column's name.
    pub column: String,
    /// The fault.
    pub fault: Fault,
    /// The places of such cells.
    pub places: Places,
}

impl<Fault: fmt::Display> fmt::Display for BadCells<Fault> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            column,
            fault,
            places,
        } = self;
        write!(f, "{places}, column {}: {fault}", Quoted(column))
    }
}

/// Lists several sorts of cells, one after the other.
pub fn listed<Fault: fmt::Display>(cells: &[BadCells<Fault>]) -> String {
    let texts: Vec<_> = cells.iter().map(ToString::to_string).collect();
    texts.join("; ")
}
