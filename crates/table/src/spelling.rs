//! One spelling for one value: what typed columns and rules make keys of.

pub(crate) mod number;
