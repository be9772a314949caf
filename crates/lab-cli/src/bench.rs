//! `psijoin-lab bench`: both parties in one process, measured on random items.
//!
//! | module | contents |
//! |---|---|
//! | [`setting`] | the measured setting |
//! | [`sets`], [`expectation`] | random sets, and the outputs that are expected of them |
//! | [`mod@run`], [`measurement`], [`times`] | one run, all runs of a protocol, and the spread of their times |
//! | [`tables`], [`export`] | measurements for people, and for scripts and documents |

use psijoin::{Columns, Plan, Protocol, Request};
use psijoin_channel::path::Path;
use psijoin_cli::{console::Console, output};
use psijoin_printable::humanize;

use crate::{
    args::{self, Export},
    exit::Failure,
};

mod expectation;
mod export;
mod measurement;
mod run;
mod sets;
mod setting;
mod tables;
mod times;

use measurement::Measurement;
use run::Parties;
use setting::Setting;

pub(crate) fn run(args: &args::Bench) -> Result<(), Failure> {
    let setting = Setting::new(args);
    let plans = plans(&args.measured.protocols(), &setting)?;
    let parties = Parties::new(&setting, &plans)?;
    let form = args.export();
    if form == Some(Export::Csv) {
        output::text(&export::csv_header())?;
    }
    let mut measurements = Vec::new();
    for plan in plans {
        let measurement = Measurement::take(plan, &setting, &parties)?;
        if let Some(warning) = measurement.warning() {
            Console::wanted().warn(warning);
        }
        // Whoever stops a long bench keeps what is done.
        match form {
            Some(Export::Json) => output::json(&export::object(&setting, &measurement))?,
            Some(Export::Csv) => output::text(&export::csv_row(&setting, &measurement))?,
            Some(Export::Md) | None => measurements.push(measurement),
        }
    }
    match form {
        Some(Export::Json | Export::Csv) => {}
        Some(Export::Md) => output::text(&export::markdown(&setting, &measurements))?,
        None => output::text(&tables::all(&setting, &measurements))?,
    }
    Ok(())
}

/// Returns the plans of those protocols that can be measured. If there are several, the others are
/// left out, which is said.
///
/// # Errors
/// If there is only one, and it cannot be measured; if none computes the output.
fn plans(protocols: &[&'static Protocol], setting: &Setting) -> Result<Vec<Plan>, Failure> {
    let sizes = setting.sizes;
    let request = setting
        .question
        .request(
            sizes.sender,
            sizes.receiver,
            (setting.columns, Columns::NONE),
            |_| 0,
        )?
        .path(setting.network.map(Path::from).unwrap_or_default());
    let request = match setting.item_bits {
        Some(bits) => of_numbers(request, bits)?,
        None => request,
    };
    let mut plans = Vec::new();
    for protocol in able(protocols, setting)? {
        let plan = psijoin::plan(protocol, &request)?;
        match plan.feasible() {
            Err(refusal) if protocols.len() > 1 => {
                let name = plan.info().name;
                Console::wanted().say(format_args!("{name} is left out: {refusal}"));
            }
            feasible => {
                feasible?;
                plans.push(plan);
            }
        }
    }
    Ok(plans)
}

/// Returns the request for items that are numbers of so many bits.
///
/// # Errors
/// If there are too few of them to draw both sets.
fn of_numbers(request: Request, bits: u32) -> Result<Request, Failure> {
    match u128::from(request.sizes.union()) <= 1 << bits {
        true => Ok(request.numbers(bits)?),
        false => Err(Failure::usage(format!(
            "both sets together have more items than there are numbers of {bits} bits: raise \
             --item-bits, or take fewer --items"
        ))),
    }
}

/// Returns those of the protocols that compute the output.
///
/// # Errors
/// If none does, or no protocol could.
fn able(
    protocols: &[&'static Protocol],
    setting: &Setting,
) -> Result<Vec<&'static Protocol>, Failure> {
    setting.question.check_minimum()?;
    let check = |protocol| setting.question.check(protocol, setting.columns);
    let (able, unable): (Vec<_>, Vec<_>) =
        (protocols.iter().copied()).partition(|protocol| check(protocol).is_ok());
    if let ([], [first, ..]) = (&able[..], &unable[..]) {
        check(first)?;
    }
    if !unable.is_empty() {
        let names = unable
            .iter()
            .map(|protocol| protocol.info().name.to_owned());
        let names: Vec<_> = names.collect();
        Console::wanted().say(format_args!(
            "{} cannot compute the output {}, and {} left out",
            humanize::listed(&names),
            setting.output(),
            if names.len() == 1 { "is" } else { "are" },
        ));
    }
    Ok(able)
}
