//! Puts every protocol through all cases.

use psijoin_psi_functions::circuit_psi::{
    CIRCUIT_GMW, CIRCUIT_GMW_VECTOR, CIRCUIT_GMW_VECTOR_SILENT, CIRCUIT_YAO,
};
use psijoin_psi_testing::{Limit, Subject};

psijoin_psi_testing::protocols! {
    circuit_yao: Subject::new(&CIRCUIT_YAO).layered().many(1 << 14);
    circuit_gmw: Subject::new(&CIRCUIT_GMW).layered().many(1 << 14);
    circuit_gmw_vector: Subject::new(&CIRCUIT_GMW_VECTOR).layered().many(1 << 14);
    circuit_gmw_vector_silent: Subject::new(&CIRCUIT_GMW_VECTOR_SILENT).layered().many(1 << 14);
}

psijoin_psi_testing::lengths! {
    // Numbers are never taken for each other, however many they are.
    circuit_yao_of_32_bits: Subject::new(&CIRCUIT_YAO)
        .numbers(32)
        .layered()
        .limit(Limit::None)
        .many(1 << 14);
    circuit_gmw_vector_of_32_bits: Subject::new(&CIRCUIT_GMW_VECTOR)
        .numbers(32)
        .layered()
        .limit(Limit::None)
        .many(1 << 14);
    circuit_gmw_vector_of_64_bits: Subject::new(&CIRCUIT_GMW_VECTOR)
        .numbers(64)
        .layered()
        .limit(Limit::None)
        .many(1 << 14);
}
