use std::collections::HashSet;

use psijoin_params::{Security, Sizes};
use psijoin_psi::{
    Columns, Group, Groups, Matched, Output, OutputKind, Payloads, Request, Role, Totals,
};

/// The items of each party, by number.
#[derive(Debug, Clone)]
pub struct Sets {
    /// The sender's.
    pub sender: Vec<u64>,
    /// The receiver's.
    pub receiver: Vec<u64>,
}

impl Sets {
    /// Returns `shared` items of both; the rest of each is its own. The receiver's come in another
    /// order than the sender's.
    pub fn new(sender: usize, receiver: usize, shared: usize) -> Self {
        let sender = (0..sender as u64).collect();
        let own = (1 << 40)..;
        let receiver: Vec<u64> = (0..shared as u64).chain(own).take(receiver).collect();
        Self {
            sender,
            receiver: receiver.into_iter().rev().collect(),
        }
    }

    /// Returns one of this many items.
    pub(crate) fn one_in(&self, step: u64) -> Self {
        let some = |items: &[u64]| {
            let items = items.iter().copied();
            items.filter(|item| item % step == 0).collect()
        };
        Self {
            sender: some(&self.sender),
            receiver: some(&self.receiver),
        }
    }

    /// Returns a request for sets of these sizes.
    pub fn request(&self, output: OutputKind) -> Request {
        let sizes = Sizes::new(self.sender.len() as u64, self.receiver.len() as u64);
        let sizes = sizes.expect("there are few items");
        Request::of(sizes, Security::default()).output(output)
    }

    /// Returns all that can be asked of them; thresholds and minima that are just reached, and just
    /// missed.
    pub(crate) fn requests(&self) -> Vec<Request> {
        let shared = self.shared_rows().len() as u64;
        let columns = |sender, receiver| Columns { sender, receiver };
        let totals = |columns, counted| Totals { columns, counted };
        let groups = |columns, labels, least| Groups {
            columns,
            labels,
            least,
            noisy: false,
        };
        let noisy = |groups| {
            OutputKind::Groups(Groups {
                noisy: true,
                ..groups
            })
        };
        let payloads = |from_sender, back| OutputKind::Payloads(Payloads { from_sender, back });
        let kinds = [
            OutputKind::Rows,
            payloads(5, None),
            payloads(0, Some(0)),
            payloads(4096, Some(7)),
            OutputKind::Count,
            OutputKind::Threshold(shared),
            OutputKind::Threshold(shared + 1),
            OutputKind::Sums(columns(0, 1)),
            OutputKind::Sums(columns(2, 1)),
            OutputKind::Shares(columns(0, 0)),
            OutputKind::Shares(columns(1, 2)),
            OutputKind::Totals(totals(columns(0, 0), true)),
            OutputKind::Totals(totals(columns(1, 1), false)),
            OutputKind::Groups(groups(columns(1, 1), columns(3, 2), 0)),
            OutputKind::Groups(groups(columns(0, 2), columns(0, 7), shared / 7)),
            OutputKind::Groups(groups(columns(1, 0), columns(4, 0), shared / 4)),
            noisy(groups(columns(1, 1), columns(0, 5), 0)),
            noisy(groups(columns(0, 1), columns(3, 4), shared / 9 + 2)),
            OutputKind::GroupTotals(groups(columns(0, 0), columns(1, 2), 0)),
        ];
        let withheld = [
            OutputKind::Rows,
            OutputKind::Count,
            OutputKind::Sums(columns(1, 1)),
        ];
        let withheld = withheld.into_iter().flat_map(|kind| {
            [shared, shared + 1].map(|least| self.request(kind.clone()).min_intersection(least))
        });
        let plain = kinds.map(|kind| self.request(kind));
        plain.into_iter().chain(withheld).collect()
    }

    /// Returns what the receiver is to learn, by a plain join: nothing of shares, which
    /// [`assert_output`](crate::run::assert_output) checks.
    pub(crate) fn expected(&self, request: &Request) -> Output {
        let rows = self.shared_rows();
        let shared = rows.len() as u64;
        if shared < request.min_intersection {
            return Output::TooFew;
        }
        match &request.output {
            OutputKind::Rows => Output::Rows(rows),
            OutputKind::Payloads(payloads) => {
                Output::Matched(self.matched(Role::Receiver, *payloads))
            }
            OutputKind::Count => Output::Count(shared),
            OutputKind::Threshold(items) => Output::Reached(shared >= *items),
            OutputKind::Sums(columns) => Output::Sums(self.sums(*columns)),
            OutputKind::Groups(groups) => Output::Groups(self.groups(*groups)),
            OutputKind::Shares(_) | OutputKind::Totals(_) | OutputKind::GroupTotals(_) => {
                Output::Nothing
            }
            other => panic!("what is {other}?"),
        }
    }

    /// Returns the sums of these columns over the shared items.
    pub(crate) fn sums(&self, columns: Columns) -> Vec<i64> {
        let rows = self.shared_rows();
        let sum = |(role, column): (Role, usize)| {
            let items = rows.iter().map(|row| self.receiver[*row as usize]);
            items.map(|item| number(role, column, item)).sum()
        };
        all_columns(columns).map(sum).collect()
    }

    /// Returns the totals of each group of the shared items.
    pub(crate) fn groups(&self, groups: Groups) -> Vec<Option<Group>> {
        let empty = Group {
            count: 0,
            sums: vec![0; groups.columns.total()],
        };
        let mut totals = vec![empty; groups.count()];
        for row in self.shared_rows() {
            let item = self.receiver[row as usize];
            let [ours, theirs] =
                [Role::Sender, Role::Receiver].map(|role| label(role, groups, item) as usize);
            let group = &mut totals[ours * groups.labels.receiver.max(1) + theirs];
            group.count += 1;
            for (sum, (role, column)) in group.sums.iter_mut().zip(all_columns(groups.columns)) {
                *sum += number(role, column, item);
            }
        }
        let request = self.request(OutputKind::Groups(groups));
        for (number, noise) in noise(&request).into_iter().enumerate() {
            let (total, group) = (number / groups.count(), number % groups.count());
            let Group { count, sums } = &mut totals[group];
            let total = [count].into_iter().chain(sums).nth(total);
            *total.expect("a number for each total") += noise as i64;
        }
        // With noise a count may be below 0, and none is withheld without a least size.
        let is_shown = |group: &Group| groups.least == 0 || group.count >= groups.least as i64;
        totals
            .into_iter()
            .map(|group| Some(group).filter(is_shown))
            .collect()
    }

    /// Returns what the sender is to learn.
    pub(crate) fn expected_of_sender(&self, request: &Request) -> Output {
        match (self.expected(request), &request.output) {
            (Output::TooFew, _) => Output::TooFew,
            (_, OutputKind::Payloads(payloads)) if payloads.back.is_some() => {
                Output::Matched(self.matched(Role::Sender, *payloads))
            }
            _ => Output::Nothing,
        }
    }

    /// Returns a party's items.
    fn of(&self, role: Role) -> &[u64] {
        match role {
            Role::Sender => &self.sender,
            Role::Receiver => &self.receiver,
        }
    }

    /// Returns the shared items of a party, with the other one's payloads.
    fn matched(&self, role: Role, payloads: Payloads) -> Matched {
        let theirs: HashSet<_> = self.of(role.other()).iter().collect();
        let rows = (0..).zip(self.of(role));
        let shared: Vec<(u32, u64)> = rows
            .filter(|(_, item)| theirs.contains(item))
            .map(|(row, item)| (row, *item))
            .collect();
        let items: Vec<u64> = shared.iter().map(|(_, item)| *item).collect();
        Matched {
            rows: shared.into_iter().map(|(row, _)| row).collect(),
            payloads: self::payloads(role.other(), &items, &OutputKind::Payloads(payloads)),
        }
    }

    /// Returns the receiver's positions that a plain join finds.
    pub(crate) fn shared_rows(&self) -> Vec<u32> {
        let senders: HashSet<_> = self.sender.iter().collect();
        let rows = (0..).zip(&self.receiver);
        let shared = rows.filter(|(_, item)| senders.contains(item));
        shared.map(|(row, _)| row).collect()
    }
}

/// Returns the payloads of a party's items, one after the other.
pub(crate) fn payloads(role: Role, items: &[u64], output: &OutputKind) -> Vec<u8> {
    let payload = |item: &u64| {
        let mut payload = vec![0; output.payload_bytes(role)];
        let input = [role as u64, *item].map(u64::to_le_bytes);
        let mut hasher = blake3::Hasher::new();
        hasher.update(input.as_flattened());
        hasher.finalize_xof().fill(&mut payload);
        payload
    };
    items.iter().flat_map(payload).collect()
}

/// Returns the columns of both parties, the sender's first.
pub(crate) fn all_columns(columns: Columns) -> impl Iterator<Item = (Role, usize)> {
    [Role::Sender, Role::Receiver]
        .into_iter()
        .flat_map(move |role| (0..columns.of(role)).map(move |column| (role, column)))
}

/// Returns the number of an item in a column: of either sign, and some of them large.
pub(crate) fn number(role: Role, column: usize, item: u64) -> i64 {
    let input = [role as u64, column as u64, item].map(u64::to_le_bytes);
    let hash = blake3::hash(input.as_flattened());
    let (first, _) = hash.as_bytes().split_first_chunk().expect("32 bytes");
    i64::from_le_bytes(*first) >> (17 + 13 * column)
}

/// Returns the noise that the sender adds, of either sign: it hides how many items a group has, of
/// which there are few.
pub(crate) fn noise(request: &Request) -> Vec<u64> {
    let count = request.noise(Role::Sender) as u64;
    (0..count)
        .map(|i| number(Role::Sender, 3, i) as u64)
        .collect()
}

/// Returns the label of an item, the highest for most; 0 if the party has none.
pub(crate) fn label(role: Role, groups: Groups, item: u64) -> i64 {
    let labels = groups.labels.of(role) as u64;
    let hash = number(role, 0, item).unsigned_abs() % (labels * labels).max(1);
    hash.isqrt() as i64
}

/// Returns the numbers of a party's items, and their labels.
pub(crate) fn columns(role: Role, items: &[u64], output: &OutputKind) -> Vec<Vec<i64>> {
    let columns = output.columns().of(role);
    let labelled = output.groups().filter(|groups| groups.labels.of(role) > 0);
    let column = |column| {
        let numbers = items.iter().map(|item| match labelled {
            Some(groups) if column + 1 == columns => label(role, groups, *item),
            _ => number(role, column, *item),
        });
        numbers.collect()
    };
    (0..columns).map(column).collect()
}
