//! Texts are read in blocks: whatever their length, and however many threads read them, a table is
//! what one block makes of it.

use std::{fs, path::PathBuf};

use proptest::prelude::*;
use psijoin_runtime::parallel::Pool;
use psijoin_source::{Dialect, Format, Progress, Source};
use psijoin_table::{BadKeys, Destination, Error, Existing, Inspection, KeySpec};

use crate::{
    Files,
    held::{Keys, WriteMatched as _},
    key,
};

/// The form of a text.
#[derive(Debug, Clone, Copy)]
enum Style {
    Csv,
    CsvWithoutHeader,
    CsvWithComments,
    Tsv,
    Escapes,
    Lines,
}

impl Style {
    fn format(self) -> Format {
        match self {
            Self::Csv | Self::CsvWithoutHeader | Self::CsvWithComments => Format::Csv,
            Self::Tsv | Self::Escapes => Format::Tsv,
            Self::Lines => Format::Lines,
        }
    }

    fn dialect(self) -> Dialect {
        match self {
            Self::CsvWithoutHeader => Dialect::default().without_header(),
            Self::CsvWithComments => {
                let commented = Dialect::default().with_comment(b'#').unwrap();
                commented.with_skipped_lines(2)
            }
            Self::Escapes => Dialect::default().with_escapes(),
            _ => Dialect::default(),
        }
    }

    fn ending(self) -> &'static str {
        match self.format() {
            Format::Csv => "csv",
            Format::Tsv => "tsv",
            _ => "txt",
        }
    }

    fn header(self) -> &'static str {
        match self {
            Self::Csv => "id,n,c\n",
            Self::CsvWithComments => "a \"\n\n#1,2,3\nid,n,c\n# \"\n",
            Self::Tsv | Self::Escapes => "id\tn\tc\r\n",
            Self::CsvWithoutHeader | Self::Lines => "",
        }
    }

    /// Returns the key and the columns of numbers.
    fn wanted(self) -> (KeySpec, Vec<String>) {
        let (id, n) = match self {
            Self::Lines => return (key(&[], &[]), vec![]),
            Self::CsvWithoutHeader => ("1", "2"),
            _ => ("id", "n"),
        };
        (key(&[id], &[&format!("{id}=timestamp")]), vec![n.into()])
    }

    /// Returns texts that break no rule as a rule, with line feeds wherever they may be.
    fn texts(self) -> BoxedStrategy<Vec<u8>> {
        let id = "(2024-02-0[1-4]( 10:00Z)?|| 2024-02-01|2024-02-30)";
        let number = "(-?[0-9]{1,2}(\\.[0-9]{1,2})?|)";
        let record = match self {
            Self::Csv | Self::CsvWithoutHeader => (
                format!("({id}|\"{id}\"),({number}|\"{number}\")"),
                "([a-cé\"]{0,3}|\"([a-c,é]|\n|\r\n|\"\"|\n2024-02-01,1,|\"\"\n2024-02-01,2,x){0,4}\")",
                ",",
            ),
            Self::CsvWithComments => (
                format!("(#[a,\"é]{{0,3}}(\n|\r\n)){{0,2}}({id}|\"#\n#{id}\"),{number}"),
                "([a#]{0,2}|\"(#|\n#,|\n#\"\"){0,3}\")",
                ",",
            ),
            Self::Tsv => (format!("{id}\t{number}"), "[a-cé\"]{0,6}", "\t"),
            Self::Escapes => (
                format!("{id}\t{number}"),
                "([a-cé]|\\\\t|\\\\\\\\|\\\\\n|\\\\\n2024-02-01\t3\t){0,4}",
                "\t",
            ),
            Self::Lines => ("[a-c]{0,2}".to_owned(), "[a-cé,]{0,3}", ""),
        };
        let (key, rest, delimiter) = record;
        let record = format!("({key}{delimiter}{rest}(\n|\r\n|\n\n|\r\n\n)){{0,8}}");
        let last = format!("({key}{delimiter}{rest})?");
        let rows = (record.as_str(), last.as_str());
        let rows = (
            proptest::string::string_regex(rows.0).unwrap(),
            proptest::string::string_regex(rows.1).unwrap(),
        );
        let mark = prop::bool::weighted(0.2);
        let fault = prop::option::weighted(
            0.3,
            (
                any::<prop::sample::Index>(),
                prop::sample::select(b"\"\n\r,\t\\x#\xff".to_vec()),
            ),
        );
        (mark, rows, fault)
            .prop_map(move |(has_mark, (rows, last), fault)| {
                let mark = if has_mark { "\u{feff}" } else { "" };
                let mut text = [mark, self.header(), &rows, &last].concat().into_bytes();
                if let Some((place, byte)) = fault {
                    text.insert(place.index(text.len() + 1), byte);
                }
                text
            })
            .boxed()
    }
}

fn styles() -> impl Strategy<Value = Style> {
    prop::sample::select(vec![
        Style::Csv,
        Style::CsvWithoutHeader,
        Style::CsvWithComments,
        Style::Tsv,
        Style::Escapes,
        Style::Lines,
    ])
}

fn open(inputs: &[PathBuf], style: Style, block_bytes: Option<u64>) -> Result<Source, Error> {
    let progress = Progress::default();
    let source = Source::open_all(inputs, None, &style.dialect(), true, &progress)?;
    Ok(match block_bytes {
        Some(bytes) => source.in_blocks_of(bytes),
        None => source,
    })
}

/// The content of a table, and its output as itself and in another format, or the first error.
type Done = Result<(Keys, Vec<Vec<String>>, Vec<Vec<u8>>), String>;

fn done(inputs: &[PathBuf], style: Style, block_bytes: Option<u64>, files: &Files) -> Done {
    done_with(BadKeys::Refuse, inputs, style, block_bytes, files)
}

fn done_with(
    bad_keys: BadKeys,
    inputs: &[PathBuf],
    style: Style,
    block_bytes: Option<u64>,
    files: &Files,
) -> Done {
    let told = |error: Error| error.to_string();
    let source = open(inputs, style, block_bytes).map_err(told)?;
    let (key, numbers) = style.wanted();
    let key = key.with_bad_keys(bad_keys);
    let progress = Progress::default();
    let keys = Keys::read(&source, &key, &numbers, &progress).map_err(told)?;
    assert_eq!(progress.bytes(), (source.bytes(), source.bytes()));
    let seen = Inspection::read(&source, &key, 3, &progress).map_err(told)?;
    let matched: Vec<bool> = keys
        .fingerprints
        .iter()
        .map(|key| key[9] % 3 != 0)
        .collect();
    let mut written = Vec::new();
    for ending in [style.ending(), "csv"] {
        let output = files.path(&format!("o.{ending}"));
        let destination = Destination::prepare(Some(&output), &source, Existing::Replace);
        let destination = destination.map_err(told)?;
        let rows = destination
            .write(&source, &keys, &matched, &progress)
            .map_err(told)?;
        assert_eq!(progress.bytes(), (source.bytes(), source.bytes()));
        written.push(fs::read(&output).unwrap());
        written.push(rows.to_string().into());
    }
    Ok((keys, seen.first, written))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_length_of_blocks_changes_nothing(
        (style, texts) in styles().prop_flat_map(|style| {
            (Just(style), prop::collection::vec(style.texts(), 1..3))
        }),
        block_bytes in 1_u64..65,
        threads in 1_usize..4,
        bad_keys in prop::sample::select(vec!["refuse", "null", "null:30%"]),
    ) {
        let files = Files::new();
        let inputs: Vec<PathBuf> = (0..)
            .zip(&texts)
            .map(|(index, text)| files.text(&format!("{index}.{}", style.ending()), text))
            .collect();
        let bad_keys = bad_keys.parse().unwrap();
        let whole = done_with(bad_keys, &inputs, style, None, &files);
        let pool = Pool::new(threads).unwrap();
        let cut = pool.run(|| done_with(bad_keys, &inputs, style, Some(block_bytes), &files));
        prop_assert_eq!(cut, whole);
    }
}

/// Line feeds in fields, each followed by what looks like a row: guesses are wrong again and again.
#[test]
fn wrong_guesses_are_noticed() {
    let files = Files::new();
    let rows: String = (0..3000)
        .map(|row| {
            format!(
                "2024-02-01 00:00:00.{row:04},1,\"\n2023-01-01,7,x\n{}\"\n",
                "y\n".repeat(row % 7)
            )
        })
        .collect();
    let input = [files.text("t.csv", format!("id,n,c\n{rows}"))];
    let whole = done(&input, Style::Csv, None, &files).unwrap();
    assert_eq!(whole.0.counts.distinct, 3000);
    for threads in [1, 3] {
        let pool = Pool::new(threads).unwrap();
        for block_bytes in [100, 1000, 10_000] {
            let cut = pool.run(|| done(&input, Style::Csv, Some(block_bytes), &files));
            assert_eq!(cut.as_ref(), Ok(&whole));
        }
    }
}

/// A record of many blocks, an error behind it, and none before it.
#[test]
fn errors_are_the_first_of_the_file_with_its_line() {
    let files = Files::new();
    let long = "x\n".repeat(5000);
    let text = format!("id,n,c\n2024-02-01,1,\"{long}\"\n2024-02-02,1,y\n2024-02-03,z,y\nw,1,y\n");
    let input = [files.text("t.csv", text)];
    for block_bytes in [1, 50, 4096, 1 << 20] {
        let message = done(&input, Style::Csv, Some(block_bytes), &files).unwrap_err();
        let expected = "t.csv, line 5004, column `n`: not a number";
        assert!(message.contains(expected), "{message}");
    }
}
