//! The distinct keys of a table, and which row holds which.

mod inspector;
mod typed;

use std::{borrow::Cow, io::Read, iter};

use hashbrown::{HashTable, hash_table::Entry};

use crate::{
    Dialect, Doubt, Error, KeyFault, KeySpec, MAX_ITEMS, Numbers, Progress, Source,
    dialect::{Delimited, Layout},
    error::Place,
    key::Fingerprinter,
    meaning::{Kind, Meaning},
    numbers::Adder,
    source, text,
};

pub(crate) use inspector::Findings;
pub use inspector::InspectedColumn;
use inspector::Inspector;

/// Marks a row without a key among the rows' items.
const LEFT_OUT: u32 = u32::MAX;

/// The keys of a table: what a protocol needs from the table, and what is needed to find the
/// matching rows again.
///
/// Takes 32 bytes per distinct key, 8 more for each column of numbers, and 4 per row; while it is
/// being read, up to 32 more per distinct key. The vectors grow by doubling, so their peak can be twice that.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyTable {
    /// The distinct keys' fingerprints in the order of their first rows: BLAKE3 in key
    /// derivation mode over the normalised fields, each after its length.
    pub fingerprints: Vec<[u8; 32]>,
    /// Which row holds which key.
    pub rows: RowItems,
    /// The numbers of each column that was asked for, in that order.
    pub numbers: Vec<Numbers>,
    /// How many rows there are of each sort.
    pub counts: Counts,
    /// What the fields at each position of the key mean.
    pub meanings: Vec<Meaning>,
    /// What the keys, as they are read, suggest about how the table is written.
    pub doubts: Vec<Doubt>,
}

/// How many rows a table has of each sort.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// All rows, the header not among them.
    pub rows: u64,
    /// Rows left out as a field of their key is null or, once normalised, empty.
    pub left_out: u64,
    /// Rows whose key an earlier row has.
    pub duplicates: u64,
    /// Distinct keys: the items of the set. `rows = left_out + duplicates + distinct`.
    pub distinct: u64,
}

/// For each row of a table the index of its key's fingerprint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowItems {
    items: Vec<u32>,
    distinct: usize,
}

impl RowItems {
    /// The item of each row, in order; `None` for a row that was left out.
    pub fn iter(&self) -> impl Iterator<Item = Option<u32>> + '_ {
        self.items
            .iter()
            .map(|&item| (item != LEFT_OUT).then_some(item))
    }

    /// Whether each row matches, given which items do.
    pub(crate) fn matches<'a>(
        &'a self,
        matched: &'a [bool],
    ) -> impl Iterator<Item = bool> + use<'a> {
        assert_eq!(
            matched.len(),
            self.distinct,
            "one flag for each distinct key"
        );
        self.items
            .iter()
            .map(|&item| item != LEFT_OUT && matched[item as usize])
    }
}

impl KeyTable {
    /// Reads the keys of a table and, for each key, the numbers in these columns, and holds nothing
    /// else.
    ///
    /// # Errors
    /// If the table cannot be read, breaks its format, lacks a column, or has more than
    /// [`MAX_ITEMS`] distinct keys; if a cell of the key has no canonical text, or a rule cannot
    /// read it; if there is something else than numbers in a column of numbers, or their sum may
    /// be too large.
    pub fn read(
        source: &Source,
        key: &KeySpec,
        numbers: &[String],
        progress: &Progress,
    ) -> Result<Self, Error> {
        let wanted = Wanted {
            key,
            numbers,
            inspected: None,
        };
        let (keys, _) = read(source, &wanted, progress)?;
        Ok(keys)
    }

    /// Reads the keys and numbers of a CSV text from memory or a stream, for use without a file,
    /// as by a fuzzer. `name` stands for the file in errors.
    ///
    /// # Errors
    /// As [`KeyTable::read`], and if the dialect's delimiter is its quote.
    pub fn read_csv(
        input: impl Read,
        name: &str,
        dialect: &Dialect,
        key: &KeySpec,
        numbers: &[String],
    ) -> Result<Self, Error> {
        let layout = Layout::Delimited(dialect.over(Delimited::CSV)?);
        let progress = Progress::default();
        let cannot_read = |source| Error::Read {
            file: name.to_owned(),
            source,
        };
        let (encoding, input) = source::decoded(input, dialect, name, cannot_read)?;
        let text = text::Table::open(input, name, layout, encoding, &progress);
        let wanted = Wanted {
            key,
            numbers,
            inspected: None,
        };
        let (keys, _) = read_text(name, layout, iter::once(text), &wanted)?;
        Ok(keys)
    }
}

/// What is wanted of a table.
pub(crate) struct Wanted<'a> {
    pub(crate) key: &'a KeySpec,
    /// The columns of numbers.
    pub(crate) numbers: &'a [String],
    /// How many of the first keys are kept as they are compared, if the key is inspected.
    pub(crate) inspected: Option<usize>,
}

/// Reads what is wanted of a table. Without an inspection there are no findings.
pub(crate) fn read(
    source: &Source,
    wanted: &Wanted<'_>,
    progress: &Progress,
) -> Result<(KeyTable, Findings), Error> {
    progress.start(source.bytes());
    source.unchanged_by(|| match source.layout() {
        None => typed::read_typed(source, wanted, progress),
        Some(layout) => {
            let texts = source.texts(layout, progress);
            read_text(source.name(), layout, texts, wanted)
        }
    })
}

/// Reads the texts of a table of this name. There is at least one.
fn read_text<'a, R: Read>(
    name: &'a str,
    layout: Layout,
    mut texts: impl Iterator<Item = Result<text::Table<'a, R>, Error>>,
    wanted: &Wanted<'a>,
) -> Result<(KeyTable, Findings), Error> {
    let first = texts.next().expect("a table has a part")?;
    let header = first.header();
    let key_columns = wanted.key.resolve(&header)?;
    let number_columns = header.find_all(wanted.numbers)?;
    let key_names = header.names_of(&key_columns).into_iter();
    let key_texts = key_names.map(|name| (name, Kind::Text)).collect();
    let mut keys = Builder::new(name, wanted, key_texts);
    let (mut quoted, mut nulls) = (0, 0);
    for text in iter::once(Ok(first)).chain(texts) {
        let mut text = text?;
        keys.set_file(text.name());
        while let Some(record) = text.next_row()? {
            let place = Place::Line(record.line());
            for (position, &column) in key_columns.iter().enumerate() {
                let field = record.field(column);
                quoted += u64::from(layout.has_stray_quotes(&field));
                nulls += u64::from(layout.is_stray_null(&field));
                keys.key_field(position, Ok(field), place)?;
            }
            let Some(item) = keys.finish_row()? else {
                continue;
            };
            for (index, &column) in number_columns.iter().enumerate() {
                keys.add_number(index, item, &record.field(column), place)?;
            }
        }
    }
    if quoted > 0 {
        keys.doubt(Doubt::QuotedKeys(quoted));
    }
    if nulls > 0 {
        keys.doubt(Doubt::NullMarks(nulls));
    }
    Ok(keys.finish())
}

/// Builds a [`KeyTable`] row by row.
pub(crate) struct Builder<'a> {
    table: &'a str,
    /// The file that has the rows.
    file: &'a str,
    fingerprinter: Fingerprinter<'a>,
    /// The key's columns, for errors.
    key_names: Vec<String>,
    fingerprints: Vec<[u8; 32]>,
    index: HashTable<Indexed>,
    items: Vec<u32>,
    adders: Vec<Adder<'a>>,
    left_out: u64,
    doubts: Vec<Doubt>,
    inspector: Option<Inspector>,
}

impl<'a> Builder<'a> {
    /// The columns at each position of the key have these names and kinds.
    pub(crate) fn new(
        table: &'a str,
        wanted: &Wanted<'a>,
        key_columns: Vec<(String, Kind)>,
    ) -> Self {
        let (key_names, kinds): (Vec<String>, Vec<Kind>) = key_columns.into_iter().unzip();
        let fingerprinter = Fingerprinter::new(wanted.key, &kinds);
        let inspector = wanted
            .inspected
            .map(|most| Inspector::new(key_names.iter().zip(fingerprinter.rules()), most));
        let numbers = wanted.numbers.iter();
        Self {
            table,
            file: table,
            key_names,
            fingerprinter,
            fingerprints: Vec::new(),
            index: HashTable::new(),
            items: Vec::new(),
            adders: numbers.map(|column| Adder::new(column)).collect(),
            left_out: 0,
            doubts: Vec::new(),
            inspector,
        }
    }

    /// Says which file of the table has the rows that follow.
    pub(crate) fn set_file(&mut self, file: &'a str) {
        self.file = file;
    }

    /// Takes the field at this position of the key, of the row that [`Builder::finish_row`] ends.
    /// A null is the empty text.
    pub(crate) fn key_field(
        &mut self,
        position: usize,
        field: Result<Cow<'_, str>, KeyFault>,
        place: Place,
    ) -> Result<(), Error> {
        if let (Some(inspector), Ok(text)) = (&mut self.inspector, &field) {
            inspector.field(position, text);
        }
        field
            .and_then(|text| self.fingerprinter.field(position, text))
            .map_err(|fault| Error::Key {
                file: self.file.to_owned(),
                place,
                column: self.key_names[position].clone(),
                fault,
            })
    }

    /// Ends a row; gives its item, unless it is left out.
    pub(crate) fn finish_row(&mut self) -> Result<Option<u32>, Error> {
        let Some(fingerprint) = self.fingerprinter.finish_row() else {
            self.left_out += 1;
            self.items.push(LEFT_OUT);
            return Ok(None);
        };
        let known = self.fingerprints.len();
        let item = self.item(fingerprint)?;
        self.items.push(item);
        if let Some(inspector) = &mut self.inspector {
            inspector.finish_row(self.fingerprints.len() > known);
        }
        Ok(Some(item))
    }

    /// Adds the cell of a column of numbers to those of the item; each row must have one for each
    /// column.
    pub(crate) fn add_number(
        &mut self,
        column: usize,
        item: u32,
        cell: &str,
        place: Place,
    ) -> Result<(), Error> {
        self.adders[column].add(item, cell, self.file, place)
    }

    /// Notes what the user should know about the keys.
    pub(crate) fn doubt(&mut self, doubt: Doubt) {
        self.doubts.push(doubt);
    }

    fn item(&mut self, fingerprint: [u8; 32]) -> Result<u32, Error> {
        let fingerprints = &mut self.fingerprints;
        let tag = Indexed::tag_of(&fingerprint);
        let entry = self.index.entry(
            Indexed::hash(tag),
            |known| known.tag == tag && fingerprints[known.item as usize] == fingerprint,
            |known| Indexed::hash(known.tag),
        );
        match entry {
            Entry::Occupied(entry) => Ok(entry.get().item),
            Entry::Vacant(_) if fingerprints.len() == MAX_ITEMS => Err(Error::TooManyItems {
                file: self.table.to_owned(),
            }),
            Entry::Vacant(entry) => {
                let item = fingerprints.len() as u32;
                entry.insert(Indexed { tag, item });
                fingerprints.push(fingerprint);
                Ok(item)
            }
        }
    }

    pub(crate) fn finish(mut self) -> (KeyTable, Findings) {
        self.fingerprints.shrink_to_fit();
        self.items.shrink_to_fit();
        let (rows, distinct) = (self.items.len() as u64, self.fingerprints.len() as u64);
        let meanings = self.fingerprinter.meanings();
        let mixed = (1..)
            .zip(&meanings)
            .filter_map(|(position, meaning)| match meaning.kind() {
                Kind::MixedTimestamp => Some(Doubt::MixedTimestamps(position)),
                Kind::MixedPhone => Some(Doubt::MixedPhones(position)),
                _ => None,
            });
        let no_keys = !self.items.is_empty() && self.fingerprints.is_empty();
        let no_keys = no_keys.then_some(Doubt::NoKeys);
        let doubts = self
            .doubts
            .into_iter()
            .chain(mixed)
            .chain(no_keys)
            .collect();
        let keys = KeyTable {
            rows: RowItems {
                items: self.items,
                distinct: self.fingerprints.len(),
            },
            fingerprints: self.fingerprints,
            numbers: self.adders.into_iter().map(Adder::finish).collect(),
            counts: Counts {
                rows,
                left_out: self.left_out,
                duplicates: rows - self.left_out - distinct,
                distinct,
            },
            meanings,
            doubts,
        };
        let findings = self.inspector.map(Inspector::finish).unwrap_or_default();
        (keys, findings)
    }
}

/// An item in the index. The tag, a part of its fingerprint, saves most visits to the
/// fingerprints, each of which is a cache miss.
struct Indexed {
    tag: u32,
    item: u32,
}

impl Indexed {
    fn tag_of(fingerprint: &[u8; 32]) -> u32 {
        let (bytes, _) = fingerprint
            .split_first_chunk()
            .expect("32 bytes are more than 4");
        u32::from_le_bytes(*bytes)
    }

    /// Fingerprints are uniform: the tag is as good a hash as any. It stands in both halves, as
    /// the index uses the highest bits and the lowest.
    fn hash(tag: u32) -> u64 {
        u64::from(tag) << 32 | u64::from(tag)
    }
}
