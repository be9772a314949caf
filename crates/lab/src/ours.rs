//! Figures of our protocols: predicted from what was measured, or exact by their plans.

use std::{cell::RefCell, collections::BTreeMap, fmt, rc::Rc};

use psijoin::{Plan, Request, registry};
use psijoin_channel::link::Link;
use psijoin_forecast::{
    Cores, Network, Profile,
    money::{Prices, Rates},
};

use crate::{
    measurements::Measured,
    published::Metric,
    quantity::{Figures, Kind, Place, Quantity, Value},
};

/// The figures of our protocols, on a machine.
pub struct Ours<'a> {
    measured: &'a Measured,
    /// Plans take a while to make.
    plans: RefCell<BTreeMap<String, Option<Rc<Plan>>>>,
    /// So do predictions, and tables, verdicts and charts ask for the same ones.
    times: RefCell<BTreeMap<String, Option<Value>>>,
}

impl<'a> Ours<'a> {
    /// Takes the measurements of one machine with one version.
    pub fn new(measured: &'a Measured) -> Self {
        Self {
            measured,
            plans: RefCell::default(),
            times: RefCell::default(),
        }
    }

    /// Returns a parameter of the protocol's plan.
    pub fn parameter(&self, protocol: &str, items: [u64; 2], name: &str) -> Option<u64> {
        let mut quantity = Quantity::new(protocol, Metric::Bytes, 1, None);
        quantity.items = items;
        parameter(&*self.plan(&quantity)?, name)
    }

    fn plan(&self, quantity: &Quantity) -> Option<Rc<Plan>> {
        let Quantity {
            protocol,
            items,
            output,
            ..
        } = quantity;
        let make = || {
            let request = Request::rows(items[0], items[1]).ok()?;
            let request = request.output(output.clone());
            let plan = registry::find(protocol)?.plan(&request).ok()?;
            Some(Rc::new(plan))
        };
        let key = format!("{protocol} {output} {items:?}");
        self.plans
            .borrow_mut()
            .entry(key)
            .or_insert_with(make)
            .clone()
    }

    /// Returns the profile with as many threads, or else that with the most.
    fn profile(&self, quantity: &Quantity) -> Option<&'a Profile> {
        let output = quantity.output.to_string();
        let profiles = self.measured.profiles.iter().filter(|profile| {
            (&profile.protocol, &profile.output) == (&quantity.protocol, &output)
                && profile.threads <= quantity.threads
                && largest(profile) > 0
        });
        profiles.max_by_key(|profile| profile.threads)
    }

    fn seconds(&self, quantity: &Quantity, network: Link) -> Option<Value> {
        let Quantity {
            protocol,
            output,
            items,
            threads,
            ..
        } = quantity;
        let key = format!("{protocol} {output} {items:?} {threads} {network}");
        if let Some(known) = self.times.borrow().get(&key) {
            return *known;
        }
        let value = self.predicted(quantity, network);
        self.times.borrow_mut().insert(key, value);
        value
    }

    fn predicted(&self, quantity: &Quantity, network: Link) -> Option<Value> {
        let profile = self.profile(quantity)?;
        let prediction = profile.predict(&*self.plan(quantity)?);
        let forecast = prediction.on(&Network::from(network), Cores::Own).ok()?;
        let most = quantity.items[0].max(quantity.items[1]);
        let is_measured = profile.threads == quantity.threads && most <= largest(profile);
        let kind = match is_measured {
            true => Kind::Measured,
            false => Kind::Extrapolated,
        };
        Some(Value {
            value: forecast.seconds,
            kind,
        })
    }

    fn usd(&self, quantity: &Quantity, network: Link) -> Option<Value> {
        let rates = rates(quantity.place.as_ref()?)?;
        let seconds = self.seconds(quantity, network)?;
        let sent = self.plan(quantity)?.cost().total;
        let usd = rates.usd(seconds.value, sent.sender_bytes, sent.receiver_bytes);
        Some(Value {
            value: 1000.0 * usd,
            ..seconds
        })
    }

    /// Returns the speedup; `None` if fewer threads were measured: the gain of more is unknown.
    fn speedup(&self, quantity: &Quantity, network: Link) -> Option<Value> {
        if self.profile(quantity)?.threads != quantity.threads {
            return None;
        }
        let many = self.seconds(quantity, network)?;
        let alone = Quantity {
            threads: 1,
            ..quantity.clone()
        };
        let one = self.seconds(&alone, network)?;
        Some(Value {
            value: one.value / many.value,
            kind: one.kind.max(many.kind),
        })
    }

    /// Returns what follows from the plan.
    fn exact(&self, quantity: &Quantity) -> Option<f64> {
        let plan = self.plan(quantity)?;
        let sent = plan.cost().total;
        let items = quantity.items[0].max(quantity.items[1]) as f64;
        match quantity.metric {
            Metric::Bytes => Some(sent.total_bytes() as f64),
            Metric::SenderBytes => Some(sent.sender_bytes as f64),
            Metric::ReceiverBytes => Some(sent.receiver_bytes as f64),
            Metric::BitsPerItem => Some(8.0 * sent.total_bytes() as f64 / items),
            Metric::OtBits => ot_bits(&plan).map(|bits| bits as f64),
            _ => None,
        }
    }
}

impl Figures for Ours<'_> {
    fn value(&self, quantity: &Quantity) -> Option<Value> {
        let exact = |value| Value {
            value,
            kind: Kind::Exact,
        };
        match quantity.metric {
            Metric::Seconds => self.seconds(quantity, quantity.network?),
            Metric::UsdPer1000Runs => self.usd(quantity, quantity.network?),
            Metric::Speedup => self.speedup(quantity, quantity.network?),
            _ => self.exact(quantity).map(exact),
        }
    }
}

/// Returns the prices of a second and a byte there; `None` if they are missing.
pub(crate) fn rates(place: &Place) -> Option<Rates> {
    Prices::shipped(place.prices)?.rates(&place.setting).ok()
}

/// Returns the number of items of the largest run with sets of equal size.
pub(crate) fn largest(profile: &Profile) -> u64 {
    let equal = profile
        .runs
        .iter()
        .filter(|run| run.items[0] == run.items[1]);
    equal.map(|run| run.items[0]).max().unwrap_or(0)
}

fn parameter(plan: &Plan, name: &str) -> Option<u64> {
    let mut parameters = plan.parameters().iter();
    Some(parameters.find(|parameter| parameter.name == name)?.value)
}

/// Returns the number of columns of the OT extension per instance: a code for the item, or a code
/// of 256 bits for each of its letters.
fn ot_bits(plan: &Plan) -> Option<u64> {
    let letters = || Some(256 * parameter(plan, "letters in a bin")?);
    parameter(plan, "code bits").or_else(letters)
}

impl fmt::Debug for Ours<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ours")
            .field("measured", self.measured)
            .finish_non_exhaustive()
    }
}
