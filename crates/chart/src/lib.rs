//! Charts as SVG: [lines](LineChart) and [points](ScatterChart) over two axes, [bars](BarChart),
//! and [maps](MapChart) of who wins where.
//!
//! They look the same everywhere: nothing is random, and no font is measured. Colours are those of
//! Okabe and Ito, which people tell apart who see no red or no green, and nothing is told by
//! colours alone: lines have their own dashes and marks, regions patterns and names. The reader's
//! preference decides whether it is light or dark. Title and description are read aloud by a screen
//! reader, and each chart is a [table](Data) as well.
//!
//! ```
//! use psijoin_chart::{Axis, Chart, Line, LineChart, Medium, Origin, Point, Scale};
//!
//! let point = |x, y| Point { x, y, range: None, origin: Origin::Exact };
//! let chart = LineChart {
//!     title: "Bits per item".into(),
//!     description: "Large sets take fewer bits per item.".into(),
//!     x: Axis { label: "items".into(), scale: Scale::Powers(2) },
//!     y: Axis { label: "bits".into(), scale: Scale::Linear },
//!     lines: vec![Line {
//!         name: "rr22".into(),
//!         style: 0,
//!         points: vec![point(256.0, 9000.0), point(65536.0, 190.0)],
//!         published: vec![],
//!     }],
//! };
//! assert!(chart.svg(Medium::File).contains(">rr22</text>"));
//! ```
//!
//! # Choices
//!
//! - *Two crates.* `chart` draws, `page` puts charts, verdicts and tables into HTML. Both take
//!   plain structs and know nothing of PSI. They are two because `psijoin`'s own figures need no
//!   page: whoever edits the page does not compile `psijoin`'s tests again.
//! - *One style.* `chart::STYLE` applies below the class `chart` only. A picture in a file carries
//!   it, a page has it once for all its pictures. Nothing has an id in a picture, so pictures do
//!   not get in each other's way.
//! - *Two widths.* A picture in a file is 720 pixels wide, one in a page 380, so that its text
//!   still has 11 pixels on a telephone.
//! - *No font is measured.* Widths of texts are bounded by those of a wide font (`chart::text`), so
//!   that pictures are the same on every machine. `.ci/page` opens a page in Chromium and fails if
//!   a text is cut off or lies on another one all the same.
//! - *Nothing is told by colours alone.* A style is a number for a colour, dashes, the shape of a
//!   mark, and the pattern of a region. A number looks the same in all charts, so a protocol can
//!   keep its looks throughout a report. There are eight colours, seven marks and five dashes, so
//!   35 styles differ even without colours; published values have crosses on dots of five kinds.
//! - *A series has its name* (`data-series`), and so has its sample: `.ci/page` compares the looks
//!   of all series of a picture, and looks for the name of each.

#![forbid(unsafe_code)]

mod axis;
mod bars;
mod data;
mod grid;
mod hatch;
mod legend;
mod lines;
mod map;
mod marks;
mod plane;
mod regions;
mod room;
mod scatter;
mod svg;
mod text;

pub use axis::{Axis, Scale};
pub use bars::{Bar, BarChart, Group};
pub use data::Data;
pub use lines::{Line, LineChart, Point};
pub use map::{MapChart, Winner};
pub use marks::Origin;
pub use scatter::{Cost, NamedPoint, ScatterChart};
pub use svg::{Medium, STYLE};
pub use text::escaped;

/// A chart of any kind.
pub trait Chart: std::fmt::Debug {
    /// Returns the picture.
    fn svg(&self, medium: Medium) -> String;

    /// Returns what it shows.
    fn title(&self) -> &str;

    /// Returns what it shows, as a table.
    fn data(&self) -> Data;
}
