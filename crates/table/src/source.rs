use std::{
    cell::Cell,
    fs::{self, File, Metadata},
    io::{self, Cursor, Read, Seek, Write},
    iter,
    path::{Path, PathBuf},
    time::SystemTime,
};

use crate::{
    Compression, Dialect, Doubt, Encoding, Error, Format, Progress,
    dialect::Layout,
    encoding::BEGINNING_BYTES,
    error::{ErrorKind, nameless},
    header::Header,
    parquet, text,
};

/// A table to be read twice: once for its keys, and once more for the rows that match.
#[derive(Debug)]
pub struct Source {
    name: String,
    /// Where the file is, unless it came as a stream.
    path: Option<PathBuf>,
    format: Format,
    /// How the text is written; `None` if it is none.
    layout: Option<Layout>,
    /// How the text was encoded; if not as UTF-8, `file` is a copy in UTF-8.
    encoding: Encoding,
    /// How the text was compressed that `file` is a copy of.
    compression: Option<Compression>,
    file: File,
    version: Version,
}

/// What tells whether a file was changed.
#[derive(Debug, PartialEq, Eq)]
struct Version {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl From<Metadata> for Version {
    fn from(metadata: Metadata) -> Self {
        Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
        }
    }
}

/// Counts the bytes that are read.
struct Counted<'a, R> {
    input: R,
    bytes: &'a Cell<u64>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.input.read(buffer)?;
        self.bytes.set(self.bytes.get() + bytes as u64);
        Ok(bytes)
    }
}

/// How a file of this name and format is compressed. Parquet is not, as a whole.
fn compression(path: &Path, format: Format) -> Option<Compression> {
    Compression::of_ending(path).filter(|_| format != Format::Parquet)
}

/// Reads as much of a text's beginning as tells how it is encoded or compressed.
fn beginning(input: impl Read) -> io::Result<Vec<u8>> {
    let mut beginning = Vec::new();
    input
        .take(BEGINNING_BYTES as u64)
        .read_to_end(&mut beginning)?;
    Ok(beginning)
}

/// The encoding of a text that begins so, which must not be compressed, beyond what was told by
/// its name.
fn encoding_of(beginning: &[u8], dialect: &Dialect, name: &str) -> Result<Encoding, Error> {
    match Compression::of_beginning(beginning) {
        None => Encoding::of_beginning(beginning, dialect.encoding(), name),
        Some(compression) => Err(Error::Compressed {
            file: name.to_owned(),
            compression,
        }),
    }
}

/// A text in UTF-8, and how it was encoded. `cannot_read` makes an error of one of the input.
pub(crate) fn decoded<'a>(
    mut input: impl Read + 'a,
    dialect: &Dialect,
    name: &str,
    cannot_read: impl Fn(io::Error) -> Error,
) -> Result<(Encoding, Box<dyn Read + 'a>), Error> {
    let beginning = beginning(&mut input).map_err(cannot_read)?;
    let encoding = encoding_of(&beginning, dialect, name)?;
    Ok((
        encoding,
        encoding.reader(Cursor::new(beginning).chain(input)),
    ))
}

impl Source {
    /// Opens a file, or standard input if `path` is `-`.
    ///
    /// The format, unless given, is told by the file name's ending (`.csv`, `.tsv`, `.txt` for
    /// lines, `.parquet`). A file without an ending, as word lists are, is lines, if no key
    /// columns are named (`keyed` is false). Standard input, or a pipe without an ending, is CSV
    /// if key columns are named, and else lines. What is said of the `dialect` goes before what is
    /// usual in the format; what has no known ending is CSV then.
    ///
    /// What cannot be read twice (standard input, pipes), what is compressed, as a second ending
    /// `.gz` or `.zst` tells, and what is not UTF-8, as is said or a byte order mark of UTF-16
    /// tells, is copied to a temporary file without a name before this function returns.
    ///
    /// # Errors
    /// If the file cannot be opened, is a directory, or tells no format; if it is compressed and
    /// its name does not say so, or cannot be decompressed to its end; if a byte order mark tells
    /// another encoding than was said; if something is said of the dialect that the format does
    /// not have, or its delimiter is its quote.
    pub fn open(
        path: &Path,
        format: Option<Format>,
        dialect: &Dialect,
        keyed: bool,
        progress: &Progress,
    ) -> Result<Self, Error> {
        if path == Path::new("-") {
            let format = format.unwrap_or(Format::of_stream(dialect, keyed));
            let stdin = io::stdin().lock();
            return Self::spool(stdin, "standard input", format, dialect, progress);
        }
        let name = path.display().to_string();
        let cannot = |source| Error::Open {
            file: name.clone(),
            source,
        };
        let file = File::open(path).map_err(cannot)?;
        let metadata = file.metadata().map_err(cannot)?;
        if metadata.is_dir() {
            return Err(Error::InputIsDirectory { file: name });
        }
        if !metadata.is_file() {
            let format = format
                .or(Format::of_ending(path))
                .unwrap_or(Format::of_stream(dialect, keyed));
            let compression = compression(path, format);
            progress.start(0);
            return Self::copied(file, compression, &name, format, dialect, progress);
        }
        let format = match format {
            Some(format) => format,
            None => Format::of_input(path, dialect, keyed)?,
        };
        let layout = format.layout_with(dialect, &name)?;
        let compression = compression(path, format);
        let path = Some(fs::canonicalize(path).map_err(cannot)?);
        let version = Version::from(metadata);
        let is_read_in_place = match (layout, compression) {
            (None, _) => true,
            (Some(_), Some(_)) => false,
            (Some(_), None) => {
                let cannot_read = |source| Error::Read {
                    file: name.clone(),
                    source,
                };
                let beginning = beginning(&file).map_err(cannot_read)?;
                (&file).rewind().map_err(cannot_read)?;
                encoding_of(&beginning, dialect, &name)? == Encoding::UTF_8
            }
        };
        if !is_read_in_place {
            progress.start(version.bytes);
            let copied = Self::copied(&file, compression, &name, format, dialect, progress);
            // A fault in a file that somebody is writing misleads.
            let is_about_input = |error: &Error| error.kind() == ErrorKind::Input;
            if copied.as_ref().err().is_none_or(is_about_input)
                && Version::from(file.metadata().map_err(cannot)?) != version
            {
                return Err(Error::Changed { file: name });
            }
            return Ok(Self { path, ..copied? });
        }
        Ok(Self {
            path,
            format,
            layout,
            encoding: Encoding::UTF_8,
            compression,
            file,
            version,
            name,
        })
    }

    /// Copies a stream to a temporary file without a name, as it could not be read twice. `name`
    /// stands for it in errors.
    ///
    /// # Errors
    /// If the stream cannot be read, or is compressed, or the temporary file cannot be written; if
    /// the dialect does not fit, as in [`open`](Self::open).
    pub fn spool(
        input: impl Read,
        name: &str,
        format: Format,
        dialect: &Dialect,
        progress: &Progress,
    ) -> Result<Self, Error> {
        progress.start(0);
        Self::copied(input, None, name, format, dialect, progress)
    }

    /// Copies a stream, decompressed and in UTF-8, to a temporary file without a name.
    fn copied(
        input: impl Read,
        compression: Option<Compression>,
        name: &str,
        format: Format,
        dialect: &Dialect,
        progress: &Progress,
    ) -> Result<Self, Error> {
        let layout = format.layout_with(dialect, name)?;
        let cannot_read = |source: io::Error| match compression {
            // What the operating system does not say, the decompressor does.
            Some(compression) if source.raw_os_error().is_none() => Error::Damaged {
                file: name.to_owned(),
                compression,
            },
            _ => Error::Read {
                file: name.to_owned(),
                source,
            },
        };
        let cannot_keep = |source| Error::Spool {
            file: name.to_owned(),
            source: nameless(source),
        };
        let taken = Cell::new(0);
        let counted = Counted {
            input,
            bytes: &taken,
        };
        let mut input: Box<dyn Read + '_> = match compression {
            None => Box::new(counted),
            Some(compression) => compression.reader(counted).map_err(cannot_read)?,
        };
        let mut encoding = Encoding::UTF_8;
        if layout.is_some() {
            (encoding, input) = decoded(input, dialect, name, cannot_read)?;
        }
        let mut copy = tempfile::tempfile().map_err(cannot_keep)?;
        let mut buffer = vec![0; 1 << 18];
        let mut input_bytes = 0;
        loop {
            let bytes = match input.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read.map_err(cannot_read)?,
            };
            let new_bytes = taken.take();
            input_bytes += new_bytes;
            progress.advance(new_bytes)?;
            if bytes == 0 {
                break;
            }
            copy.write_all(&buffer[..bytes]).map_err(cannot_keep)?;
        }
        // Zstandard takes nothing at all for no frames.
        if let (Some(compression), 0) = (compression, input_bytes) {
            return Err(Error::Damaged {
                file: name.to_owned(),
                compression,
            });
        }
        let version = copy.metadata().map_err(cannot_keep)?.into();
        Ok(Self {
            name: name.to_owned(),
            path: None,
            format,
            layout,
            encoding,
            compression,
            file: copy,
            version,
        })
    }

    /// The table as the user named it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The table's format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// How the table is written, in a few words: the format, and what differs from what is usual
    /// in it, as in `CSV, semicolons, no header, UTF-16LE`; and how it is compressed.
    pub fn description(&self) -> String {
        let format = iter::once(self.format.to_string());
        let compression = self.compression.map(|compression| compression.to_string());
        format
            .chain(self.differences())
            .chain(compression)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Whether the table is written as is usual in its format.
    pub fn is_usual(&self) -> bool {
        self.differences().is_empty()
    }

    fn differences(&self) -> Vec<String> {
        let mut words = match (self.layout, self.format.layout()) {
            (Some(taken), Some(usual)) => taken.differences(usual),
            _ => Vec::new(),
        };
        if self.encoding != Encoding::UTF_8 {
            words.push(self.encoding.to_string());
        }
        words
    }

    /// The table's length, decompressed, and in UTF-8 if it is a text.
    pub fn bytes(&self) -> u64 {
        self.version.bytes
    }

    /// Reads the names of the table's columns.
    ///
    /// # Errors
    /// If the header cannot be read, or there is none.
    pub fn columns(&self) -> Result<Vec<String>, Error> {
        match self.layout {
            Some(_) => {
                let progress = Progress::default();
                Ok(self.text(&progress)?.columns().to_vec())
            }
            None => Ok(parquet::columns(&parquet::open(self)?)),
        }
    }

    /// What the table's beginning suggests of how it is written.
    ///
    /// # Errors
    /// If the header cannot be read, or there is none.
    pub fn doubts(&self) -> Result<Vec<Doubt>, Error> {
        if self.layout.is_none() {
            return Ok(Vec::new());
        }
        let mut doubts = self.text(&Progress::default())?.doubts()?;
        if self.encoding == Encoding::UTF_8 {
            let beginning =
                beginning(self.rewound()?).map_err(|source| self.cannot_read(source))?;
            doubts.extend(Encoding::unmarked_utf_16(&beginning).map(Doubt::Utf16));
        }
        Ok(doubts)
    }

    /// The header of these names, which must be those of the columns.
    pub(crate) fn header<'a>(&'a self, names: &'a [String]) -> Header<'a> {
        Header {
            file: &self.name,
            names,
            layout: self.layout,
        }
    }

    /// Whether this is the file at `path`, by whatever way that leads there.
    pub fn is_file(&self, path: &Path) -> bool {
        fs::canonicalize(path).is_ok_and(|path| self.path.as_deref() == Some(&path))
    }

    /// The text from its beginning.
    ///
    /// # Panics
    /// If the table is none.
    pub(crate) fn text<'a>(
        &'a self,
        progress: &'a Progress,
    ) -> Result<text::Table<'a, &'a File>, Error> {
        let layout = self.layout.expect("only texts are read as text");
        text::Table::open(self.rewound()?, &self.name, layout, self.encoding, progress)
    }

    /// How the text was encoded.
    pub(crate) fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// How the text is written; `None` if it is none.
    pub(crate) fn layout(&self) -> Option<Layout> {
        self.layout
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// The file from its beginning.
    pub(crate) fn rewound(&self) -> Result<&File, Error> {
        let mut file = &self.file;
        file.rewind().map_err(|source| self.cannot_read(source))?;
        Ok(file)
    }

    /// Runs a pass over the file, and holds the file's change during or before it against
    /// whatever came out, as a fault in a file that somebody is writing misleads.
    pub(crate) fn unchanged_by<T>(
        &self,
        pass: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let result = pass();
        if result
            .as_ref()
            .is_err_and(|error| error.kind() != ErrorKind::Input)
        {
            return result;
        }
        let now = self
            .file
            .metadata()
            .map_err(|source| self.cannot_read(source))?;
        if Version::from(now) == self.version {
            result
        } else {
            Err(self.changed())
        }
    }

    pub(crate) fn changed(&self) -> Error {
        Error::Changed {
            file: self.name.clone(),
        }
    }

    fn cannot_read(&self, source: io::Error) -> Error {
        Error::Read {
            file: self.name.clone(),
            source,
        }
    }
}
