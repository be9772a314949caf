use crate::{Error, Log2Prob};

/// The security level of a run.
///
/// Computational security is fixed at κ = [`COMPUTATIONAL_BITS`](Self::COMPUTATIONAL_BITS);
/// the statistical parameter σ can be chosen: all failure events of a run together stay
/// below 2^-σ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Security {
    /// σ in hundredths of a bit: that of a part is not a whole number.
    hundredths: u32,
}

impl Security {
    /// κ: the bits that an attacker that can compute must guess.
    pub const COMPUTATIONAL_BITS: u32 = 128;

    /// Returns the level with σ = `statistical_bits`.
    ///
    /// # Errors
    /// Unless 40 ≤ σ ≤ 80.
    pub fn new(statistical_bits: u32) -> Result<Self, Error> {
        if !(40..=80).contains(&statistical_bits) {
            return Err(Error::StatisticalSecurity(statistical_bits));
        }
        Ok(Self {
            hundredths: 100 * statistical_bits,
        })
    }

    /// Returns the level of one part of a session: higher than what can be asked for, as all parts
    /// together must keep the session's. `share` is what each of them may take.
    pub(crate) fn of_a_part(share: Log2Prob) -> Self {
        Self {
            hundredths: (-100.0 * share.log2()).ceil() as u32,
        }
    }

    /// Returns σ; of a part, rounded down.
    pub fn statistical_bits(self) -> u32 {
        self.hundredths / 100
    }

    /// Returns 2^-σ: what all failure events of a run together may reach.
    pub fn failure(self) -> Log2Prob {
        Log2Prob::from_log2(-f64::from(self.hundredths) / 100.0)
    }
}

/// σ = 40.
impl Default for Security {
    fn default() -> Self {
        Self { hundredths: 4000 }
    }
}

/// The number of distinct items of each party. Both parties know both numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sizes {
    sender: u64,
    receiver: u64,
}

impl Sizes {
    /// The largest set that is supported, in [parts](crate::parts): 2^34 items.
    pub const MAX_ITEMS: u64 = 1 << 34;

    /// The largest set in one run: 2^26 items.
    pub const MAX_AT_ONCE: u64 = 1 << 26;

    /// Returns the sizes of the sender's and of the receiver's set, 0 ..= 2^34 each.
    ///
    /// # Errors
    /// If a set is larger than [`MAX_ITEMS`](Self::MAX_ITEMS).
    pub fn new(sender: u64, receiver: u64) -> Result<Self, Error> {
        for (party, items) in [("sender", sender), ("receiver", receiver)] {
            if items > Self::MAX_ITEMS {
                return Err(Error::TooManyItems { party, items });
            }
        }
        Ok(Self { sender, receiver })
    }

    /// Returns the number of items of the sender.
    pub fn sender(self) -> u64 {
        self.sender
    }

    /// Returns the number of items of the receiver.
    pub fn receiver(self) -> u64 {
        self.receiver
    }

    /// Returns the number of items of the smaller set: the most that can be shared.
    pub fn smaller(self) -> u64 {
        self.sender.min(self.receiver)
    }

    /// Returns the number of items of the larger set.
    pub fn larger(self) -> u64 {
        self.sender.max(self.receiver)
    }

    /// Checks that one run can serve these sizes.
    ///
    /// # Errors
    /// If a set is larger than [`MAX_AT_ONCE`](Self::MAX_AT_ONCE).
    pub fn at_once(self) -> Result<(), Error> {
        match self.larger() {
            items if items > Self::MAX_AT_ONCE => Err(Error::TooManyAtOnce { items }),
            _ => Ok(()),
        }
    }

    /// Returns the number of items of both parties together: at most 2^35.
    pub fn union(self) -> u64 {
        self.sender + self.receiver
    }

    /// Returns the number of pairs of a sender's and a receiver's item: at most 2^68.
    pub fn pairs(self) -> u128 {
        u128::from(self.sender) * u128::from(self.receiver)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_40_to_80_bits_of_statistical_security() {
        assert_eq!(Security::default().statistical_bits(), 40);
        assert_eq!(
            Security::new(80).unwrap().failure(),
            Log2Prob::from_log2(-80.0)
        );
        assert_eq!(Security::new(39), Err(Error::StatisticalSecurity(39)));
        assert_eq!(Security::new(81), Err(Error::StatisticalSecurity(81)));
    }

    #[test]
    fn accepts_sets_of_up_to_2_to_the_34() {
        let max = Sizes::MAX_ITEMS;
        assert_eq!(Sizes::new(0, 0).unwrap().union(), 0);
        assert_eq!(Sizes::new(max, max).unwrap().pairs(), 1 << 68);
        let refused = Sizes::new(0, max + 1).unwrap_err();
        assert_eq!(
            refused,
            Error::TooManyItems {
                party: "receiver",
                items: max + 1
            }
        );
        let refused = Sizes::new(max + 1, 0).unwrap_err();
        assert_eq!(
            refused,
            Error::TooManyItems {
                party: "sender",
                items: max + 1
            }
        );
    }

    #[test]
    fn one_run_serves_up_to_2_to_the_26() {
        let most = Sizes::MAX_AT_ONCE;
        assert_eq!(Sizes::new(most, most).unwrap().at_once(), Ok(()));
        for (sender, receiver) in [(most + 1, 1), (1, most + 1)] {
            let refused = Sizes::new(sender, receiver).unwrap().at_once();
            assert_eq!(refused, Err(Error::TooManyAtOnce { items: most + 1 }));
        }
    }
}
