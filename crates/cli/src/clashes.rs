//! Files of a run that must not be the same: what is written would destroy what is read.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::exit::Failure;

/// The files of a run beside its table's.
#[derive(Default)]
pub(crate) struct Files<'a> {
    pub(crate) report: Option<Named<'a>>,
    pub(crate) record: Option<Named<'a>>,
    pub(crate) output: Option<Named<'a>>,
    pub(crate) identity: Option<Named<'a>>,
    pub(crate) terms: Option<Named<'a>>,
    pub(crate) inputs: Vec<Named<'a>>,
}

/// A file, and the option that names it.
pub(crate) struct Named<'a> {
    option: &'static str,
    path: &'a Path,
}

impl<'a> Named<'a> {
    pub(crate) fn new(option: &'static str, path: &'a Path) -> Self {
        Self { option, path }
    }
}

/// Refuses a report, a record or an output in the place of the identity, of the terms, of an input
/// or of each other, as far as their names tell. The files of a pattern or a folder are known once
/// it has been opened.
///
/// # Errors
/// [`Failure::Usage`].
pub(crate) fn refuse(files: &Files<'_>) -> Result<(), Failure> {
    let Files {
        report,
        record,
        output,
        identity,
        terms,
        inputs,
    } = files;
    for written in [report, record, output].into_iter().flatten() {
        refuse_pair(written, identity.as_ref())?;
        refuse_pair(written, terms.as_ref())?;
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
