//! Columns whose values are in the names of folders, as Hive writes them: `day=2024-02-03/`.

use std::path::{Component, Path};

use percent_encoding::percent_decode_str;

use crate::{Error, SourceError};

/// Stands for a null where folders have names.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// A partition column, and its value in a file; `None` is a null.
pub(super) type Partition = (String, Option<String>);

/// Returns the values in the names of the folders between `root` and `file`, from the outermost on.
/// A folder whose name has no `=` has none.
///
/// # Errors
/// If a name is not UTF-8 once its percent signs are decoded.
pub(super) fn partitions(root: &Path, file: &Path) -> Result<Vec<Partition>, Error> {
    let below = file.strip_prefix(root).unwrap_or(file);
    let folders = below.parent().unwrap_or(Path::new("")).components();
    let undecoded = || {
        Error::Source(SourceError::PartitionName {
            file: psijoin_printable::path(file),
        })
    };
    let mut found = Vec::new();
    for folder in folders {
        let Component::Normal(name) = folder else {
            continue;
        };
        let name = name.to_str().ok_or_else(undecoded)?;
        if let Some((column, value)) = name.split_once('=') {
            let value = match value {
                NULL => None,
                value => Some(decoded(value).ok_or_else(undecoded)?),
            };
            found.push((decoded(column).ok_or_else(undecoded)?, value));
        }
    }
    Ok(found)
}

fn decoded(text: &str) -> Option<String> {
    let decoded = percent_decode_str(text).decode_utf8().ok()?;
    Some(decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(file: &str) -> Vec<(String, Option<String>)> {
        partitions(Path::new("root/a=0"), Path::new(file)).unwrap()
    }

    fn column(name: &str, value: Option<&str>) -> Partition {
        (name.to_owned(), value.map(str::to_owned))
    }

    #[test]
    fn folders_below_the_root_name_columns_and_values() {
        assert_eq!(found("root/a=0/x.parquet"), []);
        assert_eq!(found("root/a=0/plain/b=1.parquet"), []);
        assert_eq!(
            found("root/a=0/day=2024-02-03/b%3D%25=x%20y=%2Fz/x.parquet"),
            [
                column("day", Some("2024-02-03")),
                column("b=%", Some("x y=/z")),
            ]
        );
        assert_eq!(
            found("root/a=0/day=/c=__HIVE_DEFAULT_PARTITION__/x.parquet"),
            [column("day", Some("")), column("c", None)]
        );
        // By Hive's rule, a sign that begins no code means itself.
        assert_eq!(found("root/a=0/c=5%/x"), [column("c", Some("5%"))]);
    }

    #[test]
    fn what_is_not_utf_8_is_refused() {
        let file = Path::new("root/day=%ff/x.parquet");
        assert!(matches!(
            partitions(Path::new("root"), file),
            Err(Error::Source(SourceError::PartitionName { .. }))
        ));
    }
}
