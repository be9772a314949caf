//! Columns of bytes, of whatever type an engine has made of them.

use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, FixedSizeBinaryArray, LargeBinaryArray,
};
use arrow_schema::DataType;

/// Calls `take` with each value, as long as it returns something. Returns nothing if it does not,
/// if there is a null, or if the column has another type.
pub(crate) fn each_value(
    column: &ArrayRef,
    take: &mut dyn FnMut(&[u8]) -> Option<()>,
) -> Option<()> {
    if column.null_count() > 0 {
        return None;
    }
    let mut rows = 0..column.len();
    let array = column.as_any();
    match column.data_type() {
        DataType::FixedSizeBinary(_) => {
            let values = array.downcast_ref::<FixedSizeBinaryArray>()?;
            rows.try_for_each(|row| take(values.value(row)))
        }
        DataType::Binary => {
            let values = array.downcast_ref::<BinaryArray>()?;
            rows.try_for_each(|row| take(values.value(row)))
        }
        DataType::LargeBinary => {
            let values = array.downcast_ref::<LargeBinaryArray>()?;
            rows.try_for_each(|row| take(values.value(row)))
        }
        DataType::BinaryView => {
            let values = array.downcast_ref::<BinaryViewArray>()?;
            rows.try_for_each(|row| take(values.value(row)))
        }
        _ => None,
    }
}
