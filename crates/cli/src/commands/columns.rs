//! `psijoin columns`: the names of a table's columns, which no error shows.

use psijoin_table::{Progress, Source};

use crate::{args, exit::Failure, output};

pub(super) fn run(args: &args::Columns) -> Result<(), Failure> {
    let source = Source::open(&args.file, None, true, &Progress::default())?;
    let lines = source.columns()?.into_iter().map(|name| name + "\n");
    output::text(&lines.collect::<String>())
}
