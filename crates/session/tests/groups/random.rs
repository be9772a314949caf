//! Random pairs of tables, against a computation in the clear.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use psijoin::Role;
use psijoin_session::{Grouped, Memory};

use crate::Join;

/// The decimals at which sums are compared.
const SCALE: u32 = 3;

/// The keys of both tables.
const KEYS: usize = 12;

/// The texts of labels; one is null.
const LABELS: [&str; 4] = ["b", "", "a, \"c\"", "ü"];

/// A table: for each key its two labels, and rows, each of a key, if it has one, and a number.
#[derive(Debug, Clone)]
struct Table {
    labels: Vec<[usize; 2]>,
    rows: Vec<Row>,
}

/// The key of a row, if it has one, and its number, if it has one: digits and decimals.
type Row = (Option<usize>, Option<(i32, u32)>);

impl Table {
    fn any() -> impl Strategy<Value = Self> {
        let labels = prop::collection::vec([0..LABELS.len(), 0..LABELS.len()], KEYS);
        let number = prop::option::weighted(0.9, (-2000..2000_i32, 0..=SCALE));
        let row = (prop::option::weighted(0.9, 0..KEYS), number);
        let rows = prop::collection::vec(row, 0..24);
        (labels, rows).prop_map(|(labels, rows)| Self { labels, rows })
    }

    fn csv(&self) -> String {
        let mut text = "id,l,m,n\n".to_owned();
        for (key, number) in &self.rows {
            let id = key.map_or(String::new(), |key| format!("key {key}"));
            // Of a row without a key the labels do not matter.
            let [l, m] =
                self.labels[key.unwrap_or(0)].map(|label| LABELS[label].replace('"', "\"\""));
            let (l, m) = match key {
                Some(_) => (l, m),
                None => ("left out".to_owned(), m),
            };
            let number = number.map_or(String::new(), |(digits, scale)| shown(digits, scale));
            text += &format!("{id},\"{l}\",\"{m}\",{number}\n");
        }
        text
    }

    /// Returns the labels of each key, and the sum of its numbers.
    fn keys(&self) -> BTreeMap<usize, ([&'static str; 2], i128)> {
        let mut keys = BTreeMap::new();
        for (key, number) in &self.rows {
            let Some(key) = key else { continue };
            let labels = self.labels[*key].map(|label| LABELS[label]);
            let (_, sum) = keys.entry(*key).or_insert((labels, 0));
            let number = number.map_or(0, |(digits, scale)| i128::from(digits) * power(scale));
            *sum += number;
        }
        keys
    }
}

fn shown(digits: i32, scale: u32) -> String {
    let sign = if digits < 0 { "-" } else { "" };
    let digits = format!("{:0>1$}", digits.abs(), scale as usize + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale as usize);
    let point = if scale > 0 { "." } else { "" };
    format!("{sign}{whole}{point}{fraction}")
}

/// Returns what brings a number of these decimals to [`SCALE`].
fn power(scale: u32) -> i128 {
    10_i128.pow(SCALE - scale)
}

/// A column of labels: its holder, and which of the two it is.
type By = (Role, usize);

/// The totals of a group: its labels, how many keys are shared, and the sums of columns of these
/// parties, unless it is withheld.
type Group = (Vec<Option<String>>, Option<(i64, Vec<i128>)>);

/// The list of a column's labels, if both parties have one.
type List = Option<Vec<&'static str>>;

/// Returns the label that a value has.
fn label_of(value: &'static str, list: &List) -> &'static str {
    match list {
        Some(list) if !value.is_empty() && !list.contains(&value) => "other",
        _ => value,
    }
}

/// Returns the groups by a plain computation.
fn plain(
    tables: [&Table; 2],
    (by, listed): (&[By], &[List]),
    sums: &[Role],
    least: u64,
) -> Vec<Group> {
    let keys = tables.map(Table::keys);
    let lists = by.iter().zip(listed).map(|((role, column), list)| {
        if let Some(list) = list {
            let sorted: BTreeSet<_> = list.iter().copied().collect();
            return sorted.into_iter().chain(["other", ""]).collect();
        }
        let labels = keys[*role as usize]
            .values()
            .map(|(labels, _)| labels[*column]);
        // Null comes last.
        let sorted: BTreeSet<_> = labels.map(|label| (label.is_empty(), label)).collect();
        match sorted.is_empty() {
            true => vec![""],
            false => sorted.into_iter().map(|(_, label)| label).collect(),
        }
    });
    let groups = lists.fold(vec![vec![]], |groups: Vec<Vec<&str>>, list| {
        let longer = |group: Vec<&'static str>| {
            let list = list.clone().into_iter();
            list.map(move |label| [group.clone(), vec![label]].concat())
        };
        groups.into_iter().flat_map(longer).collect()
    });
    let group = |labels: Vec<&str>| {
        let shared = keys[0].keys().filter(|key| keys[1].contains_key(key));
        let of_group = shared.filter(|key| {
            let has = |(((role, column), list), label): ((&By, &List), &&str)| {
                label_of(keys[*role as usize][key].0[*column], list) == *label
            };
            by.iter().zip(listed).zip(&labels).all(has)
        });
        let of_group: Vec<_> = of_group.collect();
        let sum = |role: &Role| of_group.iter().map(|key| keys[*role as usize][key].1).sum();
        let count = of_group.len() as i64;
        let totals = (count >= least as i64).then(|| (count, sums.iter().map(sum).collect()));
        let label = |label: &&str| (!label.is_empty()).then(|| (*label).to_owned());
        (labels.iter().map(label).collect(), totals)
    };
    groups.into_iter().map(group).collect()
}

/// Returns groups that were learned, as the plain computation has them.
fn learned(grouped: &Grouped) -> Vec<Group> {
    let groups = grouped.groups.iter().map(|group| {
        let totals = group.totals.as_ref().map(|totals| {
            let sums = totals.sums.iter();
            let sums = sums.map(|sum| i128::from(sum.mantissa) * power(sum.scale));
            (totals.shared_keys, sums.collect())
        });
        (group.labels.clone(), totals)
    });
    groups.collect()
}

fn by() -> impl Strategy<Value = Vec<By>> {
    use Role::{Receiver, Sender};
    prop::sample::select(vec![
        vec![(Receiver, 0)],
        vec![(Sender, 1)],
        vec![(Receiver, 0), (Sender, 1)],
        vec![(Sender, 0), (Receiver, 0)],
        vec![(Receiver, 1), (Receiver, 0)],
        vec![(Sender, 0), (Sender, 1)],
    ])
}

/// A list may lack labels that there are, and have one that no row has.
fn list() -> impl Strategy<Value = List> {
    let labels = vec!["b", "a, \"c\"", "ü", "no row has it"];
    prop::option::of(prop::sample::subsequence(labels, 1..=4))
}

fn sums() -> impl Strategy<Value = Vec<Role>> {
    use Role::{Receiver, Sender};
    prop::sample::select(vec![
        vec![],
        vec![Sender],
        vec![Receiver],
        vec![Receiver, Sender],
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..Default::default() })]

    /// Null labels, repeated keys, negative decimals, empty groups and empty tables are among them;
    /// in one run and in parts, which may be spilled.
    #[test]
    fn groups_are_those_of_a_plain_computation(
        sender in Table::any(),
        receiver in Table::any(),
        by in by(),
        lists in [list(), list()],
        sums in sums(),
        least in 0..4_u64,
        parts in prop::option::of(2..4_u32),
        spills in any::<bool>(),
    ) {
        let columns = by.iter().map(|(role, column)| format!("{role}.{}", ["l", "m"][*column]));
        let columns: Vec<_> = columns.collect();
        let summed: Vec<_> = sums.iter().map(|role| format!("{role}.n")).collect();
        let summed: Vec<_> = summed.iter().map(String::as_str).collect();
        let tables = [&sender.csv()[..], &receiver.csv()];
        let lists = &lists[..by.len()];
        let mut join = Join::new(tables, &summed, &columns.join(",")).least(least);
        for (place, list) in lists.iter().enumerate() {
            if let Some(list) = list {
                join = join.list(place, list);
            }
        }
        let grouped = join.grouped(|spec| {
            spec.parts = parts;
            if spills {
                spec.resources.memory = Memory::Budget(0);
            }
        });
        prop_assert_eq!(learned(&grouped), plain([&sender, &receiver], (&by, lists), &sums, least));
    }
}
