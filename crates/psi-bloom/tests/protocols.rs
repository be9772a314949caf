//! Puts every protocol through all cases.

use psijoin_psi_bloom::{
    gbf::{GBF, GBF_SILENT},
    kk20::{KK20, KK20_SILENT},
    psm::{CO18_PSM, KK20_PSM, filter, graph},
    random_gbf::{RANDOM_GBF, RANDOM_GBF_SILENT},
};
use psijoin_psi_testing::{Limit, Subject};

// Some hundred cells per item: few items are many, and fill several messages.
psijoin_psi_testing::protocols! {
    gbf: Subject::new(&GBF).many(1 << 13).faults(120, 100, 30).limit(Limit::None);
    gbf_silent: Subject::new(&GBF_SILENT).many(1 << 13).faults(120, 100, 30).limit(Limit::None);
    // And some dozen tests of equality in a message.
    kk20: Subject::new(&KK20).many(1 << 13).faults(60, 50, 20).limit(Limit::None);
    kk20_silent: Subject::new(&KK20_SILENT).many(1 << 13).faults(60, 50, 20).limit(Limit::None);
    // All pairs: few items make many nodes and keys.
    kk20_psm: Subject::new(&KK20_PSM)
        .most_pairs(filter::MOST_PAIRS)
        .tested_pairs(1 << 16)
        .many(1 << 8)
        .faults(60, 50, 20);
    co18_psm: Subject::new(&CO18_PSM)
        .most_pairs(graph::MOST_PAIRS)
        .tested_pairs(1 << 13)
        .many(1 << 6)
        .faults(30, 3, 2);
    random_gbf: Subject::new(&RANDOM_GBF).many(1 << 13).faults(120, 100, 30);
    random_gbf_silent: Subject::new(&RANDOM_GBF_SILENT).many(1 << 13).faults(120, 100, 30);
}

psijoin_psi_testing::lengths! {
    co18_psm_of_32_bits: Subject::new(&CO18_PSM)
        .numbers(32)
        .most_pairs(graph::MOST_PAIRS)
        .tested_pairs(1 << 13)
        .many(1 << 6)
        .faults(30, 3, 2);
}
