//! `psijoin budget`: how much each receiver may learn of a table.

use psijoin_frontend::{
    Failure,
    grid::{Align, Grid},
};
use psijoin_printable::humanize;
use psijoin_session::{Balance, Budget, Limits};
use serde::Serialize;

use crate::{
    args::{self, BudgetAction},
    console::Console,
    output,
};

pub(super) fn run(args: &args::Budget) -> Result<(), Failure> {
    match &args.action {
        BudgetAction::Create(args) => create(args),
        BudgetAction::Show { file, json } => {
            let budget = Budget::read(file)?;
            match json {
                true => output::json(&Shown::new(&budget)),
                false => output::text(&text(&budget)),
            }
        }
    }
}

fn create(args: &args::Limits) -> Result<(), Failure> {
    let limits = Limits {
        epsilon: args.epsilon,
        answers: args.answers,
        least_change: args.least_change,
    };
    Budget::create(&args.file, limits)?;
    Console::wanted().say(format_args!(
        "made the budget {}: {} for each receiver",
        psijoin_printable::path(&args.file),
        limited(limits)
    ));
    Ok(())
}

/// Returns limits in words.
fn limited(limits: Limits) -> String {
    let epsilon = limits.epsilon.map(|epsilon| format!("ε = {epsilon}"));
    let answers = limits.answers;
    let answers = answers.map(|answers| humanize::counted(answers, "answer"));
    let least = limits.least_change;
    let least = least.map(|least| {
        format!(
            "a least change of {}",
            humanize::counted(least.into(), "key")
        )
    });
    let limited = epsilon.into_iter().chain(answers).chain(least);
    humanize::listed(&limited.collect::<Vec<_>>())
}

fn text(budget: &Budget) -> String {
    let partners = budget.partners();
    let columns = ["receiver", "fingerprint", "answers", "ε spent", "last one"];
    let mut grid = Grid::new(&columns.map(|name| (name, Align::Left)));
    for (last, balance) in &partners {
        grid.row([
            last.name.clone().unwrap_or_default(),
            last.partner.to_string(),
            humanize::count(balance.answers),
            balance.spent.to_string(),
            last.at.clone(),
        ]);
    }
    let limits = limited(budget.limits);
    match partners.is_empty() {
        true => format!("{limits} for each receiver, and nobody has had an answer\n"),
        false => format!("{limits} for each receiver\n{grid}"),
    }
}

/// The output of `--json`.
#[derive(Serialize)]
struct Shown {
    /// A text, since it is exact; `null` without a limit.
    epsilon: Option<String>,
    answers: Option<u64>,
    least_change: Option<u32>,
    receivers: Vec<ShownReceiver>,
}

#[derive(Serialize)]
struct ShownReceiver {
    name: Option<String>,
    fingerprint: String,
    answers: u64,
    epsilon_spent: String,
    last: String,
}

impl Shown {
    fn new(budget: &Budget) -> Self {
        let receiver = |(last, balance): (&psijoin_session::Answer, Balance)| ShownReceiver {
            name: last.name.clone(),
            fingerprint: last.partner.to_string(),
            answers: balance.answers,
            epsilon_spent: balance.spent.to_string(),
            last: last.at.clone(),
        };
        Self {
            epsilon: budget.limits.epsilon.map(|epsilon| epsilon.to_string()),
            answers: budget.limits.answers,
            least_change: budget.limits.least_change,
            receivers: budget.partners().into_iter().map(receiver).collect(),
        }
    }
}
