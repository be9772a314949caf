//! The named values in a hello.

use std::fmt;

use psijoin_printable::is_all_printable;

use crate::Error;

/// The most settings, and the most facts, of a hello.
pub const MAX_ENTRIES: usize = 32;
const MAX_NAME_BYTES: usize = 40;
const MAX_VALUE_BYTES: usize = 200;

/// Settings or facts, with their number.
pub(super) const MAX_ENTRIES_BYTES: usize =
    1 + MAX_ENTRIES * (2 + MAX_NAME_BYTES + MAX_VALUE_BYTES);

/// Named values: settings or facts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Entries(Vec<(String, String)>);

impl Entries {
    pub(super) fn push(&mut self, name: impl Into<String>, value: impl fmt::Display) {
        self.0.push((name.into(), value.to_string()));
    }

    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// Adds one that a peer gave, if it may stand behind those before.
    pub(super) fn push_checked(&mut self, name: &str, value: &str) -> Result<(), &'static str> {
        check_entry(&self.0, name, value)?;
        self.push(name, value);
        Ok(())
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let entries = self.0.iter();
        entries.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Checks that they can be sent.
    pub(super) fn check(&self) -> Result<(), Error> {
        for (i, (name, value)) in self.0.iter().enumerate() {
            check_entry(&self.0[..i], name, value).map_err(|reason| Error::Setting {
                name: name.clone(),
                reason,
            })?;
        }
        Ok(())
    }

    /// Appends them, which were checked.
    pub(super) fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.push(self.0.len() as u8);
        for text in self.0.iter().flat_map(|(name, value)| [name, value]) {
            bytes.push(text.len() as u8);
            bytes.extend(text.as_bytes());
        }
    }
}

/// Returns what holds for each setting and fact, whichever side it comes from, given those before
/// it.
fn check_entry(before: &[(String, String)], name: &str, value: &str) -> Result<(), &'static str> {
    if before.len() == MAX_ENTRIES {
        return Err("there are more than 32 settings or facts");
    }
    if name.is_empty() || name.len() > MAX_NAME_BYTES {
        return Err("the name of a setting or fact is empty or longer than 40 bytes");
    }
    if value.len() > MAX_VALUE_BYTES {
        return Err("a setting or fact is longer than 200 bytes");
    }
    if !(is_all_printable(name) && is_all_printable(value)) {
        return Err("a setting or fact has unprintable characters");
    }
    if before.iter().any(|(earlier, _)| earlier == name) {
        return Err("a setting or fact is given twice");
    }
    Ok(())
}
