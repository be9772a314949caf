//! Counts and sums of groups, as both parties ask for them.

use std::{fmt, str::FromStr};

use psijoin::{Columns, Role};
use psijoin_printable::Quoted;

use crate::{
    names,
    public_labels::PublicLabels,
    requested_noise::RequestedNoise,
    requested_output::{ColumnName, check_number, of_names},
};

/// The most columns that name groups.
const MAX_COLUMNS: usize = 2;

/// Counts and sums of the shared keys of each group. A group has all keys of one label, or of one
/// pair of labels: the values of these columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestedGroups {
    /// The columns whose numbers are added up.
    pub sums: Vec<ColumnName>,
    /// Those of them whose means are shown beside the sums: the sum of a group, divided by the
    /// number of its keys.
    pub means: Vec<ColumnName>,
    /// The columns whose values name the groups: one, or two that are crossed.
    pub by: Vec<GroupColumn>,
    /// A group of fewer shared keys is withheld: its count, and its sums. None is if this is 0.
    pub least: u64,
    /// The noise that the sender adds to all totals, if it does.
    pub noise: Option<Box<RequestedNoise>>,
}

impl RequestedGroups {
    /// Returns a request for the sums of these columns, and the sums and means of others, each with
    /// the name of a [`ColumnName`], which does not say by which columns, and of which size. A
    /// column can be among both.
    ///
    /// # Errors
    /// If there are too many, or one cannot be asked for, or is named twice.
    pub fn of_totals(sums: &[String], means: &[String]) -> Result<Self, String> {
        let (mut sums, means) = (of_names(sums)?, of_names(means)?);
        let further = means.iter().filter(|mean| !sums.contains(mean));
        let further: Vec<_> = further.cloned().collect();
        sums.extend(further);
        check_number(&sums)?;
        Ok(Self {
            sums,
            means,
            ..Self::default()
        })
    }

    /// Returns the places of the columns whose means are shown, among those that are added up.
    pub(crate) fn places_of_means(&self) -> Vec<usize> {
        let place = |mean| self.sums.iter().position(|sum| sum == mean);
        self.means.iter().filter_map(place).collect()
    }

    /// Returns the number of columns of each party that name groups.
    pub fn holders(&self) -> Columns {
        let of = |role| {
            self.by
                .iter()
                .filter(|column| column.holder == role)
                .count()
        };
        Columns {
            sender: of(Role::Sender),
            receiver: of(Role::Receiver),
        }
    }

    /// Returns whether a group of a single key is shown, and exactly.
    pub fn shows_single_keys(&self) -> bool {
        self.least < 2 && self.noise.is_none()
    }

    /// Returns the place of the column that a list of labels is for: the one of this name, or the
    /// only one if no name is said.
    ///
    /// # Errors
    /// If there is no such column, or there are two and no name.
    pub fn place_of_list(&self, name: Option<&str>) -> Result<usize, String> {
        let columns = || self.listed();
        match name {
            Some(name) => {
                let mut by = self.by.iter();
                by.position(|column| column.to_string() == name)
                    .ok_or_else(|| {
                        format!(
                            "keys are grouped by {}, and not by {}",
                            columns(),
                            Quoted(name)
                        )
                    })
            }
            None if self.by.len() == 1 => Ok(0),
            None => Err(format!("say for which of {} the list is", columns())),
        }
    }

    /// Returns the lists of labels of all columns, as two parties tell them apart, if some column
    /// has one.
    pub(crate) fn lists(&self) -> Option<String> {
        let list = |column: &GroupColumn| match &column.public {
            None => "as its holder has them".to_owned(),
            Some(list) => list.to_string(),
        };
        let lists: Vec<_> = self.by.iter().map(list).collect();
        let has_list = self.by.iter().any(|column| column.public.is_some());
        has_list.then(|| lists.join(", "))
    }

    /// Returns the columns that name groups, as they are said.
    pub fn listed(&self) -> String {
        let names: Vec<_> = self.by.iter().map(GroupColumn::to_string).collect();
        names::listed(&names)
    }
}

/// A column whose values name groups: `sender.COLUMN` or `receiver.COLUMN`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupColumn {
    /// The party that has the column.
    pub holder: Role,
    /// Its name in its holder's table.
    pub name: String,
    /// Its labels, if both parties have a list of them. If not, its holder says them.
    pub public: Option<PublicLabels>,
}

impl GroupColumn {
    /// Reads a list of [names](crate::names) of columns, one or two.
    ///
    /// # Errors
    /// If there are more, one is named twice, or one does not tell its holder.
    pub fn list(text: &str) -> Result<Vec<Self>, String> {
        Self::of_names(&names::parse(text)?)
    }

    /// Returns the columns of these names, one or two.
    ///
    /// # Errors
    /// As [`list`](Self::list), and if there are none.
    pub fn of_names(names: &[String]) -> Result<Vec<Self>, String> {
        let columns = names.iter().map(|name| name.parse());
        let columns: Vec<Self> = columns.collect::<Result<_, _>>()?;
        match &columns[..] {
            [] => Err("name the columns to group by".to_owned()),
            [one, other] if one == other => Err(format!(
                "the column {} is given twice",
                Quoted(&one.to_string())
            )),
            columns if columns.len() > MAX_COLUMNS => {
                Err("keys are grouped by one or two columns".to_owned())
            }
            _ => Ok(columns),
        }
    }
}

impl FromStr for GroupColumn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let ColumnName { holder, name } = text.parse()?;
        let holder =
            holder.ok_or("say whose column it is, as in receiver.segment or sender.plan")?;
        Ok(Self {
            holder,
            name,
            public: None,
        })
    }
}

impl fmt::Display for GroupColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.holder, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_read_as_they_are_listed() {
        for text in [
            "receiver.segment",
            "sender.plan,receiver.exposed",
            "sender.plan,\"sender.last, first\"",
        ] {
            let by = GroupColumn::list(text).unwrap();
            let groups = RequestedGroups {
                by,
                ..RequestedGroups::default()
            };
            assert_eq!(groups.listed(), text);
        }
        for wrong in [
            "",
            "segment",
            "sender.",
            "receiver.a,receiver.a",
            "sender.a,sender.b,sender.c",
            "sender.a\tb",
        ] {
            assert!(GroupColumn::list(wrong).is_err(), "{wrong}");
        }
        assert!(GroupColumn::of_names(&[]).is_err());
    }

    #[test]
    fn a_list_is_for_one_of_the_columns() {
        let groups = |by: &str| RequestedGroups {
            by: GroupColumn::list(by).unwrap(),
            ..RequestedGroups::default()
        };
        let one = groups("receiver.a");
        assert_eq!(one.place_of_list(None), Ok(0));
        assert_eq!(one.place_of_list(Some("receiver.a")), Ok(0));
        assert!(one.place_of_list(Some("a")).is_err());
        let mut two = groups("receiver.a,sender.b=c");
        assert_eq!(two.place_of_list(Some("sender.b=c")), Ok(1));
        assert!(two.place_of_list(None).is_err());
        assert_eq!(two.lists(), None);
        two.by[1].public = Some(PublicLabels::new(["x".to_owned()]).unwrap());
        let lists = two.lists().unwrap();
        assert!(
            lists.starts_with("as its holder has them, 1 label (BLAKE3 "),
            "{lists}"
        );
    }
}
