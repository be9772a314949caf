use psijoin_block::tower::Tower;
use psijoin_encode::okvs::RowHasher;
use psijoin_ot::iknp::Model;
use psijoin_params::okvs::Shape;

use crate::{Input, output_hash::OutputHash};

/// What both expand from the joint seed.
pub struct Functions {
    /// An item's row in the store and its value there, H_B: independent words of one function.
    pub(crate) rows: RowHasher,
    output: OutputHash,
}

impl Functions {
    /// Both keys, from the joint seed of an input. Semi-honest parties fix their items before the
    /// seed is known, so that rows and H_B need only be pseudorandom.
    pub fn new<M: Model>(shape: Shape, input: &Input<'_>) -> Self {
        let key = input.joint_key("psijoin 2026 rr22 rows");
        Self {
            rows: match M::CHECKED {
                true => RowHasher::oracle(key, shape),
                false => RowHasher::pseudorandom(key, shape),
            },
            output: OutputHash(input.joint_key("psijoin 2026 rr22 outputs")),
        }
    }

    /// H_o of values and the items that they belong to.
    pub fn outputs<const D: usize>(
        &self,
        values: &[Tower],
        digests: &[[u8; D]],
        outputs: &mut [u128],
    ) {
        self.output.hash(values, digests, outputs);
    }
}
