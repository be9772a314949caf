//! The holder and the decimals of each column of numbers.
//!
//! Both parties name the same columns. In its hello each tells which of them its own table has, and
//! with how many decimals; from that both derive the same list.

use std::collections::{BTreeMap, BTreeSet};

use psijoin::{self as psi, Role, share_file};
use psijoin_handshake::Hello;
use psijoin_source::{Decimal, MAX_SCALE, Source, check_labels, check_numbers};
use psijoin_table::{LabelColumn, Labels, Numbers};

use crate::{
    Error,
    fault::ColumnsFault,
    requested_groups::RequestedGroups,
    requested_output::{ColumnName, RequestedOutput},
    settings::decimals,
};

/// The requested columns that are in this party's table.
pub(crate) struct OwnColumns {
    role: Role,
    names: Vec<ColumnName>,
    /// For each name, whether the table has it.
    present: Vec<bool>,
    /// The groups, if some are asked for.
    groups: Option<RequestedGroups>,
}

impl OwnColumns {
    /// Looks for the columns in the header of this party's table.
    ///
    /// # Errors
    /// If the header cannot be read; if a column of this party is missing; if one that is there is
    /// not unique, or holds no numbers, or no labels.
    pub(crate) fn find(
        asked: &RequestedOutput,
        role: Role,
        source: &Source,
    ) -> Result<Self, psijoin_table::Error> {
        let header = match asked.columns().is_empty() {
            true => Vec::new(),
            false => source.columns()?,
        };
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let own = Self::among(asked, role, &header);
        check_numbers(source, &own.to_read())?;
        if own.groups.is_some() {
            let labels = own.labels_to_read().into_iter();
            let names: Vec<_> = labels.map(|column| column.name).collect();
            check_labels(source, &names)?;
        }
        Ok(own)
    }

    /// Looks for the columns among those of this party's table.
    pub(crate) fn among(asked: &RequestedOutput, role: Role, header: &[&str]) -> Self {
        let names = asked.columns().to_vec();
        let present = |column: &ColumnName| match column.holder {
            Some(holder) => holder == role,
            None => header.contains(&column.name.as_str()),
        };
        Self {
            role,
            present: names.iter().map(present).collect(),
            names,
            groups: asked.groups().cloned(),
        }
    }

    /// Returns the columns of numbers to read from the table.
    pub(crate) fn to_read(&self) -> Vec<String> {
        let names = self.names.iter().zip(&self.present);
        names
            .filter(|(_, present)| **present)
            .map(|(column, _)| column.name.clone())
            .collect()
    }

    /// Returns the columns of numbers that were read, with their decimals.
    pub(crate) fn with_scales(&self, numbers: &[Numbers]) -> Vec<(String, u32)> {
        let scales = numbers.iter().map(|numbers| numbers.scale);
        self.to_read().into_iter().zip(scales).collect()
    }

    /// Returns the columns of labels to read from the table.
    pub(crate) fn labels_to_read(&self) -> Vec<LabelColumn> {
        let groups = self.groups.as_ref();
        groups.map_or_else(Vec::new, |groups| groups.to_read(self.role))
    }

    /// Returns how many rows with a key have no number in each of the columns that were read.
    pub(crate) fn rows_without_number(&self, numbers: &[Numbers]) -> BTreeMap<String, u64> {
        let empty = numbers.iter().map(|numbers| numbers.empty);
        self.to_read().into_iter().zip(empty).collect()
    }

    /// Returns for each name the number of decimals, if the table has the column. `numbers` are
    /// those of [`to_read`](Self::to_read).
    fn scales(&self, numbers: &[Numbers]) -> Vec<Option<u32>> {
        let mut numbers = numbers.iter();
        let mut scale =
            |present: &bool| present.then(|| numbers.next().expect("each column was read").scale);
        self.present.iter().map(&mut scale).collect()
    }

    /// Adds to a hello what the other party must know.
    pub(crate) fn tell(&self, hello: Hello, numbers: &[Numbers], labels: &[Labels]) -> Hello {
        let scales = self.scales(numbers).into_iter().enumerate();
        let hello = scales.fold(hello, |hello, (index, scale)| match scale {
            Some(scale) => hello.fact(decimals(index), scale),
            None => hello,
        });
        match &self.groups {
            Some(groups) => groups.tell(self.role, hello, labels),
            None => hello,
        }
    }

    /// Returns what both parties derive from the facts of both.
    ///
    /// # Errors
    /// [`Error::Columns`] if both tables have a column that was named without its holder, or none
    /// has it, or it was named in two ways. If what the peer told makes no sense.
    pub(crate) fn agree(
        &self,
        numbers: &[Numbers],
        theirs: &Hello,
    ) -> Result<AgreedColumns, Error> {
        let scales = self.scales(numbers).into_iter().enumerate();
        let columns = self.names.iter().zip(scales).map(|(name, (index, own))| {
            let other = theirs.told(&decimals(index)).map(scale).transpose()?;
            let (sender, receiver) = match self.role {
                Role::Sender => (own, other),
                Role::Receiver => (other, own),
            };
            settle(name, sender, receiver)
        });
        let columns: Vec<AgreedColumn> = columns.collect::<Result<_, _>>()?;
        let mut known = BTreeSet::new();
        for AgreedColumn { name, holder, .. } in &columns {
            if !known.insert((holder.to_string(), &name.name)) {
                return Err(ColumnsFault::Twice {
                    holder: *holder,
                    name: name.name.clone(),
                }
                .into());
            }
        }
        Ok(AgreedColumns(columns))
    }
}

/// Returns the number of decimals that the other party told.
fn scale(told: &str) -> Result<u32, Error> {
    match told.parse() {
        Ok(scale @ 0..=MAX_SCALE) => Ok(scale),
        _ => Err(broken(
            "the decimals of its column are not a number from 0 to 18",
        )),
    }
}

fn broken(what: &'static str) -> Error {
    psijoin_handshake::Error::Malformed(what).into()
}

/// Returns whose column it is, given its decimals in each table that has one of its name.
fn settle(
    column: &ColumnName,
    sender: Option<u32>,
    receiver: Option<u32>,
) -> Result<AgreedColumn, Error> {
    let name = &column.name;
    let (holder, scale) = match (column.holder, sender, receiver) {
        (Some(Role::Sender), Some(scale), _) | (None, Some(scale), None) => (Role::Sender, scale),
        (Some(Role::Receiver), _, Some(scale)) | (None, None, Some(scale)) => {
            (Role::Receiver, scale)
        }
        (None, Some(_), Some(_)) => {
            return Err(ColumnsFault::OfBoth(name.clone()).into());
        }
        (None, None, None) => {
            return Err(ColumnsFault::OfNeither(name.clone()).into());
        }
        // This party would have missed its own column before.
        (Some(_), ..) => return Err(broken("it did not name a column that is to be its own")),
    };
    Ok(AgreedColumn {
        name: column.clone(),
        holder,
        scale,
    })
}

/// A column of numbers that both parties know about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgreedColumn {
    /// As it was asked for.
    pub name: ColumnName,
    /// The party that has the column.
    pub holder: Role,
    /// The number of decimals.
    pub scale: u32,
}

/// The columns that were asked for, in that order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgreedColumns(pub Vec<AgreedColumn>);

impl AgreedColumns {
    /// Returns how many of them each party has.
    pub fn counts(&self) -> psi::Columns {
        let of = |role| self.0.iter().filter(|column| column.holder == role).count();
        psi::Columns {
            sender: of(Role::Sender),
            receiver: of(Role::Receiver),
        }
    }

    /// Returns the columns as a file of shares names them: the sender's, and then the receiver's.
    pub(crate) fn in_shares(&self) -> Vec<share_file::Column> {
        let of = |holder| self.0.iter().filter(move |column| column.holder == holder);
        let column = |column: &AgreedColumn| share_file::Column {
            holder: column.holder,
            name: column.name.name.clone(),
            scale: column.scale,
        };
        of(Role::Sender)
            .chain(of(Role::Receiver))
            .map(column)
            .collect()
    }

    /// Returns whose each column is, and its decimals, for a job to keep.
    pub(crate) fn kept(&self) -> Vec<String> {
        let kept = |column: &AgreedColumn| format!("{} {}", column.holder, column.scale);
        self.0.iter().map(kept).collect()
    }

    /// Returns the columns that were asked for, from what a job has [kept](Self::kept).
    ///
    /// # Errors
    /// If it was kept for other columns.
    pub(crate) fn recalled(asked: &RequestedOutput, kept: &[String]) -> Result<Self, Error> {
        let unfit = || broken("the columns that the job has kept are others");
        let recalled = |(name, kept): (&ColumnName, &String)| {
            let (holder, scale) = kept.split_once(' ').ok_or_else(unfit)?;
            Ok::<_, Error>(AgreedColumn {
                name: name.clone(),
                holder: [Role::Sender, Role::Receiver]
                    .into_iter()
                    .find(|role| role.to_string() == holder)
                    .ok_or_else(unfit)?,
                scale: scale.parse().map_err(|_| unfit())?,
            })
        };
        let names = asked.columns();
        match names.len() == kept.len() {
            true => Ok(Self(
                names
                    .iter()
                    .zip(kept)
                    .map(recalled)
                    .collect::<Result<_, _>>()?,
            )),
            false => Err(unfit()),
        }
    }

    /// Returns what both parties must have derived alike, as bytes.
    pub(crate) fn encoded(&self) -> Vec<u8> {
        let column = |column: &AgreedColumn| [column.holder as u8, column.scale as u8];
        self.0.iter().flat_map(column).collect()
    }

    /// Returns the sums of the columns in the order in which they were asked for, given those of
    /// the sender's and then those of the receiver's.
    pub(crate) fn sums(&self, by_holder: &[i64]) -> Vec<Sum> {
        let (senders, receivers) = by_holder.split_at(self.counts().sender);
        let (mut senders, mut receivers) = (senders.iter(), receivers.iter());
        let sum = |column: &AgreedColumn| {
            let mantissa = match column.holder {
                Role::Sender => senders.next(),
                Role::Receiver => receivers.next(),
            };
            Sum {
                column: column.clone(),
                value: Decimal {
                    mantissa: *mantissa.expect("one sum per column"),
                    scale: column.scale,
                },
            }
        };
        self.0.iter().map(sum).collect()
    }
}

/// The sum of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sum {
    /// The column.
    pub column: AgreedColumn,
    /// The sum.
    pub value: Decimal,
}

#[cfg(test)]
mod tests {
    use psijoin::spill::Spill;
    use psijoin_handshake as handshake;
    use psijoin_source::{Dialect, Format, Progress};
    use psijoin_table::{KeySpec, TableKeys};

    use super::*;
    use crate::ErrorKind;

    /// A party whose table has these columns of numbers, with their decimals.
    struct Party {
        own: OwnColumns,
        numbers: Vec<Numbers>,
    }

    impl Party {
        fn new(role: Role, asked: &str, table: &[(&str, usize)]) -> Self {
            let names: Vec<_> = table.iter().map(|(name, _)| *name).collect();
            let cell = |&(_, decimals): &(_, usize)| format!("{:.decimals$}", 1.0);
            let cells: Vec<_> = table.iter().map(cell).collect();
            let text = format!("id,{}\n1,{}\n", names.join(","), cells.join(","));
            let (format, progress) = (Format::Csv, Progress::default());
            let source = Source::spool(
                text.as_bytes(),
                "t.csv",
                format,
                &Dialect::default(),
                &progress,
            )
            .unwrap();
            let own = OwnColumns::find(&asked.parse().unwrap(), role, &source).unwrap();
            let key = KeySpec::new(vec!["id".into()], vec![]).unwrap();
            let spill = Spill::in_memory();
            let read = TableKeys::read(&source, &key, &own.to_read(), &spill, &progress);
            let numbers = read.unwrap().numbers();
            Self { own, numbers }
        }

        fn hello(&self) -> Hello {
            let hello = Hello::new(Role::Sender, 1);
            self.own.tell(hello, &self.numbers, &[])
        }

        fn agree(&self, theirs: &Hello) -> Result<AgreedColumns, Error> {
            self.own.agree(&self.numbers, theirs)
        }
    }

    /// Returns what the sender and the receiver make of the columns of their tables.
    fn agree(
        asked: &str,
        senders: &[(&str, usize)],
        receivers: &[(&str, usize)],
    ) -> [Result<AgreedColumns, Error>; 2] {
        let sender = Party::new(Role::Sender, asked, senders);
        let receiver = Party::new(Role::Receiver, asked, receivers);
        [
            sender.agree(&receiver.hello()),
            receiver.agree(&sender.hello()),
        ]
    }

    #[test]
    fn both_derive_the_same_columns() {
        let [sender, receiver] = agree(
            "sum:b,receiver.c,a,sender.c",
            &[("a", 2), ("c", 0)],
            &[("c", 5), ("b", 18)],
        );
        let (sender, receiver) = (sender.unwrap(), receiver.unwrap());
        assert_eq!(sender, receiver);
        assert_eq!(sender.encoded(), receiver.encoded());
        let columns = sender.0.iter().map(|column| (column.holder, column.scale));
        assert_eq!(
            columns.collect::<Vec<_>>(),
            [
                (Role::Receiver, 18),
                (Role::Receiver, 5),
                (Role::Sender, 2),
                (Role::Sender, 0)
            ]
        );
        assert_eq!((sender.counts().sender, sender.counts().receiver), (2, 2));
        let sums = sender.sums(&[100, 200, 1, 3]);
        let values: Vec<_> = sums.iter().map(|sum| sum.value.to_string()).collect();
        assert_eq!(values, ["0.000000000000000001", "0.00003", "1.00", "200"]);
    }

    #[test]
    fn what_was_derived_is_told_apart() {
        let encoded = |senders: &[(&str, usize)], receivers: &[(&str, usize)]| {
            let [sender, _] = agree("sum:a,b", senders, receivers);
            sender.unwrap().encoded()
        };
        let usual = encoded(&[("a", 1)], &[("b", 1)]);
        assert_ne!(usual, encoded(&[("a", 1)], &[("b", 0)]));
        assert_ne!(usual, encoded(&[("b", 1)], &[("a", 1)]));
        assert_ne!(usual, encoded(&[("a", 1), ("b", 1)], &[("c", 1)]));
    }

    #[test]
    fn unclear_names_are_errors_on_both_sides() {
        let both = agree("sum:a", &[("a", 1)], &[("a", 1)]);
        let neither = agree("sum:b", &[("a", 1)], &[("a", 1)]);
        let twice = agree("sum:a,sender.a", &[("a", 1)], &[("b", 1)]);
        for (results, text) in [
            (both, "both tables have"),
            (neither, "neither table has"),
            (twice, "the sender's column `a` is asked for twice"),
        ] {
            for failure in results.map(Result::unwrap_err) {
                assert!(failure.to_string().contains(text), "{failure}");
                assert_eq!(failure.kind(), ErrorKind::Usage);
            }
        }
    }

    #[test]
    fn a_peer_that_tells_nonsense_is_at_fault() {
        let receiver = Party::new(Role::Receiver, "sum:sender.a", &[("b", 0)]);
        let hello = || Hello::new(Role::Sender, 1);
        for scale in ["19", "-1", "x", "", "99999999999999999999"] {
            let failure = receiver
                .agree(&hello().fact(decimals(0), scale))
                .unwrap_err();
            assert_eq!(failure.kind(), ErrorKind::Peer, "{scale}");
        }
        let failure = receiver.agree(&hello()).unwrap_err();
        assert!(matches!(
            failure,
            Error::Handshake(handshake::Error::Malformed(_))
        ));
    }
}
