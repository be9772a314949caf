//! CM20's conclusions.

use super::{
    claim::{
        Claim,
        Outcome::{DoesNotHold, Holds, NotMeasured},
        Test::Relations,
    },
    relation::{Relation, about, at_most, break_even, each, least, less, order, within},
    term::{Term, bytes, figure, seconds},
};
use crate::{
    published::Metric,
    quantity::{Place, Quantity, setting},
};

const SIZES: [u32; 5] = [16, 18, 20, 22, 24];
const ALL: [&str; 4] = ["cm20", "kkrt", "spot-fast", "spot-low"];
const LAN: &str = "20gbps,0.1ms";

const TABLE_2: &str = "cm20-table-2";
const TABLE_3: &str = "cm20-table-3";

/// Pairs of regions, the sender's first, and the network between them.
const PAIRS: [(&str, &str, &str); 5] = [
    ("Ohio", "Virginia", "1.09gbps,12ms"),
    ("Oregon", "Virginia", "170mbps,74ms"),
    ("Paris", "Oregon", "75.6mbps,167ms"),
    ("Sydney", "Oregon", "85.0mbps,143ms"),
    ("Sydney", "Paris", "40.5mbps,286ms"),
];

fn wan(mbps: u32) -> String {
    format!("{mbps}mbps,80ms")
}

/// Returns what a run costs by the formula of Figure 6, in units of a second of computing:
/// `y_over_x` is what a MB costs.
fn cost(protocol: &str, network: &str, y_over_x: f64) -> Term {
    let mb = f64::from(1 << 20);
    let cost = 2.0 * seconds(protocol, 20, network) + (y_over_x / mb) * bytes(protocol, 20);
    Term::Named(
        format!("cost of `{protocol}` with y/x {y_over_x}"),
        Box::new(cost),
    )
}

/// Claims that `cm20` costs least at both ends of a range of prices, and so within: costs are
/// linear in the price.
fn cheapest_within(network: &str, prices: [f64; 2]) -> Vec<Relation> {
    each(&prices, |price| {
        least("cm20", &ALL, |p| cost(p, network, price))
    })
}

/// Dollars for a thousand runs between regions.
fn usd(protocol: &str, kind: &str, (sender, receiver, network): (&str, &str, &str)) -> Term {
    let Term::Figure(quantity) = figure(protocol, Metric::UsdPer1000Runs, 20, Some(network)) else {
        unreachable!("a figure is one")
    };
    let place = Place {
        prices: "cm20",
        setting: setting(kind, sender, receiver),
    };
    Term::Figure(Box::new(Quantity {
        place: Some(place),
        ..*quantity
    }))
}

/// Returns how many times as expensive another protocol is, as printed with two decimals.
fn factor(other: &str, kind: &str, [from, to]: [f64; 2]) -> Vec<Relation> {
    each(&PAIRS, |pair| {
        [within(
            usd(other, kind, pair) / usd("cm20", kind, pair),
            from - 0.01..=to + 0.01,
        )]
    })
}

fn lan_ratio(slow: &str, fast: &str, n: u32, [from, to]: [f64; 2]) -> Relation {
    within(seconds(slow, n, LAN) / seconds(fast, n, LAN), from..=to)
}

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "CM20-1",
        experiment: TABLE_2,
        says: "`cm20` sends 1.46 to 1.69 times less than `kkrt`.",
        tables: &[TABLE_2],
        test: Relations(|| {
            each(&SIZES, |n| {
                [within(bytes("kkrt", n) / bytes("cm20", n), 1.455..=1.695)]
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "CM20-2",
        experiment: TABLE_2,
        says: "It sends almost as little as `spot-fast`: at most 16 % more.",
        tables: &[TABLE_2],
        test: Relations(|| {
            each(&SIZES, |n| {
                [at_most(bytes("cm20", n) / bytes("spot-fast", n), 1.16)]
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "CM20-3",
        experiment: TABLE_2,
        says: "On a LAN it is 2.53 to 3.65 times as fast as `spot-fast`, 19.4 to 28.7 times as fast as `spot-low`, and slower than `kkrt`.",
        tables: &[TABLE_2],
        test: Relations(|| {
            each(&SIZES, |n| {
                [
                    lan_ratio("spot-fast", "cm20", n, [2.525, 3.655]),
                    lan_ratio("spot-low", "cm20", n, [19.35, 28.75]),
                    less(seconds("kkrt", n, LAN), seconds("cm20", n, LAN)),
                ]
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "CM20-4",
        experiment: TABLE_2,
        says: "From 30 to 100 Mbit/s `cm20` is the fastest; `spot-fast` overtakes it between 30 and 10 Mbit/s.",
        tables: &[TABLE_2],
        test: Relations(|| {
            each(&SIZES, |n| {
                let of = |p: &str, mbps| seconds(p, n, &wan(mbps));
                let middle = each(&[100, 80, 50, 30], |mbps| {
                    least("cm20", &ALL, |p| of(p, mbps))
                });
                [middle, break_even("cm20", "spot-fast", [30, 10], of)].concat()
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "CM20-5a",
        experiment: "cm20-figure-6",
        says: "It costs least for y/x from 0.20 to 3.47 on a LAN, up to 3.66 at 150 Mbit/s, and up to 1.55 at 30 Mbit/s.",
        tables: &[TABLE_2],
        test: Relations(|| {
            let wans = [(150, 3.66), (30, 1.55)];
            let wans = each(&wans, |(mbps, most)| {
                cheapest_within(&wan(mbps), [0.0, most])
            });
            [cheapest_within(LAN, [0.20, 3.47]), wans].concat()
        }),
        printed: Holds,
    },
    Claim {
        id: "CM20-5b",
        experiment: "cm20-figure-6",
        says: "If traffic is dear (y/x of 100), `spot-fast` costs least.",
        tables: &[TABLE_2],
        test: Relations(|| least("spot-fast", &ALL, |p| cost(p, LAN, 100.0))),
        printed: DoesNotHold,
    },
    Claim {
        id: "CM20-6",
        experiment: TABLE_3,
        says: "`cm20` is the cheapest between all regions, between businesses and on the Internet.",
        tables: &[TABLE_3],
        test: Relations(|| {
            each(&PAIRS, |pair| {
                each(&["b2b", "internet"], |kind| {
                    least("cm20", &ALL, |p| usd(p, kind, pair))
                })
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "CM20-7",
        experiment: TABLE_3,
        says: "Between businesses `kkrt` costs 1.37 to 2.73 times as much, `spot-fast` 1.24 to 1.46, `spot-low` 3.75 to 6.80; on the Internet \
               4.28 to 5.00, 1.85 to 2.25, 5.01 to 6.48.",
        tables: &[TABLE_3],
        test: Relations(|| {
            [
                factor("kkrt", "b2b", [1.37, 2.73]),
                factor("spot-fast", "b2b", [1.24, 1.46]),
                factor("spot-low", "b2b", [3.75, 6.80]),
                factor("kkrt", "internet", [4.28, 5.00]),
                factor("spot-fast", "internet", [1.85, 2.25]),
                factor("spot-low", "internet", [5.01, 6.48]),
            ]
            .concat()
        }),
        printed: Holds,
    },
    Claim {
        id: "CM20-8",
        experiment: TABLE_3,
        says: "`cm20` is the fastest between regions with 40 to 170 Mbit/s.",
        tables: &[TABLE_3],
        test: Relations(|| {
            each(&PAIRS[1..], |(_, _, network)| {
                least("cm20", &ALL, |p| seconds(p, 20, network))
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "CM20-9",
        experiment: TABLE_2,
        says: "Senders send less than receivers; `cm20`'s less than `spot-fast`'s and `kkrt`'s, and almost the same as `spot-low`'s (within 25 %).",
        tables: &[TABLE_2],
        test: Relations(|| {
            let sent = |p: &str, metric| figure(p, metric, 20, None);
            let by_sender = |p: &str| sent(p, Metric::SenderBytes);
            let sides = each(&ALL, |p| {
                [less(by_sender(p), sent(p, Metric::ReceiverBytes))]
            });
            let ordered = order(&["cm20", "spot-fast", "kkrt"], by_sender);
            [
                sides,
                ordered,
                vec![within(
                    by_sender("cm20") / by_sender("spot-low"),
                    0.8..=1.25,
                )],
            ]
            .concat()
        }),
        printed: Holds,
    },
    Claim {
        id: "CM20-10",
        experiment: TABLE_2,
        says: "Against a malicious sender it sends 5 to 7 % more, and takes as long.",
        tables: &[TABLE_2],
        test: Relations(|| {
            each(&SIZES, |n| {
                let ratio = |of: &dyn Fn(&str) -> Term| of("cm20-malicious-sender") / of("cm20");
                let time = ratio(&|p| seconds(p, n, LAN));
                [
                    within(ratio(&|p| bytes(p, n)), 1.05..=1.071),
                    about(time, 1.0),
                ]
            })
        }),
        printed: NotMeasured,
    },
    Claim {
        id: "CM20-11",
        experiment: TABLE_2,
        says: "On a LAN `spot-fast` takes roughly 6 to 7 times as long as `kkrt` (5.5 to 8).",
        tables: &[TABLE_2],
        test: Relations(|| each(&SIZES, |n| [lan_ratio("spot-fast", "kkrt", n, [5.5, 8.0])])),
        printed: Holds,
    },
];
