//! A plane that is cut into cells.

use crate::{
    Axis, Medium,
    axis::Range,
    plane::Plane,
    regions::{Block, Region},
    svg::{Place, Svg},
    text::{LEADING, width},
};

/// The edges of cells in a picture.
pub(crate) struct Grid {
    /// From left to right.
    x: Vec<f64>,
    /// From the bottom upwards, so falling.
    y: Vec<f64>,
}

impl Grid {
    /// Cells for the values of columns and of rows, and the plane that they fill.
    pub(crate) fn new(
        medium: Medium,
        (x, columns): (&Axis, &[f64]),
        (y, rows): (&Axis, &[f64]),
    ) -> (Self, Plane) {
        let (x_edges, y_edges) = (edges(x, columns), edges(y, rows));
        let plane = Plane::new(
            medium,
            Range::of(x.scale, x_edges.iter().copied()),
            Range::of(y.scale, y_edges.iter().copied()),
            0.0,
        );
        let across = |x: f64| plane.place((x, y_edges[0])).0;
        let up = |y: f64| plane.place((x_edges[0], y)).1;
        let grid = Self {
            x: x_edges.iter().map(|x| across(*x)).collect(),
            y: y_edges.iter().map(|y| up(*y)).collect(),
        };
        (grid, plane)
    }

    /// Returns where a block begins above, and its size.
    pub(crate) fn rectangle(&self, block: &Block) -> (Place, Place) {
        let (left, right) = (self.x[block.columns.start], self.x[block.columns.end]);
        let (bottom, top) = (self.y[block.rows.start], self.y[block.rows.end]);
        ((left, top), (right - left, bottom - top))
    }

    /// Returns the middle of a cell.
    pub(crate) fn center(&self, row: usize, column: usize) -> Place {
        let middle = |edges: &[f64], place: usize| (edges[place] + edges[place + 1]) / 2.0;
        (middle(&self.x, column), middle(&self.y, row))
    }

    /// Lines between cells that have other winners.
    pub(crate) fn draw_borders(&self, cells: &[Vec<usize>], svg: &mut Svg) {
        let mut borders = Vec::new();
        for (y, row) in cells.iter().enumerate() {
            for (x, winner) in row.iter().enumerate() {
                let corner = (self.x[x + 1], self.y[y + 1]);
                if row.get(x + 1).is_some_and(|other| other != winner) {
                    borders.push(((corner.0, self.y[y]), corner));
                }
                if cells.get(y + 1).is_some_and(|row| row[x] != *winner) {
                    borders.push(((self.x[x], corner.1), corner));
                }
            }
        }
        if !borders.is_empty() {
            svg.strokes("border", &borders);
        }
    }

    /// Returns the place nearest to the middle of a region where a text lies within it.
    pub(crate) fn room(&self, region: &Region, text: &str) -> Option<Place> {
        let half = (width(text) / 2.0 + 2.0, LEADING / 2.0);
        let (xs, ys) = (halves(&self.x), halves(&self.y));
        let places = xs.iter().flat_map(|x| ys.iter().map(|y| (*x, *y)));
        let middle = self.middle(region);
        let distance = |place: &Place| (place.0 - middle.0).hypot(place.1 - middle.1);
        places
            .filter(|place| self.covered(*place, half, region))
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }

    /// Returns whether all cells that lie below a rectangle are the region's.
    fn covered(&self, (x, y): Place, half: (f64, f64), region: &Region) -> bool {
        let inside = x - half.0 >= self.x[0]
            && x + half.0 <= self.x[self.x.len() - 1]
            && y + half.1 <= self.y[0]
            && y - half.1 >= self.y[self.y.len() - 1];
        let meets_column = |i: usize| self.x[i] < x + half.0 && x - half.0 < self.x[i + 1];
        let meets_row = |i: usize| self.y[i + 1] < y + half.1 && y - half.1 < self.y[i];
        let columns = || (0..self.x.len() - 1).filter(|i| meets_column(*i));
        let mut rows = (0..self.y.len() - 1).filter(|i| meets_row(*i));
        inside && rows.all(|row| columns().all(|column| region.cells.contains(&(row, column))))
    }

    /// Returns the mean of a region's cells.
    fn middle(&self, region: &Region) -> Place {
        let count = region.cells.len() as f64;
        let sum = region.cells.iter().fold((0.0, 0.0), |sum, &(row, column)| {
            (
                sum.0 + (self.x[column] + self.x[column + 1]) / 2.0,
                sum.1 + (self.y[row] + self.y[row + 1]) / 2.0,
            )
        });
        (sum.0 / count, sum.1 / count)
    }
}

/// Edges, and the middles between them.
fn halves(edges: &[f64]) -> Vec<f64> {
    let middles = edges.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0);
    edges.iter().copied().chain(middles).collect()
}

/// Returns the values between neighbours, and half a step beyond the first and the last.
fn edges(axis: &Axis, values: &[f64]) -> Vec<f64> {
    let range = Range::of(axis.scale, values.iter().copied());
    let places: Vec<f64> = values.iter().map(|value| range.at(*value)).collect();
    let between = places.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0);
    let half = |pair: &[f64]| (pair[1] - pair[0]) / 2.0;
    let [first, .., last] = *places else {
        return [0.0, 1.0].map(|place| range.value(place)).to_vec();
    };
    let before = first - half(&places[..2]);
    let behind = last + half(&places[places.len() - 2..]);
    let all = [before].into_iter().chain(between).chain([behind]);
    all.map(|place| range.value(place)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scale;

    #[test]
    fn edges_lie_halfway_on_the_scale() {
        let axis = |scale| Axis {
            label: String::new(),
            scale,
        };
        let near = |values: Vec<f64>, expected: &[f64]| {
            assert_eq!(values.len(), expected.len());
            for (value, expected) in values.iter().zip(expected) {
                assert!((value / expected - 1.0).abs() < 1e-9, "{values:?}");
            }
        };
        near(
            edges(&axis(Scale::Powers(10)), &[1.0, 100.0, 1e4]),
            &[0.1, 10.0, 1e3, 1e5],
        );
        near(edges(&axis(Scale::Linear), &[2.0, 4.0]), &[1.0, 3.0, 5.0]);
        near(edges(&axis(Scale::Powers(4)), &[16.0]), &[8.0, 32.0]);
    }
}
