//! Files that users name: the text of the terms, and files of a run that must not be the same, as
//! what is written would destroy what is read.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use psijoin_record::Terms;

use crate::Failure;

/// Reads the text of the terms, as far as terms may go.
///
/// # Errors
/// [`Failure::Terms`] if it cannot be read, is empty, or too long.
pub fn read_terms(path: &Path) -> Result<Terms, Failure> {
    let unusable = |why: String| Failure::Terms {
        path: path.to_owned(),
        why,
    };
    File::open(path)
        .and_then(Terms::read)
        .map_err(|error| unusable(error.to_string()))?
        .map_err(|error| unusable(error.to_string()))
}

/// The files of a run beside its table's.
#[derive(Default)]
pub struct Files<'a> {
    /// The report.
    pub report: Option<Named<'a>>,
    /// The record.
    pub record: Option<Named<'a>>,
    /// The result.
    pub output: Option<Named<'a>>,
    /// This party's identity.
    pub identity: Option<Named<'a>>,
    /// Its passphrase.
    pub passphrase: Option<Named<'a>>,
    /// The text of the terms.
    pub terms: Option<Named<'a>>,
    /// Its budget.
    pub budget: Option<Named<'a>>,
    /// Its lists of labels.
    pub lists: Vec<Named<'a>>,
    /// The table.
    pub inputs: Vec<Named<'a>>,
}

/// A file, and the option that names it.
pub struct Named<'a> {
    option: &'static str,
    path: &'a Path,
}

impl<'a> Named<'a> {
    /// Returns the file that is named so by this option.
    pub fn new(option: &'static str, path: &'a Path) -> Self {
        Self { option, path }
    }
}

/// Refuses a report, a record or an output in the place of the identity, of its passphrase, of the
/// terms, of the budget, of a list of labels, of an input or of each other, as far as their names
/// tell. The files of a pattern or a folder are known once it has been opened.
///
/// # Errors
/// [`Failure::Usage`].
pub fn refuse_clashes(files: &Files<'_>) -> Result<(), Failure> {
    let Files {
        report,
        record,
        output,
        identity,
        passphrase,
        terms,
        budget,
        lists,
        inputs,
    } = files;
    for written in [report, record, output].into_iter().flatten() {
        refuse_pair(written, identity.as_ref())?;
        refuse_pair(written, passphrase.as_ref())?;
        refuse_pair(written, terms.as_ref())?;
        refuse_pair(written, budget.as_ref())?;
        for list in lists {
            refuse_pair(written, Some(list))?;
        }
    }
    for written in [report, record].into_iter().flatten() {
        refuse_pair(written, output.as_ref())?;
        for input in inputs {
            refuse_pair(written, Some(input))?;
        }
    }
    match report {
        Some(report) => refuse_pair(report, record.as_ref()),
        None => Ok(()),
    }
}

fn refuse_pair(written: &Named<'_>, other: Option<&Named<'_>>) -> Result<(), Failure> {
    let same = |other: &&Named<'_>| match (place(written.path), place(other.path)) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    };
    match other.filter(same) {
        None => Ok(()),
        Some(other) => Err(Failure::Usage(format!(
            "{} and {} name the same file, {}: nothing was written",
            written.option,
            other.option,
            psijoin_printable::path(written.path)
        ))),
    }
}

/// Returns where a file is, or would be, by whatever way its name leads there.
fn place(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path).or_else(|error| {
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let name = path.file_name().ok_or(error)?;
        Ok(fs::canonicalize(folder.unwrap_or(Path::new(".")))?.join(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_the_same_by_all_ways() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        fs::write(at("there"), "").unwrap();
        for name in ["there", "not-there"] {
            let direct = place(&at(name)).unwrap();
            assert_eq!(place(&at("sub/..").join(name)).unwrap(), direct);
            assert_eq!(place(&at(".").join(name)).unwrap(), direct);
        }
        assert_ne!(
            place(&at("there")).unwrap(),
            place(&at("not-there")).unwrap()
        );
        assert!(place(&at("none/x")).is_err());
    }
}
