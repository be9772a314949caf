//! The explanation of marks, lines and colours below a picture.

use crate::{
    Medium, Origin,
    bars::bar_class,
    hatch::hatch,
    marks,
    svg::{Anchor, MARGIN, Place, Svg},
    text::width,
};

/// The radius of what says that a cell is uncertain, in pixels.
pub(crate) const UNCERTAIN: f64 = 1.8;

/// Pixels of a line's sample, and of a mark's; and from one row to the next.
pub(crate) const SAMPLE: f64 = 26.0;
const MARK: f64 = 12.0;
const ROW: f64 = 21.0;

/// The sample that is drawn before its explanation.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sample {
    /// A line of a style, with its mark.
    Line(usize, Origin),
    /// The mark of an origin, whatever its style.
    Mark(Origin),
    /// A line of equal cost.
    Cost,
    /// A region of a style, with its letter.
    Region(usize, char),
    /// A bar, whatever its style.
    Bar(Origin),
    /// A cell whose winner is uncertain.
    Uncertain,
}

/// Samples with their explanations, in rows.
pub(crate) struct Legend {
    /// Each with its place to the right.
    rows: Vec<Vec<(f64, Sample, String)>>,
}

impl Legend {
    /// As many beside each other as fit.
    pub(crate) fn new(medium: Medium, entries: impl IntoIterator<Item = (Sample, String)>) -> Self {
        const BETWEEN: f64 = 11.0;
        let mut rows: Vec<Vec<_>> = Vec::new();
        let mut free = f64::INFINITY;
        for (sample, text) in entries {
            let takes = sample.width() + 5.0 + width(&text);
            if rows.is_empty() || free + takes > medium.width() - 4.0 {
                rows.push(Vec::new());
                free = MARGIN / 2.0;
            }
            rows.last_mut().expect("a row").push((free, sample, text));
            free += takes + BETWEEN;
        }
        Self { rows }
    }

    pub(crate) fn height(&self) -> f64 {
        ROW * self.rows.len() as f64
    }

    pub(crate) fn draw(&self, svg: &mut Svg, top: f64) {
        for (row, number) in self.rows.iter().zip(0..) {
            let y = top + ROW * (f64::from(number) + 0.5);
            for (x, sample, text) in row {
                sample.draw(svg, (*x, y));
                svg.text(Anchor::Start, (x + sample.width() + 5.0, y), text);
            }
        }
    }
}

impl Sample {
    fn width(self) -> f64 {
        match self {
            Self::Mark(_) | Self::Uncertain => MARK,
            Self::Line(..) | Self::Cost | Self::Region(..) | Self::Bar(_) => SAMPLE,
        }
    }

    /// Draws it; the place is the middle of its left side.
    pub(crate) fn draw(self, svg: &mut Svg, (x, y): Place) {
        let (middle, end) = ((x + self.width() / 2.0, y), (x + self.width(), y));
        match self {
            Self::Line(style, Origin::Published) => svg.colored(style, |svg| {
                svg.dotted(style, &[(x, y), end]);
                marks::draw(svg, style, Origin::Published, middle);
            }),
            Self::Line(style, origin) => svg.colored(style, |svg| {
                svg.dashed(style, &[(x, y), end]);
                if origin != Origin::Exact {
                    marks::draw(svg, style, origin, middle);
                }
            }),
            Self::Mark(origin) => marks::draw(svg, 0, origin, middle),
            Self::Bar(origin) => svg.rectangle(bar_class(origin), (x, y - 8.0), (SAMPLE, 16.0)),
            Self::Uncertain => svg.circle("uncertain", middle, UNCERTAIN),
            Self::Cost => svg.polyline("cost", &[(x, y), end]),
            Self::Region(style, letter) => region(svg, style, letter, (x, y)),
        }
    }
}

fn region(svg: &mut Svg, style: usize, letter: char, (x, y): Place) {
    let corner = (x, y - 8.0);
    let size = (SAMPLE, 16.0);
    svg.colored(style, |svg| {
        svg.rectangle("region", corner, size);
        svg.strokes("hatch", &hatch(style, corner, size));
    });
    svg.group("halo", |svg| {
        svg.text(Anchor::Middle, (x + SAMPLE / 2.0, y), &letter.to_string());
    });
}
