//! The fault in rows that the library could not read: its column, and a few words.
//!
//! The library's own words may hold values of the table, and do not name the column. So each column
//! is read once more, alone.

use parquet::{arrow::ProjectionMask, errors::ParquetError};

use super::stretch::Stretch;
use psijoin_key::panics;

use crate::ParquetFault;

/// Finds the first column of these rows that cannot be read.
pub(super) fn find(rows: &Stretch<'_>) -> ParquetFault {
    let schema = rows.metadata.parquet_schema();
    let leaves = (0..schema.num_columns()).filter(|&leaf| rows.mask.leaf_included(leaf));
    let mut columns: Vec<usize> = leaves
        .map(|leaf| schema.get_column_root_idx(leaf))
        .collect();
    columns.dedup();
    let damage = columns.into_iter().find_map(|column| {
        let alone = rows.with_mask(ProjectionMask::roots(schema, [column]));
        Some((column, damage(&alone)?))
    });
    match damage {
        Some((column, contradiction)) => ParquetFault::Contradiction {
            column: schema.root_schema().get_fields()[column].name().to_owned(),
            contradiction,
        },
        None => ParquetFault::Types,
    }
}

fn damage(rows: &Stretch<'_>) -> Option<&'static str> {
    let read = panics::contained(|| {
        let mut count = 0;
        for batch in rows.reader()? {
            count += batch?.num_rows() as u64;
        }
        Ok::<_, ParquetError>(count)
    });
    match read {
        Some(Ok(count)) if count == rows.count() => None,
        Some(Ok(_)) => Some("has pages with other rows than its row group"),
        Some(Err(error)) => Some(in_few_words(&error.to_string())),
        None => Some(UNDECODABLE),
    }
}

pub(super) const UNDECODABLE: &str = "has a page that cannot be decoded, as it is damaged";

/// Tells by the library's words what is wrong, as it gives no other sign of it.
fn in_few_words(said: &str) -> &'static str {
    let known = [
        ("non UTF-8", "holds texts that are not UTF-8"),
        ("non-nullable", "is said to hold no nulls, and holds some"),
        ("EOF", "has a page that ends before its values do"),
    ];
    let known = known.iter().find(|(word, _)| said.contains(word));
    known.map_or(UNDECODABLE, |(_, damage)| damage)
}
