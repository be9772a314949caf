//! Points over two axes, with lines of equal cost.

use crate::{
    Axis, Chart, Data, Medium, Origin, Scale,
    axis::Range,
    data::number,
    legend::{Legend, Sample},
    lines::explained,
    marks,
    plane::Plane,
    room::{Rectangle, Room},
    svg::{Anchor, Place, Svg},
    text::width,
};

/// Points over two axes, each with a name, and lines of equal cost behind them.
#[derive(Debug, Clone, PartialEq)]
pub struct ScatterChart {
    /// The subject of the chart. It is read aloud, not drawn.
    pub title: String,
    /// A description of the picture, for those who cannot see it.
    pub description: String,
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// In any order.
    pub points: Vec<NamedPoint>,
    /// The cost of a point, if it costs something.
    pub cost: Option<Cost>,
}

/// A point with a name beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedPoint {
    /// Its name.
    pub name: String,
    /// Its colour and mark: the same number looks the same in all charts.
    pub style: usize,
    /// To the right.
    pub x: f64,
    /// Upwards.
    pub y: f64,
    /// The ends of the scatter of `y`, if it has any.
    pub range: Option<(f64, f64)>,
    /// The origin of the values, which determines the looks.
    pub origin: Origin,
}

impl NamedPoint {
    /// Returns its value upwards, and the ends of its scatter.
    fn heights(&self) -> impl Iterator<Item = f64> {
        let ends = self.range.map(|(low, high)| [low, high]);
        [self.y].into_iter().chain(ends.into_iter().flatten())
    }
}

/// The cost of a point: `per_x` times its x, and `per_y` times its y. Both are above 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// For each unit to the right.
    pub per_x: f64,
    /// For each unit upwards.
    pub per_y: f64,
    /// The text before an amount: "$".
    pub currency: String,
    /// The name of lines of equal cost: "dollars per run".
    pub name: String,
}

impl Cost {
    fn of(&self, (x, y): (f64, f64)) -> f64 {
        self.per_x * x + self.per_y * y
    }
}

impl Chart for ScatterChart {
    /// # Panics
    /// If there are no points, or if one has no place on its axis.
    fn svg(&self, medium: Medium) -> String {
        let points = || self.points.iter();
        let plane = Plane::new(
            medium,
            Range::of(self.x.scale, points().map(|point| point.x)).rounded(),
            Range::of(self.y.scale, points().flat_map(NamedPoint::heights)).rounded(),
            0.0,
        );
        let mut entries = explained(points().map(|point| point.origin));
        let cost = self
            .cost
            .iter()
            .map(|cost| (Sample::Cost, cost.name.clone()));
        entries.splice(0..0, cost);
        let legend = Legend::new(medium, entries);

        let height = plane.end() + legend.height();
        let mut svg = Svg::new(medium, height, &self.title, &self.description);
        plane.draw(&mut svg, &self.x, &self.y);
        let mut room = self.room(&plane);
        if let Some(cost) = &self.cost {
            self.draw_cost(cost, &plane, &mut room, &mut svg);
        }
        self.draw_points(&plane, &mut room, &mut svg);
        legend.draw(&mut svg, plane.end());
        svg.finish()
    }

    fn title(&self) -> &str {
        &self.title
    }

    fn data(&self) -> Data {
        let row = |point: &NamedPoint| {
            let numbers = [number(point.x), number(point.y)];
            let cost = self
                .cost
                .iter()
                .map(|cost| number(cost.of((point.x, point.y))));
            [point.name.clone()]
                .into_iter()
                .chain(numbers)
                .chain(cost)
                .chain([point.origin.name().to_owned()])
                .collect()
        };
        let cost = self.cost.iter().map(|cost| cost.name.clone());
        let labels = [String::new(), self.x.label.clone(), self.y.label.clone()];
        Data {
            caption: self.title.clone(),
            columns: labels
                .into_iter()
                .chain(cost)
                .chain(["origin".into()])
                .collect(),
            rows: self.points.iter().map(row).collect(),
        }
    }
}

impl ScatterChart {
    /// Returns the plane without what marks take.
    fn room(&self, plane: &Plane) -> Room {
        let mut room = Room::new(Rectangle {
            left: plane.left + 2.0,
            top: plane.top,
            right: plane.right,
            bottom: plane.bottom - 2.0,
        });
        for point in &self.points {
            let reach = marks::RADIUS + 1.0;
            room.take(Rectangle::around(
                plane.place((point.x, point.y)),
                reach,
                reach,
            ));
        }
        room
    }

    /// Draws lines of equal cost, each with its amount where it has room.
    fn draw_cost(&self, cost: &Cost, plane: &Plane, room: &mut Room, svg: &mut Svg) {
        let costs = self.points.iter().map(|point| cost.of((point.x, point.y)));
        let amounts = Range::of(Scale::Powers(10), costs).rounded().ticks();
        let lines = amounts.into_iter().map(|(amount, label)| {
            let text = format!("{}{label}", cost.currency);
            (equal_cost(cost, amount, plane), text)
        });
        let lines: Vec<_> = lines.filter(|(line, _)| line.len() > 1).collect();
        for (line, _) in &lines {
            svg.polyline("cost", line);
        }
        svg.group("halo", |svg| {
            for (line, text) in &lines {
                let choices = line.iter().map(|place| Rectangle::of_text(*place, text));
                if let Some(place) = room.take_first(choices) {
                    svg.text(Anchor::Middle, place.middle(), text);
                }
            }
        });
    }

    fn draw_points(&self, plane: &Plane, room: &mut Room, svg: &mut Svg) {
        let place = |point: &NamedPoint| plane.place((point.x, point.y));
        // Long names come first: short ones find room between them.
        let mut points: Vec<&NamedPoint> = self.points.iter().collect();
        points.sort_by(|a, b| width(&b.name).total_cmp(&width(&a.name)));
        let names: Vec<_> = points
            .into_iter()
            .filter_map(|point| Some((point, room.take_beside(place(point), &point.name)?)))
            .collect();
        for (point, name) in &names {
            if let Some(end) = leader(place(point), *name) {
                svg.group("leader", |svg| svg.line(place(point), end));
            }
        }
        svg.group("data", |svg| {
            for point in &self.points {
                svg.series(point.style, &point.name, |svg| {
                    if let Some((low, high)) = point.range {
                        let end = |y| plane.place((point.x, y));
                        marks::draw_scatter(svg, end(low), end(high));
                    }
                    marks::draw(svg, point.style, point.origin, place(point));
                });
            }
        });
        svg.group("halo", |svg| {
            for (point, name) in names {
                svg.text(Anchor::Middle, name.middle(), &point.name);
            }
        });
    }
}

/// Returns where a line from a point to its name ends, if they are not beside each other.
fn leader(point: Place, name: Rectangle) -> Option<Place> {
    let nearest = name.nearest(point);
    let distance = (nearest.0 - point.0).hypot(nearest.1 - point.1);
    (distance > 14.0).then_some(nearest)
}

/// Returns a line of points that cost the same, as far as it is in the plane.
fn equal_cost(cost: &Cost, amount: f64, plane: &Plane) -> Vec<Place> {
    // From nearly all of the cost upwards to nearly all of it to the right, evenly where both axes
    // have powers.
    let places = (-120..=120).map(|step| {
        let to_the_right = 1.0 / (1.0 + (-f64::from(step) / 6.0).exp());
        let x = amount * to_the_right / cost.per_x;
        let y = amount * (1.0 - to_the_right) / cost.per_y;
        plane.place((x, y))
    });
    let places: Vec<Place> = places.collect();
    let inside = |place: &Place| plane.contains(*place);
    let mut line = Vec::new();
    for pair in places.windows(2) {
        match (inside(&pair[0]), inside(&pair[1])) {
            (true, true) => line.push(pair[0]),
            (true, false) => line.extend([pair[0], border(plane, pair[0], pair[1])]),
            (false, true) => line.push(border(plane, pair[1], pair[0])),
            (false, false) => (),
        }
    }
    line
}

/// Returns where the way from a place in the plane to one outside leaves it.
fn border(plane: &Plane, inside: Place, outside: Place) -> Place {
    let part = |from: f64, to: f64, least: f64, most: f64| match to {
        to if to < least => (least - from) / (to - from),
        to if to > most => (most - from) / (to - from),
        _ => 1.0,
    };
    let part = part(inside.0, outside.0, plane.left, plane.right).min(part(
        inside.1,
        outside.1,
        plane.top,
        plane.bottom,
    ));
    (
        inside.0 + part * (outside.0 - inside.0),
        inside.1 + part * (outside.1 - inside.1),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: &[(&str, f64, f64)]) -> ScatterChart {
        let axis = |label: &str| Axis {
            label: label.into(),
            scale: Scale::Powers(10),
        };
        let point = |(style, &(name, x, y)): (usize, &(&str, f64, f64))| NamedPoint {
            name: name.into(),
            style,
            x,
            y,
            range: None,
            origin: Origin::Measured,
        };
        ScatterChart {
            title: "Megabytes and seconds".into(),
            description: String::new(),
            x: axis("MB"),
            y: axis("seconds"),
            points: points.iter().enumerate().map(point).collect(),
            cost: Some(Cost {
                per_x: 0.002,
                per_y: 0.01,
                currency: "$".into(),
                name: "dollars".into(),
            }),
        }
    }

    fn plane(chart: &ScatterChart) -> Plane {
        let xs = chart.points.iter().map(|point| point.x);
        let ys = chart.points.iter().map(|point| point.y);
        Plane::new(
            Medium::Page,
            Range::of(chart.x.scale, xs).rounded(),
            Range::of(chart.y.scale, ys).rounded(),
            0.0,
        )
    }

    #[test]
    fn points_of_a_line_cost_the_same() {
        let chart = chart(&[("a", 1.0, 1.0), ("b", 1000.0, 1000.0)]);
        let (plane, cost) = (plane(&chart), chart.cost.unwrap());
        let line = equal_cost(&cost, 1.0, &plane);
        assert!(line.len() > 20);
        let (interior, ends) = (&line[1..line.len() - 1], [line[0], line[line.len() - 1]]);
        for place in interior {
            assert!((cost.of(plane.values(*place)) - 1.0).abs() < 1e-9);
        }
        // A dollar is 99.8 seconds and 1 MB, or 495 MB and a second.
        assert!((ends[0].0 - plane.left).abs() < 1e-9);
        assert!((plane.values(ends[0]).1 - 99.8).abs() < 0.1);
        assert!((ends[1].1 - plane.bottom).abs() < 1e-9);
        assert!((plane.values(ends[1]).0 - 495.0).abs() < 0.5);
    }

    #[test]
    fn amounts_and_names_are_written() {
        let svg = chart(&[("a", 1.0, 1.0), ("b", 1000.0, 1000.0)]).svg(Medium::Page);
        for text in [">a<", ">b<", ">$0.1<", ">$1<", ">dollars<"] {
            assert!(svg.contains(text), "{text}");
        }
    }

    #[test]
    fn names_of_equal_points_stand_apart() {
        let svg = chart(&[("kkrt", 3.0, 3.0), ("rr22", 3.0, 3.0), ("cm20", 3.0, 3.0)]);
        let svg = svg.svg(Medium::Page);
        let places: Vec<&str> = ["kkrt", "rr22", "cm20"]
            .map(|name| svg.lines().find(|line| line.contains(name)).unwrap())
            .map(|line| line.split(" text-anchor").next().unwrap())
            .to_vec();
        assert!(places[0] != places[1] && places[1] != places[2] && places[0] != places[2]);
    }

    #[test]
    fn the_table_has_the_cost() {
        let data = chart(&[("a", 100.0, 50.0)]).data();
        assert_eq!(data.columns, ["", "MB", "seconds", "dollars", "origin"]);
        assert_eq!(data.rows, [["a", "100", "50", "0.7", "measured"]]);
    }

    #[test]
    #[should_panic = "there are values to show"]
    fn no_points_are_no_chart() {
        let _ = chart(&[]).svg(Medium::File);
    }
}
