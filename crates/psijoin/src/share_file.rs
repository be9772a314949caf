//! A party's shares in a file, for a computation to come.
//!
//! Text lines, an empty line, and numbers, little endian:
//!
//! ```text
//! psijoin shares 1
//! session 64 hexadecimal digits, the same in both parties' files
//! role sender, or receiver
//! places N
//! column HOLDER SCALE NAME        a line for each column, the sender's first: HOLDER is sender
//!                                 or receiver; a share of 1 is worth 10^-SCALE
//!
//! ```
//! 1. ⌈N / 8⌉ bytes: the XOR shares of whether a place's item is shared, place i in bit i mod 8
//!    (the lowest is 0) of byte i / 8;
//! 2. for each column N additive shares modulo 2^64, of 8 bytes each;
//! 3. in the receiver's file N rows, of 8 bytes each: which row of its table a place's item is
//!    first in, from 0; or 2^64 − 1 where a place holds no item.

use std::io::{self, BufRead, Read, Write};

use psijoin_circuit::Bits;
use zeroize::Zeroizing;

use crate::{JointSeed, Role, Shares};

/// The first line.
const MAGIC: &str = "psijoin shares 1";

/// The longest line that is read.
const MAX_LINE_BYTES: u64 = 1 << 16;

/// The longest name of a column.
const MAX_NAME_BYTES: usize = 60_000;

/// Places that are converted at once.
const AT_ONCE: usize = 1 << 13;

/// Stands for the row of a place that holds no item.
const NO_ROW: u64 = u64::MAX;

/// Returns what tells the files of a run from those of others: a hash of the seed that both parties
/// agreed on.
pub fn session(joint_seed: &JointSeed) -> [u8; 32] {
    joint_seed.key("psijoin 2026 session of shares")
}

/// A column of numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The party that has the column.
    pub holder: Role,
    /// Its name: one line.
    pub name: String,
    /// Decimal places: a share of 1 is worth 10^-scale.
    pub scale: u32,
}

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The hash that shows that two files belong together: [`session`].
    pub session: [u8; 32],
    /// The party whose shares these are.
    pub role: Role,
    /// The columns of numbers.
    pub columns: Vec<Column>,
    /// The shares, without [`items`](Shares::items).
    pub shares: Shares,
    /// For each place the row of the receiver's table that its item is first in: in the
    /// receiver's file only.
    pub rows: Option<Vec<Option<u64>>>,
}

impl File {
    /// Writes it.
    ///
    /// # Errors
    /// If `output` does, or the name of a column is not one line.
    ///
    /// # Panics
    /// If columns, rows and shares do not fit each other.
    pub fn write(&self, mut output: impl Write) -> io::Result<()> {
        let Self { shares, .. } = self;
        assert_eq!(self.columns.len(), shares.columns().len());
        assert!(self.rows.iter().all(|rows| rows.len() == shares.places()));
        assert_eq!(self.rows.is_some(), self.role == Role::Receiver);
        writeln!(output, "{MAGIC}")?;
        writeln!(output, "session {}", blake3::Hash::from(self.session))?;
        writeln!(output, "role {}", self.role)?;
        writeln!(output, "places {}", shares.places())?;
        for Column {
            holder,
            name,
            scale,
        } in &self.columns
        {
            if name.contains('\n') || name.len() > MAX_NAME_BYTES {
                let why = "the name of a column is not one line of at most 60,000 bytes";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
            }
            writeln!(output, "column {holder} {scale} {name}")?;
        }
        writeln!(output)?;
        output.write_all(&Zeroizing::new(shares.membership().to_bytes()))?;
        for column in shares.columns() {
            write_numbers(&mut output, column.iter().copied())?;
        }
        if let Some(rows) = &self.rows {
            write_numbers(&mut output, rows.iter().map(|row| row.unwrap_or(NO_ROW)))?;
        }
        output.flush()
    }

    /// Reads it.
    ///
    /// # Errors
    /// If `input` does, or is not such a file.
    pub fn read(mut input: impl BufRead) -> io::Result<Self> {
        if line(&mut input)? != MAGIC {
            return Err(broken(
                "it is not a file of psijoin's shares, or it is of another version",
            ));
        }
        let session = field(&mut input, "session")?;
        let session = blake3::Hash::from_hex(session)
            .map_err(|_| broken("its session is not 64 hexadecimal digits"))?;
        let role = role(&field(&mut input, "role")?)?;
        let places = field(&mut input, "places")?
            .parse::<u32>()
            .map_err(|_| broken("its number of places is none"))? as usize;
        let mut columns = Vec::new();
        loop {
            let line = line(&mut input)?;
            if line.is_empty() {
                break;
            }
            columns.push(column(&line)?);
        }
        let membership = Bits::from_bytes(&read_bytes(&mut input, places.div_ceil(8))?, places);
        let numbers = columns
            .iter()
            .map(|_| read_numbers(&mut input, places))
            .collect::<io::Result<_>>()?;
        let rows = match role {
            Role::Sender => None,
            Role::Receiver => Some(read_numbers(&mut input, places)?),
        };
        if !input.fill_buf()?.is_empty() {
            return Err(broken("there is more in it than there should be"));
        }
        let rows = rows.map(|rows| rows.into_iter().map(|row| (row != NO_ROW).then_some(row)));
        Ok(Self {
            session: session.into(),
            role,
            columns,
            shares: Shares::new(membership, numbers, None),
            rows: rows.map(Iterator::collect),
        })
    }
}

fn write_numbers(output: &mut impl Write, numbers: impl Iterator<Item = u64>) -> io::Result<()> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(AT_ONCE * size_of::<u64>()));
    for number in numbers {
        bytes.extend(number.to_le_bytes());
        if bytes.len() == bytes.capacity() {
            output.write_all(&bytes)?;
            bytes.clear();
        }
    }
    output.write_all(&bytes)
}

fn read_numbers(input: &mut impl Read, count: usize) -> io::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    while numbers.len() < count {
        // No more memory than there is file.
        let bytes = read_bytes(input, AT_ONCE.min(count - numbers.len()) * size_of::<u64>())?;
        let chunks = bytes.as_chunks().0;
        numbers.extend(chunks.iter().map(|bytes| u64::from_le_bytes(*bytes)));
    }
    Ok(numbers)
}

fn read_bytes(input: &mut impl Read, count: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(count as u64).read_to_end(&mut bytes)?;
    match bytes.len() == count {
        true => Ok(bytes),
        false => Err(broken("it ends too early")),
    }
}

/// Returns a line without its end.
fn line(input: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    input.take(MAX_LINE_BYTES).read_line(&mut line)?;
    match line.pop() {
        Some('\n') => Ok(line),
        _ => Err(broken("it ends too early")),
    }
}

/// Returns the rest of a line that begins with this word.
fn field(input: &mut impl BufRead, word: &'static str) -> io::Result<String> {
    let line = line(input)?;
    match line.split_once(' ') {
        Some((first, rest)) if first == word => Ok(rest.to_owned()),
        _ => Err(broken("a line of its head is missing")),
    }
}

fn column(line: &str) -> io::Result<Column> {
    let mut parts = line.splitn(4, ' ');
    match [(); 4].map(|()| parts.next()) {
        [Some("column"), Some(holder), Some(scale), Some(name)] => Ok(Column {
            holder: role(holder)?,
            name: name.to_owned(),
            scale: scale
                .parse()
                .map_err(|_| broken("the scale of a column is none"))?,
        }),
        _ => Err(broken("a line of its head is missing")),
    }
}

fn role(word: &str) -> io::Result<Role> {
    [Role::Sender, Role::Receiver]
        .into_iter()
        .find(|role| role.to_string() == word)
        .ok_or_else(|| broken("its role is neither sender nor receiver"))
}

fn broken(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn file(places: usize, role: Role) -> File {
        let numbers =
            |start: u64| -> Vec<u64> { (0..places as u64).map(|i| u64::MAX - start * i).collect() };
        File {
            session: [0xa5; 32],
            role,
            columns: vec![
                Column {
                    holder: Role::Sender,
                    name: "spent, in EUR".to_owned(),
                    scale: 2,
                },
                Column {
                    holder: Role::Receiver,
                    name: String::new(),
                    scale: 0,
                },
            ],
            shares: Shares::new(
                (0..places).map(|place| place % 3 == 0).collect(),
                vec![numbers(3), numbers(1 << 40)],
                None,
            ),
            rows: (role == Role::Receiver).then(|| {
                let row = |place: u64| place.is_multiple_of(2).then_some(place << 30);
                (0..places as u64).map(row).collect()
            }),
        }
    }

    fn written(file: &File) -> Vec<u8> {
        let mut bytes = Vec::new();
        file.write(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn what_was_written_is_read() {
        for places in [0, 1, 7, 8, 9, AT_ONCE, AT_ONCE + 1] {
            for role in [Role::Sender, Role::Receiver] {
                let file = file(places, role);
                assert_eq!(File::read(&*written(&file)).unwrap(), file);
            }
        }
    }

    /// To the byte, so that other programs can read it.
    #[test]
    fn the_format_is_as_documented() {
        let bytes = written(&file(9, Role::Receiver));
        let head = format!(
            "psijoin shares 1\nsession {}\nrole receiver\nplaces 9\n\
             column sender 2 spent, in EUR\ncolumn receiver 0 \n\n",
            "a5".repeat(32)
        );
        let (start, rest) = bytes.split_at(head.len());
        assert_eq!(start, head.as_bytes());
        assert_eq!(rest.len(), 2 + 3 * 9 * 8);
        assert_eq!(rest[..2], [0b0100_1001, 0]);
        assert_eq!(rest[2 + 8..][..8], (u64::MAX - 3).to_le_bytes());
        let rows = &rest[2 + 2 * 9 * 8..];
        assert_eq!(rows[8..16], [0xff; 8]);
        assert_eq!(rows[16..24], (2_u64 << 30).to_le_bytes());
    }

    #[test]
    fn what_is_cut_or_longer_is_refused() {
        let bytes = written(&file(9, Role::Receiver));
        for end in 0..bytes.len() {
            let error = File::read(&bytes[..end]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{end} bytes");
        }
        let longer = [&*bytes, &[0]].concat();
        assert!(File::read(&*longer).is_err());
    }

    proptest! {
        #[test]
        fn anything_is_read_or_refused(bytes in vec(any::<u8>(), 0..300), at in 0..120_usize) {
            let mut file = written(&file(9, Role::Sender));
            file.truncate(at);
            file.extend(bytes);
            // Whatever it returns, it does not panic, nor take more memory than the file is long.
            let _ = File::read(&*file);
        }
    }
}
