//! Bars, in groups.

use crate::{
    Axis,
    axis::Range,
    svg::{Anchor, BELOW, MARGIN, Svg, WIDTH, widest},
};

/// Bars to the right, in groups below each other.
#[derive(Debug, Clone, PartialEq)]
pub struct BarChart {
    /// What it shows. It is read aloud, not drawn.
    pub title: String,
    /// How long bars are.
    pub axis: Axis,
    /// From top to bottom.
    pub groups: Vec<Group>,
}

/// Bars that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// What they have in common.
    pub name: String,
    /// From top to bottom; those in the same place of their groups have the same color.
    pub bars: Vec<Bar>,
}

/// A bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// What stands at its end.
    pub label: String,
    /// How long it is.
    pub value: f64,
}

/// Pixels.
const BAR: f64 = 18.0;
const BETWEEN_GROUPS: f64 = 14.0;

impl BarChart {
    /// The picture.
    ///
    /// # Panics
    /// If there are no bars.
    pub fn svg(&self) -> String {
        let bars = || self.groups.iter().flat_map(|group| &group.bars);
        let range = Range::of(self.axis.scale, bars().map(|bar| bar.value)).rounded();
        let left = 20.0 + widest(self.groups.iter().map(|group| &group.name));
        let right = WIDTH - MARGIN - widest(bars().map(|bar| &bar.label));
        let between = BETWEEN_GROUPS * self.groups.len() as f64;
        let bottom = MARGIN + BAR * bars().count() as f64 + between;
        let place = |value| left + range.at(value) * (right - left);

        let mut svg = Svg::new(bottom + BELOW, &self.title);
        for (value, label) in range.ticks() {
            let x = place(value);
            svg.line("grid", (x, MARGIN), (x, bottom));
            svg.text(Anchor::Middle, (x, bottom + 14.0), &label);
        }
        let mut top = MARGIN;
        for group in &self.groups {
            let height = BAR * group.bars.len() as f64;
            svg.text(Anchor::End, (left - 8.0, top + height / 2.0), &group.name);
            for (number, bar) in group.bars.iter().enumerate() {
                let (y, end) = (top + BAR * number as f64, place(bar.value));
                svg.bar(number, (left, y + 1.0), (end - left, BAR - 2.0));
                svg.text(Anchor::Start, (end + 6.0, y + BAR / 2.0), &bar.label);
            }
            top += height + BETWEEN_GROUPS;
        }
        svg.line("axis", (left, MARGIN), (left, bottom));
        let middle = (left + right) / 2.0;
        svg.text(Anchor::Middle, (middle, bottom + 38.0), &self.axis.label);
        svg.finish()
    }
}
