use psijoin_block::{blake3_rows, tower::Tower};
use psijoin_encode::okvs::RowHasher;
use psijoin_ot::iknp::Model;
use psijoin_params::okvs::Shape;

use crate::{Input, items::words};

/// What both expand from the joint seed.
pub struct Functions {
    /// An item's row in the store and its value there, H_B: independent words of one function.
    pub(super) rows: RowHasher,
    output_key: [u8; 32],
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
            output_key: input.joint_key("psijoin 2026 rr22 outputs"),
        }
    }

    /// H_o of values and the items that they belong to.
    pub fn outputs<const D: usize>(
        &self,
        values: &[Tower],
        digests: &[[u8; D]],
        outputs: &mut [u128],
    ) {
        match D {
            16 => self.hash::<D, 4>(values, digests, outputs),
            _ => self.hash::<D, 6>(values, digests, outputs),
        }
    }

    fn hash<const D: usize, const WORDS: usize>(
        &self,
        values: &[Tower],
        digests: &[[u8; D]],
        outputs: &mut [u128],
    ) {
        const BATCH: usize = 256;
        let mut rows = [[0; WORDS]; BATCH];
        let inputs = values.chunks(BATCH).zip(digests.chunks(BATCH));
        for ((values, digests), outputs) in inputs.zip(outputs.chunks_mut(BATCH)) {
            let rows = &mut rows[..values.len()];
            for (row, (value, digest)) in rows.iter_mut().zip(values.iter().zip(digests)) {
                *row = words(digest);
                row[WORDS - 2..].copy_from_slice(&[value.low.0, value.high.0]);
            }
            let outputs: &mut [[u64; 2]] = bytemuck::cast_slice_mut(outputs);
            blake3_rows::keyed_hash(&self.output_key, rows, outputs);
        }
    }
}
