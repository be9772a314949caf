//! A quantity that is known at some sizes, at any size.

/// The measurement at each size, from the smallest to the largest.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curve(Vec<(f64, f64)>);

impl Curve {
    /// # Panics
    /// If there are no points.
    pub(crate) fn new(mut points: Vec<(f64, f64)>) -> Self {
        assert!(!points.is_empty(), "something was measured");
        points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        Self(points)
    }

    /// Returns the value at a size. Between two sizes it is a smooth curve in logarithms, whose
    /// slopes follow from the neighbours: exact for a power law, and close for a constant and a
    /// share per item. Above all sizes, the larger one of a power law and a straight line, as each
    /// is too little where the other is right; below them, the line.
    pub(crate) fn at(&self, size: f64) -> f64 {
        let points = &self.0;
        if points.len() == 1 {
            let (known, value) = points[0];
            return value * size / known;
        }
        let next = points.partition_point(|(known, _)| *known < size);
        let end = next.clamp(1, points.len() - 1);
        let (low, high) = (points[end - 1], points[end]);
        match next {
            0 => line(low, high, size).max(0.0),
            _ if next == points.len() => power(low, high, size).max(line(low, high, size)),
            _ => self.smooth(end, size),
        }
    }

    /// Returns a quantity of a run at these sizes, given that of some other runs.
    ///
    /// With sets of equal size it is a curve. If one party has more, then a share of what the curve
    /// has more at the larger size is due to that party: the share that it was in the first of the
    /// runs in which it had more, or a half. If no run has sets of equal size, all are of one item
    /// against a set, and it is a curve over the set.
    ///
    /// # Panics
    /// If there are no runs.
    pub(crate) fn at_sizes(runs: &[([u64; 2], f64)], items: [f64; 2]) -> f64 {
        let is_equal = |items: [u64; 2]| items[0] == items[1];
        let has_equal = runs.iter().any(|(items, _)| is_equal(*items));
        let spine = runs
            .iter()
            .filter(|(items, _)| !has_equal || is_equal(*items));
        let curve = Self::new(
            spine
                .map(|(items, value)| (items[0].max(items[1]) as f64, *value))
                .collect(),
        );
        let at_both = |items: [f64; 2]| {
            let [less, more] = [items[0].min(items[1]), items[0].max(items[1])];
            (curve.at(less), curve.at(more))
        };
        let (least, most) = at_both(items);
        if least == most || !has_equal {
            return most;
        }
        let share = |(items, value): &([u64; 2], f64)| {
            let (least, most) = at_both(items.map(|items| items as f64));
            let share = (value - least) / (most - least);
            // Not a number, if there it makes no difference who has more.
            if share.is_nan() {
                0.5
            } else {
                share.clamp(0.0, 1.0)
            }
        };
        let alike = |(known, _): &&([u64; 2], f64)| {
            !is_equal(*known) && (known[0] > known[1]) == (items[0] > items[1])
        };
        let share = runs.iter().find(alike).map_or(0.5, share);
        least + share * (most - least)
    }

    /// Interpolates between the point before `end` and that at `end`, by Fritsch and Carlson's
    /// cubics, which rise where the points do.
    fn smooth(&self, end: usize, size: f64) -> f64 {
        if self
            .0
            .iter()
            .any(|(known, value)| *known <= 0.0 || *value <= 0.0)
        {
            return line(self.0[end - 1], self.0[end], size);
        }
        let points: Vec<Point> = self.0.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
        let (low, high) = (points[end - 1], points[end]);
        let width = high.0 - low.0;
        let [from, to] = [end - 1, end].map(|at| slope(&points, at) * width);
        let t = (size.ln() - low.0) / width;
        let rest = 1.0 - t;
        let ends = low.1 * (1.0 + 2.0 * t) * rest * rest + high.1 * t * t * (3.0 - 2.0 * t);
        (ends + from * t * rest * rest - to * t * t * rest).exp()
    }
}

/// Returns the slope of a curve through points: the harmonic mean of those on both sides, weighted
/// by how near they are; at an end, what continues the bend.
fn slope(points: &[Point], at: usize) -> f64 {
    let between = |a: usize| {
        let (width, height) = (points[a + 1].0 - points[a].0, points[a + 1].1 - points[a].1);
        (width, height / width)
    };
    let last = points.len() - 1;
    if last == 1 {
        return between(0).1;
    }
    if at == 0 || at == last {
        let (near, far) = if at == 0 {
            (0, 1)
        } else {
            (last - 1, last - 2)
        };
        let ((w0, s0), (w1, s1)) = (between(near), between(far));
        let bent = ((2.0 * w0 + w1) * s0 - w0 * s1) / (w0 + w1);
        // Within these bounds it rises, or falls, as the points do.
        return s0.signum() * (bent * s0.signum()).clamp(0.0, 3.0 * s0.abs());
    }
    let ((w0, s0), (w1, s1)) = (between(at - 1), between(at));
    if s0 * s1 <= 0.0 {
        return 0.0;
    }
    let (a, b) = (w0 + 2.0 * w1, 2.0 * w0 + w1);
    (a + b) / (a / s0 + b / s1)
}

type Point = (f64, f64);

fn line((x0, y0): Point, (x1, y1): Point, x: f64) -> f64 {
    y0 + (y1 - y0) * (x - x0) / (x1 - x0)
}

/// Returns a power law through both; a line if that is impossible.
fn power(low: Point, high: Point, x: f64) -> f64 {
    if low.0 <= 0.0 || low.1 <= 0.0 || high.1 <= 0.0 {
        return line(low, high, x);
    }
    let ln = |(x, y): Point| (x.ln(), y.ln());
    line(ln(low), ln(high), x.ln()).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(sizes: &[f64], of: fn(f64) -> f64) -> Curve {
        Curve::new(sizes.iter().map(|size| (*size, of(*size))).collect())
    }

    #[track_caller]
    fn assert_close(value: f64, expected: f64, error: f64) {
        assert!(
            (value / expected - 1.0).abs() <= error,
            "{value} is not {expected}"
        );
    }

    #[test]
    fn powers_are_exact_everywhere() {
        let squares = curve(&[4.0, 16.0, 64.0], |n| 3.0 * n * n);
        for n in [4.0, 5.0, 16.0, 50.0, 1000.0] {
            assert_close(squares.at(n), 3.0 * n * n, 1e-9);
        }
    }

    #[test]
    fn a_constant_and_a_share_per_item_are_close() {
        let affine = |n: f64| 1000.0 + n;
        let known = curve(&[256.0, 1024.0, 4096.0, 16384.0], affine);
        for n in [300.0, 512.0, 2048.0, 8192.0] {
            assert_close(known.at(n), affine(n), 0.04);
        }
        for n in [1.0, 100.0, 1e5, 1e7] {
            assert_close(known.at(n), affine(n), 1e-9);
        }
    }

    #[test]
    fn what_falls_or_stands_still_does_not_swing() {
        let known = Curve::new(vec![(1.0, 2.0), (4.0, 2.0), (16.0, 1.0), (64.0, 8.0)]);
        for n in [1.5, 2.0, 3.0] {
            assert_close(known.at(n), 2.0, 1e-9);
        }
        for n in [5.0, 8.0, 15.0] {
            assert!((1.0..=2.0).contains(&known.at(n)));
        }
        for n in [17.0, 30.0, 63.0] {
            assert!((1.0..=8.0).contains(&known.at(n)));
        }
    }

    #[test]
    fn nothing_stays_nothing() {
        let known = Curve::new(vec![(1.0, 0.0), (4.0, 0.0), (16.0, 3.0)]);
        assert_eq!(known.at(2.0), 0.0);
        assert_close(known.at(10.0), 1.5, 1e-9);
    }

    #[test]
    fn one_size_is_better_than_none() {
        assert_close(curve(&[10.0], |_| 5.0).at(20.0), 10.0, 1e-9);
    }
}
