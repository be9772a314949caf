use std::sync::Arc;

use arrow_schema::{
    DataType, Field, Schema, SchemaRef,
    extension::{self, ExtensionType},
};
use psijoin_printable::{Word, is_all_printable};

use super::wire::{self, Reader};
use psijoin_source::{
    Source,
    typed::{is_universal_time, universal_time, unknown_meaning, value_type},
};

use crate::{Error, KeyError, ShareError};

/// The most columns that can be given.
pub const MAX_GIVEN_COLUMNS: usize = 256;

/// The longest name of such a column.
pub const MAX_GIVEN_NAME_BYTES: usize = 1024;

/// Columns that a party offers, or that the other one takes: their names in order, their types, and
/// whether nulls can be among their values. There is at least one, and no two have one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenColumns {
    schema: SchemaRef,
}

impl GivenColumns {
    /// Returns these columns of a table. Columns of CSV, TSV and lines are texts without nulls.
    ///
    /// # Errors
    /// If there are none, or too many; if the table lacks one, or one is named twice; if the type
    /// or the name of one cannot be given, or it cannot be read.
    pub fn of(source: &Source, names: &[String]) -> Result<Self, Error> {
        let all = source.columns()?;
        let found = source.header(&all).find_all(names)?;
        let table = source.layout().is_none().then(|| source.schema());
        let table = table.transpose()?;
        if let Some(table) = &table {
            source.check_readable(table, &found)?;
        }
        let fields = found.iter().map(|&column| match &table {
            None => Ok(Field::new(&all[column], DataType::Utf8, false)),
            Some(table) => given(table.field(column)),
        });
        Self::new(fields.collect::<Result<_, Error>>()?)
    }

    /// Returns those of these columns that are called so, in the order of the names.
    ///
    /// # Errors
    /// If a name is none of theirs, or is there twice, or there are no names.
    pub fn take(&self, names: &[String]) -> Result<Self, Error> {
        let fields = names.iter().map(|name| {
            let field = self.schema.field_with_name(name);
            field.cloned().map_err(|_| {
                Error::Share(ShareError::NotOffered {
                    column: name.clone(),
                    offered: self.names().map(str::to_owned).collect(),
                })
            })
        });
        Self::new(fields.collect::<Result<_, Error>>()?)
    }

    fn new(fields: Vec<Field>) -> Result<Self, Error> {
        if fields.is_empty() || fields.len() > MAX_GIVEN_COLUMNS {
            return Err(Error::Share(ShareError::GivenCount));
        }
        for (index, field) in fields.iter().enumerate() {
            if let Some(reason) = name_fault(field.name()) {
                return Err(Error::Share(ShareError::CannotGive {
                    column: field.name().clone(),
                    reason: reason.to_owned(),
                }));
            }
            if fields[..index]
                .iter()
                .any(|other| other.name() == field.name())
            {
                return Err(Error::Key(KeyError::Repeated(field.name().clone())));
            }
        }
        Ok(Self {
            schema: Arc::new(Schema::new(fields)),
        })
    }

    /// Returns the columns of this table and of another one, if that has columns of the same names
    /// and types. Nulls can be where they can be in either.
    pub(crate) fn merged(&self, other: &Self) -> Option<Self> {
        let (own, others) = (self.schema.fields(), other.schema.fields());
        let merged = own.iter().zip(others).map(|(own, other)| {
            let nullable = own.is_nullable() || other.is_nullable();
            let [own, other] =
                [own, other].map(|field| field.as_ref().clone().with_nullable(nullable));
            (own == other).then_some(own)
        });
        let fields: Vec<Field> = merged.collect::<Option<_>>()?;
        (own.len() == others.len()).then(|| Self {
            schema: Arc::new(Schema::new(fields)),
        })
    }

    /// Returns the names of the columns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.schema.fields().iter().map(|field| &**field.name())
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Encodes the columns for the other party. Equal columns are equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![wire::VERSION];
        bytes.extend((self.schema.fields().len() as u16).to_le_bytes());
        for field in self.schema.fields() {
            wire::write_text(&mut bytes, field.name());
            wire::write_meaning(&mut bytes, field);
            bytes.push(field.is_nullable().into());
        }
        bytes
    }

    /// Returns the columns that the other party told of.
    ///
    /// # Errors
    /// Unless these are the very bytes that [`to_bytes`](Self::to_bytes) gives for some columns.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes);
        let columns = Self::read(&mut reader)?;
        reader.finish()?;
        Ok(columns)
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        if reader.byte()? != wire::VERSION {
            return Err(Error::Share(ShareError::MalformedOffer(
                "is of another version",
            )));
        }
        // Nothing is allocated for columns that are not there.
        let mut fields = Vec::new();
        for _ in 0..reader.number()? {
            let name = reader.text(MAX_GIVEN_NAME_BYTES)?;
            let column = reader.column(name)?;
            fields.push(column.with_nullable(reader.flag()?));
        }
        Self::new(fields).map_err(|_| {
            Error::Share(ShareError::MalformedOffer(
                "has columns that cannot be given",
            ))
        })
    }
}

/// Returns a column as it is given: a dictionary as its values, and texts and binary data each in
/// one type.
fn given(field: &Field) -> Result<Field, Error> {
    use DataType::*;
    if let Some(meant) = unknown_meaning(field) {
        return Err(Error::Share(ShareError::CannotGive {
            column: field.name().clone(),
            reason: format!(
                "it holds values of the type {}, which the other party would not get as such: leave it out, or convert it",
                Word(meant)
            ),
        }));
    }
    let data_type = match value_type(field.data_type()) {
        Utf8 | LargeUtf8 | Utf8View => Utf8,
        Binary | LargeBinary | BinaryView => Binary,
        other => other.clone(),
    };
    // A type that no value is given as has no code.
    if !wire::has_code(&data_type) {
        return Err(Error::Share(ShareError::CannotGive {
            column: field.name().clone(),
            reason: format!(
                "it holds {data_type}, and only texts, numbers, booleans, dates, times and binary data \
                 can be given: leave it out, or convert it"
            ),
        }));
    }
    // The values of a dictionary may be null where its keys are not.
    let nullable = field.is_nullable() || matches!(field.data_type(), Dictionary(..));
    let given = Field::new(field.name(), data_type, nullable);
    // Of metadata, only the meaning of a value counts. The type beneath the values of others was
    // refused.
    Ok(match (given.data_type(), field.extension_type_name()) {
        (FixedSizeBinary(16), Some(extension::Uuid::NAME)) => {
            given.with_extension_type(extension::Uuid)
        }
        (Utf8, Some(extension::Json::NAME)) => {
            given.with_extension_type(extension::Json::default())
        }
        (Time32(_) | Time64(_), _) if is_universal_time(field) => {
            given.with_metadata(universal_time())
        }
        _ => given,
    })
}

/// Returns what is wrong about a name, as the other party shows it to its user, and writes it to a
/// header.
fn name_fault(name: &str) -> Option<&'static str> {
    if !is_all_printable(name) {
        Some("its name holds a control, format or separator character: rename it")
    } else if name.len() > MAX_GIVEN_NAME_BYTES {
        Some("its name is longer than 1,024 bytes: rename it")
    } else if name.is_empty() {
        Some("it has no name: name it")
    } else {
        None
    }
}
