//! What every protocol is put through.

use psijoin_psi_ot::{
    spot_fast::SPOT_FAST,
    spot_low::{SPOT_LOW, SPOT_LOW_MALICIOUS_SENDER},
};
use psijoin_psi_testing::Subject;

psijoin_psi_testing::protocols! {
    spot_fast: Subject::new(&SPOT_FAST);
    spot_low: Subject::new(&SPOT_LOW);
    spot_low_malicious_sender: Subject::new(&SPOT_LOW_MALICIOUS_SENDER);
}
