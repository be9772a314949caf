//! What comes of groups, and what is told of them.

use std::fs;

use psijoin::Role;

use crate::{Join, in_a_job};

const SENDERS: &str = "id,plan,amount\n1,gold,1.50\n2,gold,-3\n3,basic,10\n9,silver,100\n";
const RECEIVERS: &str = "id,segment,spend\n1,test,5\n2,control,7\n3,test,1\n4,,2\n";

fn join() -> Join {
    Join::new(
        [SENDERS, RECEIVERS],
        &["receiver.spend", "sender.amount"],
        "receiver.segment,sender.plan",
    )
}

/// The crossed groups of both tables, where those of fewer than two keys are withheld or not.
fn rows(withheld: bool) -> String {
    let single = |totals: &str| match withheld {
        true => ",true,,".to_owned(),
        false => totals.to_owned(),
    };
    let groups = [
        ("control,basic", "0,false,0,0.00"),
        ("control,gold", "1,false,7,-3.00"),
        ("control,silver", "0,false,0,0.00"),
        ("test,basic", "1,false,1,10.00"),
        ("test,gold", "1,false,5,1.50"),
        ("test,silver", "0,false,0,0.00"),
        (",basic", "0,false,0,0.00"),
        (",gold", "0,false,0,0.00"),
        (",silver", "0,false,0,0.00"),
    ];
    let rows = groups.map(|(labels, totals)| format!("{labels},{}\n", single(totals)));
    let header =
        "receiver.segment,sender.plan,shared_keys,withheld,sum:receiver.spend,sum:sender.amount";
    format!("{header}\n{}", rows.concat())
}

#[test]
fn a_file_has_a_row_for_each_group() {
    for least in [0, 2] {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("groups.csv");
        let grouped = join().least(least).grouped(|spec| {
            spec.written.output = (spec.role == Role::Receiver).then(|| output.clone());
        });
        assert_eq!(fs::read_to_string(&output).unwrap(), rows(least > 0));
        assert_eq!(grouped.withheld(), if least > 0 { 9 } else { 0 });
    }
}

/// They are quotients of what is in the row, and what is said is what is said of sums.
#[test]
fn means_stand_beside_their_sums() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("groups.csv");
    let traffic = |means: &[&str]| {
        let mut join = Join::new([SENDERS, RECEIVERS], &["sender.amount"], "sender.plan");
        join.groups.means = means.iter().map(|name| name.parse().unwrap()).collect();
        let [sent, received] = join.run(|spec| {
            spec.written.output = (spec.role == Role::Receiver).then(|| output.clone());
        });
        [sent, received].map(|ended| ended.unwrap().traffic)
    };
    let of_sums = traffic(&[]);
    assert_eq!(traffic(&["sender.amount"]), of_sums);
    assert_eq!(
        fs::read_to_string(&output).unwrap(),
        "sender.plan,shared_keys,withheld,sum:sender.amount,mean:sender.amount\n\
         basic,1,false,10.00,10.00000000\ngold,2,false,-1.50,-0.75000000\nsilver,0,false,0.00,\n"
    );
}

/// A job keeps the labels with its state, and its table is recognised by them.
#[test]
fn jobs_have_groups() {
    let folder = tempfile::tempdir().unwrap();
    let kept = join().grouped(|spec| {
        in_a_job(spec, folder.path());
        spec.parts = Some(3);
    });
    assert_eq!(kept, join().grouped(|_| {}));
}

/// Both sides learn the labels, and what protocols send depends on their number alone.
#[test]
fn both_know_the_labels_and_send_as_many_bytes_for_others() {
    let traffic = |senders: &str, receivers: &str| {
        let join = Join::new([senders, receivers], &[], "sender.plan,receiver.segment");
        let [sent, received] = join.run(|_| {}).map(Result::unwrap);
        assert_eq!(sent.groups, received.groups);
        let labels = |at: usize| {
            let labels = sent.groups.0[at].labels.iter();
            labels
                .map(|label| label.clone().unwrap_or_default())
                .collect::<Vec<_>>()
        };
        (labels(0), labels(1), sent.traffic, received.traffic)
    };
    let (plans, segments, sent, received) = traffic(SENDERS, RECEIVERS);
    assert_eq!(plans, ["basic", "gold", "silver"]);
    assert_eq!(segments, ["control", "test", ""]);
    let others = "id,segment\n5,a long label of a group\n6,y\n7,z\n8,z\n";
    let (_, _, sent_for_others, received_for_others) = traffic(SENDERS, others);
    assert_eq!((sent, received), (sent_for_others, received_for_others));
}
