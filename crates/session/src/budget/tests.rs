use std::{fs, path::PathBuf};

use tempfile::TempDir;

use super::*;

fn partner(number: u8) -> Fingerprint {
    Fingerprint::of_public_key(&[number])
}

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

/// An answer in the session of this name, of this loss, if it has noise.
fn answer(number: u8, name: Option<&str>, session: &str, cost: &str) -> Answer {
    let cost = (!cost.is_empty()).then(|| epsilon(cost));
    Answer::now(
        partner(number),
        name.map(str::to_owned),
        cost,
        session.to_owned(),
    )
}

/// Makes a budget, in a folder that must stay.
fn budget(loss: &str, answers: Option<u64>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.budget");
    let epsilon = (!loss.is_empty()).then(|| epsilon(loss));
    let limits = Limits {
        epsilon,
        answers,
        least_change: None,
    };
    Budget::create(&path, limits).unwrap();
    (folder, path)
}

#[test]
fn losses_add_up_to_the_limit_and_not_beyond() {
    let (_folder, path) = budget("0.3", None);
    for (session, left) in [("a", "0.2"), ("b", "0.1")] {
        let balance = Budget::spend(&path, answer(1, None, session, "0.1")).unwrap();
        assert_eq!(balance.epsilon_left(), Some(epsilon(left)));
    }
    let refused = Budget::spend(&path, answer(1, None, "c", "0.100001"));
    assert!(matches!(
        refused,
        Err(BudgetError::Epsilon { left, .. }) if left == epsilon("0.1")
    ));
    Budget::spend(&path, answer(1, None, "c", "0.1")).unwrap();
    assert!(Budget::spend(&path, answer(1, None, "d", "0.000001")).is_err());
    // Another partner has a part of its own.
    Budget::spend(&path, answer(2, None, "d", "0.3")).unwrap();
}

#[test]
fn answers_are_counted_with_noise_or_without() {
    let (_folder, path) = budget("", Some(2));
    Budget::spend(&path, answer(1, None, "a", "")).unwrap();
    let balance = Budget::spend(&path, answer(1, None, "b", "5")).unwrap();
    assert_eq!(
        (balance.answers_left(), balance.epsilon_left()),
        (Some(0), None)
    );
    let refused = Budget::spend(&path, answer(1, None, "c", ""));
    assert!(matches!(refused, Err(BudgetError::Answers(2))));
    let (_folder, path) = budget("9", Some(2));
    let refused = Budget::spend(&path, answer(1, None, "a", ""));
    assert!(matches!(refused, Err(BudgetError::Exact)));
}

/// An attempt of a job that goes on has the name of the first.
#[test]
fn a_session_is_spent_once() {
    let (_folder, path) = budget("", Some(1));
    for _ in 0..3 {
        let balance = Budget::spend(&path, answer(1, None, "a", "")).unwrap();
        assert_eq!(balance.answers, 1);
    }
    assert!(Budget::spend(&path, answer(1, None, "b", "")).is_err());
}

/// By a new key a partner gets nothing anew, whether it is called by its name or by either key.
#[test]
fn keys_and_names_that_stand_together_are_one_partner() {
    let (_folder, path) = budget("", Some(3));
    Budget::spend(&path, answer(1, Some("bob"), "a", "")).unwrap();
    Budget::spend(&path, answer(2, Some("bob"), "b", "")).unwrap();
    Budget::spend(&path, answer(2, None, "c", "")).unwrap();
    for again in [answer(1, None, "d", ""), answer(3, Some("bob"), "d", "")] {
        assert!(Budget::spend(&path, again).is_err());
    }
    Budget::spend(&path, answer(3, Some("ann"), "d", "")).unwrap();
    let budget = Budget::read(&path).unwrap();
    let partners = budget.partners();
    let shown = partners.iter().map(|(last, it)| (last.partner, it.answers));
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [(partner(2), 3), (partner(3), 1)]
    );
}

/// A process that is killed leaves any beginning of a line. It has answered nothing, and no line
/// before is lost.
#[test]
fn a_line_without_an_end_is_written_anew() {
    let (_folder, path) = budget("1", Some(2));
    Budget::spend(&path, answer(1, Some("bob"), "a", "0.25")).unwrap();
    let before = fs::read(&path).unwrap();
    Budget::spend(&path, answer(1, Some("bob"), "b", "0.5")).unwrap();
    let after = fs::read(&path).unwrap();
    for killed_at in before.len()..after.len() {
        fs::write(&path, &after[..killed_at]).unwrap();
        assert_eq!(Budget::read(&path).unwrap().answers.len(), 1);
        let balance = Budget::spend(&path, answer(1, None, "c", "0.75")).unwrap();
        assert_eq!((balance.spent, balance.answers), (epsilon("1"), 2));
        assert!(Budget::spend(&path, answer(1, None, "d", "0.1")).is_err());
        assert!(fs::read(&path).unwrap().starts_with(&before));
    }
    // Its end was the last of it: from there on it is spent.
    fs::write(&path, &after).unwrap();
    assert!(Budget::spend(&path, answer(1, None, "c", "0.1")).is_err());
}

#[test]
fn what_is_no_budget_is_named_by_its_line() {
    let (_folder, path) = budget("1", None);
    Budget::spend(&path, answer(1, None, "a", "0.25")).unwrap();
    let whole = fs::read_to_string(&path).unwrap();
    for (text, line) in [
        (String::new(), 1),
        ("{}\n".to_owned(), 1),
        ("{\"psijoin budget\":1}\n".to_owned(), 1),
        (whole.replacen(":1,", ":2,", 1), 1),
        (whole.replace("0.25", "-0.25"), 2),
        (whole.replace("0.25", "0"), 2),
        (whole.replace("psi1", "psi2"), 2),
        (whole.clone() + "\n", 3),
        (whole.clone() + "{\"partner\":\"me\"}\n", 3),
    ] {
        fs::write(&path, &text).unwrap();
        let error = Budget::read(&path).unwrap_err().to_string();
        assert!(error.contains(&format!("line {line} is none")), "{error}");
        assert!(Budget::spend(&path, answer(1, None, "b", "0.1")).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn a_budget_is_never_replaced() {
    let (_folder, path) = budget("1", None);
    let limits = Limits {
        answers: Some(100),
        ..Limits::default()
    };
    assert!(Budget::create(&path, limits).is_err());
    assert_eq!(Budget::read(&path).unwrap().limits.answers, None);
}

/// All of several threads, each with a file of its own that it opens, spend no more than there is.
#[test]
fn those_who_spend_at_the_same_time_wait_for_each_other() {
    let (_folder, path) = budget("", Some(20));
    let spend = |thread: u8| {
        let spent = (0..10).filter(|at| {
            let session = format!("{thread} {at}");
            Budget::spend(&path, answer(1, None, &session, "")).is_ok()
        });
        spent.count()
    };
    let spent: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| scope.spawn(move || spend(thread)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    assert_eq!(spent, 20);
    assert_eq!(Budget::read(&path).unwrap().answers.len(), 20);
}
