//! The lift of a campaign: an advertiser that counts a shop's customers by groups of its own.

use psijoin::Role;
use psijoin_frontend::grid::{Align, Grid};
use psijoin_session::{
    GroupColumn, GroupTotals, Grouped, JoinSpec, Outcome, Received, RequestedGroups,
    RequestedOutput, Totals,
};

use super::{KEY, Sample, cost, heads, lift_page, records};
use crate::{
    args,
    exit::{Failure, ProgramFault},
    humanize, output,
};

/// The sender's, and the receiver's.
pub(super) const SAMPLES: [&Sample; 2] = [
    &Sample {
        party: "A shop (the sender)",
        file: "purchases.csv",
        text: include_str!("../../../samples/purchases.csv"),
    },
    &Sample {
        party: "An advertiser (the receiver)",
        file: "campaign.csv",
        text: include_str!("../../../samples/campaign.csv"),
    },
];

const SUM: &str = "sender.amount";
const BY: &str = "receiver.region,receiver.group";

/// Groups of fewer buyers are withheld.
pub(super) const LEAST: u64 = 5;

/// Who saw the campaign, and who did not.
pub(super) const SIDES: [&str; 2] = ["exposed", "control"];

/// The people of a region.
pub(super) struct Region {
    pub(super) name: String,
    /// In the order of [`SIDES`].
    pub(super) sides: [Side; 2],
}

/// The people of a region who saw the campaign, or those who did not.
pub(super) struct Side {
    /// Their number, which the advertiser knows.
    pub(super) people: u64,
    /// What it has learned of those who bought something.
    pub(super) totals: Option<Totals>,
}

impl Side {
    /// Returns how many of these people bought something, per person.
    fn rate(&self) -> Option<f64> {
        let totals = self.totals.as_ref()?;
        Some(totals.shared_keys as f64 / self.people as f64)
    }

    /// Returns what these people spent, per person.
    fn spent(&self) -> Option<f64> {
        let sum = self.totals.as_ref()?.sums[0];
        Some(sum.mantissa as f64 / 10_f64.powi(sum.scale as i32) / self.people as f64)
    }
}

impl Region {
    /// Returns its name, and for buyers and amounts what each side has per person and the lift.
    pub(super) fn shown(&self) -> [String; 7] {
        let percent = |rate: f64| format!("{:.1} %", 100.0 * rate);
        let bought = self.compared(Side::rate, percent);
        let spent = self.compared(Side::spent, |amount| format!("{amount:.2}"));
        let [exposed, control, lift] = bought;
        let [spent_exposed, spent_control, spent_lift] = spent;
        let name = self.name.clone();
        [
            name,
            exposed,
            control,
            lift,
            spent_exposed,
            spent_control,
            spent_lift,
        ]
    }

    /// Returns a figure of both sides, and by how much the first one is more than the second.
    fn compared(
        &self,
        figure: impl Fn(&Side) -> Option<f64>,
        show: impl Fn(f64) -> String,
    ) -> [String; 3] {
        let figures = self.sides.each_ref().map(figure);
        let lift = match figures {
            [Some(exposed), Some(control)] if control > 0.0 => {
                format!("{:+.0} %", 100.0 * (exposed / control - 1.0))
            }
            _ => "unknown".to_owned(),
        };
        let [exposed, control] = figures.map(|figure| figure.map_or("withheld".to_owned(), &show));
        [exposed, control, lift]
    }
}

/// The columns of what [`Region::shown`] returns.
pub(super) const COLUMNS: [&str; 7] = [
    "region",
    "bought: exposed",
    "control",
    "lift",
    "spent each: exposed",
    "control",
    "lift",
];

pub(super) fn run(args: &args::Lift) -> Result<(), Failure> {
    let folder = tempfile::tempdir().map_err(ProgramFault::Temporary)?;
    let outcomes = super::join(SAMPLES, folder.path(), ask)?;
    let Some(Received::Groups(grouped)) = &outcomes[Role::Receiver as usize].received else {
        unreachable!("it asks for groups")
    };
    let regions = regions(grouped);
    if let Some(file) = &args.page {
        lift_page::write(&regions, file)?;
    }
    output::text(&story(grouped, &regions, &outcomes))
}

fn ask(spec: &mut JoinSpec) {
    spec.question.asked = RequestedOutput::Groups(RequestedGroups {
        sums: vec![SUM.parse().expect("a column of the sender")],
        means: Vec::new(),
        by: GroupColumn::list(BY).expect("columns of the receiver"),
        least: LEAST,
        noise: None,
    });
}

/// Returns the regions, with the advertiser's own numbers of people.
fn regions(grouped: &Grouped) -> Vec<Region> {
    let people = records(SAMPLES[1].text);
    let names = grouped
        .groups
        .iter()
        .filter_map(|group| group.labels[0].clone());
    let mut names: Vec<String> = names.collect();
    names.dedup();
    let region = |name: String| Region {
        sides: SIDES.map(|side| {
            let is_it =
                |group: &&GroupTotals| group.labels == [Some(name.clone()), Some(side.to_owned())];
            let group = grouped.groups.iter().find(is_it);
            Side {
                people: people
                    .iter()
                    .filter(|row| row[1..] == [&*name, side])
                    .count() as u64,
                totals: group.and_then(|group| group.totals.clone()),
            }
        }),
        name,
    };
    names.into_iter().map(region).collect()
}

fn story(grouped: &Grouped, regions: &[Region], outcomes: &[Outcome; 2]) -> String {
    let [_, received] = outcomes;
    let info = received.plan.info();
    let mut text = String::from(
        "An advertiser knows who saw its campaign, and a shop knows who bought: did it bring \
         customers?\n\n",
    );
    text += &heads(SAMPLES, outcomes);
    text += &format!(
        "They meet over TLS 1.3 and run {} ({}), on the column `{KEY}`, trimmed and in lower \
         case.\nBoth ask for counts and the sum of `{SUM}` by `{BY}`, of groups of at least \
         {LEAST} people.\nThe advertiser now holds this table, and no row of the shop's:\n\n{}\n",
        info.name,
        info.paper,
        answer(grouped),
    );
    text += &format!(
        "It knows how many people are in each group, and divides:\n\n{}\n",
        lift(regions)
    );
    text += &cost(received);
    let sizes = received.plan.request().sizes;
    text += &format!(
        "The advertiser learned this table, and that the shop has {}.\n\
         The shop learned that the advertiser has {}, and the names of its regions and groups.\n\
         Neither learned which keys are shared, nor who of the others is in which group.\n\n\
         Your own campaign: \"Lift of a campaign\" in docs/lift.md.\n",
        humanize::counted(sizes.sender(), "distinct key"),
        humanize::counted(sizes.receiver(), "distinct key"),
    );
    text
}

/// The table of groups, as the receiver has got it.
fn answer(grouped: &Grouped) -> Grid {
    let by = grouped.by.iter().map(|name| (&**name, Align::Left));
    let columns: Vec<_> = by
        .chain([("shared keys", Align::Right), (SUM, Align::Right)])
        .collect();
    let mut grid = Grid::new(&columns);
    for GroupTotals { labels, totals } in &grouped.groups {
        let totals = match totals {
            None => [format!("fewer than {LEAST}"), "withheld".to_owned()],
            Some(totals) => [
                humanize::count(totals.shared_keys.unsigned_abs()),
                totals.sums[0].to_string(),
            ],
        };
        let labels = labels.iter().map(|label| label.clone().unwrap_or_default());
        grid.row(labels.chain(totals));
    }
    grid
}

fn lift(regions: &[Region]) -> Grid {
    let align = |at| if at == 0 { Align::Left } else { Align::Right };
    let columns: Vec<_> = (COLUMNS.iter().enumerate())
        .map(|(at, name)| (*name, align(at)))
        .collect();
    let mut grid = Grid::new(&columns);
    for region in regions {
        grid.row(region.shown());
    }
    grid
}

#[cfg(test)]
mod tests {
    use psijoin_source::Decimal;

    use super::*;

    fn side(people: u64, bought: Option<(i64, i64)>) -> Side {
        let totals = bought.map(|(shared_keys, mantissa)| Totals {
            shared_keys,
            sums: vec![Decimal { mantissa, scale: 2 }],
        });
        Side { people, totals }
    }

    fn region(sides: [Side; 2]) -> Region {
        let name = "north".to_owned();
        Region { name, sides }
    }

    #[test]
    fn lift_is_what_exposed_people_do_more_than_others() {
        let both = region([side(200, Some((50, 10_000))), side(100, Some((20, 8_000)))]);
        let shown = [
            "north", "25.0 %", "20.0 %", "+25 %", "0.50", "0.80", "-38 %",
        ];
        assert_eq!(both.shown(), shown);
    }

    #[test]
    fn of_what_is_withheld_or_nobody_there_is_no_lift() {
        let withheld = region([side(200, None), side(100, Some((0, 0)))]);
        let shown = [
            "north", "withheld", "0.0 %", "unknown", "withheld", "0.00", "unknown",
        ];
        assert_eq!(withheld.shown(), shown);
        let nobody = region([side(200, Some((5, 100))), side(100, Some((0, 0)))]);
        assert_eq!(nobody.shown()[3], "unknown");
    }
}
