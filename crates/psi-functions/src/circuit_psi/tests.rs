use psijoin_ot::extension::{Iknp, Silent};
use psijoin_params::{Security, Sizes};

use super::*;
use crate::{ErrorKind, registry};

fn plan(name: &str, n: u64, output: OutputKind) -> Box<dyn Plan> {
    let request = Request {
        sizes: Sizes::new(n, n).unwrap(),
        security: Security::default(),
        output,
        min_intersection: 0,
    };
    registry::plan(registry::find(name).unwrap(), &request).unwrap()
}

/// PSZ14 App. D.1, of ℓ bits: 32 bytes an AND gate, the receiver's bits by OT, what is revealed.
#[test]
fn yao_sends_the_gates_that_are_published() {
    for log2 in [2, 8, 12, 16] {
        let n = 1 << log2;
        let plan = plan("circuit-yao", n, OutputKind::Rows);
        let bits = plan.parameters()[0].value;
        let gates = bits * (3 * n * log2 + 4 * n) - n;
        let revealed = (bits * n).div_ceil(8);
        assert_eq!(plan.cost().online.sender_bytes, 32 * gates + revealed);
    }
}

/// PSZ14 Table 6: 6nκσ·log2 n bits instead of 10nκσ·log2 n.
#[test]
fn vector_triples_send_at_most_three_fifths() {
    for n in [1 << 10, 1 << 12, 1 << 16, 1000, 50_000] {
        for output in [OutputKind::Rows, OutputKind::Count] {
            let bytes = |name| plan(name, n, output.clone()).cost().total().total_bytes();
            let (bitwise, vectors) = (bytes("circuit-gmw"), bytes("circuit-gmw-vector"));
            assert!(vectors * 10 <= bitwise * 6, "{vectors} of {bitwise}");
            assert!(bytes("circuit-gmw-vector-silent") * 4 < vectors);
        }
    }
}

/// Beside the gates, a count costs its bits, and a threshold one bit.
#[test]
fn no_more_is_revealed_than_was_asked() {
    let n = 1000;
    for (output, bits) in [(OutputKind::Count, 10), (OutputKind::Threshold(7), 1)] {
        for name in ["circuit-yao", "circuit-gmw", "circuit-gmw-vector"] {
            let request = plan(name, n, output.clone());
            let revealed = match name {
                "circuit-yao" => Params::<Yao>::new(request.request()).unwrap().work(),
                _ => Params::<Gmw<Iknp, true>>::new(request.request())
                    .unwrap()
                    .work(),
            };
            assert!(revealed.revealed_bits.abs_diff(bits) <= 1, "{name}");
        }
    }
}

#[test]
fn what_the_receiver_does_not_have_is_refused() {
    let numbers = [(3, 1), (8, 0), (9, 2)];
    assert_eq!(
        rows(&[0, 9, 0, 3], &numbers).unwrap(),
        Output::Rows(vec![1, 2])
    );
    for wrong in [rows(&[0, 4], &numbers), count(4, 3)] {
        assert_eq!(wrong.unwrap_err().kind(), ErrorKind::Peer);
    }
    assert_eq!(count(3, 3).unwrap(), Output::Count(3));
}

#[test]
fn too_many_items_are_refused() {
    let n = MOST_ITEMS / 2;
    assert!(plan("circuit-yao", n, OutputKind::Count).feasible().is_ok());
    let refused = plan("circuit-yao", n + 1, OutputKind::Count).feasible();
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Misuse);
}

#[test]
fn the_documented_traffic_is_that_of_the_plan() {
    const DOCUMENT: &str = include_str!("../../../../docs/protocols.md");
    fn row<E: Engine>(log_n: u32) -> String {
        let n = 1 << log_n;
        let params = Params::<E>::new(&Request::rows(n, n).unwrap()).unwrap();
        let (cost, gates) = (params.cost().total(), params.work().gates.ands());
        format!(
            "| `{}` | 2^{log_n} | {} | {gates} | {} | {} | {} | {} |",
            E::INFO.name,
            params.bits(),
            cost.sender_bytes,
            cost.receiver_bytes,
            cost.rounds,
            8 * cost.total_bytes() / n
        )
    }
    let rows = [10, 12, 14, 16, 20].into_iter().flat_map(|log_n| {
        [
            row::<Yao>(log_n),
            row::<Gmw<Iknp, false>>(log_n),
            row::<Gmw<Iknp, true>>(log_n),
            row::<Gmw<Silent, true>>(log_n),
        ]
    });
    let missing: Vec<String> = rows.filter(|row| !DOCUMENT.contains(row)).collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
