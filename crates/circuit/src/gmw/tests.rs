use proptest::prelude::*;
use psijoin_channel::count::Snapshot;
use psijoin_ot::extension::Extension;

use super::{
    triples::{Multiplication, demand},
    *,
};
use crate::{
    plain::{Gates, Plain},
    testing::{Case, both},
};

fn set_up(
    side: Side,
    extension: Extension,
    multiplication: Multiplication,
    channel: &mut Channel,
) -> Setup {
    Setup::new(
        side,
        extension,
        multiplication,
        channel,
        &mut Prg::from_os(),
    )
    .unwrap()
}

/// Runs a circuit, its triples made beforehand or not.
fn run(
    case: &Case,
    extension: Extension,
    multiplication: Multiplication,
    prepared: Option<&Gates>,
) -> (Vec<Bits>, Snapshot) {
    let party = |side, channel: &mut Channel| {
        let mut setup = set_up(side, extension, multiplication, channel);
        if let Some(gates) = prepared {
            setup.triples().prepare(gates, channel).unwrap();
        }
        case.run(Gmw::new(&mut setup, channel)).unwrap()
    };
    let (first, second, traffic) = both(
        |channel| party(Side::First, channel),
        |channel| party(Side::Second, channel),
    );
    assert!(first == second, "both learn the same");
    (first, traffic)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn shared_circuits_give_what_plain_ones_do(seed: u64, lanes in 1..300_usize) {
        let case = Case { seed, lanes };
        let (expected, gates) = case.expected(Plain::shallow());
        for multiplication in [Multiplication::Bitwise, Multiplication::Vectors] {
            for prepared in [None, Some(&gates)] {
                let (learned, _) = run(&case, Extension::IKNP, multiplication, prepared);
                prop_assert!(learned == expected);
            }
        }
    }
}

#[test]
fn silent_ot_serves_as_well() {
    let case = Case { seed: 1, lanes: 70 };
    let (expected, gates) = case.expected(Plain::shallow());
    for multiplication in [Multiplication::Bitwise, Multiplication::Vectors] {
        assert!(run(&case, Extension::SILENT, multiplication, Some(&gates)).0 == expected);
    }
}

#[test]
fn a_layer_takes_a_round() {
    // Inputs cost nothing, and what is revealed at the end takes two flights and one more.
    let case = Case { seed: 5, lanes: 64 };
    let (_, gates) = case.expected(Plain::shallow());
    let (_, traffic) = run(
        &case,
        Extension::IKNP,
        Multiplication::Vectors,
        Some(&gates),
    );
    let lengths = demand(&gates, Multiplication::Vectors).len() as u64;
    assert!(
        traffic.flights <= gates.layers + 2 * lengths + 8,
        "{traffic:?} {gates:?}"
    );
}

#[test]
fn long_vectors_take_several_triples() {
    let gates = Gates {
        products: [(300, 7), (44, 2), (1, 5)].into(),
        layers: 1,
    };
    let vectors = demand(&gates, Multiplication::Vectors);
    assert_eq!(vectors, [(128, 14), (44, 9), (1, 5)].into());
    let bits = demand(&gates, Multiplication::Bitwise);
    assert_eq!(bits, [(1, gates.ands() as usize)].into());
}

#[test]
fn shares_alone_show_nothing() {
    let bits = [Bits::ones(1024)];
    let (own, theirs, traffic) = both(
        |channel| {
            let mut setup = set_up(
                Side::First,
                Extension::IKNP,
                Multiplication::Bitwise,
                channel,
            );
            Gmw::new(&mut setup, channel).own(&bits).unwrap()
        },
        |channel| {
            let mut setup = set_up(
                Side::Second,
                Extension::IKNP,
                Multiplication::Bitwise,
                channel,
            );
            Gmw::new(&mut setup, channel).theirs(1, 1024).unwrap()
        },
    );
    assert!(&own[0] ^ &theirs[0] == bits[0]);
    // Standard deviation 16.
    assert!(own[0].count_ones().abs_diff(512) < 6 * 16);
    assert_eq!(traffic.sent.bytes, setup_bytes(Extension::IKNP));
}

/// Returns the number of bytes that either party sends in the setup.
fn setup_bytes(extension: Extension) -> u64 {
    SEED_BYTES + extension.setup_sender_bytes() + extension.setup_receiver_bytes()
}

/// Triples of several lengths: their bytes, and two flights each time that some are made.
fn check_making(extension: Extension, setup_flights: u64) {
    for lengths in [&[1][..], &[1, 2, 300]] {
        let gates = Gates {
            products: lengths.iter().map(|&length| (length, 100)).collect(),
            layers: 1,
        };
        for multiplication in [Multiplication::Bitwise, Multiplication::Vectors] {
            let party = |side, channel: &mut Channel| {
                let mut setup = set_up(side, extension, multiplication, channel);
                setup.triples().prepare(&gates, channel).unwrap();
            };
            let (_, _, traffic) = both(
                |channel| party(Side::First, channel),
                |channel| party(Side::Second, channel),
            );
            let ots: Vec<usize> = triples::making(&gates, multiplication).collect();
            let times = ots.len() as u64;
            let bytes = |ots: &usize| extension.sender_bytes(*ots) + extension.receiver_bytes(*ots);
            let bytes: u64 = ots.iter().map(bytes).sum();
            assert_eq!(traffic.sent.bytes, setup_bytes(extension) + bytes);
            assert_eq!(traffic.received.bytes, setup_bytes(extension) + bytes);
            assert_eq!(traffic.flights, setup_flights + 2 * times, "{lengths:?}");
        }
    }
}

#[test]
fn making_triples_costs_what_is_said() {
    check_making(Extension::IKNP, 3);
    check_making(Extension::SILENT, 5);
}
