//! Maps of winners: regions over two axes.

use crate::{
    Axis, Chart, Data, Medium,
    data::number,
    grid::Grid,
    hatch::hatch,
    legend::{Legend, Sample, UNCERTAIN},
    regions::{blocks, regions},
    svg::{Anchor, Svg},
};

/// A map of winners: a grid of cells over two axes, each with its winner.
#[derive(Debug, Clone, PartialEq)]
pub struct MapChart {
    /// The subject of the chart. It is read aloud, not drawn.
    pub title: String,
    /// A description of the picture, for those who cannot see it.
    pub description: String,
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// The value of each column of cells, from left to right.
    pub columns: Vec<f64>,
    /// The value of each row of cells, from the bottom upwards.
    pub rows: Vec<f64>,
    /// The candidates.
    pub winners: Vec<Winner>,
    /// For each row, and each column in it, who wins: a place in `winners`.
    pub cells: Vec<Vec<usize>>,
    /// For each row, and each column in it, whether that is uncertain; empty if nothing is.
    pub uncertain: Vec<Vec<bool>>,
    /// What uncertain means: "extrapolated".
    pub uncertain_as: String,
}

/// A candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct Winner {
    /// The name, which stands in the region.
    pub name: String,
    /// The colour and pattern: the same number looks the same in all charts.
    pub style: usize,
}

impl Chart for MapChart {
    /// # Panics
    /// If there are no cells, if cells are missing, or if a value has no place on its axis.
    fn svg(&self, medium: Medium) -> String {
        assert_eq!(
            self.cells.len(),
            self.rows.len(),
            "there is a row per value"
        );
        for row in &self.cells {
            assert_eq!(row.len(), self.columns.len(), "there is a cell per column");
        }
        let (grid, plane) = Grid::new(medium, (&self.x, &self.columns), (&self.y, &self.rows));
        let legend = Legend::new(medium, self.explained());

        let height = plane.end() + legend.height();
        let mut svg = Svg::new(medium, height, &self.title, &self.description);
        plane.draw(&mut svg, &self.x, &self.y);
        svg.group("data", |svg| self.draw_cells(&grid, svg));
        svg.group("axis", |svg| grid.draw_borders(&self.cells, svg));
        self.draw_uncertain(&grid, &mut svg);
        svg.group("halo", |svg| self.draw_names(&grid, svg));
        legend.draw(&mut svg, plane.end());
        svg.finish()
    }

    fn title(&self) -> &str {
        &self.title
    }

    fn data(&self) -> Data {
        let corner = format!("{} (rows), {} (columns)", self.y.label, self.x.label);
        let columns = self.columns.iter().map(|value| number(*value));
        let row = |(number_of_row, (value, cells)): (usize, (&f64, &Vec<usize>))| {
            let name = |(column, cell): (usize, &usize)| {
                let name = &self.winners[*cell].name;
                match self.is_uncertain(number_of_row, column) {
                    true => format!("{name} ({})", self.uncertain_as),
                    false => name.clone(),
                }
            };
            let names = cells.iter().enumerate().map(name);
            [number(*value)].into_iter().chain(names).collect()
        };
        Data {
            caption: self.title.clone(),
            columns: [corner].into_iter().chain(columns).collect(),
            rows: (self.rows.iter().zip(&self.cells))
                .enumerate()
                .map(row)
                .collect(),
        }
    }
}

impl MapChart {
    /// Returns the places of those who win somewhere.
    fn present(&self) -> Vec<usize> {
        let wins = |number: &usize| self.cells.iter().flatten().any(|winner| winner == number);
        (0..self.winners.len()).filter(wins).collect()
    }

    /// Returns those who win somewhere, and what uncertain means.
    fn explained(&self) -> Vec<(Sample, String)> {
        let sample = |number: &usize| {
            let winner = &self.winners[*number];
            let sample = Sample::Region(winner.style, self.letter(*number));
            (sample, winner.name.clone())
        };
        let mut entries = Vec::from_iter(self.present().iter().map(sample));
        if self.uncertain.iter().flatten().any(|is| *is) {
            entries.push((Sample::Uncertain, self.uncertain_as.clone()));
        }
        entries
    }

    /// Returns the letter of a winner, where there is no room for the name: A to Z, without gaps.
    fn letter(&self, winner: usize) -> char {
        let place = self.present().iter().position(|one| *one == winner);
        char::from_u32('A' as u32 + place.unwrap_or(0) as u32).unwrap_or('?')
    }

    fn is_uncertain(&self, row: usize, column: usize) -> bool {
        let cell = self.uncertain.get(row).and_then(|row| row.get(column));
        cell.copied().unwrap_or(false)
    }

    /// Draws a dot into each cell that is uncertain.
    fn draw_uncertain(&self, grid: &Grid, svg: &mut Svg) {
        svg.group("dots", |svg| {
            for row in 0..self.rows.len() {
                for column in 0..self.columns.len() {
                    if self.is_uncertain(row, column) {
                        svg.circle("uncertain", grid.center(row, column), UNCERTAIN);
                    }
                }
            }
        });
    }

    fn draw_cells(&self, grid: &Grid, svg: &mut Svg) {
        for block in blocks(&self.cells) {
            let style = self.winners[block.winner].style;
            let (corner, size) = grid.rectangle(&block);
            svg.series(style, &self.winners[block.winner].name, |svg| {
                svg.rectangle("region", corner, size);
                let hatch = hatch(style, corner, size);
                if !hatch.is_empty() {
                    svg.strokes("hatch", &hatch);
                }
            });
        }
    }

    /// Writes the winner's name into each region, or the letter if the name has no room.
    fn draw_names(&self, grid: &Grid, svg: &mut Svg) {
        for region in regions(&self.cells) {
            let name = &self.winners[region.winner].name;
            let letter = self.letter(region.winner).to_string();
            let place = |text: &str| Some((grid.room(&region, text)?, text.to_owned()));
            if let Some((place, text)) = place(name).or_else(|| place(&letter)) {
                svg.text(Anchor::Middle, place, &text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scale;

    fn chart(columns: &[f64], rows: &[f64], cells: &[&[usize]]) -> MapChart {
        let axis = |label: &str| Axis {
            label: label.into(),
            scale: Scale::Powers(10),
        };
        let winner = |(style, name): (usize, &str)| Winner {
            name: name.into(),
            style,
        };
        MapChart {
            title: "Cheapest".into(),
            description: String::new(),
            x: axis("Mbit/s"),
            y: axis("items"),
            columns: columns.into(),
            rows: rows.into(),
            winners: ["kkrt", "spot-fast & slow", "<dh>"]
                .into_iter()
                .enumerate()
                .map(winner)
                .collect(),
            cells: cells.iter().map(|row| row.to_vec()).collect(),
            uncertain: Vec::new(),
            uncertain_as: "extrapolated".into(),
        }
    }

    #[test]
    fn names_stand_in_their_regions_and_letters_where_they_have_no_room() {
        let columns: Vec<f64> = (0..12).map(|i| 10_f64.powi(i)).collect();
        let mostly = [0_usize; 12];
        let mut mixed = mostly;
        mixed[11] = 1;
        let svg = chart(&columns, &[1.0, 10.0, 100.0], &[&mostly, &mixed, &mostly]);
        let svg = svg.svg(Medium::Page);
        let names = svg.split("halo").nth(1).unwrap();
        let names = names.split("</g>").next().unwrap();
        assert!(names.contains(">kkrt<") && names.contains(">B<"));
        assert!(!names.contains("spot-fast"));
        assert!(svg.contains(">spot-fast &amp; slow<"), "in the legend");
        assert!(!svg.contains("dh"), "it wins nowhere");
    }

    #[test]
    fn letters_have_no_gaps_and_uncertain_cells_a_dot() {
        let columns: Vec<f64> = (0..12).map(|i| 10_f64.powi(i)).collect();
        let mut mixed = [0_usize; 12];
        mixed[11] = 2;
        let mut chart = chart(&columns, &[1.0], &[&mixed]);
        let svg = chart.svg(Medium::Page);
        assert!(svg.contains(">B<") && !svg.contains(">C<"));
        assert!(!svg.contains("uncertain\""));
        chart.uncertain = vec![(0..12).map(|column| column > 9).collect()];
        let svg = chart.svg(Medium::Page);
        assert_eq!(
            svg.matches("class=\"uncertain\"").count(),
            3,
            "one in the legend"
        );
        assert!(svg.contains(">extrapolated<"));
        assert_eq!(chart.data().rows[0][12], "<dh> (extrapolated)");
    }

    #[test]
    fn one_cell_is_a_map() {
        let svg = chart(&[100.0], &[1e6], &[&[2]]).svg(Medium::File);
        assert_eq!(
            svg.matches("class=\"region\"").count(),
            2,
            "the cell and the legend"
        );
        assert!(svg.contains(">&lt;dh&gt;<"));
    }

    #[test]
    fn the_table_has_a_winner_per_cell() {
        let data = chart(&[1.0, 10.0], &[256.0], &[&[0, 2]]).data();
        assert_eq!(data.columns, ["items (rows), Mbit/s (columns)", "1", "10"]);
        assert_eq!(data.rows, [["256", "kkrt", "<dh>"]]);
    }

    #[test]
    #[should_panic = "there is a cell per column"]
    fn a_missing_cell_is_noticed() {
        let _ = chart(&[1.0, 10.0], &[256.0], &[&[0]]).svg(Medium::File);
    }
}
