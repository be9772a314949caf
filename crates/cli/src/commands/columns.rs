//! `psijoin columns`: the names of a table's columns, which no error shows.

use psijoin_frontend::{tell_doubt, tell_layout};
use psijoin_printable::Escaped;
use psijoin_source::{Progress, Source};

use crate::{args, console::Console, exit::Failure, output};

pub(super) fn run(args: &args::Columns) -> Result<(), Failure> {
    let (format, said) = (args.dialect.format, args.dialect.dialect()?);
    let source = Source::open_all(&args.input, format, &said, true, &Progress::default())?;
    let console = Console::wanted();
    tell_layout(&source, &console);
    for doubt in source.doubts()? {
        tell_doubt(source.name(), &doubt, &console);
    }
    let names = source.columns()?.into_iter();
    let lines = names.map(|name| format!("{}\n", Escaped(&name)));
    output::text(&lines.collect::<String>())
}
