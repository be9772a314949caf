//! The protocol of a run, its cost, and who learned what, for people. Never an item.

mod budget;
pub mod caveats;
mod groups;
mod noise;

use std::path::Path;

use psijoin::{Adversary, Info, Role, parts};
use psijoin_printable::{Quoted, humanize};
use psijoin_session::{AgreedColumn, Learners, Outcome, Received, RequestedOutput, Sum};
use psijoin_table::{Look, WhichRows, share::PayloadLayout};

use crate::sentences::{insecurity, warning};

/// Returns what goes to standard output; nothing for rows and shares, which are written as they are
/// found, and to files.
pub fn result(received: &Received) -> Option<String> {
    match received {
        Received::Count(count) => Some(count.to_string()),
        Received::Threshold { reached: true, .. } => Some("reached".to_owned()),
        Received::Threshold { reached: false, .. } => Some("not reached".to_owned()),
        Received::Sums(sums) => Some(match &sums[..] {
            [only] => only.value.to_string(),
            _ => {
                let line = |sum: &Sum| format!("{}\t{}", sum.column.name, sum.value);
                sums.iter().map(line).collect::<Vec<_>>().join("\n")
            }
        }),
        _ => None,
    }
}

/// Returns the result of a check.
pub(crate) fn checked(warnings: usize) -> String {
    let but = match warnings {
        0 => String::new(),
        _ => format!(
            ", with {} above",
            humanize::counted(warnings as u64, "warning")
        ),
    };
    format!("checked: the two sides can join{but}. Nothing was joined.")
}

/// Returns who has learned what, and where the rows are: the end of every run.
/// `output` is the file that was written, if one was named. `auto` may have taken the protocol.
pub(crate) fn statement(outcome: &Outcome, output: Option<&str>, by_auto: bool) -> String {
    let named = output;
    let output = output.unwrap_or(match outcome.received {
        Some(Received::Rows {
            in_memory: Some(_), ..
        }) => "memory",
        _ => "standard output",
    });
    let mut lines = vec![learned(outcome)];
    let all = outcome.given.all();
    lines.extend(all.map(|(giver, layout)| given(outcome.role, giver, layout)));
    if let Some(asked) = outcome.question.asked.groups() {
        lines.extend(noise::added(outcome));
        lines.extend(groups::withheld(outcome, asked));
        lines.extend(groups::chosen(outcome, asked));
        lines.extend(groups::known(outcome));
        lines.extend(groups::listed(outcome));
    }
    lines.extend(budget::left(outcome));
    lines.extend(readable_from_sums(outcome));
    lines.extend(known_of_columns(&outcome.columns.0));
    lines.extend(known_of_size(outcome));
    match outcome.received {
        Some(Received::Rows {
            aligned: true,
            rows: Some(rows),
            ..
        }) => lines.push(format!(
            "Wrote {} to {output}: one per shared key, in the order in which the other side has its.",
            humanize::counted(rows, "row")
        )),
        Some(Received::Rows {
            which,
            rows: Some(rows),
            ..
        }) => lines.push(wrote(which, rows, output)),
        Some(Received::Rows { rows: None, .. }) => lines
            .push("The rows were not all written: the reader of the output went away.".to_owned()),
        Some(Received::Shares { places }) => lines.push(format!(
            "Wrote your shares, of {}, to {output}.",
            humanize::counted(places, "place")
        )),
        Some(Received::Places(_) | Received::Elsewhere { .. }) => {
            lines.push("The rows are where the table is.".to_owned());
        }
        Some(Received::Groups(ref grouped)) => lines.extend(named.map(|file| {
            let groups = humanize::counted(grouped.groups.len() as u64, "group");
            format!("Wrote {groups} to {file}.")
        })),
        Some(Received::Count(_) | Received::Threshold { .. } | Received::Sums(_)) | None => {}
    }
    let counts = outcome.counts;
    let left_out = match outcome.received {
        Some(Received::Rows {
            which: WhichRows::Unshared | WhichRows::All,
            ..
        }) => "which match nothing",
        _ => "left out",
    };
    lines.push(format!(
        "Your table has {}: {}, {} repeating a key, {} without a key, {left_out}.",
        humanize::counted(counts.rows, "row"),
        humanize::counted(counts.distinct, "distinct key"),
        humanize::counted(counts.duplicates, "row"),
        humanize::counted(counts.left_out, "row"),
    ));
    let bad = outcome.bad_cells.rows;
    if bad > 0 {
        lines.push(format!(
            "Of the rows without a key, {} a cell of the key that cannot be read.",
            match bad {
                1 => "1 has".to_owned(),
                _ => format!("{} have", humanize::count(bad)),
            }
        ));
    }
    let without_number = outcome.rows_without_number.iter();
    lines.extend(
        without_number
            .filter(|(_, rows)| **rows > 0)
            .map(|(column, rows)| {
                format!(
                    "Empty cells of your column {}, in {} with a key, count as nothing.",
                    Quoted(column),
                    humanize::counted(*rows, "row")
                )
            }),
    );
    lines.extend(run_again(outcome));
    lines.extend(attempts(outcome));
    lines.extend(protection(outcome.plan.info(), outcome.role));
    if outcome.question.post_quantum {
        lines.push(POST_QUANTUM.to_owned());
    }
    lines.extend(caveats::of(outcome, by_auto));
    lines.join("\n")
}

/// Returns what of a job that had broken off ran more than once.
fn run_again(outcome: &Outcome) -> Option<String> {
    let again = outcome.steps_run_again;
    let all = parts::steps(&outcome.plan);
    (again > 0).then(|| {
        format!(
            "The join had broken off: {} of its {} ran more than once. Each said the same again, so it told nobody more.",
            humanize::count(again.into()),
            humanize::counted(all.into(), "step")
        )
    })
}

/// Returns how often the parties met, if lanes were lost, and what that would let a dishonest party
/// do.
fn attempts(outcome: &Outcome) -> Option<String> {
    let attempts = outcome.attempt;
    (attempts > 1).then(|| {
        format!(
            "Processes were lost, so the join ran in {}, each by new keys. In each, a dishonest \
             side could have asked about other keys, as many as before.",
            humanize::counted(attempts.into(), "attempt")
        )
    })
}

/// Returns which rows were written. The receiver's knowledge does not depend on it.
fn wrote(which: WhichRows, rows: u64, output: &str) -> String {
    let rows = humanize::counted(rows, "row");
    let learned = "You learned the same as from the shared rows alone, and the other side does not know what you wrote.";
    match which {
        WhichRows::Shared => format!("Wrote {rows} to {output}."),
        WhichRows::Unshared => format!(
            "Wrote {rows} to {output}: those that are not shared, also those without a key. {learned}"
        ),
        WhichRows::All => format!("Wrote {rows} to {output}: all, shared or not. {learned}"),
    }
}

/// Returns what kind of peer the protocol has protected this party from.
fn protection(info: &Info, role: Role) -> Option<String> {
    let (name, other) = (info.name, role.other());
    match info.adversary {
        Adversary::MaliciousSender if role == Role::Sender => Some(follows(name, other)),
        Adversary::SemiHonest => Some(follows(name, other)),
        Adversary::MaliciousSender | Adversary::Malicious => Some(format!(
            "{name} protects you even from a {other} that cheats."
        )),
        _ => insecurity(info).map(warning),
    }
}

/// What a post-quantum join promises beyond its protocol.
const POST_QUANTUM: &str =
    "Nobody who has recorded this join is known to be able to read it with a quantum computer.";

fn follows(name: &str, other: Role) -> String {
    format!(
        "{name} protects you from a {other} that follows the protocol, not from one that cheats."
    )
}

fn learned(outcome: &Outcome) -> String {
    let request = outcome.plan.request();
    let senders = humanize::count(request.sizes.sender());
    let receivers = humanize::count(request.sizes.receiver());
    let columns = &outcome.columns.0;
    let Some(received) = &outcome.received else {
        let learned = match outcome.question.asked {
            RequestedOutput::Rows => "which of its keys you share".to_owned(),
            RequestedOutput::Count => "how many keys you share, and not which".to_owned(),
            RequestedOutput::Threshold(least) => format!(
                "whether you share at least {}, and neither which nor how many",
                humanize::counted(least, "key")
            ),
            RequestedOutput::Sum(_) => format!(
                "{}, and neither which nor how many these are beyond what {} tell",
                sums(columns, Role::Sender, "its"),
                if columns.len() == 1 {
                    "that sum can"
                } else {
                    "these sums can"
                },
            ),
            RequestedOutput::Groups(_) => {
                let sums = each_sum(columns, Role::Sender, "its");
                let totals = groups::totals(outcome, (Role::Sender, "its"), sums);
                format!("{totals}, and not which")
            }
            RequestedOutput::Shares(_) => return of_shares(outcome),
        };
        return format!(
            "The receiver learned {learned}, and your set's size ({senders}). You learned the \
             receiver's set size ({receivers})."
        );
    };
    let learned = match *received {
        Received::Rows { .. } | Received::Elsewhere { .. } | Received::Places(_) => {
            let shared_keys = received.shared_keys().unwrap_or_default();
            humanize::counted(shared_keys, "shared key")
        }
        Received::Count(shared_keys) => {
            format!("that you share {}", humanize::counted(shared_keys, "key"))
        }
        Received::Threshold { least, reached } => {
            let than = if reached { "at least" } else { "fewer than" };
            format!("that you share {than} {}", humanize::counted(least, "key"))
        }
        Received::Sums(_) => sums(columns, Role::Receiver, "the sender's"),
        Received::Groups(_) => {
            let sums = each_sum(columns, Role::Receiver, "the sender's");
            groups::totals(outcome, (Role::Receiver, "the sender's"), sums)
        }
        Received::Shares { .. } => return of_shares(outcome),
    };
    let (other, rows) = (outcome.role.other(), outcome.question.learners);
    let (ours, theirs) = match other {
        Role::Sender => (receivers, senders),
        Role::Receiver => (senders, receivers),
    };
    let also = match rows {
        Learners::Receiver => "",
        Learners::Both => "which of its keys you share, and ",
    };
    format!(
        "The {other} learned {also}your set's size ({ours}). You learned {learned} and the {other}'s set size ({theirs})."
    )
}

/// Returns a name that somebody chose, so that nobody can take it for the statement's own words.
fn quoted(name: &str) -> String {
    Quoted(name).to_string()
}

/// Returns the columns that a party gave.
fn given(role: Role, giver: Role, layout: &PayloadLayout) -> String {
    let names: Vec<_> = layout.columns().names().map(quoted).collect();
    let noun = if names.len() == 1 {
        "column"
    } else {
        "columns"
    };
    let (names, bytes) = (humanize::listed(&names), layout.payload_bytes());
    let bytes = humanize::counted(bytes as u64, "byte");
    match giver == role {
        true => format!(
            "With each shared key the {} got your {noun} {names}, and of your other keys nothing. Both sides know that these \
             take {bytes} per key.",
            role.other()
        ),
        false => format!(
            "With each shared key you got the {giver}'s {noun} {names}. Both sides know that these take {bytes} per key."
        ),
    }
}

/// Returns what the receiver could read from the sums of its own columns, for the sender.
fn readable_from_sums(outcome: &Outcome) -> Option<String> {
    let adds_up = matches!(
        outcome.question.asked,
        RequestedOutput::Sum(_) | RequestedOutput::Groups(_)
    );
    if outcome.role == Role::Receiver || !adds_up {
        return None;
    }
    let own = outcome
        .columns
        .0
        .iter()
        .filter(|column| column.holder == Role::Receiver);
    let own: Vec<_> = own.map(|column| quoted(&column.name.name)).collect();
    let noun = if own.len() == 1 { "column" } else { "columns" };
    (!own.is_empty()).then(|| {
        format!(
            "The receiver chose the numbers of its {noun} {} itself. It can have chosen them so that \
             each sum tells it up to 64 bits about which keys you share: for example, whether you have \
             each of 62 keys of its choice. You allowed such sums.",
            humanize::listed(&own),
        )
    })
}

/// Returns both parties' shares.
fn of_shares(outcome: &Outcome) -> String {
    let other = outcome.role.other();
    let theirs = other.items(outcome.plan.request().sizes);
    format!(
        "Each side got shares, which say nothing without the other's, and learned the other's set \
         size (the {other}'s: {}).",
        humanize::count(theirs)
    )
}

/// Returns the sums of columns in the words for a party in this role, which calls the other party's
/// columns `theirs`.
fn sums(columns: &[AgreedColumn], role: Role, theirs: &str) -> String {
    let sums = each_sum(columns, role, theirs).unwrap_or_default();
    format!("{sums} over the keys that you share")
}

/// Returns these sums, without telling over which keys, if there are some.
fn each_sum(columns: &[AgreedColumn], role: Role, theirs: &str) -> Option<String> {
    let called = |column: &AgreedColumn| {
        let whose = if column.holder == role {
            "your"
        } else {
            theirs
        };
        format!("{whose} column {}", Quoted(&column.name.name))
    };
    let called: Vec<_> = columns.iter().map(called).collect();
    let noun = if called.len() == 1 {
        "the sum"
    } else {
        "the sums"
    };
    (!called.is_empty()).then(|| format!("{noun} of {}", humanize::listed(&called)))
}

/// Returns what each side had to tell about the columns.
fn known_of_columns(columns: &[AgreedColumn]) -> Option<String> {
    let known = |column: &AgreedColumn| {
        let not_other = match column.name.holder {
            Some(_) => String::new(),
            None => format!(", and not the {}'s,", column.holder.other()),
        };
        format!(
            "the {}'s table{not_other} has {}, with {}",
            column.holder,
            Quoted(&column.name.name),
            humanize::counted(column.scale.into(), "decimal")
        )
    };
    let known: Vec<_> = columns.iter().map(known).collect();
    (!known.is_empty()).then(|| format!("Both sides know that {}.", known.join("; ")))
}

/// Returns what both sides know from a minimum that is reached.
fn known_of_size(outcome: &Outcome) -> Option<String> {
    let least = outcome.plan.request().min_intersection;
    let keys = || humanize::counted(least, "key");
    (least > 0).then(|| format!("Both sides know that they share at least {}.", keys()))
}

/// Returns what a party that finds next to nothing should look at: this is more often due to
/// spelling than to the sets. A sender that learns nothing must not learn it.
pub(crate) fn few_shared(outcome: &Outcome) -> Option<String> {
    let shared = outcome.received.as_ref()?.shared_keys()?;
    let sizes = outcome.plan.request().sizes;
    let other = outcome.role.other();
    (shared == 0 || shared * FEW < sizes.smaller()).then(|| {
        let found = match shared {
            0 if outcome.role.items(sizes) == 0 => {
                "no key is shared, as your table has none".to_owned()
            }
            0 if other.items(sizes) == 0 => format!("no key is shared, as the {other} has none"),
            0 => "no key is shared".to_owned(),
            _ => format!(
                "only {}, of {} in the smaller set",
                humanize::counted(shared, "shared key"),
                humanize::count(sizes.smaller())
            ),
        };
        let both_have_some = sizes.smaller() > 0;
        let looks = outcome.looks.iter().filter(|_| both_have_some);
        format!(
            "{found}. If you expected more, compare with the other side how the keys are \
             spelled: which columns, in which order, of which types, with upper case, spaces, leading \
             zeros, decimals (1.0 for 1), accents, country codes; how the files are encoded; and by which rules they are \
             normalised.{}",
            looks.map(|look| hint(*look)).collect::<String>()
        )
    })
}

/// Returns what else may keep keys apart that look like this to their owner.
fn hint(look: Look) -> &'static str {
    match look {
        Look::LikeHashes => {
            " Your keys look like SHA-256 hashes: if the other side has plain values, let it say how they were normalised \
             and hashed, as by the rules `email+sha256`, and take the rule `sha256` alone here."
        }
        Look::LikeAddresses => {
            " Your keys look like mail addresses: if the other side has SHA-256 hashes of such, say how these were normalised \
             and hashed, as by the rules `email+sha256`, and let it take the rule `sha256` alone."
        }
        _ => {
            " Hashes are equal only if the values were normalised alike before: addresses by email (as Meta asks), \
             email:gmail (UID2) or email:google (Google), for example."
        }
    }
}

/// Fewer shared keys than one in this many of the smaller set are worth a warning.
const FEW: u64 = 100;

/// Returns what there is to do about a job that has ended.
pub(crate) fn over(folder: &Path) -> String {
    format!(
        "the job in {} was already done, of this very table: nothing was done now, and nothing was written. To run it \
         anew, give both sides new folders.",
        psijoin_printable::path(folder)
    )
}

/// Returns the cost of a run.
pub(crate) fn cost(outcome: &Outcome) -> String {
    let spilled = match outcome.spilled_bytes {
        0 => String::new(),
        bytes => format!("; {} did not fit into memory", humanize::bytes(bytes)),
    };
    format!(
        "done in {}: sent {}, received {}, {}{spilled}",
        humanize::time(outcome.time),
        humanize::bytes(outcome.traffic.sent.bytes),
        humanize::bytes(outcome.traffic.received.bytes),
        humanize::counted(outcome.traffic.flights, "flight"),
    )
}
