//! Totals of groups of the shared items.

use std::fmt;

use crate::{Columns, Role};

/// The totals of each group of the shared items.
///
/// A party that has labels brings one for each of its items, a number below that of its
/// [`labels`](Self::labels), as a column of numbers after its others. A group has all shared items
/// of a label, or of a pair of labels if both parties have some. Groups are in the order of the
/// sender's labels, and within one of them in the order of the receiver's.
///
/// For what the sender's customers spent, by two plans of the receiver's:
///
/// ```
/// use psijoin_psi::{Columns, Groups, OutputKind, Request};
///
/// let groups = Groups {
///     columns: Columns { sender: 1, receiver: 0 },
///     labels: Columns { sender: 0, receiver: 2 },
///     least: 50,
///     noisy: false,
/// };
/// let request = Request::rows(100_000, 80_000)?.output(OutputKind::Groups(groups));
/// // The sender brings its numbers, and the receiver its labels.
/// assert_eq!(request.output.columns(), Columns { sender: 1, receiver: 1 });
/// # Ok::<(), psijoin_psi::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Groups {
    /// The columns whose numbers are added up, without those of labels.
    pub columns: Columns,
    /// The number of labels of each party; 0 if its items have none.
    pub labels: Columns,
    /// A group of fewer items is withheld: its count and its sums. None is if this is 0.
    pub least: u64,
    /// The sender adds [noise](crate::Context::noise) to all totals, before a count is compared
    /// with the least.
    pub noisy: bool,
}

impl Groups {
    /// The most groups.
    pub const MAX: usize = 256;

    /// The most columns that are added up.
    pub const MAX_COLUMNS: usize = 16;

    /// Returns the number of groups.
    pub fn count(self) -> usize {
        let Columns { sender, receiver } = self.labels;
        sender.max(1).saturating_mul(receiver.max(1))
    }

    /// Returns the number of totals of a group: how many items it has, and a sum for each column.
    pub fn totals(self) -> usize {
        1 + self.columns.total()
    }

    /// Returns the number of numbers of [noise](crate::Context::noise) that the sender brings: one
    /// for each total of each group, if it adds noise.
    pub fn noise(self) -> usize {
        match self.noisy {
            true => self.totals() * self.count(),
            false => 0,
        }
    }

    /// Returns the columns that the parties bring, with those of labels.
    pub fn brought(self) -> Columns {
        let of = |role| self.columns.of(role) + usize::from(self.labels.of(role) > 0);
        Columns {
            sender: of(Role::Sender),
            receiver: of(Role::Receiver),
        }
    }

    /// Returns whether a party's columns, as it brings them, have labels that exist.
    pub(crate) fn are_labels(self, role: Role, columns: &[Vec<i64>]) -> bool {
        let exists = |label: &i64| (0..self.labels.of(role) as i64).contains(label);
        match self.labels.of(role) {
            0 => true,
            _ => columns
                .last()
                .is_some_and(|labels| labels.iter().all(exists)),
        }
    }

    /// Returns why there cannot be such groups.
    pub(crate) fn refusal(self) -> Option<&'static str> {
        if self.labels == Columns::NONE {
            return Some("groups need labels of one of the parties, or of both");
        }
        if self.count() > Self::MAX {
            return Some("there can be 256 groups at most");
        }
        if self.columns.total() > Self::MAX_COLUMNS {
            return Some("16 columns can be added up by groups at most");
        }
        None
    }
}

impl fmt::Display for Groups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            columns,
            labels: Columns { sender, receiver },
            least,
            noisy,
        } = self;
        write!(
            f,
            "counts and sums of {columns} by {sender} labels of the sender and {receiver} of the \
             receiver, of at least {least} items{}",
            if *noisy { ", with noise" } else { "" }
        )
    }
}

/// The totals of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The number of its items that are shared. With noise it may be below zero.
    pub count: i64,
    /// The sum of each column over them: the sender's columns, then the receiver's.
    pub sums: Vec<i64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(sender: usize, receiver: usize) -> Groups {
        Groups {
            columns: Columns {
                sender: 2,
                receiver: 1,
            },
            labels: Columns { sender, receiver },
            least: 0,
            noisy: false,
        }
    }

    #[test]
    fn labels_are_one_more_column() {
        let brought = |sender, receiver| groups(sender, receiver).brought();
        let columns = |sender, receiver| Columns { sender, receiver };
        assert_eq!(brought(0, 5), columns(2, 2));
        assert_eq!(brought(1, 0), columns(3, 1));
        assert_eq!(brought(3, 4), columns(3, 2));
    }

    #[test]
    fn labels_are_checked() {
        let columns = |labels| [vec![7, -7, 1 << 40], labels];
        let are_labels = |labels| groups(0, 3).are_labels(Role::Receiver, &columns(labels));
        assert!(are_labels(vec![0, 2, 1]));
        assert!(!are_labels(vec![0, 3, 1]));
        assert!(!are_labels(vec![0, -1, 1]));
        assert!(groups(0, 3).are_labels(Role::Sender, &columns(vec![9])));
    }

    #[test]
    fn too_many_are_refused() {
        assert_eq!(groups(16, 16).refusal(), None);
        assert_eq!(groups(0, 256).refusal(), None);
        for (sender, receiver) in [(0, 0), (16, 17), (usize::MAX, usize::MAX)] {
            assert!(groups(sender, receiver).refusal().is_some());
        }
        let mut wide = groups(1, 0);
        wide.columns.sender = 16;
        assert!(wide.refusal().is_some());
    }
}
