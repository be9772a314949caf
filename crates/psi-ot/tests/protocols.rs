//! Every protocol of the family, through every case.

use psijoin_psi_ot::{
    cm20::{CM20, CM20_MALICIOUS_SENDER},
    kkrt::KKRT,
    pssz::PSSZ,
    psz::{MOST_PAIRS, PSZ_BALANCED, PSZ_CUCKOO, PSZ_NONE, PSZ_SIMPLE},
    spot_fast::SPOT_FAST,
    spot_low::{SPOT_LOW, SPOT_LOW_MALICIOUS_SENDER},
};
use psijoin_psi_testing::{Limit, Subject, Units, parameter};

psijoin_psi_testing::protocols! {
    // All pairs are compared.
    psz_none: Subject::new(&PSZ_NONE).most_pairs(MOST_PAIRS).faults(60, 1100, 30).many(1 << 10);
    // Many letters per item, and many masks.
    psz_simple: Subject::new(&PSZ_SIMPLE).faults(400, 250, 70);
    psz_balanced: Subject::new(&PSZ_BALANCED);
    psz_cuckoo: Subject::new(&PSZ_CUCKOO);
    pssz: Subject::new(&PSSZ);
    kkrt: Subject::new(&KKRT).units(
        Units::last(|plan| parameter(plan, "mask bits"))
            .lists(|plan| 3 + parameter(plan, "stash places")),
    );
    spot_fast: Subject::new(&SPOT_FAST);
    spot_low: Subject::new(&SPOT_LOW);
    spot_low_malicious_sender: Subject::new(&SPOT_LOW_MALICIOUS_SENDER);
    cm20: Subject::new(&CM20).limit(Limit::EitherLargest);
    cm20_malicious_sender: Subject::new(&CM20_MALICIOUS_SENDER)
        .many(1 << 13)
        .limit(Limit::EitherLargest);
}

psijoin_psi_testing::lengths! {
    psz_none_of_32_bits: Subject::new(&PSZ_NONE)
        .numbers(32)
        .most_pairs(MOST_PAIRS)
        .faults(60, 1100, 30)
        .many(1 << 10);
    psz_simple_of_32_bits: Subject::new(&PSZ_SIMPLE).numbers(32).faults(400, 250, 70);
    psz_balanced_of_32_bits: Subject::new(&PSZ_BALANCED).numbers(32);
    psz_cuckoo_of_32_bits: Subject::new(&PSZ_CUCKOO).numbers(32);
    psz_cuckoo_of_64_bits: Subject::new(&PSZ_CUCKOO).numbers(64);
    pssz_of_32_bits: Subject::new(&PSSZ).numbers(32);
    pssz_of_64_bits: Subject::new(&PSSZ).numbers(64);
}
