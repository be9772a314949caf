//! The labels of groups, on which both parties agree before data moves.
//!
//! If both have a list of a column's labels, these are its labels, and nothing is said of the
//! column. Otherwise whoever has it tells in its hello how many labels there are. Unless there are
//! too many groups, it then says them, and the other party learns them.

use psijoin::{self as psi, Columns, Groups, Role};
use psijoin_channel::Channel;
use psijoin_handshake::Hello;
use psijoin_source::MAX_LABEL_BYTES;
use psijoin_table::{LabelColumn, Labels};

use crate::{
    Error,
    fault::TooManyGroups,
    giving::{hear, say},
    party::Party,
    requested_groups::{GroupColumn, RequestedGroups},
    settings,
};

/// The labels of a column, in ascending order; `None` at the end for null, and before it what
/// stands for all that is not on a list, if both parties have one.
pub type LabelList = Vec<Option<String>>;

/// The columns whose values name groups, with their labels, as both parties know them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgreedGroups(pub Vec<AgreedLabels>);

/// A column whose values name groups, and its labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgreedLabels {
    /// The column.
    pub column: GroupColumn,
    /// Its labels.
    pub labels: LabelList,
}

impl RequestedGroups {
    /// Returns the columns that a party in this role reads from its table.
    pub(crate) fn to_read(&self, role: Role) -> Vec<LabelColumn> {
        let own = self.by.iter().filter(|column| column.holder == role);
        let read = |column: &GroupColumn| LabelColumn {
            name: column.name.clone(),
            listed: (column.public.as_ref()).map(|list| list.listed().to_vec()),
        };
        own.map(read).collect()
    }

    /// Adds to a hello of a party in this role how many labels its columns have, but for those that
    /// have a list.
    pub(crate) fn tell(&self, role: Role, hello: Hello, own: &[Labels]) -> Hello {
        let columns = self.by.iter().enumerate();
        let columns = columns.filter(|(_, column)| column.holder == role);
        let told = columns
            .zip(own)
            .filter(|((_, column), _)| column.public.is_none());
        told.fold(hello, |hello, ((at, _), own)| {
            hello.fact(settings::labels(at), own.count)
        })
    }

    /// Returns how many labels each column has, by its list, or by what the party in this role
    /// knows of its own and the other one has told.
    ///
    /// # Errors
    /// If the peer told no number, or there would be more groups than there can be.
    fn counts(&self, role: Role, own: &[Labels], theirs: &Hello) -> Result<Vec<u64>, Error> {
        let mut own = own.iter();
        let count = |(at, column): (usize, &GroupColumn)| match column.holder == role {
            true => Ok(own.next().expect("each column was read").count),
            false => match &column.public {
                Some(list) => Ok(list.labels().len() as u64),
                None => told(theirs.told(&settings::labels(at))),
            },
        };
        let counts = self.by.iter().enumerate().map(count);
        let counts: Vec<u64> = counts.collect::<Result<_, Error>>()?;
        let groups: u64 = counts.iter().product();
        if groups > Groups::MAX as u64 {
            let columns = self.by.iter().cloned().zip(counts).collect();
            return Err(TooManyGroups { columns }.into());
        }
        Ok(counts)
    }
}

/// Returns the number of labels that the other party told.
fn told(count: Option<&str>) -> Result<u64, Error> {
    let count = count.and_then(|count| count.parse().ok());
    let count = count.filter(|count| (1..=Labels::MORE).contains(count));
    count.ok_or_else(|| {
        psijoin_handshake::Error::Malformed("it did not tell how many labels its column has").into()
    })
}

impl Party<'_> {
    /// Agrees with the other party on the labels of all groups, given those of this party's
    /// columns.
    ///
    /// # Errors
    /// If there would be too many groups; if the channel breaks, or the other party's message is
    /// invalid.
    pub(crate) fn agree_on_groups(
        &self,
        own: &[Labels],
        theirs: &Hello,
        channel: &mut Channel,
    ) -> Result<AgreedGroups, Error> {
        let Some(groups) = self.question.asked.groups() else {
            return Ok(AgreedGroups::default());
        };
        let counts = groups.counts(self.role, own, theirs)?;
        let mut own = own.iter();
        let agreed = groups.by.iter().zip(counts).map(|(column, count)| {
            let own = match column.holder == self.role {
                true => Some(own.next().expect("each column was read")),
                false => None,
            };
            let labels = match (&column.public, own) {
                (Some(list), _) => list.labels(),
                (None, Some(own)) => {
                    say(channel, &to_bytes(&own.texts))?;
                    own.texts.clone()
                }
                (None, None) => from_bytes(&hear(channel)?)
                    .filter(|labels| labels.len() as u64 == count)
                    .ok_or(psi::Error::Peer(
                        "its labels are not what it has told of them",
                    ))?,
            };
            let column = column.clone();
            Ok(AgreedLabels { column, labels })
        });
        Ok(AgreedGroups(agreed.collect::<Result<_, Error>>()?))
    }
}

impl AgreedGroups {
    /// Returns the columns of a party, in their order.
    pub(crate) fn of(&self, role: Role) -> impl Iterator<Item = &AgreedLabels> {
        let columns = self.0.iter();
        columns.filter(move |agreed| agreed.column.holder == role)
    }

    /// Returns how many labels a party's keys have, each a combination of those of its columns.
    pub(crate) fn labels(&self) -> Columns {
        let of = |role| {
            let lists = self.of(role).map(|agreed| agreed.labels.len());
            lists.reduce(|all, list| all * list).unwrap_or(0)
        };
        Columns {
            sender: of(Role::Sender),
            receiver: of(Role::Receiver),
        }
    }

    /// Returns the number of groups.
    pub fn count(&self) -> usize {
        let lists = self.0.iter().map(|agreed| agreed.labels.len());
        lists.reduce(|all, list| all * list).unwrap_or(0)
    }

    /// Returns the labels of each group, in the order in which columns were named, the last one
    /// first to change; with its place in the order of protocols.
    pub(crate) fn each(&self) -> Vec<(usize, LabelList)> {
        let mut groups = match self.0[..] {
            [] => Vec::new(),
            _ => vec![([0, 0], Vec::new())],
        };
        for AgreedLabels { column, labels } in &self.0 {
            let of = column.holder as usize;
            let longer = |(places, before): &([usize; 2], LabelList)| {
                let (places, before) = (*places, before.clone());
                let longer = labels.iter().enumerate().map(move |(rank, label)| {
                    let mut places = places;
                    places[of] = places[of] * labels.len() + rank;
                    (places, [before.clone(), vec![label.clone()]].concat())
                });
                longer.collect::<Vec<_>>()
            };
            groups = groups.iter().flat_map(longer).collect();
        }
        // The sender's labels come first.
        let receivers = self.labels().receiver.max(1);
        let place = |places: [usize; 2]| {
            places[Role::Sender as usize] * receivers + places[Role::Receiver as usize]
        };
        let groups = groups.into_iter();
        groups
            .map(|(places, labels)| (place(places), labels))
            .collect()
    }

    /// Returns what both parties must know alike, as bytes.
    pub(crate) fn encoded(&self) -> Vec<u8> {
        let lists = self.0.iter().map(|agreed| to_bytes(&agreed.labels));
        let encoded = lists.flat_map(|list| [(list.len() as u32).to_le_bytes().to_vec(), list]);
        encoded.flatten().collect()
    }

    /// Returns the labels of each column, for a job to keep.
    pub(crate) fn kept(&self) -> Vec<LabelList> {
        self.0.iter().map(|agreed| agreed.labels.clone()).collect()
    }

    /// Returns the groups that were asked for, from what a job has [kept](Self::kept).
    pub(crate) fn recalled(asked: Option<&RequestedGroups>, kept: Vec<LabelList>) -> Self {
        let by = asked.map_or(&[][..], |groups| &groups.by);
        let recalled = by.iter().cloned().zip(kept);
        Self(
            recalled
                .map(|(column, labels)| AgreedLabels { column, labels })
                .collect(),
        )
    }
}

/// Returns labels as they are said: each behind its length, and null as an empty one.
pub(crate) fn to_bytes(labels: &[Option<String>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for label in labels {
        let label = label.as_deref().unwrap_or_default();
        bytes.extend((label.len() as u16).to_le_bytes());
        bytes.extend(label.as_bytes());
    }
    bytes
}

/// Reads what [`to_bytes`] has written; `None` if it is something else, or no list of labels.
fn from_bytes(mut bytes: &[u8]) -> Option<LabelList> {
    let mut labels: LabelList = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk() {
        let (label, rest) = rest.split_at_checked(u16::from_le_bytes(*length).into())?;
        let label = std::str::from_utf8(label).ok()?;
        let follows = match labels.last() {
            None => true,
            Some(Some(last)) => label.is_empty() || last.as_str() < label,
            // Nothing stands behind null.
            Some(None) => false,
        };
        if !follows || label.len() > MAX_LABEL_BYTES {
            return None;
        }
        labels.push((!label.is_empty()).then(|| label.to_owned()));
        bytes = rest;
    }
    bytes.is_empty().then_some(labels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorKind, public_labels::PublicLabels};

    fn list(labels: &[&str]) -> LabelList {
        let label = |label: &&str| (!label.is_empty()).then(|| (*label).to_owned());
        labels.iter().map(label).collect()
    }

    fn agreed(columns: &[(&str, &[&str])]) -> AgreedGroups {
        let agreed = columns.iter().map(|(column, labels)| AgreedLabels {
            column: column.parse().unwrap(),
            labels: list(labels),
        });
        AgreedGroups(agreed.collect())
    }

    #[test]
    fn lists_are_read_as_they_are_said() {
        for labels in [&["a", "b", ""][..], &[""], &["a\n", "ü"], &["x"]] {
            let labels = list(labels);
            assert_eq!(from_bytes(&to_bytes(&labels)), Some(labels));
        }
        for labels in [&["b", "a"][..], &["a", "a"], &["", "a"], &["", ""]] {
            assert_eq!(from_bytes(&to_bytes(&list(labels))), None, "{labels:?}");
        }
        let long = list(&[&"x".repeat(MAX_LABEL_BYTES + 1)]);
        assert_eq!(from_bytes(&to_bytes(&long)), None);
        for bytes in [&[1][..], &[1, 0], &[2, 0, b'a'], &[1, 0, 0xff]] {
            assert_eq!(from_bytes(bytes), None, "{bytes:?}");
        }
    }

    /// Protocols have the receiver's labels within the sender's, whatever was named first.
    #[test]
    fn groups_come_in_the_order_of_the_columns_that_were_named() {
        let places = |groups: &AgreedGroups| {
            let each = groups.each().into_iter();
            each.map(|(place, labels)| (place, labels.into_iter().flatten().collect()))
                .collect::<Vec<(usize, String)>>()
        };
        let place = |place: usize, labels: &str| (place, labels.to_owned());
        let crossed = agreed(&[("receiver.a", &["x", "y"]), ("sender.b", &["1", "2", ""])]);
        assert_eq!(
            crossed.labels(),
            Columns {
                sender: 3,
                receiver: 2
            }
        );
        assert_eq!(
            places(&crossed),
            [
                place(0, "x1"),
                place(2, "x2"),
                place(4, "x"),
                place(1, "y1"),
                place(3, "y2"),
                place(5, "y")
            ]
        );
        let own = agreed(&[("sender.a", &["x", "y"]), ("sender.b", &["1", "2"])]);
        assert_eq!(
            own.labels(),
            Columns {
                sender: 4,
                receiver: 0
            }
        );
        let expected = ["x1", "x2", "y1", "y2"].into_iter().enumerate();
        let expected: Vec<_> = expected.map(|(at, labels)| place(at, labels)).collect();
        assert_eq!(places(&own), expected);
        assert!(AgreedGroups::default().each().is_empty());
    }

    /// Returns what a party knows of a column of this many labels.
    fn labels(count: u64) -> Labels {
        let mut labels = Labels::default();
        labels.count = count;
        labels
    }

    #[test]
    fn both_sides_tell_how_many_groups_are_too_many() {
        let groups = RequestedGroups {
            by: GroupColumn::list("receiver.a,sender.b").unwrap(),
            ..RequestedGroups::default()
        };
        let hello = |role| Hello::new(role, 1);
        let theirs = groups.tell(Role::Sender, hello(Role::Sender), &[labels(16)]);
        let counts = |own| groups.counts(Role::Receiver, &[labels(own)], &theirs);
        assert_eq!(counts(16).unwrap(), [16, 16]);
        let refused = counts(17).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Usage);
        let text = refused.to_string();
        assert!(
            text.contains("272 groups") && text.contains("17") && text.contains("16"),
            "{text}"
        );
        let own = groups.tell(Role::Receiver, hello(Role::Receiver), &[labels(17)]);
        let there = groups
            .counts(Role::Sender, &[labels(16)], &own)
            .unwrap_err();
        assert_eq!(there.to_string(), text);
    }

    /// Nobody tells how many values there are, and both know the labels.
    #[test]
    fn of_a_column_with_a_list_nothing_is_told() {
        let mut groups = RequestedGroups {
            by: GroupColumn::list("receiver.a,sender.b").unwrap(),
            ..RequestedGroups::default()
        };
        let list = PublicLabels::new(["x".to_owned(), "y".to_owned()]).unwrap();
        groups.by[0].public = Some(list);
        let hello = |role| Hello::new(role, 1);
        let told = groups.tell(Role::Receiver, hello(Role::Receiver), &[labels(4)]);
        assert_eq!(told, hello(Role::Receiver));
        assert_eq!(
            groups.counts(Role::Sender, &[labels(9)], &told).unwrap(),
            [4, 9]
        );
        let told = groups.tell(Role::Sender, hello(Role::Sender), &[labels(100)]);
        let refused = groups
            .counts(Role::Receiver, &[labels(4)], &told)
            .unwrap_err();
        let text = refused.to_string();
        assert!(
            text.contains("`receiver.a` has 4 labels with `other` and null"),
            "{text}"
        );
    }

    #[test]
    fn a_peer_that_tells_no_number_of_labels_is_at_fault() {
        for wrong in ["", "0", "-1", "65538", "x", "99999999999999999999"] {
            assert_eq!(
                told(Some(wrong)).unwrap_err().kind(),
                ErrorKind::Peer,
                "{wrong}"
            );
        }
        assert_eq!(told(None).unwrap_err().kind(), ErrorKind::Peer);
        assert_eq!(told(Some("65537")).unwrap(), Labels::MORE);
    }
}
