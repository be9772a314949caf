//! All protocols by name.

pub use crate::auto::{AUTO, KKRT_PSSZ};
use crate::{Adversary, Info, Protocol, auto};

/// The protocols of each family.
const FAMILIES: [&[&Protocol]; 5] = [
    psijoin_psi_pk::PROTOCOLS,
    psijoin_psi_ot::PROTOCOLS,
    psijoin_psi_bloom::PROTOCOLS,
    psijoin_psi_functions::PROTOCOLS,
    psijoin_psi_vole::PROTOCOLS,
];

const COUNT: usize = {
    let (mut count, mut family) = (0, 0);
    while family < FAMILIES.len() {
        count += FAMILIES[family].len();
        family += 1;
    }
    count
};

/// Every protocol, family by family; the insecure baseline is the first.
pub static PROTOCOLS: &[&Protocol] = &{
    let mut all = [FAMILIES[0][0]; COUNT];
    let (mut count, mut family) = (0, 0);
    while family < FAMILIES.len() {
        let (_, rest) = all.split_at_mut(count);
        let (place, _) = rest.split_at_mut(FAMILIES[family].len());
        place.copy_from_slice(FAMILIES[family]);
        count += FAMILIES[family].len();
        family += 1;
    }
    all
};

/// Returns the protocol with this name; [`AUTO`] and [`KKRT_PSSZ`], which take one of the others,
/// are among them here.
pub fn find(name: &str) -> Option<&'static Protocol> {
    known().find(|protocol| protocol.info().name == name)
}

/// Returns all names that [`find`] knows.
pub fn names() -> impl Iterator<Item = &'static str> {
    known().map(|protocol| protocol.info().name)
}

fn known() -> impl Iterator<Item = &'static Protocol> {
    PROTOCOLS.iter().copied().chain([&AUTO, &KKRT_PSSZ])
}

/// Returns whether it is one of the handful to choose from for a join: [`AUTO`] may take it, or it
/// is secure even if either party cheats. The others are baselines, or what papers compare with.
pub fn is_choice(info: &Info) -> bool {
    info.adversary == Adversary::Malicious || auto::is_candidate(info)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use psijoin_psi_pk::naive::NAIVE;

    use super::*;
    use crate::{Columns, Cost, ErrorKind, Output, OutputKind, Request, pair};

    #[test]
    fn names_are_distinct_and_known() {
        let names: HashSet<_> = PROTOCOLS.iter().map(|listed| listed.info().name).collect();
        assert_eq!(names.len(), PROTOCOLS.len());
        assert!(names.iter().all(|name| find(name).is_some()));
        for choosing in ["auto", "kkrt-pssz"] {
            assert!(!names.contains(choosing) && find(choosing).is_some());
        }
    }

    #[test]
    fn choices_are_a_handful_that_answers_everything() {
        let choices = PROTOCOLS.iter().filter(|listed| is_choice(listed.info()));
        let names: Vec<_> = choices.map(|listed| listed.info().name).collect();
        let expected = [
            "dh",
            "kkrt",
            "cm20",
            "rr22",
            "rr22-malicious",
            "rr22-circuit",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn an_output_that_a_protocol_does_not_compute_is_refused() {
        let request = Request::rows(0, 5)
            .unwrap()
            .output(OutputKind::Threshold(7));
        let refusal = NAIVE.plan(&request).err().unwrap();
        assert_eq!(refusal.kind(), ErrorKind::Misuse);
        let words = refusal.to_string();
        assert!(
            words.contains("naive") && words.contains("threshold:7"),
            "{words}"
        );
    }

    /// Returns what both learn from 3 and 2 items, 2 of them shared, with nothing sent.
    fn learned(
        protocol: &'static Protocol,
        output: OutputKind,
        min_intersection: u64,
    ) -> [Output; 2] {
        let request = Request::rows(3, 2).unwrap();
        let request = request.output(output).min_intersection(min_intersection);
        let plan = protocol.plan(&request).unwrap();
        assert_eq!(plan.info().name, protocol.chosen(&request).info().name);
        assert_eq!(plan.cost(), Cost::default(), "{request:?}");
        assert!(plan.parameters().is_empty());
        assert_eq!(plan.budget().events().len(), 0);
        let columns = vec![vec![5; 3]; request.output.columns().sender];
        let sender = pair::Table {
            items: &[[1; 32], [2; 32], [3; 32]],
            columns: &columns,
            payloads: &[],
        };
        let outcome = pair::run(&plan, sender, &[[3; 32], [1; 32]]).unwrap();
        [outcome.sender, outcome.receiver]
    }

    #[test]
    fn nothing_is_sent_if_the_result_follows_from_the_sizes() {
        let sums = OutputKind::Sums(Columns {
            sender: 1,
            receiver: 0,
        });
        for protocol in PROTOCOLS.iter().copied().chain([&AUTO]) {
            for (least, reached) in [(0, true), (3, false), (u64::MAX, false)] {
                let output = OutputKind::Threshold(least);
                if protocol.computes(&output) {
                    let expected = [Output::Nothing, Output::Reached(reached)];
                    assert_eq!(learned(protocol, output, 0), expected, "{least}");
                }
            }
            for output in [OutputKind::Rows, OutputKind::Count, sums.clone()] {
                if protocol.computes(&output) && protocol.withholds() {
                    let expected = [Output::TooFew, Output::TooFew];
                    assert_eq!(learned(protocol, output.clone(), 3), expected);
                    assert_eq!(learned(protocol, output, u64::MAX), expected);
                }
            }
        }
    }

    /// A threshold or a minimum as large as the smaller set is not decided beforehand.
    #[test]
    fn what_can_be_just_reached_is_computed() {
        for (output, min_intersection) in [(OutputKind::Threshold(2), 0), (OutputKind::Rows, 2)] {
            let request = Request::rows(3, 2).unwrap();
            let request = request.output(output).min_intersection(min_intersection);
            assert!(AUTO.plan(&request).unwrap().cost().total.total_bytes() > 0);
        }
    }
}
