//! Columns of numbers, and the numbers in their cells.

mod column;
pub(crate) mod decimal;
pub(crate) mod fault;
mod number;

use arrow_schema::{DataType, SchemaRef};

use crate::{
    Error, ReadError, Source,
    read::arrow::{check_meanings, first_of_unfit_type, unknown_meaning},
};
pub use column::NumberColumn;
pub use number::Number;

/// The most decimals that a number may have.
pub const MAX_SCALE: u32 = 18;

/// Checks that a table has these columns of numbers, without reading more than its header.
///
/// # Errors
/// If the header cannot be read, a column is missing or not unique, or the values of a Parquet
/// column are not numbers, or cannot be read.
pub fn check_numbers(source: &Source, columns: &[String]) -> Result<(), Error> {
    let names = source.columns()?;
    let found = source.header(&names).find_all(columns)?;
    match source.layout() {
        Some(_) => Ok(()),
        None => source.check_number_types(&source.schema()?, &found),
    }
}

impl Source {
    /// Checks that these typed columns can be read, and added up, as far as the schema tells. A
    /// partition column is text, in which numbers are read as in a CSV file.
    ///
    /// # Errors
    /// If one cannot.
    pub fn check_number_types(&self, schema: &SchemaRef, numbers: &[usize]) -> Result<(), Error> {
        self.check_readable(schema, numbers)?;
        check_meanings(self.name(), schema, numbers, unknown_meaning)?;
        match first_of_unfit_type(schema, &self.in_files(schema, numbers), may_be_numbers) {
            Some((column, data_type)) => Err(Error::Read(ReadError::NumberType {
                file: self.name().to_owned(),
                column,
                data_type,
            })),
            None => Ok(()),
        }
    }
}

/// Returns whether the texts of a type's values can be numbers: those of integers and of decimals
/// with at most [`MAX_SCALE`] places are; a floating-point number or a text may be one.
fn may_be_numbers(data_type: &DataType) -> bool {
    use DataType::*;
    match data_type {
        Decimal32(_, scale) | Decimal64(_, scale) | Decimal128(_, scale) | Decimal256(_, scale) => {
            i32::from(*scale) <= MAX_SCALE as i32
        }
        Null | Utf8 | LargeUtf8 | Utf8View => true,
        other => other.is_numeric(),
    }
}
