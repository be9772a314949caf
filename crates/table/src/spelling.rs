//! One spelling for one value: what typed columns and rules make keys of.

pub(crate) mod number;
pub(crate) mod truth;
pub(crate) mod uuid;
