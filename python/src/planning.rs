//! The arguments of Python's `plan`.

use psijoin::{Columns, planner::Order};
use psijoin_channel::link::Link;
use psijoin_frontend::{
    planning::{self, PlannedJoin},
    sizes::{self, SetSizes},
};
use psijoin_session::{Learners, Question, RequestedOutput};
use pyo3::{prelude::*, types::PyDict};

use crate::{
    failed::raised,
    options::{Options, usage},
    wanted::kind,
};

const KEYWORDS: [&str; 18] = [
    "items",
    "network",
    "output_kind",
    "learn",
    "sender_gives",
    "receiver_gives",
    "min_intersection",
    "labels",
    "min_group",
    "noise",
    "post_quantum",
    "threads",
    "memory",
    "prices",
    "regions",
    "calibration",
    "optimise",
    "all",
];

/// The labels of keys by default.
const USUAL_LABELS: Columns = Columns {
    sender: 0,
    receiver: 16,
};

/// The network between the parties by default.
const NETWORK: &str = "100mbps,40ms";

/// Returns the join of these keywords, and the network.
pub(crate) fn planned(options: &Bound<'_, PyDict>) -> PyResult<(PlannedJoin, Link)> {
    let options = &Options::new(options, &KEYWORDS, ("a join", &[]))?;
    let given = |name| options.whole::<u16>(name, 1..=u16::MAX.into());
    let least = options.whole("min_intersection", 1..=u64::MAX)?;
    let mut asked = kind(options)?;
    if let RequestedOutput::Groups(groups) = &mut asked {
        groups.least = options.whole("min_group", 1..=u64::MAX)?.unwrap_or(0);
        groups.noise = options.parsed("noise")?.map(Box::new);
    } else if options.is_told("noise")? {
        return Err(usage(format!(
            "`noise` is for counts and sums of groups, and the output is {asked}: leave it out"
        )));
    }
    let question = Question {
        asked,
        min_intersection: least.unwrap_or(0),
        learners: options.parsed("learn")?.unwrap_or_default(),
        post_quantum: options.flag("post_quantum")?,
    };
    let receiver_gives = given("receiver_gives")?;
    if question.learners == Learners::Receiver && receiver_gives.is_some() {
        return Err(usage(
            "the receiver gives columns only if the sender learns, too: say learn=\"both\", or leave out `receiver_gives`",
        ));
    }
    let prices = options.path("prices")?;
    options.only_with("prices", &["regions"])?;
    options.only_with("regions", &["prices"])?;
    let regions = options.columns("regions")?.unwrap_or_default();
    let rates = planning::rates(prices.as_deref(), &regions);
    let rates = rates.map_err(|failure| raised(failure.into()))?;
    let order = options.read("optimise", order)?.unwrap_or_default();
    if order == Order::Money && rates.is_none() {
        return Err(usage("optimise=\"money\" goes with `prices` and `regions`"));
    }
    let join = PlannedJoin {
        items: items(options)?,
        question,
        sender_gives: given("sender_gives")?,
        receiver_gives,
        labels: labels(options)?,
        threads: options.threads()?,
        memory: options.read("memory", sizes::bytes)?,
        rates,
        order,
        calibration: options.path("calibration")?,
        all: options.flag("all")?,
    };
    let network: Option<Link> = options.parsed("network")?;
    let usual = || NETWORK.parse().expect("it is one");
    Ok((join, network.unwrap_or_else(usual)))
}

/// Returns a number for both parties, or one for each.
fn items(options: &Options<'_, '_>) -> PyResult<SetSizes> {
    const IS: &str = "`items` is the number of keys of both parties, or a pair: of the sender, and of the receiver";
    let items = options.get("items")?.ok_or_else(|| usage(IS))?;
    let pair = items.extract::<(u64, u64)>();
    let pair = pair.or_else(|_| items.extract::<u64>().map(|both| (both, both)));
    let (sender, receiver) = pair.map_err(|_| usage(IS))?;
    let checked = |items: u64| {
        let read = sizes::size(&items.to_string());
        read.map_err(|error| usage(format!("`items`: {error}")))
    };
    Ok(SetSizes {
        sender: checked(sender)?,
        receiver: checked(receiver)?,
    })
}

/// Returns the numbers of labels of the sender's keys and of the receiver's.
fn labels(options: &Options<'_, '_>) -> PyResult<Columns> {
    const IS: &str =
        "`labels` is a pair: how many labels the sender's keys have, and the receiver's";
    let Some(labels) = options.get("labels")? else {
        return Ok(USUAL_LABELS);
    };
    let (sender, receiver) = labels.extract().map_err(|_| usage(IS))?;
    Ok(Columns { sender, receiver })
}

fn order(text: &str) -> Result<Order, &'static str> {
    match text {
        "time" => Ok(Order::Time),
        "bytes" => Ok(Order::Bytes),
        "money" => Ok(Order::Money),
        _ => Err("say time, bytes or money"),
    }
}
