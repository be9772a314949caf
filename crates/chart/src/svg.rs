//! The elements of a picture.

use std::fmt::{Display, Write as _};

use crate::text::{FONT, escaped};

/// The style of all pictures: a page that contains some needs it once. It applies below the class
/// `chart` only.
///
/// Colours are those of Okabe and Ito. Some are darker on a light page, and lighter on a dark one,
/// so that they have the contrast that WCAG 2 asks of graphics.
pub const STYLE: &str = include_str!("chart.css");

/// The number of colours of the style.
const COLORS: usize = 8;

/// The medium of a picture, which determines its width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// A file of its own, for a document: 720 pixels wide, with its own style.
    File,
    /// Part of a page that has [`STYLE`]: 380 pixels wide, so that its text can be read on a
    /// telephone.
    Page,
}

impl Medium {
    pub(crate) fn width(self) -> f64 {
        match self {
            Self::File => 720.0,
            Self::Page => 380.0,
        }
    }
}

/// Pixels that are free at the edges.
pub(crate) const MARGIN: f64 = 14.0;

/// A place in a picture: pixels to the right, and down.
pub(crate) type Place = (f64, f64);

/// The end of a text that is at its place.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A picture under construction.
pub(crate) struct Svg {
    text: String,
}

impl Svg {
    /// Returns an empty picture, light or dark as the reader prefers.
    pub(crate) fn new(medium: Medium, height: f64, title: &str, description: &str) -> Self {
        let (width, height) = (medium.width(), height.ceil());
        let (title, description) = (escaped(title), escaped(description));
        let mut text = String::new();
        let _ = write!(
            text,
            r#"<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {width} {height}" role="img" aria-label="{title}">
<title>{title}</title>
<desc>{description}</desc>
"#
        );
        if medium == Medium::File {
            let _ = writeln!(text, "<style>\n{STYLE}</style>");
        }
        Self { text }
    }

    /// Gives whatever is drawn a class together.
    pub(crate) fn group(&mut self, class: &str, draw: impl FnOnce(&mut Self)) {
        self.add(format_args!(r#"<g class="{class}">"#));
        draw(self);
        self.add("</g>");
    }

    /// Gives whatever is drawn the colour of a style.
    pub(crate) fn colored(&mut self, style: usize, draw: impl FnOnce(&mut Self)) {
        self.group(&format!("c{}", style % COLORS), draw);
    }

    /// As [`colored`](Self::colored), with the name of what is drawn.
    pub(crate) fn series(&mut self, style: usize, name: &str, draw: impl FnOnce(&mut Self)) {
        let (color, name) = (style % COLORS, escaped(name));
        self.add(format_args!(r#"<g class="c{color}" data-series="{name}">"#));
        draw(self);
        self.add("</g>");
    }

    pub(crate) fn line(&mut self, from: Place, to: Place) {
        let (x1, y1, x2, y2) = (px(from.0), px(from.1), px(to.0), px(to.1));
        self.add(format_args!(
            r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>"#
        ));
    }

    /// Draws a line through points, with the dashes of a style.
    pub(crate) fn dashed(&mut self, style: usize, points: &[Place]) {
        const DASHES: [&str; 5] = ["none", "8 3", "4 3", "10 3 3 3", "14 4"];
        let dashes = DASHES[style % DASHES.len()];
        self.add(format_args!(
            r#"<polyline class="line" stroke-dasharray="{dashes}" points="{}"/>"#,
            joined(points)
        ));
    }

    /// Draws a line of dots through points, at the distances of a style.
    pub(crate) fn dotted(&mut self, style: usize, points: &[Place]) {
        const DOTS: [&str; 5] = [
            "0.1 4.5",
            "0.1 4 0.1 9",
            "0.1 8",
            "0.1 4 0.1 4 0.1 10",
            "3 5 0.1 5",
        ];
        let dots = DOTS[style % DOTS.len()];
        self.add(format_args!(
            r#"<polyline class="line dotted" stroke-dasharray="{dots}" points="{}"/>"#,
            joined(points)
        ));
    }

    /// Draws a line through points.
    pub(crate) fn polyline(&mut self, class: &str, points: &[Place]) {
        self.add(format_args!(
            r#"<polyline class="{class}" points="{}"/>"#,
            joined(points)
        ));
    }

    /// Draws the area between points.
    pub(crate) fn polygon(&mut self, class: &str, points: &[Place]) {
        self.add(format_args!(
            r#"<polygon class="{class}" points="{}"/>"#,
            joined(points)
        ));
    }

    pub(crate) fn circle(&mut self, class: &str, (x, y): Place, radius: f64) {
        let (x, y) = (px(x), px(y));
        self.add(format_args!(
            r#"<circle class="{class}" cx="{x}" cy="{y}" r="{radius}"/>"#
        ));
    }

    /// Lines between pairs of points, as one element.
    pub(crate) fn strokes(&mut self, class: &str, strokes: &[(Place, Place)]) {
        let drawn: Vec<String> = strokes
            .iter()
            .map(|((x1, y1), (x2, y2))| format!("M{} {}L{} {}", px(*x1), px(*y1), px(*x2), px(*y2)))
            .collect();
        self.add(format_args!(
            r#"<path class="{class}" d="{}"/>"#,
            drawn.concat()
        ));
    }

    pub(crate) fn rectangle(&mut self, class: &str, corner: Place, size: Place) {
        let (x, y, width, height) = (px(corner.0), px(corner.1), px(size.0), px(size.1));
        self.add(format_args!(
            r#"<rect class="{class}" x="{x}" y="{y}" width="{width}" height="{height}"/>"#
        ));
    }

    /// Draws a text whose middle is at this height.
    pub(crate) fn text(&mut self, anchor: Anchor, (x, y): Place, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (x, y) = (px(x), px(y + 0.35 * FONT));
        self.add(format_args!(
            r#"<text x="{x}" y="{y}" text-anchor="{anchor}">{}</text>"#,
            escaped(text)
        ));
    }

    pub(crate) fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }

    fn add(&mut self, element: impl Display) {
        let _ = writeln!(self.text, "{element}");
    }
}

fn joined(points: &[Place]) -> String {
    let points: Vec<String> = points
        .iter()
        .map(|(x, y)| format!("{},{}", px(*x), px(*y)))
        .collect();
    points.join(" ")
}

/// Tenths of a pixel are enough, and the same on every machine. There is no negative zero.
fn px(value: f64) -> f64 {
    (10.0 * value).round() / 10.0 + 0.0
}
