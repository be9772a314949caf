//! The pictures in docs/figures, which are drawn from plans and from the documents' own tables.
//!
//! Each test compares a picture with the committed one. To draw them again:
//! `PSIJOIN_DRAW=1 cargo test -p psijoin --test figures`.

use std::{env, error::Error, fs, ops::Range, path::Path};

use plotters::{
    coord::Shift,
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};
use psijoin::{Request, registry};

type Drawn = Result<(), Box<dyn Error>>;

const SIZE: (u32, u32) = (720, 420);
const FONT: (&str, u32) = ("sans-serif", 13);
/// They are also told apart by people who see no red or no green (Okabe and Ito).
const COLORS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(110, 110, 110),
];

/// Compares what is drawn with the committed file, or writes that.
fn check(name: &str, draw: impl FnOnce(&DrawingArea<SVGBackend<'_>, Shift>) -> Drawn) {
    let mut drawn = String::new();
    {
        let area = SVGBackend::with_string(&mut drawn, SIZE).into_drawing_area();
        // Not transparent, so that it can be read on a dark page.
        area.fill(&WHITE).unwrap();
        draw(&area).unwrap();
        area.present().unwrap();
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/figures");
    let path = folder.join(name);
    if env::var_os("PSIJOIN_DRAW").is_some() {
        fs::create_dir_all(&folder).unwrap();
        fs::write(&path, &drawn).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        drawn == committed,
        "docs/figures/{name} is out of date: PSIJOIN_DRAW=1 cargo test -p psijoin --test figures"
    );
}

/// Bits on the wire, both ways, per item of one side, by the set size: exact, from plans.
#[test]
fn traffic_per_item() {
    const PROTOCOLS: [&str; 6] = ["rr22", "dh", "spot-low", "kkrt", "rr22-circuit", "naive"];
    const LOG_SIZES: Range<f64> = 8.0..24.0;
    check("traffic.svg", |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .margin_right(110)
            .x_label_area_size(40)
            .y_label_area_size(56)
            .build_cartesian_2d(LOG_SIZES, (50.0..20_000.0).log_scale())?;
        chart
            .configure_mesh()
            .x_labels(9)
            .x_label_formatter(&|log| format!("2^{log}"))
            .y_label_formatter(&f64::to_string)
            .x_desc("items per party")
            .y_desc("bits on the wire per item, both ways")
            .label_style(FONT)
            .light_line_style(WHITE)
            .draw()?;
        for (name, color) in PROTOCOLS.into_iter().zip(COLORS) {
            let points = (8..=24).map(|log| (f64::from(log), bits_per_item(name, 1 << log)));
            chart.draw_series(LineSeries::new(points, color.stroke_width(2)))?;
            let (x, y) = chart.backend_coord(&(24.0, bits_per_item(name, 1 << 24)));
            let style = style(&color, HPos::Left);
            area.draw(&Text::new(name, (x + 6, y), style))?;
        }
        Ok(())
    });
}

fn bits_per_item(name: &str, items: u64) -> f64 {
    let request = Request::rows(items, items).unwrap();
    let plan = registry::find(name).unwrap().plan(&request).unwrap();
    8.0 * plan.cost().total.total_bytes() as f64 / items as f64
}

/// The table in docs/performance.md that compares `rr22` with volepsi, as bars: fastest runs, one
/// thread per party.
#[test]
fn rr22_beside_volepsi() {
    const DOCUMENT: &str = include_str!("../../../docs/performance.md");
    let heading = "| n | threads per party | psijoin | volepsi |";
    let table = DOCUMENT.split(heading).nth(1).expect("the table");
    let rows: Vec<Vec<&str>> = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.split('|').map(str::trim).collect())
        .filter(|cells: &Vec<&str>| cells[2] == "1")
        .collect();
    check("volepsi.svg", |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(110)
            .margin_right(90)
            .build_cartesian_2d(0.0..1.8, 0.0..rows.len() as f64)?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .y_labels(0)
            .x_desc("microseconds per item")
            .label_style(FONT)
            .light_line_style(WHITE)
            .draw()?;
        for (i, row) in rows.iter().enumerate() {
            let top = (rows.len() - i) as f64;
            let (x, y) = chart.backend_coord(&(0.0, top - 0.5));
            area.draw(&Text::new(row[1], (x - 8, y), style(&BLACK, HPos::Right)))?;
            for (cell, name, color, place) in [
                (row[3], "psijoin", COLORS[0], top - 0.45),
                (row[4], "volepsi", COLORS[5], top - 0.85),
            ] {
                let time = 1e3 * least(cell) / items(row[1]);
                let bar = [(0.0, place), (time, place + 0.35)];
                chart.draw_series([Rectangle::new(bar, color.filled())])?;
                let (x, y) = chart.backend_coord(&(time, place + 0.17));
                let text = format!("{name} {time:.2}");
                area.draw(&Text::new(text, (x + 6, y), style(&BLACK, HPos::Left)))?;
            }
        }
        Ok(())
    });
}

/// The least number of milliseconds in a cell such as "388, 418, 438" or "1,336 – 1,437".
fn least(cell: &str) -> f64 {
    let numbers = cell.split([' ', '–']).map(|number| {
        let digits = number.replace(',', "");
        digits.parse::<f64>().unwrap_or(f64::INFINITY)
    });
    numbers.fold(f64::INFINITY, f64::min)
}

/// The number in "2^20, malicious".
fn items(cell: &str) -> f64 {
    let log = cell.trim_start_matches("2^").split(',').next();
    log.expect("a size").parse().map(f64::exp2).expect("a size")
}

fn style(color: &RGBColor, place: HPos) -> TextStyle<'_> {
    let style = TextStyle::from(FONT).color(color);
    style.pos(Pos::new(place, VPos::Center))
}
