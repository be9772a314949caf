//! The charts of a report as files.

use psijoin_chart::Medium;

use super::{Report, Section};

/// A chart as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Picture {
    /// The file's name: `cm20-table-2-1.svg`.
    pub name: String,
    /// The picture.
    pub svg: String,
}

impl Report<'_> {
    /// Returns the charts of each experiment, numbered.
    pub fn pictures(&self) -> Vec<Picture> {
        let sections = self.experiments.iter();
        let pictures = sections.flat_map(|section| self.pictures_of(section));
        pictures.collect()
    }

    fn pictures_of(&self, section: &Section) -> Vec<Picture> {
        let figures = section.figures(&self.ours).into_iter();
        let picture = |(number, figure): (usize, psijoin_page::Figure)| Picture {
            name: format!("{}-{number}.svg", section.name),
            svg: figure.chart.svg(Medium::File),
        };
        (1..).zip(figures).map(picture).collect()
    }
}
