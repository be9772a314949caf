//! Bars, in groups.

use crate::{
    Axis, Chart, Data, Medium, Origin, Scale,
    axis::Range,
    data::number,
    legend::{Legend, Sample},
    plane::BELOW,
    svg::{Anchor, MARGIN, Svg},
    text::{LEADING, widest, width},
};

/// Bars in groups below each other. They begin at 0, or at 1 if the axis has powers: then what is
/// less than 1 goes to the left, as ratios should.
#[derive(Debug, Clone, PartialEq)]
pub struct BarChart {
    /// The subject of the chart. It is read aloud, not drawn.
    pub title: String,
    /// A description of the picture, for those who cannot see it.
    pub description: String,
    /// The axis along which bars extend.
    pub axis: Axis,
    /// From top to bottom.
    pub groups: Vec<Group>,
}

/// Bars that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Their common name. It stands before the bars, or above them if it is long.
    pub name: String,
    /// From top to bottom.
    pub bars: Vec<Bar>,
}

/// A bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// The text at its end.
    pub label: String,
    /// Its colour: the same number looks the same in all charts.
    pub style: usize,
    /// Its length.
    pub value: f64,
    /// The ends of its scatter, if it has any.
    pub range: Option<(f64, f64)>,
    /// The origin of the value: what was extrapolated is hollow.
    pub origin: Origin,
}

impl Bar {
    /// Returns the end of its bar, and those of its scatter.
    fn ends(&self) -> impl Iterator<Item = f64> {
        let scatter = self.range.map(|(low, high)| [low, high]);
        [self.value]
            .into_iter()
            .chain(scatter.into_iter().flatten())
    }
}

/// Pixels.
const BAR: f64 = 18.0;
const BETWEEN_GROUPS: f64 = 14.0;
/// A name above its bars.
const NAME: f64 = LEADING + 3.0;
/// Between a bar's end and its label.
const GAP: f64 = 6.0;

impl Chart for BarChart {
    /// # Panics
    /// If there are no bars, or if one has no place on the axis. A group without bars has its name
    /// only.
    fn svg(&self, medium: Medium) -> String {
        let layout = Layout::new(medium, self);
        let legend = Legend::new(medium, self.explained());
        let mut svg = Svg::new(
            medium,
            layout.bottom + BELOW + legend.height(),
            &self.title,
            &self.description,
        );
        layout.draw_axis(self, &mut svg);
        let mut top = MARGIN;
        for group in &self.groups {
            let height = BAR * group.bars.len() as f64;
            let (anchor, place) = if layout.names_above {
                top += NAME;
                (Anchor::Start, (MARGIN / 2.0, top - NAME / 2.0 - 1.5))
            } else {
                (Anchor::End, (layout.names_end, top + height / 2.0))
            };
            svg.group("halo", |svg| svg.text(anchor, place, &group.name));
            svg.group("data", |svg| {
                for (bar, number) in group.bars.iter().zip(0..) {
                    layout.draw_bar(bar, top + BAR * f64::from(number), svg);
                }
            });
            top += height + BETWEEN_GROUPS;
        }
        legend.draw(&mut svg, layout.bottom + BELOW);
        svg.finish()
    }

    fn title(&self) -> &str {
        &self.title
    }

    fn data(&self) -> Data {
        let rows = self.groups.iter().flat_map(|group| {
            let row = |bar: &Bar| {
                let value = match bar.origin {
                    Origin::Extrapolated => {
                        format!("{} ({})", number(bar.value), bar.origin.name())
                    }
                    _ => number(bar.value),
                };
                vec![group.name.clone(), bar.label.clone(), value]
            };
            group.bars.iter().map(row)
        });
        Data {
            caption: self.title.clone(),
            columns: vec!["group".into(), "bar".into(), self.axis.label.clone()],
            rows: rows.collect(),
        }
    }
}

impl BarChart {
    /// Returns what hollow bars mean, if there are some.
    fn explained(&self) -> Vec<(Sample, String)> {
        let mut bars = self.groups.iter().flat_map(|group| &group.bars);
        match bars.any(|bar| bar.origin == Origin::Extrapolated) {
            true => vec![
                (Sample::Bar(Origin::Measured), "measured".into()),
                (Sample::Bar(Origin::Extrapolated), "extrapolated".into()),
            ],
            false => Vec::new(),
        }
    }
}

/// The places of the parts.
struct Layout {
    range: Range,
    /// Of the picture.
    width: f64,
    /// The end of the names that are not above their bars.
    names_end: f64,
    /// Of the axis.
    left: f64,
    right: f64,
    bottom: f64,
    names_above: bool,
}

impl Layout {
    fn new(medium: Medium, chart: &BarChart) -> Self {
        let bars = || chart.groups.iter().flat_map(|group| &group.bars);
        assert!(bars().next().is_some(), "there are values to show");
        let scale = chart.axis.scale;
        let values = bars().flat_map(Bar::ends).chain([start(scale)]);

        let names = widest(chart.groups.iter().map(|group| &*group.name));
        let names_above = names > 0.3 * medium.width();
        let (before, above) = match names_above {
            true => (MARGIN / 2.0, NAME),
            false => (16.0 + names, 0.0),
        };
        // The width of labels on one side of the bars.
        let labels = |leftwards: bool| {
            let bars = bars().filter(|bar| is_leftwards(scale, bar) == leftwards);
            let widest = widest(bars.map(|bar| &*bar.label));
            if widest > 0.0 { widest + GAP } else { 0.0 }
        };
        let groups = chart.groups.len() as f64 * (BETWEEN_GROUPS + above);
        Self {
            range: Range::of(scale, values).rounded(),
            width: medium.width(),
            names_end: before - 8.0,
            left: before + labels(true),
            right: medium.width() - labels(false).max(MARGIN) - MARGIN / 2.0,
            bottom: MARGIN + BAR * bars().count() as f64 + groups,
            names_above,
        }
    }

    fn place(&self, value: f64) -> f64 {
        self.left + self.range.at(value) * (self.right - self.left)
    }

    /// Returns where bars begin.
    fn start(&self) -> f64 {
        self.place(start(self.range.scale()))
    }

    fn draw_axis(&self, chart: &BarChart, svg: &mut Svg) {
        let ticks = self.range.ticks_along(self.right - self.left);
        svg.group("grid", |svg| {
            for (value, _) in &ticks {
                svg.line(
                    (self.place(*value), MARGIN),
                    (self.place(*value), self.bottom),
                );
            }
        });
        svg.group("axis", |svg| {
            svg.line((self.start(), MARGIN), (self.start(), self.bottom));
        });
        for (value, label) in &ticks {
            svg.text(
                Anchor::Middle,
                (self.place(*value), self.bottom + 16.0),
                label,
            );
        }
        let middle = (self.left + self.right) / 2.0;
        let least = (width(&chart.axis.label) + MARGIN) / 2.0;
        let place = middle.min(self.width - least).max(least);
        let place = (place, self.bottom + 36.0);
        svg.text(Anchor::Middle, place, &chart.axis.label);
    }

    fn draw_bar(&self, bar: &Bar, top: f64, svg: &mut Svg) {
        let (start, end) = (self.start(), self.place(bar.value));
        let size = ((end - start).abs(), BAR - 2.0);
        svg.colored(bar.style, |svg| {
            svg.rectangle(bar_class(bar.origin), (start.min(end), top + 1.0), size);
        });
        let middle = top + BAR / 2.0;
        if let Some((low, high)) = bar.range {
            let [low, high] = [low, high].map(|value| self.place(value));
            let upright = |x: f64| ((x, middle - 4.0), (x, middle + 4.0));
            let strokes = [((low, middle), (high, middle)), upright(low), upright(high)];
            svg.strokes("range", &strokes);
        }
        let ends = bar.ends().map(|value| self.place(value));
        if is_leftwards(self.range.scale(), bar) {
            let leftmost = ends.fold(end, f64::min);
            svg.text(Anchor::End, (leftmost - GAP, middle), &bar.label);
        } else {
            let rightmost = ends.fold(end, f64::max);
            svg.text(Anchor::Start, (rightmost + GAP, middle), &bar.label);
        }
    }
}

/// Returns the class of a bar of this origin.
pub(crate) fn bar_class(origin: Origin) -> &'static str {
    match origin {
        Origin::Extrapolated => "bar hollow",
        _ => "bar",
    }
}

/// Returns the value at which bars begin.
fn start(scale: Scale) -> f64 {
    match scale {
        Scale::Linear => 0.0,
        Scale::Powers(_) => 1.0,
    }
}

fn is_leftwards(scale: Scale, bar: &Bar) -> bool {
    bar.value < start(scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(scale: Scale, values: &[f64]) -> BarChart {
        let bar = |(style, value): (usize, &f64)| Bar {
            label: format!("{value}×"),
            style,
            value: *value,
            range: None,
            origin: Origin::Measured,
        };
        BarChart {
            title: "Ratios".into(),
            description: String::new(),
            axis: Axis {
                label: "ours / published".into(),
                scale,
            },
            groups: vec![Group {
                name: "a < b".into(),
                bars: values.iter().enumerate().map(bar).collect(),
            }],
        }
    }

    #[test]
    fn the_label_of_the_axis_stays_in_the_picture() {
        for values in [[0.1, 0.2], [5.0, 7.0]] {
            let mut chart = chart(Scale::Powers(10), &values);
            chart.axis.label = "ours / published (geometric mean of all)".into();
            for bar in &mut chart.groups[0].bars {
                bar.label = "a protocol, 0.1×".into();
            }
            let svg = chart.svg(Medium::Page);
            let line = svg
                .lines()
                .find(|line| line.contains(&chart.axis.label))
                .unwrap();
            let (_, rest) = line.split_once("x=\"").unwrap();
            let middle: f64 = rest.split('"').next().unwrap().parse().unwrap();
            let half = width(&chart.axis.label) / 2.0;
            assert!(
                middle - half >= 0.0 && middle + half <= Medium::Page.width(),
                "{line}"
            );
        }
    }

    /// Returns the left and the right end of each bar.
    fn bars(svg: &str) -> Vec<(f64, f64)> {
        let number = |line: &str, name: &str| -> f64 {
            let (_, rest) = line.split_once(&format!(" {name}=\"")).unwrap();
            rest.split('"').next().unwrap().parse().unwrap()
        };
        svg.lines()
            .filter(|line| line.starts_with("<rect"))
            .map(|line| (number(line, "x"), number(line, "x") + number(line, "width")))
            .collect()
    }

    #[test]
    fn ratios_go_to_the_left_and_to_the_right_of_1() {
        let svg = chart(Scale::Powers(10), &[0.5, 2.0, 1.0]).svg(Medium::Page);
        let [faster, slower, same] = bars(&svg)[..] else {
            panic!("three bars")
        };
        assert_eq!(faster.1, slower.0, "where both begin");
        assert!(
            (faster.1 - faster.0 - (slower.1 - slower.0)).abs() < 0.3,
            "as far"
        );
        assert_eq!(same, (slower.0, slower.0));
        assert!(svg.contains("text-anchor=\"end\">0.5×<"));
        assert!(svg.contains("text-anchor=\"start\">2×<"));
        assert!(svg.contains("text-anchor=\"start\">1×<"));
    }

    #[test]
    fn lengths_are_proportional() {
        let svg = chart(Scale::Linear, &[1.0, 3.0]).svg(Medium::File);
        let lengths: Vec<f64> = bars(&svg)
            .iter()
            .map(|(left, right)| right - left)
            .collect();
        assert!((lengths[1] - 3.0 * lengths[0]).abs() < 0.3);
    }

    #[test]
    fn long_names_stand_above_their_bars() {
        let mut chart = chart(Scale::Linear, &[1.0]);
        let short = chart.svg(Medium::Page);
        assert!(short.contains("text-anchor=\"end\">a &lt; b<"));
        chart.groups[0].name = "CM20, Table 2, 2^20 items, 10 Mbit/s".into();
        assert!(
            chart
                .svg(Medium::Page)
                .contains("text-anchor=\"start\">CM20, ")
        );
    }

    #[test]
    fn what_is_extrapolated_is_hollow_and_explained() {
        let mut chart = chart(Scale::Linear, &[1.0, 3.0]);
        assert!(!chart.svg(Medium::Page).contains("extrapolated"));
        chart.groups[0].bars[1].origin = Origin::Extrapolated;
        chart.groups[0].bars[1].range = Some((2.0, 5.0));
        let svg = chart.svg(Medium::Page);
        assert_eq!(
            svg.matches("class=\"bar hollow\"").count(),
            2,
            "one in the legend"
        );
        assert!(svg.contains(">extrapolated<") && svg.contains("class=\"range\""));
        assert_eq!(chart.data().rows[1][2], "3 (extrapolated)");
    }

    #[test]
    fn the_table_has_a_row_per_bar() {
        let data = chart(Scale::Linear, &[1.5]).data();
        assert_eq!(data.columns, ["group", "bar", "ours / published"]);
        assert_eq!(data.rows, [["a < b", "1.5×", "1.5"]]);
    }

    #[test]
    #[should_panic = "there are values to show"]
    fn no_bars_are_no_chart() {
        let _ = chart(Scale::Powers(10), &[]).svg(Medium::File);
    }
}
