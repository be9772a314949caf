//! KK20's conclusions.

use super::{
    claim::{
        Claim,
        Outcome::{Holds, NotMeasured, NotTestable},
        Test::{Impossible, PaperOnly, Relations},
    },
    relation::{Relation, about, each, grows, less, order, within},
    term::{Term, bytes, figure, seconds},
};
use crate::{published::Metric, quantity::Quantity};

const LAN: &str = "1gbps,1ms";
const WAN: &str = "100mbps,100ms";

const TABLE_1: &str = "kk20-table-1";
const TABLE_3: &str = "kk20-table-3";

/// Returns the term of private set membership: the receiver has one item.
fn membership(protocol: &str, log2: u32, bits: u32, network: Option<&str>) -> Term {
    let metric = if network.is_some() {
        Metric::Seconds
    } else {
        Metric::Bytes
    };
    let Term::Figure(quantity) = figure(protocol, metric, log2, network) else {
        unreachable!("a figure is one")
    };
    let items = [1 << log2, 1];
    Term::Figure(Box::new(Quantity { items, ..*quantity }))
        .item_bits(bits)
        .counted()
}

/// Claims less than Ciampi-Orlandi takes, less for longer items; and in steps of four items at most
/// four times more.
fn linear_membership() -> Vec<Relation> {
    each(&[None, Some(LAN), Some(WAN)], |network| {
        let ratio = |bits| {
            let of = |protocol| membership(protocol, 16, bits, network);
            of("kk20-psm") / of("co18-psm")
        };
        let falling = [less(ratio(48), ratio(32)), less(ratio(64), ratio(48))];
        let growth = grows(&[12, 14, 16], 1.0..=4.05, |n| {
            membership("kk20-psm", n, 32, network)
        });
        [falling.into(), growth].concat()
    })
}

/// Claims by the paper's reference numbers.
fn others() -> Vec<Relation> {
    let time = |protocol: &str| {
        let network = (protocol == "kk20").then_some(LAN);
        figure(protocol, Metric::Seconds, 12, network)
    };
    let sent = order(&["psty19", "kk20", "[26]", "[24]"], |p| bytes(p, 12));
    [sent, order(&["psty19", "[26]", "kk20", "[24]"], time)].concat()
}

/// Claims that PSTY19's protocol sends about a quarter of the bytes, and is faster.
fn beside_psty19() -> Vec<Relation> {
    let [new, old] = ["psty19", "kk20"].map(|p| bytes(p, 12).counted());
    let [faster, slower] = ["psty19", "kk20"].map(|p| seconds(p, 12, LAN).counted());
    vec![within(new / old, 0.15..=0.4), less(faster, slower)]
}

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "KK20-1",
        experiment: TABLE_1,
        says: "Set membership is linear, and gains on Ciampi-Orlandi with longer items.",
        tables: &[TABLE_1],
        test: Relations(linear_membership),
        printed: Holds,
    },
    Claim {
        id: "KK20-2",
        experiment: "kk20-table-2",
        says: "Bytes grow linearly with the number of hash functions: from 60 to 80 as much as from 40 to 60.",
        tables: &["kk20-table-2"],
        test: Relations(|| {
            each(&[10, 12, 14], |n| {
                let of = |bits| {
                    bytes("kk20", n)
                        .counted()
                        .item_bits(32)
                        .statistical_bits(bits)
                };
                [about((of(80) - of(60)) / (of(60) - of(40)), 1.0)]
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "KK20-3",
        experiment: TABLE_3,
        says: "Bytes and time are linear: four times the items take at most four times as much.",
        tables: &[TABLE_3],
        test: Relations(|| {
            let sizes = [8, 10, 12, 14, 16];
            let sent = grows(&sizes, 1.0..=4.05, |n| {
                bytes("kk20", n).item_bits(32).counted()
            });
            let times = each(&[LAN, WAN], |on| {
                grows(&sizes, 1.0..=4.05, |n| {
                    seconds("kk20", n, on).item_bits(32).counted()
                })
            });
            [sent, times].concat()
        }),
        printed: Holds,
    },
    Claim {
        id: "KK20-4a",
        experiment: "kk20-section-6",
        says: "At 2^12 items PSTY19's protocol ([25]) sends about a quarter of the bytes, and is faster.",
        tables: &["kk20-section-6"],
        test: Relations(beside_psty19),
        printed: Holds,
    },
    Claim {
        id: "KK20-4b",
        experiment: "kk20-section-6",
        says: "At 2^12 items it sends more than [25], less than [26] and [24]; it takes longer than [25] and [26], not as long as [24].",
        tables: &["kk20-section-6"],
        test: PaperOnly(others, "The registry has neither [26] nor [24]."),
        printed: Holds,
    },
    Claim {
        id: "KK20-5",
        experiment: "kk20-section-6",
        says: "An oblivious PRF with a circuit (`rr22-circuit`) sends less, and is faster.",
        tables: &["kk20-section-6"],
        test: Relations(|| {
            each(&[12, 16], |n| {
                let [new, old] = ["rr22-circuit", "kk20"].map(|p| bytes(p, n).counted());
                let [faster, slower] =
                    ["rr22-circuit", "kk20"].map(|p| seconds(p, n, LAN).counted());
                [less(new, old), less(faster, slower)]
            })
        }),
        printed: NotMeasured,
    },
    Claim {
        id: "KK20-6",
        experiment: TABLE_3,
        says: "Formulas for operations and bits.",
        tables: &[],
        test: Impossible("It is a formula, not a comparison; plans say the exact bytes of ours."),
        printed: NotTestable,
    },
];
