//! Puts every protocol through all cases.

use psijoin_psi_functions::circuit_psi::{
    CIRCUIT_GMW, CIRCUIT_GMW_VECTOR, CIRCUIT_GMW_VECTOR_SILENT, CIRCUIT_YAO,
};
use psijoin_psi_testing::Subject;

psijoin_psi_testing::protocols! {
    circuit_yao: Subject::new(&CIRCUIT_YAO).layered().many(1 << 14);
    circuit_gmw: Subject::new(&CIRCUIT_GMW).layered().many(1 << 14);
    circuit_gmw_vector: Subject::new(&CIRCUIT_GMW_VECTOR).layered().many(1 << 14);
    circuit_gmw_vector_silent: Subject::new(&CIRCUIT_GMW_VECTOR_SILENT).layered().many(1 << 14);
}
