//! The predicted cost of a join, for people and for scripts.

use std::{num::NonZeroUsize, time::Duration};

use psijoin::{
    Info, Role,
    planner::{Estimate, Obstacle, Order},
    spill::Budget,
};
use psijoin_printable::humanize;
use psijoin_session::{Epsilon, most_spilled};
use serde::Serialize;

use crate::{
    grid::{Align, Grid},
    report::json_line,
    sizes::SetSizes,
};

/// Protocols, and what they were compared for.
pub struct Planned {
    pub(super) items: SetSizes,
    pub(super) output: String,
    /// The privacy loss of the answer, if it has noise.
    pub(super) epsilon: Option<Epsilon>,
    pub(super) order: Order,
    pub(super) network: String,
    pub(super) threads: NonZeroUsize,
    /// The memory of a table's stores, if it is limited.
    pub(super) budget: Option<Budget>,
    pub(super) has_money: bool,
    /// The name of the protocol that `auto` takes.
    pub(super) auto: &'static str,
    /// The best first.
    pub(super) estimates: Vec<Estimate>,
    pub(super) others: Vec<(&'static Info, Obstacle)>,
    /// The number of further protocols.
    pub(super) more: usize,
}

impl Planned {
    /// Returns the name of the protocol that `auto` takes.
    pub fn auto(&self) -> &'static str {
        self.auto
    }

    /// Returns it for scripts: a line of JSON per protocol, the best first.
    pub fn json_lines(&self) -> Vec<String> {
        self.lines().iter().map(json_line).collect()
    }

    fn lines(&self) -> Vec<Line> {
        let choices = self
            .estimates
            .iter()
            .map(|estimate| self.estimated(estimate));
        let others = self.others.iter().map(|(info, obstacle)| LeftOut {
            protocol: info.name,
            obstacle: why(obstacle),
        });
        let choices = choices.map(Box::new).map(Line::Choice);
        choices.chain(others.map(Line::LeftOut)).collect()
    }

    /// Returns it for people, who compare all by saying `all`.
    pub fn text(&self, all: &str) -> String {
        let more = match self.more {
            0 => String::new(),
            more => format!("\n{all} compares {more} more.\n"),
        };
        self.compared() + &left_out(&self.others) + &more
    }

    /// Returns the protocols that can do it, the best first.
    fn compared(&self) -> String {
        let heading = format!(
            "{} of the sender and {} of the receiver, over {}, with {} per party, to learn {}",
            humanize::counted(self.items.sender, "item"),
            humanize::count(self.items.receiver),
            self.network,
            humanize::counted(self.threads.get() as u64, "thread"),
            self.output,
        );
        if self.estimates.is_empty() {
            return format!("{heading}: no protocol can do this.\n");
        }
        let lines: Vec<Estimated> = (self.estimates.iter())
            .map(|estimate| self.estimated(estimate))
            .collect();
        let spills = lines.iter().any(Estimated::spills);
        let mut grid = Grid::new(&self.columns(spills));
        for line in &lines {
            grid.row(self.row(line, spills));
        }
        let extrapolated = match self
            .estimates
            .iter()
            .any(|estimate| estimate.is_extrapolated)
        {
            true => "\n~ extrapolated: sets of this size, or this output, were not measured\n",
            false => "",
        };
        format!(
            "{heading}; the best first, by {}:\n\n{grid}{extrapolated}",
            self.quantity(),
        )
    }

    /// Returns the quantity that the best has least of.
    fn quantity(&self) -> &'static str {
        match self.order {
            Order::Time => "time",
            Order::Bytes => "bytes",
            Order::Money => "money",
        }
    }

    fn columns(&self, spills: bool) -> Vec<(&'static str, Align)> {
        let mut columns = vec![
            ("protocol", Align::Left),
            ("time", Align::Right),
            ("than the best", Align::Right),
            ("sender sends", Align::Right),
            ("receiver sends", Align::Right),
            ("flights", Align::Right),
            ("sender's memory", Align::Right),
            ("receiver's memory", Align::Right),
        ];
        if spills {
            columns.extend([
                ("sender spills", Align::Right),
                ("receiver spills", Align::Right),
            ]);
        }
        if self.has_money {
            columns.push(("USD", Align::Right));
        }
        columns.extend([("adversary", Align::Left), ("leaks", Align::Left)]);
        columns
    }

    fn row(&self, line: &Estimated, spills: bool) -> Vec<String> {
        let name = match line.is_auto {
            true => format!("{} (auto)", line.protocol),
            false => line.protocol.to_owned(),
        };
        let about = if line.is_extrapolated { "~" } else { "" };
        let time = humanize::time(Duration::from_secs_f64(line.seconds));
        let memory = |bytes: Option<u64>| bytes.map_or("?".into(), humanize::bytes);
        let mut cells = vec![
            name,
            format!("{about}{time}"),
            format!("{:.2} x", line.ratio),
            humanize::bytes(line.sender_bytes),
            humanize::bytes(line.receiver_bytes),
            line.flights.to_string(),
            memory(line.sender_memory_bytes),
            memory(line.receiver_memory_bytes),
        ];
        if spills {
            let spilled = [line.sender_spilled_bytes, line.receiver_spilled_bytes];
            cells.extend(spilled.map(|bytes| humanize::bytes(bytes.unwrap_or_default())));
        }
        cells.extend(
            self.has_money
                .then(|| line.usd.map_or("?".into(), |usd| format!("{usd:.6}"))),
        );
        cells.extend([line.adversary.clone(), line.leaks.to_owned()]);
        cells
    }

    fn estimated(&self, estimate: &Estimate) -> Estimated {
        let (info, cost) = (estimate.plan.info(), estimate.plan.cost().total);
        let [sender, receiver] = estimate
            .memory_bytes
            .map(|bytes| bytes.map(|bytes| bytes as u64));
        let spilled = |role| {
            let limit = self.budget.as_ref()?.limit();
            Some(most_spilled(&estimate.plan, role, limit))
        };
        Estimated {
            protocol: info.name,
            is_auto: info.name == self.auto,
            seconds: estimate.forecast.seconds,
            is_extrapolated: estimate.is_extrapolated,
            ratio: self.order.key(estimate) / self.order.key(&self.estimates[0]),
            sender_bytes: cost.sender_bytes,
            receiver_bytes: cost.receiver_bytes,
            flights: cost.flights,
            sender_memory_bytes: sender,
            receiver_memory_bytes: receiver,
            sender_spilled_bytes: spilled(Role::Sender),
            receiver_spilled_bytes: spilled(Role::Receiver),
            usd: estimate.usd,
            epsilon: self.epsilon.map(|epsilon| epsilon.to_string()),
            adversary: info.adversary.to_string(),
            leaks: info.leaks,
        }
    }
}

/// Returns the others, by what is in their way.
fn left_out(others: &[(&'static Info, Obstacle)]) -> String {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for (info, obstacle) in others {
        let why = why(obstacle);
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => names.push(info.name.to_owned()),
            None => reasons.push((why, vec![info.name.to_owned()])),
        }
    }
    let lines = reasons
        .iter()
        .map(|(why, names)| format!("  {why}: {}\n", humanize::listed(names)));
    match reasons.is_empty() {
        true => String::new(),
        false => format!("\nNot a choice:\n\n{}", lines.collect::<String>()),
    }
}

fn why(obstacle: &Obstacle) -> String {
    match obstacle {
        Obstacle::Memory { needed } => format!(
            "too large for the memory, with {} beside the table",
            humanize::bytes(*needed)
        ),
        other => other.to_string(),
    }
}

/// A protocol, for scripts.
#[derive(Serialize)]
#[serde(untagged)]
enum Line {
    Choice(Box<Estimated>),
    LeftOut(LeftOut),
}

/// The estimated cost of a protocol.
#[derive(Serialize)]
struct Estimated {
    protocol: &'static str,
    /// `true` if `auto` takes it.
    is_auto: bool,
    seconds: f64,
    is_extrapolated: bool,
    /// The cost relative to the best.
    ratio: f64,
    sender_bytes: u64,
    receiver_bytes: u64,
    flights: u64,
    sender_memory_bytes: Option<u64>,
    receiver_memory_bytes: Option<u64>,
    /// At most, with the memory that was said.
    sender_spilled_bytes: Option<u64>,
    receiver_spilled_bytes: Option<u64>,
    usd: Option<f64>,
    /// That of an answer with noise; a text, since it is exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    epsilon: Option<String>,
    adversary: String,
    leaks: &'static str,
}

impl Estimated {
    /// Returns whether anything of a table goes to disk.
    fn spills(&self) -> bool {
        [self.sender_spilled_bytes, self.receiver_spilled_bytes]
            .into_iter()
            .flatten()
            .any(|bytes| bytes > 0)
    }
}

/// A protocol that is no choice.
#[derive(Serialize)]
struct LeftOut {
    protocol: &'static str,
    obstacle: String,
}
