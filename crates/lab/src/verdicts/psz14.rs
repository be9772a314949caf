//! PSZ14's conclusions.

use super::{
    claim::{
        Claim,
        Outcome::{DoesNotHold, Holds, NotMeasured, NotTestable},
        Test::{Impossible, Relations},
    },
    relation::{
        Relation, about, at_least, at_most, break_even, each, grows, least, less, order, within,
    },
    term::{Term, bytes, figure, seconds},
};
use psijoin_params::simple;

use crate::published::Metric;

const SIZES: [u32; 5] = [10, 12, 14, 16, 18];
const LAN: &str = "1gbps,0.4ms";
const WIFI: &str = "54mbps,0.4ms";
const MOBILE: &str = "3.6mbps,1s";
/// From the fastest to the slowest.
const NETWORKS: [&str; 5] = [LAN, WIFI, "25mbps,20ms", "10mbps,100ms", MOBILE];
const MBPS: [f64; 5] = [1000.0, 54.0, 25.0, 10.0, 3.6];
const CIRCUITS: [&str; 3] = ["circuit-yao", "circuit-gmw", "circuit-gmw-vector"];
const OTHERS: [&str; 6] = [
    "dh",
    "dh-ffdhe3072",
    "rsa",
    "gbf",
    "random-gbf",
    "psz-cuckoo",
];
const ALL: [&str; 9] = [
    "psz-cuckoo",
    "random-gbf",
    "gbf",
    "dh",
    "dh-ffdhe3072",
    "rsa",
    "circuit-yao",
    "circuit-gmw",
    "circuit-gmw-vector",
];

const TABLE_5: &str = "psz14-table-5";
const TABLE_6: &str = "psz14-table-6";
const TABLE_7: &str = "psz14-table-7";

fn lan(protocol: &str, log2: u32) -> Term {
    seconds(protocol, log2, LAN)
}

/// Returns the seconds times Mbit/s, of 2^16 items.
fn effective(protocol: &str, network: usize) -> Term {
    MBPS[network] * seconds(protocol, 16, NETWORKS[network])
}

fn speedup(protocol: &str) -> Term {
    figure(protocol, Metric::Speedup, 18, Some(LAN)).threads(4)
}

/// Claims that seconds × rate hardly changes from one network to all slower ones.
fn inverse_to_rate(protocol: &str, from: usize) -> Vec<Relation> {
    let slower = Vec::from_iter(from + 1..NETWORKS.len());
    each(&slower, |network| {
        [within(
            effective(protocol, network) / effective(protocol, from),
            0.75..=1.3,
        )]
    })
}

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "PSZ14-1",
        experiment: TABLE_6,
        says: "`dh` sends least.",
        tables: &[TABLE_6],
        test: Relations(|| each(&SIZES, |n| least("dh", &ALL, |p| bytes(p, n)))),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-2",
        experiment: TABLE_5,
        says: "Protocols on OT extension take less time and fewer bytes than circuits.",
        tables: &[TABLE_5, TABLE_6],
        test: Relations(|| {
            each(&SIZES, |n| {
                let beats = |p| {
                    [
                        least(p, &CIRCUITS, |p| lan(p, n)),
                        least(p, &CIRCUITS, |p| bytes(p, n)),
                    ]
                    .concat()
                };
                [beats("psz-cuckoo"), beats("random-gbf")].concat()
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-3",
        experiment: TABLE_5,
        says: "On a LAN, circuits are faster than blind RSA.",
        tables: &[TABLE_5],
        test: Relations(|| {
            each(&SIZES, |n| {
                each(&CIRCUITS, |p| [less(lan(p, n), lan("rsa", n))])
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-4",
        experiment: TABLE_7,
        says: "`psz-cuckoo` is faster than `dh` on every network, and `dh` faster than circuits.",
        tables: &[TABLE_7],
        test: Relations(|| {
            each(&NETWORKS, |network| {
                let of = |p: &str| seconds(p, 16, network);
                let circuits = least("dh", &["circuit-yao", "circuit-gmw-vector"], of);
                [vec![less(of("psz-cuckoo"), of("dh"))], circuits].concat()
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-5",
        experiment: "psz14-table-8",
        says: "The fastest takes 4.9 s for 2^18 items with four threads, and sends 78 MB.",
        tables: &["psz14-table-8", TABLE_6],
        test: Relations(|| {
            let mb = f64::from(1 << 20);
            let sent = at_most(bytes("psz-cuckoo", 18), 78.5 * mb);
            vec![at_most(lan("psz-cuckoo", 18).threads(4), 4.95), sent]
        }),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-6",
        experiment: "psz14-table-4",
        says: "Cuckoo hashing sends least; then simple hashing, balanced allocations, no hashing.",
        tables: &["psz14-table-4"],
        test: Relations(|| {
            order(
                &["psz-cuckoo", "psz-simple", "psz-balanced", "psz-none"],
                |p| bytes(p, 18),
            )
        }),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-7",
        experiment: "psz14-table-4",
        says: "Without hashing, bytes grow with the square of the size.",
        tables: &["psz14-table-4"],
        test: Relations(|| grows(&[14, 16, 18], 15.0..=17.0, |n| bytes("psz-none", n))),
        printed: NotMeasured,
    },
    Claim {
        id: "PSZ14-8",
        experiment: "psz14-table-4",
        says: "Balanced allocations send more than simple hashing.",
        tables: &["psz14-table-4"],
        test: Relations(|| vec![less(bytes("psz-simple", 18), bytes("psz-balanced", 18))]),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-9",
        experiment: TABLE_5,
        says: "Diffie-Hellman over a field is faster than blind RSA.",
        tables: &[TABLE_5],
        test: Relations(|| each(&SIZES, |n| [less(lan("dh-ffdhe3072", n), lan("rsa", n))])),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-10",
        experiment: TABLE_5,
        says: "Curves are three times as fast as fields (2.9 or more, as it is rounded).",
        tables: &[TABLE_5],
        test: Relations(|| {
            each(&SIZES, |n| {
                [at_least(lan("dh-ffdhe3072", n) / lan("dh", n), 2.9)]
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-11a",
        experiment: TABLE_6,
        says: "Circuits send more than all other protocols.",
        tables: &[TABLE_6],
        test: Relations(|| {
            each(&SIZES, |n| {
                each(&CIRCUITS, |c| {
                    each(&OTHERS, |p| [less(bytes(p, n), bytes(c, n))])
                })
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-11b",
        experiment: TABLE_5,
        says: "Of the circuits, plain GMW takes longest and sends most.",
        tables: &[TABLE_5, TABLE_6],
        test: Relations(|| {
            each(&SIZES, |n| {
                each(&["circuit-yao", "circuit-gmw-vector"], |p| {
                    [
                        less(lan(p, n), lan("circuit-gmw", n)),
                        less(bytes(p, n), bytes("circuit-gmw", n)),
                    ]
                })
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-11c",
        experiment: TABLE_5,
        says: "Vector triples save 40 % of the time and the bytes of GMW, for large sets.",
        tables: &[TABLE_5, TABLE_6],
        test: Relations(|| {
            each(&[16, 18], |n| {
                let ratio =
                    |of: fn(&str, u32) -> Term| of("circuit-gmw-vector", n) / of("circuit-gmw", n);
                [about(ratio(lan), 0.6), about(ratio(bytes), 0.6)]
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-11d",
        experiment: TABLE_5,
        says: "On a LAN, Yao is a little faster than GMW with vector triples, which sends two thirds.",
        tables: &[TABLE_5, TABLE_6],
        test: Relations(|| {
            let faster = less(lan("circuit-yao", 16), lan("circuit-gmw-vector", 16));
            let ratio = bytes("circuit-gmw-vector", 16) / bytes("circuit-yao", 16);
            vec![faster, about(ratio, 2.0 / 3.0)]
        }),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-11e",
        experiment: TABLE_5,
        says: "Yao's protocol runs out of memory at 2^18 items.",
        tables: &[],
        test: Impossible("It is about the authors' program and 4 GB of memory."),
        printed: NotTestable,
    },
    Claim {
        id: "PSZ14-11f",
        experiment: TABLE_5,
        says: "AES-NI would make Yao's protocol faster.",
        tables: &[],
        test: Impossible(
            "Ours uses it wherever there is one, so there is nothing to compare with.",
        ),
        printed: NotTestable,
    },
    Claim {
        id: "PSZ14-11g",
        experiment: TABLE_5,
        says: "On a LAN, circuits are faster than public keys over fields or RSA.",
        tables: &[TABLE_5],
        test: Relations(|| {
            each(&SIZES, |n| {
                each(&CIRCUITS, |c| {
                    least(c, &["dh-ffdhe3072", "rsa"], |p| lan(p, n))
                })
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-11h",
        experiment: TABLE_6,
        says: "GMW sends less than Yao.",
        tables: &[TABLE_6],
        test: Relations(|| {
            each(&SIZES, |n| {
                [less(bytes("circuit-gmw", n), bytes("circuit-yao", n))]
            })
        }),
        printed: DoesNotHold,
    },
    Claim {
        id: "PSZ14-12a",
        experiment: TABLE_5,
        says: "`random-gbf` is more than twice as fast as `gbf`, and sends a half to a third.",
        tables: &[TABLE_5, TABLE_6],
        test: Relations(|| {
            let ratio = |of: fn(&str, u32) -> Term| of("gbf", 18) / of("random-gbf", 18);
            vec![at_least(ratio(lan), 2.0), within(ratio(bytes), 2.0..=3.0)]
        }),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-12b",
        experiment: TABLE_5,
        says: "`random-gbf` takes 55 to 60 % less time than `gbf` at 2^18 items.",
        tables: &[TABLE_5],
        test: Relations(|| {
            vec![within(
                lan("random-gbf", 18) / lan("gbf", 18),
                0.395..=0.455,
            )]
        }),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-12c",
        experiment: TABLE_6,
        says: "`gbf` sends 1.9 to 3 times as much as `random-gbf`.",
        tables: &[TABLE_6],
        test: Relations(|| {
            each(&[14, 16, 18], |n| {
                [within(bytes("gbf", n) / bytes("random-gbf", n), 1.9..=3.0)]
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-12d",
        experiment: TABLE_5,
        says: "`psz-cuckoo` is about five times as fast as `random-gbf` (at least 4.5), with a tenth of the bytes (at least 9 times fewer).",
        tables: &[TABLE_5, TABLE_6],
        test: Relations(|| {
            each(&[16, 18], |n| {
                let ratio = |of: fn(&str, u32) -> Term| of("random-gbf", n) / of("psz-cuckoo", n);
                [at_least(ratio(lan), 4.45), at_least(ratio(bytes), 9.0)]
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-12e",
        experiment: TABLE_5,
        says: "`psz-cuckoo` is at least five times as fast as `random-gbf`, with at most a tenth of the bytes.",
        tables: &[TABLE_5, TABLE_6],
        test: Relations(|| {
            let ratio = |of: fn(&str, u32) -> Term| of("random-gbf", 18) / of("psz-cuckoo", 18);
            vec![at_least(ratio(lan), 5.0), at_least(ratio(bytes), 10.0)]
        }),
        printed: DoesNotHold,
    },
    Claim {
        id: "PSZ14-12f",
        experiment: TABLE_5,
        says: "A larger security parameter slows Bloom filters down, and `psz-cuckoo` not.",
        tables: &[],
        test: Impossible("Ours have one security parameter."),
        printed: NotTestable,
    },
    Claim {
        id: "PSZ14-12g",
        experiment: TABLE_7,
        says: "`psz-cuckoo` sends the least after `dh`, three times as much, and is faster on every network.",
        tables: &[TABLE_6, TABLE_7],
        test: Relations(|| {
            let others = ["rsa", "dh-ffdhe3072", "gbf", "random-gbf"];
            let second = least("psz-cuckoo", &others, |p| bytes(p, 18));
            let faster = each(&NETWORKS, |network| {
                [less(
                    seconds("psz-cuckoo", 16, network),
                    seconds("dh", 16, network),
                )]
            });
            let ratio = about(bytes("psz-cuckoo", 18) / bytes("dh", 18), 3.0);
            [second, faster, vec![ratio]].concat()
        }),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-12h",
        experiment: TABLE_5,
        says: "On a LAN `psz-cuckoo` is the fastest of all, and `random-gbf` the second, at 2^12 items and more.",
        tables: &[TABLE_5],
        test: Relations(|| {
            each(&SIZES[1..], |n| {
                let first = least("psz-cuckoo", &ALL, |p| lan(p, n));
                [first, least("random-gbf", &ALL[2..], |p| lan(p, n))].concat()
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-13",
        experiment: TABLE_7,
        says: "Break-even: `random-gbf` with `dh` from 25 to 10 Mbit/s, Yao with GMW from the LAN to WiFi; `psz-cuckoo` always wins, \
               and `dh` always beats circuits.",
        tables: &[TABLE_7],
        test: Relations(|| {
            let of = |p: &str, network| seconds(p, 16, network);
            let bloom = break_even("random-gbf", "dh", [NETWORKS[2], NETWORKS[3]], of);
            let circuits = break_even("circuit-yao", "circuit-gmw-vector", [LAN, WIFI], of);
            let always = each(&NETWORKS, |network| {
                let (of, circuits) = (
                    |p: &str| of(p, network),
                    ["circuit-yao", "circuit-gmw-vector"],
                );
                [least("psz-cuckoo", &ALL, of), least("dh", &circuits, of)].concat()
            });
            [
                bloom,
                circuits,
                always.into_iter().filter(is_of_table_7).collect(),
            ]
            .concat()
        }),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-14",
        experiment: TABLE_7,
        says: "`dh` hardly notices the network: at most 20 % from the LAN to a mobile network.",
        tables: &[TABLE_7],
        test: Relations(|| vec![at_most(seconds("dh", 16, MOBILE) / lan("dh", 16), 1.2)]),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-15",
        experiment: TABLE_7,
        says: "Yao takes six times as long on WiFi as on the LAN.",
        tables: &[TABLE_7],
        test: Relations(|| {
            vec![about(
                seconds("circuit-yao", 16, WIFI) / lan("circuit-yao", 16),
                6.0,
            )]
        }),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-16",
        experiment: TABLE_7,
        says: "GMW with vector triples and `random-gbf` take 2.3 times as long on WiFi.",
        tables: &[TABLE_7],
        test: Relations(|| {
            each(&["circuit-gmw-vector", "random-gbf"], |p| {
                [about(seconds(p, 16, WIFI) / lan(p, 16), 2.3)]
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-17",
        experiment: TABLE_7,
        says: "From WiFi on, the time of circuits and `random-gbf` is inverse to the rate.",
        tables: &[TABLE_7],
        test: Relations(|| {
            each(&["circuit-yao", "circuit-gmw-vector", "random-gbf"], |p| {
                inverse_to_rate(p, 1)
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-18",
        experiment: TABLE_7,
        says: "On WiFi and slower networks, GMW with vector triples is more than twice as fast as Yao.",
        tables: &[TABLE_7],
        test: Relations(|| {
            each(&NETWORKS[1..], |network| {
                [at_least(
                    seconds("circuit-yao", 16, network)
                        / seconds("circuit-gmw-vector", 16, network),
                    2.0,
                )]
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-19",
        experiment: TABLE_7,
        says: "`psz-cuckoo` is the fastest on every network, and inverse to the rate from 25 Mbit/s on.",
        tables: &[TABLE_7],
        test: Relations(|| {
            let others = ["random-gbf", "dh", "circuit-yao", "circuit-gmw-vector"];
            let fastest = each(&NETWORKS, |network| {
                least("psz-cuckoo", &others, |p| seconds(p, 16, network))
            });
            [fastest, inverse_to_rate("psz-cuckoo", 2)].concat()
        }),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-20",
        experiment: "psz14-table-8",
        says: "With four threads, Diffie-Hellman gains most (3.5 times or more), then `psz-cuckoo`, `random-gbf`, and GMW (twice).",
        tables: &["psz14-table-8"],
        test: Relations(|| {
            let gains = [
                "circuit-gmw-vector",
                "random-gbf",
                "psz-cuckoo",
                "dh-ffdhe3072",
            ];
            let times = [
                "psz-cuckoo",
                "random-gbf",
                "dh-ffdhe3072",
                "circuit-gmw-vector",
            ];
            let by_time = order(&times, |p| lan(p, 18).threads(4));
            let two = [
                at_least(speedup("dh-ffdhe3072"), 3.5),
                about(speedup("circuit-gmw-vector"), 2.0),
            ];
            [order(&gains, speedup), by_time, two.into()].concat()
        }),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-21",
        experiment: TABLE_6,
        says: "OT extension is fastest on a fast network, but public keys send less.",
        tables: &[TABLE_5, TABLE_6],
        test: Relations(|| {
            each(&["dh", "dh-ffdhe3072", "rsa"], |p| {
                [
                    less(lan("psz-cuckoo", 18), lan(p, 18)),
                    less(bytes(p, 18), bytes("psz-cuckoo", 18)),
                ]
            })
        }),
        printed: DoesNotHold,
    },
    Claim {
        id: "PSZ14-22",
        experiment: TABLE_6,
        says: "Where only bytes count, `dh` is the best.",
        tables: &[TABLE_6],
        test: Relations(|| least("dh", &ALL, |p| bytes(p, 18))),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-23",
        experiment: TABLE_5,
        says: "Items of 64 bits take `psz-cuckoo` twice as long as items of 32 bits; `random-gbf` takes longer than either.",
        tables: &[],
        test: Relations(|| {
            let of = |bits| lan("psz-cuckoo", 18).item_bits(bits);
            let twice = about(of(64) / of(32), 2.0);
            let less = [32, 64].map(|bits| less(of(bits), lan("random-gbf", 18)));
            [vec![twice], less.into()].concat()
        }),
        printed: NotMeasured,
    },
    Claim {
        id: "PSZ14-24",
        experiment: "psz14-table-9",
        says: "Letters of 8 bits take the fewest bytes.",
        tables: &[],
        test: Relations(|| {
            each(&[1, 2, 3, 4, 5, 6, 7, 9], |bits| {
                [less(code(8), code(bits))]
            })
        }),
        printed: Holds,
    },
    Claim {
        id: "PSZ14-25",
        experiment: "psz14-table-10",
        says: "Bins of simple hashing, sized for c = 1, never overflow in 10^5 runs, and c = 1 is the largest such c.",
        tables: &[],
        test: Relations(|| {
            // Bins and room of the paper's Table 10, for 2^18 items and alpha = 2.
            let [one, two] = [(1, 25_805, 37), (2, 13_754, 50)];
            vec![at_most(overflows(one), 1.0), at_least(overflows(two), 1.0)]
        }),
        printed: Holds,
    },
];

/// Returns the bits of OT extension for each bit of an item, with letters of so many bits: of a
/// code that separates all letters by 128 bits, by the formula of Table 9.
fn code(letter_bits: u32) -> Term {
    let length = 256_u32.max(1 << letter_bits);
    let bits = f64::from(length) / f64::from(letter_bits);
    let name = format!("bits of OT extension for a bit, with letters of {letter_bits}");
    Term::Named(name, Box::new(Term::Number(bits)))
}

/// Returns a bound on how many of 10^5 tables overflow, of simple hashing with these bins and
/// places in each, for 2^18 items.
fn overflows((c, bins, capacity): (u32, u32, u32)) -> Term {
    let failure = simple::failure(1 << 18, simple::Shape { bins, capacity });
    let expected = 1e5 * failure.log2().exp2();
    let name = format!("tables of 10^5 that overflow with c = {c}");
    Term::Named(name, Box::new(Term::Number(expected)))
}

/// Returns whether it is of Table 7, which leaves out the slow ones.
fn is_of_table_7(relation: &Relation) -> bool {
    let left_out = ["gbf", "rsa", "dh-ffdhe3072", "circuit-gmw"];
    let mut quantities = relation.quantities().into_iter();
    quantities.all(|quantity| !left_out.contains(&&*quantity.protocol))
}
