//! The comparisons of a conclusion, counted and put into words.

use super::{Outcome, relation::Tested, rule::Grade};

/// The comparisons of a conclusion by how they come out.
pub(super) struct Tally<'a> {
    /// Of all comparisons, those without figures included.
    all: usize,
    known: usize,
    held: Vec<&'a Tested>,
    failed: Vec<&'a Tested>,
    close: Vec<&'a Tested>,
}

/// The number of comparisons that a reason shows.
const SHOWN: usize = 3;

impl<'a> Tally<'a> {
    /// Counts comparisons whose figures are known, of `all`.
    pub(super) fn new(known: &[&'a Tested], all: usize) -> Self {
        let with = |is: fn([Grade; 2]) -> bool| {
            let chosen = known.iter().filter(|tested| is(tested.grades));
            chosen.copied().collect()
        };
        Self {
            all,
            known: known.len(),
            held: with(|grades| grades[1] == Grade::Holds),
            failed: with(|grades| grades[0] > Grade::Holds),
            close: with(|grades| grades[0] == Grade::Holds && grades[1] > Grade::Holds),
        }
    }

    /// Returns the number of comparisons that hold, and of all.
    pub(super) fn held(&self) -> [usize; 2] {
        [self.held.len(), self.all]
    }

    /// Returns how many comparisons have no figures.
    pub(super) fn without(&self) -> String {
        format!(
            "{} of {} comparisons have all figures",
            self.known, self.all
        )
    }

    /// Returns the numbers that decide.
    pub(super) fn reason(&self, outcome: Outcome) -> String {
        match outcome {
            Outcome::Holds if self.held.len() == self.all => self.closest(),
            Outcome::Holds | Outcome::TooClose => self.counts(),
            _ => self.failures(),
        }
    }

    /// Returns the relation that is closest to failing, which decides if all hold.
    fn closest(&self) -> String {
        let by_margin = |a: &&&Tested, b: &&&Tested| a.margin.total_cmp(&b.margin);
        let closest = self.held.iter().min_by(by_margin);
        let closest = closest.map_or("", |tested| &tested.text);
        match self.known {
            1 => closest.to_owned(),
            count => format!("all {count} comparisons hold; the closest: {closest}"),
        }
    }

    /// Returns how many hold, fail and are too close to call, with those that do not hold.
    fn counts(&self) -> String {
        let others = [&*self.failed, &*self.close].concat();
        if self.all == 1 {
            return shown(&others);
        }
        let mut counts = format!("{} of {} comparisons hold", self.held.len(), self.all);
        for (count, one, many) in [
            (self.failed.len(), "fails", "fail"),
            (
                self.close.len(),
                "is too close to call",
                "are too close to call",
            ),
            (self.all - self.known, "has no figures", "have no figures"),
        ] {
            match count {
                0 => (),
                1 => counts += &format!(", 1 {one}"),
                count => counts += &format!(", {count} {many}"),
            }
        }
        match others.is_empty() {
            true => counts,
            false => format!("{counts}: {}", shown(&others)),
        }
    }

    /// Returns what fails; if that is of both sorts, how often it is about who takes less.
    fn failures(&self) -> String {
        let is_order = |tested: &&&Tested| tested.grades[0] == Grade::Opposite;
        let orders = Vec::from_iter(self.failed.iter().filter(is_order).copied());
        let (count, orders_count) = (self.failed.len(), orders.len());
        let shown = shown(match orders_count {
            0 => &self.failed,
            _ => &orders,
        });
        let close = match self.close.len() {
            0 => String::new(),
            1 => ", 1 is too close to call".into(),
            close => format!(", {close} are too close to call"),
        };
        let known = self.known;
        match (known, orders_count) {
            (1, _) => shown,
            (_, 0) => format!("{count} of {known} comparisons have another factor{close}: {shown}"),
            (_, orders) if orders == count => {
                format!("{count} of {known} comparisons fail{close}: {shown}")
            }
            (_, orders) => format!(
                "{count} of {known} comparisons fail, {orders} of them in who takes less{close}: {shown}"
            ),
        }
    }
}

fn shown(all: &[&Tested]) -> String {
    let first = all.iter().take(SHOWN).map(|tested| &*tested.text);
    let more = if all.len() > SHOWN { "; …" } else { "" };
    Vec::from_iter(first).join("; ") + more
}
