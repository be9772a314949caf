//! The vocabulary of claims: relations between figures.

use std::ops::RangeInclusive;

use super::{rule::Grade, term::Term};
use crate::{
    in_words::short,
    quantity::{Figures, Kind, Quantity, Value, distinct},
};

/// A term is within bounds. All that papers claim comes down to it: less is a ratio below 1.
#[derive(Debug, Clone)]
pub(crate) struct Relation {
    term: Term,
    least: f64,
    most: f64,
    /// Belongs to a break-even point, which is a part of a conclusion of its own.
    is_break_even: bool,
}

/// The result of testing a relation.
pub(super) struct Tested {
    /// Where in their scatter the figures are best for it, and where they are worst.
    pub(super) grades: [Grade; 2],
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

    /// Returns the result; `None` if a figure is missing, or was extrapolated too far.
    pub(super) fn test(&self, figures: &dyn Figures) -> Option<Tested> {
        let value = self.term.value(figures)?;
        if value.kind == Kind::Far {
            return None;
        }
        let found = value.value;
        let margins = [found / self.least, self.most / found].map(|ratio| (ratio - 1.0).abs());
        Some(Tested {
            grades: self.grades(value.range),
            margin: margins[0].min(margins[1]),
            kind: value.kind,
            text: format!(
                "{} is {}{}, {}",
                self.term.text(),
                self.term.amount(found),
                self.scatter(&value),
                self.bounds()
            ),
        })
    }

    /// Returns the part of a conclusion that it belongs to: all about the same quantities, with the
    /// same bounds.
    pub(super) fn part(&self) -> String {
        let metrics = self.quantities().into_iter().map(|one| one.metric.name());
        let metrics = distinct(metrics, |name| name.to_string());
        let Self {
            least,
            most,
            is_break_even,
            ..
        } = self;
        format!("{metrics:?} {least} {most} {is_break_even}")
    }

    /// Returns the best and the worst grade of values from `low` to `high`.
    fn grades(&self, [low, high]: [f64; 2]) -> [Grade; 2] {
        let worst = self.grade(low).max(self.grade(high));
        let best = match (low > self.most, high < self.least) {
            (true, _) => self.grade(low),
            (_, true) => self.grade(high),
            _ => Grade::Holds,
        };
        [best, worst]
    }

    fn grade(&self, found: f64) -> Grade {
        let is_order = self.most <= 1.0 && found > 1.0 || self.least >= 1.0 && found < 1.0;
        match ((self.least..=self.most).contains(&found), is_order) {
            (true, _) => Grade::Holds,
            (false, false) => Grade::OtherFactor,
            (false, true) => Grade::Opposite,
        }
    }

    /// Returns the ends of the scatter in words, if there is any.
    fn scatter(&self, value: &Value) -> String {
        let [low, high] = value.range;
        match low < high {
            true => {
                let [low, high] = [low, high].map(|end| self.term.amount(end));
                format!(" ({low} to {high})")
            }
            false => String::new(),
        }
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
    let fails = |one: &Relation, by: Grade| {
        let tested = one.test(ours);
        tested.is_some_and(|tested| tested.grades[0] == by)
    };
    let of = |by| relations.iter().find(|one| fails(one, by));
    let all = of(Grade::Opposite).or_else(|| of(Grade::OtherFactor))?;
    let all = all.quantities();
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
    Relation {
        term,
        least,
        most,
        is_break_even: false,
    }
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
    let both = [
        less(of(first, here), of(second, here)),
        less(of(second, there), of(first, there)),
    ];
    let of_break_even = |relation| Relation {
        is_break_even: true,
        ..relation
    };
    both.map(of_break_even).into()
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
