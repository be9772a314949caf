//! Puts every protocol through all cases.

use psijoin_psi_testing::{Limit, Subject, cases::resuming};
use psijoin_psi_vole::{
    rr22::{RR22, RR22_MALICIOUS},
    rr22_circuit::RR22_CIRCUIT,
};

psijoin_psi_testing::protocols! {
    rr22: Subject::new(&RR22);
    rr22_malicious: Subject::new(&RR22_MALICIOUS);
    rr22_circuit: Subject::new(&RR22_CIRCUIT).limit(Limit::None);
}

/// All others go through the same code, at some of the steps.
#[test]
fn a_session_goes_on_whenever_it_broke_off() {
    resuming::whenever_it_broke_off(&Subject::new(&RR22));
    resuming::whenever_it_broke_off(&Subject::new(&RR22_CIRCUIT));
}
