//! `psijoin-lab report`.

use std::{fs, io, path::Path};

use psijoin_cli::output;
use psijoin_files::{AtomicFile, Existing};
use psijoin_forecast::{Duplex, money::Prices};
use psijoin_lab::{Circumstances, measurements::Measured, report::Report};

use super::{chosen, needs, read, session};
use crate::{
    args::{self, Form},
    exit::Failure,
};

/// Reports what came out.
pub(crate) fn report(args: &args::Report) -> Result<(), Failure> {
    let experiments = chosen(&args.names)?;
    let form = form(args);
    if (form, &args.out) == (Form::Svg, &None) {
        let say = "pictures go to a folder: say which with --out";
        return Err(Failure::usage(say));
    }
    let measured = match needs(&experiments).is_empty() {
        true => Measured::new(session(1)),
        false => read(&args.results.results)?,
    };
    let report = Report::under(circumstances(args)?, &measured, experiments);
    let text = match form {
        Form::Html => report.page().html(),
        Form::Md => report.markdown(),
        Form::Verdicts => report.conclusions(),
        Form::Csv => report.csv(),
        Form::Json => report.json(),
        Form::Svg => return pictures(&report, args.out.as_deref().unwrap_or(Path::new("."))),
    };
    match &args.out {
        None => Ok(output::text(&text)?),
        Some(path) => write(path, &text),
    }
}

fn circumstances(args: &args::Report) -> Result<Circumstances, Failure> {
    let prices = args.prices.as_ref().map(|prices| {
        let shipped = prices.to_str().and_then(Prices::shipped);
        shipped.map_or_else(|| Prices::read(prices), Ok)
    });
    Ok(Circumstances {
        duplex: args.duplex.map(|duplex| match duplex {
            args::Duplex::Full => Duplex::Full,
            args::Duplex::Half => Duplex::Half,
        }),
        slow_start: args.slow_start,
        prices: prices
            .transpose()
            .map_err(|error| Failure::usage(error.to_string()))?,
    })
}

/// As it was said, or as the file's name ends.
fn form(args: &args::Report) -> Form {
    let ending = args
        .out
        .as_ref()
        .and_then(|path| path.extension()?.to_str());
    args.form.unwrap_or(match ending {
        Some("md") => Form::Md,
        Some("csv") => Form::Csv,
        Some("json") => Form::Json,
        _ => Form::Html,
    })
}

fn pictures(report: &Report, folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(not_written(folder))?;
    for picture in report.pictures() {
        write(&folder.join(picture.name), &picture.svg)?;
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let file = AtomicFile::prepare(path, Existing::Replace).map_err(not_written(path))?;
    let staged = file.stage(|out| out.write_all(text.as_bytes()));
    staged
        .and_then(|staged| staged.commit())
        .map_err(not_written(path))
}

fn not_written(path: &Path) -> impl Fn(io::Error) -> Failure {
    move |source| Failure::NotWritten {
        path: path.to_owned(),
        source,
    }
}
