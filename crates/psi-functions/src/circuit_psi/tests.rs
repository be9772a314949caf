use psijoin_psi::{ErrorKind, Plan, Request};

use super::*;

fn plan(protocol: &'static Protocol, n: u64, output: OutputKind) -> Plan {
    let request = Request::rows(n, n).unwrap().output(output);
    protocol.plan(&request).unwrap()
}

/// PSZ14 App. D.1, of ℓ bits: 32 bytes per AND gate, the receiver's bits by OT, what is revealed.
#[test]
fn yao_sends_the_gates_that_are_published() {
    for log2 in [2, 8, 12, 16] {
        let n = 1 << log2;
        let plan = plan(&CIRCUIT_YAO, n, OutputKind::Rows);
        let bits = plan.parameters()[0].value;
        let gates = bits * (3 * n * log2 + 4 * n) - n;
        let revealed = (bits * n).div_ceil(8);
        assert_eq!(plan.cost().online.sender_bytes, 32 * gates + revealed);
    }
}

/// PSZ14 App. D.1 for items of 32 bits, as the paper measures them. The shuffle has a bit more: the
/// paper's items are not zero.
#[test]
fn items_of_32_bits_take_the_gates_that_are_published() {
    for log2 in [2, 8, 12, 16] {
        let n = 1 << log2;
        let request = Request::rows(n, n).unwrap().numbers(32).unwrap();
        let gates = Params::new(&YAO, &request).unwrap().work.gates.ands();
        let shuffle_of_a_bit = n * log2 - n + 1;
        assert_eq!(gates, 32 * (3 * n * log2 + 4 * n) - n + shuffle_of_a_bit);
    }
}

/// PSZ14 Table 6: 6nκσ·log2 n bits instead of 10nκσ·log2 n.
#[test]
fn vector_triples_send_at_most_three_fifths() {
    for n in [1 << 10, 1 << 12, 1 << 16, 1000, 50_000] {
        for output in [OutputKind::Rows, OutputKind::Count] {
            let bytes = |protocol| plan(protocol, n, output.clone()).cost().total.total_bytes();
            let (bitwise, vectors) = (bytes(&CIRCUIT_GMW), bytes(&CIRCUIT_GMW_VECTOR));
            assert!(vectors * 10 <= bitwise * 6, "{vectors} of {bitwise}");
            assert!(bytes(&CIRCUIT_GMW_VECTOR_SILENT) * 4 < vectors);
        }
    }
}

/// Beside the gates, a count costs its bits, and a threshold one bit.
#[test]
fn no_more_is_revealed_than_was_asked() {
    let n = 1000;
    for (output, bits) in [(OutputKind::Count, 10), (OutputKind::Threshold(7), 1)] {
        let request = Request::rows(n, n).unwrap().output(output);
        for entry in [&YAO, &GMW, &GMW_VECTOR] {
            let revealed = Params::new(entry, &request).unwrap().work.revealed_bits;
            assert!(revealed.abs_diff(bits) <= 1, "{}", entry.info.name);
        }
    }
}

#[test]
fn what_the_receiver_does_not_have_is_refused() {
    let numbers = [(3, 1), (8, 0), (9, 2)];
    for flag in [0, 16] {
        assert_eq!(
            rows(&[0, 9 | flag, 0, 3 | flag], &numbers, flag).unwrap(),
            Output::Rows(vec![1, 2])
        );
    }
    for wrong in [
        rows(&[0, 4], &numbers, 0),
        rows(&[3], &numbers, 16),
        count(4, 3),
    ] {
        assert_eq!(wrong.unwrap_err().kind(), ErrorKind::Peer);
    }
    assert_eq!(count(3, 3).unwrap(), Output::Count(3));
}

#[test]
fn too_many_items_are_refused() {
    let n = MOST_ITEMS / 2;
    assert!(plan(&CIRCUIT_YAO, n, OutputKind::Count).feasible().is_ok());
    let refused = plan(&CIRCUIT_YAO, n + 1, OutputKind::Count).feasible();
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Misuse);
}

#[test]
fn the_documented_traffic_is_that_of_the_plan() {
    const DOCUMENT: &str = include_str!("../../../../docs/protocols/functions.md");
    fn row(entry: &'static Entry, log_n: u32) -> String {
        let n = 1 << log_n;
        let params = Params::new(entry, &Request::rows(n, n).unwrap()).unwrap();
        let (bits, gates) = (params.bits(), params.work.gates.ands());
        let cost = params.plan().cost().total;
        format!(
            "| `{}` | 2^{log_n} | {bits} | {gates} | {} | {} | {} | {} |",
            entry.info.name,
            cost.sender_bytes,
            cost.receiver_bytes,
            cost.flights,
            8 * cost.total_bytes() / n
        )
    }
    let rows = [10, 12, 14, 16, 20].into_iter().flat_map(|log_n| {
        [
            row(&YAO, log_n),
            row(&GMW, log_n),
            row(&GMW_VECTOR, log_n),
            row(&GMW_VECTOR_SILENT, log_n),
        ]
    });
    let missing: Vec<String> = rows.filter(|row| !DOCUMENT.contains(row)).collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
