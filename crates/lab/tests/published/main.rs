//! The published tables: against themselves, the registry, and the papers' texts.

mod consistent;
mod known_cells;
mod money;
mod printed;
