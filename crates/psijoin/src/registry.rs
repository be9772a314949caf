//! All protocols by name.

use psijoin_ot::extension::{Iknp, Silent};

use crate::{
    Error, Plan, Protocol, Request, auto,
    circuit_psi::{CircuitPsi, Gmw, Yao},
    cm20, decided, dh, gbf, kk20, kkrt, naive, pssz, psz, random_gbf, rr22, rr22_circuit, rsa,
    spot_fast, spot_low,
};

/// Every protocol, insecure baselines first, then in the order of their papers.
pub static PROTOCOLS: &[&dyn Protocol] = &[
    &naive::Naive,
    &dh::Dh,
    &dh::DhFfdhe3072,
    &rsa::Rsa,
    &psz::PszNone,
    &psz::PszSimple,
    &psz::PszBalanced,
    &psz::PszCuckoo,
    &pssz::Pssz,
    &gbf::Gbf::<Iknp>::ENTRY,
    &gbf::Gbf::<Silent>::ENTRY,
    &random_gbf::RandomGbf::<Iknp>::ENTRY,
    &random_gbf::RandomGbf::<Silent>::ENTRY,
    &CircuitPsi::<Yao>::ENTRY,
    &CircuitPsi::<Gmw<Iknp, false>>::ENTRY,
    &CircuitPsi::<Gmw<Iknp, true>>::ENTRY,
    &CircuitPsi::<Gmw<Silent, true>>::ENTRY,
    &kkrt::Kkrt,
    &spot_fast::SpotFast,
    &spot_low::SpotLow,
    &spot_low::SpotLowMaliciousSender,
    &cm20::Cm20,
    &cm20::Cm20MaliciousSender,
    &kk20::Kk20::<Iknp>::ENTRY,
    &kk20::Kk20::<Silent>::ENTRY,
    &rr22::Rr22,
    &rr22::Rr22Malicious,
    &rr22_circuit::Rr22Circuit,
];

/// What takes one of them by the sizes of the sets. It stands for no protocol of its own, so it
/// is not among them.
pub static AUTO: &dyn Protocol = &auto::Auto;

/// The protocol with this name, [`AUTO`]'s included.
pub fn find(name: &str) -> Option<&'static dyn Protocol> {
    PROTOCOLS
        .iter()
        .chain([&AUTO])
        .copied()
        .find(|protocol| protocol.info().name == name)
}

/// Derives every parameter for a run. Where the result follows from the sizes of the sets (one is
/// empty, or a threshold or a minimum intersection is more than the smaller one has), the plan sends
/// nothing.
///
/// # Errors
/// If the protocol does not compute the output, and as [`Protocol::plan`].
pub fn plan(protocol: &dyn Protocol, request: &Request) -> Result<Box<dyn Plan>, Error> {
    if !protocol.computes(&request.output) {
        return Err(Error::UnsupportedOutput {
            protocol: protocol.info().name,
            output: request.output.to_string(),
        });
    }
    if request.min_intersection > 0 {
        if !request.output.can_be_withheld() {
            return Err(Error::Misuse(
                "a minimum intersection is for rows, counts and sums",
            ));
        }
        if !protocol.withholds() {
            return Err(Error::CannotWithhold(protocol.info().name));
        }
    }
    match decided::Plan::new(protocol.info_for(request), request) {
        Some(plan) => Ok(Box::new(plan)),
        None => protocol.plan(request),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Columns, Cost, ErrorKind, Output, OutputKind, pair};

    #[test]
    fn an_output_that_a_protocol_does_not_compute_is_refused() {
        let request = Request {
            output: OutputKind::Threshold(7),
            ..Request::rows(0, 5).unwrap()
        };
        let refusal = plan(&naive::Naive, &request).err().unwrap();
        assert_eq!(refusal.kind(), ErrorKind::Misuse);
        let words = refusal.to_string();
        assert!(
            words.contains("naive") && words.contains("threshold:7"),
            "{words}"
        );
    }

    /// What both learn of 3 and 2 items of which 2 are shared, and whether anything is sent for it.
    fn learned(protocol: &dyn Protocol, output: OutputKind, min_intersection: u64) -> [Output; 2] {
        let request = Request {
            output,
            min_intersection,
            ..Request::rows(3, 2).unwrap()
        };
        let plan = plan(protocol, &request).unwrap();
        assert_eq!(plan.info().name, protocol.info_for(&request).name);
        assert_eq!(plan.cost(), Cost::default(), "{request:?}");
        assert!(plan.parameters().is_empty());
        assert_eq!(plan.budget().events().len(), 0);
        let columns = vec![vec![5; 3]; request.output.columns().sender];
        let sender = pair::Table {
            items: &[[1; 32], [2; 32], [3; 32]],
            columns: &columns,
        };
        let outcome = pair::run(&*plan, sender, &[[3; 32], [1; 32]]).unwrap();
        [outcome.sender, outcome.receiver]
    }

    #[test]
    fn nothing_is_sent_where_the_result_follows_from_the_sizes() {
        let sums = OutputKind::Sums(Columns {
            sender: 1,
            receiver: 0,
        });
        for protocol in PROTOCOLS.iter().chain([&AUTO]).copied() {
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

    /// Whether as many as the smaller set has are shared, is not known beforehand.
    #[test]
    fn what_can_be_just_reached_is_computed() {
        for (output, min_intersection) in [(OutputKind::Threshold(2), 0), (OutputKind::Rows, 2)] {
            let request = Request {
                output,
                min_intersection,
                ..Request::rows(3, 2).unwrap()
            };
            assert!(plan(AUTO, &request).unwrap().cost().total().total_bytes() > 0);
        }
    }
}
