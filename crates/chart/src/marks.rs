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
    match style % 5 {
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
        _ => svg.polygon(
            class,
            &[(x, y + 5.0), (x + 4.5, y - 3.0), (x - 4.5, y - 3.0)],
        ),
    }
}
