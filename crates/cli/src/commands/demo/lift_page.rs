//! The lift of a campaign as a page, with a chart.

use std::path::Path;

use psijoin_chart::{Axis, Bar, BarChart, Group, Origin, Scale};
use psijoin_files::{AtomicFile, Existing};
use psijoin_page::{Block, Figure, Page, Section, Table};

use super::lift::{COLUMNS, LEAST, Region, SIDES, Side};
use crate::{
    exit::{Failure, ProgramFault},
    humanize,
};

/// Writes the page of these regions.
///
/// # Errors
/// If it cannot be written.
pub(super) fn write(regions: &[Region], file: &Path) -> Result<(), Failure> {
    let html = page(regions).html();
    let written = AtomicFile::prepare(file, Existing::Replace)
        .and_then(|to| to.stage(|out| out.write_all(html.as_bytes())))
        .and_then(|staged| staged.commit());
    written.map_err(|source| {
        let path = file.to_owned();
        ProgramFault::Page { path, source }.into()
    })
}

fn page(regions: &[Region]) -> Page {
    let lift = Table {
        caption: "Per person of each group".into(),
        columns: COLUMNS.map(str::to_owned).to_vec(),
        rows: regions
            .iter()
            .map(|region| region.shown().to_vec())
            .collect(),
    };
    Page {
        title: "Lift of a campaign".into(),
        introduction: vec![
            "How many people of an advertiser's campaign bought something at a shop, of those who \
             saw it and of those who did not."
                .into(),
            format!(
                "The shop told no row. Of a group with fewer than {LEAST} buyers the advertiser \
                 learned only that it has so few."
            ),
        ],
        sections: vec![
            section(
                "Buyers",
                Block::Figures(vec![Figure {
                    caption: "People who bought something, by region".into(),
                    chart: Box::new(chart(regions)),
                }]),
            ),
            section("Lift", Block::Table(lift)),
        ],
    }
}

fn section(heading: &str, block: Block) -> Section {
    Section {
        heading: heading.into(),
        blocks: vec![block],
        sections: Vec::new(),
    }
}

fn chart(regions: &[Region]) -> BarChart {
    let group = |region: &Region| Group {
        name: region.name.clone(),
        bars: (0..)
            .zip(&region.sides)
            .map(|(at, side)| bar(at, side))
            .collect(),
    };
    let told = |region: &Region| {
        let bars = (0..)
            .zip(&region.sides)
            .map(|(at, side)| bar(at, side).label);
        format!("{}: {}.", region.name, bars.collect::<Vec<_>>().join("; "))
    };
    BarChart {
        title: "People who bought something, by region".into(),
        description: regions.iter().map(told).collect::<Vec<_>>().join(" "),
        axis: Axis {
            label: "buyers".into(),
            scale: Scale::Linear,
        },
        groups: regions.iter().map(group).collect(),
    }
}

/// The bar of a side of a region. One that is withheld has no length, and its label says so.
fn bar(at: usize, side: &Side) -> Bar {
    let buyers = side
        .totals
        .as_ref()
        .map(|totals| totals.shared_keys.unsigned_abs());
    let number = match buyers {
        None => format!("withheld, fewer than {LEAST}"),
        Some(buyers) => {
            let [buyers, people] = [buyers, side.people].map(humanize::count);
            format!("{buyers} of {people}")
        }
    };
    Bar {
        label: format!("{}: {number}", SIDES[at]),
        style: at,
        value: buyers.unwrap_or_default() as f64,
        range: None,
        origin: Origin::Exact,
    }
}
