//! Claims and verdicts.

use std::collections::BTreeSet;

use psijoin_lab::{
    Ours, experiments,
    verdicts::{self, Outcome},
};

use crate::made_up::measured;

#[test]
fn every_conclusion_is_a_claim() {
    let conclusions = include_str!("../../published/conclusions.md").lines();
    let headings = conclusions.filter_map(|line| line.strip_prefix("### "));
    let ids = headings.filter_map(|heading| heading.split_once('.'));
    let ids: BTreeSet<_> = ids.map(|(id, _)| id).collect();
    let claimed = verdicts::claims().map(|claim| {
        let part = |c: char| c.is_ascii_lowercase();
        claim.id.trim_end_matches(part)
    });
    assert_eq!(claimed.collect::<BTreeSet<_>>(), ids);
    assert!(ids.len() > 60, "{ids:?}");
}

#[test]
fn ids_are_distinct_and_experiments_exist() {
    let mut ids = BTreeSet::new();
    for claim in verdicts::claims() {
        assert!(ids.insert(claim.id), "{}", claim.id);
        assert!(
            experiments::find(claim.experiment).is_some(),
            "{}",
            claim.id
        );
    }
}

#[test]
fn verdicts_on_the_papers_own_figures_are_what_conclusions_say() {
    let wrong = verdicts::claims().filter_map(|claim| {
        let verdict = claim.on_printed();
        let differs = verdict.outcome != claim.printed;
        differs.then(|| format!("{}: {:?}, {}", claim.id, verdict.outcome, verdict.reason))
    });
    let wrong = Vec::from_iter(wrong);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn claim(id: &str) -> &'static verdicts::Claim {
    verdicts::claims().find(|claim| claim.id == id).unwrap()
}

#[test]
fn a_verdict_says_the_numbers_that_decide() {
    let verdict = claim("PSZ14-12e").on_printed();
    assert_eq!(verdict.outcome, Outcome::DoesNotHold);
    assert_eq!(
        verdict.reason,
        "2 of 2 comparisons have another factor: seconds of `random-gbf` over `psz-cuckoo` at 2^18 items, 1gbps,0.4ms is 4.90, \
         claimed at least 5.00; bytes of `random-gbf` over `psz-cuckoo` at 2^18 items is 9.45, claimed at least 10.0"
    );
    let verdict = claim("PSZ14-5").on_printed();
    assert!(
        verdict.reason.starts_with("All 2 comparisons hold"),
        "{verdict:?}"
    );
    let verdict = claim("CM20-1").on_printed();
    assert_eq!(
        verdict.reason,
        "All 5 comparisons hold; the closest: bytes of `kkrt` over `cm20` at 2^18 items is 1.69, claimed 1.46 to 1.70"
    );
}

#[test]
fn a_computed_cost_has_a_name() {
    let verdict = claim("CM20-5b").on_printed();
    assert_eq!(
        verdict.reason,
        "1 of 3 comparisons fail: cost of `spot-fast` with y/x 100 / cost of `spot-low` with y/x 100 at \
         2^20 items, 20gbps,0.1ms is 1.12, claimed below 1"
    );
}

#[test]
fn one_failure_of_28_is_told_and_sinks_nothing() {
    let verdict = claim("PSZ14-11g").on_printed();
    assert_eq!((verdict.outcome, verdict.held), (Outcome::Holds, [27, 28]));
    assert_eq!(
        verdict.reason,
        "27 of 28 comparisons hold, 1 fails: seconds of `circuit-gmw` over `dh-ffdhe3072` at 2^18 items, \
         1gbps,0.4ms is 1.07, claimed below 1"
    );
}

#[test]
fn what_was_not_measured_has_no_verdict() {
    let measured = measured(&[("kkrt", 1.0)]);
    let verdict = claim("SpOT19-4").on_ours(&Ours::new(&measured));
    assert_eq!(verdict.outcome, Outcome::NotMeasured);
    assert_eq!(
        verdict.reason,
        "0 of 1 comparisons have all figures; not known: seconds of `spot-fast` at 2^20 items, 10gbps,0.2ms"
    );
}

#[test]
fn ours_are_judged_by_what_was_measured() {
    let verdict = |fast: f64| {
        let measured = measured(&[("kkrt", 1.0), ("spot-fast", fast)]);
        claim("SpOT19-4").on_ours(&Ours::new(&measured)).outcome
    };
    assert_eq!(verdict(5.0), Outcome::Holds);
    assert_eq!(verdict(1.5), Outcome::OtherFactor);
    assert_eq!(verdict(0.5), Outcome::DoesNotHold);
    assert_eq!(verdict(2.05), Outcome::TooClose);
    assert_eq!(verdict(1.95), Outcome::TooClose);
}

#[test]
fn what_is_within_the_scatter_is_too_close_to_call() {
    let mut measured = measured(&[("kkrt", 1.0), ("spot-fast", 3.0)]);
    let verdict = |measured: &_| claim("SpOT19-4").on_ours(&Ours::new(measured));
    assert_eq!(verdict(&measured).outcome, Outcome::Holds);
    // One of five takes half a minute: that is above the upper quartile.
    let run = &mut measured.profiles[1].runs[1];
    run.seconds = [vec![1.5, 1.5, 1.5, 30.0, 1.5], vec![1.5]];
    assert_eq!(verdict(&measured).outcome, Outcome::Holds);
    let run = &mut measured.profiles[1].runs[1];
    run.seconds = [vec![0.1, 0.2, 1.5, 1.5, 1.5], vec![1.5]];
    let verdict = verdict(&measured);
    assert_eq!(verdict.outcome, Outcome::TooClose);
    let start = "Seconds of `spot-fast` over `kkrt` at 2^20 items, 10gbps,0.2ms is ";
    assert!(verdict.reason.starts_with(start), "{verdict:?}");
    assert!(verdict.reason.contains(" to "), "{verdict:?}");
}

#[test]
fn what_is_far_from_all_runs_decides_nothing() {
    let mut measured = measured(&[("kkrt", 1.0), ("spot-fast", 5.0)]);
    for profile in &mut measured.profiles {
        profile.runs.retain(|run| run.items[0] == 256);
    }
    let verdict = claim("SpOT19-4").on_ours(&Ours::new(&measured));
    assert_eq!(verdict.outcome, Outcome::NotMeasured);
    assert!(
        verdict
            .reason
            .contains("; too far from what was measured: seconds of `spot-fast`"),
        "{verdict:?}"
    );
}

/// `psijoin-lab report --form verdicts` makes the document anew, from a long campaign.
#[test]
fn the_document_has_every_conclusion_as_it_is_claimed() {
    let document = include_str!("../../../../docs/verdicts.md");
    let missing = verdicts::claims().filter(|claim| {
        let row = format!("| {} | {} | ", claim.id, claim.says);
        !document.contains(&row)
    });
    let missing = Vec::from_iter(missing.map(|claim| claim.id));
    assert!(missing.is_empty(), "docs/verdicts.md lacks {missing:?}");
    let rows = document.lines().filter(|line| line.starts_with("| "));
    let rows = rows.filter(|line| !line.starts_with("| |"));
    assert_eq!(rows.count(), verdicts::claims().count());
}

#[test]
fn nothing_is_said_of_threads_that_were_not_measured() {
    let measured = measured(&[
        ("kkrt", 1.0),
        ("spot-fast", 5.0),
        ("spot-low", 9.0),
        ("dh", 40.0),
    ]);
    let verdict = claim("SpOT19-10").on_ours(&Ours::new(&measured));
    assert_eq!(verdict.outcome, Outcome::NotMeasured);
    assert_eq!(
        verdict.reason,
        "12 of 15 comparisons have all figures; not known: speedup of `dh` at 2^20 items, 10gbps,0.2ms, 4 threads"
    );
}

#[test]
fn exact_bytes_need_no_runs() {
    let nothing = measured(&[("naive", 1.0)]);
    let verdict = claim("PSZ14-6").on_ours(&Ours::new(&nothing));
    assert!(matches!(
        verdict.outcome,
        Outcome::Holds | Outcome::OtherFactor | Outcome::DoesNotHold
    ));
}

#[test]
fn a_figure_beyond_the_largest_run_is_called_extrapolated() {
    let measured = measured(&[("naive", 1.0), ("kkrt", 2.0)]);
    let verdict = claim("KKRT16-5").on_ours(&Ours::new(&measured));
    assert!(
        verdict.reason.ends_with("(partly extrapolated)"),
        "{verdict:?}"
    );
}

#[test]
fn what_fails_stands_beside_what_was_published() {
    let nothing = measured(&[("naive", 1.0)]);
    let verdict = claim("PSZ14-8").on_ours(&Ours::new(&nothing));
    assert_eq!(verdict.outcome, Outcome::DoesNotHold);
    assert_eq!(
        verdict.reason,
        "Bytes of `psz-simple` over `psz-balanced` at 2^18 items is 4.65, claimed below 1. \
         Ours over published: `psz-simple` 1.93, `psz-balanced` 0.0845"
    );
    // Less, as it was claimed, but by another factor.
    let verdict = claim("CM20-1").on_ours(&Ours::new(&nothing));
    assert_eq!(verdict.outcome, Outcome::OtherFactor);
    assert!(
        verdict
            .reason
            .contains("; … Ours over published: `kkrt` 0.6"),
        "{verdict:?}"
    );
}
