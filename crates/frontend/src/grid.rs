//! Tables of text with aligned columns, for people.

use std::fmt;

use psijoin_printable::Escaped;

/// The alignment of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// To the left, as texts are.
    Left,
    /// To the right, as numbers are.
    Right,
}

/// A table with a header line.
pub struct Grid {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// Returns a table of these columns, without any row yet.
    pub fn new(columns: &[(&str, Align)]) -> Self {
        Self {
            columns: columns
                .iter()
                .map(|&(name, align)| (Escaped(name).to_string(), align))
                .collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row, which must have a cell for each column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells = cells.into_iter().map(|cell| Escaped(&cell).to_string());
        let cells: Vec<_> = cells.collect();
        assert_eq!(cells.len(), self.columns.len(), "a cell for each column");
        self.rows.push(cells);
    }

    /// Returns the grid as a table in Markdown.
    pub fn markdown(&self) -> String {
        let header: Vec<_> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        let rule = |align: &Align| match align {
            Align::Left => "---".to_owned(),
            Align::Right => "---:".to_owned(),
        };
        let rules: Vec<_> = self.columns.iter().map(|(_, align)| rule(align)).collect();
        let lines = [&header, &rules].into_iter().chain(&self.rows);
        lines.map(|cells| markdown_line(cells)).collect()
    }
}

fn markdown_line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header: Vec<_> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        let lines: Vec<_> = [&header].into_iter().chain(&self.rows).collect();
        let widths: Vec<_> = (0..header.len())
            .map(|column| lines.iter().map(|line| width(&line[column])).max())
            .map(Option::unwrap_or_default)
            .collect();
        for line in lines {
            let mut text = String::new();
            for ((cell, (_, align)), width_of_column) in line.iter().zip(&self.columns).zip(&widths)
            {
                let padding = " ".repeat(width_of_column - width(cell));
                text += "  ";
                match align {
                    Align::Left => text += &(cell.clone() + &padding),
                    Align::Right => text += &(padding + cell),
                }
            }
            writeln!(f, "{}", text.trim_end())?;
        }
        Ok(())
    }
}

fn width(cell: &str) -> usize {
    cell.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut grid = Grid::new(&[("name", Align::Left), ("items", Align::Right)]);
        grid.row(["naïve".into(), "1".into()]);
        grid.row(["dh".into(), "1,000,000".into()]);
        assert_eq!(
            grid.to_string(),
            "  name       items\n  naïve          1\n  dh     1,000,000\n"
        );
        assert_eq!(
            grid.markdown(),
            "| name | items |\n| --- | ---: |\n| naïve | 1 |\n| dh | 1,000,000 |\n"
        );
    }

    #[test]
    fn no_cell_makes_a_line() {
        let mut grid = Grid::new(&[("a\nb", Align::Left)]);
        grid.row(["c\u{2028}\u{1b}[2K".into()]);
        assert_eq!(grid.to_string(), "  a\\nb\n  c\\u{2028}\\u{1b}[2K\n");
    }
}
