//! The vocabulary of claims: relations between figures.

use std::ops::RangeInclusive;

use super::term::Term;
use crate::{
    in_words::short,
    quantity::{Figures, Kind, Quantity, distinct},
};

/// A term is within bounds. All that papers claim comes down to it: less is a ratio below 1.
#[derive(Debug, Clone)]
pub(crate) struct Relation {
    term: Term,
    least: f64,
    most: f64,
}

/// The result of testing a relation.
pub(super) struct Tested {
    pub(super) holds: bool,
    /// `true` if the other one of two is less, and not only by another factor.
    pub(super) is_order: bool,
    /// The distance from failing, as a share.
    pub(super) margin: f64,
    pub(super) kind: Kind,
    pub(super) text: String,
}

/// The largest number below 1 that counts, as it rounds to 1.
const BELOW_1: f64 = 1.0 - 1e-9;

impl Relation {
    pub(super) fn quantities(&self) -> Vec<Quantity> {
        self.term.quantities()
    }

    /// Returns the result; `None` if a figure is missing.
    pub(super) fn test(&self, figures: &dyn Figures) -> Option<Tested> {
        let value = self.term.value(figures)?;
        let found = value.value;
        let margins = [found / self.least, self.most / found].map(|ratio| (ratio - 1.0).abs());
        Some(Tested {
            holds: (self.least..=self.most).contains(&found),
            is_order: self.most <= 1.0 && found > 1.0 || self.least >= 1.0 && found < 1.0,
            margin: margins[0].min(margins[1]),
            kind: value.kind,
            text: format!(
                "{} is {}, {}",
                self.term.text(),
                self.term.amount(found),
                self.bounds()
            ),
        })
    }

    fn bounds(&self) -> String {
        let amount = |value| self.term.amount(value);
        match (self.least, self.most) {
            (_, most) if most == BELOW_1 => "claimed below 1".into(),
            (f64::NEG_INFINITY, most) => format!("claimed at most {}", amount(most)),
            (least, f64::INFINITY) => format!("claimed at least {}", amount(least)),
            (least, most) => format!("claimed {} to {}", amount(least), amount(most)),
        }
    }
}

/// Returns what we take over what was printed, for the figures of the relation that is told first:
/// it names those that differ. None if they were not printed.
pub(super) fn beside_printed(
    relations: &[Relation],
    ours: &dyn Figures,
    printed: &dyn Figures,
) -> Option<String> {
    let fails = |one: &Relation, order: bool| {
        let tested = one.test(ours);
        tested.is_some_and(|tested| !tested.holds && tested.is_order == order)
    };
    let of = |order| relations.iter().find(|one| fails(one, order));
    let all = of(true).or_else(|| of(false))?.quantities();
    let all = distinct(all, |one| (one.protocol.clone(), one.setting()));
    let names = all.iter().map(|one| one.protocol.clone());
    let has_one_setting = distinct(names, String::clone).len() == all.len();
    let ratio = |one: &Quantity| {
        let ratio = ours.value(one)?.value / printed.value(one)?.value;
        let setting = match has_one_setting {
            true => String::new(),
            false => format!(" at {}", one.setting()),
        };
        Some(format!("`{}`{setting} {}", one.protocol, short(ratio)))
    };
    let ratios = all.iter().map(ratio).collect::<Option<Vec<_>>>()?;
    Some(format!("Ours over published: {}", ratios.join(", ")))
}

pub(super) fn within(term: Term, bounds: RangeInclusive<f64>) -> Relation {
    let (least, most) = bounds.into_inner();
    Relation { term, least, most }
}

pub(super) fn at_least(term: Term, least: f64) -> Relation {
    within(term, least..=f64::INFINITY)
}

pub(super) fn at_most(term: Term, most: f64) -> Relation {
    within(term, f64::NEG_INFINITY..=most)
}

/// Claims a value within 15 %.
pub(super) fn about(term: Term, value: f64) -> Relation {
    within(term, 0.85 * value..=1.15 * value)
}

pub(super) fn less(less: Term, more: Term) -> Relation {
    at_most(less / more, BELOW_1)
}

/// Claims that one is less than each of the others.
pub(super) fn least(one: &str, others: &[&str], of: impl Fn(&str) -> Term) -> Vec<Relation> {
    let others = others.iter().filter(|other| **other != one);
    others.map(|other| less(of(one), of(other))).collect()
}

/// Claims that each is less than the next one.
pub(super) fn order(names: &[&str], of: impl Fn(&str) -> Term) -> Vec<Relation> {
    let pairs = names.windows(2);
    pairs.map(|pair| less(of(pair[0]), of(pair[1]))).collect()
}

/// Claims that `first` is less at the first of two settings, and `second` at the second: they cross
/// between.
pub(super) fn break_even<S: Copy>(
    first: &str,
    second: &str,
    settings: [S; 2],
    of: impl Fn(&str, S) -> Term,
) -> Vec<Relation> {
    let [here, there] = settings;
    vec![
        less(of(first, here), of(second, here)),
        less(of(second, there), of(first, there)),
    ]
}

/// Claims that from each size to the next, the ratio is within bounds.
pub(super) fn grows(
    sizes: &[u32],
    bounds: RangeInclusive<f64>,
    of: impl Fn(u32) -> Term,
) -> Vec<Relation> {
    let pairs = sizes.windows(2);
    pairs
        .map(|pair| within(of(pair[1]) / of(pair[0]), bounds.clone()))
        .collect()
}

/// Returns the relations of all these.
pub(super) fn each<T: Copy, R: IntoIterator<Item = Relation>>(
    all: &[T],
    of: impl Fn(T) -> R,
) -> Vec<Relation> {
    all.iter().flat_map(|one| of(*one)).collect()
}
