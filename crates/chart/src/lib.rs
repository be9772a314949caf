//! Charts as SVG: [`lines`](LineChart) over two axes, and [`bars`](BarChart).
//!
//! They look the same everywhere: nothing is random, and no font is measured. Colours are those of Okabe
//! and Ito, which people tell apart who see no red or no green; lines are dashed in different ways and named
//! where they end. The reader's preference decides whether it is light or dark. The title is read aloud by a screen reader.
//!
//! ```
//! use psijoin_chart::{Axis, Line, LineChart, Scale};
//!
//! let chart = LineChart {
//!     title: "Bits per item".into(),
//!     x: Axis { label: "items".into(), scale: Scale::Powers(2) },
//!     y: Axis { label: "bits".into(), scale: Scale::Linear },
//!     lines: vec![Line { name: "rr22".into(), points: vec![(256.0, 9000.0), (65536.0, 190.0)] }],
//! };
//! assert!(chart.svg().contains(">rr22</text>"));
//! ```

#![forbid(unsafe_code)]

mod axis;
mod bars;
mod lines;
mod svg;

pub use axis::{Axis, Scale};
pub use bars::{Bar, BarChart, Group};
pub use lines::{Line, LineChart};
