//! The columns of a key in a table.

use arrow_schema::SchemaRef;
use psijoin_key::{KeySpec, Rule};

use crate::{
    Error, ReadError, Source,
    read::{
        arrow::{can_be_key, check_meanings, first_of_unfit_type, unknown_key},
        header::Header,
    },
};

impl Source {
    /// Checks that the table has the columns of a key, without reading more than its header.
    ///
    /// # Errors
    /// If the header cannot be read, or a column is missing or not unique; if a Parquet file tells
    /// that the column's values can be no key, or cannot be read.
    pub fn check_key(&self, key: &KeySpec) -> Result<(), Error> {
        let names = self.columns()?;
        let header = self.header(&names);
        let found = header.key_columns(key)?;
        let countries = header.country_columns(key)?;
        let columns: Vec<_> = found
            .into_iter()
            .chain(countries.into_iter().flatten())
            .collect();
        match self.layout() {
            Some(_) => Ok(()),
            None => self.check_key_types(&self.schema()?, &columns),
        }
    }

    /// Checks that these typed columns can be read, and be a key, as far as the schema tells.
    ///
    /// # Errors
    /// If one cannot.
    pub fn check_key_types(&self, schema: &SchemaRef, key: &[usize]) -> Result<(), Error> {
        self.check_readable(schema, key)?;
        check_meanings(self.name(), schema, key, unknown_key)?;
        match first_of_unfit_type(schema, key, can_be_key) {
            Some((column, data_type)) => Err(Error::Read(ReadError::KeyType {
                file: self.name().to_owned(),
                column,
                data_type,
            })),
            None => Ok(()),
        }
    }
}

impl Header<'_> {
    /// Returns what errors call the columns of a key in this table: what the user calls them.
    pub fn shown_names(&self, key: &KeySpec) -> Vec<String> {
        match key.columns() {
            [] => self.names.to_vec(),
            columns => columns.to_vec(),
        }
    }

    /// Finds, for each position of a key, the column that has the countries of its telephone
    /// numbers.
    ///
    /// # Errors
    /// If one is missing, or not unique.
    pub fn country_columns(&self, key: &KeySpec) -> Result<Vec<Option<usize>>, ReadError> {
        let column = |rules: &[Rule]| {
            let mut columns = rules.iter().filter_map(Rule::country_column);
            columns.next().map(|column| self.find(column)).transpose()
        };
        key.rules_by_position().into_iter().map(column).collect()
    }

    /// Finds the columns of a key: the only column, if it names none.
    ///
    /// # Errors
    /// If one is missing, or not unique; if there are several, and the key names none.
    pub fn key_columns(&self, key: &KeySpec) -> Result<Vec<usize>, ReadError> {
        if !key.columns().is_empty() {
            return self.find_all(key.columns());
        }
        if self.names.len() != 1 {
            return Err(ReadError::NoKey {
                file: self.file.to_owned(),
                columns: self.shown(),
            });
        }
        // The only rule that may be given must be for this column.
        for rules in key.rules() {
            self.find(&rules.column)?;
        }
        Ok(vec![0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::dialect::{Delimited, Layout};

    fn spec(columns: &[&str], rules: &[&str]) -> Result<KeySpec, psijoin_key::Error> {
        KeySpec::new(
            columns.iter().map(|&column| column.to_owned()).collect(),
            rules.iter().map(|rules| rules.parse().unwrap()).collect(),
        )
    }

    fn owned(columns: &[&str]) -> Vec<String> {
        columns.iter().map(|&column| column.to_owned()).collect()
    }

    /// Finds a key in the header of `t`, whose columns are names for sure or not.
    fn resolve(key: &KeySpec, names: &[&str], are_names: bool) -> Result<Vec<usize>, String> {
        let header = Header {
            file: "t",
            names: &owned(names),
            layout: (!are_names).then_some(Layout::Delimited(Delimited::CSV)),
            has_positions: true,
        };
        header.key_columns(key).map_err(|error| error.to_string())
    }

    #[test]
    fn columns_are_found_by_name() {
        let table = ["id", "name", "name"];
        let of =
            |columns: &[&str], are_names| resolve(&spec(columns, &[]).unwrap(), &table, are_names);
        assert_eq!(of(&["id"], true).unwrap(), [0]);
        assert_eq!(
            of(&["name"], true).unwrap_err(),
            "t has more than one column `name`: the name of a column that is read must be unique (rename one of them)"
        );
        assert_eq!(
            of(&["nam"], true).unwrap_err(),
            "t has no column `nam`; its columns are `id`, `name`, `name`"
        );
        assert_eq!(
            of(&[], true).unwrap_err(),
            "t has 3 columns: its key columns have to be named; its columns are `id`, `name`, `name`"
        );
        assert_eq!(
            of(&["nam"], false).unwrap_err(),
            "t has no column `nam`; it has 3 columns"
        );
        assert_eq!(
            of(&[], false).unwrap_err(),
            "t has 3 columns: its key columns have to be named"
        );
    }

    #[test]
    fn an_only_column_needs_no_name() {
        let only = |rule| resolve(&spec(&[], &[rule]).unwrap(), &["value"], true);
        assert_eq!(only("value=trim").unwrap(), [0]);
        assert_eq!(
            only("line=trim").unwrap_err(),
            "t has no column `line`; its only column is `value`"
        );
        let unsure = resolve(&spec(&["x"], &[]).unwrap(), &["value"], false);
        assert_eq!(unsure.unwrap_err(), "t has no column `x`; it has 1 column");
    }

    #[test]
    fn long_column_lists_are_cut() {
        let wide: Vec<String> = (0..23).map(|index| format!("c{index}")).collect();
        let wide: Vec<&str> = wide.iter().map(String::as_str).collect();
        let error = resolve(&spec(&["x"], &[]).unwrap(), &wide, true).unwrap_err();
        assert!(error.ends_with("`c18`, `c19` and 3 more"));
    }
}
