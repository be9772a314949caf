//! Instructions of whole joins of small tables by the program, from two files to a file, as
//! callgrind counts them: a count of the receiver and one of the sender for each format.
//!
//! `cargo bench -p psijoin-cli --bench instructions` compares with `benches/instructions.txt`, and
//! `… -- --update` writes it again. It needs valgrind. Counts are nearly the same on any x86-64
//! machine with AVX2, however busy it is. They depend on the compiler, whose version the file
//! names, and a little on the system's C library.
//!
//! The parties meet over TLS on this machine, with a thread each. `naive` only hashes keys and
//! compares them, so most of its counts are of the tables. The join of two rows is the start of the
//! program, meeting and agreeing. Keys of TLS, the joint seed and the protocol's randomness are
//! other ones in each run, and a party that waits gives signs of life: counts of CSV scattered by
//! 0.2 % with `naive` (three runs), and by 0.5 % with `rr22` (seven runs).

#![allow(clippy::print_stdout)]

#[path = "../../psijoin/benches/callgrind/mod.rs"]
mod callgrind;

use std::{
    error::Error,
    fs::File,
    io::{BufRead, BufReader, Read as _, Write},
    path::Path,
    process::{Command, ExitCode, Stdio},
    sync::Arc,
};

use arrow_array::{ArrayRef, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_csv::WriterBuilder;
use arrow_ipc::writer::FileWriter;
use arrow_schema::ArrowError;
use flate2::{Compression, write::GzEncoder};
use parquet::arrow::ArrowWriter;

const PROGRAM: &str = env!("CARGO_BIN_EXE_psijoin");

/// The ending of all files, the rows of each side, and the protocol.
const JOINS: [(&str, usize, &str); 9] = [
    ("csv", 2, "naive"),
    ("csv", 20_000, "naive"),
    ("csv.gz", 20_000, "naive"),
    ("csv.zst", 20_000, "naive"),
    ("tsv", 20_000, "naive"),
    ("txt", 20_000, "naive"),
    ("parquet", 20_000, "naive"),
    ("arrow", 20_000, "naive"),
    ("csv", 2_000, "rr22"),
];

fn main() -> ExitCode {
    let folder = tempfile::tempdir().expect("a folder");
    let parties = Parties::new(folder.path());
    let mut counts = Vec::new();
    for (ending, rows, protocol) in JOINS {
        let [receiver, sender] = parties.join(ending, rows, protocol);
        let join = format!("{ending}, {rows} rows, {protocol}");
        counts.push((format!("{join}: receiver"), receiver));
        counts.push((format!("{join}: sender"), sender));
    }
    callgrind::compare(&counts)
}

/// Two parties that know each other, and the folder of their files.
struct Parties<'a> {
    folder: &'a Path,
    /// The receiver's and the sender's.
    fingerprints: [String; 2],
}

impl<'a> Parties<'a> {
    fn new(folder: &'a Path) -> Self {
        let fingerprints = ["receive", "send"].map(|role| {
            let mut keygen = Command::new(PROGRAM);
            keygen.arg("keygen").arg("--out").arg(folder.join(role));
            let output = keygen.output().expect("the program starts");
            let fingerprint = String::from_utf8(output.stdout).expect("a fingerprint");
            fingerprint.trim().to_owned()
        });
        Self {
            folder,
            fingerprints,
        }
    }

    /// Returns the counts of the receiver and of the sender. Half of their keys are shared.
    fn join(&self, ending: &str, rows: usize, protocol: &str) -> [u64; 2] {
        let path = |name: &str| self.folder.join(format!("{name}.{ending}"));
        let party = |role: &str, peer: usize, first: usize| {
            let table = path(role);
            write_table(&table, ending, &columns(first, rows)).expect("the table can be written");
            let mut command = callgrind::command(PROGRAM);
            command
                .env("PSIJOIN_HOME", self.folder.join("home"))
                .env_remove("PSIJOIN_LOG")
                .arg(role)
                .args(["--protocol", protocol, "--threads", "1"])
                .arg("--identity")
                .arg(self.folder.join(role))
                .args(["--peer", &self.fingerprints[peer], "--input"])
                .arg(table);
            // A list of lines has one column.
            if ending != "txt" {
                command.args(["--key", "email"]);
            }
            command
        };
        let mut receiver = party("receive", 1, 0)
            .args(["--listen", "127.0.0.1:0", "--output"])
            .arg(path("shared"))
            .stderr(Stdio::piped())
            .spawn()
            .expect("valgrind is installed");
        let mut words = BufReader::new(receiver.stderr.take().expect("it is piped"));
        let mut sender = party("send", 0, rows / 2);
        let sender = sender.args(["--connect", &address(&mut words)]).output();
        let sender = sender.expect("valgrind is installed");
        let mut said = String::new();
        words.read_to_string(&mut said).expect("a text");
        let sender_said = String::from_utf8_lossy(&sender.stderr);
        let ended = receiver.wait().expect("it ends");
        assert!(
            ended.success() && sender.status.success(),
            "{said}{sender_said}"
        );
        [callgrind::count(&said), callgrind::count(&sender_said)]
    }
}

/// Returns the address at which a party says that it listens.
fn address(words: &mut impl BufRead) -> String {
    let mut said = String::new();
    while words.read_line(&mut said).expect("a text") > 0 {
        if let Some((_, rest)) = said.split_once("listening on ") {
            return rest.split(';').next().expect("an address").to_owned();
        }
    }
    panic!("the receiver does not listen:\n{said}");
}

/// Returns the columns of a table, in an order of rows that is not that of the keys.
fn columns(first: usize, rows: usize) -> RecordBatch {
    /// Not a divisor of the number of rows, as it is prime.
    const STEP: usize = 7_919;
    let numbers = || (0..rows).map(move |row| row * STEP % rows);
    let texts = |text: &dyn Fn(usize) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(numbers().map(text)))
    };
    let ids = (0..).take(rows);
    let amounts = numbers().map(|number| (number * 37 % 100_000) as f64 / 100.0);
    let days = numbers().map(|number| 18_262 + (number * 11 % 2_000) as i32);
    let columns: [(&str, ArrayRef); 5] = [
        (
            "email",
            texts(&|number| format!("u{:010}@example.com", number + first)),
        ),
        (
            "name",
            texts(&|number| format!("Name {}", number * 29 % 1_000)),
        ),
        ("id", Arc::new(Int64Array::from_iter_values(ids))),
        ("amount", Arc::new(Float64Array::from_iter_values(amounts))),
        ("day", Arc::new(Date32Array::from_iter_values(days))),
    ];
    RecordBatch::try_from_iter(columns).expect("columns of one length")
}

fn write_table(path: &Path, ending: &str, columns: &RecordBatch) -> Result<(), Box<dyn Error>> {
    let file = File::create(path)?;
    match ending {
        "csv" => write_text(file, b',', columns)?,
        "csv.gz" => {
            let mut file = GzEncoder::new(file, Compression::default());
            write_text(&mut file, b',', columns)?;
            file.finish()?;
        }
        "csv.zst" => {
            let mut file = zstd::Encoder::new(file, 0)?;
            write_text(&mut file, b',', columns)?;
            file.finish()?;
        }
        "tsv" => write_text(file, b'\t', columns)?,
        "txt" => {
            let lines = WriterBuilder::new().with_header(false);
            lines.build(file).write(&columns.project(&[0])?)?;
        }
        "parquet" => {
            let mut writer = ArrowWriter::try_new(file, columns.schema(), None)?;
            writer.write(columns)?;
            writer.close()?;
        }
        "arrow" => {
            let mut writer = FileWriter::try_new(file, &columns.schema())?;
            writer.write(columns)?;
            writer.finish()?;
        }
        _ => unreachable!("{ending} is no ending of a join"),
    }
    Ok(())
}

fn write_text(file: impl Write, delimiter: u8, columns: &RecordBatch) -> Result<(), ArrowError> {
    let text = WriterBuilder::new().with_delimiter(delimiter);
    text.build(file).write(columns)
}
