//! The files of a table before they are opened.

use std::{
    fs::{self, File},
    path::Path,
    sync::Arc,
};

use super::{
    decoded::{beginning, encoding_of},
    files::Listed,
    spool::Spool,
};
use crate::{
    Compression, Dialect, Encoding, Error, ErrorKind, Format, Progress, SourceError,
    source::{
        foreign::Foreign,
        table_file::{Content, Part, Version},
    },
};

/// The options for a table, besides its place.
#[derive(Clone, Copy)]
pub(super) struct Said<'a> {
    pub(super) format: Option<Format>,
    pub(super) dialect: &'a Dialect,
    pub(super) keyed: bool,
}

/// A file whose format is known.
pub(super) struct Planned {
    pub(super) listed: Listed,
    pub(super) name: String,
    pub(super) format: Format,
    compression: Option<Compression>,
    /// Its length; `None` if it is a pipe or a device.
    pub(super) bytes: Option<u64>,
    /// `true` if it is not text, or is UTF-8, as far as it can be read before it is copied.
    is_utf_8: bool,
}

impl Said<'_> {
    pub(super) fn plan(&self, listed: Listed) -> Result<Planned, Error> {
        let path = &listed.path;
        let name = psijoin_printable::path(path);
        let metadata = fs::metadata(path).map_err(|source| {
            Error::Source(SourceError::Open {
                file: name.clone(),
                cause: source,
            })
        })?;
        let format = match self.format {
            Some(format) => format,
            None if metadata.is_file() => self.format_of_file(path)?,
            None => Format::of_ending(path).unwrap_or(self.format_of_stream()),
        };
        let is_text = format.is_text();
        if let (Some((folder, _)), true) = (&listed.found_in, is_text) {
            return Err(Error::Source(SourceError::TextInFolder {
                folder: psijoin_printable::path(folder),
                file: name,
            }));
        }
        // A file that is not text is compressed within, if at all.
        let compression = Compression::of_ending(path).filter(|_| is_text);
        let is_utf_8 = match metadata.is_file() && is_text && compression.is_none() {
            true => is_utf_8(path, self.dialect, &name)?,
            false => true,
        };
        Ok(Planned {
            listed,
            name,
            format,
            compression,
            bytes: metadata.is_file().then_some(metadata.len()),
            is_utf_8,
        })
    }

    /// Returns the format of a file by its name: the ending's; for another ending, or none,
    /// [`Format::Csv`] if something is said about its delimiter, quote or header; [`Format::Lines`]
    /// for a file without an ending (as word lists are) if the key is not named.
    fn format_of_file(&self, path: &Path) -> Result<Format, Error> {
        match Format::of_ending(path) {
            Some(format) => Ok(format),
            None if !self.dialect.is_layout_default() => Ok(Format::Csv),
            None if Format::is_without_ending(path) && !self.keyed => Ok(Format::Lines),
            None => Err(self.unknown(path)),
        }
    }

    /// Returns what is said of a file whose name tells no format: what it holds, if that is known.
    fn unknown(&self, path: &Path) -> Error {
        let file = psijoin_printable::path(path);
        let beginning = File::open(path).and_then(beginning).unwrap_or_default();
        match Foreign::of_beginning(&beginning, Format::Csv, false) {
            Some(foreign) => Error::Source(SourceError::Foreign { file, foreign }),
            None => Error::Source(SourceError::InputEnding { file }),
        }
    }

    /// Returns the format of an input without a name: CSV if the key is named or something is said
    /// about its delimiter, quote or header, otherwise lines.
    pub(super) fn format_of_stream(&self) -> Format {
        match self.keyed || !self.dialect.is_layout_default() {
            true => Format::Csv,
            false => Format::Lines,
        }
    }
}

fn is_utf_8(path: &Path, dialect: &Dialect, name: &str) -> Result<bool, Error> {
    let beginning = File::open(path).and_then(beginning).map_err(|source| {
        Error::Source(SourceError::Open {
            file: name.to_owned(),
            cause: source,
        })
    })?;
    Ok(encoding_of(&beginning, dialect, name)? == Encoding::UTF_8)
}

impl Planned {
    /// Returns whether it is to be copied before it is read.
    pub(super) fn is_copied(&self) -> bool {
        self.bytes.is_none() || self.compression.is_some() || !self.is_utf_8
    }

    /// Opens it. If it is a text, the dialect tells its encoding.
    pub(super) fn open(
        self,
        dialect: Option<&Dialect>,
        spool: &mut Spool,
        progress: &Progress,
    ) -> Result<Part, Error> {
        let cannot = |source| {
            Error::Source(SourceError::Open {
                file: self.name.clone(),
                cause: source,
            })
        };
        let path = &self.listed.path;
        let file = File::open(path).map_err(cannot)?;
        let is_file = self.bytes.is_some();
        let (content, encoding) = match self.is_copied() {
            false => {
                let content = Content::File {
                    version: (&file.metadata().map_err(cannot)?).into(),
                    held: Some(Arc::new(file)),
                };
                (content, Encoding::UTF_8)
            }
            true if is_file => self.copied(&file, dialect, spool, progress)?,
            true => spool.copied(file, self.compression, dialect, &self.name, progress)?,
        };
        let partitions = self.listed.partitions();
        Ok(Part {
            path: is_file
                .then(|| fs::canonicalize(path).map_err(cannot))
                .transpose()?,
            compression: self.compression,
            encoding,
            content,
            partition: partitions.iter().map(|(_, value)| value.clone()).collect(),
            int96: Default::default(),
            name: self.name,
        })
    }

    fn copied(
        &self,
        file: &File,
        dialect: Option<&Dialect>,
        spool: &mut Spool,
        progress: &Progress,
    ) -> Result<(Content, Encoding), Error> {
        let version = || -> Result<Version, Error> {
            let metadata = file.metadata().map_err(|source| {
                Error::Source(SourceError::Read {
                    file: self.name.clone(),
                    cause: source,
                })
            })?;
            Ok((&metadata).into())
        };
        let before = version()?;
        let copied = spool.copied(file, self.compression, dialect, &self.name, progress);
        // A fault in a file that somebody is writing misleads.
        let is_about_input = |error: &Error| error.kind() == ErrorKind::Input;
        if copied.as_ref().err().is_none_or(is_about_input) && version()? != before {
            return Err(Error::Source(SourceError::Changed {
                file: self.name.clone(),
            }));
        }
        copied
    }
}
