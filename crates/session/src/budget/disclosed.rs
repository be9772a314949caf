//! The groups of an answer, as far as the sender alone knows them, and how they differ from those
//! of earlier answers.

use std::collections::BTreeMap;

use psijoin_block::Block;
use zeroize::Zeroizing;

use super::sketch::Sketch;

/// The sets of the sender's own keys that an answer is about: those with each of its labels, and
/// all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disclosed {
    /// Tells under which secret elements were made; others cannot be compared.
    pub(super) secret: String,
    pub(super) groups: Vec<KeyGroup>,
}

/// A set of the sender's keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyGroup {
    /// How many they are.
    pub(super) keys: u64,
    /// The sketch of the keys.
    pub(super) sketch: Sketch,
    /// For each column of the sender's that is added up, that of the keys with their numbers.
    pub(super) columns: BTreeMap<String, Sketch>,
}

/// Returns by how many elements columns differ if so many numbers of the same keys do: the old ones
/// and the new ones.
pub(super) fn of_numbers(least: u32) -> u32 {
    2 * least
}

/// How two groups differ.
enum Difference {
    /// In nothing that both answers tell.
    Nothing,
    /// In some keys or numbers, and in fewer than the least.
    Few,
    /// In the least, or more.
    Enough,
}

impl Disclosed {
    /// Returns whether both were made under one secret.
    pub(super) fn is_comparable(&self, earlier: &Self) -> bool {
        self.secret == earlier.secret
    }

    /// Returns whether a group is not one of an earlier answer's, and differs from one of these in
    /// fewer keys, or numbers of keys, than the least.
    pub(super) fn is_too_like(&self, earlier: &Self) -> bool {
        self.groups.iter().any(|group| {
            let differences = earlier.groups.iter().map(|other| group.difference(other));
            let mut is_like_one = false;
            for difference in differences {
                match difference {
                    Difference::Nothing => return false,
                    Difference::Few => is_like_one = true,
                    Difference::Enough => {}
                }
            }
            is_like_one
        })
    }
}

impl KeyGroup {
    fn difference(&self, other: &Self) -> Difference {
        let least = self.sketch.least() as u32;
        // Without a look at the sketches, for most.
        if self.keys.abs_diff(other.keys) >= least.into() {
            return Difference::Enough;
        }
        match self.sketch.difference(&other.sketch) {
            0 => self.difference_of_columns(other),
            few if few < least => Difference::Few,
            _ => Difference::Enough,
        }
    }

    /// Compares the numbers of the same keys, of the columns that both answers add up.
    fn difference_of_columns(&self, other: &Self) -> Difference {
        let columns = self.columns.iter();
        let differences = columns.filter_map(|(name, sketch)| {
            let other = other.columns.get(name)?;
            Some(sketch.difference(other)).filter(|difference| *difference > 0)
        });
        match differences.min() {
            None => Difference::Nothing,
            Some(few) if few < of_numbers(self.sketch.least() as u32) => Difference::Few,
            Some(_) => Difference::Enough,
        }
    }

    fn new(least: u32, columns: &[(String, u32)]) -> Self {
        let column = |(name, _): &(String, u32)| (name.clone(), Sketch::new(of_numbers(least)));
        Self {
            keys: 0,
            sketch: Sketch::new(least),
            columns: columns.iter().map(column).collect(),
        }
    }

    fn add_all(&mut self, other: &Self) {
        self.keys += other.keys;
        self.sketch ^= &other.sketch;
        for (column, other) in self.columns.values_mut().zip(other.columns.values()) {
            *column ^= other;
        }
    }
}

/// Makes the groups of the sender's keys.
pub(crate) struct Grouper {
    secret: Zeroizing<[u8; 32]>,
    /// Sets that differ by fewer elements are told apart.
    least: u32,
    /// The sender's columns that are added up, with their decimals.
    columns: Vec<(String, u32)>,
}

/// Some of the keys of each label.
pub(crate) type Grouped = BTreeMap<i64, KeyGroup>;

impl Grouper {
    /// Nobody can tell elements from keys without this secret.
    pub(crate) fn new(
        secret: Zeroizing<[u8; 32]>,
        least: u32,
        columns: Vec<(String, u32)>,
    ) -> Self {
        Self {
            secret,
            least,
            columns,
        }
    }

    /// Returns the groups of these keys. Behind the numbers of each column may be a label.
    pub(crate) fn group(&self, fingerprints: &[[u8; 32]], numbers: &[Vec<i64>]) -> Grouped {
        let (numbers, labels) = numbers.split_at(self.columns.len());
        let mut groups = Grouped::new();
        for (at, fingerprint) in fingerprints.iter().enumerate() {
            let label = labels.first().map_or(0, |labels| labels[at]);
            let group = groups.entry(label);
            let group = group.or_insert_with(|| KeyGroup::new(self.least, &self.columns));
            group.keys += 1;
            group.sketch.add(self.element(&[fingerprint]));
            for ((name, scale), numbers) in self.columns.iter().zip(numbers) {
                let number = canonical(numbers[at], *scale);
                let element = self.element(&[fingerprint, &number]);
                let column = group.columns.get_mut(name).expect("each column has one");
                column.add(element);
            }
        }
        groups
    }

    fn element(&self, parts: &[&[u8]]) -> Block {
        let mut hasher = blake3::Hasher::new_keyed(&self.secret);
        parts.iter().for_each(|part| {
            hasher.update(part);
        });
        let mut element = [0; 16];
        hasher.finalize_xof().fill(&mut element);
        Block(u128::from_le_bytes(element))
    }

    /// Returns what an answer is about, from the groups of all of its keys.
    pub(crate) fn disclosed(&self, parts: impl IntoIterator<Item = Grouped>) -> Disclosed {
        let new = || KeyGroup::new(self.least, &self.columns);
        let mut groups = Grouped::new();
        for (label, group) in parts.into_iter().flatten() {
            groups.entry(label).or_insert_with(new).add_all(&group);
        }
        let mut all = new();
        groups.values().for_each(|group| all.add_all(group));
        let mut groups: Vec<KeyGroup> = groups.into_values().collect();
        // One that is all is there already.
        if groups.len() != 1 {
            groups.push(all);
        }
        let name = self.element(&[b"the name of the secret"]);
        Disclosed {
            secret: format!("{:032x}", name.0),
            groups,
        }
    }
}

/// Returns a number, whatever the decimals of its column.
fn canonical(mantissa: i64, scale: u32) -> [u8; 12] {
    let (mut mantissa, mut scale) = (mantissa, scale);
    while scale > 0 && mantissa % 10 == 0 {
        (mantissa, scale) = (mantissa / 10, scale - 1);
    }
    let mut bytes = [0; 12];
    bytes[..8].copy_from_slice(&mantissa.to_le_bytes());
    bytes[8..].copy_from_slice(&scale.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests;
