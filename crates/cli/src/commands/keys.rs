//! `psijoin keys`: the keys of a table as they are compared, for its owner.

use std::{borrow::Cow, collections::BTreeMap};

use psijoin_table::{InspectedColumn, Inspection, Meaning, Progress, Source};
use serde::Serialize;

use crate::{
    args,
    console::Console,
    dialect,
    exit::Failure,
    grid::{Align, Grid},
    humanize, output,
};

pub(super) fn run(args: &args::Keys) -> Result<(), Failure> {
    let console = Console::wanted(false);
    let key = args.key.spec()?;
    let (format, said) = (args.dialect.format, args.dialect.dialect()?);
    let progress = Progress::default();
    let source = Source::open_all(&args.input, format, &said, args.key.is_named(), &progress)?;
    dialect::tell(&source, &console);
    let seen = console.during(
        &format!("reading {}", source.name()),
        || progress.bytes(),
        || Inspection::read(&source, &key, args.first, &progress),
    )?;
    let doubts = source.doubts()?.into_iter().chain(seen.keys.doubts.clone());
    for doubt in doubts {
        console.warn(dialect::warning(source.name(), doubt));
    }
    match args.json {
        true => output::json(&Report::new(file(args, &source), &source, &seen)),
        false => output::text(&shown(&source, &seen)),
    }
}

/// What was seen, for people.
fn shown(source: &Source, seen: &Inspection) -> String {
    let counts = seen.keys.counts;
    let mut text = format!(
        "{}: {}, {}; {} repeating a key, {} without a key, left out\n\n{}",
        source.name(),
        humanize::counted(counts.rows, "row"),
        humanize::counted(counts.distinct, "distinct key"),
        humanize::counted(counts.duplicates, "row"),
        humanize::counted(counts.left_out, "row"),
        columns(seen),
    );
    if !seen.first.is_empty() {
        let first = seen.first.len() as u64;
        text += &match first == counts.distinct {
            true => "\nThe keys, as they are compared:\n\n".to_owned(),
            false => format!(
                "\nThe first {} of {} keys, as they are compared:\n\n",
                humanize::count(first),
                humanize::count(counts.distinct)
            ),
        };
        text += &first_keys(seen);
    }
    text
}

fn columns(seen: &Inspection) -> String {
    let mut grid = Grid::new(&[
        ("key column", Align::Left),
        ("kind", Align::Left),
        ("empty", Align::Right),
        ("longest", Align::Right),
        ("changed by", Align::Left),
    ]);
    for (column, meaning) in seen.columns.iter().zip(&seen.keys.meanings) {
        let changed = column.rules.iter();
        let changed: Vec<_> = changed
            .map(|(rule, count)| format!("{}: {}", rule.named_in_full(), humanize::count(*count)))
            .collect();
        grid.row([
            column.name.clone(),
            meaning.to_string(),
            humanize::count(column.empty),
            humanize::count(column.longest as u64),
            changed.join(", "),
        ]);
    }
    grid.to_string()
}

/// The first keys in quotes, so that blanks and letters of several characters are seen.
fn first_keys(seen: &Inspection) -> String {
    let names: Vec<_> = seen
        .columns
        .iter()
        .map(|column| (&*column.name, Align::Left))
        .collect();
    let mut grid = Grid::new(&names);
    for key in &seen.first {
        grid.row(key.iter().map(|field| format!("{field:?}")));
    }
    grid.to_string()
}

/// The table as the user named it, for scripts: not as messages call it.
fn file<'a>(args: &'a args::Keys, source: &'a Source) -> Cow<'a, str> {
    match &args.input[..] {
        [only] => only.to_string_lossy(),
        _ => source.name().into(),
    }
}

/// What was seen, for scripts.
#[derive(Serialize)]
struct Report<'a> {
    file: Cow<'a, str>,
    read_as: String,
    rows: u64,
    rows_without_key: u64,
    rows_repeating_a_key: u64,
    distinct_keys: u64,
    columns: Vec<ColumnReport<'a>>,
    first_keys: &'a [Vec<String>],
}

#[derive(Serialize)]
struct ColumnReport<'a> {
    name: &'a str,
    kind: String,
    empty: u64,
    longest: usize,
    changed: BTreeMap<String, u64>,
}

impl<'a> Report<'a> {
    fn new(file: Cow<'a, str>, source: &'a Source, seen: &'a Inspection) -> Self {
        let counts = seen.keys.counts;
        let columns = seen.columns.iter().zip(&seen.keys.meanings);
        Self {
            file,
            read_as: source.description(),
            rows: counts.rows,
            rows_without_key: counts.left_out,
            rows_repeating_a_key: counts.duplicates,
            distinct_keys: counts.distinct,
            columns: columns.map(ColumnReport::new).collect(),
            first_keys: &seen.first,
        }
    }
}

impl<'a> ColumnReport<'a> {
    fn new((column, meaning): (&'a InspectedColumn, &Meaning)) -> Self {
        let mut changed = BTreeMap::new();
        for (rule, count) in &column.rules {
            *changed.entry(rule.named_in_full()).or_default() += count;
        }
        Self {
            name: &column.name,
            kind: meaning.to_string(),
            empty: column.empty,
            longest: column.longest,
            changed,
        }
    }
}
