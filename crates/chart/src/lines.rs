//! Lines over two axes.

use crate::{
    Axis,
    axis::Range,
    svg::{Anchor, FONT, Svg, width},
};

/// Lines over two axes.
#[derive(Debug, Clone, PartialEq)]
pub struct LineChart {
    /// What it shows. It is read aloud, not drawn.
    pub title: String,
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// At most as many as people tell apart: six.
    pub lines: Vec<Line>,
}

/// A line.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its name, which stands where it ends.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// Pixels.
const SIZE: (f64, f64) = (720.0, 420.0);
const LEFT: f64 = 76.0;
const TOP: f64 = 14.0;
const BELOW: f64 = 52.0;
/// From the middle of a name to that of the next.
const LEADING: f64 = 1.2 * FONT;

impl LineChart {
    /// The picture.
    ///
    /// # Panics
    /// If there are no points.
    pub fn svg(&self) -> String {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let plot = Plot {
            x: Range::of(self.x.scale, points().map(|(x, _)| *x)),
            y: Range::of(self.y.scale, points().map(|(_, y)| *y)).rounded(),
            right: SIZE.0 - 14.0 - self.names().fold(0.0, f64::max),
        };
        let mut svg = Svg::new(SIZE.0, SIZE.1, &self.title);
        plot.draw_axes(self, &mut svg);
        for (number, line) in self.lines.iter().enumerate() {
            let points: Vec<_> = line.points.iter().map(|point| plot.place(*point)).collect();
            svg.path(number, &points);
        }
        self.draw_names(&plot, &mut svg);
        svg.finish()
    }

    /// How wide the names are.
    fn names(&self) -> impl Iterator<Item = f64> {
        self.lines.iter().map(|line| width(&line.name))
    }

    /// Writes each line's name where it ends, moved down if another one is there.
    fn draw_names(&self, plot: &Plot, svg: &mut Svg) {
        let mut names: Vec<(f64, &str)> = self
            .lines
            .iter()
            .filter_map(|line| Some((plot.place(*line.points.last()?).1, &*line.name)))
            .collect();
        names.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut free = 0.0;
        for (y, name) in names {
            let y = y.max(free);
            svg.text(Anchor::Start, (plot.right + 6.0, y), name);
            free = y + LEADING;
        }
    }
}

/// Where things are.
struct Plot {
    x: Range,
    y: Range,
    /// Where the plot ends and names begin.
    right: f64,
}

impl Plot {
    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let bottom = SIZE.1 - BELOW;
        (
            LEFT + self.x.at(x) * (self.right - LEFT),
            bottom - self.y.at(y) * (bottom - TOP),
        )
    }

    fn draw_axes(&self, chart: &LineChart, svg: &mut Svg) {
        let bottom = SIZE.1 - BELOW;
        for (value, label) in self.y.ticks() {
            let y = bottom - self.y.at(value) * (bottom - TOP);
            svg.line("grid", (LEFT, y), (self.right, y));
            svg.text(Anchor::End, (LEFT - 6.0, y), &label);
        }
        for (value, label) in self.x.ticks() {
            let x = LEFT + self.x.at(value) * (self.right - LEFT);
            svg.line("axis", (x, bottom), (x, bottom + 4.0));
            svg.text(Anchor::Middle, (x, bottom + 14.0), &label);
        }
        svg.line("axis", (LEFT, bottom), (self.right, bottom));
        let middle = (LEFT + self.right) / 2.0;
        svg.text(Anchor::Middle, (middle, SIZE.1 - 12.0), &chart.x.label);
        svg.upright((FONT + 3.0, (TOP + bottom) / 2.0), &chart.y.label);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scale;

    fn chart(names: [&str; 2]) -> String {
        let line = |name: &str| Line {
            name: name.into(),
            points: vec![(1.0, 1.0), (2.0, 3.0)],
        };
        let axis = || Axis {
            label: "n".into(),
            scale: Scale::Linear,
        };
        let chart = LineChart {
            title: "a & b".into(),
            x: axis(),
            y: axis(),
            lines: names.map(line).to_vec(),
        };
        chart.svg()
    }

    #[test]
    fn lines_that_end_together_have_names_below_each_other() {
        let svg = chart(["first", "second"]);
        let height = |name: &str| {
            let element = svg.lines().find(|line| line.contains(&format!(">{name}<")));
            let (_, rest) = element.unwrap().split_once(" y=\"").unwrap();
            rest.split('"').next().unwrap().parse::<f64>().unwrap()
        };
        assert!((height("second") - height("first") - LEADING).abs() < 0.2);
    }

    #[test]
    fn names_and_titles_are_text() {
        let svg = chart(["<b>", "x"]);
        assert!(svg.contains(">&lt;b&gt;<"));
        assert!(svg.contains("<title>a &amp; b</title>"));
    }
}
