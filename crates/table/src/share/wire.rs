//! The encoding of columns: numbers in little endian, texts behind their lengths, a code for each
//! type.

use arrow_array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType,
    validate_decimal_precision_and_scale,
};
use arrow_schema::{
    DataType, Field, TimeUnit,
    extension::{ExtensionType, Json, Uuid},
};

use psijoin_printable::is_all_printable;
use psijoin_source::typed::{is_universal_time, universal_time};

use crate::{Error, ShareError};

/// Another version is another way to tell columns, or to write their values.
pub(super) const VERSION: u8 = 1;

/// The longest name of a time zone.
const MAX_ZONE_BYTES: usize = 64;

/// The widest binary data of a fixed width.
const MAX_WIDTH: u16 = 1024;

/// The types that need nothing more said. The place of a type is its code.
const SIMPLE: [DataType; 15] = [
    DataType::Utf8,
    DataType::Binary,
    DataType::Boolean,
    DataType::Int8,
    DataType::Int16,
    DataType::Int32,
    DataType::Int64,
    DataType::UInt8,
    DataType::UInt16,
    DataType::UInt32,
    DataType::UInt64,
    DataType::Float32,
    DataType::Float64,
    DataType::Date32,
    DataType::Date64,
];

const DECIMAL_32: u8 = 32;
const DECIMAL_64: u8 = 33;
const DECIMAL_128: u8 = 34;
const DECIMAL_256: u8 = 35;
const TIMESTAMP: u8 = 36;
const TIME_32: u8 = 37;
const TIME_64: u8 = 38;
const FIXED_WIDTH: u8 = 39;
const UUID: u8 = 40;
const JSON: u8 = 41;
/// Before the code of a type of times of day.
const UNIVERSAL_TIME: u8 = 42;

const UNKNOWN: Error = Error::Share(ShareError::MalformedOffer("has a type that is not known"));

/// The type beneath a UUID.
const SIXTEEN_BYTES: DataType = DataType::FixedSizeBinary(16);

const UNITS: [TimeUnit; 4] = [
    TimeUnit::Second,
    TimeUnit::Millisecond,
    TimeUnit::Microsecond,
    TimeUnit::Nanosecond,
];

/// Returns whether columns of this type can be given.
pub(super) fn has_code(data_type: &DataType) -> bool {
    let mut bytes = Vec::new();
    write_type(&mut bytes, data_type);
    // Types that are refused from the other party are not written, either.
    matches!(Reader::new(&bytes).data_type(), Ok(read) if read == *data_type)
}

pub(super) fn write_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
}

/// Writes the meaning of a column's values: the code of their type, or of their meaning beyond it.
pub(super) fn write_meaning(bytes: &mut Vec<u8>, field: &Field) {
    match (field.data_type(), field.extension_type_name()) {
        (&SIXTEEN_BYTES, Some(Uuid::NAME)) => bytes.push(UUID),
        (DataType::Utf8, Some(Json::NAME)) => bytes.push(JSON),
        (data_type, _) => {
            bytes.extend(is_universal_time(field).then_some(UNIVERSAL_TIME));
            write_type(bytes, data_type);
        }
    }
}

/// Writes the code of a type, and its parameters; nothing if it has none.
pub(super) fn write_type(bytes: &mut Vec<u8>, data_type: &DataType) {
    let unit = |unit: &TimeUnit| {
        UNITS
            .iter()
            .position(|known| known == unit)
            .expect("one of four") as u8
    };
    let mut decimal = |code, precision: u8, scale: i8| bytes.extend([code, precision, scale as u8]);
    match data_type {
        DataType::Decimal32(precision, scale) => decimal(DECIMAL_32, *precision, *scale),
        DataType::Decimal64(precision, scale) => decimal(DECIMAL_64, *precision, *scale),
        DataType::Decimal128(precision, scale) => decimal(DECIMAL_128, *precision, *scale),
        DataType::Decimal256(precision, scale) => decimal(DECIMAL_256, *precision, *scale),
        DataType::Timestamp(of, zone) => {
            bytes.extend([TIMESTAMP, unit(of), zone.is_some().into()]);
            zone.iter().for_each(|zone| write_text(bytes, zone));
        }
        DataType::Time32(of) => bytes.extend([TIME_32, unit(of)]),
        DataType::Time64(of) => bytes.extend([TIME_64, unit(of)]),
        DataType::FixedSizeBinary(width) => {
            bytes.push(FIXED_WIDTH);
            // A width that is too large is refused when it is read.
            bytes.extend(u16::try_from(*width).unwrap_or(u16::MAX).to_le_bytes());
        }
        simple => bytes.extend(
            SIMPLE
                .iter()
                .position(|known| known == simple)
                .map(|code| code as u8),
        ),
    }
}

/// Reads what the other party told. Nothing of it is believed.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn bytes(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let split = self.0.split_at_checked(count);
        let (bytes, rest) = split.ok_or(Error::Share(ShareError::MalformedOffer("is cut off")))?;
        self.0 = rest;
        Ok(bytes)
    }

    pub(super) fn byte(&mut self) -> Result<u8, Error> {
        Ok(self.bytes(1)?[0])
    }

    pub(super) fn number(&mut self) -> Result<u16, Error> {
        let bytes = self.bytes(2)?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    pub(super) fn flag(&mut self) -> Result<bool, Error> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Error::Share(ShareError::MalformedOffer(
                "has a flag that is none",
            ))),
        }
    }

    /// Returns a text of at most this length.
    pub(super) fn text(&mut self, most_bytes: usize) -> Result<&'a str, Error> {
        let length = self.number()?.into();
        if length > most_bytes {
            return Err(Error::Share(ShareError::MalformedOffer(
                "has a name that is too long",
            )));
        }
        let text = str::from_utf8(self.bytes(length)?);
        text.map_err(|_| Error::Share(ShareError::MalformedOffer("has a name that is not UTF-8")))
    }

    /// Returns a column of this name, whose values are what comes next.
    pub(super) fn column(&mut self, name: &str) -> Result<Field, Error> {
        let column = |data_type| Field::new(name, data_type, false);
        Ok(match self.0.first() {
            Some(&UUID) => {
                self.byte()?;
                column(SIXTEEN_BYTES).with_extension_type(Uuid)
            }
            Some(&JSON) => {
                self.byte()?;
                column(DataType::Utf8).with_extension_type(Json::default())
            }
            Some(&UNIVERSAL_TIME) => {
                self.byte()?;
                match self.data_type()? {
                    time @ (DataType::Time32(_) | DataType::Time64(_)) => {
                        column(time).with_metadata(universal_time())
                    }
                    _ => return Err(UNKNOWN),
                }
            }
            _ => column(self.data_type()?),
        })
    }

    pub(super) fn data_type(&mut self) -> Result<DataType, Error> {
        Ok(match self.byte()? {
            DECIMAL_32 => self.decimal::<Decimal32Type>(DataType::Decimal32)?,
            DECIMAL_64 => self.decimal::<Decimal64Type>(DataType::Decimal64)?,
            DECIMAL_128 => self.decimal::<Decimal128Type>(DataType::Decimal128)?,
            DECIMAL_256 => self.decimal::<Decimal256Type>(DataType::Decimal256)?,
            TIMESTAMP => {
                let unit = self.unit()?;
                DataType::Timestamp(unit, self.zone()?.map(Into::into))
            }
            TIME_32 => match self.unit()? {
                unit @ (TimeUnit::Second | TimeUnit::Millisecond) => DataType::Time32(unit),
                _ => return Err(UNKNOWN),
            },
            TIME_64 => match self.unit()? {
                unit @ (TimeUnit::Microsecond | TimeUnit::Nanosecond) => DataType::Time64(unit),
                _ => return Err(UNKNOWN),
            },
            FIXED_WIDTH => match self.number()? {
                width @ 1..=MAX_WIDTH => DataType::FixedSizeBinary(width.into()),
                _ => return Err(UNKNOWN),
            },
            code => SIMPLE.get(usize::from(code)).cloned().ok_or(UNKNOWN)?,
        })
    }

    fn decimal<T: DecimalType>(
        &mut self,
        data_type: fn(u8, i8) -> DataType,
    ) -> Result<DataType, Error> {
        let (precision, scale) = (self.byte()?, self.byte()? as i8);
        validate_decimal_precision_and_scale::<T>(precision, scale).map_err(|_| {
            Error::Share(ShareError::MalformedOffer("has a decimal that cannot be"))
        })?;
        Ok(data_type(precision, scale))
    }

    fn unit(&mut self) -> Result<TimeUnit, Error> {
        let unit = UNITS.get(usize::from(self.byte()?));
        unit.copied().ok_or(Error::Share(ShareError::MalformedOffer(
            "has a unit of time that is not known",
        )))
    }

    fn zone(&mut self) -> Result<Option<&'a str>, Error> {
        if !self.flag()? {
            return Ok(None);
        }
        let zone = self.text(MAX_ZONE_BYTES)?;
        match is_all_printable(zone) {
            true => Ok(Some(zone)),
            false => Err(Error::Share(ShareError::MalformedOffer(
                "has a time zone that cannot be",
            ))),
        }
    }

    pub(super) fn finish(self) -> Result<(), Error> {
        match self.0.is_empty() {
            true => Ok(()),
            false => Err(Error::Share(ShareError::MalformedOffer(
                "goes on behind its end",
            ))),
        }
    }
}
