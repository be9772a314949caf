//! An axis: where a value is, and which values get a label.

use crate::text::width;

/// An axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Its quantity, with its unit. In a page there is room for some forty letters.
    pub label: String,
    /// The scale of values.
    pub scale: Scale,
}

/// The scale of values along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithm; labels are powers of this number. Values are above 0.
    Powers(u32),
}

/// At most as many steps from the first tick to the last.
const STEPS: usize = 9;

/// A value that gets a label, and the label.
pub(crate) type Tick = (f64, String);

/// A scale, with what it has to show.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    scale: Scale,
    /// On the scale: a logarithm, if it has powers.
    from: f64,
    to: f64,
}

impl Range {
    /// Makes a range from the least of the values to the greatest; a linear one from 0.
    ///
    /// # Panics
    /// If there are no values, or if one has no place on the scale.
    pub(crate) fn of(scale: Scale, values: impl IntoIterator<Item = f64>) -> Self {
        let start = match scale {
            Scale::Linear => (0.0, 0.0),
            Scale::Powers(_) => (f64::INFINITY, f64::NEG_INFINITY),
        };
        let mut count = 0;
        let (from, to) = values.into_iter().fold(start, |(least, greatest), value| {
            let place = place(scale, value);
            assert!(place.is_finite(), "{value} has no place on the axis");
            count += 1;
            (least.min(place), greatest.max(place))
        });
        assert!(count > 0, "there are values to show");
        Self { scale, from, to }.with_length()
    }

    /// Widens the axis of a single value, which would have no length.
    fn with_length(self) -> Self {
        match self.scale {
            _ if self.to > self.from => self,
            Scale::Linear => Self { to: 1.0, ..self },
            Scale::Powers(_) => Self {
                from: self.from - 0.5,
                to: self.to + 0.5,
                ..self
            },
        }
    }

    pub(crate) fn scale(self) -> Scale {
        self.scale
    }

    /// Returns the range widened to ticks at both ends.
    pub(crate) fn rounded(self) -> Self {
        let steps = Steps::of(self, STEPS);
        Self {
            from: steps.place(steps.last_until(self.from)),
            to: steps.place(steps.first_from(self.to)),
            ..self
        }
    }

    /// Returns where a value is: 0 at the beginning, 1 at the end.
    pub(crate) fn at(self, value: f64) -> f64 {
        (place(self.scale, value) - self.from) / (self.to - self.from)
    }

    /// Returns the value at a place: what [`Range::at`] undoes.
    pub(crate) fn value(self, at: f64) -> f64 {
        let place = self.from + at * (self.to - self.from);
        match self.scale {
            Scale::Linear => place,
            Scale::Powers(base) => f64::from(base).powf(place),
        }
    }

    /// Returns what gets a label.
    pub(crate) fn ticks(self) -> Vec<Tick> {
        self.at_most(STEPS)
    }

    /// Returns what gets a label, if all labels stand beside each other.
    pub(crate) fn ticks_along(self, length: f64) -> Vec<Tick> {
        const BETWEEN: f64 = 10.0;
        let fits = |ticks: &Vec<Tick>| {
            ticks.windows(2).all(|pair| {
                let distance = (self.at(pair[1].0) - self.at(pair[0].0)) * length;
                distance >= (width(&pair[0].1) + width(&pair[1].1)) / 2.0 + BETWEEN
            })
        };
        let mut choices = (1..=STEPS).rev().map(|most| self.at_most(most));
        choices.find(fits).unwrap_or_default()
    }

    fn at_most(self, most: usize) -> Vec<Tick> {
        let steps = Steps::of(self, most);
        let numbers = steps.first_from(self.from)..=steps.last_until(self.to);
        match self.scale {
            Scale::Linear => numbers
                .map(|number| (steps.place(number), decimal(steps.place(number))))
                .collect(),
            Scale::Powers(base) => {
                let written_out = base == 10 && self.from > -4.0 && self.to < 7.0;
                let label = |number| power(base, steps.place(number), written_out);
                numbers
                    .map(|number| (f64::from(base).powf(steps.place(number)), label(number)))
                    .collect()
            }
        }
    }
}

/// The places of ticks.
#[derive(Debug, Clone, Copy)]
enum Steps {
    /// At multiples of this.
    Even(f64),
    /// At 1, 2 and 5 times each power of ten.
    OneTwoFive,
}

impl Steps {
    /// Returns steps that fit at most this many times.
    fn of(range: Range, most: usize) -> Self {
        let least = (range.to - range.from) / most as f64;
        match range.scale {
            Scale::Linear => Self::Even(round_step(least)),
            Scale::Powers(10) if 3.0 * least <= 1.0 => Self::OneTwoFive,
            Scale::Powers(_) => Self::Even((least.ceil() as u64).next_power_of_two() as f64),
        }
    }

    /// Returns a tick's place on the scale.
    fn place(self, number: i64) -> f64 {
        match self {
            Self::Even(step) => number as f64 * step,
            Self::OneTwoFive => {
                let digit: f64 = [1.0, 2.0, 5.0][number.rem_euclid(3) as usize];
                number.div_euclid(3) as f64 + digit.log10()
            }
        }
    }

    /// Returns the first tick that is not before a place, but for the noise of logarithms.
    fn first_from(self, place: f64) -> i64 {
        let mut number = match self {
            Self::Even(step) => (place / step).floor() as i64 - 1,
            Self::OneTwoFive => 3 * place.floor() as i64 - 1,
        };
        while self.place(number) < place - NOISE {
            number += 1;
        }
        number
    }

    /// Returns the last tick that is not behind a place.
    fn last_until(self, place: f64) -> i64 {
        let number = self.first_from(place);
        number - i64::from(self.place(number) > place + NOISE)
    }
}

/// The size up to which the last digits of a logarithm are noise.
const NOISE: f64 = 1e-9;

/// Returns the next of 1, 2 or 5, and zeros.
fn round_step(least: f64) -> f64 {
    let magnitude = 10_f64.powf(least.log10().floor());
    let mut digits = [1.0, 2.0, 5.0].into_iter();
    let digit = digits.find(|digit| digit * magnitude >= least);
    digit.unwrap_or(10.0) * magnitude
}

fn place(scale: Scale, value: f64) -> f64 {
    match scale {
        Scale::Linear => value,
        Scale::Powers(base) => value.ln() / f64::from(base).ln(),
    }
}

/// Returns a number without the noise of its last digits.
pub(crate) fn decimal(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    let (sign, digits) = text.split_at(usize::from(text.starts_with('-')));
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut grouped = String::from(sign);
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + fraction
}

/// Returns a number, written out or as a power.
fn power(base: u32, exponent: f64, written_out: bool) -> String {
    const SUPERSCRIPTS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    if written_out {
        return decimal(f64::from(base).powf(exponent));
    }
    let whole = (exponent + NOISE).floor();
    let digit = f64::from(base).powf(exponent - whole).round();
    let exponent = (whole as i64).to_string();
    let raised = exponent.chars().map(|c| match c.to_digit(10) {
        Some(digit) => SUPERSCRIPTS[digit as usize],
        None => '⁻',
    });
    let times = if digit > 1.0 {
        format!("{digit}·")
    } else {
        String::new()
    };
    times + &base.to_string() + &raised.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, values: &[f64]) -> Vec<String> {
        let range = Range::of(scale, values.iter().copied()).rounded();
        only_labels(range.ticks())
    }

    fn only_labels(ticks: Vec<Tick>) -> Vec<String> {
        ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(
            labels(Scale::Linear, &[0.3, 1.62]),
            [
                "0", "0.2", "0.4", "0.6", "0.8", "1", "1.2", "1.4", "1.6", "1.8"
            ]
        );
        assert_eq!(
            labels(Scale::Powers(2), &[256.0, 16_777_216.0]),
            ["2⁸", "2¹⁰", "2¹²", "2¹⁴", "2¹⁶", "2¹⁸", "2²⁰", "2²²", "2²⁴"]
        );
        assert_eq!(
            labels(Scale::Powers(10), &[0.02, 12_000.0]),
            [
                "0.01", "0.1", "1", "10", "100", "1,000", "10,000", "100,000"
            ]
        );
    }

    #[test]
    fn a_short_axis_of_powers_of_ten_has_ticks_at_1_2_and_5() {
        assert_eq!(
            labels(Scale::Powers(10), &[0.3, 3.0]),
            ["0.2", "0.5", "1", "2", "5"]
        );
        assert_eq!(
            labels(Scale::Powers(10), &[3e8, 4e9]),
            ["2·10⁸", "5·10⁸", "10⁹", "2·10⁹", "5·10⁹"]
        );
    }

    #[test]
    fn powers_are_all_written_out_or_none_is() {
        assert_eq!(
            labels(Scale::Powers(10), &[1e3, 1e9]),
            ["10³", "10⁴", "10⁵", "10⁶", "10⁷", "10⁸", "10⁹"]
        );
    }

    #[test]
    fn a_power_of_ten_is_its_own_tick() {
        // Its logarithm, as a quotient of logarithms, is a little less than 3.
        assert_eq!(
            labels(Scale::Powers(10), &[1e3, 1e6]),
            labels(Scale::Powers(10), &[1e3 + 1.0, 1e6 - 1.0])
        );
    }

    #[test]
    fn labels_have_room_beside_each_other() {
        let sizes = Range::of(Scale::Powers(2), [256.0, 16_777_216.0]);
        assert_eq!(
            only_labels(sizes.ticks_along(200.0)),
            ["2⁸", "2¹²", "2¹⁶", "2²⁰", "2²⁴"]
        );
        let bandwidths = Range::of(Scale::Powers(10), [1.0, 10_000.0]);
        assert_eq!(
            only_labels(bandwidths.ticks_along(230.0)),
            ["1", "10", "100", "1,000", "10,000"]
        );
        assert_eq!(
            only_labels(bandwidths.ticks_along(130.0)),
            ["1", "100", "10,000"]
        );
    }

    #[test]
    fn one_value_is_in_the_middle_of_powers() {
        let range = Range::of(Scale::Powers(2), [65_536.0]);
        assert!((range.at(65_536.0) - 0.5).abs() < 1e-9);
        assert_eq!(only_labels(range.ticks()), ["2¹⁶"]);
        assert_eq!(labels(Scale::Linear, &[0.0]).last().unwrap(), "1");
    }

    #[test]
    #[should_panic = "0 has no place on the axis"]
    fn zero_has_no_logarithm() {
        let _ = Range::of(Scale::Powers(10), [1.0, 0.0]);
    }

    #[test]
    fn values_lie_between_the_ends() {
        let range = Range::of(Scale::Powers(10), [1.0, 100.0]);
        assert_eq!(
            [1.0, 10.0, 100.0].map(|value| range.at(value)),
            [0.0, 0.5, 1.0]
        );
        assert!((range.value(0.5) - 10.0).abs() < 1e-9);
    }

    #[test]
    fn numbers_have_commas_and_no_noise() {
        assert_eq!(decimal(0.1 + 0.2), "0.3");
        assert_eq!(decimal(-1_234_567.5), "-1,234,567.5");
    }
}
