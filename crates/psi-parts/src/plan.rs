use std::sync::Arc;

use psijoin_params::{FailureBudget, parts};
use psijoin_psi::{
    BaseParams, Conversation, Derived, Dialogue, Error, OutputKind, Parts, Plan, Protocol, Request,
    Role, parameters,
};

use crate::{
    output::{opening, output_of_a_part},
    session::{Receiver, Sender},
};

/// Returns the plan of a protocol for sets of any sizes: of one run, or in parts if the sets are
/// large and the protocol can give the output in parts.
///
/// # Errors
/// As [`Protocol::plan`]. [`Error::NotInParts`] if the sets are too large for one run, and the
/// protocol cannot give the output in parts.
pub fn plan(protocol: &'static Protocol, request: &Request) -> Result<Plan, Error> {
    let grain = match output_of_a_part(request) {
        OutputKind::Rows | OutputKind::Payloads(_) => parts::ROWS,
        _ => parts::SHARES,
    };
    let parts = parts::count(request.sizes, grain).max(parts::carrying(payload_bytes(request)));
    if parts == 1 || request.is_decided() {
        return protocol.plan(request);
    }
    match in_parts(chosen(protocol, request), request, parts) {
        Err(Error::NotInParts { .. }) if request.sizes.at_once().is_ok() => protocol.plan(request),
        planned => planned,
    }
}

/// Returns the number of bytes of all payloads, both ways: those of all items of the sender, and of
/// as many of the receiver's as can be shared.
fn payload_bytes(request: &Request) -> u128 {
    let of = |role, items: u64| u128::from(items) * request.output.payload_bytes(role) as u128;
    of(Role::Sender, request.sizes.sender()) + of(Role::Receiver, request.sizes.smaller())
}

/// Returns the protocol that a request in parts is planned with. Parts are filled up with random
/// digests, and a number may be somebody's: items that are numbers are digested, and the protocol
/// is chosen for digests.
fn chosen(protocol: &'static Protocol, request: &Request) -> &'static Protocol {
    let mut digested = request.clone();
    digested.item_bits = None;
    protocol.chosen(&digested)
}

/// Returns the plan of a session in this number of parts, whatever its size. A protocol that stands
/// for several stands for one that gives the output in parts, if the first choice does not.
///
/// # Errors
/// As [`plan`].
///
/// # Panics
/// Unless there are 2 to [`parts::MAX_PARTS`] parts.
pub fn in_parts(protocol: &'static Protocol, request: &Request, parts: u32) -> Result<Plan, Error> {
    let output = output_of_a_part(request);
    let protocol = match chosen(protocol, request) {
        first if first.computes(&output) => first,
        _ => chosen(protocol, &request.clone().output(output.clone())),
    };
    protocol.serves(request)?;
    if request.is_decided() {
        return protocol.plan(request);
    }
    if !protocol.computes(&output) {
        return Err(Error::NotInParts {
            protocol: protocol.info().name,
            output: request.output.to_string(),
        });
    }
    let mut budget = FailureBudget::new(request.security);
    let shape = parts::shape(request.sizes, parts, &mut budget)?;
    let of_a_part = Request::of(shape.capacities, shape.security)
        .output(output)
        .base_ots(request.base_ots);
    let plan = protocol.plan(&of_a_part)?;
    let failures = plan.budget().total().times(parts.into());
    budget.charge("failure of a part", failures)?;
    let parts = Arc::new(Parts { shape, plan });
    let derived = Derived {
        info: protocol.info(),
        base: BaseParams {
            request: request.clone(),
            digest_bytes: parts.plan.digest_bytes(),
            number_bits: None,
            budget,
        },
        parameters: [
            parameters(&[
                ("parts", shape.parts.into()),
                ("sender's items a part", shape.capacities.sender()),
                ("receiver's items a part", shape.capacities.receiver()),
            ]),
            parts.plan.parameters().to_vec(),
        ]
        .concat(),
        dialogue: dialogue(request, &parts, shape.parts, true),
    };
    let places = parts.plan.share_places() * shape.parts as usize;
    Ok(
        Plan::new::<Sender, Receiver>(derived, (request.clone(), parts.clone()))
            .places(places)
            .in_parts(parts),
    )
}

/// Returns the messages over one stream on which `run` parts run, and then those of the opening, if
/// `opens`. Nothing is prepared before the sets are known: it would take the memory of all parts.
pub(crate) fn dialogue(request: &Request, parts: &Parts, run: u32, opens: bool) -> Dialogue {
    let part = parts.plan.dialogue().at_once().clone();
    let all = part.repeated(run.into());
    let lanes = vec![parts.plan.share_places(); parts.shape.parts as usize];
    let [before, after] = match opening(request).filter(|_| opens) {
        Some(opening) => opening.conversations(&lanes),
        None => Default::default(),
    };
    Dialogue::new(Conversation::default(), all.then(before).then(after))
}
