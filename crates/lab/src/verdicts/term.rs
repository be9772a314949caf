//! The terms of relations: figures, and numbers computed from them.

use std::ops::{Add, Div, Mul, Sub};

use psijoin::OutputKind;

use crate::{
    in_words::{amount, short, what},
    published::Metric,
    quantity::{Figures, Kind, Quantity, Value},
};

/// A figure, or what is computed from figures.
#[derive(Debug, Clone)]
pub(crate) enum Term {
    Figure(Box<Quantity>),
    Number(f64),
    /// A term with a name of its own.
    Named(String, Box<Term>),
    Computed(Operation, Box<[Term; 2]>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Sum,
    Difference,
    Product,
    Quotient,
}

impl Operation {
    fn of(self, [a, b]: [f64; 2]) -> f64 {
        match self {
            Self::Sum => a + b,
            Self::Difference => a - b,
            Self::Product => a * b,
            Self::Quotient => a / b,
        }
    }

    fn symbol(self) -> char {
        match self {
            Self::Sum => '+',
            Self::Difference => '−',
            Self::Product => '·',
            Self::Quotient => '/',
        }
    }
}

impl Term {
    pub(super) fn value(&self, figures: &dyn Figures) -> Option<Value> {
        match self {
            Self::Figure(quantity) => figures.value(quantity),
            Self::Number(value) => Some(Value::exact(*value, Kind::Published)),
            Self::Named(_, term) => term.value(figures),
            Self::Computed(operation, parts) => {
                let [a, b] = parts.each_ref().map(|part| part.value(figures));
                Some(a?.with(b?, |a, b| operation.of([a, b])))
            }
        }
    }

    pub(super) fn quantities(&self) -> Vec<Quantity> {
        match self {
            Self::Figure(quantity) => vec![(**quantity).clone()],
            Self::Number(_) => vec![],
            Self::Named(_, term) => term.quantities(),
            Self::Computed(_, parts) => parts.iter().flat_map(Self::quantities).collect(),
        }
    }

    /// Returns the term in words. A setting that all figures share is said once, at the end.
    pub(super) fn text(&self) -> String {
        if let Some(text) = self.ratio() {
            return text;
        }
        let all = self.quantities();
        // Bytes have no network, and need none.
        let longest = all.iter().map(Quantity::setting).max_by_key(String::len);
        let is_shared =
            |setting: &String| all.iter().all(|one| setting.starts_with(&one.setting()));
        match longest.filter(is_shared) {
            Some(setting) => format!("{} at {setting}", self.formula(false)),
            None => self.formula(true),
        }
    }

    /// Returns a value of this term, with its unit if it is a figure.
    pub(super) fn amount(&self, value: f64) -> String {
        match self {
            Self::Figure(quantity) => amount(quantity.metric.name(), value),
            _ => short(value),
        }
    }

    /// Describes the ratio of a protocol over another one, or of a setting over another one.
    fn ratio(&self) -> Option<String> {
        let Self::Computed(Operation::Quotient, parts) = self else {
            return None;
        };
        let [Self::Figure(a), Self::Figure(b)] = &**parts else {
            return None;
        };
        let metric = what(a.metric.name());
        let [first, second] = [a, b].map(|one| format!("`{}`{}", one.protocol, bits(one)));
        let settings = [a, b].map(|one| one.setting());
        match (a.metric == b.metric, settings, first == second) {
            (true, [here, there], false) if here == there => {
                Some(format!("{metric} of {first} over {second} at {here}"))
            }
            (true, [here, there], true) => {
                Some(format!("{metric} of {first} at {here} over {there}"))
            }
            _ => None,
        }
    }

    fn formula(&self, with_setting: bool) -> String {
        match self {
            Self::Figure(quantity) => {
                let Quantity {
                    protocol, metric, ..
                } = &**quantity;
                let setting = with_setting.then(|| format!(" at {}", quantity.setting()));
                let words = what(metric.name());
                let (bits, setting) = (bits(quantity), setting.unwrap_or_default());
                format!("{words} of `{protocol}`{bits}{setting}")
            }
            Self::Number(value) => short(*value),
            Self::Named(name, _) => name.clone(),
            Self::Computed(operation, parts) => {
                let [a, b] = parts.each_ref().map(|part| part.operand(with_setting));
                format!("{a} {} {b}", operation.symbol())
            }
        }
    }

    fn operand(&self, with_setting: bool) -> String {
        match self {
            Self::Computed(..) => format!("({})", self.formula(with_setting)),
            _ => self.formula(with_setting),
        }
    }

    /// Replaces the quantities.
    fn map(self, change: &impl Fn(Quantity) -> Quantity) -> Self {
        match self {
            Self::Figure(quantity) => Self::Figure(Box::new(change(*quantity))),
            Self::Number(_) => self,
            Self::Named(name, term) => Self::Named(name, Box::new(term.map(change))),
            Self::Computed(operation, parts) => {
                let parts = parts.map(|part| part.map(change));
                Self::Computed(operation, Box::new(parts))
            }
        }
    }

    /// Returns the term for this many threads.
    pub(super) fn threads(self, threads: usize) -> Self {
        self.map(&|quantity| Quantity {
            threads,
            ..quantity
        })
    }

    /// Returns the term for items of this many bits.
    pub(super) fn item_bits(self, bits: u32) -> Self {
        self.map(&|quantity| Quantity {
            item_bits: Some(bits),
            ..quantity
        })
    }

    /// Returns the term for this many bits of statistical security.
    pub(super) fn statistical_bits(self, bits: u32) -> Self {
        self.map(&|quantity| Quantity {
            statistical_bits: Some(bits),
            ..quantity
        })
    }

    /// Returns the term for a function of the intersection.
    pub(super) fn counted(self) -> Self {
        self.map(&|quantity| Quantity {
            output: OutputKind::Count,
            ..quantity
        })
    }
}

/// Returns the length of its items and its statistical security, if a paper distinguishes them.
fn bits(quantity: &Quantity) -> String {
    let items = quantity.item_bits.map(|bits| format!(" ({bits} bits)"));
    let security = quantity.statistical_bits;
    let security = security.map(|bits| format!(" (2^-{bits})"));
    [items, security].map(Option::unwrap_or_default).concat()
}

/// Returns the seconds of 2^`log2` items per party, with a thread each, on a network such as
/// `100mbps,80ms`.
pub(super) fn seconds(protocol: &str, log2: u32, network: &str) -> Term {
    figure(protocol, Metric::Seconds, log2, Some(network))
}

/// Returns bytes that both parties send.
pub(super) fn bytes(protocol: &str, log2: u32) -> Term {
    figure(protocol, Metric::Bytes, log2, None)
}

pub(super) fn figure(protocol: &str, metric: Metric, log2: u32, network: Option<&str>) -> Term {
    let parse = |text| format!("wan:{text}").parse().expect("a network of a paper");
    let quantity = Quantity::new(protocol, metric, 1 << log2, network.map(parse));
    Term::Figure(Box::new(quantity))
}

impl Add for Term {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::Computed(Operation::Sum, Box::new([self, other]))
    }
}

impl Sub for Term {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self::Computed(Operation::Difference, Box::new([self, other]))
    }
}

impl Div for Term {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        Self::Computed(Operation::Quotient, Box::new([self, other]))
    }
}

impl Mul<Term> for f64 {
    type Output = Term;

    fn mul(self, other: Term) -> Term {
        Term::Computed(Operation::Product, Box::new([Term::Number(self), other]))
    }
}
