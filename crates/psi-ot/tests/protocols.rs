//! Every protocol of the family, through every case.

use psijoin_psi::{Info, Protocol};
use psijoin_psi_ot::{
    cm20::{CM20, CM20_MALICIOUS_SENDER},
    kkrt::KKRT,
    pssz::{PERMUTATION, PSSZ},
    psty19::PSTY19,
    psz::{CUCKOO, MOST_PAIRS, PSZ_BALANCED, PSZ_CUCKOO, PSZ_NONE, PSZ_SIMPLE, Params},
    spot_fast::SPOT_FAST,
    spot_low::{SPOT_LOW, SPOT_LOW_MALICIOUS_SENDER},
};
use psijoin_psi_testing::{Limit, Subject, Units, parameter};

static BY_BITS: Info = Info {
    name: "psz-cuckoo-by-bits",
    ..*CUCKOO.info()
};

static OF_THREE_BITS: Info = Info {
    name: "pssz-with-three-bits-a-letter",
    ..*PERMUTATION.info()
};

/// `psz-cuckoo` by 1-out-of-2 OTs.
static PSZ_BY_BITS: Protocol = Protocol::new(&BY_BITS, |request| {
    Ok(Params::with_letter_bits(request, &CUCKOO, 1)?.plan())
})
.on_base_ots();

/// `pssz` by 1-out-of-8 OTs: neither items nor rests are a whole number of letters.
static PSSZ_OF_THREE_BITS: Protocol = Protocol::new(&OF_THREE_BITS, |request| {
    Ok(Params::with_letter_bits(request, &PERMUTATION, 3)?.plan())
})
.on_base_ots();

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
    psty19: Subject::new(&PSTY19).many(1 << 13).limit(Limit::None);
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
    psz_cuckoo_by_bits: Subject::new(&PSZ_BY_BITS).numbers(32);
    pssz_of_three_bits_a_letter: Subject::new(&PSSZ_OF_THREE_BITS).numbers(32);
}
