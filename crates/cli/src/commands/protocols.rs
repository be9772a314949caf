//! `psijoin protocols`: the protocols to choose from.

use psijoin::{Columns, Groups, OutputKind, Protocol, Request, registry};
use psijoin_frontend::{
    grid::{Align, Grid},
    sizes::SetSizes,
};
use psijoin_params::Sizes;
use serde::Serialize;

use crate::{args, exit::Failure, humanize, output};

#[derive(Serialize)]
struct Row {
    name: &'static str,
    summary: &'static str,
    paper: &'static str,
    adversary: String,
    /// Whether `--post-quantum` goes with it.
    post_quantum: bool,
    sender_items: u64,
    receiver_items: u64,
    flights: u64,
    sender_bytes: u64,
    receiver_bytes: u64,
    outputs: Vec<&'static str>,
    leaks: &'static str,
}

/// Returns the outputs for a receiver, by their names in `--output-kind`.
fn outputs(protocol: &Protocol) -> Vec<&'static str> {
    let groups = Groups {
        columns: Columns::default(),
        labels: Columns {
            sender: 0,
            receiver: 2,
        },
        least: 0,
        noisy: false,
    };
    [
        ("rows", OutputKind::Rows),
        ("count", OutputKind::Count),
        ("threshold", OutputKind::Threshold(1)),
        ("sum", OutputKind::Sums(Columns::default())),
        ("counts", OutputKind::Groups(groups)),
        ("shares", OutputKind::Shares(Columns::default())),
    ]
    .into_iter()
    .filter(|(_, output)| protocol.computes(output))
    .map(|(name, _)| name)
    .collect()
}

pub(super) fn run(args: &args::Protocols) -> Result<(), Failure> {
    let SetSizes { sender, receiver } = args.items;
    let request = Request::rows(sender, receiver)?;
    let protocols = registry::PROTOCOLS.iter().copied();
    let shown = protocols.filter(|protocol| args.all || registry::is_choice(protocol.info()));
    let rows = rows(shown, &request)?;
    if args.json {
        return rows.iter().try_for_each(output::json);
    }
    let text = table(request.sizes, &rows) + &choice(&request);
    output::text(&(text + &more(registry::PROTOCOLS.len() - rows.len())))
}

/// Returns how to see the protocols that are not listed.
fn more(number: usize) -> String {
    match number {
        0 => String::new(),
        number => format!("--all lists {number} more: baselines, and what papers compare with.\n"),
    }
}

/// Describes the choice of the default.
fn choice(request: &Request) -> String {
    let taken = |output| {
        let request = request.clone().output(output);
        registry::AUTO.chosen(&request).info().name
    };
    format!(
        "\nauto, the default of send and receive, takes what suits the sizes and the network: here, on \
         a fast one, {}.\nTo count it takes {}; for any other output, or with --min-intersection, {}.\n",
        taken(OutputKind::Rows),
        taken(OutputKind::Count),
        taken(OutputKind::Threshold(1)),
    )
}

fn rows(
    protocols: impl Iterator<Item = &'static Protocol>,
    request: &Request,
) -> Result<Vec<Row>, Failure> {
    let row = |protocol: &'static Protocol| {
        let plan = psijoin::plan(protocol, request)?;
        let (info, cost) = (plan.info(), plan.cost().total);
        Ok(Row {
            name: info.name,
            summary: info.summary,
            paper: info.paper,
            adversary: info.adversary.to_string(),
            post_quantum: protocol.is_post_quantum(),
            sender_items: request.sizes.sender(),
            receiver_items: request.sizes.receiver(),
            flights: cost.flights,
            sender_bytes: cost.sender_bytes,
            receiver_bytes: cost.receiver_bytes,
            outputs: outputs(protocol),
            leaks: info.leaks,
        })
    };
    protocols.map(row).collect()
}

fn table(sizes: Sizes, rows: &[Row]) -> String {
    let mut grid = Grid::new(&[
        ("name", Align::Left),
        ("paper", Align::Left),
        ("adversary", Align::Left),
        ("post-quantum", Align::Left),
        ("flights", Align::Right),
        ("sender sends", Align::Right),
        ("receiver sends", Align::Right),
        ("outputs", Align::Left),
        ("leaks", Align::Left),
    ]);
    for row in rows {
        grid.row([
            row.name.to_owned(),
            row.paper.to_owned(),
            row.adversary.clone(),
            if row.post_quantum {
                "with the option"
            } else {
                "no"
            }
            .to_owned(),
            row.flights.to_string(),
            humanize::bytes(row.sender_bytes),
            humanize::bytes(row.receiver_bytes),
            row.outputs.join(", "),
            row.leaks.to_owned(),
        ]);
    }
    let mut text = format!(
        "Costs for {} of the sender and {} of the receiver:\n\n{grid}\n",
        humanize::counted(sizes.sender(), "item"),
        humanize::count(sizes.receiver()),
    );
    for row in rows {
        text += &format!("  {}: {}\n", row.name, row.summary);
    }
    text
}
