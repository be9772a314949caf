//! Puts every protocol through all cases.

use psijoin_psi_pk::{
    dh::{DH, DH_FFDHE3072},
    naive::NAIVE,
    rsa::RSA,
};
use psijoin_psi_testing::{Subject, Units, parameter};

psijoin_psi_testing::protocols! {
    naive: Subject::new(&NAIVE)
        .units(Units::first(|plan| parameter(plan, "mask bits")));
    dh: Subject::new(&DH)
        .many(1 << 13)
        .faults(600, 300, 100)
        .units(Units::first(|_| 256));
    dh_ffdhe3072: Subject::new(&DH_FFDHE3072)
        .slow()
        .many(1 << 13)
        .faults(40, 20, 7)
        .units(Units::first(|_| 3072));
    rsa: Subject::new(&RSA)
        .slow()
        .many(1 << 13)
        .faults(40, 20, 7)
        .units(Units::last(|plan| parameter(plan, "mask bits")));
}
