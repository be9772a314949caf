use psijoin_block::{Block, gf2k::Field};
use psijoin_channel::Channel;
use psijoin_ot::iknp::{self, Model};
use psijoin_params::{
    self as params, FailureBudget, Log2Prob,
    code::{near_collision, width_bits},
    sparse_ot::{self, Layout, SELECTOR_BITS},
};
use zeroize::Zeroizing;

use super::coefficients::packed_bytes;
use crate::{
    Context, Error, Parameter, Traffic,
    ot_matrix::{ReceiverMatrix, SenderMatrix},
};

/// How many slices a value may have. More than four are needed where a row has more than 504 bits.
const SLICES: [usize; 2] = [4, 5];

/// Words of a row that is not wide.
const ROW_WORDS: usize = 8;

/// The derived numbers of an extension.
#[derive(Debug, Clone)]
pub(crate) struct Extension {
    /// w.
    pub(crate) field_bits: u32,
    /// Polynomials for each set of points.
    pub(crate) slices: usize,
    /// Buckets of each set of points.
    pub(crate) buckets: usize,
}

impl Extension {
    /// Derives them. The failure budget: up to a half for the code distance, a 16th for points, a 64th
    /// for selectors.
    pub(crate) fn derive(layout: Layout, budget: &mut FailureBudget) -> Result<Self, Error> {
        let buckets = sparse_ot::buckets(layout, budget.share(1.0 / 64.0))?;
        budget.charge(
            "dependent selectors",
            sparse_ot::selector_failure(layout, buckets),
        )?;
        let code_bits = width_bits(layout.evaluations, budget.share(0.5))?;
        let (slices, field_bits) = smallest_field(layout, code_bits, budget)?;
        budget.charge("unfit points", unfit_points(layout, field_bits))?;
        let extension = Self {
            field_bits,
            slices,
            buckets: buckets as usize,
        };
        let width = extension.columns() as u32;
        budget.charge("code distance", near_collision(width, layout.evaluations))?;
        Ok(extension)
    }

    /// GF(2^w).
    pub(crate) fn field(&self) -> Field {
        Field::new(self.field_bits)
    }

    /// ℓ.
    pub(crate) fn columns(&self) -> usize {
        2 * self.slices * self.field_bits as usize
    }

    /// Whether a row, w bits a word, needs more than eight words.
    pub(crate) fn wide_rows(&self) -> bool {
        2 * self.slices > ROW_WORDS
    }

    /// Rows of the ordinary OT extension for each set of points.
    pub(crate) fn rows(&self) -> usize {
        self.buckets * SELECTOR_BITS as usize
    }

    /// Bytes of so many coefficients of one slice.
    pub(crate) fn coefficient_bytes(&self, count: usize) -> usize {
        packed_bytes(self.field_bits, count)
    }

    pub(crate) fn parameters(&self) -> [Parameter; 3] {
        [
            ("field bits", u64::from(2 * self.field_bits)),
            ("slices", self.slices as u64),
            ("buckets", self.buckets as u64),
        ]
        .map(|(name, value)| Parameter { name, value })
    }

    /// What the OTs take. The sender of the PSI is the receiver of the OTs.
    pub(crate) fn offline_cost<M: Model>(&self) -> Traffic {
        let columns = self.columns();
        Traffic {
            sender_bytes: iknp::SETUP_RECEIVER_BYTES + iknp::receiver_bytes::<M>(columns),
            receiver_bytes: iknp::SETUP_SENDER_BYTES + iknp::sender_bytes::<M>(columns),
            // With a check: its challenge and its answer.
            rounds: if M::CHECKED { 4 } else { 2 },
        }
    }

    /// Steps 1 and 2 of the sender: s, and one seed of each pair.
    pub(crate) fn choose<M: Model>(
        &self,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<SenderMatrix, Error> {
        context.phase("base OT");
        let mut ots = iknp::Receiver::<M>::setup(channel, &mut context.rng)?;
        let mut delta = Zeroizing::new(vec![Block::ZERO; self.columns().div_ceil(Block::BITS)]);
        context.rng.fill(&mut delta);
        let mut seeds = Zeroizing::new(vec![Block::ZERO; self.columns()]);
        ots.random(&delta, &mut seeds, channel)?;
        Ok(SenderMatrix::new(delta, &seeds, self.columns_per_word()))
    }

    /// Step 2 of the receiver: the seed pairs.
    pub(crate) fn offer<M: Model>(
        &self,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<ReceiverMatrix, Error> {
        context.phase("base OT");
        let mut ots = iknp::Sender::<M>::setup(channel, &mut context.rng)?;
        let mut seeds = Zeroizing::new(vec![[Block::ZERO; 2]; self.columns()]);
        ots.random(&mut seeds, channel)?;
        Ok(ReceiverMatrix::new(&seeds, self.columns_per_word()))
    }

    /// An element's halves lie in words of their own.
    fn columns_per_word(&self) -> usize {
        self.field_bits as usize
    }
}

/// The fewest slices, and then the smallest field, that make rows of at least `code_bits` with
/// points that are fit.
fn smallest_field(
    layout: Layout,
    code_bits: u32,
    budget: &FailureBudget,
) -> Result<(usize, u32), Error> {
    let share = budget.share(1.0 / 16.0);
    SLICES
        .into_iter()
        .flat_map(|slices| Field::widths().map(move |bits| (slices, bits)))
        .filter(|(slices, bits)| 2 * *slices as u32 * bits >= code_bits)
        .find(|(_, bits)| unfit_points(layout, *bits) <= share)
        .ok_or(Error::Parameters(params::Error::Unreachable {
            parameter: "field of points",
            share,
        }))
}

/// Points are cut from functions of the first 128 bits of a digest: these may be equal, and then
/// points and selectors are, or only the points.
fn unfit_points(layout: Layout, field_bits: u32) -> Log2Prob {
    let equal_blocks = sparse_ot::point_failure(layout, Block::BITS as u32);
    sparse_ot::point_failure(layout, 2 * field_bits).or(equal_blocks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use psijoin_params::{Security, two_choice};

    fn layout(polynomials: u64, capacity: u64, evaluations: u64) -> Layout {
        Layout {
            polynomials,
            capacity,
            evaluations,
        }
    }

    fn width(layout: Layout) -> usize {
        let mut budget = FailureBudget::new(Security::default());
        Extension::derive(layout, &mut budget).unwrap().columns()
    }

    /// SpOT19, Figure 6: 416, 420, …, 444 bits if the distance may take the whole budget. Here it
    /// has at most half of it, and a width is a multiple of eight.
    #[test]
    fn rows_are_hardly_wider_than_spot19s() {
        let published = [416, 420, 424, 428, 432, 436, 440, 444];
        for (log_n, published) in (10..=24).step_by(2).zip(published) {
            let width = width(layout(1, 1 << log_n, 1 << log_n));
            assert!(
                (published..=published + 11).contains(&width),
                "2^{log_n}: {width}"
            );
        }
    }

    /// SpOT19, Theorem 5: 430, 438, 446 bits.
    #[test]
    fn rows_of_spot_fast_are_hardly_wider_than_spot19s() {
        for (log_n, published) in [(16, 430), (20, 438), (24, 446)] {
            let n = 1_u64 << log_n;
            let share = FailureBudget::new(Security::default()).share(1.0 / 16.0);
            let shape = two_choice::shape(n, 40, share).unwrap();
            let width = width(layout(shape.bins.into(), shape.capacity.into(), 2 * n));
            assert!(
                (published..=published + 11).contains(&width),
                "2^{log_n}: {width}"
            );
        }
    }

    #[test]
    fn rows_are_wide_only_at_high_security() {
        for (sigma, evaluations, wide) in [
            (40, 1 << 26, false),
            (80, 1 << 10, false),
            (80, 1 << 26, true),
        ] {
            let mut budget = FailureBudget::new(Security::new(sigma).unwrap());
            let extension = Extension::derive(layout(1, 7, evaluations), &mut budget).unwrap();
            assert_eq!(extension.wide_rows(), wide, "{sigma}, {evaluations}");
        }
    }
}
