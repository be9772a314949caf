//! Experiments and their cells.

use std::collections::BTreeSet;

use psijoin::{OutputKind, registry};
use psijoin_forecast::Duplex;
use psijoin_lab::{
    Circumstances, Kind, Ours,
    experiments::{self, Cell, EXPERIMENTS, NOT_COMPARED},
    published,
};

use crate::made_up::measured;

fn cells(experiment: &str, ours: &Ours) -> Vec<Cell> {
    experiments::find(experiment).unwrap().cells(ours)
}

fn is(cell: &Cell, protocol: &str, log2: u32, network: Option<&str>, metric: &str) -> bool {
    (&*cell.protocol, cell.sender_items) == (protocol, 1 << log2)
        && (cell.network.as_deref(), &*cell.metric) == (network, metric)
}

#[test]
fn every_published_table_is_compared_or_has_a_reason() {
    let nothing = measured(&[]);
    let ours = Ours::new(&nothing);
    let shown: BTreeSet<_> = EXPERIMENTS.iter().flat_map(|one| one.tables()).collect();
    let reasons: BTreeSet<_> = NOT_COMPARED.iter().map(|(name, _)| *name).collect();
    assert!(shown.is_disjoint(&reasons));
    let all = published::tables().iter().map(|table| table.name);
    let all = all.chain(published::parameters().iter().map(|table| table.name));
    assert_eq!(
        shown.union(&reasons).copied().collect::<BTreeSet<_>>(),
        all.collect()
    );
    for experiment in EXPERIMENTS {
        let cells = experiment.cells(&ours);
        assert!(
            !cells.is_empty() || experiment.name == "cm20-figure-6",
            "{}",
            experiment.name
        );
    }
}

#[test]
fn every_printed_figure_is_in_a_cell_once() {
    let nothing = measured(&[]);
    let ours = Ours::new(&nothing);
    for experiment in EXPERIMENTS {
        let rows = experiment.tables().filter_map(published::find);
        let rows: usize = rows.map(|table| table.rows.len()).sum();
        let cells = experiment.cells(&ours);
        let printed = cells.iter().filter(|cell| cell.printed.is_some());
        if rows > 0 {
            assert_eq!(printed.count(), rows, "{}", experiment.name);
        }
    }
}

#[test]
fn time_is_predicted_on_the_network_of_the_row() {
    let measured = measured(&[("kkrt", 2.0)]);
    let cells = cells("cm20-table-2", &Ours::new(&measured));
    let find = |network, metric| {
        let mut cells = cells
            .iter()
            .filter(|cell| is(cell, "kkrt", 20, network, metric));
        cells.next().unwrap()
    };
    let [sent, received] = ["sender_bytes", "receiver_bytes"].map(|metric| find(None, metric));
    assert_eq!([sent.kind, received.kind], [Some(Kind::Exact); 2]);
    let bytes = sent.ours.unwrap() + received.ours.unwrap();
    let slow = find(Some("10mbps,80ms"), "seconds");
    // Both compute, one after the other, and a message goes each way.
    let expected = 2.0 + 8.0 * bytes / 10e6 + 0.08;
    assert!(
        (slow.ours.unwrap() / expected - 1.0).abs() < 1e-6,
        "{slow:?} {expected}"
    );
    assert_eq!(
        (slow.kind, slow.published),
        (Some(Kind::Measured), Some(122.0))
    );
    assert!((slow.ratio().unwrap() - expected / 122.0).abs() < 1e-6);
}

#[test]
fn larger_sets_and_more_threads_are_extrapolated() {
    let measured = measured(&[("kkrt", 2.0), ("spot-fast", 2.0)]);
    let ours = Ours::new(&measured);
    let kinds = |experiment, protocol, log2, network, threads| {
        let cells = cells(experiment, &ours).into_iter().filter(|cell| {
            is(cell, protocol, log2, Some(network), "seconds") && cell.threads == Some(threads)
        });
        cells.map(|cell| cell.kind).collect::<Vec<_>>()
    };
    let lan = "20gbps,0.1ms";
    assert_eq!(
        kinds("cm20-table-2", "kkrt", 22, lan, 1),
        [Some(Kind::Extrapolated)]
    );
    assert_eq!(
        kinds("cm20-table-2", "kkrt", 18, lan, 1),
        [Some(Kind::Measured)]
    );
    let four = kinds("spot19-table-2", "spot-fast", 20, "10mbps,80ms", 4);
    assert_eq!(four, [Some(Kind::Far)]);
}

#[test]
fn large_sets_are_run_in_parts_and_small_ones_say_nothing_of_them() {
    let seconds = |measured: &_, log2| {
        let cells = cells("cm20-table-2", &Ours::new(measured));
        let mut cells = cells
            .into_iter()
            .filter(|cell| is(cell, "cm20", log2, Some("20gbps,0.1ms"), "seconds"));
        let cell = cells.next().unwrap();
        (cell.ours.unwrap(), cell.kind.unwrap())
    };
    // A part of 2^24 items has 1.4 million, and there are twelve.
    let all = measured(&[("cm20", 2.0)]);
    let ((part, _), (whole, kind)) = (seconds(&all, 20), seconds(&all, 24));
    assert_eq!(kind, Kind::Extrapolated);
    assert!((15.5..17.0).contains(&(whole / part)), "{whole} {part}");
    let mut small = all.clone();
    small.profiles[0].runs.retain(|run| run.items[0] == 256);
    assert_eq!(seconds(&small, 16).1, Kind::Far);
}

#[test]
fn what_is_beyond_grows_as_the_work_does() {
    let measured = measured(&[("dh", 10.0)]);
    let mut small = measured.clone();
    // From two runs a power law would tell that more items take as long.
    for run in &mut small.profiles[0].runs {
        *run = run.taking([5.0; 2]);
    }
    let experiment = experiments::find("cm20-figure-6").unwrap();
    let needs = experiment.needs(1);
    assert!(needs.iter().any(|need| need.protocol == "dh"));
    let cells = cells("spot19-table-2", &Ours::new(&small));
    let of = |log2| {
        let mut cells = cells.iter().filter(|cell| {
            is(cell, "dh", log2, Some("10gbps,0.2ms"), "seconds") && cell.threads == Some(1)
        });
        cells.next().and_then(|cell| cell.ours)
    };
    let (known, beyond) = (of(20).unwrap(), of(24));
    // SpOT19 has no `dh` of 2^24 items.
    assert_eq!(beyond, None);
    assert!((10.0..11.0).contains(&known), "{known}");
}

#[test]
fn half_a_duplex_takes_longer_where_both_send() {
    let measured = measured(&[("dh", 0.1), ("kkrt", 0.1)]);
    let seconds = |duplex| {
        let circumstances = Circumstances {
            duplex,
            ..Circumstances::default()
        };
        let cells = cells("spot19-table-2", &Ours::under(circumstances, &measured));
        let mut cells = cells.into_iter().filter(|cell| {
            is(cell, "kkrt", 20, Some("10mbps,80ms"), "seconds") && cell.threads == Some(1)
        });
        cells.next().unwrap().ours.unwrap()
    };
    let [papers, half, full] = [None, Some(Duplex::Half), Some(Duplex::Full)].map(seconds);
    assert_eq!(papers, half, "the authors had one machine");
    assert!(full <= half);
}

#[test]
fn short_items_are_taken_as_they_are() {
    let nothing = measured(&[]);
    let cells = cells("kkrt16-table-1", &Ours::new(&nothing));
    let bits = |item_bits: &str| {
        let mut cells = cells.iter().filter(|cell| {
            cell.protocol == "pssz"
                && cell.sender_items == 1 << 20
                && cell.details["item_bits"] == item_bits
        });
        cells.next().unwrap().ours.unwrap()
    };
    // Two letters of 8 bits, six, and those of a digest.
    assert_eq!(
        [bits("32"), bits("64"), bits("128")],
        [512.0, 1536.0, 2048.0]
    );
}

#[test]
fn rows_of_parameters_have_plans_of_their_own() {
    let nothing = measured(&[]);
    let ours = Ours::new(&nothing);
    let columns = cells("cm20-table-1", &ours);
    let of = |rows: &str| {
        let mut cells = columns
            .iter()
            .filter(|cell| cell.details["m_as_printed"] == rows);
        cells.next().unwrap().ours.unwrap()
    };
    assert!(of("0.9n") > of("1.1n") && of("1.1n") > of("2n"));
    let fields = cells("spot19-figure-6", &ours);
    let of = |bound: &str| {
        let mut cells = fields
            .iter()
            .filter(|cell| cell.details["bad_poly"] == bound);
        cells.next().unwrap().ours.unwrap()
    };
    assert!(of("2^-80") > of("2^-40") + 40.0);
}

#[test]
fn letters_take_the_bits_of_the_formula() {
    let nothing = measured(&[]);
    let cells = cells("psz14-table-9", &Ours::new(&nothing));
    for cell in &cells[..8] {
        let [ours, printed] = [cell.ours, cell.published].map(Option::unwrap);
        // As many letters as spell an item, which is a whole number.
        assert!((0.99..1.2).contains(&(ours / printed)), "{cell:?}");
    }
    assert_eq!((cells[7].ours, cells[0].ours), (Some(0.25), Some(2.0)));
    assert_eq!((cells.len(), cells[8].ours, cells[8].kind), (9, None, None));
}

#[test]
fn bins_of_simple_hashing_have_a_proved_bound() {
    let nothing = measured(&[]);
    let cells = cells("psz14-table-10", &Ours::new(&nothing));
    let of = |metric: &str, c: &str| {
        let mut cells = cells.iter();
        let cell = cells.find(|cell| cell.metric == metric && cell.details["c"] == c);
        cell.unwrap().clone()
    };
    for c in ["0.25", "0.5", "1", "2", "4", "8"] {
        let ots = of("ots_per_nt", c);
        assert!((0.95..1.05).contains(&ots.ratio().unwrap()), "{ots:?}");
    }
    // docs/hashing.md has 2^-21.0 and 2^-9.6.
    let bound = |c| of("pfail", c).ours.unwrap().log2();
    assert!((bound("1") + 21.0).abs() < 0.1 && (bound("8") + 9.6).abs() < 0.1);
    assert_eq!(of("pfail", "1").ratio(), None);
}

#[test]
fn phases_are_told_if_they_were_measured() {
    let mut measured = measured(&[("kkrt", 3.0)]);
    let seconds = |measured: &_, metric| {
        let cells = cells("kkrt16-table-4", &Ours::new(measured));
        let lan = Some("10gbps,0.2ms");
        let mut cells = cells
            .iter()
            .filter(|cell| is(cell, "kkrt", 20, lan, metric));
        cells.next().unwrap().ours
    };
    assert_eq!(seconds(&measured, "offline_seconds"), None);
    for run in &mut measured.profiles[0].runs {
        let phase = |share: f64| run.taking([0, 1].map(|party| share * run.times(party)[0]));
        run.phases = Some(Box::new([phase(1.0 / 3.0), phase(2.0 / 3.0)]));
    }
    let [offline, online] =
        ["offline_seconds", "online_seconds"].map(|metric| seconds(&measured, metric).unwrap());
    assert!((1.0..1.02).contains(&offline), "{offline}");
    assert!((2.0..2.3).contains(&online), "{online}");
    let needs = experiments::find("kkrt16-table-4").unwrap().needs(1);
    assert!(needs.iter().any(|need| need.protocol == "kkrt"));
}

#[test]
fn memory_is_that_of_the_runs() {
    let mut measured = measured(&[("spot-low", 1.0)]);
    for run in &mut measured.profiles[0].runs {
        run.memory_bytes = [Some(run.items[0]), Some(3 * run.items[0])];
    }
    let cells = cells("spot19-memory", &Ours::new(&measured));
    let of = |metric: &str| {
        let mut cells = cells
            .iter()
            .filter(|cell| is(cell, "spot-low", 20, None, metric));
        cells.next().unwrap().ours.unwrap()
    };
    let both = ["sender_memory_bytes", "receiver_memory_bytes"].map(of);
    assert_eq!(both.map(f64::round), [1 << 20, 3 << 20].map(f64::from));
}

#[test]
fn money_follows_from_time_bytes_and_prices() {
    let measured = measured(&[("cm20", 3.0)]);
    let cells = cells("cm20-table-3", &Ours::new(&measured));
    let of = |metric: &str, setting: &str| {
        let mut cells = cells.iter().filter(|cell| {
            (&*cell.protocol, &*cell.metric) == ("cm20", metric)
                && cell.details["site"] == "Ohio-Virginia"
                && cell
                    .details
                    .get("place")
                    .is_none_or(|place| place.starts_with(setting))
        });
        cells.next().unwrap().ours.unwrap()
    };
    let sent = registry::find("cm20").unwrap();
    let request = psijoin::Request::rows(1 << 20, 1 << 20).unwrap();
    let sent = sent.plan(&request).unwrap().cost().total;
    let gb = f64::from(1 << 30);
    // Internet: the sender's machine and traffic, with its public address.
    let expected =
        1000.0 * (of("seconds", "") * 0.096 / 3600.0 + sent.sender_bytes as f64 / gb * 0.10);
    let usd = of("usd_per_1000_runs", "Internet");
    assert!((usd / expected - 1.0).abs() < 1e-9, "{usd} {expected}");
}

#[test]
fn later_protocols_stand_beside() {
    let nothing = measured(&[]);
    let ours = Ours::new(&nothing);
    let cells = cells("kkrt16-table-5", &ours);
    let later = cells.iter().filter(|cell| cell.protocol == "rr22");
    let later = Vec::from_iter(later);
    // A cell per size: the length of items makes no difference.
    assert_eq!(later.len(), 5);
    assert!(
        later
            .iter()
            .all(|cell| cell.kind == Some(Kind::Exact) && cell.printed.is_none())
    );
}

#[test]
fn parameters_are_those_of_plans() {
    let nothing = measured(&[]);
    let cells = cells("kkrt16-table-2", &Ours::new(&nothing));
    let code = cells
        .iter()
        .find(|cell| cell.metric == "k" && cell.sender_items == 1 << 20);
    let code = code.unwrap();
    assert_eq!((code.published, code.ours), (Some(448.0), Some(448.0)));
}

#[test]
fn needs_say_the_largest_sizes_and_no_more_threads_than_cores() {
    let needs = experiments::find("spot19-table-2").unwrap().needs(2);
    let of = |protocol: &str, threads| {
        let mut needs = needs
            .iter()
            .filter(|need| need.protocol == protocol && need.threads == threads);
        let need = needs.next().cloned();
        assert!(needs.next().is_none(), "{protocol}");
        need
    };
    assert_eq!(of("spot-fast", 1).unwrap().most_items, 1 << 24);
    assert!(of("spot-fast", 2).is_some() && of("spot-fast", 4).is_none());
    let needs = experiments::find("kk20-table-3").unwrap().needs(2);
    assert!(needs.iter().all(|need| need.output == OutputKind::Count));
}

#[test]
fn one_item_is_compared_with_a_set() {
    let nothing = measured(&[]);
    let all = cells("kk20-table-1", &Ours::new(&nothing));
    let bytes = |protocol: &str, item_bits: &str| {
        let mut cells = all.iter().filter(|cell| {
            is(cell, protocol, 16, None, "bytes") && cell.details["item_bits"] == item_bits
        });
        cells.next().unwrap().ours.unwrap()
    };
    assert!(all.iter().all(|cell| cell.receiver_items == 1));
    assert_eq!(bytes("kk20-psm", "32"), bytes("kk20-psm", "64"));
    let doubled = bytes("co18-psm", "64") / bytes("co18-psm", "32");
    assert!((1.8..3.2).contains(&doubled), "{doubled}");
    let needs = experiments::find("kk20-table-1").unwrap().needs(1);
    let of = |protocol: &str| {
        let own = needs.iter().filter(|need| need.protocol == protocol);
        Vec::from_iter(own.map(|need| need.variant.item_bits))
    };
    assert!(needs.iter().all(|need| need.variant.one_item));
    assert_eq!(of("kk20-psm"), [None]);
    assert_eq!(of("co18-psm"), [Some(32), Some(48), Some(64)]);
}

#[test]
fn hash_functions_of_a_table_are_bits_of_security() {
    let nothing = measured(&[]);
    let all = cells("kk20-table-2", &Ours::new(&nothing));
    let bytes = |functions: &str| {
        let mut cells = all.iter().filter(|cell| {
            is(cell, "kk20", 14, None, "bytes") && cell.details["bloom_hash_functions"] == functions
        });
        cells.next().unwrap().ours.unwrap()
    };
    assert!(bytes("40") < bytes("60") && bytes("60") < bytes("80"));
    let needs = experiments::find("kk20-table-2").unwrap().needs(1);
    let own = needs.iter().filter(|need| need.protocol == "kk20");
    let security = Vec::from_iter(own.map(|need| need.variant.statistical_bits));
    assert_eq!(security, [None, Some(60), Some(80)]);
}
