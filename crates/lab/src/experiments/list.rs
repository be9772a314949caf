//! All experiments.

use super::{
    Content::{self, Tables},
    Experiment, Show, Sweep,
    parameters::{
        Column, Items, Ours, Parameters, TABLE_10_ITEMS, as_derived, at_its_bound,
        ot_bits_by_item_bits, places_by_items, proved_failure, with_its_letters, with_its_rows,
    },
};
use crate::{
    published::{
        Metric::{
            BitsPerItem, Bytes, OfflineSeconds, OnlineSeconds, ReceiverMemoryBytes, Seconds,
            SenderMemoryBytes, UsdPer1000Runs,
        },
        Paper::{self, Cm20, Kk20, Kkrt16, Psz14, Spot19},
    },
    sites,
};

/// Every table and figure that compares something, by paper.
pub static EXPERIMENTS: &[Experiment] = &[
    table(
        Psz14,
        "psz14-table-1",
        "Time and bytes of 2^18 items",
        Tables(&["psz14-table-1"]),
        &[Show::Ratios],
    ),
    table(
        Psz14,
        "psz14-table-4",
        "Bytes by the way of hashing",
        Tables(&["psz14-table-4"]),
        &[Show::Ratios],
    ),
    table(
        Psz14,
        "psz14-table-5",
        "Time on a Gigabit LAN",
        Tables(&["psz14-table-5"]),
        &[Show::Ratios, Show::OverItems(Seconds)],
    ),
    table(
        Psz14,
        "psz14-table-6",
        "Bytes",
        Tables(&["psz14-table-6"]),
        &[Show::Ratios, Show::OverItems(Bytes)],
    ),
    table(
        Psz14,
        "psz14-table-7",
        "Time on five networks",
        Tables(&["psz14-table-7"]),
        &[Show::Ratios, Show::OverBandwidth(16)],
    ),
    table(
        Psz14,
        "psz14-table-8",
        "Time with four threads",
        Tables(&["psz14-table-8"]),
        &[Show::Ratios, Show::OverItems(Seconds)],
    ),
    table(
        Psz14,
        "psz14-table-9",
        "Bits of OT extension by the length of a letter",
        Content::Parameters(LETTERS),
        &[],
    ),
    table(
        Psz14,
        "psz14-table-10",
        "OTs and failures of simple hashing",
        Content::Parameters(SIMPLE),
        &[],
    ),
    table(
        Kkrt16,
        "kkrt16-table-1",
        "Bits of OT extension per instance",
        Tables(&["kkrt16-table-1"]),
        &[Show::Ratios],
    ),
    table(
        Kkrt16,
        "kkrt16-table-2",
        "Parameters of KKRT",
        Content::Parameters(KKRT),
        &[],
    ),
    table(
        Kkrt16,
        "kkrt16-table-3",
        "Time on a LAN and a WAN",
        Tables(&["kkrt16-table-3"]),
        &[Show::Ratios, Show::OverItems(Seconds)],
    ),
    table(
        Kkrt16,
        "kkrt16-table-4",
        "Time of the offline and the online phase",
        Tables(&["kkrt16-table-4"]),
        &[
            Show::Ratios,
            Show::OverItems(OfflineSeconds),
            Show::OverItems(OnlineSeconds),
        ],
    ),
    table(
        Kkrt16,
        "kkrt16-table-5",
        "Bytes",
        Tables(&["kkrt16-table-5"]),
        &[Show::Ratios, Show::OverItems(Bytes)],
    ),
    table(
        Spot19,
        "spot19-table-1",
        "Bits per item",
        Tables(&["spot19-table-1"]),
        &[Show::Ratios, Show::OverItems(BitsPerItem)],
    ),
    table(
        Spot19,
        "spot19-table-2",
        "Time and bytes on four networks, with one and four threads",
        Tables(&["spot19-table-2"]),
        &[Show::Ratios, Show::OverBandwidth(20)],
    ),
    table(
        Spot19,
        "spot19-figure-1",
        "Time against bytes of 2^20 items",
        Content::Sweep(FIGURE_1),
        &[Show::SecondsOverBytes],
    ),
    table(
        Spot19,
        "spot19-figure-6",
        "Bits of the field",
        Content::Parameters(FIGURE_6),
        &[],
    ),
    table(
        Spot19,
        "spot19-figure-10",
        "Money between businesses, between sites (Figure 9)",
        Content::Sweep(FIGURE_10),
        &[Show::Money],
    ),
    table(
        Spot19,
        "spot19-figure-11",
        "Money on the Internet, from sites (Figure 9)",
        Content::Sweep(FIGURE_11),
        &[Show::Money],
    ),
    table(
        Spot19,
        "spot19-figure-12",
        "Time on five networks",
        Content::Sweep(FIGURE_12),
        &[Show::OverBandwidth(20)],
    ),
    table(
        Spot19,
        "spot19-memory",
        "Peak memory (abstract; its figures are in the full version only)",
        Content::Sweep(MEMORY),
        &[
            Show::OverItems(SenderMemoryBytes),
            Show::OverItems(ReceiverMemoryBytes),
        ],
    ),
    table(
        Cm20,
        "cm20-table-1",
        "Parameters of CM20",
        Content::Parameters(CM20),
        &[],
    ),
    table(
        Cm20,
        "cm20-table-2",
        "Time and bytes on eight networks (also Figure 5)",
        Tables(&["cm20-table-2"]),
        &[Show::Ratios, Show::OverBandwidth(20), Show::FastestByItems],
    ),
    table(
        Cm20,
        "cm20-figure-6",
        "The cheapest by the price of traffic",
        Tables(&[]),
        &[
            Show::CheapestByPrice,
            Show::CostByPrice(20),
            Show::CostByPrice(24),
        ],
    ),
    table(
        Cm20,
        "cm20-table-3",
        "Money between regions (also Figure 7)",
        Tables(&["cm20-table-3"]),
        &[Show::Ratios, Show::Money],
    ),
    table(
        Kk20,
        "kk20-table-1",
        "Time and bytes of one item against a set",
        Tables(&["kk20-table-1"]),
        &[Show::Ratios],
    ),
    table(
        Kk20,
        "kk20-table-2",
        "The number of hash functions, as bits of statistical security",
        Tables(&["kk20-table-2"]),
        &[Show::Ratios],
    ),
    table(
        Kk20,
        "kk20-table-3",
        "Time and bytes of functions of an intersection (also Figure 1)",
        Tables(&["kk20-table-3"]),
        &[Show::Ratios, Show::OverItems(Seconds)],
    ),
    table(
        Kk20,
        "kk20-section-6",
        "Beside other protocols for functions of an intersection (also Figure 2)",
        Tables(&["kk20-section-6"]),
        &[Show::Ratios],
    ),
];

/// Published tables that are in no experiment, and why.
pub static NOT_COMPARED: &[(&str, &str)] = &[
    (
        "psz14-table-5-80bit",
        "Ours have a security of 128 bits only.",
    ),
    (
        "psz14-table-6-80bit",
        "Ours have a security of 128 bits only.",
    ),
    (
        "psz14-table-8-80bit",
        "Ours have a security of 128 bits only.",
    ),
    (
        "psz14-table-4-formulas",
        "The plans of psijoin calculate to the byte; Table 4 compares them with what the formulas give.",
    ),
    (
        "psz14-table-2",
        "Lengths of keys, which NIST recommended; ours have those of its second row, with SHA-256 and AES, and ristretto255 \
         (a curve of 253 bits) for K-283, as no well-kept library has curves over binary fields.",
    ),
    (
        "psz14-table-3",
        "Formulas for one step of `gbf` and `random-gbf`; Table 6 has the bytes that follow from them, beside those of our plans. \
         Calls of a hash function are no quantity of a plan.",
    ),
];

const fn table(
    paper: Paper,
    name: &'static str,
    title: &'static str,
    content: Content,
    shows: &'static [Show],
) -> Experiment {
    Experiment {
        name,
        title,
        paper,
        content,
        shows,
    }
}

const LETTERS: Parameters = Parameters {
    table: "psz14-table-9",
    protocol: "psz-cuckoo",
    items: Items::All(1 << 18),
    detail: Some("eta"),
    columns: &[Column {
        name: "coefficient_of_n_kappa_sigma",
        ours: Ours::OfPlan(ot_bits_by_item_bits),
    }],
    plan: with_its_letters,
};

const SIMPLE: Parameters = Parameters {
    table: "psz14-table-10",
    protocol: "psz-simple",
    items: Items::All(TABLE_10_ITEMS),
    detail: Some("c"),
    columns: &[
        Column {
            name: "ots_per_nt",
            ours: Ours::OfRow(places_by_items),
        },
        Column {
            name: "pfail",
            ours: Ours::OfRow(proved_failure),
        },
    ],
    plan: as_derived,
};

const KKRT: Parameters = Parameters {
    table: "kkrt16-table-2",
    protocol: "kkrt",
    items: Items::In("n"),
    detail: None,
    columns: &[
        Column {
            name: "s",
            ours: Ours::Product(&["stash places"]),
        },
        Column {
            name: "k",
            ours: Ours::Product(&["code bits"]),
        },
        Column {
            name: "v",
            ours: Ours::Product(&["mask bits"]),
        },
    ],
    plan: as_derived,
};

const FIGURE_6: Parameters = Parameters {
    table: "spot19-fig-6",
    protocol: "spot-low",
    items: Items::In("sender_items"),
    detail: Some("bad_poly"),
    columns: &[Column {
        name: "field_bits",
        ours: Ours::Product(&["field bits", "slices"]),
    }],
    plan: at_its_bound,
};

const CM20: Parameters = Parameters {
    table: "cm20-table-1",
    protocol: "cm20",
    items: Items::In("sender_items"),
    detail: Some("m_as_printed"),
    columns: &[Column {
        name: "w",
        ours: Ours::Product(&["columns"]),
    }],
    plan: with_its_rows,
};

/// The protocols of SpOT19's figures.
const COMPARED: &[&str] = &["kkrt", "dh", "spot-low", "spot-fast"];

const FIGURE_1: Sweep = Sweep {
    tables: &[],
    protocols: COMPARED,
    log2_items: &[20],
    places: sites::three_networks,
    metrics: &[Seconds, Bytes, UsdPer1000Runs],
};

const FIGURE_10: Sweep = Sweep {
    tables: &["spot19-fig-9"],
    protocols: COMPARED,
    log2_items: &[16, 20],
    places: sites::business,
    metrics: &[UsdPer1000Runs],
};

const FIGURE_11: Sweep = Sweep {
    tables: &["spot19-fig-9"],
    protocols: COMPARED,
    log2_items: &[16, 20],
    places: sites::internet,
    metrics: &[UsdPer1000Runs],
};

const FIGURE_12: Sweep = Sweep {
    tables: &["spot19-fig-12-setup"],
    protocols: COMPARED,
    log2_items: &[16, 20],
    places: sites::five_networks,
    metrics: &[Seconds],
};

const MEMORY: Sweep = Sweep {
    tables: &[],
    protocols: COMPARED,
    log2_items: &[12, 16, 20],
    places: sites::nowhere,
    metrics: &[SenderMemoryBytes, ReceiverMemoryBytes],
};
