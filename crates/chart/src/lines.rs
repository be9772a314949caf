//! Lines over two axes.

use crate::{
    Axis, Chart, Data, Medium, Origin,
    axis::Range,
    data::number,
    legend::{Legend, SAMPLE, Sample},
    marks,
    plane::Plane,
    svg::{Anchor, MARGIN, Svg},
    text::{LEADING, widest},
};

/// Lines over two axes.
#[derive(Debug, Clone, PartialEq)]
pub struct LineChart {
    /// The subject of the chart. It is read aloud, not drawn.
    pub title: String,
    /// A description of the picture, for those who cannot see it.
    pub description: String,
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// At most as many as people tell apart: about eight.
    pub lines: Vec<Line>,
}

/// A line.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its name, which stands where it ends, or below the chart if names are long.
    pub name: String,
    /// Its colour, dashes and marks: the same number looks the same in all charts.
    pub style: usize,
    /// Its points, from left to right.
    pub points: Vec<Point>,
    /// The values that others published: crosses on a dotted line.
    pub published: Vec<(f64, f64)>,
}

/// A point of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Upwards.
    pub y: f64,
    /// The ends of the scatter of `y`, if it has any.
    pub range: Option<(f64, f64)>,
    /// The origin of the values, which determines the looks.
    pub origin: Origin,
}

impl Point {
    /// Returns its value upwards, and the ends of its scatter.
    fn heights(self) -> impl Iterator<Item = f64> {
        let ends = self.range.map(|(low, high)| [low, high]);
        [self.y].into_iter().chain(ends.into_iter().flatten())
    }
}

impl Line {
    /// Returns all of it, in the order in which it is drawn.
    fn all(&self) -> impl Iterator<Item = Point> {
        let published = self.published.iter().map(|&(x, y)| Point {
            x,
            y,
            range: None,
            origin: Origin::Published,
        });
        published.chain(self.points.iter().copied())
    }

    fn sample(&self) -> Sample {
        let origins = || self.points.iter().map(|point| point.origin);
        let origin = origins().find(|origin| *origin == Origin::Measured);
        Sample::Line(
            self.style,
            origin.or(origins().next()).unwrap_or(Origin::Published),
        )
    }

    fn draw(&self, plane: &Plane, svg: &mut Svg) {
        let published: Vec<_> = self
            .published
            .iter()
            .map(|point| plane.place(*point))
            .collect();
        let points: Vec<_> = self
            .points
            .iter()
            .map(|p| plane.place((p.x, p.y)))
            .collect();
        svg.series(self.style, &self.name, |svg| {
            if published.len() > 1 {
                svg.dotted(self.style, &published);
            }
            if points.len() > 1 {
                svg.dashed(self.style, &points);
            }
            for place in published {
                marks::draw(svg, self.style, Origin::Published, place);
            }
            for (point, (x, _)) in self.points.iter().zip(&points) {
                if let Some((low, high)) = point.range {
                    let end = |y| (*x, plane.place((point.x, y)).1);
                    marks::draw_scatter(svg, end(low), end(high));
                }
            }
            for (point, place) in self.points.iter().zip(points) {
                if point.origin != Origin::Exact {
                    marks::draw(svg, self.style, point.origin, place);
                }
            }
        });
    }
}

impl Chart for LineChart {
    /// # Panics
    /// If there are no points at all, or if one has no place on its axis. A line without points is
    /// left out, one of a single point is a mark.
    fn svg(&self, medium: Medium) -> String {
        let points = || self.lines.iter().flat_map(Line::all);
        let drawn = || self.lines.iter().filter(|line| line.all().next().is_some());
        let beside = Names::of(medium, self);
        let plane = Plane::new(
            medium,
            Range::of(self.x.scale, points().map(|point| point.x)),
            Range::of(self.y.scale, points().flat_map(Point::heights)).rounded(),
            beside.as_ref().map_or(0.0, Names::width),
        );
        let names = drawn().filter(|_| beside.is_none());
        let names = Legend::new(medium, names.map(|line| (line.sample(), line.name.clone())));
        let origins = Legend::new(medium, explained(points().map(|point| point.origin)));

        let height = plane.end() + names.height() + origins.height();
        let mut svg = Svg::new(medium, height, &self.title, &self.description);
        plane.draw(&mut svg, &self.x, &self.y);
        svg.group("data", |svg| {
            drawn().for_each(|line| line.draw(&plane, svg))
        });
        if let Some(beside) = beside {
            beside.draw(&plane, &mut svg);
        }
        names.draw(&mut svg, plane.end());
        origins.draw(&mut svg, plane.end() + names.height());
        svg.finish()
    }

    fn title(&self) -> &str {
        &self.title
    }

    fn data(&self) -> Data {
        let mut xs: Vec<f64> = self.lines.iter().flat_map(Line::all).map(|p| p.x).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        let row = |x: f64| {
            let cells = self.lines.iter().flat_map(|line| line.cells(x));
            [number(x)].into_iter().chain(cells).collect()
        };
        let names = self.lines.iter().flat_map(Line::columns);
        Data {
            caption: format!("{}, by {}", self.y.label, self.x.label),
            columns: [self.x.label.clone()].into_iter().chain(names).collect(),
            rows: xs.into_iter().map(row).collect(),
        }
    }
}

impl Line {
    fn columns(&self) -> Vec<String> {
        let published = format!("{}, published", self.name);
        let published = (!self.published.is_empty()).then_some(published);
        [self.name.clone()].into_iter().chain(published).collect()
    }

    /// Returns what the columns have at a place.
    fn cells(&self, x: f64) -> Vec<String> {
        let ours = self.points.iter().find(|point| point.x == x);
        let ours = ours.map_or(String::new(), |point| {
            let origin = match point.origin {
                Origin::Extrapolated => format!(" ({})", point.origin.name()),
                _ => String::new(),
            };
            let range = point.range.map(|(low, high)| {
                let [low, high] = [low, high].map(number);
                format!(", {low} to {high}")
            });
            number(point.y) + &range.unwrap_or_default() + &origin
        });
        let published = self.published.iter().find(|point| point.0 == x);
        let published = published.map_or(String::new(), |point| number(point.1));
        let published = (!self.published.is_empty()).then_some(published);
        [ours].into_iter().chain(published).collect()
    }
}

/// Returns what marks mean, if there are several kinds.
pub(crate) fn explained(origins: impl Iterator<Item = Origin>) -> Vec<(Sample, String)> {
    let present: Vec<Origin> = origins.collect();
    let kinds = Origin::ALL
        .into_iter()
        .filter(|kind| present.contains(kind));
    let kinds: Vec<_> = kinds
        .filter(|kind| *kind != Origin::Exact)
        .map(|kind| (Sample::Mark(kind), kind.name().to_owned()))
        .collect();
    let plain = kinds.len() == 1 && present.iter().all(|origin| *origin == Origin::Measured);
    if plain { Vec::new() } else { kinds }
}

/// Names beside the lines' ends, each after a sample of its line.
struct Names<'a> {
    lines: Vec<&'a Line>,
}

/// Pixels between a plot and the names.
const GAP: f64 = 16.0;

impl<'a> Names<'a> {
    /// Returns the names, if they leave enough room for the lines.
    fn of(medium: Medium, chart: &'a LineChart) -> Option<Self> {
        let lines = chart
            .lines
            .iter()
            .filter(|line| line.all().next().is_some());
        let names = Self {
            lines: lines.collect(),
        };
        // Fourteen are as high as the plot of a page.
        (names.width() <= 0.36 * medium.width() && names.lines.len() <= 14).then_some(names)
    }

    fn width(&self) -> f64 {
        let texts = widest(self.lines.iter().map(|line| &*line.name));
        GAP + SAMPLE + 4.0 + texts + MARGIN / 2.0
    }

    /// As near to the end of its line as other names let it be.
    fn draw(&self, plane: &Plane, svg: &mut Svg) {
        let end = |line: &Line| {
            let last = line.points.last().map(|point| (point.x, point.y));
            let last = last.or(line.published.last().copied()).expect("a point");
            plane.place(last).1
        };
        let mut names: Vec<(f64, &Line)> =
            self.lines.iter().map(|line| (end(line), *line)).collect();
        names.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut heights: Vec<f64> = names.iter().map(|(height, _)| *height).collect();
        spread(&mut heights, plane.bottom);
        for ((_, line), y) in names.into_iter().zip(heights) {
            let x = plane.right + GAP;
            line.sample().draw(svg, (x, y));
            svg.text(Anchor::Start, (x + SAMPLE + 4.0, y), &line.name);
        }
    }
}

/// Moves heights, which are in order, down until they are a line of text apart; and up again from
/// the bottom.
fn spread(heights: &mut [f64], bottom: f64) {
    let mut free = f64::NEG_INFINITY;
    for height in heights.iter_mut() {
        *height = height.max(free);
        free = *height + LEADING;
    }
    let mut free = bottom;
    for height in heights.iter_mut().rev() {
        *height = height.min(free);
        free = *height - LEADING;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scale;

    fn line(name: &str, style: usize, points: &[(f64, f64)]) -> Line {
        let measured = |&(x, y)| Point {
            x,
            y,
            range: None,
            origin: Origin::Measured,
        };
        Line {
            name: name.into(),
            style,
            points: points.iter().map(measured).collect(),
            published: Vec::new(),
        }
    }

    fn chart(lines: Vec<Line>) -> LineChart {
        let axis = |label: &str| Axis {
            label: label.into(),
            scale: Scale::Powers(10),
        };
        LineChart {
            title: "a & b".into(),
            description: "1 < 2".into(),
            x: axis("Mbit/s"),
            y: axis("seconds"),
            lines,
        }
    }

    /// Returns the attribute of the first element that has a text in it.
    fn attribute(svg: &str, containing: &str, name: &str) -> f64 {
        let element = svg.lines().find(|line| line.contains(containing)).unwrap();
        let (_, rest) = element.split_once(&format!(" {name}=\"")).unwrap();
        rest.split('"').next().unwrap().parse().unwrap()
    }

    #[test]
    fn points_lie_where_their_logarithms_are() {
        let svg = chart(vec![line(
            "x",
            0,
            &[(1.0, 0.1), (10.0, 1.0), (100.0, 1000.0)],
        )]);
        let svg = svg.svg(Medium::File);
        let circles: Vec<_> = svg
            .lines()
            .filter(|line| line.starts_with("<circle"))
            .collect();
        let place = |number: usize| {
            let circle = circles[number];
            (
                attribute(circle, "circle", "cx"),
                attribute(circle, "circle", "cy"),
            )
        };
        let ((x0, y0), (x1, y1), (x2, y2)) = (place(0), place(1), place(2));
        assert!((x2 - x1 - (x1 - x0)).abs() < 0.2, "a decade each");
        assert!(
            (y1 - y2 - 3.0 * (y0 - y1)).abs() < 0.4,
            "three decades and one"
        );
        assert_eq!(
            (y0, y2),
            (370.0, 30.0),
            "from the lowest tick to the highest"
        );
    }

    #[test]
    fn lines_that_end_together_have_names_below_each_other() {
        let points = [(1.0, 1.0), (2.0, 3.0)];
        let svg = chart(vec![line("first", 0, &points), line("second", 1, &points)]);
        let svg = svg.svg(Medium::Page);
        let height = |name: &str| attribute(&svg, &format!(">{name}<"), "y");
        assert!((height("second") - height("first") - LEADING).abs() < 0.2);
    }

    #[test]
    fn names_stay_inside() {
        let mut heights = [10.0, 95.0, 96.0, 99.0];
        spread(&mut heights, 100.0);
        assert_eq!(
            heights,
            [10.0, 100.0 - 2.0 * LEADING, 100.0 - LEADING, 100.0]
        );
    }

    #[test]
    fn long_names_stand_below() {
        let points = [(1.0, 1.0), (2.0, 3.0)];
        let narrow = chart(vec![line("spot-low-malicious-sender", 0, &points)]).svg(Medium::Page);
        assert!(attribute(&narrow, ">spot-low", "y") > 300.0);
        assert!(attribute(&narrow, ">spot-low", "x") < 60.0);
    }

    #[test]
    fn origins_look_different_and_are_explained() {
        let mut ours = line("kkrt", 1, &[(1.0, 1.0), (10.0, 3.0)]);
        let measured = chart(vec![ours.clone()]).svg(Medium::Page);
        assert!(!measured.contains("hollow") && !measured.contains(">measured<"));
        ours.points[1].origin = Origin::Extrapolated;
        ours.published = vec![(1.0, 2.0), (10.0, 5.0)];
        let svg = chart(vec![ours]).svg(Medium::Page);
        for text in [
            ">measured<",
            ">extrapolated<",
            ">published<",
            "line dotted",
            "mark hollow",
            "mark cross",
        ] {
            assert!(svg.contains(text), "{text}");
        }
    }

    #[test]
    fn scatter_is_drawn_and_told() {
        let mut ours = line("kkrt", 1, &[(1.0, 10.0), (10.0, 100.0)]);
        assert!(
            !chart(vec![ours.clone()])
                .svg(Medium::Page)
                .contains("range")
        );
        ours.points[1].range = Some((50.0, 1000.0));
        let chart = chart(vec![ours]);
        let svg = chart.svg(Medium::Page);
        assert_eq!(svg.matches("class=\"range\"").count(), 1);
        assert_eq!(chart.data().rows[1][1], "100, 50 to 1000");
    }

    #[test]
    fn the_table_has_a_row_per_place_and_says_what_is_extrapolated() {
        let mut ours = line("kkrt", 1, &[(1.0, 1.5), (10.0, 3.0)]);
        ours.points[1].origin = Origin::Extrapolated;
        ours.published = vec![(10.0, 5.0)];
        let data = chart(vec![ours, line("dh", 0, &[(1.0, 7.0)])]).data();
        assert_eq!(data.caption, "seconds, by Mbit/s");
        assert_eq!(data.columns, ["Mbit/s", "kkrt", "kkrt, published", "dh"]);
        assert_eq!(
            data.rows,
            [["1", "1.5", "", "7"], ["10", "3 (extrapolated)", "5", ""]]
        );
    }

    #[test]
    fn names_and_titles_are_text_and_the_same_every_time() {
        let chart = chart(vec![line("<b>", 0, &[(1.0, 1.0)]), line("empty", 1, &[])]);
        let svg = chart.svg(Medium::File);
        assert!(svg.contains(">&lt;b&gt;<"));
        assert!(svg.contains("<title>a &amp; b</title>\n<desc>1 &lt; 2</desc>"));
        assert!(!svg.contains("empty"), "it has no points");
        assert_eq!(svg, chart.svg(Medium::File));
    }

    #[test]
    #[should_panic = "there are values to show"]
    fn no_points_are_no_chart() {
        let _ = chart(vec![line("empty", 0, &[])]).svg(Medium::File);
    }
}
