//! The memory of runs that calibrations lack: of larger ones, and of groups.
//!
//! Memory is counted in allocated bytes, so that of one machine is that of any. What is listed in
//! `crates/forecast/memory.json` joins the runs of every [calibration](crate::Calibration), also of
//! a user's own, whose runs end where they would take long. Protocols that work in batches take
//! fewer bytes per item beyond the first of them, which smaller runs do not tell. The list is made
//! by `cargo bench -p psijoin --bench forecast -- memory`, which also counts the memory in the
//! shipped calibration again: predictions for unequal sizes take it from both files, so both must
//! be of one commit.

use std::sync::LazyLock;

use psijoin_psi::{Groups, Plan};
use serde::{Deserialize, Serialize};

/// The memory of one run, with one thread per party.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListedRun {
    /// The protocol's name.
    pub protocol: String,
    /// The [kind](crate::kind) of output.
    pub output: String,
    /// The items of the sender and of the receiver.
    pub items: [u64; 2],
    /// The most memory that they took beyond their input, in bytes.
    pub memory_bytes: [u64; 2],
}

/// Returns all that is listed.
pub fn listed_runs() -> &'static [ListedRun] {
    static LISTED: LazyLock<Vec<ListedRun>> = LazyLock::new(|| {
        serde_json::from_slice(include_bytes!("../memory.json")).expect("a test reads it")
    });
    &LISTED
}

/// Returns what is listed of a protocol with this kind of output.
pub(crate) fn listed(protocol: &str, kind: &str) -> impl Iterator<Item = &'static ListedRun> {
    (listed_runs().iter()).filter(move |run| run.protocol == protocol && run.output == kind)
}

/// Bytes of a block: an OT's message, a node of a tree, or its correction.
const BLOCK_BYTES: usize = 16;

/// Bytes of a number.
const NUMBER_BYTES: usize = 8;

/// Bytes of a lane while groups are added up, beside its tree and its numbers: what is left of the
/// equality tests and of the receiver's table, OTs for products, and the marks of leaves.
const OTHER_BYTES: usize = 120;

/// Returns the memory of a party of `plan`, which is for these groups, given that of a sum of a
/// column of the sender.
///
/// Up to the equality tests they take the same, but for what groups hold in each lane
/// (`psijoin_psi_functions::dpf`): two copies of an OT for its bit, and one for each bit of its
/// group's number; and a number for each further column of the sender, labels among them. Then
/// groups take more than a sum: two blocks for each bit, and each total is there twice while trees
/// grow, and nearly five times while products are made of it.
pub(crate) fn of_groups(plan: &Plan, groups: Groups, of_sum: f64) -> f64 {
    let (bits, totals) = (point_bits(groups) as usize, groups.totals());
    let further = groups.brought().sender.saturating_sub(1);
    let held = (2 + bits) * BLOCK_BYTES + further * NUMBER_BYTES;
    let growing = 2 * bits * BLOCK_BYTES + 2 * totals * NUMBER_BYTES;
    let multiplied = 5 * totals * NUMBER_BYTES;
    let of_lanes = |bytes: usize| (plan.share_places() * bytes) as f64;
    let adding_up = of_lanes(OTHER_BYTES + growing.max(multiplied));
    adding_up.max(of_sum + of_lanes(held))
}

/// Returns the number of bits of a group's number: those of the receiver's label, and above them
/// those of the sender's.
fn point_bits(groups: Groups) -> u32 {
    let labels = |count: usize| count.max(1).next_power_of_two();
    let points = labels(groups.labels.sender) * labels(groups.labels.receiver);
    points.ilog2().max(1)
}
