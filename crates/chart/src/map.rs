//! Maps of winners: regions over two axes.

use crate::{
    Axis, Chart, Data, Medium,
    data::number,
    grid::Grid,
    hatch::hatch,
    legend::{Legend, Sample},
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
        let row = |(value, cells): (&f64, &Vec<usize>)| {
            let names = cells.iter().map(|cell| self.winners[*cell].name.clone());
            [number(*value)].into_iter().chain(names).collect()
        };
        Data {
            caption: self.title.clone(),
            columns: [corner].into_iter().chain(columns).collect(),
            rows: self.rows.iter().zip(&self.cells).map(row).collect(),
        }
    }
}

impl MapChart {
    /// Returns those who win somewhere.
    fn explained(&self) -> impl Iterator<Item = (Sample, String)> {
        let winners = self.winners.iter().enumerate();
        let present =
            winners.filter(|(number, _)| self.cells.iter().flatten().any(|w| w == number));
        present.map(|(number, winner)| {
            let sample = Sample::Region(winner.style, letter(number));
            (sample, winner.name.clone())
        })
    }

    fn draw_cells(&self, grid: &Grid, svg: &mut Svg) {
        for block in blocks(&self.cells) {
            let style = self.winners[block.winner].style;
            let (corner, size) = grid.rectangle(&block);
            svg.colored(style, |svg| {
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
            let letter = letter(region.winner).to_string();
            let place = |text: &str| Some((grid.room(&region, text)?, text.to_owned()));
            if let Some((place, text)) = place(name).or_else(|| place(&letter)) {
                svg.text(Anchor::Middle, place, &text);
            }
        }
    }
}

/// Returns the letter for a winner where there is no room for the name: A to Z, then others.
fn letter(winner: usize) -> char {
    char::from_u32('A' as u32 + winner as u32).unwrap_or('?')
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
