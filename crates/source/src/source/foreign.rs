//! Files that are no table of ours, whatever their names, known by their first bytes.

use std::fmt;

use crate::Format;

/// The content of a file that has none of the formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Foreign {
    /// It is compressed in a way that is not read.
    Compressed(&'static str),
    /// It is an archive, which may hold several files.
    Archive(&'static str),
    /// It is a zip archive. Workbooks are, too.
    Zip,
    /// It is a workbook, or another document, of an office program of before 2007.
    Workbook,
    /// It is a table, or several, in a format that is not read.
    Tables(&'static str),
    /// It is a file of Feather's first version.
    Feather1,
    /// It is no table at all.
    Document(&'static str),
    /// It is encrypted.
    Encrypted(&'static str),
    /// It is a web page.
    WebPage,
    /// It is JSON.
    Json,
    /// It is what Git keeps in the place of a large file.
    LfsPointer,
}

/// The longest beginning that is looked at: that of tar, which begins with a file's name.
pub(crate) const BEGINNING_BYTES: usize = 262;

/// First bytes, where they are, and what they show. None of them begins a text: each has a byte
/// that no text has.
const BINARY: &[(usize, &[u8], Foreign)] = &[
    (0, b"\xfd7zXZ\0", Foreign::Compressed("xz")),
    (0, b"\x5d\0\0", Foreign::Compressed("LZMA")),
    (0, b"\x04\x22\x4d\x18", Foreign::Compressed("LZ4")),
    (0, b"\x02\x21\x4c\x18", Foreign::Compressed("LZ4")),
    (0, b"\xff\x06\0\0sNaPpY", Foreign::Compressed("Snappy")),
    (0, b"\x1f\x9d", Foreign::Compressed("compress")),
    (0, b"LZIP\x01", Foreign::Compressed("lzip")),
    (0, b"\x89LZO\0", Foreign::Compressed("LZO")),
    (0, b"PK\x03\x04", Foreign::Zip),
    (0, b"PK\x05\x06", Foreign::Zip),
    (0, b"PK\x07\x08", Foreign::Zip),
    (0, b"7z\xbc\xaf\x27\x1c", Foreign::Archive("7z")),
    (0, b"Rar!\x1a\x07", Foreign::Archive("RAR")),
    (0, b"MSCF\0\0\0\0", Foreign::Archive("cabinet")),
    (257, b"ustar", Foreign::Archive("tar")),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Foreign::Workbook),
    (0, b"\x09\0\x04\0", Foreign::Workbook),
    (0, b"\x09\x02\x06\0", Foreign::Workbook),
    (0, b"\x09\x04\x06\0", Foreign::Workbook),
    (0, b"\x09\x08\x08\0", Foreign::Workbook),
    (0, b"\x09\x08\x10\0", Foreign::Workbook),
    (0, b"SQLite format 3\0", Foreign::Tables("SQLite")),
    (8, b"DUCK", Foreign::Tables("DuckDB")),
    (0, b"\0\x01\0\0Standard ", Foreign::Tables("Access")),
    (0, b"Obj\x01", Foreign::Tables("Avro")),
    (0, b"RCF\x01", Foreign::Tables("RCFile")),
    (0, b"SEQ\x06", Foreign::Tables("SequenceFile")),
    (0, b"FEA1\0", Foreign::Feather1),
    (0, b"\x89HDF\r\n\x1a\n", Foreign::Tables("HDF5")),
    (0, b"\x93NUMPY", Foreign::Tables("NumPy")),
    (
        0,
        b"PGCOPY\n\xff\r\n\0",
        Foreign::Tables("binary COPY of PostgreSQL"),
    ),
    (0, b"PGDMP\x01", Foreign::Tables("pg_dump")),
    (0, b"RDX2\nX\n\0", Foreign::Tables("R")),
    (0, b"RDX3\nX\n\0", Foreign::Tables("R")),
    (0, b"X\n\0\0\0", Foreign::Tables("R")),
    (0, b"\x80\x03c", Foreign::Tables("pickle")),
    (0, b"\x80\x04\x95", Foreign::Tables("pickle")),
    (0, b"\x80\x05\x95", Foreign::Tables("pickle")),
    (0, b"\x89PNG\r\n\x1a\n", Foreign::Document("an image")),
    (0, b"\xff\xd8\xff", Foreign::Document("an image")),
];

/// The beginnings of texts that are no tables, in lower case.
const TEXTS: &[(&[u8], Foreign)] = &[
    (b"%pdf-", Foreign::Document("a PDF document")),
    (b"{\\rtf", Foreign::Document("an RTF document")),
    (b"<!doctype html", Foreign::WebPage),
    (b"<html", Foreign::WebPage),
    (b"<?xml", Foreign::Document("XML")),
    (b"<stata_dta>", Foreign::Tables("Stata")),
    (b"$fl2@(#)", Foreign::Tables("SPSS")),
    (
        b"version https://git-lfs.github.com/spec/",
        Foreign::LfsPointer,
    ),
    (
        b"-----begin pgp message-----",
        Foreign::Encrypted("OpenPGP"),
    ),
    (b"age-encryption.org/v1", Foreign::Encrypted("age")),
];

impl Foreign {
    /// Returns the content of a file that was taken for one of this format, by the user's choice or
    /// not. A user that chooses it may mean a table that begins like another kind of text.
    pub(crate) fn of_beginning(beginning: &[u8], format: Format, is_said: bool) -> Option<Self> {
        let of_text = || Self::of_text(beginning);
        let json = || Self::json(beginning).filter(|_| format != Format::Lines);
        let known = Self::of_bytes(beginning);
        known.or_else(|| (!is_said).then(|| of_text().or_else(json)).flatten())
    }

    /// Returns what a file of this beginning holds for sure, as no text begins so.
    pub(crate) fn of_bytes(beginning: &[u8]) -> Option<Self> {
        let is_there = |at: usize, bytes: &[u8]| {
            let there = beginning.get(at..);
            there.is_some_and(|there| there.starts_with(bytes))
        };
        if is_bzip2(beginning) {
            return Some(Self::Compressed("bzip2"));
        }
        // A text may begin with these letters: what follows them here is no character.
        if matches!(beginning, [b'O', b'R', b'C', 0..=8 | 0x80.., ..]) {
            return Some(Self::Tables("ORC"));
        }
        // A text may hold these letters anywhere: in the files that are meant, there are zeros
        // before.
        let is_binary = || beginning.contains(&0);
        let found = BINARY.iter().find(|(at, bytes, _)| is_there(*at, bytes));
        let found = found.filter(|(at, _, _)| *at == 0 || is_binary());
        found.map(|(_, _, foreign)| *foreign)
    }

    /// Returns what a text of this beginning seems to be.
    fn of_text(beginning: &[u8]) -> Option<Self> {
        let text = beginning
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(beginning)
            .trim_ascii_start()
            .to_ascii_lowercase();
        let known = TEXTS.iter().find(|(bytes, _)| text.starts_with(bytes));
        known.map(|(_, foreign)| *foreign)
    }

    /// Returns JSON, if a table of several columns begins like it.
    fn json(beginning: &[u8]) -> Option<Self> {
        let mut characters = beginning.iter().filter(|byte| !byte.is_ascii_whitespace());
        let first = (characters.next(), characters.next());
        matches!(
            first,
            (Some(b'{'), Some(b'"')) | (Some(b'['), Some(b'{' | b'['))
        )
        .then_some(Self::Json)
    }
}

/// Returns whether it begins as bzip2: with the size of blocks, a digit, and the mark of a block or
/// of the end.
fn is_bzip2(beginning: &[u8]) -> bool {
    let Some((b"BZh", [b'1'..=b'9', mark @ ..])) = beginning.split_at_checked(3) else {
        return false;
    };
    mark.starts_with(b"1AY&SY") || mark.starts_with(b"\x17\x72\x45\x38\x50\x90")
}

impl fmt::Display for Foreign {
    /// Returns what it holds, and what to do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compressed(how) => write!(
                f,
                "data compressed with {how}: decompress it first, or to standard input, or compress it with gzip or \
                 Zstandard"
            ),
            Self::Archive(kind) => write!(f, "a {kind} archive: unpack it"),
            Self::Zip => f.write_str(
                "a zip archive or an Excel workbook: save its sheet as CSV, or unpack it",
            ),
            Self::Workbook => f.write_str(
                "an Excel workbook (.xls) or another Office document: save its sheet as CSV",
            ),
            Self::Tables(format) => write!(
                f,
                "data of {format}, which is not read: write the table as CSV, Parquet or Arrow"
            ),
            Self::Feather1 => f.write_str(
                "Feather of version 1, which is not read: write the table again with version 2 (an Arrow file), as \
                 pyarrow.feather.write_feather does unless told otherwise",
            ),
            Self::Document(what) => write!(
                f,
                "{what}, and no table: export the table as CSV, Parquet or Arrow"
            ),
            Self::Encrypted(how) => write!(f, "data encrypted with {how}: decrypt it first"),
            Self::WebPage => f.write_str(
                "a web page, and no table: a message or a login page may have come in place of the file; get it \
                 again",
            ),
            Self::Json => f.write_str(
                "JSON: write it as CSV, Parquet or Arrow first (as DuckDB does), or name its format if it is not",
            ),
            Self::LfsPointer => f.write_str(
                "what Git LFS keeps in place of the file: `git lfs pull` gets the file itself",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_taken_for_another_file() {
        for text in [
            "ORCID,name\n",
            "BZh,1\n",
            "BZh91AY,x\n",
            "id,name\nDUCK,1\n",
            "FEA1,2\n",
            "PKW,x\n",
            "Obj,x\n",
            "LZIP,x\n",
            "\tx\ty\n",
            "Rar!,x\n",
            "7z,x\n",
            "12345678DUCK\n",
            "X\n1\n",
        ] {
            assert_eq!(Foreign::of_bytes(text.as_bytes()), None, "{text}");
            assert_eq!(Foreign::of_text(text.as_bytes()), None, "{text}");
        }
        let long = ["x".repeat(257), "ustar".to_owned()].concat();
        assert_eq!(Foreign::of_bytes(long.as_bytes()), None);
    }

    #[test]
    fn others_are_known_by_their_first_bytes() {
        let tar = [b"a.csv".as_slice(), &[0; 252], b"ustar"].concat();
        for (bytes, foreign) in [
            (b"BZh91AY&SY".as_slice(), Foreign::Compressed("bzip2")),
            (
                b"BZh9\x17\x72\x45\x38\x50\x90",
                Foreign::Compressed("bzip2"),
            ),
            (b"ORC\x08\x03", Foreign::Tables("ORC")),
            (b"\x01\x02\x03\x04\0\0\0\0DUCK", Foreign::Tables("DuckDB")),
            (&tar, Foreign::Archive("tar")),
        ] {
            assert_eq!(Foreign::of_bytes(bytes), Some(foreign));
        }
        let page = b"\xef\xbb\xbf \n<!DOCTYPE html><html>";
        assert_eq!(Foreign::of_text(page), Some(Foreign::WebPage));
        assert_eq!(Foreign::json(b"[ {\"id\": 1}"), Some(Foreign::Json));
        assert_eq!(Foreign::json(b"{id},x"), None);
    }
}
