//! What every protocol is put through.

use psijoin_psi_testing::{Limit, Subject};
use psijoin_psi_vole::{
    rr22::{RR22, RR22_MALICIOUS},
    rr22_circuit::RR22_CIRCUIT,
};

psijoin_psi_testing::protocols! {
    rr22: Subject::new(&RR22);
    rr22_malicious: Subject::new(&RR22_MALICIOUS);
    rr22_circuit: Subject::new(&RR22_CIRCUIT).limit(Limit::None);
}
