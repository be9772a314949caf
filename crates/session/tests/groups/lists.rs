//! Groups by lists of labels that both parties have.

use std::fmt::Write;

use psijoin::Role;
use psijoin_session::{Error, ErrorKind, PublicLabels, RequestedOutput};

use crate::{Join, in_a_job};

const SENDERS: &str = "id,plan\n1,gold\n2,gold\n3,basic\n9,silver\n";
const RECEIVERS: &str = "id,segment\n1,test\n2,vip\n3,test\n4,\n2,gone\n";

fn join() -> Join {
    Join::new([SENDERS, RECEIVERS], &[], "receiver.segment").list(0, &["test", "control"])
}

/// Returns a table with these values in a column, of keys from 0 on.
fn table(column: &str, values: &[String]) -> String {
    let mut text = format!("id,{column}\n");
    for (key, value) in values.iter().enumerate() {
        writeln!(text, "{key},{value}").unwrap();
    }
    text
}

#[test]
fn what_is_on_no_list_is_one_group() {
    let groups = join().grouped(|_| {}).groups.into_iter();
    let counts = groups.map(|group| {
        let label = group.labels.into_iter().flatten().collect::<String>();
        (label, group.totals.unwrap().shared_keys)
    });
    let expected = [("control", 0), ("test", 2), ("other", 1), ("", 0)];
    let expected = expected.map(|(label, count)| (label.to_owned(), count));
    assert_eq!(counts.collect::<Vec<_>>(), expected);
}

/// More values than there can be groups, and none, make no difference in what protocols say.
#[test]
fn what_is_said_does_not_depend_on_the_values() {
    let traffic = |values: Vec<String>| {
        let values = table("segment", &values);
        let join = Join::new([SENDERS, &values], &[], "receiver.segment,sender.plan");
        let join = join.list(0, &["test"]).list(1, &["gold", "basic"]);
        let [sent, received] = join.run(|_| {}).map(Result::unwrap);
        assert_eq!((sent.groups.count(), &sent.groups), (12, &received.groups));
        [sent.traffic, received.traffic]
    };
    let different = traffic((0..300).map(|value| format!("secret {value}")).collect());
    assert_eq!(different, traffic(vec![String::new(); 300]));
    assert_eq!(different, traffic(vec!["test".to_owned(); 300]));
}

#[test]
fn both_sides_have_to_have_one_list() {
    let other = PublicLabels::new(["test".to_owned()]).unwrap();
    for list in [Some(other), None] {
        let failures = join().run(|spec| {
            if let (Role::Sender, RequestedOutput::Groups(groups)) =
                (spec.role, &mut spec.question.asked)
            {
                groups.by[0].public.clone_from(&list);
            }
        });
        for failure in failures.map(|ended| ended.err().unwrap()) {
            assert_eq!(failure.kind(), ErrorKind::Peer);
            let text = failure.to_string();
            assert!(
                text.contains("the lists of groups") && text.contains("2 labels"),
                "{text}"
            );
            assert!(!text.contains("control"), "{text}");
        }
    }
}

#[test]
fn lists_that_make_too_many_groups_are_told_to_both() {
    let labels: Vec<String> = (0..100).map(|label| label.to_string()).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let join = Join::new([SENDERS, RECEIVERS], &[], "receiver.segment,sender.plan");
    let failures = join.list(0, &labels).run(|_| {});
    for failure in failures.map(|ended| ended.err().unwrap()) {
        let text = failure.to_string();
        let said = "`receiver.segment` has 102 labels with `other` and null";
        assert!(matches!(failure, Error::TooManyGroups(_)));
        assert!(text.contains("306 groups") && text.contains(said), "{text}");
    }
}

/// A job keeps the labels, as it keeps those that are told.
#[test]
fn jobs_have_lists() {
    let folder = tempfile::tempdir().unwrap();
    let kept = join().grouped(|spec| in_a_job(spec, folder.path()));
    assert_eq!(kept, join().grouped(|_| {}));
}
