//! Texts that a spreadsheet [takes for no formula](crate::read::formula).

use std::borrow::Cow;

use super::{Record, Records, Text};
use crate::{
    Error,
    read::formula::{defused, may_hold_formula},
    source::dialect::{Delimited, Layout},
};

impl Delimited {
    /// As [`written`](Self::written), without formulas.
    pub(crate) fn written_without_formulas(self, field: Option<&str>) -> Option<String> {
        match field.and_then(defused) {
            None => self.written(field),
            Some(defused) => self.written_in_quotes(&defused),
        }
    }
}

impl<'a> Record<'a> {
    /// Returns the record as it stands in the text, which is of this dialect, but without formulas.
    /// Fields that are none keep their bytes. `None` if a field cannot stand there.
    pub(crate) fn without_formulas(&self, dialect: Delimited) -> Option<Cow<'a, str>> {
        let raw = self.raw();
        if !may_hold_formula(raw.trim_end_matches(['\r', '\n'])) {
            return Some(raw.into());
        }
        let (mut written, mut copied) = (String::new(), 0);
        for index in 0..self.len() {
            let Some(defused) = defused(&self.field(index)) else {
                continue;
            };
            let place = self.place(index);
            written.push_str(&raw[copied..place.start]);
            written.push_str(&dialect.written_in_quotes(&defused)?);
            copied = place.end;
        }
        if copied == 0 {
            return Some(raw.into());
        }
        written.push_str(&raw[copied..]);
        let is_comment = dialect.comment.is_some() && written.bytes().next() == dialect.comment;
        (!is_comment).then(|| written.into())
    }
}

impl Text<'_> {
    /// Returns the record that names the columns, as [`raw_header`](Self::raw_header), but without
    /// formulas. `None` if a field cannot stand there.
    ///
    /// # Errors
    /// If it is no record.
    pub(crate) fn header_without_formulas(
        &self,
        dialect: Delimited,
    ) -> Result<Option<String>, Error> {
        let (raw, layout) = (self.raw_header(), Layout::Delimited(dialect));
        let buffer = vec![0; raw.len().max(1)];
        let mut records =
            Records::new(raw.as_bytes(), self.name(), layout, self.encoding(), buffer);
        let Some(header) = records.next()? else {
            return Ok(Some(String::new()));
        };
        Ok(header.without_formulas(dialect).map(Cow::into_owned))
    }
}
