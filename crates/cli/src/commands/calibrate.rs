//! `psijoin calibrate`: measures this machine.

use std::{fs, path::Path};

use psijoin::{OutputKind, Protocol};
use psijoin_files::{AtomicFile, Existing};
use psijoin_forecast::{Calibration, Effort, Profile, measured_outputs, profile};
use psijoin_frontend::calibration;

use crate::{args, console::Console, exit::Failure, humanize, processor};

/// The largest sets that are run.
const MOST_ITEMS: u64 = 1 << 20;

/// The number of times that each party runs.
const REPEATS: usize = 3;

pub(super) fn run(args: &args::Calibrate) -> Result<(), Failure> {
    let path = args.out.clone().or_else(calibration::path).ok_or_else(|| {
        Failure::Usage("there is no folder for caches: say where to write with --out".into())
    })?;
    let protocols = args.measured.protocols();
    let tasks: Vec<_> = protocols.into_iter().flat_map(tasks).collect();
    let effort = Effort {
        seconds: args.seconds.into(),
        most_items: MOST_ITEMS,
        repeats: REPEATS,
    };
    let console = Console::wanted();
    console.say(format_args!(
        "This takes about {} minutes at most. Other programs on this machine disturb it.",
        (tasks.len() * args.seconds as usize * 2).div_ceil(60)
    ));
    let measured = tasks
        .iter()
        .enumerate()
        .map(|(number, (protocol, output))| {
            measured(
                protocol,
                output,
                effort,
                format_args!("{} of {}", number + 1, tasks.len()),
            )
        });
    let calibration = Calibration {
        processor: processor::name(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        profiles: measured.collect::<Result<_, _>>()?,
    };
    write(&path, &calibration)?;
    console.say(format_args!(
        "written to {}",
        psijoin_printable::path(&path)
    ));
    Ok(())
}

/// Returns a protocol with each kind of output that it computes.
fn tasks(protocol: &'static Protocol) -> Vec<(&'static Protocol, OutputKind)> {
    let outputs = measured_outputs().into_iter();
    let computed = outputs.filter(|output| protocol.computes(output));
    computed.map(|output| (protocol, output)).collect()
}

fn measured(
    protocol: &'static Protocol,
    output: &OutputKind,
    effort: Effort,
    position: impl std::fmt::Display,
) -> Result<Profile, Failure> {
    let console = Console::wanted();
    let mut sizes = Vec::new();
    let what = format!("{position}: {}, {output}", protocol.info().name);
    let profile = console.during(
        &what,
        || (0, 0),
        || profile(protocol, output, effort, |run| sizes.push(run.items[0])),
    )?;
    let most = sizes.into_iter().max().unwrap_or_default();
    console.say(format_args!(
        "{what}: up to {}",
        humanize::counted(most, "item")
    ));
    Ok(profile)
}

fn write(path: &Path, calibration: &Calibration) -> Result<(), Failure> {
    let refused = |error: std::io::Error| {
        Failure::Usage(format!(
            "cannot write {}: {error}",
            psijoin_printable::path(path)
        ))
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(refused)?;
    }
    let text = serde_json::to_string(calibration).expect("plain data");
    let file = AtomicFile::prepare(path, Existing::Replace).map_err(refused)?;
    let staged = file.stage(|out| out.write_all(text.as_bytes()));
    staged.map_err(refused)?.commit().map_err(refused)
}
