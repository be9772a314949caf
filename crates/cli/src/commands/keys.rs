//! `psijoin keys`: the keys of a table as they are compared, for its owner.

use std::{borrow::Cow, collections::BTreeMap};

use psijoin_frontend::{
    grid::{Align, Grid},
    report::BadKeys,
    sentences, tell_doubt, tell_layout,
};
use psijoin_source::{Progress, Source};
use psijoin_table::{InspectedColumn, Inspection, Meaning};
use serde::Serialize;

use crate::{args, console::Console, exit::Failure, humanize, output};

pub(super) fn run(args: &args::Keys) -> Result<(), Failure> {
    let console = Console::wanted();
    let key = args.key.spec()?;
    let (format, said) = (args.dialect.format, args.dialect.dialect()?);
    let progress = Progress::default();
    let source = Source::open_all(&args.input, format, &said, args.key.is_named(), &progress)?;
    tell_layout(&source, &console);
    let seen = console.during(
        &format!("reading {}", source.name()),
        || progress.bytes(),
        || Inspection::read(&source, &key, args.first, &progress),
    )?;
    let doubts = source
        .doubts()?
        .into_iter()
        .chain(seen.keys.doubts().to_vec());
    for doubt in doubts {
        tell_doubt(source.name(), &doubt, &console);
    }
    match args.json {
        true => output::json(&Shown::new(file(args, &source), &source, &seen))?,
        false => output::text(&shown(&source, &seen))?,
    }
    let (bad_cells, rows) = (seen.keys.bad_cells(), seen.keys.counts().rows);
    bad_cells.check(key.bad_keys(), rows)?;
    if let Some(told) = sentences::bad_cells(bad_cells, rows) {
        console.warn(told);
    }
    Ok(())
}

/// Returns what was seen, for people.
fn shown(source: &Source, seen: &Inspection) -> String {
    let counts = seen.keys.counts();
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
        text += &keys_shown(seen, seen.first.iter().map(|key| (key, None)));
    }
    if !seen.frequent.is_empty() {
        text += "
The keys that most rows have:

";
        let frequent = seen.frequent.iter();
        text += &keys_shown(seen, frequent.map(|(key, rows)| (key, Some(*rows))));
    }
    text
}

fn columns(seen: &Inspection) -> String {
    let mut grid = Grid::new(&[
        ("key column", Align::Left),
        ("kind", Align::Left),
        ("empty", Align::Right),
        ("unreadable", Align::Right),
        ("longest", Align::Right),
        ("changed by", Align::Left),
    ]);
    for (column, meaning) in seen.columns.iter().zip(seen.keys.meanings()) {
        let changed = column.rules.iter();
        let changed: Vec<_> = changed
            .map(|(rule, count)| format!("{}: {}", rule.named_in_full(), humanize::count(*count)))
            .collect();
        grid.row([
            column.name.clone(),
            meaning.to_string(),
            humanize::count(column.empty),
            humanize::count(bad_cells(seen, column)),
            humanize::count(column.longest as u64),
            changed.join(", "),
        ]);
    }
    grid.to_string()
}

/// Returns how many cells of a column cannot be read.
fn bad_cells(seen: &Inspection, column: &InspectedColumn) -> u64 {
    let sorts = seen.keys.bad_cells().sorts.iter();
    let of_column = sorts.filter(|cells| cells.column == column.name);
    of_column.map(|cells| cells.places.count).sum()
}

/// Returns keys in quotes, so that blanks and letters of several characters are seen; with how many
/// rows have each, if that is told.
fn keys_shown<'a>(
    seen: &Inspection,
    keys: impl Iterator<Item = (&'a Vec<String>, Option<u64>)>,
) -> String {
    let mut keys = keys.peekable();
    let is_counted = keys.peek().is_some_and(|(_, rows)| rows.is_some());
    let rows = is_counted.then_some(("rows", Align::Right));
    let names = seen
        .columns
        .iter()
        .map(|column| (&*column.name, Align::Left));
    let mut grid = Grid::new(&rows.into_iter().chain(names).collect::<Vec<_>>());
    for (key, rows) in keys {
        let fields = key.iter().map(|field| format!("{field:?}"));
        grid.row(rows.map(humanize::count).into_iter().chain(fields));
    }
    grid.to_string()
}

/// Returns the table's name as the user gave it, for scripts: not as in messages.
fn file<'a>(args: &'a args::Keys, source: &'a Source) -> Cow<'a, str> {
    match &args.input[..] {
        [only] => only.to_string_lossy(),
        _ => source.name().into(),
    }
}

/// The findings, for scripts.
#[derive(Serialize)]
struct Shown<'a> {
    file: Cow<'a, str>,
    read_as: String,
    rows: u64,
    rows_without_key: u64,
    rows_with_bad_key: u64,
    bad_keys: Vec<BadKeys>,
    rows_repeating_a_key: u64,
    distinct_keys: u64,
    columns: Vec<ShownColumn<'a>>,
    first_keys: &'a [Vec<String>],
    frequent_keys: Vec<FrequentKey<'a>>,
}

#[derive(Serialize)]
struct ShownColumn<'a> {
    name: &'a str,
    kind: String,
    empty: u64,
    longest: usize,
    changed: BTreeMap<String, u64>,
}

#[derive(Serialize)]
struct FrequentKey<'a> {
    key: &'a [String],
    rows: u64,
}

impl<'a> FrequentKey<'a> {
    fn new((key, rows): &'a (Vec<String>, u64)) -> Self {
        Self { key, rows: *rows }
    }
}

impl<'a> Shown<'a> {
    fn new(file: Cow<'a, str>, source: &'a Source, seen: &'a Inspection) -> Self {
        let counts = seen.keys.counts();
        let columns = seen.columns.iter().zip(seen.keys.meanings());
        Self {
            file,
            read_as: source.description(),
            rows: counts.rows,
            rows_without_key: counts.left_out,
            rows_with_bad_key: seen.keys.bad_cells().rows,
            bad_keys: BadKeys::all(seen.keys.bad_cells()),
            rows_repeating_a_key: counts.duplicates,
            distinct_keys: counts.distinct,
            columns: columns.map(ShownColumn::new).collect(),
            first_keys: &seen.first,
            frequent_keys: seen.frequent.iter().map(FrequentKey::new).collect(),
        }
    }
}

impl<'a> ShownColumn<'a> {
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
