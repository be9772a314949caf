//! Texts that a spreadsheet [takes for no formula](super::formula).

use std::borrow::Cow;

use psijoin_source::text::{Delimited, Record, Text};

use super::formula::{defused, may_hold_formula};
use crate::Error;

/// As [`Delimited::written`], without formulas.
pub(super) fn field_without_formulas(dialect: Delimited, field: Option<&str>) -> Option<String> {
    match field.and_then(defused) {
        None => dialect.written(field),
        Some(defused) => dialect.written_in_quotes(&defused),
    }
}

/// Returns a record as it stands in its text, which is of this dialect, but without formulas.
/// Fields that are none keep their bytes. `None` if a field cannot stand there.
pub(super) fn record_without_formulas<'a>(
    record: &Record<'a>,
    dialect: Delimited,
) -> Option<Cow<'a, str>> {
    let raw = record.raw();
    if !may_hold_formula(raw.trim_end_matches(['\r', '\n'])) {
        return Some(raw.into());
    }
    let (mut written, mut copied) = (String::new(), 0);
    for index in 0..record.len() {
        let Some(defused) = defused(&record.field(index)) else {
            continue;
        };
        let place = record.place(index);
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

/// Returns the record that names the columns of a text of this dialect, without formulas. `None` if
/// a field cannot stand there.
///
/// # Errors
/// If it is no record.
pub(super) fn header_without_formulas(
    text: &Text<'_>,
    dialect: Delimited,
) -> Result<Option<String>, Error> {
    let mut header = Some(String::new());
    text.read_header(&mut |record| {
        header = record_without_formulas(record, dialect).map(Cow::into_owned);
    })?;
    Ok(header)
}
