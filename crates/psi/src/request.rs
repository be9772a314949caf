//! The computation that both parties agree on.

use psijoin_channel::path::Path;
use psijoin_ot::BaseOts;
use psijoin_params::{FailureBudget, Security, Sizes, key_encapsulation};

use crate::{Error, OutputKind, Role, items};

/// Base OTs of a run, at most: eight batches of κ. Vector OLE, lookups, paths of either party,
/// products with the numbers of either party and a comparison, in a run of `rr22-circuit`, are
/// seven.
const MOST_BASE_OTS: u64 = 8 * Security::COMPUTATIONAL_BITS as u64;

/// The computation that both parties agreed on. Made by [`rows`](Self::rows), and changed by the
/// other methods:
///
/// ```
/// use psijoin_psi::{OutputKind, Request};
///
/// let request = Request::rows(1000, 2000)?.output(OutputKind::Count).min_intersection(50);
/// # Ok::<(), psijoin_psi::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// The number of distinct items of each party.
    pub sizes: Sizes,
    /// The bound on the probability of a statistical failure.
    pub security: Security,
    /// The output to be learned.
    pub output: OutputKind,
    /// If fewer items than this are shared, both learn that they are fewer, and nothing else.
    pub min_intersection: u64,
    /// The items of both parties are numbers of at most this many bits; they may be anything if
    /// this is `None`. Both promise it to each other, and a protocol may rely on it or not.
    pub item_bits: Option<u32>,
    /// The public-key cryptography of base OTs.
    pub base_ots: BaseOts,
    /// The network between the parties. A protocol that chooses among others goes by it; no
    /// protocol's plan depends on it.
    pub path: Path,
}

impl Request {
    /// Returns the receiver's shared rows, at the default security level.
    ///
    /// # Errors
    /// If a set is larger than [`Sizes::MAX_ITEMS`].
    pub fn rows(sender_items: u64, receiver_items: u64) -> Result<Self, Error> {
        let sizes = Sizes::new(sender_items, receiver_items)?;
        Ok(Self::of(sizes, Security::default()))
    }

    /// Returns the receiver's shared rows, for these sizes, at this security level.
    pub fn of(sizes: Sizes, security: Security) -> Self {
        Self {
            sizes,
            security,
            output: OutputKind::Rows,
            min_intersection: 0,
            item_bits: None,
            base_ots: BaseOts::default(),
            path: Path::default(),
        }
    }

    /// Sets what the receiver learns.
    #[must_use]
    pub fn output(self, output: OutputKind) -> Self {
        Self { output, ..self }
    }

    /// Promises that all items of both parties are numbers of at most this many bits, whose
    /// fingerprints are those of [`items::number`](crate::items::number). A protocol that gains
    /// from it takes them as they are ([`Plan::number_bits`](crate::Plan::number_bits)); all others
    /// digest them. So do sessions in parts.
    ///
    /// # Errors
    /// If that is not 1 to [`MAX_BITS`](crate::items::MAX_BITS), or a set has more items than there
    /// are numbers.
    pub fn numbers(self, bits: u32) -> Result<Self, Error> {
        if !(1..=items::MAX_BITS).contains(&bits) {
            return Err(Error::Misuse("items that are numbers have 1 to 64 bits"));
        }
        if u128::from(self.sizes.larger()) > 1 << bits {
            return Err(Error::Misuse(
                "a set has more items than there are numbers of so many bits",
            ));
        }
        Ok(Self {
            item_bits: Some(bits),
            ..self
        })
    }

    /// Withholds everything if fewer items than this are shared.
    #[must_use]
    pub fn min_intersection(self, min_intersection: u64) -> Self {
        Self {
            min_intersection,
            ..self
        }
    }

    /// Sets the public-key cryptography of base OTs. Only protocols that [rest on nothing
    /// else](crate::Protocol::is_post_quantum) are planned on [`BaseOts::MlKem`].
    #[must_use]
    pub fn base_ots(self, base_ots: BaseOts) -> Self {
        Self { base_ots, ..self }
    }

    /// Sets the path between the parties.
    #[must_use]
    pub fn path(self, path: Path) -> Self {
        Self { path, ..self }
    }

    /// Returns the failure budget of a run, charged for its base OTs.
    ///
    /// # Errors
    /// If they take all of it, which no security level allows.
    pub fn failure_budget(&self) -> Result<FailureBudget, Error> {
        let mut budget = FailureBudget::new(self.security);
        if self.base_ots == BaseOts::MlKem {
            let failure = key_encapsulation::parameter_set().failure(MOST_BASE_OTS);
            budget.charge("secret of a base OT", failure)?;
        }
        Ok(budget)
    }

    /// Returns whether the result follows from the sizes of the sets, which both parties know: a
    /// set is empty, a threshold is 0, or a threshold or a minimum exceeds the smaller set.
    pub fn is_decided(&self) -> bool {
        let most = self.sizes.smaller();
        most == 0
            || self.min_intersection > most
            || matches!(self.output, OutputKind::Threshold(least) if least == 0 || least > most)
    }

    /// Returns the number of numbers of [noise](crate::Context::noise) that a party brings: none if
    /// the result follows from the sizes, as then there is nothing to hide.
    pub fn noise(&self, role: Role) -> usize {
        match self.is_decided() {
            true => 0,
            false => self.output.noise(role),
        }
    }

    /// Returns the statistical failure of a run that was planned for this.
    pub fn bad_luck(&self, what: &'static str) -> Error {
        Error::BadLuck(what, self.security.statistical_bits())
    }
}
