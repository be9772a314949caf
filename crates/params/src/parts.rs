//! A large session as parts: how many, how large, and how secure each.
//!
//! A large session runs as k independent runs, its *parts*. A salted hash chooses the part of an
//! item, so each part gets a binomial number of n items. That number would tell something about the
//! items, so each party fills each part up with random digests to a *capacity* that follows from n
//! and k alone.
//!
//! # What can fail
//!
//! - *A part gets more items than its capacity.* [`overflow`] is a union bound over all parts of
//!   a party: the binomial tail by its first term and a geometric series. Both parties
//!   together may take a sixteenth of the budget ([`OVERFLOW_SHARE`]).
//! - *A part fails.* Each is a run of its own, at a σ ([`Shape::security`]) at which all of them
//!   together keep within the rest. Its own budget counts the digests that fill it up as items.
//!
//! The probabilities are over the salt, which is drawn after both sets are fixed.
//!
//! # What results
//!
//! At σ = 40, 10^8 items in 70 parts: capacities of 1,438,139 items, 0.7 % more than the mean, and
//! σ = 46.2 per part. 10^9 items in 694 parts: 1,450,925 items, 0.7 % more, and σ = 49.5.

use crate::{Error, FailureBudget, Log2Prob, Security, Sizes, binomial::upper_tail, search::least};

/// The size of the parts into which a session is cut. Runs of half a million to two million items
/// take the least time per item: they work in the caches of a core, and their set-up is small
/// beside the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grain {
    /// Items of the larger set that a part is to have, about.
    pub items: u64,
    /// Up to this many items of the larger set, there is one run.
    pub most_in_one: u64,
}

/// For parts that give rows. The larger a part, the fewer bytes per item; at this size `rr22` takes
/// about 200 MB of memory per party.
pub const ROWS: Grain = Grain {
    items: 11 << 17,
    most_in_one: 1 << 21,
};

/// For parts that give shares, which take more memory per item.
pub const SHARES: Grain = Grain {
    items: 1 << 19,
    most_in_one: 1 << 20,
};

/// The bytes of payloads that a part carries, about, and the most that one run has. A party holds
/// its payloads of a part in memory while the part runs.
pub const PAYLOAD_BYTES: u64 = 1 << 26;

/// The most parts.
pub const MAX_PARTS: u32 = (Sizes::MAX_ITEMS / SHARES.items) as u32;

/// The share of the failure budget that overflowing parts may take.
pub const OVERFLOW_SHARE: f64 = 1.0 / 16.0;

/// Added to the logarithm (base 2) of the bound: rounding errors of factorials of 2^34, and the
/// bias of the choice of a part by a fraction of 2^64.
const SLACK_LOG2: f64 = 1.0 / 64.0;

/// The cut of a session into parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The number of parts.
    pub parts: u32,
    /// The number of items of each party in a part, with those that fill it up.
    pub capacities: Sizes,
    /// The security level of each part.
    pub security: Security,
}

/// Returns how many parts a session of these sizes has, one of them at least.
pub fn count(sizes: Sizes, grain: Grain) -> u32 {
    let larger = sizes.larger();
    match larger <= grain.most_in_one {
        true => 1,
        false => larger.div_ceil(grain.items) as u32,
    }
}

/// Returns how many parts it takes for each to carry few enough of these bytes of payloads, one of
/// them at least.
pub fn carrying(payload_bytes: u128) -> u32 {
    let parts = payload_bytes.div_ceil(PAYLOAD_BYTES.into());
    parts.clamp(1, MAX_PARTS.into()) as u32
}

/// Cuts a session into this many parts, and charges what overflowing takes.
///
/// # Errors
/// If the budget has too little left for that, or a part is too large for one run.
///
/// # Panics
/// Unless there are 2 to [`MAX_PARTS`] parts, and items of both parties.
pub fn shape(sizes: Sizes, parts: u32, budget: &mut FailureBudget) -> Result<Shape, Error> {
    assert!(
        (2..=MAX_PARTS).contains(&parts) && sizes.smaller() > 0,
        "two parts or more, of some items"
    );
    let share = budget.share(OVERFLOW_SHARE / 2.0);
    let capacity = |items| fewest_capacity(items, parts, share);
    let capacities = Sizes::new(capacity(sizes.sender())?, capacity(sizes.receiver())?)?;
    capacities.at_once()?;
    let either = overflow(sizes.sender(), parts, capacities.sender()).or(overflow(
        sizes.receiver(),
        parts,
        capacities.receiver(),
    ));
    budget.charge("overflow of a part", either)?;
    let all = budget.share(1.0 - OVERFLOW_SHARE);
    let one_of_all = Log2Prob::from_log2(-f64::from(parts).log2());
    Ok(Shape {
        parts,
        capacities,
        security: Security::of_a_part(all.and(one_of_all)),
    })
}

/// Returns a bound on any part of a party getting more than `capacity` of its items.
///
/// # Panics
/// Unless there are two parts or more.
pub fn overflow(items: u64, parts: u32, capacity: u64) -> Log2Prob {
    let one = upper_tail(items, capacity + 1, 1.0 / f64::from(parts));
    Log2Prob::from_log2(one.times(parts.into()).log2() + SLACK_LOG2)
}

/// Returns the smallest capacity at which no part overflows, except with a probability of at most
/// `share`.
fn fewest_capacity(items: u64, parts: u32, share: Log2Prob) -> Result<u64, Error> {
    let mean = items / u64::from(parts);
    least(mean..=items, |capacity| {
        overflow(items, parts, capacity) <= share
    })
    .ok_or(Error::Unreachable {
        parameter: "items of a part",
        share,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(items: u64, sigma: u32) -> (Shape, FailureBudget) {
        let sizes = Sizes::new(items, items).unwrap();
        let mut budget = FailureBudget::new(Security::new(sigma).unwrap());
        (
            shape(sizes, count(sizes, ROWS), &mut budget).unwrap(),
            budget,
        )
    }

    #[test]
    fn what_the_header_says() {
        for (items, expected) in [
            (100_000_000, (70, 1_438_139, 462)),
            (1_000_000_000, (694, 1_450_925, 495)),
            (Sizes::MAX_ITEMS, (11_916, 1_452_158, 536)),
        ] {
            let (shape, _) = cut(items, 40);
            let sigma = (-10.0 * shape.security.failure().log2()).round() as u32;
            assert_eq!((shape.parts, shape.capacities.sender(), sigma), expected);
        }
    }

    #[test]
    fn the_budget_is_kept_and_no_smaller_capacity_would_do() {
        for items in [ROWS.most_in_one + 1, 5_000_000, 1 << 30, Sizes::MAX_ITEMS] {
            for sigma in [40, 63, 80] {
                let (shape, budget) = cut(items, sigma);
                let parts = u128::from(shape.parts);
                let all = budget.total().or(shape.security.failure().times(parts));
                assert!(all <= Security::new(sigma).unwrap().failure(), "{all}");
                let capacity = shape.capacities.receiver();
                let share = budget.share(OVERFLOW_SHARE / 2.0);
                assert!(overflow(items, shape.parts, capacity) <= share);
                assert!(overflow(items, shape.parts, capacity - 1) > share);
            }
        }
    }

    /// Few against many: a part of the smaller set holds what may fall into one.
    #[test]
    fn sets_of_other_sizes_have_capacities_of_their_own() {
        let sizes = Sizes::new(1 << 24, 100).unwrap();
        let mut budget = FailureBudget::new(Security::default());
        let shape = shape(sizes, 16, &mut budget).unwrap();
        assert_eq!(shape.capacities, Sizes::new(1_056_389, 32).unwrap());
        let sizes = Sizes::new(1, 1 << 24).unwrap();
        let mut budget = FailureBudget::new(Security::default());
        assert_eq!(
            super::shape(sizes, 16, &mut budget)
                .unwrap()
                .capacities
                .sender(),
            1
        );
    }

    #[test]
    fn parts_begin_where_one_run_takes_longer() {
        let parts = |sender, receiver, grain| count(Sizes::new(sender, receiver).unwrap(), grain);
        for grain in [ROWS, SHARES] {
            let most = grain.most_in_one;
            assert_eq!([parts(0, 0, grain), parts(1, most, grain)], [1, 1]);
            assert_eq!(parts(most + 1, 1, grain), 2 + u32::from(grain == SHARES));
            assert!(parts(1, Sizes::MAX_ITEMS, grain) <= MAX_PARTS);
        }
    }

    /// Throws items into parts, and counts how often one of them gets too many.
    #[test]
    fn the_bound_is_close_to_what_happens() {
        const TRIALS: u32 = 20_000;
        let mut state = 1_u64;
        // SplitMix64: any generator without structure will do.
        let mut word = move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        for (items, parts) in [(40_u64, 2_u32), (300, 7), (100, 50)] {
            let share = Log2Prob::from_log2(-4.0);
            let capacity = fewest_capacity(items, parts, share).unwrap();
            let overflows = (0..TRIALS)
                .filter(|_| {
                    let mut counts = vec![0; parts as usize];
                    for _ in 0..items {
                        counts[((u128::from(word()) * u128::from(parts)) >> 64) as usize] += 1;
                    }
                    counts.iter().any(|count| *count > capacity)
                })
                .count();
            let bound = overflow(items, parts, capacity).log2().exp2() * f64::from(TRIALS);
            // Five standard deviations of what is expected. The union bound itself is at most a
            // few percent above it, as two parts seldom overflow at once.
            let deviation = 5.0 * bound.sqrt();
            assert!(
                (overflows as f64) < bound + deviation,
                "{overflows}, {bound}"
            );
            assert!(
                (overflows as f64) > 0.9 * bound - deviation,
                "{overflows}, {bound}"
            );
        }
    }
}
