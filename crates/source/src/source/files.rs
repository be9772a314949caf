//! The files that a table is made of: those that are named, match a pattern, or are in a folder.

use std::{
    collections::HashMap,
    fs, io,
    path::{self, Path, PathBuf},
};

use glob::{MatchOptions, Pattern, glob_with};

use super::partition::{Partition, partitions};
use crate::{Error, SourceError, TableLog};

/// Patterns mean what they mean to a shell.
const AS_A_SHELL: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

/// A file of a table.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) path: PathBuf,
    /// The folder in which it was found, and the values in the names of the folders below that.
    pub(super) found_in: Option<(PathBuf, Vec<Partition>)>,
}

impl Listed {
    /// Returns the values in its folders' names.
    pub(super) fn partitions(&self) -> &[Partition] {
        match &self.found_in {
            Some((_, partitions)) => partitions,
            None => &[],
        }
    }
}

/// Returns the files that the inputs mean, sorted by the bytes of their paths.
///
/// # Errors
/// If a file does not exist, or nothing matches a pattern; if a folder cannot be read or is empty;
/// if a file is there twice.
pub(super) fn list(inputs: &[PathBuf]) -> Result<Vec<Listed>, Error> {
    let mut files = Vec::new();
    for input in inputs {
        match fs::metadata(input) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => match pattern(input) {
                Some(pattern) => matching(pattern, &mut files)?,
                None => return Err(cannot_open(input, error)),
            },
            Err(error) => return Err(cannot_open(input, error)),
            Ok(metadata) if metadata.is_dir() => in_folder(input, &mut files)?,
            Ok(_) => files.push(named(input.clone())),
        }
    }
    // One order for all spellings of the paths: `./b` is not before `a`.
    let absolute = |path: &Path| path::absolute(path).unwrap_or_else(|_| path.to_owned());
    files.sort_by_cached_key(|file| {
        let bytes = absolute(&file.path).into_os_string().into_encoded_bytes();
        (bytes, file.path.clone())
    });
    refuse_repeated(&files)?;
    Ok(files)
}

/// Returns whether these inputs would mean a new file at this path too, the next time.
pub(super) fn would_take(inputs: &[PathBuf], path: &Path) -> bool {
    let Ok(path) = path::absolute(path) else {
        return false;
    };
    inputs.iter().any(|input| {
        let is_left_aside = path.file_name().is_some_and(is_left_aside);
        match (fs::canonicalize(input), pattern(input)) {
            (Ok(found), _) if found.is_dir() => {
                let folder = path
                    .parent()
                    .and_then(|folder| fs::canonicalize(folder).ok());
                !is_left_aside && folder.is_some_and(|folder| folder.starts_with(found))
            }
            (Err(_), Some(_)) => {
                let absolute = path::absolute(input).ok();
                let pattern = absolute.and_then(|input| Pattern::new(input.to_str()?).ok());
                pattern.is_some_and(|pattern| pattern.matches_path_with(&path, AS_A_SHELL))
            }
            _ => false,
        }
    })
}

fn named(path: PathBuf) -> Listed {
    Listed {
        path,
        found_in: None,
    }
}

fn cannot_open(path: &Path, source: io::Error) -> Error {
    Error::Source(SourceError::Open {
        file: psijoin_printable::path(path),
        cause: source,
    })
}

/// Returns the input as a pattern, if it looks like one.
fn pattern(input: &Path) -> Option<&str> {
    input.to_str().filter(|text| text.contains(['*', '?', '[']))
}

/// Adds what matches a pattern as a shell would expand it, except files that are left aside in a
/// folder, unless the pattern has their first letter.
fn matching(pattern: &str, files: &mut Vec<Listed>) -> Result<(), Error> {
    let no_match = || {
        Error::Source(SourceError::NoMatch {
            pattern: pattern.to_owned(),
        })
    };
    let asks_for_it = Path::new(pattern).file_name().is_some_and(is_left_aside);
    let before = files.len();
    for found in glob_with(pattern, AS_A_SHELL).map_err(|_| no_match())? {
        let path = found.map_err(|error| cannot_open(error.path(), io_error(&error)))?;
        if !asks_for_it && path.file_name().is_some_and(is_left_aside) {
            continue;
        }
        match path.is_dir() {
            true => in_folder(&path, files)?,
            false => files.push(named(path)),
        }
    }
    let mut folders: Vec<&Path> = files[before..]
        .iter()
        .filter_map(|file| file.path.parent())
        .collect();
    folders.dedup();
    folders.into_iter().try_for_each(refuse_logged)?;
    match files.len() > before {
        true => Ok(()),
        false => Err(no_match()),
    }
}

fn io_error(error: &glob::GlobError) -> io::Error {
    match error.error().raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => error.error().kind().into(),
    }
}

/// Adds the files of a folder and of those in it.
fn in_folder(root: &Path, files: &mut Vec<Listed>) -> Result<(), Error> {
    refuse_logged(root)?;
    let before = files.len();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        if let Some(log) = TableLog::of(&folder) {
            return Err(logged(&folder, log));
        }
        let cannot = |error| cannot_open(&folder, error);
        for entry in fs::read_dir(&folder).map_err(cannot)? {
            let entry = entry.map_err(cannot)?;
            if is_left_aside(&entry.file_name()) {
                continue;
            }
            let path = entry.path();
            let metadata = fs::metadata(&path).map_err(|error| cannot_open(&path, error))?;
            match metadata.is_dir() {
                true => folders.push(path),
                false => files.push(Listed {
                    found_in: Some((root.to_owned(), partitions(root, &path)?)),
                    path,
                }),
            }
        }
    }
    match files.len() > before {
        true => Ok(()),
        false => Err(Error::Source(SourceError::EmptyFolder {
            folder: psijoin_printable::path(root),
        })),
    }
}

/// Refuses all files of a folder if a log lists those that count. A user who names files one by one
/// may mean just those.
fn refuse_logged(folder: &Path) -> Result<(), Error> {
    let found = fs::canonicalize(folder)
        .ok()
        .and_then(|folder| TableLog::above(&folder));
    match found {
        Some((_, log)) => Err(logged(folder, log)),
        None => Ok(()),
    }
}

fn logged(folder: &Path, log: TableLog) -> Error {
    Error::Source(SourceError::Logged {
        folder: psijoin_printable::path(folder),
        log,
    })
}

/// Returns whether a file or folder of this name is not part of the table, such as Spark's
/// `_SUCCESS`, `_metadata` and `.part-0.crc`.
fn is_left_aside(name: &std::ffi::OsStr) -> bool {
    matches!(name.as_encoded_bytes(), [b'_' | b'.', ..])
}

/// Refuses a file that is there twice, by whatever paths. A stream is a new one at each opening.
fn refuse_repeated(files: &[Listed]) -> Result<(), Error> {
    let mut known: HashMap<PathBuf, &Path> = HashMap::new();
    for Listed { path, .. } in files {
        let Ok(canonical) = fs::canonicalize(path) else {
            continue;
        };
        if let Some(first) = known.insert(canonical, path) {
            return Err(Error::Source(SourceError::RepeatedFile {
                file: psijoin_printable::path(path),
                first: psijoin_printable::path(first),
            }));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a directory with these empty files.
    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        folder
    }

    /// Returns the files below `folder` that these inputs below it mean.
    fn listed(folder: &Path, inputs: &[&str]) -> Result<Vec<String>, Error> {
        let inputs: Vec<_> = inputs.iter().map(|input| folder.join(input)).collect();
        let relative = |file: Listed| {
            let path = file.path.strip_prefix(folder).unwrap();
            path.to_str().unwrap().to_owned()
        };
        Ok(list(&inputs)?.into_iter().map(relative).collect())
    }

    #[test]
    fn files_are_sorted_by_the_bytes_of_their_paths() {
        let folder = folder(&["b.csv", "a/x.csv", "a-b.csv", "part-10.csv", "part-2.csv"]);
        assert_eq!(
            listed(
                folder.path(),
                &["part-2.csv", "b.csv", "a/x.csv", "part-10.csv", "./a-b.csv"]
            )
            .unwrap(),
            ["a-b.csv", "a/x.csv", "b.csv", "part-10.csv", "part-2.csv"]
        );
    }

    #[test]
    fn patterns_are_as_those_of_a_shell() {
        let folder = folder(&["a.csv", "b.csv", ".c.csv", "d.tsv", "e/f.csv", "g[1].csv"]);
        let listed = |pattern| listed(folder.path(), &[pattern]);
        assert_eq!(listed("*.csv").unwrap(), ["a.csv", "b.csv", "g[1].csv"]);
        assert_eq!(listed("[ab].?sv").unwrap(), ["a.csv", "b.csv"]);
        assert_eq!(listed("*/*.csv").unwrap(), ["e/f.csv"]);
        // A file of that very name wins.
        assert_eq!(listed("g[1].csv").unwrap(), ["g[1].csv"]);
        assert!(matches!(
            listed("*.txt"),
            Err(Error::Source(SourceError::NoMatch { .. }))
        ));
        assert!(matches!(
            listed("***"),
            Err(Error::Source(SourceError::NoMatch { .. }))
        ));
        assert!(matches!(
            listed("a.txt"),
            Err(Error::Source(SourceError::Open { .. }))
        ));
    }

    #[test]
    fn folders_are_searched_and_marks_are_skipped() {
        let folder = folder(&[
            "t/_SUCCESS",
            "t/.x.parquet.crc",
            "t/_temporary/y.parquet",
            "t/day=2/x.parquet",
            "t/day=1/x.parquet",
            "e/_SUCCESS",
        ]);
        assert_eq!(
            listed(folder.path(), &["t"]).unwrap(),
            ["t/day=1/x.parquet", "t/day=2/x.parquet"]
        );
        assert!(matches!(
            listed(folder.path(), &["e"]),
            Err(Error::Source(SourceError::EmptyFolder { .. }))
        ));
    }

    #[test]
    fn files_that_a_log_chooses_from_are_refused() {
        for (log, mark) in [
            (TableLog::Delta, "_delta_log/00000000000000000000.json"),
            (TableLog::Hudi, ".hoodie/hoodie.properties"),
            (TableLog::Iceberg, "metadata/00000-x.metadata.json"),
            (TableLog::Iceberg, "metadata/version-hint.text"),
            (TableLog::SparkStreaming, "_spark_metadata/0"),
        ] {
            let folder = folder(&["t/day=1/x.parquet", "u/x.parquet", &format!("t/{mark}")]);
            let listed = |input| listed(folder.path(), &[input]);
            for input in [".", "t", "t/day=1", "t/day=1/*", "t/*/*.parquet", "*"] {
                let refused = listed(input).unwrap_err();
                assert!(
                    matches!(refused, Error::Source(SourceError::Logged { log: found, .. }) if found == log)
                );
            }
            assert_eq!(listed("u").unwrap(), ["u/x.parquet"]);
            assert_eq!(listed("t/day=1/x.parquet").unwrap().len(), 1);
        }
        let folder = folder(&["t/metadata/x.parquet", "t/x.parquet"]);
        assert_eq!(listed(folder.path(), &["t"]).unwrap().len(), 2);
    }

    #[test]
    fn no_file_is_taken_twice() {
        let folder = folder(&["a.csv", "b/c.csv"]);
        for inputs in [
            &["a.csv", "a.csv"][..],
            &["a.csv", "*.csv"],
            &["a.csv", "b/../a.csv"],
        ] {
            assert!(matches!(
                listed(folder.path(), inputs),
                Err(Error::Source(SourceError::RepeatedFile { .. }))
            ));
        }
    }
}
