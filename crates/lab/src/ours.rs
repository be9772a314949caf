//! Figures of our protocols: predicted from what was measured, or exact by their plans.

use std::{cell::RefCell, collections::BTreeMap, fmt, rc::Rc};

use psijoin::{Plan, registry};
use psijoin_channel::link::Link;
use psijoin_forecast::{
    Cores, Duplex, GROWTH, Network, Phase, Profile, Run, Wire,
    money::{Prices, Rates},
};

use crate::{
    measurements::Measured,
    published::Metric,
    quantity::{Figures, Kind, Place, Quantity, Value},
    scatter::spread,
    variants::{Variant, psz_with_letter_bits},
    work::operations,
};

/// The circumstances of runs, where they are to be others than the papers'.
#[derive(Debug, Clone, Default)]
pub struct Circumstances {
    /// The directions in which networks carry bytes at the same time; as the authors of a paper had
    /// it, if it is not given.
    pub duplex: Option<Duplex>,
    /// Whether connections start slowly.
    pub slow_start: bool,
    /// The prices of machines and traffic; those of the paper, if they are not given.
    pub prices: Option<Prices>,
}

/// The figures of our protocols, on a machine.
pub struct Ours<'a> {
    measured: &'a Measured,
    circumstances: Circumstances,
    /// With times at the lower end of their scatter, in its middle, and at its upper end.
    profiles: [Vec<Profile>; 3],
    /// Plans take a while to make.
    plans: RefCell<BTreeMap<String, Option<Rc<Plan>>>>,
    /// So do predictions, and tables, verdicts and charts ask for the same ones.
    times: RefCell<BTreeMap<String, Option<Value>>>,
}

/// The figures of our protocols on networks with this wire.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wired<'a> {
    ours: &'a Ours<'a>,
    wire: Wire,
    /// The length of items where a figure does not say it.
    item_bits: Option<u32>,
}

/// The way in which a plan is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// As the program does: large sets in parts. Short items are taken as they are, at once.
    Program,
    /// As the papers do.
    AtOnce,
}

/// Whether the ends of a time's scatter are simulated, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scatter {
    Told,
    LeftOut,
}

impl<'a> Ours<'a> {
    /// Takes the measurements of one machine with one version, under the papers' circumstances.
    pub fn new(measured: &'a Measured) -> Self {
        Self::under(Circumstances::default(), measured)
    }

    /// Takes the measurements of one machine with one version.
    pub fn under(circumstances: Circumstances, measured: &'a Measured) -> Self {
        let at = |end: usize| {
            let profiles = measured.profiles.iter();
            profiles.map(|profile| profile_at(profile, end)).collect()
        };
        Self {
            measured,
            circumstances,
            profiles: [0, 1, 2].map(at),
            plans: RefCell::default(),
            times: RefCell::default(),
        }
    }

    /// Returns the figures on a paper's wire, unless the circumstances are others, for items as
    /// long as the paper's.
    pub(crate) fn over(&self, papers: Wire, item_bits: Option<u32>) -> Wired<'_> {
        let Circumstances {
            duplex, slow_start, ..
        } = self.circumstances;
        let wire = Wire {
            duplex: duplex.unwrap_or(papers.duplex),
            slow_start: slow_start || papers.slow_start,
        };
        Wired {
            ours: self,
            wire,
            item_bits,
        }
    }

    /// Returns the prices that hold where a paper has some.
    pub(crate) fn prices(&self, papers: &str) -> Option<Prices> {
        let chosen = self.circumstances.prices.clone();
        chosen.or_else(|| Prices::shipped(papers))
    }

    /// Returns the prices of a second and a byte there; `None` if they are missing.
    pub(crate) fn rates(&self, place: &Place) -> Option<Rates> {
        self.prices(place.prices)?.rates(&place.setting).ok()
    }

    /// Returns the number of runs that a time rests on, if it was measured: of the size from whose
    /// runs there are fewest.
    fn runs(&self, quantity: &Quantity) -> Option<usize> {
        let profile = &self.measured.profiles[self.profile(quantity)?];
        let size = size(&*self.plan(quantity, Way::Program)?);
        let spine = profile.spine();
        let sizes = || spine.iter().map(|run| run.larger());
        let below = sizes().filter(|items| *items <= size).max();
        let above = sizes().filter(|items| *items >= size).min();
        let beside = spine
            .iter()
            .filter(|run| [below, above].contains(&Some(run.larger())));
        beside.map(|run| run.times(0).len()).min()
    }

    fn plan(&self, quantity: &Quantity, way: Way) -> Option<Rc<Plan>> {
        let Quantity {
            protocol,
            items,
            output,
            letter_bits,
            ..
        } = quantity;
        let variant = Variant::of(quantity);
        let make = || {
            let request = variant.request(*items, output).ok()?;
            if let Some(bits) = letter_bits {
                return psz_with_letter_bits(protocol, &request, *bits).map(Rc::new);
            }
            let protocol = registry::find(protocol)?;
            let plan = match way {
                Way::Program if variant.item_bits.is_none() => psijoin::plan(protocol, &request),
                _ => protocol.plan(&request),
            };
            Some(Rc::new(plan.ok()?))
        };
        let output = variant.described(output);
        let key = format!("{protocol} {output} {items:?} {letter_bits:?} {way:?}");
        self.plans
            .borrow_mut()
            .entry(key)
            .or_insert_with(make)
            .clone()
    }

    /// Returns the place of the profile with as many threads, or else of that with the most.
    fn profile(&self, quantity: &Quantity) -> Option<usize> {
        let output = Variant::of(quantity).described(&quantity.output);
        let profiles = self.measured.profiles.iter().enumerate();
        let alike = profiles.filter(|(_, profile)| {
            (&profile.protocol, &profile.output) == (&quantity.protocol, &output)
                && profile.threads <= quantity.threads
                && largest(profile) > 0
        });
        let most = alike.max_by_key(|(_, profile)| profile.threads)?;
        Some(most.0)
    }

    fn seconds(&self, quantity: &Quantity, network: Link, wire: Wire) -> Option<Value> {
        let Quantity {
            protocol,
            output,
            items,
            threads,
            metric,
            ..
        } = quantity;
        let output = Variant::of(quantity).described(output);
        let phase = phase(*metric);
        let key = format!("{protocol} {output} {items:?} {threads} {network} {wire:?} {phase:?}");
        if let Some(known) = self.times.borrow().get(&key) {
            return *known;
        }
        let network = Network::from(network).over(wire);
        let value = self.predicted(quantity, &network, Scatter::Told);
        self.times.borrow_mut().insert(key, value);
        value
    }

    fn predicted(&self, quantity: &Quantity, network: &Network, scatter: Scatter) -> Option<Value> {
        let place = self.profile(quantity)?;
        let plan = self.plan(quantity, Way::Program)?;
        let profile = &self.measured.profiles[place];
        let phase = phase(quantity.metric);
        let largest = match phase {
            None => largest(profile),
            Some(phase) => largest(&profile.of_phase(phase)?),
        };
        let kind = match profile.threads == quantity.threads {
            true => origin(size(&plan), largest),
            false => Kind::Far,
        };
        let times = match size(&plan) > largest {
            true => Some(self.growth(quantity, &plan, largest)?),
            false => None,
        };
        let seconds = |profiles: &Vec<Profile>| {
            let prediction = match (phase, times) {
                (Some(phase), times) => profiles[place].predict_phase(&plan, phase, times)?,
                (None, Some(times)) => profiles[place].predict_beyond(&plan, times),
                (None, None) => profiles[place].predict(&plan),
            };
            Some(prediction.on(network, Cores::Own).ok()?.seconds)
        };
        let [low, middle, high] = &self.profiles;
        let value = seconds(middle)?;
        let range = match (scatter, kind) {
            // What decides nothing needs no scatter.
            (Scatter::LeftOut, _) | (_, Kind::Far) => [value; 2],
            (Scatter::Told, _) => [seconds(low)?, seconds(high)?],
        };
        Some(Value { value, range, kind })
    }

    /// Returns how many times as much a run of this plan computes, or one of its parts, as one of
    /// the largest size. An offline phase knows no items: it grows as what is said in it.
    fn growth(&self, quantity: &Quantity, plan: &Plan, largest: u64) -> Option<f64> {
        let known = Quantity {
            items: Variant::of(quantity).sizes(largest),
            ..quantity.clone()
        };
        let known = self.plan(&known, Way::AtOnce)?;
        let wanted = plan.parts().map_or(plan, |parts| &parts.plan);
        let work = |plan: &Plan| match phase(quantity.metric) {
            Some(Phase::Offline) => plan.cost().offline.total_bytes().max(1) as f64,
            _ => operations(plan),
        };
        Some(work(wanted) / work(&known))
    }

    fn usd(&self, quantity: &Quantity, network: Link, wire: Wire) -> Option<Value> {
        let rates = self.rates(quantity.place.as_ref()?)?;
        let seconds = self.seconds(quantity, network, wire)?;
        let sent = self.plan(quantity, Way::Program)?.cost().total;
        let usd = |seconds| 1000.0 * rates.usd(seconds, sent.sender_bytes, sent.receiver_bytes);
        Some(seconds.map(usd))
    }

    /// Returns the speedup; `None` if fewer threads were measured: the gain of more is unknown.
    fn speedup(&self, quantity: &Quantity, network: Link, wire: Wire) -> Option<Value> {
        let place = self.profile(quantity)?;
        if self.measured.profiles[place].threads != quantity.threads {
            return None;
        }
        let many = self.seconds(quantity, network, wire)?;
        let alone = Quantity {
            threads: 1,
            ..quantity.clone()
        };
        let one = self.seconds(&alone, network, wire)?;
        Some(one.with(many, |one, many| one / many))
    }

    /// Returns the most memory of a party: of a session in parts, that of a part.
    fn memory(&self, quantity: &Quantity, party: usize) -> Option<Value> {
        let profile = &self.measured.profiles[self.profile(quantity)?];
        let plan = self.plan(quantity, Way::Program)?;
        let bytes = profile.predict(&plan).memory_bytes[party]?;
        let kind = match profile.threads == quantity.threads {
            true => origin(size(&plan), largest(profile)),
            false => Kind::Far,
        };
        Some(Value::exact(bytes, kind))
    }

    fn exact(&self, quantity: &Quantity) -> Option<f64> {
        if quantity.metric == Metric::OtBits {
            let plan = self.plan(quantity, Way::AtOnce)?;
            return ot_bits(&plan).map(|bits| bits as f64);
        }
        let plan = self.plan(quantity, Way::Program)?;
        let sent = plan.cost().total;
        let items = quantity.larger() as f64;
        match quantity.metric {
            Metric::Bytes => Some(sent.total_bytes() as f64),
            Metric::SenderBytes => Some(sent.sender_bytes as f64),
            Metric::ReceiverBytes => Some(sent.receiver_bytes as f64),
            Metric::BitsPerItem => Some(8.0 * sent.total_bytes() as f64 / items),
            _ => None,
        }
    }
}

impl Wired<'_> {
    /// Returns the wire.
    pub(crate) fn wire(&self) -> Wire {
        self.wire
    }

    /// Returns the number of runs that a time rests on, if it was measured.
    pub(crate) fn runs(&self, quantity: &Quantity) -> Option<usize> {
        self.ours.runs(&self.completed(quantity))
    }

    /// Returns a time without its scatter, for who asks for very many.
    pub(crate) fn middle_seconds(&self, quantity: &Quantity) -> Option<Value> {
        let quantity = self.completed(quantity);
        let network = Network::from(quantity.network?).over(self.wire);
        self.ours.predicted(&quantity, &network, Scatter::LeftOut)
    }

    fn completed(&self, quantity: &Quantity) -> Quantity {
        Quantity {
            item_bits: quantity.item_bits.or(self.item_bits),
            ..quantity.clone()
        }
    }
}

impl Figures for Wired<'_> {
    fn value(&self, quantity: &Quantity) -> Option<Value> {
        let Self { ours, wire, .. } = *self;
        let quantity = self.completed(quantity);
        match quantity.metric {
            Metric::Seconds | Metric::OfflineSeconds | Metric::OnlineSeconds => {
                ours.seconds(&quantity, quantity.network?, wire)
            }
            Metric::SenderMemoryBytes => ours.memory(&quantity, 0),
            Metric::ReceiverMemoryBytes => ours.memory(&quantity, 1),
            Metric::UsdPer1000Runs => ours.usd(&quantity, quantity.network?, wire),
            Metric::Speedup => ours.speedup(&quantity, quantity.network?, wire),
            _ => Some(Value::exact(ours.exact(&quantity)?, Kind::Exact)),
        }
    }
}

/// Returns the phase that a metric is about, if it is not about whole runs.
fn phase(metric: Metric) -> Option<Phase> {
    match metric {
        Metric::OfflineSeconds => Some(Phase::Offline),
        Metric::OnlineSeconds => Some(Phase::Online),
        _ => None,
    }
}

/// Returns a profile with all times at the lower end of their scatter (0), in its middle (1), or at
/// its upper end (2).
fn profile_at(profile: &Profile, end: usize) -> Profile {
    let runs = profile.runs.iter();
    Profile {
        runs: runs.map(|run| run_at(run, end)).collect(),
        ..profile.clone()
    }
}

/// As [`profile_at`], of a run and its phases.
fn run_at(run: &Run, end: usize) -> Run {
    let seconds = [0, 1].map(|party| spread(&run.times(party))[end]);
    Run {
        phases: run.map_phases(|phase| run_at(phase, end)),
        ..run.taking(seconds)
    }
}

/// Returns the items of the larger set of a run, or of a part.
fn size(plan: &Plan) -> u64 {
    let one = plan.parts().map_or(plan, |parts| &parts.plan);
    one.request().sizes.larger()
}

/// Returns the origin of a figure of this size. What was not measured is never more than a step of
/// sizes away, or it decides nothing.
fn origin(size: u64, largest: u64) -> Kind {
    match size {
        size if size <= largest => Kind::Measured,
        size if size <= GROWTH * largest => Kind::Extrapolated,
        _ => Kind::Far,
    }
}

/// Returns the number of items of the largest run that others are predicted from.
pub(crate) fn largest(profile: &Profile) -> u64 {
    profile.spine().last().map_or(0, |run| run.larger())
}

pub(crate) fn parameter(plan: &Plan, name: &str) -> Option<u64> {
    let mut parameters = plan.parameters().iter();
    Some(parameters.find(|parameter| parameter.name == name)?.value)
}

/// Returns the number of columns of the OT extension per instance: a code for the item, or a code
/// of 256 bits for each of its letters.
pub(crate) fn ot_bits(plan: &Plan) -> Option<u64> {
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
