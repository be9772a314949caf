//! Arrays that hold nothing but their own rows.
//!
//! Arrays may share what is not in their rows: the values of a dictionary, the texts behind views.
//! Each of many small batches would hold all of it, and few rows that are kept would keep it in
//! memory. And rows of different dictionaries do not always fit into one, if its keys are narrow.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, RecordBatch,
    cast::AsArray,
    make_array,
    types::{BinaryViewType, StringViewType},
};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema};
use arrow_select::take::take;

use super::batch_of;

/// Returns the rows, with dictionaries as their values, and a copy of the texts behind views only.
pub fn owned(rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let columns: Vec<ArrayRef> = rows.columns().iter().map(own).collect::<Result<_, _>>()?;
    let fields = rows.schema_ref().fields().iter().zip(&columns);
    // The values of a dictionary may be null where its keys are not.
    let fields = fields.map(|(field, column)| {
        let nullable = field.is_nullable() || matches!(field.data_type(), DataType::Dictionary(..));
        let field = field.as_ref().clone().with_nullable(nullable);
        field.with_data_type(column.data_type().clone())
    });
    let fields: Vec<Field> = fields.collect();
    batch_of(Arc::new(Schema::new(fields)), columns, rows.num_rows())
}

/// Returns whether [`owned`] rows, once these are picked, hold nothing from others, whatever their
/// type is.
pub fn can_own(data_type: &DataType) -> bool {
    use DataType::*;
    match data_type {
        ListView(_) | LargeListView(_) => false,
        Union(..) => !may_share(data_type),
        Dictionary(_, values) => can_own(values),
        List(items) | LargeList(items) | FixedSizeList(items, _) | Map(items, _) => {
            can_own(items.data_type())
        }
        Struct(fields) => fields.iter().all(|field| can_own(field.data_type())),
        RunEndEncoded(_, values) => can_own(values.data_type()),
        _ => true,
    }
}

fn own(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match array.data_type() {
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            own(&take(dictionary.values(), dictionary.keys(), None)?)
        }
        DataType::Utf8View | DataType::BinaryView => Ok(without_shared_texts(array)),
        nested if may_share(nested) => {
            let data = array.to_data();
            let children = data.child_data().iter();
            let children = children.map(|child| own(&make_array(child.clone())));
            let children: Vec<ArrayRef> = children.collect::<Result<_, _>>()?;
            let data_type = of_children(nested, &children);
            let children = children.iter().map(|child| child.to_data()).collect();
            let builder = data.into_builder().data_type(data_type);
            Ok(make_array(builder.child_data(children).build()?))
        }
        _ => Ok(array.clone()),
    }
}

/// Returns the type of an array with these children.
fn of_children(data_type: &DataType, children: &[ArrayRef]) -> DataType {
    use DataType::*;
    let of = |field: &FieldRef, child: &ArrayRef| -> FieldRef {
        let field = field.as_ref().clone();
        Arc::new(field.with_data_type(child.data_type().clone()))
    };
    match data_type {
        List(items) => List(of(items, &children[0])),
        LargeList(items) => LargeList(of(items, &children[0])),
        ListView(items) => ListView(of(items, &children[0])),
        LargeListView(items) => LargeListView(of(items, &children[0])),
        FixedSizeList(items, length) => FixedSizeList(of(items, &children[0]), *length),
        Map(entries, is_sorted) => Map(of(entries, &children[0]), *is_sorted),
        Struct(fields) => {
            let fields = fields.iter().zip(children);
            Struct(fields.map(|(field, child)| of(field, child)).collect())
        }
        RunEndEncoded(ends, values) => RunEndEncoded(ends.clone(), of(values, &children[1])),
        other => other.clone(),
    }
}

/// Returns whether arrays of this type may share what is not in their rows, once these are picked.
pub fn may_share(data_type: &DataType) -> bool {
    use DataType::*;
    match data_type {
        Dictionary(..) | Utf8View | BinaryView | ListView(_) | LargeListView(_) => true,
        List(items) | LargeList(items) | FixedSizeList(items, _) | Map(items, _) => {
            may_share(items.data_type())
        }
        Struct(fields) => fields.iter().any(|field| may_share(field.data_type())),
        Union(fields, _) => fields.iter().any(|(_, field)| may_share(field.data_type())),
        RunEndEncoded(_, values) => may_share(values.data_type()),
        _ => false,
    }
}

/// Returns the column; if it holds views, with a copy of their texts only.
pub fn without_shared_texts(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::Utf8View => Arc::new(array.as_byte_view::<StringViewType>().gc()),
        DataType::BinaryView => Arc::new(array.as_byte_view::<BinaryViewType>().gc()),
        _ => array.clone(),
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{
        DictionaryArray, FixedSizeListArray, Int32Array, LargeListArray, ListArray, ListViewArray,
        MapArray, RunArray, StringViewArray, StructArray, types::Int32Type,
    };
    use arrow_buffer::OffsetBuffer;
    use arrow_select::interleave::interleave_record_batch;

    use super::*;

    const ROWS: usize = 1000;

    /// Returns a column of each type that may share what it holds.
    fn columns() -> Vec<ArrayRef> {
        let texts: Vec<String> = (0..ROWS).map(|row| format!("{row:0200}")).collect();
        let words: DictionaryArray<Int32Type> = texts.iter().map(String::as_str).collect();
        let views = StringViewArray::from_iter_values(&texts);
        let inner: [ArrayRef; 2] = [Arc::new(words), Arc::new(views)];
        let mut columns = inner.to_vec();
        for inner in inner {
            let item = Arc::new(Field::new_list_field(inner.data_type().clone(), true));
            let value = Arc::new(Field::new("value", inner.data_type().clone(), true));
            let ends = OffsetBuffer::from_lengths(vec![1; ROWS]);
            let long_ends = OffsetBuffer::from_lengths(vec![1; ROWS]);
            let key = Arc::new(Field::new("key", inner.data_type().clone(), false));
            let pairs = StructArray::from(vec![(key, inner.clone()), (value, inner.clone())]);
            let entries = Arc::new(Field::new("entries", pairs.data_type().clone(), false));
            let starts = (0..ROWS as i32).collect();
            let run_ends = Int32Array::from_iter_values(1..=ROWS as i32);
            let sizes = vec![1; ROWS].into();
            let new = inner.clone();
            columns.extend([
                Arc::new(ListArray::new(
                    item.clone(),
                    ends.clone(),
                    new.clone(),
                    None,
                )) as ArrayRef,
                Arc::new(LargeListArray::new(
                    item.clone(),
                    long_ends,
                    new.clone(),
                    None,
                )),
                Arc::new(FixedSizeListArray::new(item.clone(), 1, new.clone(), None)),
                Arc::new(ListViewArray::new(item, starts, sizes, new.clone(), None)),
                Arc::new(RunArray::<Int32Type>::try_new(&run_ends, &new).unwrap()),
                Arc::new(pairs.clone()),
                Arc::new(MapArray::new(entries, ends, pairs, None, false)),
            ]);
        }
        columns
    }

    /// Returns whether anything in a column is a dictionary.
    fn has_dictionary(data_type: &DataType) -> bool {
        format!("{data_type:?}").contains("Dictionary")
    }

    #[test]
    fn few_rows_hold_little_and_no_dictionaries() {
        for column in columns() {
            let all = RecordBatch::try_from_iter([("column", column)]).unwrap();
            let three = [(0, 700), (0, 3), (0, 4)];
            let shared = interleave_record_batch(&[&all], &three).unwrap();
            let few = owned(&shared).unwrap();
            let (column, data_type) = (few.column(0), few.schema().field(0).data_type().clone());
            assert!(!has_dictionary(&data_type), "{data_type}");
            let bytes = column.get_buffer_memory_size();
            assert!((600..6_000).contains(&bytes), "{bytes} in {data_type}");
            // The order of both steps does not matter.
            let before = interleave_record_batch(&[&owned(&all).unwrap()], &three).unwrap();
            assert_eq!(owned(&before).unwrap(), few);
            assert_eq!(owned(&few).unwrap(), few);
            let is_view = matches!(data_type, DataType::ListView(_));
            assert_eq!(can_own(&data_type), !is_view, "{data_type}");
        }
    }
}
