//! Labels, by which keys are grouped: the values of a column, each distinct one once, or a list
//! that is given.
//!
//! While a table is read, a label is known by the order in which labels come. Once all are there,
//! each has its place in the sorted list. A key has the label of its rows, which must be one. If a
//! list is given, all values that are not on it have one label, [`OTHER`].

use std::collections::{BTreeSet, HashMap};

/// The most labels of a column that are kept.
pub const MAX_LABELS: usize = 256;

/// The label of all values that are not on a list that is given.
pub const OTHER: &str = "other";

/// The most columns of labels.
pub(crate) const MAX_LABEL_COLUMNS: usize = 2;

/// Further labels are counted up to this number of all.
const MAX_COUNTED: usize = 1 << 16;

/// Bits of the number of a label, in the order in which labels come.
const ID_BITS: u32 = 16;

/// A column of labels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelColumn {
    /// Its name.
    pub name: String,
    /// The list of its labels, if one is given: at most 254 texts that are not empty, each once,
    /// and none of them [`OTHER`]. That and null are labels as well.
    pub listed: Option<Vec<String>>,
}

/// The labels of a column, of rows with a key, or those of the list that is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Labels {
    /// Their number: one at least, as a table without keys has the label of a null. From
    /// [`MORE`](Self::MORE) on they are not counted.
    pub count: u64,
    /// The labels in ascending order of their bytes; `None` stands at the end for null, which is
    /// what an empty text is, too, and before it the [`OTHER`] of a list. Nothing if there are more
    /// than [`MAX_LABELS`].
    pub texts: Vec<Option<String>>,
    /// The [hashes](hash_of) of all that are counted, if they are too many to be kept.
    pub(crate) hashes: BTreeSet<u64>,
}

impl Labels {
    /// Stands for more labels than are counted.
    pub const MORE: u64 = MAX_COUNTED as u64 + 1;
}

/// Returns a hash of a label, by which all processes know it: null is an empty text. It is not 0,
/// which stands for a label that is not kept.
pub(crate) fn hash_of(label: &str) -> u64 {
    let mut hasher = blake3::Hasher::new_derive_key("psijoin 2026 label of a key");
    let hash = hasher.update(label.as_bytes()).finalize();
    let first = hash.as_bytes().first_chunk().expect("32 bytes");
    u64::from_le_bytes(*first).max(1)
}

/// The labels of a column so far.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    ids: HashMap<String, u32>,
    /// The number of [`OTHER`], if a list is given: then nothing comes to it.
    other: Option<u32>,
    /// Hashes of labels beyond those that are kept.
    further: BTreeSet<u64>,
}

impl Dictionary {
    fn of(column: &LabelColumn) -> Self {
        let mut dictionary = Self::default();
        if let Some(listed) = &column.listed {
            for text in listed {
                dictionary.learn(text);
            }
            let other = dictionary.learn(OTHER);
            dictionary.learn("");
            dictionary.other = Some(other);
        }
        dictionary
    }

    /// Returns the number of a label, which is [`MAX_LABELS`] if it is beyond those that are kept.
    fn learn(&mut self, text: &str) -> u32 {
        if let Some(id) = self.ids.get(text).or(self.other.as_ref()) {
            return *id;
        }
        let id = self.ids.len() as u32;
        if self.ids.len() < MAX_LABELS {
            self.ids.insert(text.to_owned(), id);
        } else if self.further.len() <= MAX_COUNTED - MAX_LABELS {
            self.further.insert(hash_of(text));
        }
        id
    }

    /// Returns the labels, and the place of each in them.
    fn sorted(&self) -> (Labels, Vec<i64>) {
        let mut texts: Vec<&String> = self.ids.keys().collect();
        let is_other = |text: &str| self.other.is_some() && text == OTHER;
        texts.sort_by_key(|text| (text.is_empty(), is_other(text), *text));
        let mut ranks = vec![0; texts.len()];
        for (rank, text) in (0..).zip(&texts) {
            ranks[self.ids[*text] as usize] = rank;
        }
        let label = |text: &String| (!text.is_empty()).then(|| text.clone());
        let texts = match &texts[..] {
            [] => vec![None],
            _ if !self.further.is_empty() => Vec::new(),
            texts => texts.iter().map(|text| label(text)).collect(),
        };
        let count = (self.ids.len() + self.further.len()).max(1) as u64;
        let hashes = match self.further.is_empty() {
            true => BTreeSet::new(),
            false => (self.ids.keys().map(|text| hash_of(text)))
                .chain(self.further.iter().copied())
                .collect(),
        };
        let labels = Labels {
            count,
            texts,
            hashes,
        };
        (labels, ranks)
    }
}

/// The labels of rows with a key in a column, in a stretch of a table.
#[derive(Debug, Default)]
pub(crate) struct LabelCells {
    ids: HashMap<String, u32>,
    /// In the order in which they came.
    texts: Vec<String>,
    /// Of each row.
    cells: Vec<u32>,
}

impl LabelCells {
    /// Adds the label of the next row.
    pub(crate) fn add(&mut self, text: &str) {
        let id = match self.ids.get(text) {
            Some(id) => *id,
            None => {
                let id = self.texts.len() as u32;
                self.ids.insert(text.to_owned(), id);
                self.texts.push(text.to_owned());
                id
            }
        };
        self.cells.push(id);
    }
}

/// The dictionaries of all columns of labels of a table: none, one, or two.
#[derive(Debug)]
pub(crate) struct Dictionaries(Vec<Dictionary>);

impl Dictionaries {
    pub(crate) fn new(columns: &[LabelColumn]) -> Self {
        Self(columns.iter().map(Dictionary::of).collect())
    }

    /// Learns the labels of a stretch, and returns those of each row as one number; nothing if
    /// there are no columns.
    pub(crate) fn learn(&mut self, columns: &[LabelCells]) -> Vec<u32> {
        let mut rows = vec![0; columns.first().map_or(0, |column| column.cells.len())];
        for ((place, dictionary), column) in (0..).zip(&mut self.0).zip(columns) {
            let texts = column.texts.iter();
            let ids: Vec<u32> = texts.map(|text| dictionary.learn(text)).collect();
            for (row, cell) in rows.iter_mut().zip(&column.cells) {
                *row |= ids[*cell as usize] << (place * ID_BITS);
            }
        }
        rows
    }

    /// Returns the labels of each column, and what finds them.
    pub(crate) fn finish(&self) -> (Vec<Labels>, Option<Ranks>) {
        let (labels, ranks): (Vec<_>, Vec<_>) = self.0.iter().map(Dictionary::sorted).unzip();
        let ranks = (!ranks.is_empty()).then_some(Ranks(ranks));
        (labels, ranks)
    }
}

/// The place of each label in the sorted lists of all columns.
#[derive(Debug, Clone)]
pub(crate) struct Ranks(Vec<Vec<i64>>);

impl Ranks {
    /// Returns the place of a row's labels among all combinations, those of the last column side by
    /// side. Labels that are not kept have none, and are never asked for.
    pub(crate) fn of(&self, row: u32) -> i64 {
        (0..).zip(&self.0).fold(0, |place, (column, ranks)| {
            let rank = ranks.get(id(row, column)).copied().unwrap_or_default();
            place * ranks.len() as i64 + rank
        })
    }

    /// Returns the first column in which the labels of two rows differ.
    pub(crate) fn first_difference(&self, one: u32, other: u32) -> Option<usize> {
        (0..self.0.len()).find(|column| id(one, *column as u32) != id(other, *column as u32))
    }
}

fn id(row: u32, column: u32) -> usize {
    (row >> (column * ID_BITS) & ((1 << ID_BITS) - 1)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(texts: &[&str]) -> LabelCells {
        let mut cells = LabelCells::default();
        texts.iter().for_each(|text| cells.add(text));
        cells
    }

    /// Returns a dictionary for each of these columns, of which some have a list.
    fn dictionaries(columns: &[Option<&[&str]>]) -> Dictionaries {
        let column = |listed: &Option<&[&str]>| LabelColumn {
            name: "l".to_owned(),
            listed: listed.map(|texts| texts.iter().map(|&text| text.to_owned()).collect()),
        };
        Dictionaries::new(&columns.iter().map(column).collect::<Vec<_>>())
    }

    #[test]
    fn labels_of_two_columns_are_one_number_in_their_sorted_order() {
        let mut dictionaries = dictionaries(&[None, None]);
        let mut rows = dictionaries.learn(&[cells(&["b", "a", "b"]), cells(&["y", "", "x"])]);
        rows.extend(dictionaries.learn(&[cells(&["", "c"]), cells(&["x", "x"])]));
        let (labels, ranks) = dictionaries.finish();
        let texts = |column: usize| {
            let texts = labels[column].texts.iter();
            texts.map(|text| text.as_deref()).collect::<Vec<_>>()
        };
        assert_eq!(texts(0), [Some("a"), Some("b"), Some("c"), None]);
        assert_eq!(texts(1), [Some("x"), Some("y"), None]);
        let ranks = ranks.unwrap();
        let places: Vec<_> = rows.iter().map(|row| ranks.of(*row)).collect();
        assert_eq!(places, [3 + 1, 2, 3, 9, 6]);
        assert_eq!(ranks.first_difference(rows[0], rows[2]), Some(1));
        assert_eq!(ranks.first_difference(rows[0], rows[1]), Some(0));
        assert_eq!(ranks.first_difference(rows[3], rows[3]), None);
    }

    /// Whatever comes, and however much, the labels are those of the list.
    #[test]
    fn values_that_are_not_on_a_list_have_one_label() {
        let mut dictionaries = dictionaries(&[Some(&["z", "b", "unseen"]), None]);
        let cells = [
            cells(&["x", "b", "other", "", "y", "z"]),
            cells(&["1", "2", "1", "2", "1", "2"]),
        ];
        let rows = dictionaries.learn(&cells);
        let (labels, ranks) = dictionaries.finish();
        let texts: Vec<_> = labels[0].texts.iter().map(|text| text.as_deref()).collect();
        let expected = [Some("b"), Some("unseen"), Some("z"), Some(OTHER), None];
        assert_eq!((&texts[..], labels[0].count), (&expected[..], 5));
        let ranks = ranks.unwrap();
        let places: Vec<_> = rows.iter().map(|row| ranks.of(*row)).collect();
        assert_eq!(places, [6, 1, 6, 9, 6, 5]);
        assert_eq!(ranks.first_difference(rows[0], rows[4]), None);
    }

    #[test]
    fn too_many_labels_are_counted_and_not_kept() {
        let count = |labels: usize| {
            let mut dictionaries = dictionaries(&[None]);
            let texts: Vec<_> = (0..labels).map(|label| label.to_string()).collect();
            let texts: Vec<_> = texts.iter().map(String::as_str).collect();
            for _ in 0..2 {
                dictionaries.learn(&[cells(&texts)]);
            }
            dictionaries.finish().0.remove(0)
        };
        assert_eq!((count(256).count, count(256).texts.len()), (256, 256));
        assert_eq!((count(257).count, count(257).texts.len()), (257, 0));
        assert_eq!(count(MAX_COUNTED).count, MAX_COUNTED as u64);
        assert_eq!(count(MAX_COUNTED + 9).count, Labels::MORE);
        let none = count(0);
        assert_eq!((none.count, none.texts), (1, vec![None]));
    }
}
