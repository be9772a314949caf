//! Figures as they are printed.

/// A printed figure, in the unit of its metric.
pub(crate) struct Printed {
    pub(crate) value: f64,
    /// The most by which the figure before rounding may differ from it.
    pub(crate) rounding: f64,
}

/// Reads `1,229 MB`, `6804 ms`, `1042n`, `3.82x`, `14.6`.
pub(crate) fn read(text: &str) -> Printed {
    let end = text.find(|c: char| !(c.is_ascii_digit() || ",.".contains(c)));
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let unit = match unit {
        "" | "n" | "x" => 1.0,
        " MB" => f64::from(1 << 20),
        " ms" => 1e-3,
        _ => panic!("{text} has an unknown unit"),
    };
    let number = number.replace(',', "");
    let decimals = number.split_once('.').map_or(0, |(_, digits)| digits.len());
    Printed {
        value: number.parse::<f64>().expect("a printed figure") * unit,
        rounding: 0.5 * 0.1_f64.powi(decimals as i32) * unit,
    }
}
