//! All protocols by name.

use psijoin_ot::extension::{Iknp, Silent};

use crate::{
    Error, Plan, Protocol, Request, auto,
    circuit_psi::{CircuitPsi, Gmw, Yao},
    cm20, dh, disjoint, gbf, kk20, kkrt, naive, pssz, psz, random_gbf, rr22, rr22_circuit, rsa,
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

/// Derives every parameter for a run. Where a set is empty the intersection is known: the
/// plan then sends nothing.
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
    if request.sizes.pairs() == 0 {
        return Ok(Box::new(disjoint::Plan::new(
            protocol.info_for(request),
            request,
        )));
    }
    protocol.plan(request)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorKind, OutputKind};

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
}
