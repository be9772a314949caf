//! Keyword arguments of Python's calls, as values of their types.

use std::{fmt::Display, num::NonZeroUsize, ops::RangeInclusive, path::PathBuf, str::FromStr};

use psijoin_frontend::sizes;
use pyo3::{
    prelude::*,
    types::{PyBool, PyDict, PyMapping, PyString},
};

use crate::failed::{Failed, raised};

/// The keywords of a call. One that is `None` counts as missing.
pub(crate) struct Options<'a, 'py>(&'a Bound<'py, PyDict>);

/// Returns an exception for what cannot be asked for.
pub(crate) fn usage(message: impl Display) -> PyErr {
    raised(Failed::usage(message))
}

impl<'a, 'py> Options<'a, 'py> {
    /// Returns these keywords. `elsewhere` are some that another call takes, of this name.
    ///
    /// # Errors
    /// If one of them is not known.
    pub(crate) fn new(
        options: &'a Bound<'py, PyDict>,
        known: &[&str],
        (other, elsewhere): (&str, &[&str]),
    ) -> PyResult<Self> {
        for name in options.keys() {
            let name: String = name.extract()?;
            if known.contains(&&*name) {
                continue;
            }
            if elsewhere.contains(&&*name) {
                return Err(usage(format!("`{name}` is a keyword of `{other}`")));
            }
            let meant = nearest(options.py(), &name, known)?;
            let meant = meant.map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
            return Err(usage(format!("there is no keyword `{name}`{meant}")));
        }
        Ok(Self(options))
    }

    /// Returns these keywords, whether they are known or not.
    pub(crate) fn unchecked(options: &'a Bound<'py, PyDict>) -> Self {
        Self(options)
    }

    /// Returns the value of a keyword, if it was told.
    pub(crate) fn get(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = self.0.get_item(name)?;
        Ok(value.filter(|value| !value.is_none()))
    }

    /// Returns whether it is there, and is not `False`.
    pub(crate) fn is_told(&self, name: &str) -> PyResult<bool> {
        let is_false = |value: &Bound<'_, PyAny>| value.extract::<bool>().is_ok_and(|it| !it);
        Ok(self.get(name)?.is_some_and(|value| !is_false(&value)))
    }

    /// Returns a value of this type, or an error that tells its actual type.
    fn of_type<T: for<'b> FromPyObject<'b, 'py>>(
        &self,
        name: &str,
        is: &str,
    ) -> PyResult<Option<T>> {
        let Some(value) = self.get(name)? else {
            return Ok(None);
        };
        let value = value.extract::<T>();
        value
            .map(Some)
            .map_err(|_| usage(format!("`{name}` is {is}")))
    }

    /// Returns whether a flag is set.
    pub(crate) fn flag(&self, name: &str) -> PyResult<bool> {
        Ok(self.of_type(name, "True or False")?.unwrap_or_default())
    }

    /// Returns the name of a file or a folder.
    pub(crate) fn path(&self, name: &str) -> PyResult<Option<PathBuf>> {
        self.of_type(name, "the name of a file or a folder")
    }

    /// Returns a text.
    pub(crate) fn text(&self, name: &str) -> PyResult<Option<String>> {
        self.of_type(name, "a text")
    }

    /// Returns a text that this reads.
    pub(crate) fn read<T, E: Display>(
        &self,
        name: &str,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> PyResult<Option<T>> {
        let text = self.text(name)?;
        let value = text.map(|text| read(&text));
        value
            .transpose()
            .map_err(|error| usage(format!("`{name}`: {error}")))
    }

    /// Returns the value of a text.
    pub(crate) fn parsed<T: FromStr<Err: Display>>(&self, name: &str) -> PyResult<Option<T>> {
        self.read(name, T::from_str)
    }

    /// Returns a whole number in this range.
    pub(crate) fn whole<T: TryFrom<u64>>(
        &self,
        name: &str,
        range: RangeInclusive<u64>,
    ) -> PyResult<Option<T>> {
        let Some(value) = self.get(name)? else {
            return Ok(None);
        };
        let number = match value.is_instance_of::<PyBool>() {
            true => None,
            false => value.extract::<u64>().ok(),
        };
        let number = number.filter(|number| range.contains(number));
        match number.and_then(|number| T::try_from(number).ok()) {
            Some(number) => Ok(Some(number)),
            None => {
                let (least, most) = (range.start(), range.end());
                Err(usage(match *most {
                    u64::MAX => format!("`{name}` is a whole number of at least {least}"),
                    most => format!("`{name}` is a whole number from {least} to {most}"),
                }))
            }
        }
    }

    /// Returns a number of threads.
    pub(crate) fn threads(&self) -> PyResult<Option<NonZeroUsize>> {
        let threads = self.whole("threads", 1..=sizes::MOST_THREADS as u64)?;
        Ok(threads.and_then(NonZeroUsize::new))
    }

    /// Returns names of columns: one, or several.
    pub(crate) fn columns(&self, name: &str) -> PyResult<Option<Vec<String>>> {
        let value = self.get(name)?;
        value.map(|value| columns(&value, name)).transpose()
    }

    /// Returns a text for each of some columns.
    pub(crate) fn by_column(&self, name: &str) -> PyResult<Vec<(String, String)>> {
        let Some(value) = self.get(name)? else {
            return Ok(Vec::new());
        };
        let pairs = || {
            let items = value.cast::<PyMapping>().ok()?.items().ok()?;
            items.extract::<Vec<(String, String)>>().ok()
        };
        pairs().ok_or_else(|| {
            usage(format!(
                "`{name}` maps names of columns to rules, as {{\"email\": \"trim+lowercase\"}}"
            ))
        })
    }

    /// Fails if the first of these keywords is told, and none of the others is.
    pub(crate) fn only_with(&self, name: &str, others: &[&str]) -> PyResult<()> {
        if !self.is_told(name)? {
            return Ok(());
        }
        for other in others {
            if self.is_told(other)? {
                return Ok(());
            }
        }
        let others: Vec<_> = others.iter().map(|other| format!("`{other}`")).collect();
        let others = others.join(" or ");
        Err(usage(format!(
            "`{name}` goes with {others}: say that, too, or leave it out"
        )))
    }
}

/// Returns names of columns: one, or several.
pub(crate) fn columns(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<String>> {
    if value.is_instance_of::<PyString>() {
        return Ok(vec![value.extract()?]);
    }
    let several = value.extract::<Vec<String>>().ok();
    let several = several.filter(|names| !names.is_empty());
    several.ok_or_else(|| {
        usage(format!(
            "`{name}` is the name of a column, or a list of names"
        ))
    })
}

/// Returns the name that a mistyped one is nearest to, if it is near to any.
pub(crate) fn nearest(py: Python<'_>, name: &str, known: &[&str]) -> PyResult<Option<String>> {
    let matches = py.import("difflib")?.getattr("get_close_matches")?;
    let near: Vec<String> = matches.call1((name, known.to_vec(), 1))?.extract()?;
    Ok(near.into_iter().next())
}
