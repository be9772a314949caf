//! Marks at points, which show where a number comes from.

use crate::svg::{Place, Svg};

/// The origin of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It follows from a formula. A line has no mark there.
    Exact,
    /// It was measured: a full mark.
    Measured,
    /// It was concluded from measurements elsewhere: a hollow mark.
    Extrapolated,
    /// Somebody else published it: a cross.
    Published,
}

impl Origin {
    /// All of them, in the order in which they are explained.
    pub(crate) const ALL: [Self; 4] = [
        Self::Exact,
        Self::Measured,
        Self::Extrapolated,
        Self::Published,
    ];

    /// As it stands in keys and tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Measured => "measured",
            Self::Extrapolated => "extrapolated",
            Self::Published => "published",
        }
    }
}

/// Pixels from the middle of a mark to its edge.
pub(crate) const RADIUS: f64 = 4.0;

/// Draws a mark in the shape of a style.
pub(crate) fn draw(svg: &mut Svg, style: usize, origin: Origin, (x, y): Place) {
    const R: f64 = RADIUS;
    let class = match origin {
        Origin::Exact | Origin::Measured => "mark",
        Origin::Extrapolated => "mark hollow",
        Origin::Published => {
            let cross = [
                ((x - R, y - R), (x + R, y + R)),
                ((x - R, y + R), (x + R, y - R)),
            ];
            return svg.strokes("mark cross", &cross);
        }
    };
    match style % 7 {
        0 => svg.circle(class, (x, y), R),
        1 => svg.polygon(
            class,
            &[
                (x - 3.5, y - 3.5),
                (x + 3.5, y - 3.5),
                (x + 3.5, y + 3.5),
                (x - 3.5, y + 3.5),
            ],
        ),
        2 => svg.polygon(
            class,
            &[(x, y - 5.0), (x + 4.5, y + 3.0), (x - 4.5, y + 3.0)],
        ),
        3 => svg.polygon(
            class,
            &[(x, y - 5.0), (x + 5.0, y), (x, y + 5.0), (x - 5.0, y)],
        ),
        4 => svg.polygon(
            class,
            &[(x, y + 5.0), (x + 4.5, y - 3.0), (x - 4.5, y - 3.0)],
        ),
        // An hourglass.
        5 => svg.polygon(
            class,
            &[
                (x - 4.5, y - 4.5),
                (x + 4.5, y - 4.5),
                (x - 4.5, y + 4.5),
                (x + 4.5, y + 4.5),
            ],
        ),
        // A plus.
        _ => svg.polygon(class, &plus((x, y))),
    }
}

fn plus((x, y): Place) -> [Place; 12] {
    const THIN: f64 = 1.5;
    const LONG: f64 = 5.0;
    [
        (THIN, LONG),
        (THIN, THIN),
        (LONG, THIN),
        (LONG, -THIN),
        (THIN, -THIN),
        (THIN, -LONG),
        (-THIN, -LONG),
        (-THIN, -THIN),
        (-LONG, -THIN),
        (-LONG, THIN),
        (-THIN, THIN),
        (-THIN, LONG),
    ]
    .map(|(right, down)| (x + right, y + down))
}

/// Draws the scatter of a number upwards: a line from its lower to its upper end, if it is longer
/// than the mark.
pub(crate) fn draw_scatter(svg: &mut Svg, (x, low): Place, (_, high): Place) {
    const CAP: f64 = 3.0;
    if (low - high).abs() > 2.0 * RADIUS {
        let across = |y: f64| ((x - CAP, y), (x + CAP, y));
        svg.strokes("range", &[((x, low), (x, high)), across(low), across(high)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Medium;

    #[test]
    fn no_two_styles_of_28_look_alike_even_without_colours() {
        let looks = (0..28).map(|style| {
            let mut svg = Svg::new(Medium::Page, 10.0, "", "");
            draw(&mut svg, style, Origin::Measured, (0.0, 0.0));
            svg.dashed(style, &[(0.0, 0.0), (1.0, 1.0)]);
            svg.finish()
        });
        let looks = Vec::from_iter(looks);
        for (style, look) in looks.iter().enumerate() {
            assert!(!looks[..style].contains(look), "{style}");
        }
    }
}
