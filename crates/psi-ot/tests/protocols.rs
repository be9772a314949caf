//! Every protocol of the family, put through what every protocol is put through.

use psijoin_psi_ot::{
    pssz::PSSZ,
    psz::{MOST_PAIRS, PSZ_BALANCED, PSZ_CUCKOO, PSZ_NONE, PSZ_SIMPLE},
};
use psijoin_psi_testing::Subject;

psijoin_psi_testing::protocols! {
    // All pairs are compared.
    psz_none: Subject::new(&PSZ_NONE).most_pairs(MOST_PAIRS).faults(60, 1100, 30).many(1 << 10);
    // Many letters per item, and many masks.
    psz_simple: Subject::new(&PSZ_SIMPLE).faults(400, 250, 70);
    psz_balanced: Subject::new(&PSZ_BALANCED);
    psz_cuckoo: Subject::new(&PSZ_CUCKOO);
    pssz: Subject::new(&PSSZ);
}
