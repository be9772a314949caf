//! A quantity that is known at some sizes, at any size.

/// What was measured at each size, from the smallest to the largest.
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

    /// Between two sizes, a power law: it is exact where the quantity is one, and a few percent too much, if
    /// sizes are not far apart, where it is a constant and a share per item. Above all sizes, the larger one of
    /// that law and of a straight line, as each is too little where the other is right; below them, the line.
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
            _ => power(low, high, size),
        }
    }
}

type Point = (f64, f64);

fn line((x0, y0): Point, (x1, y1): Point, x: f64) -> f64 {
    y0 + (y1 - y0) * (x - x0) / (x1 - x0)
}

/// A power law through both; a line if that is impossible.
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
            assert_close(known.at(n), affine(n), 0.12);
        }
        for n in [1.0, 100.0, 1e5, 1e7] {
            assert_close(known.at(n), affine(n), 1e-9);
        }
    }

    #[test]
    fn one_size_is_better_than_none() {
        assert_close(curve(&[10.0], |_| 5.0).at(20.0), 10.0, 1e-9);
    }
}
