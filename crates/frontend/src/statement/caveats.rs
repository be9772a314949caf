//! The facts that a result does not show by itself, each in a sentence. SECURITY.md, a page of the
//! documentation, the help and the statement at the end of a run have the same words for it, which
//! a test compares.

use psijoin::{Adversary, Role, auto};
use psijoin_params::Security;
use psijoin_session::{Learners, Outcome, Received, RequestedOutput};

/// Of columns, given by either side.
pub const OFFERED: &str = "The side that takes learns the name and the type of each column that is offered, and whether nulls \
                       can be in it; the side that gives learns which of them are taken.";

/// Of columns of the sender, against parties that cheat.
pub const INVENTED: &str = "A sender that cheats can give any values.";

/// Of rows for both, against parties that cheat.
pub const HIDDEN: &str = "A receiver that cheats can hide shared keys from the sender, give any values, and stop when it has its \
                      own result.";

/// Of a set in a protocol against parties that cheat.
pub const MORE_KEYS: &str = "A receiver that cheats may use more keys than it says.";

/// Of aligned rows.
pub const REDRAWN: &str =
    "A side that breaks off and begins anew gets another order, so it can choose among several.";

/// Of a session in parts.
pub const SECURITY_OF_PARTS: &str = "Each part has 128 bits of computational security, and all together 128 less log2 of their \
                                 number.";

/// Of a session in parts, against parties that cheat.
pub const ADAPTIVE: &str = "A side that cheats can choose its keys of a part when it has seen the results of earlier parts.";

/// Of rows for the receiver, in parts.
pub const TIMED: &str = "How long the receiver looks at the rows of a part may tell a sender with a precise clock something about \
                     their number.";

/// Of a protocol that was not named.
pub const STEERED: &str =
    "Whoever can delay what passes on the line can steer which protocol `auto` takes.";

/// Of answers about all shared keys.
pub const DIFFERENCES: &str = "Runs on tables that change also tell the difference: if one key came or went in between, whether \
                           it is shared, or what its number is.";

/// Of every run.
pub const COMPARED: &str = "Both sides also know what they compared before: settings, kinds of the key columns, numbers of threads, \
                        and what each measured of the network.";

/// Returns those that hold for this run, for the party that has done it. `auto` may have taken its
/// protocol.
pub(super) fn of(outcome: &Outcome, by_auto: bool) -> Vec<String> {
    let (plan, question, given) = (&outcome.plan, &outcome.question, &outcome.given);
    let is_sender = outcome.role == Role::Sender;
    let both_learn = question.learners == Learners::Both;
    let aligned = matches!(outcome.received, Some(Received::Rows { aligned: true, .. }));
    let differs = match question.asked {
        RequestedOutput::Count
        | RequestedOutput::Threshold(_)
        | RequestedOutput::Sum(_)
        | RequestedOutput::Groups(_) => true,
        RequestedOutput::Rows | RequestedOutput::Shares(_) => false,
    };
    let parts = plan.parts().map(|parts| parts.shape.parts);
    let looks_at_parts = parts.is_some()
        && question.asked == RequestedOutput::Rows
        && question.min_intersection == 0;
    let has_choice = auto::candidates(plan.request()).count() > 1;
    let by_auto = by_auto && has_choice && plan.cost().total.total_bytes() > 0;
    let may_cheat = plan.info().adversary == Adversary::Malicious;
    let told = [
        (given.all().next().is_some(), OFFERED),
        (aligned, REDRAWN),
        (differs, DIFFERENCES),
        (by_auto, STEERED),
        (looks_at_parts && !both_learn, TIMED),
        (may_cheat && is_sender, MORE_KEYS),
        (may_cheat && is_sender && both_learn, HIDDEN),
        (
            may_cheat && !is_sender && given.by(Role::Sender).is_some(),
            INVENTED,
        ),
        (may_cheat && parts.is_some(), ADAPTIVE),
        (true, COMPARED),
    ];
    let told = told.into_iter().filter(|(holds, _)| *holds);
    parts
        .map(of_parts)
        .into_iter()
        .chain(told.map(|(_, sentence)| sentence.to_owned()))
        .collect()
}

/// Describes the computational security of a session in parts, which is bounded by a union over
/// them.
fn of_parts(parts: u32) -> String {
    let bits = f64::from(Security::COMPUTATIONAL_BITS) - f64::from(parts).log2();
    format!("The session ran in {parts} parts. {SECURITY_OF_PARTS} Here that is {bits:.1}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_share_the_computational_security() {
        assert!(of_parts(2).ends_with(" 127.0."));
        assert!(of_parts(694).ends_with(" 118.6."));
    }
}
