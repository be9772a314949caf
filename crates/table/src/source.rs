use std::{
    fs::{self, File, Metadata},
    io::{self, Read, Seek, Write},
    iter,
    path::{Path, PathBuf},
    time::SystemTime,
};

use crate::{
    Dialect, Error, Format, Progress,
    dialect::Layout,
    error::{ErrorKind, nameless},
    header::Header,
    parquet, text,
};

/// A table to be read twice: once for its keys, and once more for the rows that match.
#[derive(Debug)]
pub struct Source {
    name: String,
    /// Where the file is, unless it is an unnamed copy of a stream.
    path: Option<PathBuf>,
    format: Format,
    /// How the text is written; `None` if it is none.
    layout: Option<Layout>,
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

impl Source {
    /// Opens a file, or standard input if `path` is `-`.
    ///
    /// The format, unless given, is told by the file name's ending (`.csv`, `.tsv`, `.txt` for
    /// lines, `.parquet`). A file without an ending, as word lists are, is lines, if no key
    /// columns are named (`keyed` is false). Standard input, or a pipe without an ending, is CSV
    /// if key columns are named, and else lines. What is said of the `dialect` goes before what is
    /// usual in the format; what has no known ending is CSV then.
    ///
    /// What cannot be read twice (standard input, pipes) is copied to a temporary file without
    /// a name before this function returns.
    ///
    /// # Errors
    /// If the file cannot be opened, is a directory, or tells no format; if something is said of
    /// the dialect of what is neither CSV nor TSV, or its delimiter is its quote.
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
            return Self::spool(file, &name, format, dialect, progress);
        }
        let format = match format {
            Some(format) => format,
            None => Format::of_input(path, dialect, keyed)?,
        };
        let layout = format.layout_with(dialect, &name)?;
        let path = fs::canonicalize(path).map_err(cannot)?;
        Ok(Self {
            path: Some(path),
            format,
            layout,
            file,
            version: metadata.into(),
            name,
        })
    }

    /// Copies a stream to a temporary file without a name, as it could not be read twice. `name`
    /// stands for it in errors.
    ///
    /// # Errors
    /// If the stream cannot be read, or the temporary file cannot be written; if the dialect does
    /// not fit, as in [`open`](Self::open).
    pub fn spool(
        mut input: impl Read,
        name: &str,
        format: Format,
        dialect: &Dialect,
        progress: &Progress,
    ) -> Result<Self, Error> {
        let layout = format.layout_with(dialect, name)?;
        let file = || name.to_owned();
        let cannot = |source| Error::Spool {
            file: file(),
            source: nameless(source),
        };
        progress.start(0);
        let mut copy = tempfile::tempfile().map_err(cannot)?;
        let mut buffer = vec![0; 1 << 18];
        loop {
            let bytes = match input.read(&mut buffer) {
                Ok(0) => break,
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(source) => {
                    return Err(Error::Read {
                        file: file(),
                        source,
                    });
                }
            };
            copy.write_all(&buffer[..bytes]).map_err(cannot)?;
            progress.advance(bytes as u64)?;
        }
        let version = copy.metadata().map_err(cannot)?.into();
        Ok(Self {
            name: file(),
            path: None,
            format,
            layout,
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
    /// in it, as in `CSV, semicolons, no header`.
    pub fn description(&self) -> String {
        let format = iter::once(self.format.to_string());
        format
            .chain(self.differences())
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Whether the table is written as is usual in its format.
    pub fn is_usual(&self) -> bool {
        self.differences().is_empty()
    }

    fn differences(&self) -> Vec<String> {
        match (self.layout, self.format.layout()) {
            (Some(taken), Some(usual)) => taken.differences(usual),
            _ => Vec::new(),
        }
    }

    /// The file's length.
    pub fn bytes(&self) -> u64 {
        self.version.bytes
    }

    /// Reads the names of the table's columns.
    ///
    /// # Errors
    /// If the header cannot be read, or there is none.
    pub fn columns(&self) -> Result<Vec<String>, Error> {
        match self.layout {
            Some(layout) => {
                let progress = Progress::default();
                let table = text::Table::open(self.rewound()?, &self.name, layout, &progress)?;
                Ok(table.columns().to_vec())
            }
            None => Ok(parquet::columns(&parquet::open(self)?)),
        }
    }

    /// The header of these names, which must be those of the columns.
    pub(crate) fn header<'a>(&'a self, names: &'a [String]) -> Header<'a> {
        Header {
            file: &self.name,
            names,
            are_names: self.layout.is_none_or(Layout::are_columns_names),
        }
    }

    /// Whether this is the file at `path`, by whatever way that leads there.
    pub fn is_file(&self, path: &Path) -> bool {
        fs::canonicalize(path).is_ok_and(|path| self.path.as_deref() == Some(&path))
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
