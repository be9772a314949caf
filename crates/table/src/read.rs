//! What files hold.

pub(crate) mod error;
