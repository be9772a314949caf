//! psijoin's tables for n items of 32 bits each side, as the `psz` protocols take them: so large
//! that they fail with at most 2^-43, an eighth of 2^-40.

use psijoin_params::{Log2Prob, cuckoo, simple, two_choice};

/// Bits of the OTs for a place: 256 for each of four letters.
const PLACE_BITS: u64 = 1024;

/// Bits of a mask, about.
const MASK_BITS: u64 = 60;

fn share() -> Log2Prob {
    Log2Prob::from_log2(-43.0)
}

pub(crate) fn simple(n: usize) -> simple::Shape {
    simple::smallest(n as u64, share(), costs(n, 1)).expect("a shape")
}

/// Returns the shape of balanced allocations.
pub(crate) fn balanced(n: usize) -> two_choice::Shape {
    two_choice::smallest(n as u64, share(), costs(n, 2)).expect("a shape")
}

pub(crate) fn cuckoo(n: usize) -> cuckoo::Shape {
    let costs = cuckoo::Costs {
        bin_bits: PLACE_BITS,
        stash_bits: PLACE_BITS + MASK_BITS * n as u64,
    };
    cuckoo::smallest(n as u64, share(), costs).expect("a shape")
}

fn costs(n: usize, bins_per_item: u64) -> simple::Costs {
    simple::Costs {
        place_bits: PLACE_BITS,
        capacity_bits: bins_per_item * MASK_BITS * n as u64,
    }
}
