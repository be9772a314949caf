//! All protocols by name.

use psijoin_psi_bloom::{
    gbf::{GBF, GBF_SILENT},
    kk20::{KK20, KK20_SILENT},
    random_gbf::{RANDOM_GBF, RANDOM_GBF_SILENT},
};
use psijoin_psi_functions::circuit_psi::{
    CIRCUIT_GMW, CIRCUIT_GMW_VECTOR, CIRCUIT_GMW_VECTOR_SILENT, CIRCUIT_YAO,
};
use psijoin_psi_ot::{
    cm20::{CM20, CM20_MALICIOUS_SENDER},
    kkrt::KKRT,
    pssz::PSSZ,
    psz::{PSZ_BALANCED, PSZ_CUCKOO, PSZ_NONE, PSZ_SIMPLE},
    spot_fast::SPOT_FAST,
    spot_low::{SPOT_LOW, SPOT_LOW_MALICIOUS_SENDER},
};
use psijoin_psi_pk::{
    dh::{DH, DH_FFDHE3072},
    naive::NAIVE,
    rsa::RSA,
};
use psijoin_psi_vole::{
    rr22::{RR22, RR22_MALICIOUS},
    rr22_circuit::RR22_CIRCUIT,
};

use crate::Protocol;
pub use crate::auto::AUTO;

/// Every protocol, insecure baselines first, then in the order of their papers.
pub static PROTOCOLS: &[&Protocol] = &[
    &NAIVE,
    &DH,
    &DH_FFDHE3072,
    &RSA,
    &PSZ_NONE,
    &PSZ_SIMPLE,
    &PSZ_BALANCED,
    &PSZ_CUCKOO,
    &PSSZ,
    &GBF,
    &GBF_SILENT,
    &RANDOM_GBF,
    &RANDOM_GBF_SILENT,
    &CIRCUIT_YAO,
    &CIRCUIT_GMW,
    &CIRCUIT_GMW_VECTOR,
    &CIRCUIT_GMW_VECTOR_SILENT,
    &KKRT,
    &SPOT_FAST,
    &SPOT_LOW,
    &SPOT_LOW_MALICIOUS_SENDER,
    &CM20,
    &CM20_MALICIOUS_SENDER,
    &KK20,
    &KK20_SILENT,
    &RR22,
    &RR22_MALICIOUS,
    &RR22_CIRCUIT,
];

/// The protocol with this name; [`AUTO`], which stands for one of them, is among them here.
pub fn find(name: &str) -> Option<&'static Protocol> {
    let mut known = PROTOCOLS.iter().copied().chain([&AUTO]);
    known.find(|protocol| protocol.info().name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::{Columns, Cost, ErrorKind, Output, OutputKind, Request, pair};

    #[test]
    fn names_are_distinct_and_known() {
        let names: HashSet<_> = PROTOCOLS.iter().map(|listed| listed.info().name).collect();
        assert_eq!(names.len(), PROTOCOLS.len());
        assert!(names.iter().all(|name| find(name).is_some()));
        assert!(!names.contains("auto") && find("auto").is_some());
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

    /// What both learn from 3 and 2 items, 2 of them shared, with nothing sent.
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
