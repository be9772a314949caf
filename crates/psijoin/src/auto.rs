//! `auto`: takes the protocol that is likely to be the fastest for a request, over the path that
//! the parties have measured.
//!
//! **The rule.** Each candidate is planned, which gives its exact bytes. Its time is then taken to
//! be
//!
//! > half round trips · round trip / 2 + computing + transfer
//!
//! and the shortest time wins. Computing is a constant and a share per item of either party;
//! transfer is the bytes of each party over the rate of their direction, one after the other, less
//! what a protocol sends in both directions at once. `dh` computes while it sends in both
//! directions, so the longest of the three counts.
//!
//! | to be learned | candidates |
//! |---|---|
//! | rows | `dh`, `kkrt` or, for short items, `pssz`, `cm20`, `rr22` |
//! | a count | `dh`, `rr22-circuit` |
//! | anything else, or nothing if too few items are shared | `rr22-circuit` |
//!
//! `dh` needs one round trip and no set-up, and its computing grows fastest: it is for small sets.
//! To count, it also sends the fewest bytes, so it is for slow lines. `kkrt` has a small set-up,
//! and `rr22` sends least per item. `cm20` is for receivers with far fewer items than the sender:
//! it sends least per item of the sender without a large set-up. (`spot-low` sends as little there.
//! It would be faster by a tenth or more only at 10 Mbit/s and below.)
//!
//! **Short items.** If both parties promised that all items are [numbers](Request::numbers) of so
//! few bits that `pssz` sends less than `kkrt`, it takes its place. That is the hybrid of KKRT16
//! §6.3: [`kkrt-pssz`](KKRT_PSSZ), which can be asked for by name, too.
//!
//! **The constants** are the times of an Intel Xeon with AVX-512 IFMA, one thread per party. They
//! were fitted to runs of 2^8 to at most 2^20 items that were traced (`psijoin calibrate`) and
//! replayed over networks of 10 Gbit/s to 1 Mbit/s (`psijoin plan`). They are the same on all
//! machines, since both parties have to take the same protocol. Where computing decides, slower
//! machines would change to other protocols at somewhat other sizes. `docs/performance.md` has the
//! choices, and the times of all candidates, on a grid of sizes and networks.
//!
//! **Both parties take the same** without talking about it: they have told each other what they
//! measured, so they have the same [`Path`], and all arithmetic is with integers. The plan *is*
//! that of the protocol taken: its name, version and parameters are in the digest that the
//! handshake compares. Where nothing was measured, the path is the [default](Path::default).
//!
//! The hellos still name `auto`: a side that asks for `rr22` by name means something else than one
//! that leaves the choice open, and gets an error that tells it so.
//!
//! If base OTs are to be [by ML-KEM](Request::base_ots), `dh` is no candidate. The constants are
//! those of other base OTs: those by ML-KEM take the same time more in all others.
//!
//! Only protocols for semi-honest parties are candidates. Security against a party that cheats is
//! for people to decide, and `naive` protects nothing. So a party that lies about the network, or
//! whoever delays what passes on it, can make a run slower, and let it rest on another assumption,
//! but not protect against another kind of party.

use psijoin_channel::path::Path;
use psijoin_psi_ot::{cm20::CM20, kkrt::KKRT, pssz::PSSZ};
use psijoin_psi_pk::dh::DH;
use psijoin_psi_vole::{rr22::RR22, rr22_circuit::RR22_CIRCUIT};

use crate::{Adversary, BaseOts, Cost, Info, OutputKind, Protocol, Request, Sizes, parts};

/// Stands for the protocol that suits a request. It is not a protocol of its own, so it is not in
/// the list of [`PROTOCOLS`](crate::registry::PROTOCOLS).
pub static AUTO: Protocol = Protocol::choosing(&INFO, taken).withholding();

static INFO: Info = Info {
    name: "auto",
    summary: "the fastest for the output, the sizes and the network: dh, kkrt, cm20, rr22 or rr22-circuit",
    paper: "that of the protocol taken",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 1,
};

/// `kkrt-pssz`: the one of `kkrt` and `pssz` that sends less for the sizes and the items of a
/// request. KKRT16 §6.3 proposes such a hybrid, by the OTs alone. Like [`AUTO`], it is not in the
/// list of [`PROTOCOLS`](crate::registry::PROTOCOLS).
pub static KKRT_PSSZ: Protocol = Protocol::choosing(&KKRT_PSSZ_INFO, of_fewer_bytes)
    .computing(|output| matches!(output, OutputKind::Rows));

static KKRT_PSSZ_INFO: Info = Info {
    name: "kkrt-pssz",
    summary: "the one of kkrt and pssz that sends less for the items",
    paper: "KKRT16 §6.3",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 1,
};

/// Returns `pssz` if it sends less than `kkrt`, or else `kkrt`.
pub fn of_fewer_bytes(request: &Request) -> &'static Protocol {
    let sent = |protocol: &Protocol| Some(protocol.plan(request).ok()?.cost().total.total_bytes());
    // A digest has so many letters that `pssz` never sends less.
    let both = (request.item_bits).and_then(|_| sent(&PSSZ).zip(sent(&KKRT)));
    match both {
        Some((pssz, kkrt)) if pssz < kkrt => &PSSZ,
        _ => &KKRT,
    }
}

/// A protocol that may be taken, and what its runs take.
struct Candidate {
    protocol: &'static Protocol,
    /// One-way trips that somebody waits for.
    half_round_trips: u128,
    /// The computing time that does not depend on the sizes.
    fixed_micros: u128,
    /// The computing time per item of the sender, and of the receiver.
    item_nanos: [u128; 2],
    overlap: Overlap,
}

/// The work that is done at the same time.
enum Overlap {
    /// Nothing.
    None,
    /// Computing, and both directions.
    All,
    /// Bytes beyond those of the set-up, while the other party sends its part of the set-up.
    Setup { setup_bytes: u64, most_bytes: u64 },
}

static DH_RUNS: Candidate = Candidate {
    protocol: &DH,
    half_round_trips: 2,
    fixed_micros: 200,
    item_nanos: [5900, 7000],
    overlap: Overlap::All,
};

static KKRT_RUNS: Candidate = Candidate {
    protocol: &KKRT,
    half_round_trips: 4,
    fixed_micros: 3400,
    item_nanos: [120, 180],
    overlap: Overlap::None,
};

/// It is a candidate if items have one letter. Its computing is half of that of both parties for
/// two letters, as `docs/protocols/ot.md` has it at 2^20 items: permutations take most of it.
static PSSZ_RUNS: Candidate = Candidate {
    protocol: &PSSZ,
    half_round_trips: 4,
    fixed_micros: 3500,
    item_nanos: [415, 415],
    overlap: Overlap::None,
};

static CM20_RUNS: Candidate = Candidate {
    protocol: &CM20,
    half_round_trips: 4,
    fixed_micros: 3600,
    item_nanos: [300, 240],
    overlap: Overlap::None,
};

/// The store, and the sender's part of the vector OLE for larger sets, travel while the other party
/// sends its part. The set-up is that for values of 64 bits; narrower ones take up to 45 kB less.
static RR22_RUNS: Candidate = Candidate {
    protocol: &RR22,
    half_round_trips: 3,
    fixed_micros: 5600,
    item_nanos: [60, 160],
    overlap: Overlap::Setup {
        setup_bytes: 371_000,
        most_bytes: 173_000,
    },
};

/// Of its up to 145 flights, those beyond 17 are on their way while others are.
static RR22_CIRCUIT_RUNS: Candidate = Candidate {
    protocol: &RR22_CIRCUIT,
    half_round_trips: 17,
    fixed_micros: 12_000,
    item_nanos: [520, 3600],
    overlap: Overlap::None,
};

/// Returns the protocol that `auto` takes for this request, over its [path](Request::path).
pub fn taken(request: &Request) -> &'static Protocol {
    let candidates = candidates_for(request);
    let nanos = |candidate: &&Candidate| candidate.nanos(request).unwrap_or(u128::MAX);
    let fastest = match &candidates[..] {
        // Nothing has to be planned.
        [only] => Some(*only),
        several => several.iter().copied().min_by_key(nanos),
    };
    fastest.expect("there is one for any request").protocol
}

/// Returns all that `auto` may take for this request, whatever the sizes and the path.
pub fn candidates(request: &Request) -> impl Iterator<Item = &'static Protocol> {
    let candidates = candidates_for(request).into_iter();
    candidates.map(|candidate| candidate.protocol)
}

/// Returns whether it may be taken for keys of any kind, for any output, sizes and path.
pub(crate) fn is_candidate(info: &Info) -> bool {
    let all = [&FOR_ROWS[..], &FOR_COUNTS, &FOR_PAYLOADS, &FOR_THE_REST];
    let mut names = (all.into_iter().flatten()).map(|candidate| candidate.protocol.info().name);
    names.any(|name| name == info.name)
}

static FOR_ROWS: [&Candidate; 4] = [&RR22_RUNS, &CM20_RUNS, &KKRT_RUNS, &DH_RUNS];
static FOR_ROWS_OF_SHORT_ITEMS: [&Candidate; 4] = [&RR22_RUNS, &CM20_RUNS, &PSSZ_RUNS, &DH_RUNS];
static FOR_COUNTS: [&Candidate; 2] = [&RR22_CIRCUIT_RUNS, &DH_RUNS];
static FOR_PAYLOADS: [&Candidate; 2] = [&RR22_RUNS, &DH_RUNS];
static FOR_THE_REST: [&Candidate; 1] = [&RR22_CIRCUIT_RUNS];

fn candidates_for(request: &Request) -> Vec<&'static Candidate> {
    let candidates: &[&Candidate] = match request.output {
        _ if request.min_intersection > 0 => &FOR_THE_REST,
        OutputKind::Rows if of_fewer_bytes(request).info().name == PSSZ.info().name => {
            &FOR_ROWS_OF_SHORT_ITEMS
        }
        OutputKind::Rows => &FOR_ROWS,
        OutputKind::Payloads(_) => &FOR_PAYLOADS,
        OutputKind::Count => &FOR_COUNTS,
        _ => &FOR_THE_REST,
    };
    let mut candidates = candidates.to_vec();
    if request.base_ots == BaseOts::MlKem {
        candidates.retain(|candidate| candidate.protocol.is_post_quantum());
    }
    candidates
}

impl Candidate {
    /// Returns the likely time of a run; `None` if there can be none.
    fn nanos(&self, request: &Request) -> Option<u128> {
        let plan = parts::plan(self.protocol, request).ok()?;
        plan.feasible().ok()?;
        let runs = plan.parts().map_or(1, |parts| parts.shape.parts.into());
        let round_trip = u128::from(request.path.round_trip_micros) * 1000;
        let waiting = self.half_round_trips * round_trip / 2;
        Some(waiting + self.busy_nanos(runs, request.sizes, plan.cost(), request.path))
    }

    /// Returns the time of computing and the line in this number of runs, one after the other.
    fn busy_nanos(&self, runs: u128, sizes: Sizes, cost: Cost, path: Path) -> u128 {
        let [sender_item, receiver_item] = self.item_nanos;
        let computing = runs * self.fixed_micros * 1000
            + sender_item * u128::from(sizes.sender())
            + receiver_item * u128::from(sizes.receiver());
        let [to_receiver, to_sender] = path.bits_per_second;
        let bytes = cost.total;
        let sender = transfer_nanos(bytes.sender_bytes, to_receiver);
        let receiver = transfer_nanos(bytes.receiver_bytes, to_sender);
        match self.overlap {
            Overlap::None => computing + sender + receiver,
            Overlap::All => at_once(computing, sender.max(receiver)),
            Overlap::Setup {
                setup_bytes,
                most_bytes,
            } => {
                let beyond = bytes.total_bytes().saturating_sub(setup_bytes);
                let both_ways = beyond.min(most_bytes);
                computing + sender + receiver
                    - transfer_nanos(both_ways, to_receiver.max(to_sender))
            }
        }
    }
}

/// Returns the time of two that go on at once. If they are alike, each waits for the other now and
/// then: the fourth root of the sum of fourth powers is nearly what the planner predicts.
fn at_once(one: u128, other: u128) -> u128 {
    const UNIT: u128 = 1 << 10;
    let longer = one.max(other);
    let beside = one.min(other) * UNIT / longer.max(1);
    longer * (UNIT.pow(4) + beside.pow(4)).isqrt().isqrt() / UNIT
}

/// Returns the time that these bytes take at this rate.
fn transfer_nanos(bytes: u64, bits_per_second: u64) -> u128 {
    u128::from(bytes) * 8_000_000_000 / u128::from(bits_per_second.max(1))
}

#[cfg(test)]
mod tests {
    use psijoin_channel::{link::Link, path::FAST_BITS_PER_SECOND};
    use psijoin_forecast::{Calibration, Network};

    use super::*;
    use crate::{
        Columns, Fingerprint, Output, Plan, pair,
        planner::{Conditions, estimate},
        registry,
    };

    /// The networks of the papers, and some between.
    const NETWORKS: [&str; 10] = [
        "wan:10gbps,200us",
        "wan:10gbps,40ms",
        "wan:1gbps,1ms",
        "wan:1gbps,80ms",
        "wan:100mbps,10ms",
        "wan:100mbps,80ms",
        "wan:50mbps,96ms",
        "wan:10mbps,20ms",
        "wan:10mbps,80ms",
        "wan:1mbps,80ms",
    ];

    fn link(text: &str) -> Link {
        text.parse().unwrap()
    }

    fn request(sender_items: u64, receiver_items: u64, output: OutputKind) -> Request {
        let request = Request::rows(sender_items, receiver_items).unwrap();
        request.output(output)
    }

    /// Returns the name of the choice for equal sets.
    fn name_taken(items: u64, output: OutputKind, path: Path) -> &'static str {
        taken(&request(items, items, output).path(path)).info().name
    }

    fn plan(sender_items: u64, receiver_items: u64) -> Plan {
        AUTO.plan(&Request::rows(sender_items, receiver_items).unwrap())
            .unwrap()
    }

    /// Returns the largest powers of two at which each protocol is taken, from the smallest sets to
    /// the largest.
    fn changes(output: &OutputKind, path: Path) -> String {
        let names: Vec<_> = (0..=26)
            .map(|log_items| name_taken(1 << log_items, output.clone(), path))
            .collect();
        let mut from = 0;
        let stretches = names.chunk_by(|one, next| one == next).map(|alike| {
            from += alike.len();
            format!("{} to 2^{}", alike[0], from - 1)
        });
        stretches.collect::<Vec<_>>().join(", ")
    }

    fn path(network: &str) -> Path {
        match network {
            "unknown" => Path::default(),
            known => link(known).into(),
        }
    }

    #[test]
    fn the_network_decides_with_the_sizes() {
        let rows = [
            ("wan:10gbps,200us", "dh to 2^8, kkrt to 2^13, rr22 to 2^26"),
            ("wan:10gbps,40ms", "dh to 2^10, rr22 to 2^26"),
            ("wan:1gbps,1ms", "dh to 2^8, kkrt to 2^12, rr22 to 2^26"),
            ("wan:1gbps,80ms", "dh to 2^11, rr22 to 2^26"),
            ("wan:100mbps,10ms", "dh to 2^11, rr22 to 2^26"),
            ("wan:100mbps,80ms", "dh to 2^12, rr22 to 2^26"),
            ("wan:50mbps,96ms", "dh to 2^13, rr22 to 2^26"),
            ("wan:10mbps,20ms", "dh to 2^13, rr22 to 2^26"),
            ("wan:10mbps,80ms", "dh to 2^13, rr22 to 2^26"),
            ("wan:1mbps,80ms", "dh to 2^13, rr22 to 2^26"),
            ("unknown", "dh to 2^8, kkrt to 2^12, rr22 to 2^26"),
        ];
        for (network, expected) in rows {
            assert_eq!(
                changes(&OutputKind::Rows, path(network)),
                expected,
                "{network}"
            );
        }
    }

    #[test]
    fn counts_over_slow_lines_are_for_dh() {
        let counts = [
            ("wan:10gbps,200us", "dh to 2^10, rr22-circuit to 2^26"),
            ("wan:10gbps,40ms", "dh to 2^15, rr22-circuit to 2^26"),
            ("wan:1gbps,1ms", "dh to 2^11, rr22-circuit to 2^26"),
            ("wan:1gbps,80ms", "dh to 2^16, rr22-circuit to 2^26"),
            ("wan:100mbps,10ms", "dh to 2^16, rr22-circuit to 2^26"),
            ("wan:100mbps,80ms", "dh to 2^18, rr22-circuit to 2^26"),
            ("wan:50mbps,96ms", "dh to 2^26"),
            ("wan:10mbps,20ms", "dh to 2^26"),
            ("wan:10mbps,80ms", "dh to 2^26"),
            ("wan:1mbps,80ms", "dh to 2^26"),
            ("unknown", "dh to 2^11, rr22-circuit to 2^26"),
        ];
        for (network, expected) in counts {
            assert_eq!(
                changes(&OutputKind::Count, path(network)),
                expected,
                "{network}"
            );
        }
    }

    /// `dh` would tell the count of each part.
    #[test]
    fn in_parts_a_protocol_is_taken_that_counts_in_parts() {
        let taken_in_parts = |request: &Request| {
            let plan = parts::in_parts(&AUTO, request, 3).unwrap();
            plan.info().name
        };
        let count = request(100, 100, OutputKind::Count);
        assert_eq!(taken(&count).info().name, "dh");
        assert_eq!(taken_in_parts(&count), "rr22-circuit");
        assert_eq!(taken_in_parts(&request(100, 100, OutputKind::Rows)), "dh");
    }

    /// The choice takes at most a tenth longer than the best candidate, as both are predicted for
    /// the networks from measured runs.
    #[test]
    fn what_is_taken_is_nearly_the_best() {
        let exponents = (6..=22).step_by(2).map(|k| (k, k)).chain([
            (6, 12),
            (12, 6),
            (8, 14),
            (14, 8),
            (10, 20),
            (20, 10),
            (16, 20),
            (20, 16),
            (12, 22),
            (22, 12),
        ]);
        for (senders, receivers) in exponents {
            for output in [OutputKind::Rows, OutputKind::Count] {
                for network in NETWORKS {
                    let request = request(1 << senders, 1 << receivers, output.clone())
                        .path(link(network).into());
                    let ratio = ratio_to_the_best(&request, link(network));
                    assert!(
                        ratio <= 1.1,
                        "{output} of 2^{senders} and 2^{receivers} over {network}: {ratio:.3}"
                    );
                }
            }
        }
    }

    /// As the shipped calibration predicts it.
    fn ratio_to_the_best(request: &Request, link: Link) -> f64 {
        let conditions = Conditions {
            network: Network::from(link),
            calibration: Calibration::shipped(),
            threads: std::num::NonZeroUsize::MIN,
            memory: None,
            rates: None,
        };
        let taken = taken(request).info().name;
        let (mut best, mut takes) = (f64::INFINITY, f64::NAN);
        for candidate in candidates_for(request) {
            let estimate = estimate(candidate.protocol, request, &conditions);
            let estimate = estimate.expect("all candidates were measured");
            let seconds = estimate.forecast.seconds;
            best = best.min(seconds);
            if candidate.protocol.info().name == taken {
                takes = seconds;
            }
        }
        takes / best
    }

    /// KKRT16 Table 1: `pssz` is ahead where an item has one letter, of 256 bits.
    #[test]
    fn short_items_take_what_sends_less() {
        for log_items in [12, 16] {
            let of_bits = |bits| {
                let request = request(1 << log_items, 1 << log_items, OutputKind::Rows);
                let request = request.numbers(bits).unwrap();
                let plan = KKRT_PSSZ.plan(&request).unwrap();
                let slow = request.path(link("wan:100mbps,10ms").into());
                let candidates: Vec<_> = candidates(&slow).map(|it| it.info().name).collect();
                assert!(candidates.contains(&plan.info().name));
                plan.info().name
            };
            assert_eq!(of_bits(log_items + 5), "pssz", "2^{log_items}");
            assert_eq!(of_bits(log_items + 12), "kkrt", "2^{log_items}");
        }
        let digested = request(1 << 8, 1 << 8, OutputKind::Rows);
        assert_eq!(KKRT_PSSZ.plan(&digested).unwrap().info().name, "kkrt");
        let count = request(5, 5, OutputKind::Count);
        assert!(KKRT_PSSZ.serves(&count).is_err());
    }

    #[test]
    fn items_of_parts_are_digests_of_any_length() {
        let request = request(1 << 24, 1 << 24, OutputKind::Rows);
        let request = request.numbers(24).unwrap();
        assert_eq!(KKRT_PSSZ.plan(&request).unwrap().info().name, "pssz");
        let plan = parts::plan(&KKRT_PSSZ, &request).unwrap();
        assert!(plan.parts().is_some());
        assert_eq!(plan.info().name, "kkrt");
    }

    #[test]
    fn the_direction_that_is_slow_matters() {
        let path = |bits_per_second| Path {
            round_trip_micros: 20_000,
            bits_per_second,
        };
        // With so few items of the receiver, nearly all bytes of `dh` are the sender's, and they
        // are more than `cm20` sends.
        let [fast, slow] = [FAST_BITS_PER_SECOND, 2_000_000];
        let request = Request::rows(1 << 14, 1 << 8).unwrap();
        let with = |rates| taken(&request.clone().path(path(rates))).info().name;
        assert_eq!([with([fast, slow]), with([slow, fast])], ["dh", "cm20"]);
    }

    #[test]
    fn a_receiver_with_few_items_changes_the_choice() {
        for (sender, receiver, network, expected) in [
            (1 << 14, 1 << 8, "wan:10mbps,20ms", "cm20"),
            (1 << 12, 1 << 6, "wan:1mbps,80ms", "cm20"),
            (1 << 8, 1 << 14, "wan:10mbps,20ms", "rr22"),
            (1 << 14, 1 << 8, "wan:10gbps,200us", "kkrt"),
        ] {
            let request = Request::rows(sender, receiver).unwrap();
            let taken = taken(&request.path(link(network).into())).info().name;
            assert_eq!(taken, expected, "{sender}, {receiver}, {network}");
        }
    }

    #[test]
    fn the_path_changes_no_plan_of_a_protocol_that_was_named() {
        let request = Request::rows(1000, 1000).unwrap();
        let slow = request.clone().path(link("wan:1mbps,80ms").into());
        for protocol in registry::PROTOCOLS {
            let digest = |request| protocol.plan(request).unwrap().digest();
            assert_eq!(digest(&request), digest(&slow));
        }
    }

    #[test]
    fn an_empty_set_has_a_plan_that_sends_nothing() {
        for (senders, receivers) in [(0, 0), (0, 512), (1 << 20, 0)] {
            assert_eq!(plan(senders, receivers).cost().total.total_bytes(), 0);
        }
    }

    /// The digest is what the handshake compares.
    #[test]
    fn the_digest_is_that_of_the_protocol_that_is_taken() {
        for (items, expected) in [(10, "dh"), (2000, "kkrt"), (50_000, "rr22")] {
            let request = Request::rows(items, items).unwrap();
            let taken = registry::find(expected).unwrap();
            let taken = taken.plan(&request).unwrap();
            assert_eq!(plan(items, items).digest(), taken.digest());
        }
    }

    #[test]
    fn all_candidates_are_semi_honest_in_the_registry_and_can_do_what_they_are_candidates_for() {
        let columns = Columns::default();
        for output in [
            OutputKind::Rows,
            OutputKind::Count,
            OutputKind::Threshold(1),
            OutputKind::Sums(columns),
            OutputKind::Shares(columns),
        ] {
            for min_intersection in [0, 1] {
                let request = request(1, 1, output.clone()).min_intersection(min_intersection);
                for candidate in candidates_for(&request) {
                    let protocol = candidate.protocol;
                    assert_eq!(protocol.info().adversary, Adversary::SemiHonest);
                    let mut listed = registry::PROTOCOLS.iter();
                    assert!(listed.any(|listed| listed.info().name == protocol.info().name));
                    assert!(protocol.computes(&output));
                    assert!(min_intersection == 0 || protocol.withholds());
                }
            }
        }
    }

    #[test]
    fn functions_of_the_intersection_take_the_circuit_on_any_network() {
        let columns = Columns::default();
        for output in [
            OutputKind::Threshold(1),
            OutputKind::Sums(columns),
            OutputKind::Shares(columns),
        ] {
            for items in [0, 1, 1 << 20] {
                for network in NETWORKS {
                    let path = link(network).into();
                    assert_eq!(name_taken(items, output.clone(), path), "rr22-circuit");
                }
            }
        }
        for output in [OutputKind::Rows, OutputKind::Count] {
            let request = request(1, 1, output).min_intersection(1);
            assert_eq!(taken(&request).info().name, "rr22-circuit");
        }
    }

    #[test]
    fn a_path_that_cannot_be_is_no_reason_to_panic() {
        for (round_trip_micros, rate) in [(0, 0), (u64::MAX, 0), (0, u64::MAX)] {
            let path = Path {
                round_trip_micros,
                bits_per_second: [rate; 2],
            };
            let request = Request::rows(Sizes::MAX_AT_ONCE, Sizes::MAX_AT_ONCE).unwrap();
            taken(&request.path(path));
        }
    }

    #[test]
    fn its_plans_run() {
        let sets = |from: u32, to: u32| -> Vec<Fingerprint> {
            let number = |i: u32| *blake3::hash(&i.to_le_bytes()).as_bytes();
            (from..to).map(number).collect()
        };
        for (items, name) in [(200, "dh"), (600, "kkrt"), (20_000, "rr22")] {
            let plan = plan(items.into(), items.into());
            assert_eq!(plan.info().name, name);
            let outcome = pair::run(&plan, &sets(0, items), &sets(items - 7, 2 * items - 7));
            assert_eq!(outcome.unwrap().receiver, Output::Rows((0..7).collect()));
        }
    }
}
