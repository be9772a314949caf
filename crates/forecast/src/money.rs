//! The cost of a run in money, on machines that are rented by the hour.
//!
//! The formula is SpOT19's (section 6.2), the ratio [`Rates::y_over_x`] CM20's (section 5.2.2).
//! Prices come from files: those of the papers are [shipped](Prices::shipped), and
//! `prices/README.md` of this crate describes their format.

mod prices;

pub use prices::{PriceError, Prices, Region, Transfer};

/// The places of the parties, by names of regions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Setting {
    /// Both are in the cloud.
    BusinessToBusiness {
        /// The sender's region.
        sender: String,
        /// The receiver's region.
        receiver: String,
    },
    /// Only the sender is in the cloud, and only its costs count.
    Internet {
        /// The sender's region.
        sender: String,
    },
}

/// The cost of a second and of a byte.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Rates {
    /// The costs of the sender.
    pub sender: PartyRates,
    /// The costs of the receiver, if it is in the cloud.
    pub receiver: Option<PartyRates>,
}

/// The cost to a party of a second of computing, and of a byte that it sends.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PartyRates {
    /// For the machine.
    pub usd_per_second: f64,
    /// For outbound traffic, the public address included.
    pub usd_per_byte: f64,
}

impl Rates {
    /// Returns what a run costs both parties: how long it takes, and what each of them sends.
    pub fn usd(&self, seconds: f64, sender_bytes: u64, receiver_bytes: u64) -> f64 {
        let parties = self.in_the_cloud(sender_bytes, receiver_bytes);
        parties
            .map(|(party, bytes)| seconds * party.usd_per_second + bytes * party.usd_per_byte)
            .sum()
    }

    /// Returns CM20's y/x: the cost of a MB (2^20 bytes) of traffic over that of a second of
    /// computing.
    ///
    /// The mean over the parties in the cloud: of their machines, and of what they send, by bytes.
    /// So it depends on a protocol where the directions cost differently. Not a number if nothing
    /// is sent.
    pub fn y_over_x(&self, sender_bytes: u64, receiver_bytes: u64) -> f64 {
        let (mut machines, mut usd_per_second, mut sent, mut usd) = (0.0, 0.0, 0.0, 0.0);
        for (party, bytes) in self.in_the_cloud(sender_bytes, receiver_bytes) {
            machines += 1.0;
            usd_per_second += party.usd_per_second;
            sent += bytes;
            usd += bytes * party.usd_per_byte;
        }
        let y = usd / sent * f64::from(1 << 20);
        let x = usd_per_second / machines;
        y / x
    }

    /// Returns the parties that pay, and what they send.
    fn in_the_cloud(
        &self,
        sender_bytes: u64,
        receiver_bytes: u64,
    ) -> impl Iterator<Item = (PartyRates, f64)> {
        let receiver = self
            .receiver
            .map(|receiver| (receiver, receiver_bytes as f64));
        [Some((self.sender, sender_bytes as f64)), receiver]
            .into_iter()
            .flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn between(sender: &str, receiver: &str) -> Setting {
        Setting::BusinessToBusiness {
            sender: sender.into(),
            receiver: receiver.into(),
        }
    }

    pub(super) fn internet(sender: &str) -> Setting {
        Setting::Internet {
            sender: sender.into(),
        }
    }

    /// Returns an hour in which the sender sends 2 GB, and the receiver 3.
    fn usd(prices: &str, setting: &Setting) -> f64 {
        let prices = Prices::shipped(prices).unwrap();
        let gb = prices.gb_bytes;
        prices.rates(setting).unwrap().usd(3600.0, 2 * gb, 3 * gb)
    }

    #[track_caller]
    fn close(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value} for {expected}");
    }

    #[test]
    fn an_hour_with_two_and_three_gb_by_hand() {
        let machines = 0.096 + 0.101;
        let traffic = 2.0 * (0.02 + 0.01) + 3.0 * (0.086 + 0.01);
        close(
            usd("spot19", &between("virginia", "mumbai")),
            machines + traffic,
        );
        close(
            usd("spot19", &between("mumbai", "mumbai")),
            2.0 * 0.101 + 5.0 * 0.02,
        );
        close(usd("spot19", &internet("sao-paulo")), 0.153 + 2.0 * 0.26);
    }

    #[test]
    fn the_list_of_transfers_takes_precedence() {
        close(
            usd("cm20", &between("ohio", "virginia")),
            2.0 * 0.096 + 5.0 * 0.02,
        );
        close(
            usd("cm20", &between("ohio", "oregon")),
            2.0 * 0.096 + 5.0 * 0.03,
        );
    }

    #[test]
    fn the_ratio_by_hand() {
        let cm20 = Prices::shipped("cm20").unwrap();
        let ratio = |setting, sender, receiver| {
            let rates = cm20.rates(&setting).unwrap();
            rates.y_over_x(sender, receiver)
        };
        // One cent and one for the address per 1024 MB, 9.6 cents per 3600 s.
        let ohio = 0.02 / 1024.0 / (0.096 / 3600.0);
        close(ratio(between("ohio", "virginia"), 1, 1), ohio);
        close(ratio(between("ohio", "virginia"), 7, 1), ohio);
        // Three times as many bytes go where a GB costs 3 cents as where it costs 15.
        let mixed = (0.15 + 3.0 * 0.03) / 4.0 / 1024.0 / (0.108 / 3600.0);
        close(ratio(between("sydney", "oregon"), 1, 3), mixed);
        // The receiver's bytes cost nothing, and do not count.
        let out = 0.1 / 1024.0 / (0.112 / 3600.0);
        close(ratio(internet("paris"), 1, 100), out);
    }
}
