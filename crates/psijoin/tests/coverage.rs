//! No protocol is registered that is not tested.

use psijoin::registry::PROTOCOLS;

/// The files in which each family lists its protocols for its tests.
const TESTED: [&str; 5] = [
    include_str!("../../psi-bloom/tests/protocols.rs"),
    include_str!("../../psi-functions/tests/protocols.rs"),
    include_str!("../../psi-ot/tests/protocols.rs"),
    include_str!("../../psi-pk/tests/protocols.rs"),
    include_str!("../../psi-vole/tests/protocols.rs"),
];

#[test]
fn every_registered_protocol_has_its_row() {
    for protocol in PROTOCOLS {
        let row = format!("\n    {}: ", protocol.info().name.replace('-', "_"));
        let rows = TESTED.iter().filter(|tests| tests.contains(&row)).count();
        assert_eq!(rows, 1, "{}", protocol.info().name);
    }
}
