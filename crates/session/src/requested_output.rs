//! The kinds of output that both parties can ask for.

use std::{fmt, str::FromStr};

use psijoin::{Columns, Groups, OutputKind, Role};
use psijoin_handshake::MAX_ENTRIES;
use psijoin_printable::{Quoted, is_all_printable};

use crate::{
    names::{self, MEAN},
    requested_groups::RequestedGroups,
};

/// The most columns of numbers: each party tells a fact for each, and the rest are for the key.
const MAX_COLUMNS: usize = MAX_ENTRIES / 2;

/// A kind of output. Its text is the same on both sides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum RequestedOutput {
    /// The shared rows.
    #[default]
    Rows,
    /// The number of shared keys.
    Count,
    /// One bit: at least this many are shared.
    Threshold(u64),
    /// The sums of columns over them.
    Sum(Vec<ColumnName>),
    /// Shares of one bit per key, and of their numbers, for each party.
    Shares(Vec<ColumnName>),
    /// The count, and the sums of columns, of each group of them.
    Groups(RequestedGroups),
}

impl RequestedOutput {
    /// Returns the columns of numbers that it names.
    pub fn columns(&self) -> &[ColumnName] {
        match self {
            Self::Rows | Self::Count | Self::Threshold(_) => &[],
            Self::Sum(columns) | Self::Shares(columns) => columns,
            Self::Groups(groups) => &groups.sums,
        }
    }

    /// Returns the groups that it asks for.
    pub fn groups(&self) -> Option<&RequestedGroups> {
        match self {
            Self::Groups(groups) => Some(groups),
            _ => None,
        }
    }

    /// Returns how many columns the request assigns to each party by name.
    pub fn holders(&self) -> Columns {
        let of = |role| {
            let columns = self.columns().iter();
            columns.filter(|column| column.holder == Some(role)).count()
        };
        Columns {
            sender: of(Role::Sender),
            receiver: of(Role::Receiver),
        }
    }

    /// Returns how many columns each party is taken to have where there is no table to look into:
    /// those that the request assigns to nobody are the sender's, as nobody has to allow their
    /// sums.
    pub fn likely_holders(&self) -> Columns {
        let receiver = self.holders().receiver;
        Columns {
            sender: self.columns().len() - receiver,
            receiver,
        }
    }

    /// Returns what the protocol is to compute if each party has this many of the columns, and its
    /// keys have this many labels.
    pub fn output_kind(&self, columns: Columns, labels: Columns) -> OutputKind {
        match *self {
            Self::Rows => OutputKind::Rows,
            Self::Count => OutputKind::Count,
            Self::Threshold(least) => OutputKind::Threshold(least),
            Self::Sum(_) => OutputKind::Sums(columns),
            Self::Shares(_) => OutputKind::Shares(columns),
            Self::Groups(RequestedGroups {
                least, ref noise, ..
            }) => OutputKind::Groups(Groups {
                columns,
                labels,
                least,
                noisy: noise.is_some(),
            }),
        }
    }
}

impl RequestedOutput {
    /// Returns the sums of these columns, each with the name of a [`ColumnName`].
    ///
    /// # Errors
    /// If there are none, or too many, or one cannot be asked for, or is named twice.
    pub fn sum(names: &[String]) -> Result<Self, String> {
        match names {
            [] => Err("name the columns to add up".to_owned()),
            names => of_names(names).map(Self::Sum),
        }
    }

    /// Returns why it is not withheld if too few keys are shared, if it cannot be.
    pub fn why_not_withheld(&self) -> &'static str {
        match self {
            Self::Shares(_) => "shares tell nothing that could be withheld",
            Self::Groups(_) => "groups are withheld one by one, by a least size of each",
            _ => "a threshold is itself whether that many keys are shared",
        }
    }
}

impl fmt::Display for RequestedOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows => f.write_str("rows"),
            Self::Count => f.write_str("count"),
            Self::Threshold(least) => write!(f, "threshold:{least}"),
            Self::Sum(columns) => write!(f, "sum:{}", listed(columns)),
            Self::Shares(columns) if columns.is_empty() => f.write_str("shares"),
            Self::Shares(columns) => write!(f, "shares:{}", listed(columns)),
            Self::Groups(groups) => {
                f.write_str("counts")?;
                if !groups.sums.is_empty() {
                    write!(f, ",sum:{}", listed(&groups.sums))?;
                }
                match groups.means[..] {
                    [] => Ok(()),
                    ref means => write!(f, ",{MEAN}{}", listed(means)),
                }
            }
        }
    }
}

fn listed(columns: &[ColumnName]) -> String {
    let names: Vec<_> = columns.iter().map(ColumnName::to_string).collect();
    names::listed(&names)
}

impl FromStr for RequestedOutput {
    type Err = String;

    /// Reads an output. Of groups, it does not say by which columns, and of which size.
    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(sums) = text.strip_prefix("counts") {
            return counts(sums).map(Self::Groups);
        }
        match text.split_once(':') {
            None if text == "rows" => Ok(Self::Rows),
            None if text == "count" => Ok(Self::Count),
            None if text == "sum" => Err("name the columns to add up, as in sum:amount".into()),
            Some(("threshold", least)) => match least.parse() {
                Ok(least @ 1..) => Ok(Self::Threshold(least)),
                _ => Err("a threshold is a whole number of at least 1, as in threshold:100".into()),
            },
            None if text == "shares" => Ok(Self::Shares(Vec::new())),
            Some(("sum", names)) => columns(names).map(Self::Sum),
            Some(("shares", names)) => columns(names).map(Self::Shares),
            _ => Err(
                "the kinds of output are rows, count, threshold:K, sum:COLUMN[,COLUMN…], \
                 counts[,sum:COLUMN[,COLUMN…]][,mean:COLUMN[,COLUMN…]], shares and shares:COLUMN[,COLUMN…]"
                    .into(),
            ),
        }
    }
}

/// Reads what follows `counts`: nothing, sums of groups, means, or sums and then means.
fn counts(totals: &str) -> Result<RequestedGroups, String> {
    let before_means = format!(",{MEAN}");
    // Within quotes, it is a part of a name.
    let is_outside = |at: &usize| totals[..*at].matches('"').count().is_multiple_of(2);
    let mut found = totals.match_indices(&before_means).map(|(at, _)| at);
    let (sums, means) = match found.find(is_outside) {
        Some(at) => (&totals[..at], Some(&totals[at + before_means.len()..])),
        None => (totals, None),
    };
    let sums = match (sums, sums.strip_prefix(",sum:")) {
        ("", _) => None,
        (_, Some(sums)) => Some(sums),
        _ => {
            return Err(
                "say counts, counts,sum:COLUMN[,COLUMN…] or counts,mean:COLUMN[,COLUMN…]".into(),
            );
        }
    };
    let [sums, means] = [sums, means].map(|list| list.map_or(Ok(Vec::new()), names::parse));
    RequestedGroups::of_totals(&sums?, &means?)
}

/// Reads a list of columns, each of them once.
fn columns(text: &str) -> Result<Vec<ColumnName>, String> {
    of_names(&names::parse(text)?)
}

/// Returns the columns of these names, each of them once.
pub(crate) fn of_names(names: &[String]) -> Result<Vec<ColumnName>, String> {
    let mut columns: Vec<ColumnName> = Vec::new();
    for name in names {
        let column: ColumnName = name.parse()?;
        if columns.contains(&column) {
            return Err(format!(
                "the column {} is given twice",
                Quoted(&column.to_string())
            ));
        }
        columns.push(column);
    }
    check_number(&columns)?;
    Ok(columns)
}

/// Checks that these are not too many columns.
pub(crate) fn check_number(columns: &[ColumnName]) -> Result<(), String> {
    match columns.len() > MAX_COLUMNS {
        true => Err(format!(
            "more than {MAX_COLUMNS} columns cannot be asked for"
        )),
        false => Ok(()),
    }
}

/// A column of numbers as both sides name it: `sender.COLUMN`, `receiver.COLUMN`, or `COLUMN`
/// for a column of whichever table has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnName {
    /// The party that has the column, if given.
    pub holder: Option<Role>,
    /// Its name in its holder's table.
    pub name: String,
}

impl FromStr for ColumnName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (holder, name) = match text.split_once('.') {
            Some(("sender", name)) => (Some(Role::Sender), name),
            Some(("receiver", name)) => (Some(Role::Receiver), name),
            _ => (None, text),
        };
        if name.is_empty() {
            return Err("the name of a column is missing".into());
        }
        if !is_all_printable(name) {
            return Err(
                "a column with a control, format or separator character in its name cannot be asked for"
                    .into(),
            );
        }
        Ok(Self {
            holder,
            name: name.to_owned(),
        })
    }
}

impl fmt::Display for ColumnName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(holder) = self.holder {
            write!(f, "{holder}.")?;
        }
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(holder: Option<Role>, name: &str) -> ColumnName {
        let name = name.to_owned();
        ColumnName { holder, name }
    }

    #[test]
    fn kinds_of_output_are_read_as_they_are_shown() {
        for kind in [
            RequestedOutput::Rows,
            RequestedOutput::Count,
            RequestedOutput::Threshold(1),
            RequestedOutput::Threshold(u64::MAX),
            RequestedOutput::Groups(RequestedGroups::default()),
            RequestedOutput::Groups(RequestedGroups {
                sums: vec![column(Some(Role::Sender), "a"), column(None, "b")],
                ..RequestedGroups::default()
            }),
            RequestedOutput::Groups(RequestedGroups {
                sums: ["a", "mean:b", "c, \",mean:d"]
                    .map(|name| column(None, name))
                    .to_vec(),
                means: ["c, \",mean:d", "a"]
                    .map(|name| column(None, name))
                    .to_vec(),
                ..RequestedGroups::default()
            }),
            RequestedOutput::Shares(vec![]),
            RequestedOutput::Shares(vec![column(None, "amount"), column(None, "b")]),
            RequestedOutput::Sum(vec![column(None, "amount")]),
            RequestedOutput::Sum(vec![
                column(Some(Role::Sender), "a:b"),
                column(Some(Role::Receiver), "sender.x"),
                column(None, "unit.price"),
                column(None, " price"),
            ]),
            RequestedOutput::Sum(vec![
                column(None, "price, net"),
                column(Some(Role::Sender), "price, \"gross\""),
                column(None, "\"paid\""),
            ]),
        ] {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
    }

    #[test]
    fn a_column_is_the_senders_unless_it_says_otherwise() {
        for (asked, [sender, receiver]) in [
            ("count", [0, 0]),
            ("sum:a", [1, 0]),
            ("sum:receiver.a", [0, 1]),
            ("shares:a,sender.b,receiver.a", [2, 1]),
            ("counts,sum:a,mean:receiver.b", [1, 1]),
        ] {
            let expected = Columns { sender, receiver };
            let asked: RequestedOutput = asked.parse().unwrap();
            assert_eq!(asked.likely_holders(), expected, "{asked}");
        }
    }

    /// A mean is the quotient of a sum, so that is shown, too.
    #[test]
    fn columns_of_means_are_added_up() {
        let read = |text: &str| text.parse::<RequestedOutput>().unwrap().to_string();
        assert_eq!(read("counts,mean:b,a"), "counts,sum:b,a,mean:b,a");
        assert_eq!(read("counts,sum:a,mean:b,a"), "counts,sum:a,b,mean:b,a");
    }

    #[test]
    fn what_is_no_kind_of_output_is_refused() {
        for wrong in [
            "",
            "row",
            "count:3",
            "threshold",
            "threshold:",
            "threshold:0",
            "threshold:-1",
            "sum",
            "sum:",
            "sum:a,",
            "sum:sender.",
            "sum:a,b,a",
            "sum:a\tb",
            "sum:\u{202e}ab",
            "shares:a\n",
            "sum:sender.a,sender.a",
            "shares:",
            "counts:3",
            "counts,",
            "counts,sum",
            "counts,sum:",
            "counts,a",
            "countssum:a",
            "counts,mean",
            "counts,mean:",
            "counts,mean:a,a",
            "counts,sum:a,mean:sender.",
            "mean:a",
            "sum:\"a",
            "sum:\"a\"b",
            "sum:\"a,b\",\"a,b\"",
        ] {
            assert!(wrong.parse::<RequestedOutput>().is_err(), "{wrong}");
        }
        let names = |count: usize| {
            let names: Vec<_> = (0..count).map(|index| index.to_string()).collect();
            format!("sum:{}", names.join(","))
        };
        assert!(names(MAX_COLUMNS).parse::<RequestedOutput>().is_ok());
        assert!(names(MAX_COLUMNS + 1).parse::<RequestedOutput>().is_err());
        let of_groups = format!("counts,{}", names(MAX_COLUMNS));
        assert!(
            format!("{of_groups},mean:0")
                .parse::<RequestedOutput>()
                .is_ok()
        );
        assert!(
            format!("{of_groups},mean:x")
                .parse::<RequestedOutput>()
                .is_err()
        );
    }
}
