//! KKRT16's conclusions.

use super::{
    claim::{
        Claim,
        Outcome::{Holds, NotMeasured, NotTestable},
        Test::{Impossible, Relations},
    },
    relation::{Relation, about, at_least, at_most, each, less, within},
    term::{Term, bytes, figure, seconds},
};
use crate::published::Metric;

const SIZES: [u32; 5] = [8, 12, 16, 20, 24];
const LAN: &str = "10gbps,0.2ms";
const WAN: &str = "400mbps,96ms";

const TABLE_1: &str = "kkrt16-table-1";
const TABLE_3: &str = "kkrt16-table-3";
const TABLE_4: &str = "kkrt16-table-4";
const TABLE_5: &str = "kkrt16-table-5";

/// Returns the seconds of `pssz` for items of this many bits, over those of `kkrt`.
fn gain(bits: u32, log2: u32, network: &str) -> Term {
    seconds("pssz", log2, network).item_bits(bits) / seconds("kkrt", log2, network)
}

/// As [`gain`], in bytes.
fn gain_bytes(bits: u32, log2: u32) -> Term {
    bytes("pssz", log2).item_bits(bits) / bytes("kkrt", log2)
}

fn ot_bits(protocol: &str, log2: u32) -> Term {
    figure(protocol, Metric::OtBits, log2, None)
}

/// Returns the seconds of a phase of `kkrt`.
fn phase(metric: Metric, log2: u32, network: &str) -> Term {
    figure("kkrt", metric, log2, Some(network))
}

/// Returns the four factors of section 6.3.
fn factors(network: &str) -> Vec<Relation> {
    let known = [(64, 20, 2.8), (128, 20, 3.6), (64, 24, 2.3), (128, 24, 3.6)];
    each(&known, |(bits, log2, factor)| {
        [about(gain(bits, log2, network), factor)]
    })
}

/// Returns all lengths of items and sizes but the shortest items at the largest size.
fn usual() -> Vec<(u32, u32)> {
    let lengths = [32, 64, 128].into_iter();
    let cells = lengths.flat_map(|bits| SIZES.map(|log2| (bits, log2)));
    cells.filter(|cell| *cell != (32, 24)).collect()
}

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "KKRT16-1",
        experiment: TABLE_3,
        says: "`kkrt` is 3.1 to 3.6 times as fast as `pssz` for items of 128 bits and large sets.",
        tables: &[TABLE_3],
        test: Relations(|| {
            each(&[20, 24], |n| {
                each(&[LAN, WAN], |on| [at_least(gain(128, n, on), 3.1)])
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "KKRT16-2",
        experiment: TABLE_3,
        says: "It is at least 2.3 times as fast for items of 64 bits.",
        tables: &[TABLE_3],
        test: Relations(|| {
            each(&[20, 24], |n| {
                each(&[LAN, WAN], |on| [at_least(gain(64, n, on), 2.3)])
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "KKRT16-3",
        experiment: TABLE_3,
        says: "On the LAN, for 64 and 128 bits: 2.8 and 3.6 times at 2^20 items, 2.3 and 3.6 times at 2^24.",
        tables: &[TABLE_3],
        test: Relations(|| factors(LAN)),
        printed: Holds,
    },
    Claim {
        id: "KKRT16-4",
        experiment: TABLE_3,
        says: "The length of items makes no difference to `kkrt`.",
        tables: &[],
        test: Impossible(
            "Ours digests items first, so runs with items of any length are the same.",
        ),
        printed: NotTestable,
    },
    Claim {
        id: "KKRT16-5",
        experiment: TABLE_3,
        says: "`kkrt` takes 4.3 times as long as the insecure exchange of hashes, at 2^24 items.",
        tables: &[TABLE_3],
        test: Relations(|| {
            vec![at_most(
                seconds("kkrt", 24, LAN) / seconds("naive", 24, LAN),
                4.35,
            )]
        }),
        printed: Holds,
    },
    Claim {
        id: "KKRT16-6",
        experiment: TABLE_3,
        says: "`kkrt` takes a minute for 2^24 items, and `pssz` longer.",
        tables: &[TABLE_3],
        test: Relations(|| {
            let minute = at_most(seconds("kkrt", 24, LAN), 60.0);
            vec![minute, at_least(gain(128, 24, LAN), 1.0)]
        }),
        printed: Holds,
    },
    Claim {
        id: "KKRT16-7",
        experiment: TABLE_3,
        says: "`pssz` is faster for 2^24 items of 32 bits, and at no other size.",
        tables: &[TABLE_3],
        test: Relations(|| {
            each(&[LAN, WAN], |on| {
                let smaller = each(&SIZES[..4], |n| [at_least(gain(32, n, on), 1.0)]);
                [smaller, vec![at_most(gain(32, 24, on), 1.0)]].concat()
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "KKRT16-8",
        experiment: TABLE_3,
        says: "`kkrt` is faster than `pssz`, but for 2^24 items of 32 bits.",
        tables: &[TABLE_3],
        test: Relations(|| {
            each(&usual(), |(bits, n)| {
                each(&[LAN, WAN], |on| [at_least(gain(bits, n, on), 1.0)])
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "KKRT16-9",
        experiment: TABLE_3,
        says: "The factors are similar on the WAN.",
        tables: &[TABLE_3],
        test: Relations(|| factors(WAN)),
        printed: Holds,
    },
    Claim {
        id: "KKRT16-10",
        experiment: TABLE_3,
        says: "`naive` is faster than `kkrt`, which is faster than `pssz` with items of 128 bits.",
        tables: &[TABLE_3],
        test: Relations(|| {
            each(&SIZES, |n| {
                each(&[LAN, WAN], |on| {
                    [
                        less(seconds("naive", n, on), seconds("kkrt", n, on)),
                        at_least(gain(128, n, on), 1.0),
                    ]
                })
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "KKRT16-11",
        experiment: TABLE_3,
        says: "`dh` sends less than `kkrt`, and takes longer on a LAN.",
        tables: &[TABLE_3, TABLE_5],
        test: Relations(|| {
            each(&[16, 20], |n| {
                [
                    less(bytes("dh", n), bytes("kkrt", n)),
                    less(seconds("kkrt", n, LAN), seconds("dh", n, LAN)),
                ]
            })
        }),
        printed: NotMeasured,
    },
    Claim {
        id: "KKRT16-12",
        experiment: TABLE_4,
        says: "Most of the time is online for large sets, and offline for small ones.",
        tables: &[TABLE_4],
        test: Relations(|| {
            each(&[LAN, WAN], |on| {
                let of = |metric, n| phase(metric, n, on);
                let [offline, online] = [Metric::OfflineSeconds, Metric::OnlineSeconds];
                let large = each(&[20, 24], |n| [less(of(offline, n), of(online, n))]);
                let small = each(&[8, 12], |n| [less(of(online, n), of(offline, n))]);
                [large, small].concat()
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "KKRT16-13",
        experiment: TABLE_1,
        says: "`kkrt` sends more than `pssz` for 2^24 items of 32 bits only; counting OT extension alone, for 2^20, too.",
        tables: &[TABLE_1, TABLE_5],
        test: Relations(|| {
            let ots =
                |bits, n| ot_bits("pssz", n).item_bits(bits) / ot_bits("kkrt", n).item_bits(bits);
            let others = usual().into_iter().filter(|cell| *cell != (32, 20));
            let less_ots = each(&Vec::from_iter(others), |(bits, n)| {
                [at_least(ots(bits, n), 1.0)]
            });
            let more_ots = each(&[20, 24], |n| [at_most(ots(32, n), 1.0)]);
            // At 2^8 both figures are rounded to 0.04 MB or so.
            let cells = usual().into_iter().filter(|(_, n)| *n > 8);
            let less_bytes = each(&Vec::from_iter(cells), |(bits, n)| {
                [at_least(gain_bytes(bits, n), 1.0)]
            });
            [
                less_ots,
                more_ots,
                less_bytes,
                vec![at_most(gain_bytes(32, 24), 1.0)],
            ]
            .concat()
        }),
        printed: Holds,
    },
    Claim {
        id: "KKRT16-14",
        experiment: TABLE_5,
        says: "`kkrt` sends 2.9 to 3.3 times less than `pssz` for items of 128 bits and large sets.",
        tables: &[TABLE_5],
        test: Relations(|| each(&[16, 20, 24], |n| [within(gain_bytes(128, n), 2.85..=3.35)])),
        printed: Holds,
    },
    Claim {
        id: "KKRT16-15",
        experiment: TABLE_5,
        says: "`kkrt` sends 12.7 times as much as `naive` at 2^20 items, and 11.1 times at 2^24.",
        tables: &[TABLE_5],
        test: Relations(|| {
            each(&[(20, 12.7), (24, 11.1)], |(n, factor)| {
                [about(bytes("kkrt", n) / bytes("naive", n), factor)]
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "KKRT16-16",
        experiment: TABLE_1,
        says: "A hybrid can always take the better of `kkrt` and `pssz`, by n and the length of items: `kkrt-pssz`.",
        tables: &[],
        test: Relations(|| {
            // Those of the paper's table, and two where `pssz` sends less.
            let cells = [usual(), vec![(32, 24), (16, 12), (20, 16)]].concat();
            each(&cells, |(bits, n)| {
                ["kkrt", "pssz"].map(|other| {
                    let over = bytes("kkrt-pssz", n) / bytes(other, n);
                    at_most(over.item_bits(bits), 1.0)
                })
            })
        }),
        printed: NotMeasured,
    },
    Claim {
        id: "KKRT16-17",
        experiment: TABLE_1,
        says: "An oblivious PRF costs roughly as much as 3.5 OTs: its code is so much longer than 128 bits.",
        tables: &[TABLE_1],
        test: Relations(|| {
            each(&SIZES, |n| {
                let codes = (1.0 / 128.0) * ot_bits("kkrt", n).item_bits(128);
                let name = "code of `kkrt` over 128 bits".into();
                [about(Term::Named(name, Box::new(codes)), 3.5)]
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "KKRT16-18",
        experiment: TABLE_3,
        says: "Searching one set of masks instead of all takes a tenth less time.",
        tables: &[],
        test: Impossible("Ours always does so."),
        printed: NotTestable,
    },
];
