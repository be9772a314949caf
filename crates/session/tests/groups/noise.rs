//! Noise in the totals of groups.

use psijoin::Role;
use psijoin_session::{
    Error, ErrorKind, Grouped, JoinSpec, Memory, NoiseFault, Question, QuestionFault,
    RequestedOutput,
};

use crate::Join;

/// Noise that is 0, but for a probability below 2^-10,000.
const HARDLY_ANY: &str = "laplace:epsilon=100000";

/// The columns that are added up.
const COLUMNS: usize = 8;

impl Join {
    /// Lets the sender add noise.
    fn noise(mut self, noise: &str) -> Self {
        self.groups.noise = Some(Box::new(noise.parse().unwrap()));
        self
    }
}

/// Returns a table of this many keys, each in a group of its own, and with 0 in some columns.
fn table(keys: usize) -> String {
    let columns: String = (0..COLUMNS).map(|column| format!(",{column}")).collect();
    let rows = (0..keys).map(|key| format!("{key},group {key}{}\n", ",0".repeat(COLUMNS)));
    format!("id,l{columns}\n{}", rows.collect::<String>())
}

/// Returns how far all totals are off, if the first key alone is shared, and all numbers are 0.
fn errors(grouped: &Grouped) -> Vec<i64> {
    let totals = grouped.groups.iter().map(|group| {
        let shared = i64::from(group.labels[0].as_deref() == Some("group 0"));
        let totals = group.totals.as_ref().unwrap();
        let sums = totals.sums.iter().map(|sum| sum.mantissa);
        [totals.shared_keys - shared].into_iter().chain(sums)
    });
    totals.flatten().collect()
}

/// 105,984 draws, all of them through the whole protocol, by a chi-square test. Its statistic
/// exceeds the limit with a probability below 2^-40, by the bound of Laurent and Massart (Annals of
/// Statistics 28(5), 2000, Lemma 1) on the distribution to which it tends.
#[test]
fn draws_fit_the_distribution() {
    const EPSILON: f64 = 0.4;
    const RUNS: usize = 46;
    /// From here on all numbers of either sign are one cell.
    const TAIL: i64 = 15;
    let sums: Vec<String> = (0..COLUMNS)
        .map(|column| format!("sender.{column}"))
        .collect();
    let bounds: String = sums
        .iter()
        .map(|sum| format!(",bound={sum}:-1..1"))
        .collect();
    let sums: Vec<&str> = sums.iter().map(String::as_str).collect();
    let senders = table(256);
    let join = Join::new([&senders, "id\n0\n"], &sums, "sender.l")
        .noise(&format!("laplace:epsilon={EPSILON}{bounds}"));
    let mut seen = vec![0_u32; 2 * TAIL as usize + 1];
    for _ in 0..RUNS {
        for error in errors(&join.grouped(|_| {})) {
            seen[(error.clamp(-TAIL, TAIL) + TAIL) as usize] += 1;
        }
    }
    let draws = (RUNS * 256 * (1 + COLUMNS)) as f64;
    assert_eq!(f64::from(seen.iter().sum::<u32>()), draws);
    let q = (-EPSILON).exp();
    let probability = |x: i64| {
        let beyond = if x.abs() == TAIL { 1.0 - q } else { 1.0 };
        (1.0 - q) / (1.0 + q) * q.powi(x.abs() as i32) / beyond
    };
    let cells = (-TAIL..=TAIL).zip(&seen);
    let statistic: f64 = cells
        .map(|(x, seen)| {
            let expected = draws * probability(x);
            assert!(expected > 50.0);
            (f64::from(*seen) - expected).powi(2) / expected
        })
        .sum();
    let (freedom, t) = ((2 * TAIL) as f64, 40.0 * 2_f64.ln());
    let limit = freedom + 2.0 * (freedom * t).sqrt() + 2.0 * t;
    assert!(statistic < limit, "{statistic} of {limit}: {seen:?}");
}

/// A group is withheld by its count with noise, however many keys it has.
#[test]
fn the_least_size_is_of_the_count_with_noise() {
    let tables = [table(256), table(256)];
    let join = Join::new([&tables[0], &tables[1]], &[], "receiver.l")
        .noise("laplace:epsilon=0.05")
        .least(10);
    let grouped = join.grouped(|spec| spec.parts = Some(2));
    // About three of ten are shown: that all are, or none, has a probability below 2^-100.
    assert!((1..256).contains(&grouped.withheld()));
    let shown = grouped
        .groups
        .iter()
        .filter_map(|group| group.totals.as_ref());
    assert!(shown.map(|totals| totals.shared_keys).min() >= Some(10));
}

/// In one run and in parts, which may be spilled: the numbers of a key are added up first, and then
/// brought between the bounds.
#[test]
fn numbers_are_brought_between_their_bounds() {
    let senders = "id,l,n\n1,a,7.5\n2,a,-100\n3,b,4\n3,b,4\n4,b,0.25\n";
    let receivers = "id,m\n1,9\n2,1\n3,-9\n4,\n";
    let noise = format!("{HARDLY_ANY},bound=sender.n:-2.5..6,bound=m:0.5..2.7");
    let join = Join::new([senders, receivers], &["m", "sender.n"], "sender.l").noise(&noise);
    for (parts, memory) in [(None, Memory::Nothing), (Some(3), Memory::Budget(0))] {
        let grouped = join.grouped(|spec| {
            spec.parts = parts;
            spec.resources.memory = memory;
        });
        let shown = grouped.groups.iter().map(|group| {
            let totals = group.totals.as_ref().unwrap();
            let sums: Vec<_> = totals.sums.iter().map(ToString::to_string).collect();
            (totals.shared_keys, sums)
        });
        // Of whole numbers, 1 and 2 lie between 0.5 and 2.7.
        let sums = |sums: [&str; 2]| sums.map(str::to_owned).to_vec();
        let expected = [(2, sums(["3", "3.50"])), (2, sums(["2", "6.25"]))];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
    }
}

/// The receiver may choose its groups, whatever their size: noise hides each key. It chooses its
/// numbers, too, and nobody else sees whether it keeps to their bounds.
#[test]
fn with_noise_groups_of_the_receiver_need_no_least_size() {
    let strict = |spec: &mut JoinSpec| spec.consent.receiver_sums = false;
    let tables = [table(3), table(3)];
    let join = |sums: &[&str], bounds: &str| {
        let join = Join::new([&tables[0], &tables[1]], sums, "receiver.l");
        join.noise(&format!("laplace:epsilon=1{bounds}"))
    };
    join(&["sender.0"], ",bound=sender.0:0..1").grouped(strict);
    let [sent, received] = join(&["receiver.0"], ",bound=receiver.0:0..1")
        .run(strict)
        .map(|ended| ended.err().unwrap());
    assert!(matches!(sent, Error::ReceiverSums(column) if column == "0"));
    assert_eq!(received.kind(), ErrorKind::Peer);
}

/// If a set is empty, that is known, and there is nothing to hide.
#[test]
fn nothing_is_added_to_the_totals_of_an_empty_set() {
    let tables = [table(3), table(0)];
    let join = Join::new([&tables[0], &tables[1]], &[], "sender.l").noise("laplace:epsilon=0.01");
    let counts = join.grouped(|_| {}).groups;
    assert!(
        counts
            .iter()
            .all(|group| group.totals.as_ref().unwrap().shared_keys == 0)
    );
}

/// Returns the question of whoever adds up a column by these.
fn question(noise: &str) -> Question {
    let join = Join::new(["", ""], &["n"], "sender.l").noise(noise);
    Question {
        asked: RequestedOutput::Groups(join.groups),
        ..Question::default()
    }
}

#[test]
fn noise_is_for_the_columns_that_are_added_up() {
    let check = |noise: &str| question(noise).check_groups();
    assert_eq!(check("laplace:epsilon=1,bound=n:0..1"), Ok(()));
    let missing = QuestionFault::NoBound("n".to_owned());
    assert_eq!(check("laplace:epsilon=1"), Err(missing));
    let other = QuestionFault::BoundOfOther("sender.n".to_owned());
    let both = "laplace:epsilon=1,bound=n:0..1,bound=sender.n:0..1";
    assert_eq!(check(both), Err(other));
}

#[test]
fn both_sides_are_told_of_noise_that_cannot_be() {
    let tables = ["id,l,n\n1,a,3.5\n", "id,m\n1,3\n"];
    let failures = |noise: &str, adjust: &dyn Fn(&mut JoinSpec)| {
        let join = Join::new(tables, &["n"], "sender.l").noise(noise);
        join.run(adjust).map(|ended| ended.err().unwrap())
    };
    let n = || "n".to_owned();
    for (bound, fault) in [
        ("0.51..0.59", NoiseFault::NoNumber(n())),
        ("0..1e17", NoiseFault::NoRoom(n())),
        ("-1e18..0", NoiseFault::NoRoom(n())),
    ] {
        for failure in failures(&format!("laplace:epsilon=1,bound=n:{bound}"), &|_| {}) {
            assert_eq!(failure.kind(), ErrorKind::Usage);
            assert!(
                matches!(failure, Error::Noise(found) if found == fault),
                "{bound}"
            );
        }
    }
    let noise = "laplace:epsilon=1,bound=n:0..5";
    let differ = failures(noise, &|spec| {
        if let (Role::Receiver, RequestedOutput::Groups(groups)) =
            (spec.role, &mut spec.question.asked)
        {
            groups.noise = Some(Box::new("laplace:epsilon=2,bound=n:0..5".parse().unwrap()));
        }
    });
    for failure in differ {
        assert!(failure.to_string().contains("the noise"), "{failure}");
        assert_eq!(failure.kind(), ErrorKind::Peer);
    }
}
