//! Lines over two axes.

use crate::{
    Axis,
    axis::Range,
    svg::{Anchor, BELOW, FONT, MARGIN, Svg, WIDTH, widest},
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
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 76.0;
const BOTTOM: f64 = HEIGHT - BELOW;
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
            right: WIDTH - MARGIN - widest(self.lines.iter().map(|line| &line.name)),
        };
        let mut svg = Svg::new(HEIGHT, &self.title);
        plot.draw_axes(self, &mut svg);
        for (number, line) in self.lines.iter().enumerate() {
            let points: Vec<_> = line.points.iter().map(|point| plot.place(*point)).collect();
            svg.path(number, &points);
        }
        self.draw_names(&plot, &mut svg);
        svg.finish()
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
        (
            LEFT + self.x.at(x) * (self.right - LEFT),
            BOTTOM - self.y.at(y) * (BOTTOM - MARGIN),
        )
    }

    fn draw_axes(&self, chart: &LineChart, svg: &mut Svg) {
        for (value, label) in self.y.ticks() {
            let y = BOTTOM - self.y.at(value) * (BOTTOM - MARGIN);
            svg.line("grid", (LEFT, y), (self.right, y));
            svg.text(Anchor::End, (LEFT - 6.0, y), &label);
        }
        for (value, label) in self.x.ticks() {
            let x = LEFT + self.x.at(value) * (self.right - LEFT);
            svg.line("axis", (x, BOTTOM), (x, BOTTOM + 4.0));
            svg.text(Anchor::Middle, (x, BOTTOM + 14.0), &label);
        }
        svg.line("axis", (LEFT, BOTTOM), (self.right, BOTTOM));
        let middle = (LEFT + self.right) / 2.0;
        svg.text(Anchor::Middle, (middle, HEIGHT - 12.0), &chart.x.label);
        svg.upright((FONT + 3.0, (MARGIN + BOTTOM) / 2.0), &chart.y.label);
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
