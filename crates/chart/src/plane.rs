//! The area between two axes.

use crate::{
    Axis, Medium,
    axis::{Range, Tick},
    svg::{Anchor, MARGIN, Place, Svg},
    text::{FONT, widest, width},
};

/// Pixels: what the label of the upright axis takes, and ticks and label of the other one.
const ABOVE: f64 = 30.0;
pub(crate) const BELOW: f64 = 50.0;

/// The area between two axes.
pub(crate) struct Plane {
    x: Range,
    y: Range,
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

impl Plane {
    /// As wide as the picture, but for what is free to the right.
    pub(crate) fn new(medium: Medium, x: Range, y: Range, free: f64) -> Self {
        let height = match medium {
            Medium::File => 340.0,
            Medium::Page => 250.0,
        };
        Self {
            x,
            y,
            left: 12.0 + widest(y.ticks().iter().map(|(_, label)| &**label)),
            right: medium.width() - free.max(half_of_last(&x.ticks())).max(MARGIN),
            top: ABOVE,
            bottom: ABOVE + height,
        }
    }

    /// Returns where the axes and their labels end.
    pub(crate) fn end(&self) -> f64 {
        self.bottom + BELOW
    }

    pub(crate) fn place(&self, (x, y): (f64, f64)) -> Place {
        (
            self.left + self.x.at(x) * (self.right - self.left),
            self.bottom - self.y.at(y) * (self.bottom - self.top),
        )
    }

    /// Returns the values at a place: what [`Plane::place`] undoes.
    #[cfg(test)]
    pub(crate) fn values(&self, (x, y): Place) -> (f64, f64) {
        (
            self.x.value((x - self.left) / (self.right - self.left)),
            self.y.value((self.bottom - y) / (self.bottom - self.top)),
        )
    }

    pub(crate) fn contains(&self, (x, y): Place) -> bool {
        (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y)
    }

    /// Draws ticks and labels, and a grid that is seen through what comes after.
    pub(crate) fn draw(&self, svg: &mut Svg, x: &Axis, y: &Axis) {
        let x_ticks = self.x.ticks_along(self.right - self.left);
        let y_ticks = self.y.ticks();
        let across = |value| self.left + self.x.at(value) * (self.right - self.left);
        let up = |value| self.bottom - self.y.at(value) * (self.bottom - self.top);
        svg.group("grid", |svg| {
            for (value, _) in &y_ticks {
                svg.line((self.left, up(*value)), (self.right, up(*value)));
            }
        });
        svg.group("axis", |svg| {
            for (value, _) in &x_ticks {
                svg.line(
                    (across(*value), self.bottom),
                    (across(*value), self.bottom + 4.0),
                );
            }
            svg.line((self.left, self.bottom), (self.right, self.bottom));
        });
        for (value, label) in &y_ticks {
            svg.text(Anchor::End, (self.left - 6.0, up(*value)), label);
        }
        for (value, label) in &x_ticks {
            svg.text(Anchor::Middle, (across(*value), self.bottom + 16.0), label);
        }
        svg.text(Anchor::Start, (4.0, 10.0), &y.label);
        svg.text(
            Anchor::Middle,
            (self.middle_for(&x.label), self.bottom + 36.0),
            &x.label,
        );
    }

    /// Returns the middle of the axis, or of the picture if the label would not fit to the left of
    /// it.
    fn middle_for(&self, label: &str) -> f64 {
        let middle = (self.left + self.right) / 2.0;
        middle.max(width(label) / 2.0 + FONT / 2.0)
    }
}

/// Returns half of the last label, which reaches beyond the end of the axis.
fn half_of_last(ticks: &[Tick]) -> f64 {
    ticks
        .last()
        .map_or(0.0, |(_, label)| 4.0 + width(label) / 2.0)
}
