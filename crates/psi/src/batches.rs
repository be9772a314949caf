//! Items that need not be in memory all at once.

use std::borrow::Cow;

use psijoin_channel::joint_seed::JointSeed;
use psijoin_files::spill::Spill;

use crate::{Error, Items, Plan, Role};

/// A party's distinct items, some at a time.
pub trait Batches: Sync {
    /// Returns how many items all batches have.
    fn items(&self) -> u64;

    /// Returns the number of batches.
    fn batches(&self) -> usize;

    /// Returns the items of a batch, digested as [`Plan::items`] does. Each batch is asked for
    /// once, one after the other.
    ///
    /// # Errors
    /// If they cannot be had.
    fn batch(&self, number: usize) -> Result<Cow<'_, Items>, Error>;
}

/// All in one batch.
impl Batches for Items {
    fn items(&self) -> u64 {
        self.len() as u64
    }

    fn batches(&self) -> usize {
        1
    }

    fn batch(&self, _: usize) -> Result<Cow<'_, Items>, Error> {
        Ok(Cow::Borrowed(self))
    }
}

/// As [`Input`](crate::Input), of a party whose set need not fit into memory. Its messages do not
/// depend on the part of the set that memory holds, nor on how its items are cut into batches.
#[derive(Clone, Copy)]
pub struct BatchInput<'a> {
    /// Its items.
    pub items: &'a dyn Batches,
    /// As [`Input::joint_seed`](crate::Input::joint_seed).
    pub joint_seed: &'a JointSeed,
    /// The place of what the run keeps besides its items.
    pub spill: &'a Spill,
}

impl BatchInput<'_> {
    /// Calls `take` with the items of each batch.
    ///
    /// # Errors
    /// If a batch cannot be had, if the batches have more or fewer items than [`Batches::items`],
    /// if their digests do not have this length, or if `take` fails.
    pub fn each(
        &self,
        digest_bytes: usize,
        take: &mut dyn FnMut(&Items) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut left = self.items.items();
        for number in 0..self.items.batches() {
            let items = self.items.batch(number)?;
            if items.digest_bytes() != digest_bytes {
                return Err(Error::OTHER_DIGESTS);
            }
            let after = left.checked_sub(items.len() as u64);
            left = after.ok_or(Error::OTHER_NUMBER)?;
            take(&items)?;
        }
        match left {
            0 => Ok(()),
            _ => Err(Error::OTHER_NUMBER),
        }
    }

    /// Checks that it fits the plan, and that the folder has room for what the run keeps beyond the
    /// budget.
    pub(crate) fn check(&self, plan: &Plan, role: Role) -> Result<(), Error> {
        let Some(kept_bytes) = plan.kept_bytes(role) else {
            return Err(Error::Misuse("this plan takes all items at once"));
        };
        if self.items.items() != role.items(plan.request().sizes) {
            return Err(Error::OTHER_NUMBER);
        }
        Ok(self.spill.check_room(kept_bytes)?)
    }
}
