//! The output of a part, and what is opened of it in the end.

use psijoin_psi::{Columns, Groups, OutputKind, Request};
use psijoin_psi_functions::functions::opening::Opening;

/// Returns what a part has to give, so that nothing but the output of all parts is learned.
pub(crate) fn output_of_a_part(request: &Request) -> OutputKind {
    match &request.output {
        OutputKind::Rows if request.min_intersection > 0 => OutputKind::Shares(ONES),
        kept @ (OutputKind::Rows
        | OutputKind::Payloads(_)
        | OutputKind::Shares(_)
        | OutputKind::Totals(_)
        | OutputKind::GroupTotals(_)) => kept.clone(),
        OutputKind::Groups(groups) => OutputKind::GroupTotals(Groups {
            least: 0,
            noisy: false,
            ..*groups
        }),
        _ => OutputKind::Totals(Opening::new(request).totals()),
    }
}

/// A column of ones: its sum is the number of shared items.
const ONES: Columns = Columns {
    sender: 0,
    receiver: 1,
};

/// Returns what is opened when all parts are done.
pub(crate) fn opening(request: &Request) -> Option<Opening> {
    let kept = match request.output {
        OutputKind::Rows => request.min_intersection == 0,
        OutputKind::Payloads(_)
        | OutputKind::Shares(_)
        | OutputKind::Totals(_)
        | OutputKind::GroupTotals(_) => true,
        _ => false,
    };
    (!kept).then(|| Opening::new(request))
}
