//! The elements of a picture.

use std::fmt::{Display, Write as _};

/// Colours of Okabe and Ito: they are told apart by people who see no red or no green.
const COLORS: [&str; 6] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#8a8a8a",
];

/// Pixels: the whole width, what is free above and to the right, and what ticks and labels take below.
pub(crate) const WIDTH: f64 = 720.0;
pub(crate) const MARGIN: f64 = 14.0;
pub(crate) const BELOW: f64 = 52.0;

/// Pixels of the text.
pub(crate) const FONT: f64 = 13.0;

/// Which end of a text is where it is put.
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
    /// An empty picture, light or dark as the reader prefers.
    pub(crate) fn new(height: f64, title: &str) -> Self {
        let title = escaped(title);
        let mut text = String::new();
        let _ = write!(
            text,
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{title}">
<title>{title}</title>
<style>
svg {{ font: {FONT}px sans-serif; background: #fff; color: #222 }}
text {{ fill: currentColor }}
.grid {{ stroke: currentColor; stroke-opacity: 0.15 }}
.axis {{ stroke: currentColor; stroke-opacity: 0.6 }}
@media (prefers-color-scheme: dark) {{ svg {{ background: #14171c; color: #e4e4e4 }} }}
</style>
"##
        );
        Self { text }
    }

    pub(crate) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let (x1, y1, x2, y2) = (px(from.0), px(from.1), px(to.0), px(to.1));
        self.add(format_args!(
            r#"<line class="{class}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>"#
        ));
    }

    /// A line through points, in the color and the dashes of a number.
    pub(crate) fn path(&mut self, number: usize, points: &[(f64, f64)]) {
        const DASHES: [&str; 4] = ["none", "6 3", "2 3", "8 3 2 3"];
        let points: Vec<String> = points
            .iter()
            .map(|(x, y)| format!("{},{}", px(*x), px(*y)))
            .collect();
        let (color, dashes) = (COLORS[number % COLORS.len()], DASHES[number % DASHES.len()]);
        self.add(format_args!(
            r#"<polyline fill="none" stroke="{color}" stroke-width="2" stroke-dasharray="{dashes}" points="{}"/>"#,
            points.join(" ")
        ));
    }

    pub(crate) fn bar(&mut self, number: usize, corner: (f64, f64), size: (f64, f64)) {
        let (x, y, width, height) = (px(corner.0), px(corner.1), px(size.0), px(size.1));
        let color = COLORS[number % COLORS.len()];
        self.add(format_args!(
            r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{color}"/>"#
        ));
    }

    /// A text whose middle is at this height.
    pub(crate) fn text(&mut self, anchor: Anchor, (x, y): (f64, f64), text: &str) {
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

    /// A text that is read from below.
    pub(crate) fn upright(&mut self, (x, y): (f64, f64), text: &str) {
        let (x, y) = (px(x), px(y));
        self.add(format_args!(
            r#"<text transform="translate({x} {y}) rotate(-90)" text-anchor="middle">{}</text>"#,
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

/// About how wide the longest of these texts is, in pixels: no font is measured.
pub(crate) fn widest<'a>(texts: impl Iterator<Item = &'a String>) -> f64 {
    let letters = texts.map(|text| text.chars().count()).max();
    0.6 * FONT * letters.unwrap_or(0) as f64
}

/// Tenths of a pixel are enough, and the same on every machine.
fn px(value: f64) -> f64 {
    (10.0 * value).round() / 10.0
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
