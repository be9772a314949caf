use std::{
    fs::{self, OpenOptions},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use tempfile::{Builder, NamedTempFile};

use crate::{Error, Format, Progress, RowItems, Source, write};

/// Where the matching rows go.
#[derive(Debug)]
pub struct Destination {
    name: String,
    target: Target,
    format: Format,
}

#[derive(Debug)]
enum Target {
    Stdout,
    /// A pipe or a device: written as it is.
    Stream(PathBuf),
    /// A file, replaced as a whole when it is complete. The path is canonical.
    File(PathBuf),
}

impl Destination {
    /// Checks that the matching rows of `source` can be written to `path`, or to standard output
    /// without one, so that a run does not fail at its end.
    ///
    /// The file name's ending tells the format; without one, lines stay lines. What is no
    /// regular file, as standard output, gets CSV from Parquet, and else the source's own format.
    ///
    /// # Errors
    /// If no file can be created there, it is the input, its name tells no format, or the format
    /// cannot hold the source's columns.
    pub fn prepare(path: Option<&Path>, source: &Source) -> Result<Self, Error> {
        let (name, target) = match path {
            None => ("standard output".to_owned(), Target::Stdout),
            Some(path) => (path.display().to_string(), Target::of(path)?),
        };
        let format = match (&target, path) {
            (Target::File(_), Some(path)) => file_format(path, source)?,
            (_, path) => path
                .and_then(Format::of_ending)
                .unwrap_or(stream_format(source)),
        };
        if let Target::File(path) = &target {
            if source.is_at(path) {
                return Err(Error::OutputIsInput { file: name });
            }
            // Created and dropped: only trying tells whether it can be.
            temporary(path).map_err(|error| Error::Create {
                file: name.clone(),
                source: error,
            })?;
        }
        write::fits(source, format)?.map_or(Ok(()), |reason| {
            Err(Error::Unfit {
                file: name.clone(),
                reason,
            })
        })?;
        Ok(Self {
            name,
            target,
            format,
        })
    }

    /// Writes the rows whose items are `matched`, in input order, and returns how many there
    /// are: [`stage`](Self::stage) and [`commit`](Staged::commit) at once.
    ///
    /// # Errors
    /// As those.
    ///
    /// # Panics
    /// If `matched` has not one flag for each distinct key.
    pub fn write(
        &self,
        source: &Source,
        rows: &RowItems,
        matched: &[bool],
        progress: &Progress,
    ) -> Result<u64, Error> {
        self.stage(source, rows, matched, progress)?.commit()
    }

    /// Writes the rows whose items are `matched`, in input order, without showing them yet if
    /// the destination is a file: what can fail, such as a disk that is full, has failed when
    /// this returns. In the source's own format every row keeps its bytes, or its types.
    ///
    /// A file appears, or is replaced, when it is [committed](Staged::commit), and not at all
    /// otherwise. A stream gets the rows at once.
    ///
    /// # Errors
    /// If the output cannot be written, or the source cannot be read or has changed since its
    /// keys were. An error of the kind [`BrokenPipe`](crate::ErrorKind::BrokenPipe) says that
    /// the output's reader wants no more.
    ///
    /// # Panics
    /// If `matched` has not one flag for each distinct key.
    pub fn stage(
        &self,
        source: &Source,
        rows: &RowItems,
        matched: &[bool],
        progress: &Progress,
    ) -> Result<Staged, Error> {
        let pass = |output: &mut (dyn Write + Send)| {
            write::matching_rows(
                source,
                rows.matches(matched),
                self.format,
                &mut write::Output {
                    name: &self.name,
                    writer: output,
                },
                progress,
            )
        };
        let (rows, file) = match &self.target {
            Target::Stdout => (pass(&mut BufWriter::new(io::stdout()))?, None),
            Target::Stream(path) => {
                let file = OpenOptions::new().write(true).open(path);
                let mut buffered =
                    BufWriter::new(file.map_err(|error| cannot_write(&self.name, error))?);
                (pass(&mut buffered)?, None)
            }
            Target::File(path) => {
                let (rows, file) = self.fill_temporary(path, pass)?;
                (rows, Some((file, path.clone())))
            }
        };
        Ok(Staged {
            name: self.name.clone(),
            rows,
            file,
        })
    }

    /// Fills a temporary file next to `path`, to the disk.
    fn fill_temporary(
        &self,
        path: &Path,
        fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<u64, Error>,
    ) -> Result<(u64, NamedTempFile), Error> {
        let cannot_write = |error| cannot_write(&self.name, error);
        let mut buffered = BufWriter::new(temporary(path).map_err(cannot_write)?);
        let rows = fill(&mut buffered)?;
        let file = buffered
            .into_inner()
            .map_err(|error| cannot_write(error.into_error()))?;
        file.as_file().sync_all().map_err(cannot_write)?;
        Ok((rows, file))
    }
}

/// Matching rows that are written, but not shown yet. When dropped, they are gone.
#[derive(Debug)]
pub struct Staged {
    name: String,
    rows: u64,
    file: Option<(NamedTempFile, PathBuf)>,
}

impl Staged {
    /// How many rows there are.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Puts the file in its place, and returns how many rows it has.
    ///
    /// # Errors
    /// If the operating system refuses.
    pub fn commit(self) -> Result<u64, Error> {
        if let Some((file, path)) = self.file {
            file.persist(path)
                .map_err(|error| cannot_write(&self.name, error.error))?;
        }
        Ok(self.rows)
    }
}

fn cannot_write(name: &str, source: io::Error) -> Error {
    Error::Write {
        file: name.to_owned(),
        source,
    }
}

impl Target {
    fn of(path: &Path) -> Result<Self, Error> {
        let name = || path.display().to_string();
        let cannot = |source| Error::Create {
            file: name(),
            source,
        };
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => Err(Error::OutputIsDirectory { file: name() }),
            Ok(found) if !found.is_file() => Ok(Self::Stream(path.to_owned())),
            // Not the link, but the file that it leads to, is replaced.
            Ok(_) => {
                OpenOptions::new().write(true).open(path).map_err(cannot)?;
                Ok(Self::File(fs::canonicalize(path).map_err(cannot)?))
            }
            Err(_) => {
                let (Some(file_name), Some(parent)) = (path.file_name(), path.parent()) else {
                    return Err(Error::OutputIsDirectory { file: name() });
                };
                let parent = if parent == Path::new("") {
                    Path::new(".")
                } else {
                    parent
                };
                Ok(Self::File(
                    fs::canonicalize(parent).map_err(cannot)?.join(file_name),
                ))
            }
        }
    }
}

fn stream_format(source: &Source) -> Format {
    match source.format() {
        Format::Parquet => Format::Csv,
        text => text,
    }
}

fn file_format(path: &Path, source: &Source) -> Result<Format, Error> {
    match Format::of_ending(path) {
        Some(format) => Ok(format),
        None if path.extension().is_none() && source.format() == Format::Lines => Ok(Format::Lines),
        None => Err(Error::OutputEnding {
            file: path.display().to_string(),
        }),
    }
}

/// A temporary file in the directory of `path`, with the access rights that `path` has or would
/// get if it were created as usual.
fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut builder = Builder::new();
    builder.prefix(".psijoin-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(directory)?;
    if let Ok(existing) = fs::metadata(path) {
        file.as_file().set_permissions(existing.permissions())?;
    }
    Ok(file)
}
