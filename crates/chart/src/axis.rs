//! An axis: where a value is, and which values get a label.

/// An axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What it shows, with its unit.
    pub label: String,
    /// How values are spread.
    pub scale: Scale,
}

/// How values are spread along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithm; labels are powers of this number. Values are above 0.
    Powers(u32),
}

/// At most as many steps from tick to tick.
const STEPS: f64 = 9.0;

/// A scale, with what it has to show.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    scale: Scale,
    /// On the scale: a logarithm, if it has powers.
    from: f64,
    to: f64,
}

impl Range {
    /// From the least of the values to the greatest; a linear one from 0, up to a tick.
    pub(crate) fn of(scale: Scale, values: impl Iterator<Item = f64> + Clone) -> Self {
        let on_scale = values.map(|value| place(scale, value));
        let least = on_scale.clone().fold(f64::INFINITY, f64::min);
        let greatest = on_scale.fold(f64::NEG_INFINITY, f64::max);
        let (from, to) = match scale {
            Scale::Linear => (0.0, greatest),
            Scale::Powers(_) => (least, greatest),
        };
        assert!(
            from.is_finite() && to.is_finite(),
            "there are values to show"
        );
        Self {
            scale,
            from,
            // An axis of one value would have no length.
            to: if to > from { to } else { from + 1.0 },
        }
    }

    /// The same, from a tick to a tick.
    pub(crate) fn rounded(self) -> Self {
        let step = self.step();
        Self {
            from: (self.from / step).floor() * step,
            to: (self.to / step).ceil() * step,
            ..self
        }
    }

    /// Where a value is: 0 at the beginning, 1 at the end.
    pub(crate) fn at(self, value: f64) -> f64 {
        (place(self.scale, value) - self.from) / (self.to - self.from)
    }

    /// The values that get a label, and the labels.
    pub(crate) fn ticks(self) -> Vec<(f64, String)> {
        let step = self.step();
        let first = (self.from / step).ceil() as i64;
        let last = (self.to / step).floor() as i64;
        let tick = |number| {
            let on_scale = number as f64 * step;
            match self.scale {
                Scale::Linear => (on_scale, decimal(on_scale)),
                Scale::Powers(base) => {
                    (f64::from(base).powf(on_scale), power(base, on_scale as i64))
                }
            }
        };
        (first..=last).map(tick).collect()
    }

    /// From tick to tick: 1, 2 or 5, and zeros; whole powers.
    fn step(self) -> f64 {
        let least = (self.to - self.from) / STEPS;
        let magnitude = 10_f64.powf(least.log10().floor());
        let mut digits = [1.0, 2.0, 5.0].into_iter();
        let digit = digits.find(|digit| digit * magnitude >= least);
        let step = digit.unwrap_or(10.0) * magnitude;
        match self.scale {
            Scale::Linear => step,
            Scale::Powers(_) => step.max(1.0),
        }
    }
}

fn place(scale: Scale, value: f64) -> f64 {
    match scale {
        Scale::Linear => value,
        Scale::Powers(base) => value.ln() / f64::from(base).ln(),
    }
}

/// A number without the noise of its last digits.
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

/// Small powers of ten are written out.
fn power(base: u32, exponent: i64) -> String {
    const SUPERSCRIPTS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    if base == 10 && (-3..=6).contains(&exponent) {
        return decimal(10_f64.powi(exponent as i32));
    }
    let exponent = exponent.to_string();
    let raised = exponent.chars().map(|c| match c.to_digit(10) {
        Some(digit) => SUPERSCRIPTS[digit as usize],
        None => '⁻',
    });
    base.to_string() + &raised.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, values: &[f64]) -> Vec<String> {
        let range = Range::of(scale, values.iter().copied()).rounded();
        range.ticks().into_iter().map(|(_, label)| label).collect()
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
        assert_eq!(labels(Scale::Powers(10), &[7.0]), ["1", "10", "100"]);
    }

    #[test]
    fn values_lie_between_the_ends() {
        let range = Range::of(Scale::Powers(10), [1.0, 100.0].into_iter());
        assert_eq!(
            [1.0, 10.0, 100.0].map(|value| range.at(value)),
            [0.0, 0.5, 1.0]
        );
    }

    #[test]
    fn numbers_have_commas_and_no_noise() {
        assert_eq!(decimal(0.1 + 0.2), "0.3");
        assert_eq!(decimal(-1_234_567.5), "-1,234,567.5");
    }
}
