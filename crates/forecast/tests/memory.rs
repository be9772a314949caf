//! Memory as it is listed and predicted, beside that of runs.

use std::sync::{Mutex, MutexGuard, PoisonError};

use psijoin_forecast::{Calibration, kind, listed_runs, measure_memory, measured_outputs};
use psijoin_psi::{Columns, Groups, OutputKind, Plan, Request};
use psijoin_psi_vole::rr22_circuit::RR22_CIRCUIT;
use psijoin_runtime::memory::ReportingAllocator;

#[global_allocator]
static ALLOCATOR: ReportingAllocator = ReportingAllocator;

/// Returns what other tests allocate would count, too: one after the other.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn plan(items: [u64; 2], output: OutputKind) -> Plan {
    let request = Request::rows(items[0], items[1]).unwrap();
    RR22_CIRCUIT.plan(&request.output(output)).unwrap()
}

fn predicted(plan: &Plan) -> [Option<f64>; 2] {
    let prediction = Calibration::shipped().predict(plan, 1);
    prediction.unwrap().memory_bytes
}

#[track_caller]
fn assert_close(found: [Option<f64>; 2], expected: [u64; 2], error: f64) {
    for (found, expected) in found.into_iter().zip(expected) {
        let ratio = found.unwrap() / expected as f64;
        assert!((ratio - 1.0).abs() < error, "{ratio} of {expected}");
    }
}

/// Of the smallest run that is listed, whose lookups are just more than one batch. If this fails,
/// protocols take other memory than before: list it again
/// (`cargo bench -p psijoin --bench forecast -- memory`).
#[test]
fn what_is_listed_is_what_runs_take() {
    let _alone = alone();
    let counts = listed_runs().iter().filter(|run| run.output == "count");
    let smallest = counts
        .min_by_key(|run| run.items.into_iter().max())
        .unwrap();
    let taken = measure_memory(&plan(smallest.items, OutputKind::Count)).unwrap();
    let taken = taken.map(|bytes| bytes.map(|bytes| bytes as f64));
    assert_close(taken, smallest.memory_bytes, 0.03);
}

/// Returns a plan of a run that is listed.
fn listed_plan(output: &str, items: [u64; 2]) -> Plan {
    let mut outputs = measured_outputs().into_iter();
    let output = outputs.find(|known| kind(known) == output).unwrap();
    plan(items, output)
}

#[test]
fn what_lies_between_is_interpolated_and_what_is_far_is_unknown() {
    let _alone = alone();
    for run in listed_runs().iter().filter(|run| run.items == [1 << 20; 2]) {
        let at = |items| predicted(&listed_plan(&run.output, [items; 2]));
        let (low, between, high) = (at(1 << 19), at(3 << 18), at(1 << 20));
        for party in [0, 1] {
            assert!(low[party] < between[party] && between[party] < high[party]);
        }
        assert!(at(1 << 24).iter().all(Option::is_some));
        assert_eq!(at((1 << 24) + 1), [None; 2]);
    }
}

/// As `psijoin calibrate` measures for a few seconds.
#[test]
fn an_own_calibration_with_small_runs_has_what_is_listed() {
    let _alone = alone();
    let mut own = Calibration::shipped().clone();
    for profile in &mut own.profiles {
        profile.runs.retain(|run| run.larger() <= 1 << 14);
    }
    for run in listed_runs() {
        let plan = listed_plan(&run.output, run.items);
        let prediction = own.predict(&plan, 1).unwrap();
        // Of unequal sets, the smaller one lies between own runs and listed ones.
        let error = match run.items[0] == run.items[1] {
            true => 1e-6,
            false => 0.2,
        };
        assert_close(prediction.memory_bytes, run.memory_bytes, error);
    }
}

/// Labels and columns of both parties, items, and bytes.
type CountedGroups = ([usize; 2], [usize; 2], u64, [u64; 2]);

/// Counted once each by `measure_memory`.
const GROUPS: [CountedGroups; 9] = [
    ([0, 16], [1, 0], 1 << 16, [121_729_296, 125_745_952]),
    ([16, 16], [1, 1], 1 << 16, [121_729_296, 125_745_952]),
    ([2, 0], [1, 1], 1 << 18, [171_025_492, 177_990_836]),
    ([0, 256], [1, 0], 1 << 18, [223_751_692, 226_868_380]),
    ([16, 16], [8, 8], 1 << 18, [245_145_870, 250_389_262]),
    ([2, 2], [8, 8], 1 << 19, [468_853_071, 479_339_343]),
    ([0, 2], [0, 0], 1 << 20, [394_283_030, 302_499_080]),
    ([0, 16], [1, 0], 1 << 20, [467_039_406, 375_347_712]),
    ([0, 256], [1, 0], 1 << 20, [550_631_918, 546_396_977]),
];

#[test]
fn groups_are_predicted_from_sums_and_what_they_hold() {
    let _alone = alone();
    let columns = |[sender, receiver]: [usize; 2]| Columns { sender, receiver };
    for (labels, added, items, bytes) in GROUPS {
        let groups = OutputKind::Groups(Groups {
            labels: columns(labels),
            columns: columns(added),
            least: 0,
            noisy: false,
        });
        assert_close(predicted(&plan([items; 2], groups)), bytes, 0.25);
    }
}
