//! The examples do what they promise.

#[path = "../examples/count.rs"]
mod count;
#[path = "../examples/custom_circuit.rs"]
mod custom_circuit;
#[path = "../examples/in_parts.rs"]
mod in_parts;
#[path = "../examples/two_parties.rs"]
mod two_parties;

#[test]
fn a_count_is_learned_or_withheld() {
    count::main().unwrap();
}

#[test]
fn a_circuit_is_evaluated_over_shares() {
    custom_circuit::main().unwrap();
}

#[test]
fn two_parties_meet_over_tls() {
    two_parties::main().unwrap();
}

#[test]
fn tables_give_their_items_part_by_part() {
    in_parts::main().unwrap();
}
