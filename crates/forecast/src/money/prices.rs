//! Files of prices.

use std::{collections::BTreeMap, fs, path::Path, str::FromStr};

use psijoin_printable::{Quoted, Word};
use serde::Deserialize;

use super::{PartyRates, Rates, Setting};

/// The prices of a cloud at a date, in US dollars.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Prices {
    /// A short name.
    pub name: String,
    /// The source of the prices.
    pub source: String,
    /// The date of the prices.
    pub date: String,
    /// The type of machine: `m5.large`.
    pub machine: String,
    /// The processor that such a machine has: a second of another one is worth another price.
    pub processor: Option<String>,
    /// Bytes of a GB.
    pub gb_bytes: u64,
    /// The price of a GB that leaves through a public address, wherever it goes.
    pub public_address_usd_per_gb: f64,
    /// By name.
    pub regions: BTreeMap<String, Region>,
    /// The prices that take precedence over those of a region.
    #[serde(default, rename = "transfer")]
    pub transfers: Vec<Transfer>,
}

/// The prices in a region.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Region {
    /// The price of a machine.
    pub machine_usd_per_hour: f64,
    /// The price of a GB that is sent to the Internet.
    pub internet_usd_per_gb: f64,
    /// The price of a GB that is sent to the same region.
    pub same_region_usd_per_gb: Option<f64>,
    /// The price of a GB that is sent to another region.
    pub other_region_usd_per_gb: Option<f64>,
}

/// The price of traffic from one region to another.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Transfer {
    /// The region that sends.
    pub from: String,
    /// The region that receives.
    pub to: String,
    /// The price of a GB.
    pub usd_per_gb: f64,
}

/// The reason that there is no price.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PriceError {
    /// The file cannot be read.
    #[error("cannot read the prices in {path}: {source}")]
    File {
        /// Its path.
        path: String,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// A field is missing, unknown or of another type.
    #[error("invalid price file: {0}")]
    Form(#[from] toml::de::Error),
    /// A number makes no sense as a price.
    #[error("in the prices, {field} is {value}: it must be {expected}")]
    Number {
        /// The name of the field.
        field: String,
        /// The invalid value.
        value: f64,
        /// The values that are allowed.
        expected: &'static str,
    },
    /// A region has no prices.
    #[error(
        "the prices {} have no region {}; they have {known}",
        Quoted(.prices),
        Quoted(.region)
    )]
    Region {
        /// The prices.
        prices: String,
        /// The region that was asked for.
        region: String,
        /// All regions.
        known: String,
    },
    /// Two entries for the same direction.
    #[error(
        "the prices have two entries [[transfer]] from {} to {}: remove one",
        Quoted(.from),
        Quoted(.to)
    )]
    Twice {
        /// The region that sends.
        from: String,
        /// The region that receives.
        to: String,
    },
    /// There is no price for traffic between two regions.
    #[error(
        "the prices {} do not say what traffic from {} to {} costs: add {field} to [regions.{}], or a [[transfer]]",
        Quoted(.prices),
        Quoted(.from),
        Quoted(.to),
        Word(.from)
    )]
    Transfer {
        /// The prices.
        prices: String,
        /// The region that sends.
        from: String,
        /// The region that receives.
        to: String,
        /// The field of the region that would have the price.
        field: &'static str,
    },
}

/// The prices of the papers, and of a machine of today: name and file.
const SHIPPED: [(&str, &str); 3] = [
    ("spot19", include_str!("../../prices/spot19.toml")),
    ("cm20", include_str!("../../prices/cm20.toml")),
    ("m7i", include_str!("../../prices/m7i.toml")),
];

impl Prices {
    /// Returns the names of the prices that come with this crate.
    pub fn shipped_names() -> impl Iterator<Item = &'static str> {
        SHIPPED.iter().map(|(name, _)| *name)
    }

    /// Returns the prices of a paper, `spot19` or `cm20`, or of a machine of today, `m7i`; none if
    /// there are none of that name.
    pub fn shipped(name: &str) -> Option<Self> {
        let (_, text) = SHIPPED.iter().find(|(shipped, _)| *shipped == name)?;
        Some(text.parse().expect("a test reads all that is shipped"))
    }

    /// Returns the prices in a file. [`str::parse`] reads a text.
    ///
    /// # Errors
    /// If it cannot be read or its format is not that of `prices/README.md`.
    pub fn read(path: &Path) -> Result<Self, PriceError> {
        let text = fs::read_to_string(path).map_err(|source| PriceError::File {
            path: psijoin_printable::path(path),
            source,
        })?;
        text.parse()
    }

    /// Returns what a second and a byte cost the parties.
    ///
    /// # Errors
    /// If there is no such region, or no price for traffic between the two.
    pub fn rates(&self, setting: &Setting) -> Result<Rates, PriceError> {
        Ok(match setting {
            Setting::BusinessToBusiness { sender, receiver } => Rates {
                sender: self.party(sender, self.transfer(sender, receiver)?)?,
                receiver: Some(self.party(receiver, self.transfer(receiver, sender)?)?),
            },
            Setting::Internet { sender } => Rates {
                sender: self.party(sender, self.region(sender)?.internet_usd_per_gb)?,
                receiver: None,
            },
        })
    }

    fn party(&self, region: &str, out_usd_per_gb: f64) -> Result<PartyRates, PriceError> {
        let usd_per_gb = out_usd_per_gb + self.public_address_usd_per_gb;
        Ok(PartyRates {
            usd_per_second: self.region(region)?.machine_usd_per_hour / 3600.0,
            usd_per_byte: usd_per_gb / self.gb_bytes as f64,
        })
    }

    fn region(&self, name: &str) -> Result<&Region, PriceError> {
        self.regions.get(name).ok_or_else(|| PriceError::Region {
            prices: self.name.clone(),
            region: name.into(),
            known: Vec::from_iter(self.regions.keys().map(|name| Word(name).to_string()))
                .join(", "),
        })
    }

    /// Returns what a GB from one region to another costs, without the public address.
    fn transfer(&self, from: &str, to: &str) -> Result<f64, PriceError> {
        let region = self.region(from)?;
        self.region(to)?;
        let mut listed = self.transfers.iter();
        let listed = listed.find(|listed| listed.from == from && listed.to == to);
        let (field, usual) = if from == to {
            ("same_region_usd_per_gb", region.same_region_usd_per_gb)
        } else {
            ("other_region_usd_per_gb", region.other_region_usd_per_gb)
        };
        let price = listed.map(|listed| listed.usd_per_gb).or(usual);
        price.ok_or_else(|| PriceError::Transfer {
            prices: self.name.clone(),
            from: from.into(),
            to: to.into(),
            field,
        })
    }

    fn check(&self) -> Result<(), PriceError> {
        let wrong = |field, value, expected| PriceError::Number {
            field,
            value,
            expected,
        };
        if self.gb_bytes == 0 {
            return Err(wrong("gb_bytes".into(), 0.0, "a number of bytes"));
        }
        for (field, value) in self.numbers() {
            if !(value.is_finite() && value >= 0.0) {
                return Err(wrong(field, value, "0 or more"));
            }
        }
        self.check_transfers()
    }

    fn check_transfers(&self) -> Result<(), PriceError> {
        for (index, Transfer { from, to, .. }) in self.transfers.iter().enumerate() {
            self.region(from)?;
            self.region(to)?;
            let mut before = self.transfers[..index].iter();
            if before.any(|other| (&other.from, &other.to) == (from, to)) {
                let (from, to) = (from.clone(), to.clone());
                return Err(PriceError::Twice { from, to });
            }
        }
        Ok(())
    }

    /// Returns all prices, and where they stand.
    fn numbers(&self) -> Vec<(String, f64)> {
        let address = self.public_address_usd_per_gb;
        let mut numbers = vec![("public_address_usd_per_gb".into(), address)];
        for (name, region) in &self.regions {
            let fields = [
                ("machine_usd_per_hour", Some(region.machine_usd_per_hour)),
                ("internet_usd_per_gb", Some(region.internet_usd_per_gb)),
                ("same_region_usd_per_gb", region.same_region_usd_per_gb),
                ("other_region_usd_per_gb", region.other_region_usd_per_gb),
            ];
            let name = Word(name);
            let given =
                fields.map(|(field, price)| Some((format!("regions.{name}.{field}"), price?)));
            numbers.extend(given.into_iter().flatten());
        }
        for transfer in &self.transfers {
            let (from, to) = (Word(&transfer.from), Word(&transfer.to));
            let field = format!("usd_per_gb from {from} to {to}");
            numbers.push((field, transfer.usd_per_gb));
        }
        numbers
    }
}

impl FromStr for Prices {
    type Err = PriceError;

    fn from_str(text: &str) -> Result<Self, PriceError> {
        let prices: Self = toml::from_str(text)?;
        prices.check()?;
        Ok(prices)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::tests::{between, internet},
        *,
    };

    /// Returns the example of `prices/README.md`.
    fn example() -> &'static str {
        let (_, rest) = include_str!("../../prices/README.md")
            .split_once("```toml\n")
            .unwrap();
        rest.split_once("```").unwrap().0
    }

    #[test]
    fn all_that_is_shipped_and_the_example_can_be_read() {
        for name in Prices::shipped_names() {
            let prices = Prices::shipped(name).unwrap();
            assert!(prices.name == name && prices.processor.is_some());
        }
        assert!(Prices::shipped("today").is_none());
        let example: Prices = example().parse().unwrap();
        assert_eq!(example.gb_bytes, 1_000_000_000);
        let rates = example.rates(&between("own-cellar", "frankfurt")).unwrap();
        assert_eq!(rates.sender.usd_per_byte, 0.01 / 1e9);
    }

    #[test]
    fn says_which_field_is_wrong() {
        for (from, to, said) in [
            (
                "machine_usd_per_hour = 0.40",
                "",
                "missing field `machine_usd_per_hour`",
            ),
            ("gb_bytes", "gb_size", "unknown field `gb_size`"),
            (
                "machine = ",
                "machine = 8 #",
                "invalid type: integer `8`, expected a string",
            ),
            (
                "gb_bytes = 1_000_000_000",
                "gb_bytes = 0",
                "gb_bytes is 0: it must be a number of bytes",
            ),
            (
                "internet_usd_per_gb = 0.09",
                "internet_usd_per_gb = -0.09",
                "regions.frankfurt.internet_usd_per_gb is -0.09: it must be 0 or more",
            ),
            (
                "usd_per_gb = 0.0\n",
                "usd_per_gb = nan\n",
                "regions.own-cellar.internet_usd_per_gb is NaN",
            ),
            (
                "to = \"frankfurt\"",
                "to = \"franfurt\"",
                "no region `franfurt`; they have frankfurt, own-cellar",
            ),
        ] {
            let text = example().replace(from, to);
            assert_ne!(text, example(), "{from}");
            let error = text.parse::<Prices>().unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn says_which_price_is_not_there() {
        let example: Prices = example().parse().unwrap();
        let refused = |setting| example.rates(&setting).unwrap_err().to_string();
        assert_eq!(
            refused(between("own-cellar", "own-cellar")),
            "the prices `ours` do not say what traffic from `own-cellar` to `own-cellar` costs: \
             add same_region_usd_per_gb to [regions.own-cellar], or a [[transfer]]"
        );
        assert_eq!(
            refused(internet("mars")),
            "the prices `ours` have no region `mars`; they have frankfurt, own-cellar"
        );
        let transfer = &example.transfers[0];
        let twice = Prices {
            transfers: vec![transfer.clone(); 2],
            ..example.clone()
        };
        let error = twice.check().unwrap_err().to_string();
        assert!(
            error.contains("two entries [[transfer]] from `own-cellar` to `frankfurt`"),
            "{error}"
        );
    }

    #[test]
    fn says_which_file_is_not_there() {
        let error = Prices::read(Path::new("no/such.toml"))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("cannot read the prices in no/such.toml: "),
            "{error}"
        );
    }
}
