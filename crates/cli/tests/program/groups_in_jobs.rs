//! Jobs of counts and sums by groups: killed at any moment, and resumed with the same groups only.

use std::{mem, thread, time::Duration};

use crate::{
    jobs::Parties,
    support::{Process, run},
};

const BY: &str = "receiver.segment,sender.plan";

const GROUPS: [&str; 13] = [
    "--key",
    "id",
    "--delimiter",
    ",",
    "--output-kind",
    "counts,sum:sender.amount",
    "--group-by",
    BY,
    "--min-group",
    "50",
    "--wait",
    "30",
    "--protocol=rr22-circuit",
];

/// One part after the other, so that some are left.
const IN_PARTS: [&str; 4] = ["--parts", "13", "--threads", "1"];

const NOISE: [&str; 2] = [
    "--noise",
    "laplace:epsilon=0.01,bound=sender.amount:-0.5..1",
];

const SEGMENTS: [&str; 3] = ["control", "test", ""];
const PLANS: [&str; 2] = ["basic", "gold"];

fn segment(id: u32) -> &'static str {
    SEGMENTS[id as usize % 3]
}

/// Returns a plan: so few have the second one that their groups are withheld.
fn plan(id: u32) -> &'static str {
    PLANS[usize::from(id.is_multiple_of(40))]
}

/// Returns an amount in hundredths.
fn amount(id: u32) -> i64 {
    i64::from(id % 7) * 25 - 50
}

fn shown(hundredths: i64) -> String {
    let sign = if hundredths < 0 { "-" } else { "" };
    let digits = hundredths.abs();
    format!("{sign}{}.{:02}", digits / 100, digits % 100)
}

/// Two parties whose tables share the keys 1000 to 2999.
fn parties(common: &[&str]) -> Parties {
    let parties = Parties::new(&[&GROUPS, common].concat());
    let mine = (0..3000).map(|id| format!("{id},{}\n", segment(id)));
    let mine = "id,segment\n".to_owned() + &mine.collect::<String>();
    parties.folder.file("mine", mine);
    parties.folder.file("theirs", theirs(plan));
    parties
}

fn theirs(plan: impl Fn(u32) -> &'static str) -> String {
    let rows = (1000..5000).map(|id| format!("{id},{},{}\n", plan(id), shown(amount(id))));
    "id,plan,amount\n".to_owned() + &rows.collect::<String>()
}

/// Returns the table of groups.
fn expected() -> String {
    let mut text =
        "receiver.segment,sender.plan,shared_keys,withheld,sum:sender.amount\n".to_owned();
    for own in SEGMENTS {
        for their in PLANS {
            let members = (1000..3000).filter(|id| segment(*id) == own && plan(*id) == their);
            let members: Vec<_> = members.collect();
            let sum = shown(members.iter().map(|id| amount(*id)).sum());
            text += &match members.len() {
                count @ 50.. => format!("{own},{their},{count},false,{sum}\n"),
                _ => format!("{own},{their},,true,\n"),
            };
        }
    }
    text
}

/// Either party after some parts, and the receiver when nothing but the opening is left, or not
/// even that. The other one meets it again, and all receivers print the one answer.
#[test]
fn groups_survive_kills() {
    let printed = printed_by_killed(&parties(&IN_PARTS));
    // It may be killed when it has printed it, and before that is noted.
    assert!(printed.starts_with(&expected()), "{printed}");
    assert_eq!(printed.replace(&expected(), ""), "");
}

/// The same, of an answer with noise, which is in all of them the same, and taken from a budget
/// that has no other. One column has a list, so it has two labels more.
#[test]
fn noise_survives_kills_and_is_spent_once() {
    let mut parties = budgeted(&[&IN_PARTS[..], &NOISE].concat(), "--epsilon", "0.02");
    let list = parties.folder.file("plans.txt", PLANS.join("\n"));
    let list = ["--groups".to_owned(), format!("sender.plan={list}")];
    parties.receiver.extend(list.clone());
    parties.sender.extend(list);
    let printed = printed_by_killed(&parties);
    let lines: Vec<_> = printed.lines().collect();
    let (answers, rest) = lines.as_chunks::<13>();
    assert!(rest.is_empty() && !answers.is_empty(), "{printed}");
    assert!(
        answers.iter().all(|answer| answer == &answers[0]),
        "{printed}"
    );
    assert_eq!(spent(&parties), 1);
}

/// Without noise each part tells something, so an answer is spent with the first one, whoever is
/// killed when.
#[test]
fn exact_groups_are_spent_once() {
    let parties = budgeted(&IN_PARTS, "--answers", "1");
    let printed = printed_by_killed(&parties);
    assert_eq!(printed.replace(&expected(), ""), "");
    assert_eq!(spent(&parties), 1);
}

/// Ten senders are killed, each as soon as it has spent or waits for its receiver: there is one
/// answer.
#[test]
fn ten_kills_do_not_spend_twice() {
    let parties = budgeted(&NOISE, "--epsilon", "0.02");
    let receiver = parties.receiver(&[]);
    for _ in 0..10 {
        let sender = parties.sender(&[]);
        while spent(&parties) == 0 {
            thread::sleep(Duration::from_millis(1));
        }
        sender.signal("KILL");
        sender.end();
        assert_eq!(spent(&parties), 1);
    }
    let sender = parties.sender(&[]);
    receiver.end().says(0, &[]);
    sender.end();
    assert_eq!(spent(&parties), 1);
}

/// Whoever goes on without the budget would give an answer that nobody has spent.
#[test]
fn a_job_goes_on_with_a_budget_or_without_as_it_began() {
    let mut parties = budgeted(&[&IN_PARTS[..], &NOISE].concat(), "--epsilon", "0.02");
    parties.break_off();
    let budget = parties.sender.split_off(parties.sender.len() - 2);
    let refused = parties.sender(&[]).end();
    refused.says(2, &["the use of a budget", "--budget says"]);
    parties.sender.extend(budget);
    let other = [
        "--noise",
        "laplace:epsilon=0.02,bound=sender.amount:-0.5..1",
    ];
    let at = parties
        .sender
        .iter()
        .position(|word| word == NOISE[1])
        .unwrap();
    parties.sender[at] = other[1].to_owned();
    parties
        .sender(&[])
        .end()
        .says(2, &["the noise", "--noise says"]);
    assert_eq!(spent(&parties), 0);
}

/// Two parties whose sender has a budget with this limit.
fn budgeted(common: &[&str], limit: &str, of: &str) -> Parties {
    let mut parties = parties(common);
    let budget = parties.folder.path("budget");
    run(&["budget", "create", &budget, limit, of]).says(0, &[]);
    parties.sender.extend(["--budget".to_owned(), budget]);
    parties
}

/// Returns the number of answers that were spent.
fn spent(parties: &Parties) -> usize {
    parties.folder.read("budget").lines().count() - 1
}

/// Kills either party after some parts, and returns what all receivers print.
fn printed_by_killed(parties: &Parties) -> String {
    let start = |party| started(parties, party);
    let mut running = [0, 1].map(|party| Some(start(party)));
    let mut printed = String::new();
    for (parts, victim) in [(1, 0), (3, 1), (5, 0), (7, 1), (13, 0)] {
        parties.wait_for(parts);
        let killed = running[victim].take().unwrap();
        killed.signal("KILL");
        // Its lock is free when it has ended.
        let killed = killed.end();
        assert!(killed.code.is_none() || parts == 13, "{killed:#?}");
        printed += &killed.stdout;
        running[victim] = Some(start(victim));
    }
    let [receiver, sender] = running.map(|party| party.unwrap().end());
    printed += &receiver.says(0, &[]).stdout;
    // It cannot know that the receiver has all, if that was killed before it said so.
    if sender.code != Some(0) {
        let nothing_left = "if the other side has its result, nothing is left to do";
        sender.says(4, &[nothing_left]);
    }
    printed
}

/// Either party, when both have begun.
#[test]
fn groups_in_one_run_survive_kills() {
    for victim in [0, 1] {
        let parties = parties(&[]);
        let mut running = [0, 1].map(|party| Some(started(&parties, party)));
        running[0].as_mut().unwrap().wait_for("to move");
        let killed = running[victim].take().unwrap();
        killed.signal("KILL");
        let printed = killed.end().stdout;
        running[victim] = Some(started(&parties, victim));
        let [receiver, _] = running.map(|party| party.unwrap().end());
        assert_eq!(printed + &receiver.says(0, &[]).stdout, expected());
    }
}

/// Starts the receiver or the sender, again.
fn started(parties: &Parties, party: usize) -> Process {
    match party {
        0 => parties.receiver(&[]),
        _ => parties.sender(&[]),
    }
}

/// Whoever could resume with other groups would have two answers of which one alone was agreed on.
#[test]
fn a_job_goes_on_with_the_same_groups_only() {
    let mut parties = parties(&IN_PARTS);
    parties.break_off();
    for (word, other, said) in [
        ("50", "49", "the least size of a group"),
        (BY, "receiver.segment", "the groups"),
        (GROUPS[5], "counts", "the output"),
    ] {
        let at = parties.receiver.iter().position(|one| one == word).unwrap();
        let word = mem::replace(&mut parties.receiver[at], other.to_owned());
        let refused = parties.receiver(&[]).end();
        assert_eq!(refused.says(2, &[said]).stdout, "");
        parties.receiver[at] = word;
    }
    let list = parties.folder.file("plans.txt", "basic\ngold\n");
    let listed = format!("sender.plan={list}");
    let refused = parties.receiver(&["--groups", &listed]).end();
    assert_eq!(refused.says(2, &["the lists of groups"]).stdout, "");
    // A label of one key is another one, or is there no more.
    let swapped = theirs(|id| plan(if id == 1001 { 1000 } else { id }));
    let lost = theirs(|_| PLANS[0]);
    for table in [swapped, lost] {
        parties.folder.file("theirs", table);
        let joined = parties.join(&[], &[]);
        joined
            .sender
            .says(2, &["a table (its keys, their order, and its numbers)"]);
        assert_eq!(joined.receiver.says(7, &[]).stdout, "");
    }
    parties.folder.file("theirs", theirs(plan));
    let joined = parties.join(&[], &[]);
    joined.sender.says(0, &[" of 13 parts done before"]);
    assert_eq!(joined.receiver.says(0, &[]).stdout, expected());
}
