//! PSZ14, Table 4: places, and so OTs, of each hashing scheme.

use crate::{
    cuckoo::{most_left_over, two},
    ours, published,
    report::{Report, items},
    runs::Effort,
    simple::largest_loads,
    two_choice::greedy_loads,
};

/// A scheme as published, what was measured, and psijoin's.
struct Scheme {
    name: &'static str,
    /// As published: bins, and places of each or of the stash.
    bins: f64,
    room: f64,
    /// The largest of all runs.
    needed: usize,
    /// As published: all places.
    places: f64,
    our_bins: u32,
    our_room: u32,
    our_places: u64,
}

/// Sizes as published and the room that was needed, beside psijoin's sizes.
pub(crate) fn print(effort: Effort) {
    let mut rows = Vec::new();
    for (log_n, runs) in [(8, 10_000), (12, 1_000), (16, 100), (18, 20)] {
        let n = 1_usize << log_n;
        let runs = effort.runs(runs);
        for scheme in [simple(n, runs), balanced(n, runs), cuckoo(n, runs)] {
            rows.push([
                items(n),
                scheme.name.into(),
                (scheme.bins as u32).to_string(),
                format!("{:.1}", scheme.room),
                format!("{:.2}nt", scheme.places / n as f64),
                scheme.needed.to_string(),
                runs.to_string(),
                scheme.our_bins.to_string(),
                scheme.our_room.to_string(),
                format!("{:.2}nt", scheme.our_places as f64 / n as f64),
            ]);
        }
    }
    Report::table(
        "PSZ14, Table 4 and Appendix E: places of a bin (Cuckoo: of the stash), and the most that were \
         needed in all runs; psijoin's for 2^-43",
        [
            "items", "scheme", "bins", "room", "OTs", "needed", "runs", "psijoin", "room", "OTs",
        ],
        &rows,
    );
}

/// Measures simple hashing with c = 1.
fn simple(n: usize, runs: u64) -> Scheme {
    let bins = published::simple_bins(n, 1.0);
    let room = (published::d(1.0) + 1.0) * bins.ln();
    let ours = ours::simple(n);
    Scheme {
        name: "simple",
        bins,
        room,
        needed: largest_loads(runs, n, bins as u32).largest(),
        places: bins * room,
        our_bins: ours.bins,
        our_room: ours.capacity,
        our_places: ours.slots(),
    }
}

fn balanced(n: usize, runs: u64) -> Scheme {
    let room = published::balanced_capacity(n);
    let ours = ours::balanced(n);
    Scheme {
        name: "balanced",
        bins: n as f64,
        room,
        needed: greedy_loads(runs, n, n as u32).largest(),
        places: n as f64 * room,
        our_bins: ours.bins,
        our_room: ours.capacity,
        our_places: ours.slots(),
    }
}

fn cuckoo(n: usize, runs: u64) -> Scheme {
    let bins = published::two_function_bins(n);
    let room = published::PSZ14_STASH as f64;
    let ours = ours::cuckoo(n);
    Scheme {
        name: "Cuckoo",
        bins: bins.into(),
        room,
        needed: most_left_over(runs, n, bins, two).largest(),
        places: f64::from(bins) + room,
        our_bins: ours.bins,
        our_room: ours.stash,
        our_places: u64::from(ours.bins + ours.stash),
    }
}
