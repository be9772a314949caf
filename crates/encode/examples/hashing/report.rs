//! Tables, and the verdict at their end.

use std::process::ExitCode;

use psijoin_params::Log2Prob;

use crate::runs::{Distribution, Rate};

/// The results printed so far, and whether all bounds were kept.
#[derive(Default)]
pub(crate) struct Report {
    compared: usize,
    broken: Vec<String>,
}

/// Tables of one size, built many times.
pub(crate) struct Case<'a> {
    pub(crate) items: usize,
    pub(crate) bins: u32,
    /// The room that each run took.
    pub(crate) needed: Distribution,
    /// Of there being too little room.
    pub(crate) bound: &'a dyn Fn(u32) -> Log2Prob,
}

impl Report {
    /// Prints a table in Markdown, as wide as its widest cells.
    pub(crate) fn table<const N: usize>(title: &str, header: [&str; N], rows: &[[String; N]]) {
        let header = header.map(String::from);
        let widths: [usize; N] = std::array::from_fn(|column| {
            let cells = std::iter::once(&header).chain(rows);
            cells
                .map(|row| row[column].chars().count())
                .max()
                .unwrap_or(0)
        });
        let print = |row: &[String; N]| {
            let cells = row.iter().zip(widths);
            let line: String = cells
                .map(|(cell, width)| format!(" {cell:<width$} |"))
                .collect();
            println!("|{line}");
        };
        println!("\n{title}\n");
        print(&header);
        print(&widths.map(|width| "-".repeat(width)));
        rows.iter().for_each(print);
    }

    /// Appends the rate at which there was too little room, and its bound, for each size of the
    /// room at which at least ten runs failed, and not nearly all.
    pub(crate) fn compare(&mut self, case: &Case<'_>, rows: &mut Vec<[String; 5]>) {
        for room in 0..=case.needed.largest() {
            let rate = case.needed.above(room);
            if rate.failed < 10 || rate.log2() > -0.5 {
                continue;
            }
            let bound = (case.bound)(room as u32);
            let cells = [items(case.items), case.bins.to_string(), room.to_string()];
            let [items, bins, room] = cells;
            let bound = self.bound(&format!("{items} in {bins}, {room}"), rate, bound);
            rows.push([items, bins, room, rate.to_string(), bound]);
        }
    }

    /// Returns a cell for a bound on the rate beside it.
    pub(crate) fn bound(&mut self, case: &str, rate: Rate, bound: Log2Prob) -> String {
        self.compared += 1;
        if !rate.keeps(bound) {
            self.broken.push(format!("{case}: {rate}, above {bound}"));
        }
        power(bound.log2())
    }

    /// Says whether all bounds were kept.
    pub(crate) fn end(self) -> ExitCode {
        if self.broken.is_empty() {
            println!("\nAll {} bounds were kept.", self.compared);
            return ExitCode::SUCCESS;
        }
        self.broken
            .iter()
            .for_each(|case| eprintln!("BROKEN: {case}"));
        ExitCode::FAILURE
    }
}

/// Returns 2^x with one digit after the point.
pub(crate) fn power(log2: f64) -> String {
    if log2 == 0.0 {
        return "1".into();
    }
    format!("2^{log2:.1}")
}

/// Returns a number of items: as a power of two if it is one.
pub(crate) fn items(count: usize) -> String {
    if count.is_power_of_two() {
        format!("2^{}", count.ilog2())
    } else {
        count.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_bound_is_an_error_at_the_end() {
        for (failed, verdict) in [(10, ExitCode::SUCCESS), (30, ExitCode::FAILURE)] {
            let mut report = Report::default();
            let cell = report.bound(
                "a case",
                Rate { failed, runs: 80 },
                Log2Prob::from_log2(-3.0),
            );
            assert_eq!(cell, "2^-3.0");
            assert_eq!(report.end(), verdict);
        }
    }
}
