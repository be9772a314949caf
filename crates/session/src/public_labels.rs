//! Lists of labels that both parties have, so that nobody has to say those of its table.

use std::{collections::BTreeSet, fmt, path::Path};

use psijoin::{Groups, spill::Spill};
use psijoin_printable::humanize;
use psijoin_source::{Dialect, Format, MAX_LABEL_BYTES, Progress, Source, check_labels};
use psijoin_table::{Beside, KeySpec, LabelColumn, OTHER, TableKeys};

use crate::{
    Error,
    fault::LabelListFault,
    labels::{LabelList, to_bytes},
};

/// The labels of the values that are not on a list, and of null.
const FURTHER: usize = 2;

/// A list of the labels of a column, the same on both sides. A value that is not on it has the
/// label [`OTHER`], and null is a label, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicLabels(Vec<String>);

impl PublicLabels {
    /// The most labels of a list.
    pub const MAX: usize = Groups::MAX - FURTHER;

    /// Returns the list of these labels, in any order. One that is there twice counts once, and an
    /// empty one is null.
    ///
    /// # Errors
    /// If there are none or too many, one is too long, or it is [`OTHER`].
    pub fn new(labels: impl IntoIterator<Item = String>) -> Result<Self, LabelListFault> {
        let labels = labels.into_iter().filter(|label| !label.is_empty());
        let labels: BTreeSet<String> = labels.collect();
        if labels.is_empty() {
            return Err(LabelListFault::Empty);
        }
        if labels.len() > Self::MAX {
            return Err(LabelListFault::TooMany(labels.len() as u64));
        }
        if labels.contains(OTHER) {
            return Err(LabelListFault::Other);
        }
        match labels.iter().any(|label| label.len() > MAX_LABEL_BYTES) {
            true => Err(LabelListFault::TooLong),
            false => Ok(Self(labels.into_iter().collect())),
        }
    }

    /// Reads a list from a table of one column: a file with one label in each line, or a CSV, TSV,
    /// Parquet or Arrow file, by the ending of its name. Values are spelled as those of a column of
    /// labels.
    ///
    /// # Errors
    /// If the file cannot be read, or is no such list.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let unfit = |fault| Error::LabelList {
            file: path.to_owned(),
            fault,
        };
        let (dialect, progress) = (Dialect::default(), Progress::default());
        let format = Format::of_ending(path).unwrap_or(Format::Lines);
        let source = Source::open(path, Some(format), &dialect, false, &progress)?;
        let columns = source.columns()?;
        let [name] = &columns[..] else {
            return Err(unfit(LabelListFault::Columns(columns.len())));
        };
        check_labels(&source, &columns)?;
        let column = LabelColumn {
            name: name.clone(),
            listed: None,
        };
        let beside = Beside {
            numbers: &[],
            labels: &[column],
        };
        let (only_column, spill) = (KeySpec::default(), Spill::in_memory());
        let keys = TableKeys::read_beside(&source, &only_column, beside, &spill, &progress)?;
        let found = &keys.labels()[0];
        // Too many are counted and not kept.
        match found.texts.is_empty() {
            true => Err(unfit(LabelListFault::TooMany(found.count))),
            false => Self::new(found.texts.iter().flatten().cloned()).map_err(unfit),
        }
    }

    /// Returns the labels on the list.
    pub fn listed(&self) -> &[String] {
        &self.0
    }

    /// Returns all labels of the column: those on the list in ascending order, [`OTHER`], and null.
    pub fn labels(&self) -> LabelList {
        let further = [Some(OTHER.to_owned()), None];
        self.0.iter().cloned().map(Some).chain(further).collect()
    }
}

/// A text by which two lists are told apart.
impl fmt::Display for PublicLabels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut hasher = blake3::Hasher::new_derive_key("psijoin 2026 list of labels of groups");
        let digest = hasher.update(&to_bytes(&self.labels())).finalize();
        let labels = humanize::counted(self.0.len() as u64, "label");
        write!(f, "{labels} (BLAKE3 {})", digest.to_hex())
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, sync::Arc};

    use arrow_array::{ArrayRef, Date32Array, RecordBatch};
    use psijoin_table::Existing;

    use super::*;
    use crate::ErrorKind;

    fn list(labels: &[&str]) -> Result<PublicLabels, LabelListFault> {
        PublicLabels::new(labels.iter().map(|&label| label.to_owned()))
    }

    #[test]
    fn neither_order_nor_repetition_makes_another_list() {
        let one = list(&["b", "a", "ü"]).unwrap();
        assert_eq!(one, list(&["ü", "a", "", "b", "a"]).unwrap());
        let labels: Vec<_> = one
            .labels()
            .into_iter()
            .map(Option::unwrap_or_default)
            .collect();
        assert_eq!(labels, ["a", "b", "ü", "other", ""]);
        for other in [&["a", "b"][..], &["ab", "ü"], &["a", "b", "u"]] {
            assert_ne!(one.to_string(), list(other).unwrap().to_string());
        }
    }

    #[test]
    fn what_is_no_list_is_refused() {
        let labels = |count: usize| {
            let labels = (0..count).map(|label| label.to_string());
            PublicLabels::new(labels).map(|list| list.labels().len())
        };
        assert_eq!(labels(254), Ok(Groups::MAX));
        assert_eq!(labels(255), Err(LabelListFault::TooMany(255)));
        assert_eq!(list(&[]), Err(LabelListFault::Empty));
        assert_eq!(list(&["a", "other"]), Err(LabelListFault::Other));
        let long = "x".repeat(MAX_LABEL_BYTES);
        assert!(list(&[&long]).is_ok());
        assert_eq!(list(&[&format!("{long}x")]), Err(LabelListFault::TooLong));
    }

    /// Returns a table of one column of dates as a file of this name.
    fn dates(path: &Path) {
        let days: ArrayRef = Arc::new(Date32Array::from(vec![Some(1), None, Some(0), Some(1)]));
        let batch = RecordBatch::try_from_iter([("day", days)]).unwrap();
        let source = Source::of_batches("days", batch.schema(), vec![batch]).unwrap();
        let destination = psijoin_table::Destination::prepare(Some(path), &source, Existing::Keep);
        let staged = destination
            .unwrap()
            .stage_all(&source, 4, &Progress::default());
        staged.unwrap().commit().unwrap();
    }

    #[test]
    fn a_file_is_read_in_the_format_of_its_ending() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let read = |path: &Path| PublicLabels::read(path).unwrap();
        let lines = list(&["a, \"b\"", "c"]).unwrap();
        for name in ["list", "list.txt", "list.names"] {
            assert_eq!(read(&file(name, "c\r\na, \"b\"\n\nc\n")), lines, "{name}");
        }
        let csv = file("list.csv", "segment\n\"a, \"\"b\"\"\"\nc\n");
        assert_eq!(read(&csv), lines);
        let parquet = folder.path().join("days.parquet");
        dates(&parquet);
        assert_eq!(read(&parquet), list(&["1970-01-01", "1970-01-02"]).unwrap());
    }

    #[test]
    fn a_file_that_is_no_list_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let many: String = (0..300).map(|label| format!("{label}\n")).collect();
        for (name, text, said) in [
            ("many.txt", &*many, "300 labels"),
            ("none.txt", "\n", "no labels"),
            ("other.txt", "a\nother\n", "`other`"),
            ("wide.csv", "a,b\n1,2\n", "2 columns"),
        ] {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            let failure = PublicLabels::read(&path).unwrap_err();
            let text = failure.to_string();
            assert!(text.contains(name) && text.contains(said), "{text}");
            assert_eq!(failure.kind(), ErrorKind::Usage);
        }
        let missing = PublicLabels::read(&folder.path().join("missing.txt"));
        assert!(missing.unwrap_err().to_string().contains("missing.txt"));
    }
}
