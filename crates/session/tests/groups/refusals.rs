//! Groups that are refused, and what either side is told.

use psijoin::{Columns, Role, registry};
use psijoin_session::{
    Error, ErrorKind, GroupColumn, JoinSpec, Question, RequestedGroups, RequestedOutput,
};

use crate::Join;

/// Returns a table of this many keys, each with a label of its own.
fn labels(column: &str, count: usize) -> String {
    let rows = (0..count).map(|key| format!("{key},label {key},1\n"));
    format!("id,{column},n\n{}", rows.collect::<String>())
}

/// Returns the errors of the sender and of the receiver.
fn failures(join: &Join, adjust: impl Fn(&mut JoinSpec)) -> [Error; 2] {
    join.run(adjust).map(|ended| ended.err().expect("it fails"))
}

#[test]
fn both_sides_are_told_how_many_groups_are_too_many() {
    let (many, few) = (labels("l", 300), labels("l", 20));
    for (tables, by, texts) in [
        (
            [&few, &many],
            "receiver.l",
            ["300 groups", "`receiver.l` has 300 different values"],
        ),
        (
            [&many, &few],
            "sender.l",
            ["300 groups", "`sender.l` has 300 different values"],
        ),
        (
            [&few, &few],
            "sender.l,receiver.l",
            ["400 groups", "`sender.l` has 20 different values"],
        ),
    ] {
        let join = Join::new(tables.map(String::as_str), &[], by);
        for failure in failures(&join, |_| {}) {
            assert_eq!(failure.kind(), ErrorKind::Usage);
            let text = failure.to_string();
            assert!(texts.iter().all(|part| text.contains(part)), "{text}");
            assert!(!text.contains("label "), "{text}");
        }
    }
}

#[test]
fn a_key_with_two_labels_is_an_error_that_names_the_column_alone() {
    let table = "id,l,m\n1,first,x\n2,other,y\n1,first,hidden\n";
    let join = Join::new([table, &labels("k", 3)], &[], "sender.l,sender.m");
    let [sent, received] = failures(&join, |_| {});
    let text = sent.to_string();
    assert_eq!(sent.kind(), ErrorKind::Local);
    assert!(text.contains("the column `m`, in 1 row"), "{text}");
    assert!(!text.contains("hidden") && !text.contains('x'), "{text}");
    assert_eq!(received.kind(), ErrorKind::PeerFailed);
}

#[test]
fn a_label_that_is_too_long_is_named_by_its_place() {
    let table = format!("id,l\n1,a\n2,{}\n", "secret".repeat(60));
    let join = Join::new([&labels("k", 3), &table], &[], "receiver.l");
    let [sent, received] = failures(&join, |_| {});
    let text = received.to_string();
    assert!(
        text.contains("line 3, column `l`: a label of more than 256 bytes"),
        "{text}"
    );
    assert!(!text.contains("secret"), "{text}");
    assert_eq!(sent.kind(), ErrorKind::PeerFailed);
}

/// The receiver chooses who is in a group of its own: one of a single key is as good as that key.
#[test]
fn a_sender_refuses_groups_of_single_keys_that_the_receiver_chooses() {
    let join = |by: &str, least| {
        let tables = [labels("l", 4), labels("l", 4)];
        Join::new([&tables[0], &tables[1]], &[], by).least(least)
    };
    let strict = |spec: &mut psijoin_session::JoinSpec| spec.consent.receiver_sums = false;
    for by in ["receiver.l", "sender.l,receiver.l"] {
        for least in [0, 1] {
            let [sent, received] = failures(&join(by, least), strict);
            assert!(matches!(sent, Error::ReceiverGroups(column) if column == "l"));
            assert_eq!(received.kind(), ErrorKind::Peer);
        }
        join(by, 2).grouped(strict);
    }
    join("sender.l", 0).grouped(strict);
    let summed = Join::new(
        [&labels("l", 4), &labels("l", 4)],
        &["receiver.n"],
        "sender.l",
    );
    let [sent, _] = failures(&summed.least(3), strict);
    assert!(matches!(sent, Error::ReceiverSums(column) if column == "n"));
}

#[test]
fn both_sides_have_to_ask_for_the_same_groups() {
    let tables = [labels("l", 3), labels("l", 3)];
    let join = Join::new([&tables[0], &tables[1]], &[], "receiver.l").least(2);
    let other = |change: fn(&mut RequestedGroups)| {
        failures(&join, |spec| {
            if let (Role::Sender, RequestedOutput::Groups(groups)) =
                (spec.role, &mut spec.question.asked)
            {
                change(groups);
            }
        })
    };
    let by_other = other(|groups| groups.by = GroupColumn::list("sender.l").unwrap());
    let of_other_size = other(|groups| groups.least = 3);
    for (both, name) in [
        (by_other, "the groups"),
        (of_other_size, "the least size of a group"),
    ] {
        for failure in both {
            assert_eq!(failure.kind(), ErrorKind::Peer);
            assert!(failure.to_string().contains(name), "{failure}");
        }
    }
}

#[test]
fn groups_without_columns_or_with_a_minimum_are_refused_at_once() {
    let check = |by: &str, min_intersection| {
        let groups = RequestedGroups {
            by: GroupColumn::list(by).unwrap_or_default(),
            ..RequestedGroups::default()
        };
        let question = Question {
            asked: RequestedOutput::Groups(groups),
            min_intersection,
            ..Question::default()
        };
        question.check(registry::find("rr22-circuit").unwrap(), Columns::NONE)
    };
    assert!(check("receiver.l", 0).is_ok());
    for (refused, text) in [
        (check("", 0), "name the columns to group by"),
        (check("receiver.l", 2), "groups are withheld one by one"),
    ] {
        let refused = refused.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Usage);
        assert!(refused.to_string().contains(text), "{refused}");
    }
}
