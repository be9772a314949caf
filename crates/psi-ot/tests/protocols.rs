//! Every protocol of the family, through every case.

use psijoin_psi_ot::{
    cm20::{CM20, CM20_MALICIOUS_SENDER},
    kkrt::KKRT,
};
use psijoin_psi_testing::{Limit, Subject, Units, parameter};

psijoin_psi_testing::protocols! {
    kkrt: Subject::new(&KKRT).units(
        Units::last(|plan| parameter(plan, "mask bits"))
            .lists(|plan| 3 + parameter(plan, "stash places")),
    );
    cm20: Subject::new(&CM20).limit(Limit::EitherLargest);
    cm20_malicious_sender: Subject::new(&CM20_MALICIOUS_SENDER)
        .many(1 << 13)
        .limit(Limit::EitherLargest);
}
