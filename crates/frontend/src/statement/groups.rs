//! What was learned of groups, for people.

use psijoin::Role;
use psijoin_printable::{Quoted, humanize};
use psijoin_session::{AgreedLabels, GroupColumn, Outcome, Received, RequestedGroups};

/// Returns the totals of groups that the receiver learned, in the words for a party in this role,
/// which calls the other party's columns `theirs`; and their `sums`, if there are some.
pub(super) fn totals(
    outcome: &Outcome,
    (role, theirs): (Role, &str),
    sums: Option<String>,
) -> String {
    let groups = outcome.groups.count();
    let by = outcome.groups.0.iter();
    let by: Vec<_> = by
        .map(|agreed| called(&agreed.column, role, theirs))
        .collect();
    let sums = sums.map(|sums| format!(", and in each {sums}"));
    format!(
        "how many keys you share in each of {} by {}{}",
        humanize::counted(groups as u64, "group"),
        humanize::listed(&by),
        sums.unwrap_or_default(),
    )
}

/// Returns what the receiver knows of groups that are withheld, for either party.
pub(super) fn withheld(outcome: &Outcome, groups: &RequestedGroups) -> Option<String> {
    let fewer = format!(
        "fewer than {}{}",
        humanize::counted(groups.least, "shared key"),
        match groups.noise {
            None => "",
            Some(_) => " (with noise)",
        }
    );
    let told = match &outcome.received {
        Some(Received::Groups(grouped)) => format!(
            "{} of the {} {fewer}, and that is all that you learned of {}.",
            humanize::count(grouped.withheld() as u64),
            match grouped.groups.len() {
                1 => "1 group has".to_owned(),
                groups => format!("{} groups have", humanize::count(groups as u64)),
            },
            if grouped.withheld() == 1 {
                "it"
            } else {
                "these"
            },
        ),
        _ => format!(
            "Of a group with {fewer} the receiver learned only that it has so few: neither their \
             number nor a sum."
        ),
    };
    (groups.least > 0).then_some(told)
}

/// Returns what both sides had to tell of the columns that name groups, if they have no list of its
/// labels.
pub(super) fn known(outcome: &Outcome) -> Option<String> {
    let columns = outcome.groups.0.iter();
    let told = columns.filter(|agreed| agreed.column.public.is_none());
    let known = told.map(|AgreedLabels { column, labels }| {
        let values = humanize::counted(labels.len() as u64, "different value");
        format!("the {values} of {}", of_holder(column, outcome.role))
    });
    let known: Vec<_> = known.collect();
    (!known.is_empty()).then(|| format!("Both sides know {}.", humanize::listed(&known)))
}

/// Returns what nobody had to tell of columns with a list of their labels, a line for each.
pub(super) fn listed(outcome: &Outcome) -> Vec<String> {
    let columns = outcome.groups.0.iter().map(|agreed| &agreed.column);
    let listed = |column: &GroupColumn| {
        let list = column.public.as_ref()?;
        Some(format!(
            "Both sides gave one list of {} for {}, and beyond the groups nothing was told of what is \
             in it: all that is not on the list counts as `other`.",
            humanize::counted(list.listed().len() as u64, "label"),
            of_holder(column, outcome.role)
        ))
    };
    columns.filter_map(listed).collect()
}

/// Returns what the receiver could read from groups that it chose itself, for the sender.
pub(super) fn chosen(outcome: &Outcome, groups: &RequestedGroups) -> Option<String> {
    let mut by = groups.by.iter();
    let is_chosen = by.any(|column| column.holder == Role::Receiver);
    let told = match groups.shows_single_keys() {
        _ if groups.noise.is_some() => {
            "Whatever it chose, noise hides whether you have any one key, as \
             far as ε says."
                .to_owned()
        }
        true => "A group of one key tells it whether you have that key. You allowed such groups."
            .to_owned(),
        false => format!(
            "If it knows of {} that you have, a group of these and one more key can tell it whether \
             you have that one.",
            humanize::counted(groups.least - 1, "key")
        ),
    };
    let is_asked = outcome.role == Role::Sender && is_chosen;
    is_asked.then(|| format!("The receiver chose which of its keys are in which group. {told}"))
}

/// Returns a column in the words for a party in this role, which calls the other party by its role.
fn of_holder(column: &GroupColumn, role: Role) -> String {
    called(column, role, &format!("the {}'s", column.holder))
}

/// Returns a column in the words for a party in this role, which calls the other party's `theirs`.
fn called(column: &GroupColumn, role: Role, theirs: &str) -> String {
    let whose = if column.holder == role {
        "your"
    } else {
        theirs
    };
    format!("{whose} column {}", Quoted(&column.name))
}
