//! SpOT19's conclusions.

use super::{
    claim::{
        Claim,
        Outcome::{DoesNotHold, Holds, NotMeasured},
        Test::Relations,
    },
    relation::{Relation, about, at_least, at_most, break_even, each, least, less, order, within},
    term::{Term, bytes, figure, seconds},
};
use crate::{
    published::Metric,
    quantity::Quantity,
    sites::{Places, business, internet},
};

const ALL: [&str; 4] = ["spot-fast", "spot-low", "kkrt", "dh"];
const LAN: &str = "10gbps,0.2ms";
const NETWORKS: [&str; 4] = [LAN, "100mbps,80ms", "10mbps,80ms", "1mbps,80ms"];

const TABLE_1: &str = "spot19-table-1";
const TABLE_2: &str = "spot19-table-2";

/// Returns how much faster with four threads.
fn gain(protocol: &str) -> Term {
    figure(protocol, Metric::Speedup, 20, Some(LAN)).threads(4)
}

/// Dollars for a thousand runs, in each place.
fn costs(log2: u32, places: fn() -> Places) -> Vec<impl Fn(&str) -> Term> {
    let cost = |(network, place)| {
        move |protocol: &str| {
            let metric = Metric::UsdPer1000Runs;
            Term::Figure(Box::new(Quantity {
                place: Option::clone(&place),
                ..Quantity::new(protocol, metric, 1 << log2, network)
            }))
        }
    };
    places().into_iter().map(cost).collect()
}

/// Claims that `spot-fast` is the cheapest everywhere.
fn cheapest(log2: u32, places: fn() -> Places) -> Vec<Relation> {
    let costs = costs(log2, places);
    costs
        .iter()
        .flat_map(|cost| least("spot-fast", &ALL, cost))
        .collect()
}

/// Claims that it costs this share less than `kkrt`.
fn saves(log2: u32, places: fn() -> Places, [from, to]: [f64; 2]) -> Vec<Relation> {
    let ratio = |cost: &dyn Fn(&str) -> Term| cost("spot-fast") / cost("kkrt");
    let costs = costs(log2, places);
    costs
        .iter()
        .map(|cost| within(ratio(cost), 1.0 - to..=1.0 - from))
        .collect()
}

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "SpOT19-1",
        experiment: TABLE_1,
        says: "`spot-low` sends least: 15 % less than `dh`, half of `kkrt`. `spot-fast` sends at most 6 % more than `dh`, and 35 to 44 % \
               less than `kkrt`.",
        tables: &[TABLE_1],
        test: Relations(|| {
            each(&[16, 20, 24], |n| {
                let of = |p: &str| bytes(p, n);
                let ratios = vec![
                    within(of("spot-low") / of("dh"), 0.8..=0.9),
                    within(of("spot-low") / of("kkrt"), 0.45..=0.55),
                    at_most(of("spot-fast") / of("dh"), 1.06),
                    within(of("spot-fast") / of("kkrt"), 0.555..=0.65),
                ];
                [least("spot-low", &ALL, of), ratios].concat()
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "SpOT19-2",
        experiment: TABLE_2,
        says: "`spot-fast` sends 1.7 times less than `kkrt`, `spot-low` 2.0 times less, at 2^20 items.",
        tables: &[TABLE_2],
        test: Relations(|| {
            each(&[("spot-fast", 1.7), ("spot-low", 2.0)], |(p, factor)| {
                [within(
                    bytes("kkrt", 20) / bytes(p, 20),
                    factor - 0.05..=factor + 0.05,
                )]
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "SpOT19-3a",
        experiment: TABLE_2,
        says: "Both send less than `dh`, at 2^20 items.",
        tables: &[TABLE_2],
        test: Relations(|| {
            each(&["spot-low", "spot-fast"], |p| {
                [less(bytes(p, 20), bytes("dh", 20))]
            })
        }),
        printed: DoesNotHold,
    },
    Claim {
        id: "SpOT19-3b",
        experiment: TABLE_2,
        says: "Both are faster than `dh`, for all set sizes and on all networks.",
        tables: &[TABLE_2],
        test: Relations(|| {
            each(&["spot-low", "spot-fast"], |p| {
                each(&[12, 16, 20], |n| {
                    each(&NETWORKS, |on| {
                        [less(seconds(p, n, on), seconds("dh", n, on))]
                    })
                })
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "SpOT19-4",
        experiment: TABLE_2,
        says: "On a fast network, `spot-fast` takes several times as long as `kkrt`.",
        tables: &[TABLE_2],
        test: Relations(|| {
            vec![at_least(
                seconds("spot-fast", 20, LAN) / seconds("kkrt", 20, LAN),
                2.0,
            )]
        }),
        printed: Holds,
    },
    Claim {
        id: "SpOT19-5",
        experiment: TABLE_2,
        says: "At 10 and 1 Mbit/s `spot-fast` is the fastest; 1.8 times as fast as `kkrt` at 2^20 items and 10 Mbit/s.",
        tables: &[TABLE_2],
        test: Relations(|| {
            let slow = each(&[12, 16, 20], |n| {
                each(&NETWORKS[2..], |on| {
                    least("spot-fast", &ALL, |p| seconds(p, n, on))
                })
            });
            let on = NETWORKS[2];
            [
                slow,
                vec![about(
                    seconds("kkrt", 20, on) / seconds("spot-fast", 20, on),
                    1.8,
                )],
            ]
            .concat()
        }),
        printed: Holds,
    },
    Claim {
        id: "SpOT19-6",
        experiment: "spot19-figure-12",
        says: "`spot-fast` overtakes `kkrt` between 30 and 10 Mbit/s.",
        tables: &[TABLE_2],
        test: Relations(|| {
            each(&[16, 20], |n| {
                let of = |p: &str, on| seconds(p, n, on);
                let narrow = break_even("kkrt", "spot-fast", ["30mbps,80ms", "10mbps,80ms"], of);
                let wide = break_even("kkrt", "spot-fast", ["100mbps,80ms", "10mbps,80ms"], of);
                [narrow, wide].concat()
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "SpOT19-7",
        experiment: "spot19-figure-10",
        says: "Between businesses `spot-fast` is the cheapest: 4 to 35 % below `kkrt` for 2^16 items, 10 to 40 % for 2^20.",
        tables: &[],
        test: Relations(|| {
            let saves = [
                saves(16, business, [0.04, 0.35]),
                saves(20, business, [0.1, 0.4]),
            ];
            [
                cheapest(16, business),
                cheapest(20, business),
                saves.concat(),
            ]
            .concat()
        }),
        printed: NotMeasured,
    },
    Claim {
        id: "SpOT19-8",
        experiment: "spot19-figure-11",
        says: "On the Internet it is 13 to 38 % cheaper for 2^16 items, and 30 to 40 % for 2^20.",
        tables: &[],
        test: Relations(|| {
            let saves = [
                saves(16, internet, [0.13, 0.38]),
                saves(20, internet, [0.3, 0.4]),
            ];
            saves.concat()
        }),
        printed: NotMeasured,
    },
    Claim {
        id: "SpOT19-9",
        experiment: "spot19-figure-11",
        says: "`spot-fast` is the cheapest everywhere.",
        tables: &[],
        test: Relations(|| {
            each(&[16, 20], |n| {
                [cheapest(n, business), cheapest(n, internet)].concat()
            })
        }),
        printed: NotMeasured,
    },
    Claim {
        id: "SpOT19-10",
        experiment: TABLE_2,
        says: "On a fast network `spot-low` is more than four times as fast as `dh`; the order is `kkrt`, `spot-fast`, `spot-low`, `dh`. Four \
               threads make `dh` and `spot-fast` about 3.4 times as fast, `spot-low` 1.5 times.",
        tables: &[TABLE_2],
        test: Relations(|| {
            let sizes = each(&[12, 16, 20], |n| {
                let of = |p: &str| seconds(p, n, LAN);
                let ordered = order(&["kkrt", "spot-fast", "spot-low", "dh"], of);
                [ordered, vec![at_least(of("dh") / of("spot-low"), 4.0)]].concat()
            });
            let gains = each(
                &[("dh", 3.4), ("spot-fast", 3.4), ("spot-low", 1.5)],
                |(p, factor)| [about(gain(p), factor)],
            );
            [sizes, gains].concat()
        }),
        printed: Holds,
    },
];
