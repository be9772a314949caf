//! The behaviour of every protocol if the result follows from the sizes of the sets, which both
//! parties know: it sends nothing. That is so if a set is empty, if a threshold is 0, and if a
//! threshold or a minimum exceeds the smaller set.

use psijoin_circuit::Bits;
use psijoin_params::FailureBudget;

use crate::{
    BaseParams, Context, Derived, Dialogue, Error, Group, Info, Input, Matched, Output, OutputKind,
    Party, Payloads, Plan, Request, Result, Role, Shares, TotalShares, Totals,
};

/// Bytes of a digest. Nothing here depends on it.
const DIGEST_BYTES: usize = 16;

/// Returns the plan of a protocol, if the result of this request follows from the sizes.
pub(crate) fn plan(info: &'static Info, request: &Request) -> Option<Plan> {
    let derived = Derived {
        info,
        base: BaseParams {
            request: request.clone(),
            digest_bytes: DIGEST_BYTES,
            number_bits: None,
            budget: FailureBudget::new(request.security),
        },
        parameters: Vec::new(),
        dialogue: Dialogue::default(),
    };
    request
        .is_decided()
        .then(|| Plan::new::<Sender, Receiver>(derived, request.clone()))
}

/// Returns what a party learns.
pub(crate) fn output(request: &Request, role: Role) -> Output {
    match (&request.output, role) {
        _ if request.min_intersection > 0 => Output::TooFew,
        (OutputKind::Shares(columns), _) => Output::Shares(Shares::new(
            Bits::default(),
            vec![Vec::new(); columns.total()],
            (role == Role::Receiver).then(Vec::new),
        )),
        (OutputKind::Totals(Totals { columns, .. }), _) => {
            Output::Totals(TotalShares::zero(columns.total()))
        }
        (OutputKind::GroupTotals(groups), _) => {
            Output::Totals(TotalShares::zero(groups.totals() * groups.count()))
        }
        (OutputKind::Payloads(Payloads { back: Some(_), .. }), _) => {
            Output::Matched(Matched::default())
        }
        (_, Role::Sender) => Output::Nothing,
        (OutputKind::Payloads(_), _) => Output::Matched(Matched::default()),
        (OutputKind::Rows, _) => Output::Rows(Vec::new()),
        (OutputKind::Count, _) => Output::Count(0),
        (OutputKind::Threshold(least), _) => Output::Reached(*least == 0),
        (OutputKind::Sums(columns), _) => Output::Sums(vec![0; columns.total()]),
        (OutputKind::Groups(groups), _) => {
            let empty = (groups.least == 0).then(|| Group {
                count: 0,
                sums: vec![0; groups.columns.total()],
            });
            Output::Groups(vec![empty; groups.count()])
        }
    }
}

struct Sender;

struct Receiver;

impl Party for Sender {
    type Params = Request;

    fn offline(_: &Request, _: &mut Context) -> Result<Self, Error> {
        Ok(Self)
    }

    fn online(self, request: &Request, _: &Input, _: &mut Context) -> Result<Output> {
        Ok(output(request, Role::Sender))
    }
}

impl Party for Receiver {
    type Params = Request;

    fn offline(_: &Request, _: &mut Context) -> Result<Self, Error> {
        Ok(Self)
    }

    fn online(self, request: &Request, _: &Input, _: &mut Context) -> Result<Output> {
        Ok(output(request, Role::Receiver))
    }
}
