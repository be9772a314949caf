//! Patterns, which tell regions apart without colours.

use crate::svg::Place;

/// Returns the strokes of a style's pattern in a rectangle. They go on in the rectangle beside it.
pub(crate) fn hatch(style: usize, corner: Place, size: (f64, f64)) -> Vec<(Place, Place)> {
    const BETWEEN: f64 = 8.0;
    let (left, top) = corner;
    let (right, bottom) = (left + size.0, top + size.1);
    let multiples = |from: f64, to: f64| {
        let numbers = (from / BETWEEN).ceil() as i64..=(to / BETWEEN).floor() as i64;
        numbers.map(|number| number as f64 * BETWEEN)
    };
    let rising = || {
        multiples(left + top, right + bottom).map(|sum| {
            let (from, to) = (left.max(sum - bottom), right.min(sum - top));
            ((from, sum - from), (to, sum - to))
        })
    };
    let falling = || {
        multiples(left - bottom, right - top).map(|difference| {
            let (from, to) = (left.max(top + difference), right.min(bottom + difference));
            ((from, from - difference), (to, to - difference))
        })
    };
    let level = || multiples(top, bottom).map(|y| ((left, y), (right, y)));
    let upright = || multiples(left, right).map(|x| ((x, top), (x, bottom)));
    match style % 7 {
        0 => Vec::new(),
        1 => rising().collect(),
        2 => falling().collect(),
        3 => level().collect(),
        4 => upright().collect(),
        5 => rising().chain(falling()).collect(),
        _ => level().chain(upright()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stay_inside_and_differ() {
        let patterns: Vec<_> = (0..7)
            .map(|style| hatch(style, (10.0, 20.0), (30.0, 15.0)))
            .collect();
        for (i, pattern) in patterns.iter().enumerate() {
            assert!(patterns[..i].iter().all(|other| other != pattern));
            for (x, y) in pattern.iter().flat_map(|(from, to)| [from, to]) {
                assert!((10.0..=40.0).contains(x) && (20.0..=35.0).contains(y));
            }
        }
    }
}
