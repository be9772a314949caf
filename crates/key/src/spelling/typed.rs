//! The texts of typed values, for who reads them.

pub use super::{
    calendar::{write_date, write_time},
    number::write_decimal,
    uuid::write_uuid,
};
